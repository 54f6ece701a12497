// SPDX-License-Identifier: Apache-2.0
// Errors. The library reports what it refuses to the device's callback, in the thread of the call and before that
// returns. A call that failed gives an object that is as good as none.
#include "base/status.h"
#include "hal/webgpu/webgpu.h"

#include <stdio.h>

// Of a thread's calls: the first that was not asked about.
static _Thread_local struct {
    uint32_t type;  // 0: none
    char text[416]; // small: a library loaded late has little room for what is thread-local
} heard;

// What the library puts around its words: "Validation Error\n\nCaused by:\n  In wgpuX\n    ".
static size_t skip_head(const char *text, size_t length)
{
    static const char head[] = "Caused by:\n";
    for (size_t i = 0; i + sizeof head - 1 <= length; ++i)
        if (memcmp(text + i, head, sizeof head - 1) == 0)
            return i + sizeof head - 1;
    return 0;
}

void slri_wg_heard(const WGPUDevice *device, uint32_t type, WGPUStringView message, void *webgpu, void *unused)
{
    (void)device, (void)webgpu, (void)unused;
    const size_t length = !message.data ? 0 : message.length == SIZE_MAX ? strlen(message.data) : message.length;
    size_t at = skip_head(message.data, length);
    if (heard.type != 0)
        return;
    while (at < length && (message.data[at] == ' ' || message.data[at] == '\n'))
        ++at;
    const size_t left = length - at;
    snprintf(heard.text, sizeof heard.text, "%.*s", (int)(left < sizeof heard.text ? left : sizeof heard.text - 1),
             left ? message.data + at : "");
    for (size_t end = strlen(heard.text); end > 0 && heard.text[end - 1] == '\n'; --end)
        heard.text[end - 1] = 0;
    heard.type = type;
}

void slri_wg_lost(const WGPUDevice *device, uint32_t reason, WGPUStringView message, void *webgpu, void *unused)
{
    char why[200];
    (void)device, (void)unused;
    if (reason == WGPUDeviceLostReason_Destroyed || reason == WGPUDeviceLostReason_FailedCreation)
        return;
    const size_t length = !message.data ? 0 : message.length == SIZE_MAX ? strlen(message.data) : message.length;
    snprintf(why, sizeof why, "%.*s", (int)(length < sizeof why ? length : sizeof why - 1), length ? message.data : "");
    (void)slri_lose(&((struct slri_webgpu *)webgpu)->base.loss, *why ? why : "the library says that it is lost");
}

const char *slri_wg_refusal(void)
{
    if (heard.type != WGPUErrorType_Validation)
        return NULL;
    heard.type = 0;
    return heard.text;
}

slr_status slri_wg_check(struct slri_webgpu *webgpu, const char *call)
{
    const uint32_t type = heard.type;
    heard.type = 0;
    if (type == 0 || slri_is_lost(&webgpu->base.loss))
        return slri_loss_check(&webgpu->base.loss);
    if (type == WGPUErrorType_OutOfMemory)
        return SLRI_FAIL(NO_MEMORY, "device '%s': wgpu%s: out of memory", webgpu->base.name, call);
    if (type == WGPUErrorType_Validation)
        return SLRI_FAIL(INTERNAL, "device '%s': wgpu%s is refused: %s", webgpu->base.name, call, heard.text);
    // What else went wrong leaves the device in no state that can be relied on.
    return slri_loss_seen(&webgpu->base.loss,
                          SLRI_FAIL(DEVICE_LOST, "device '%s': wgpu%s: %s", webgpu->base.name, call, heard.text));
}
