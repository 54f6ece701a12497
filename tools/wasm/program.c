// SPDX-License-Identifier: Apache-2.0
// Programs: compiling, what is in them, and checking them.
#include "bridge.h"

#include <string.h>

EMSCRIPTEN_KEEPALIVE void bridge_compile(slr_device *device, const char *name, const char *text,
                                         const char *const *defines, uint32_t count)
{
    slr_program *program = NULL;
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.defines = defines;
    desc.define_count = count;
    slr_status status = slr_program_from_text(device, name, text, &desc, &program);
    bridge_give(status, program);
}

EMSCRIPTEN_KEEPALIVE void bridge_program_destroy(slr_program *program)
{
    slr_program_destroy(program);
    bridge_give(SLR_OK, NULL);
}

// ---- what is in a program ------------------------------------------------------------------------------------------

static void put_layout(struct json *json, const char *key, const slr_layout *layout)
{
    json_open(json, key, '{');
    json_text(json, "name", layout->name);
    json_number(json, "bytes", (double)layout->bytes);
    json_open(json, "fields", '[');
    for (uint32_t i = 0; i < layout->field_count; ++i) {
        const slr_field *field = &layout->fields[i];
        json_open(json, NULL, '{');
        json_text(json, "name", field->name);
        json_number(json, "scalar", field->scalar);
        json_number(json, "count", field->count);
        json_number(json, "offset", (double)field->offset);
        json_number(json, "isArray", field->is_array);
        json_number(json, "isText", field->is_text);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void put_parameters(struct json *json, const slr_function_info *function)
{
    json_open(json, "parameters", '[');
    for (uint32_t i = 0; i < function->parameter_count; ++i) {
        const slr_parameter *parameter = &function->parameters[i];
        json_open(json, NULL, '{');
        json_text(json, "name", parameter->name);
        json_text(json, "type", function->types[i]);
        json_number(json, "isBuffer", parameter->is_buffer);
        json_number(json, "scalar", parameter->scalar);
        json_number(json, "bytes", (double)parameter->element_bytes);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_layouts(struct json *json, const slr_program *program, const char *name)
{
    slr_handler_info info;
    for (uint32_t i = 0; slr_program_get_handler(program, i, &info) == SLR_OK; ++i) {
        if (strcmp(info.name, name) != 0)
            continue;
        put_layout(json, "state", &info.state);
        put_layout(json, "message", &info.message);
        put_layout(json, "reply", &info.reply);
    }
}

EMSCRIPTEN_KEEPALIVE void bridge_program_describe(slr_program *program)
{
    slr_function_info function;
    struct json json = {0};
    json_open(&json, NULL, '[');
    for (uint32_t i = 0; slr_program_get_function(program, i, &function) == SLR_OK; ++i) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", function.name);
        json_number(&json, "kind", function.kind);
        json_number(&json, "line", function.line);
        put_parameters(&json, &function);
        if (function.kind != SLR_FUNCTION_KERNEL)
            put_layouts(&json, program, function.name);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    bridge_give_json(&json);
}

// ---- checking ------------------------------------------------------------------------------------------------------

static void put_finding(struct json *json, const slr_check_finding *finding)
{
    json_open(json, NULL, '{');
    json_number(json, "code", finding->code);
    json_number(json, "level", finding->level);
    json_text(json, "name", finding->name);
    json_text(json, "message", finding->message);
    json_text(json, "advice", finding->advice);
    json_text(json, "file", finding->at.file);
    json_number(json, "line", finding->at.line);
    json_number(json, "column", finding->at.column);
    json_number(json, "count", (double)finding->count);
    json_close(json, '}');
}

static void put_findings(slr_check *check)
{
    slr_check_finding finding;
    struct json json = {0};
    json_open(&json, NULL, '[');
    for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; ++i)
        put_finding(&json, &finding);
    json_close(&json, ']');
    bridge_give_json(&json);
}

static slr_status check_kernel(slr_program *program, const char *name, const slr_check_desc *desc, slr_check **out)
{
    slr_kernel *kernel;
    slr_status status = slr_program_get_kernel(program, name, &kernel);
    if (status != SLR_OK)
        return status;
    status = slr_kernel_check(kernel, desc, out);
    slr_kernel_destroy(kernel);
    return status;
}

// `steps` 0: as slr_check_desc says.
EMSCRIPTEN_KEEPALIVE void bridge_check(slr_program *program, const char *name, uint32_t is_kernel, double steps)
{
    slr_check *check;
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    desc.steps = (uint64_t)steps;
    slr_status status =
        is_kernel ? check_kernel(program, name, &desc, &check) : slr_handler_check(program, name, &desc, &check);
    if (status != SLR_OK) {
        bridge_give(status, NULL);
        return;
    }
    put_findings(check);
    slr_check_destroy(check);
}
