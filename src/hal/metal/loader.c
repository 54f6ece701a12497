// SPDX-License-Identifier: Apache-2.0
// Opens Metal, or what SLIPRING_METAL_LIB names. The framework brings Foundation and the Objective-C runtime with it.
#include "base/dl.h"
#include "base/status.h"
#include "hal/metal/api.h"

#include <stdio.h>

static struct slri_mt_runtime made; // written by `start_library` alone

// Results that are returned in memory have a function of their own on x86-64.
#if defined __x86_64__
#define SEND_FOR_STRUCTS "objc_msgSend_stret"
#else
#define SEND_FOR_STRUCTS "objc_msgSend"
#endif

static slr_status find_all(slri_dl *library, const char *path, struct slri_mt_runtime *out)
{
    slri_text missing = SLRI_TEXT_INIT;
    slri_function send = slri_dl_find(library, "objc_msgSend", &missing);
    slri_function name = slri_dl_find(library, "sel_registerName", &missing);
    slri_function class = slri_dl_find(library, "objc_getClass", &missing);
    out->push_pool = (void *(*)(void))slri_dl_find(library, "objc_autoreleasePoolPush", &missing);
    out->pop_pool = (void (*)(void *))slri_dl_find(library, "objc_autoreleasePoolPop", &missing);
    out->all_devices = (slri_mt_id(*)(void))slri_dl_find(library, "MTLCopyAllDevices", &missing);
    slri_function for_structs = slri_dl_find(library, SEND_FOR_STRUCTS, &missing);
    SLRI_TRY(slri_dl_all_found(SLR_NO_DEVICE, path, "Metal", &missing));
#define FIND(here, there, result, ...)                                                                                 \
    out->here = (result(*)(slri_mt_id, slri_mt_sel __VA_ARGS__))send;                                                  \
    out->sel.here = ((slri_mt_sel(*)(const char *))name)(there);
    SLRI_MT_METHODS(FIND)
#undef FIND
    out->most_threads = (struct slri_mt_size(*)(slri_mt_id, slri_mt_sel))for_structs;
#define FIND(here)                                                                                                     \
    out->class.here = ((slri_mt_id(*)(const char *)) class)(#here);                                                    \
    if (!out->class.here)                                                                                              \
        slri_text_puts(&missing, " " #here);
    SLRI_MT_CLASSES(FIND)
#undef FIND
    return slri_dl_all_found(SLR_NO_DEVICE, path, "Metal", &missing);
}

static slr_status start_library(slri_dl *library, const char *path)
{
    snprintf(made.path, sizeof made.path, "%s", path);
    made.is_simulated = slri_dl_find(library, "slr_driver_is_simulated", NULL) != NULL;
    return find_all(library, path, &made);
}

slr_status slri_mt_load(const struct slri_mt_runtime **out)
{
    static struct slri_dl_vendor vendor = {.variable = "SLIPRING_METAL_LIB",
                                           .places = {"/System/Library/Frameworks/Metal.framework/Metal"},
                                           .hint = "Metal needs macOS 13",
                                           .absent = SLR_NO_DEVICE,
                                           .start = start_library,
                                           .lock = SLRI_MUTEX_INIT};
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &made;
    return SLR_OK;
}
