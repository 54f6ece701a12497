// SPDX-License-Identifier: Apache-2.0
// What the library says of its backends, and the table of what the upper layers do for the lower ones.
#include "api/api.h"

#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "engine/hooks.h"
#include "memory/store.h"
#include "observe/observe.h"
#include "ring/ring.h"

#include <stdio.h>

static const struct slri_hooks hooks = {
    .backends = slri_backends,
    .store_open = slri_device_heap_open,
    .store_report = slri_device_heap_report,
    .store_reset = slri_device_heap_reset,
    .store_free = slri_device_heap_free,
    .store_take = slri_device_heap_take,
    .store_give = slri_device_heap_give,
    .store_take_host = slri_device_heap_take_host,
    .store_give_host = slri_device_heap_give_host,
    .store_keep = slri_pool_keep,
    .rings_close = slri_rings_close,
    .rings_lose = slri_rings_lose,
    .rings_renew = slri_rings_renew,
    .observe_flush = slri_watch_flush,
    .observe_command = slri_note_command,
    .observe_launch = slri_note_launch,
    .observe_memory = slri_note_memory,
    .observe_message = slri_note_message,
    .observe_messages = slri_note_messages,
    .observe_batch = slri_note_batch,
    .observe_handled = slri_note_handled,
    .observe_reply = slri_note_reply,
    .observe_full = slri_note_full,
    .observe_wait = slri_note_wait,
    .observe_compile = slri_note_compile,
    .observe_algorithm = slri_note_algorithm,
};

void slri_api_begin(void)
{
    slri_hooks_set(&hooks);
}

static uint32_t backend_count(void)
{
    uint32_t count = 0;
    while (slri_backends[count])
        ++count;
    return count;
}

const char *slr_backend_name(uint32_t index)
{
    return index < backend_count() ? slri_backends[index]->name : NULL;
}

slr_status slr_backend_get_info_sized(uint32_t index, slr_backend_info *out, size_t bytes)
{
    if (!out)
        return SLRI_FAIL(INVALID, "slr_backend_get_info: out is NULL");
    uint32_t count = backend_count();
    if (index >= count)
        return SLRI_FAIL(NOT_FOUND, "there is no backend %u; this library has %u", index, count);
    slr_backend_info whole = {0};
    snprintf(whole.name, sizeof whole.name, "%s", slri_backends[index]->name);
    whole.status = slri_backends[index]->probe(false, &whole.devices);
    if (whole.status != SLR_OK)
        slri_text_fit(whole.reason, sizeof whole.reason, slr_error_message());
    return SLRI_GIVE_REPORT(slr_backend_info, out, bytes, &whole);
}

slr_status(slr_backend_get_info)(uint32_t index, slr_backend_info *out)
{
    return slr_backend_get_info_sized(index, out, SLRI_FIRST_slr_backend_info);
}
