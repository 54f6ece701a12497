// SPDX-License-Identifier: Apache-2.0
// A page has no C compiler: kernels and handlers are interpreted, but those that were built ahead. Such code is found
// by the text that it was made of.
#include "hal/cpu/compiler.h"

#include "base/status.h"
#include "emit/c/emit_c.h"
#include "emit/c/kernel.h"

#include <stddef.h>

const char *const slri_cpu_flags[] = {NULL};

slr_status slri_cpu_find_compiler(struct slri_cpu_compiler *out)
{
    (void)out;
    return SLRI_FAIL(NOT_FOUND, "a page has no C compiler; it interprets what was not built ahead");
}

slr_status slri_cpu_run_compiler(const struct slri_cpu_compiler *compiler, const char *source, const char *output,
                                 const char *const *more, const uint32_t *cancel)
{
    (void)compiler, (void)source, (void)more, (void)cancel;
    return SLRI_FAIL(NOT_FOUND, "no compiler to make %s: a page has none", output);
}

static slr_status write_text(const struct slri_code_text *of, struct slri_text *out)
{
    return of->entry ? slri_emit_c_kernel(of->module, of->entry, of->shape.block, out) : slri_emit_c(of->module, out);
}

void slri_cpu_find_built(const struct slri_code_text *of, slri_dl **library)
{
    struct slri_text text = SLRI_TEXT_INIT;
    char path[sizeof SLRI_DL_BUILT + SLRI_HASH_HEX_BYTES] = SLRI_DL_BUILT;
    *library = NULL;
    if (slri_dl_has_built() && write_text(of, &text) == SLR_OK && !text.out_of_memory) {
        slri_emit_c_key(&text, path + sizeof SLRI_DL_BUILT - 1);
        (void)slri_dl_open(path, library);
    }
    slri_text_free(&text);
}
