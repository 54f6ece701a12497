// SPDX-License-Identifier: Apache-2.0
// Devices, programs, buffers and launches.
#include "bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bridge_result bridge_result;

// ---- results -------------------------------------------------------------------------------------------------------

EMSCRIPTEN_KEEPALIVE struct bridge_result *bridge_get_result(void)
{
    return &bridge_result;
}

EM_JS(void, share_memory, (void), { Module["memory"] = wasmMemory; })

// Before all else: the memory, which slipring.mjs reads.
EMSCRIPTEN_KEEPALIVE void bridge_share_memory(void)
{
    share_memory();
}

EMSCRIPTEN_KEEPALIVE const char *bridge_get_message(void)
{
    return slr_error_message();
}

EMSCRIPTEN_KEEPALIVE const char *bridge_get_status_name(int status)
{
    return slr_status_name((slr_status)status);
}

EMSCRIPTEN_KEEPALIVE const char *bridge_get_version(void)
{
    return slr_version();
}

EM_JS(void, bridge_tell, (void), {
    if (Module["onDone"])
        Module["onDone"]();
})

void bridge_give(slr_status status, const void *handle)
{
    bridge_result.status = status;
    bridge_result.value = status == SLR_OK ? (uint32_t)(uintptr_t)handle : 0;
    bridge_result.done = 1;
    bridge_tell_prints();
    bridge_tell();
}

void bridge_give_json(struct json *json)
{
    static char *last;
    free(last);
    last = json_take(json);
    bridge_result.text = last;
    bridge_give(last ? SLR_OK : SLR_NO_MEMORY, NULL);
}

// A file in the page's memory, where a source's "#include" finds it.
EMSCRIPTEN_KEEPALIVE void bridge_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    size_t bytes = strlen(text), written = file ? fwrite(text, 1, bytes, file) : 0;
    bool is_whole = file && fclose(file) == 0 && written == bytes;
    bridge_give(is_whole ? SLR_OK : SLR_SYSTEM, NULL);
}

// ---- devices -------------------------------------------------------------------------------------------------------

EMSCRIPTEN_KEEPALIVE void bridge_open(const char *name)
{
    slr_device *device = NULL;
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.on_print = bridge_on_print;
    slr_status status = slr_device_open(name, &desc, &device);
    bridge_give(status, device);
}

EMSCRIPTEN_KEEPALIVE void bridge_close(slr_device *device)
{
    slr_device_close(device);
    bridge_give(SLR_OK, NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_describe(slr_device *device)
{
    slr_device_info info;
    struct json json = {0};
    slr_status status = slr_device_get_info(device, &info);
    if (status != SLR_OK) {
        bridge_give(status, NULL);
        return;
    }
    json_open(&json, NULL, '{');
    json_text(&json, "name", info.name);
    json_text(&json, "backend", info.backend);
    json_text(&json, "description", info.description);
    json_text(&json, "engine", info.engine);
    json_text(&json, "engineReason", info.engine_reason);
    json_number(&json, "memoryBytes", (double)info.memory_bytes);
    json_close(&json, '}');
    bridge_give_json(&json);
}

EMSCRIPTEN_KEEPALIVE void bridge_metrics(slr_device *device)
{
    slr_metrics metrics;
    struct json json = {0};
    slr_status status = slr_device_get_metrics(device, &metrics);
    if (status != SLR_OK) {
        bridge_give(status, NULL);
        return;
    }
    json_open(&json, NULL, '{');
    for (uint32_t i = 0; i < metrics.count; ++i)
        json_number(&json, metrics.metric[i].name, (double)metrics.metric[i].value);
    json_close(&json, '}');
    bridge_give_json(&json);
}

// ---- buffers -------------------------------------------------------------------------------------------------------

EMSCRIPTEN_KEEPALIVE void bridge_buffer(slr_device *device, double bytes)
{
    slr_buffer *buffer = NULL;
    slr_status status = slr_buffer_create(device, (uint64_t)bytes, &buffer);
    bridge_give(status, buffer);
}

EMSCRIPTEN_KEEPALIVE void bridge_buffer_write(slr_buffer *buffer, double offset, const void *from, double bytes)
{
    bridge_give(slr_buffer_write(buffer, (uint64_t)offset, from, (uint64_t)bytes), NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_buffer_read(slr_buffer *buffer, double offset, void *to, double bytes)
{
    bridge_give(slr_buffer_read(buffer, (uint64_t)offset, to, (uint64_t)bytes), NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_buffer_destroy(slr_buffer *buffer)
{
    slr_buffer_destroy(buffer);
    bridge_give(SLR_OK, NULL);
}

// ---- launches ------------------------------------------------------------------------------------------------------

EMSCRIPTEN_KEEPALIVE void bridge_kernel(slr_program *program, const char *name)
{
    slr_kernel *kernel = NULL;
    slr_status status = slr_program_get_kernel(program, name, &kernel);
    bridge_give(status, kernel);
}

EMSCRIPTEN_KEEPALIVE void bridge_kernel_destroy(slr_kernel *kernel)
{
    slr_kernel_destroy(kernel);
    bridge_give(SLR_OK, NULL);
}

// In the device's default stream. What the launch does is done when bridge_finish has returned.
EMSCRIPTEN_KEEPALIVE void bridge_launch(slr_device *device, slr_kernel *kernel, const slr_shape *shape,
                                        const slr_arg *args, uint32_t count)
{
    slr_stream *stream;
    slr_status status = slr_stream_default(device, &stream);
    if (status == SLR_OK)
        status = slr_launch(stream, kernel, *shape, args, count, NULL);
    bridge_give(status, NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_finish(slr_device *device, double timeout_ms)
{
    slr_stream *stream;
    slr_status status = slr_stream_default(device, &stream);
    if (status == SLR_OK)
        status = slr_stream_finish(stream, (uint64_t)(timeout_ms * 1e6));
    bridge_give(status, NULL);
}

// ---- graphs --------------------------------------------------------------------------------------------------------

EMSCRIPTEN_KEEPALIVE void bridge_graph(slr_device *device)
{
    slr_graph *graph = NULL;
    slr_status status = slr_graph_create(device, &graph);
    bridge_give(status, graph);
}

// `what`: 0 begins the recording of the device's default stream, 1 ends it, 2 launches what was recorded.
EMSCRIPTEN_KEEPALIVE void bridge_graph_use(slr_device *device, slr_graph *graph, uint32_t what)
{
    slr_stream *stream;
    slr_status status = slr_stream_default(device, &stream);
    if (status == SLR_OK)
        status = what == 0   ? slr_graph_begin(graph, stream)
                 : what == 1 ? slr_graph_end(graph)
                             : slr_graph_launch(graph, stream, NULL, 0, NULL);
    bridge_give(status, NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_graph_destroy(slr_graph *graph)
{
    slr_graph_destroy(graph);
    bridge_give(SLR_OK, NULL);
}
