// SPDX-License-Identifier: Apache-2.0
// What Metal says went wrong. It gives no object, or a command buffer has an error when it has ended.
#include "base/status.h"
#include "hal/metal/metal.h"

#include <stdio.h>

void slri_mt_words(const struct slri_mt_runtime *mt, slri_mt_id string, char *out, size_t room)
{
    const char *words = string ? SLRI_MT(mt, string, utf8) : NULL;
    snprintf(out, room, "%s", words ? words : "");
}

void slri_mt_error_words(const struct slri_mt_runtime *mt, slri_mt_id error, char *out, size_t room)
{
    slri_mt_words(mt, error ? SLRI_MT(mt, error, description) : NULL, out, room);
    if (!*out)
        snprintf(out, room, "it does not say why");
}

slr_status slri_mt_nothing(const struct slri_metal *metal, const char *call)
{
    return SLRI_FAIL(NO_MEMORY, "device '%s': %s gives nothing: out of memory", metal->base.name, call);
}

slr_status slri_mt_check(struct slri_metal *metal, slri_mt_id commands)
{
    char words[160], why[200];
    if (SLRI_MT(metal->mt, commands, status) != SLRI_MT_FAILED)
        return SLR_OK;
    slri_mt_id error = SLRI_MT(metal->mt, commands, error);
    slri_mt_error_words(metal->mt, error, words, sizeof words);
    if (error && SLRI_MT(metal->mt, error, code) == SLRI_MT_OUT_OF_MEMORY)
        return SLRI_FAIL(NO_MEMORY, "device '%s': a command buffer failed: %s", metal->base.name, words);
    snprintf(why, sizeof why, "a command buffer failed: %s", words);
    return slri_lose(&metal->base.loss, why); // whatever it was, nobody knows what the device still did
}

void slri_mt_release(const struct slri_metal *metal, slri_mt_id object)
{
    if (object)
        SLRI_MT(metal->mt, object, release);
}
