// SPDX-License-Identifier: Apache-2.0
// Programs: compiled by the front end and the backend, described to the user.
#include "base/alloc.h"
#include "base/environment.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "device/kernel.h"
#include "engine/code.h"
#include "base/file.h"
#include "lang/kernel.h"
#include "lang/raw.h"

#include <stdlib.h>
#include <string.h>

// ---- describing a handler ------------------------------------------------------------------------------------------

_Static_assert(SLR_BOOL == (int)SLRI_BOOL && SLR_F64 == (int)SLRI_F64 && SLR_BF16 == (int)SLRI_BF16,
               "slr_scalar repeats slri_kind");

// Collects the fields of a struct, flattened, in a growing array of the region.
struct fields {
    struct slri_region *region;
    slr_field *field;
    uint32_t count, room;
    bool out_of_memory;
};

static void add_field(struct fields *fields, const char *name, enum slri_kind kind, uint64_t count, uint64_t offset,
                      bool is_array)
{
    if (fields->count == fields->room) {
        uint32_t room = fields->room ? fields->room * 2 : 16;
        slr_field *grown = slri_region_take(fields->region, room * sizeof *grown);
        if (!grown) {
            fields->out_of_memory = true;
            return;
        }
        if (fields->count)
            memcpy(grown, fields->field, fields->count * sizeof *grown);
        fields->field = grown;
        fields->room = room;
    }
    fields->field[fields->count++] = (slr_field){.name = slri_region_text(fields->region, name, strlen(name)),
                                                 .scalar = (slr_scalar)kind,
                                                 .count = (uint32_t)count,
                                                 .offset = offset,
                                                 .is_array = is_array};
}

static void flatten(struct fields *fields, const char *name, const struct slri_type *type, uint64_t offset);

static void flatten_struct(struct fields *fields, const char *name, const struct slri_type *type, uint64_t offset)
{
    for (uint32_t i = 0; i < type->fields; ++i) {
        struct slri_text path = SLRI_TEXT_INIT;
        slri_text_printf(&path, "%s%s%s", name, *name ? "." : "", type->field[i].name);
        flatten(fields, slri_text_view(&path), type->field[i].type, offset + type->field[i].offset);
        if (type->field[i].is_text && !fields->out_of_memory)
            fields->field[fields->count - 1].is_text = true;
        slri_text_free(&path);
    }
}

static void flatten_array(struct fields *fields, const char *name, const struct slri_type *type, uint64_t offset)
{
    uint64_t count = type->count;
    const struct slri_type *element = type->of;
    while (element->kind == SLRI_ARRAY) { // of arrays: one row of scalars
        count *= element->count;
        element = element->of;
    }
    if (element->kind != SLRI_STRUCT) {
        add_field(fields, name, element->kind, count, offset, true);
        return;
    }
    for (uint64_t i = 0; i < count && !fields->out_of_memory; ++i) {
        struct slri_text path = SLRI_TEXT_INIT;
        slri_text_printf(&path, "%s[%llu]", name, (unsigned long long)i);
        flatten(fields, slri_text_view(&path), element, offset + i * element->bytes);
        slri_text_free(&path);
    }
}

// As deep as the type, which the front end bounds.
static void flatten(struct fields *fields, const char *name, const struct slri_type *type, uint64_t offset)
{
    if (type->kind == SLRI_STRUCT)
        flatten_struct(fields, name, type, offset);
    else if (type->kind == SLRI_ARRAY)
        flatten_array(fields, name, type, offset);
    else
        add_field(fields, *name ? name : "value", type->kind, 1, offset, false);
}

static slr_status describe_layout(struct slri_region *region, const struct slri_type *type, slr_layout *out)
{
    *out = (slr_layout){.name = ""};
    if (!type)
        return SLR_OK;
    struct fields fields = {.region = region};
    flatten(&fields, "", type, 0);
    if (fields.out_of_memory)
        return SLRI_FAIL(NO_MEMORY, "no memory to describe struct %s", type->name ? type->name : "");
    *out = (slr_layout){.name = type->name ? type->name : "",
                        .bytes = type->bytes,
                        .fields = fields.field,
                        .field_count = fields.count};
    return SLR_OK;
}

slr_status slri_describe_bindings(struct slri_region *region, const struct slri_entry *entry, slr_parameter *parameter)
{
    for (uint32_t i = 0; i < entry->bindings; ++i) {
        const struct slri_binding_info *binding = &entry->binding[i];
        bool scalar = binding->type->kind < SLRI_STRUCT;
        parameter[i] = (slr_parameter){.name = binding->name,
                                       .is_buffer = binding->is_buffer && !binding->is_outlet,
                                       .is_outlet = binding->is_outlet,
                                       .is_const = binding->is_const,
                                       .scalar = scalar ? (slr_scalar)binding->type->kind : (slr_scalar)0,
                                       .element_bytes = binding->type->bytes};
        SLRI_TRY(describe_layout(region, binding->is_outlet ? binding->type : NULL, &parameter[i].message));
    }
    return SLR_OK;
}

static slr_status describe_parameters(struct slri_region *region, const struct slri_entry *entry, slr_handler_info *out)
{
    slr_parameter *parameter = slri_region_take(region, (entry->bindings + 1) * sizeof *parameter);
    if (!parameter)
        return SLRI_FAIL(NO_MEMORY, "no memory to describe handler %s", entry->name);
    SLRI_TRY(slri_describe_bindings(region, entry, parameter));
    out->parameters = parameter;
    out->parameter_count = entry->bindings;
    return SLR_OK;
}

static slr_status describe(slr_program *program)
{
    const struct slri_module *module = program->module;
    program->entry = slri_region_take(program->region, (module->entries + 1) * sizeof *program->entry);
    if (!program->entry)
        return SLRI_FAIL(NO_MEMORY, "no memory to describe a program");
    for (uint32_t i = 0; i < module->entries; ++i) {
        const struct slri_entry *entry = &module->entry[i];
        if (entry->kind == SLRI_ENTRY_KERNEL)
            continue;
        slr_handler_info *info = &program->entry[program->entries].info;
        program->entry[program->entries++].entry = entry;
        info->name = entry->name;
        SLRI_TRY(describe_layout(program->region, entry->state, &info->state));
        SLRI_TRY(describe_layout(program->region, entry->message, &info->message));
        SLRI_TRY(describe_layout(program->region, entry->reply, &info->reply));
        SLRI_TRY(describe_parameters(program->region, entry, info));
    }
    return SLR_OK;
}

// ---- life ----------------------------------------------------------------------------------------------------------

// Frees whatever of the program is there; it may be half made.
static void dispose_program(slr_program *program)
{
    slr_device *device = program->device;
    slri_prefetch_free(program);
    slri_tuned_end(program);
    slri_code_destroy(program->code);
    slri_module_destroy(program->module);
    slri_region_destroy(program->region);
    slri_free(device->allocator, program, sizeof *program);
    slri_device_release(device);
}

// What the compiler of a raw program is told: `count` options at `option`, as NVRTC spells them.
static slr_status add_options(struct slri_region *region, const char *form, const char *const *value, uint32_t count,
                              const char **option)
{
    for (uint32_t i = 0; i < count; ++i) {
        slri_text text = SLRI_TEXT_INIT;
        slri_text_printf(&text, "%s%s", form, value[i]);
        option[i] = text.out_of_memory ? NULL : slri_region_text(region, text.data, text.length);
        slri_text_free(&text);
        if (!option[i])
            return SLRI_FAIL(NO_MEMORY, "no memory for a program's options");
    }
    return SLR_OK;
}

#define MOST_RAW_BYTES ((size_t)64 << 20)

static slr_status load_spirv(const char *path, const char *table, struct slri_module **out)
{
    char *content = NULL;
    size_t bytes = 0;
    SLRI_TRY(slri_file_read(path, MOST_RAW_BYTES, &content, &bytes));
    slr_status status = slri_raw_take_spirv(path, table, content, bytes, out);
    free(content);
    return status;
}

static slr_status compile_raw(const struct slri_source *source, const char *table, struct slri_module **out)
{
    struct slri_source read = *source;
    char *content = NULL;
    if (!read.text) {
        SLRI_TRY(slri_file_read(read.path, MOST_RAW_BYTES, &content, NULL));
        read.text = content;
    }
    slr_status status = slri_raw_compile(&read, table, out);
    free(content);
    SLRI_TRY(status);
    struct slri_module *module = *out; // the program's from here on
    const char **option = slri_region_take(module->region, (read.defines + read.includes + 1) * sizeof *option);
    if (!option)
        return SLRI_FAIL(NO_MEMORY, "no memory for a program's options");
    module->raw_option = option;
    SLRI_TRY(add_options(module->region, "--define-macro=", read.define, read.defines, option));
    return add_options(module->region, "--include-path=", read.include, read.includes, option + read.defines);
}

static bool is_to_be_debugged(const slr_program_desc *desc)
{
    const char *wish = slri_environment("SLIPRING_DEBUG");
    return desc->debug || (wish && strcmp(wish, "1") == 0);
}

static slr_status build(slr_program *program, const struct slri_source *source, const slr_program_desc *desc)
{
    if (desc->raw == SLR_RAW_SPIRV)
        SLRI_TRY(load_spirv(source->path, desc->raw_table, &program->module));
    else if (desc->raw)
        SLRI_TRY(compile_raw(source, desc->raw_table, &program->module));
    else
        SLRI_TRY(slri_kernel_compile(source, &program->module));
    program->module->debug = is_to_be_debugged(desc);
    program->region = slri_region_create();
    if (!program->region)
        return SLRI_FAIL(NO_MEMORY, "no memory for a program");
    SLRI_TRY(describe(program));
    SLRI_TRY(slri_describe_functions(program));
    slr_device *device = program->device;
    const struct slri_code_desc code = {device->backend, device->self,    device->allocator,
                                        program->module, &device->opened, &device->queues};
    SLRI_TRY(slri_code_create(&code, &program->code));
    return slri_tuned_begin(program, source, desc);
}

static slr_status create_program(slr_device *device, const struct slri_source *source, const slr_program_desc *desc,
                                 slr_program **out)
{
    slr_program *program = slri_alloc(device->allocator, sizeof *program);
    if (!program)
        return SLRI_FAIL(NO_MEMORY, "no memory for a program");
    slri_device_hold(device);
    program->device = device;
    program->holds = 1;
    program->level = desc->optimize ? desc->optimize : 2;
    slr_status status = build(program, source, desc);
    if (status != SLR_OK) {
        dispose_program(program);
        return status;
    }
    *out = program;
    return SLR_OK;
}

static slr_status make_program(slr_device *device, const char *path, const char *text, const slr_program_desc *desc,
                               slr_program **out)
{
    SLRI_TRY(slri_device_check_process(device));
    if (!device->backend->code_kernel)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' runs no kernels", device->backend->name);
    slr_program_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_program_desc, &whole, desc));
    desc = &whole;
    if ((desc->define_count && !desc->defines) || (desc->include_path_count && !desc->include_paths))
        return SLRI_FAIL(INVALID, "slr_program_desc: a count is not 0 but its array is NULL");
    struct slri_source source = {.path = path,
                                 .text = text,
                                 .define = desc->defines,
                                 .defines = desc->define_count,
                                 .include = desc->include_paths,
                                 .includes = desc->include_path_count,
                                 .cuda_arch = device->facts.cuda_arch};
    if (desc->optimize > 2)
        return SLRI_FAIL(INVALID, "slr_program_desc.optimize is %u; expected 1 or 2", desc->optimize);
    if (desc->tuned > SLR_TUNED_OFF)
        return SLRI_FAIL(INVALID, "slr_program_desc.tuned is %u; expected a slr_tuned_use", desc->tuned);
    if (desc->debug > 1)
        return SLRI_FAIL(INVALID, "slr_program_desc.debug is %u; expected 0 or 1", desc->debug);
    if (desc->raw > SLR_RAW_SPIRV || (desc->raw_table && !desc->raw))
        return SLRI_FAIL(INVALID, "slr_program_desc: raw is %u; expected a slr_raw_source, or 0 without raw_table",
                         desc->raw);
    if (desc->raw == SLR_RAW_SPIRV && (text || !desc->raw_table))
        return SLRI_FAIL(INVALID,
                         text ? "'%s' is SPIR-V, which is no text; slr_program_load takes a file of it"
                              : "'%s' is SPIR-V, so slr_program_desc.raw_table must list its kernels",
                         path);
    if (desc->raw && device->backend->takes_raw != desc->raw)
        return SLRI_FAIL(UNSUPPORTED, "'%s' is %s, which device '%s' cannot run; use %s", path,
                         desc->raw == SLR_RAW_CUDA ? "CUDA C++" : "SPIR-V", device->backend->name,
                         desc->raw == SLR_RAW_CUDA ? "cuda" : "opencl");
    return create_program(device, &source, desc, out);
}

slr_status slr_program_load(slr_device *device, const char *path, const slr_program_desc *desc, slr_program **out)
{
    if (!device || !path || !out)
        return SLRI_FAIL(INVALID, "slr_program_load: %s is NULL", !device ? "device" : !path ? "path" : "out");
    return make_program(device, path, NULL, desc, out);
}

slr_status slr_program_from_text(slr_device *device, const char *name, const char *text, const slr_program_desc *desc,
                                 slr_program **out)
{
    if (!device || !name || !text || !out)
        return SLRI_FAIL(INVALID, "slr_program_from_text: %s is NULL",
                         !device ? "device"
                         : !name ? "name"
                         : !text ? "text"
                                 : "out");
    return make_program(device, name, text, desc, out);
}

void slri_program_hold(slr_program *program)
{
    slri_hold(&program->holds);
}

void slri_program_release(slr_program *program)
{
    if (slri_let_go(&program->holds))
        dispose_program(program);
}

void slr_program_destroy(slr_program *program)
{
    if (program && !slri_device_is_anothers(program->device))
        slri_program_release(program);
}

slr_status slr_program_get_handler_sized(const slr_program *program, uint32_t index, slr_handler_info *out,
                                         size_t bytes)
{
    if (!program || !out)
        return SLRI_FAIL(INVALID, "slr_program_get_handler: %s is NULL", program ? "out" : "program");
    if (index >= program->entries)
        return SLRI_FAIL(NOT_FOUND, "the program has %u handlers, number %u was asked for", program->entries, index);
    return SLRI_GIVE_REPORT(slr_handler_info, out, bytes, &program->entry[index].info);
}

slr_status(slr_program_get_handler)(const slr_program *program, uint32_t index, slr_handler_info *out)
{
    return slr_program_get_handler_sized(program, index, out, SLRI_FIRST_slr_handler_info);
}
