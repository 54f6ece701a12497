// SPDX-License-Identifier: Apache-2.0
// The module around the functions: its memory, and what of slr_wgsl.wgsl it calls.
#include "emit/wgsl/emit_wgsl.h"
#include "base/status.h"
#include "emit/device/faults.h"
#include "emit/wgsl/internal.h"
#include "ir/pass/linked.h"
#include "ir/pass/meet.h"
#include "ir/pass/words.h"
#include "ir/matrix.h"
#include "lang/library.h"

#include <stdio.h>
#include <string.h>

extern const char slri_embedded_slr_wgsl_wgsl[];

void slri_wgsl_refuse(struct slri_wgsl_emitter *e, const struct slri_instr *in, const char *what)
{
    if (e->refused == SLR_OK)
        e->refused =
            SLRI_FAIL(UNSUPPORTED, "%s:%u: WGSL has no %s", e->module->file[in->where.file], in->where.line, what);
}

// ---- what is done to each root -------------------------------------------------------------------------------------

static bool writes(enum slri_op op)
{
    return op == SLRI_OP_STORE || op == SLRI_OP_ATOMIC_STORE || op == SLRI_OP_ATOMIC_RMW || op == SLRI_OP_ATOMIC_CAS;
}

// A volatile access happens as often as it stands there, which WGSL promises of atomics alone.
static bool is_atomic(const struct slri_instr *in)
{
    return (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS) || in->is_volatile;
}

static void note_instr(const struct slri_instr *in, void *user)
{
    struct slri_wgsl_emitter *e = user;
    const struct slri_root root = in->root;
    if (root.kind == SLRI_ROOT_BINDING) {
        e->used_binding[root.index] |= in->op != SLRI_OP_PRESENT;
        e->written_binding[root.index] |= writes(in->op);
        e->atomic_binding[root.index] |= is_atomic(in);
    } else if (root.kind == SLRI_ROOT_SHARED) {
        e->atomic_shared[root.index] |= is_atomic(in);
    } else if (root.kind == SLRI_ROOT_GLOBAL) {
        e->atomic_globals |= is_atomic(in);
    } else if (root.kind == SLRI_ROOT_DYNAMIC) {
        e->atomic_dynamic |= is_atomic(in);
    } else if (root.kind == SLRI_ROOT_CONST) {
        e->used_constant[root.index] = true;
    }
}

static bool find_roots(struct slri_wgsl_emitter *e)
{
    const struct slri_module *module = e->module;
    e->written_binding = slri_region_take(e->scratch, e->entry->bindings + (size_t)1);
    e->used_binding = slri_region_take(e->scratch, e->entry->bindings + (size_t)1);
    e->atomic_binding = slri_region_take(e->scratch, e->entry->bindings + (size_t)1);
    e->atomic_shared = slri_region_take(e->scratch, module->shareds + (size_t)1);
    e->used_constant = slri_region_take(e->scratch, module->constants + (size_t)1);
    if (!e->written_binding || !e->used_binding || !e->atomic_binding || !e->atomic_shared || !e->used_constant)
        return false;
    for (uint32_t i = 0; i < module->functions; i++)
        slri_block_each(module->function[i]->body, note_instr, e);
    return true;
}

bool slri_wgsl_is_atomic(const struct slri_wgsl_emitter *e, struct slri_root root)
{
    switch (root.kind) {
    case SLRI_ROOT_BINDING:
        return e->atomic_binding[root.index];
    case SLRI_ROOT_SHARED:
        return e->atomic_shared[root.index];
    case SLRI_ROOT_GLOBAL:
        return e->atomic_globals;
    case SLRI_ROOT_DYNAMIC:
        return e->atomic_dynamic;
    default:
        return false;
    }
}

// ---- values given at launch ----------------------------------------------------------------------------------------

static uint32_t words_of(const struct slri_binding_info *binding)
{
    return (uint32_t)(binding->type->bytes + 3) / 4;
}

uint32_t slri_wgsl_argument(const struct slri_wgsl_emitter *e, uint32_t binding)
{
    uint32_t at = 1; // behind the bits that tell which buffers are there
    for (uint32_t i = 0; i < binding; i++)
        at += e->entry->binding[i].is_buffer ? 0 : words_of(&e->entry->binding[i]);
    return at;
}

// ---- memory --------------------------------------------------------------------------------------------------------

static void put_storage(struct slri_text *out, uint32_t number, bool is_written, bool is_atomic, const char *name)
{
    slri_text_printf(out, "@group(0) @binding(%u) var<storage, %s> %s: array<%s>;", number,
                     is_written ? "read_write" : "read", name, is_atomic ? "atomic<u32>" : "u32");
}

// Gives how many storage buffers there are.
static uint32_t put_bindings(struct slri_wgsl_emitter *e, struct slri_text *out, bool may_fault)
{
    char name[24];
    uint32_t number = 0, storage = 0;
    for (uint32_t i = 0; i < e->entry->bindings; i++) {
        if (!e->entry->binding[i].is_buffer)
            continue;
        if (!e->used_binding[i]) {
            ++number;
            continue;
        }
        snprintf(name, sizeof name, "slri_b%u", i);
        ++storage;
        const bool is_written = e->written_binding[i] || e->atomic_binding[i] || (e->options && e->options->writes_all);
        put_storage(out, number++, is_written, e->atomic_binding[i], name);
        slri_text_printf(out, " // %s\n", e->entry->binding[i].name);
    }
    const bool has_bases = e->options && e->options->has_bases;
    const bool in_parts = e->options && e->options->in_parts;
    const uint32_t more = (in_parts || has_bases ? SLRI_WGSL_PART_WORDS : 0) + (has_bases ? number : 0);
    const uint32_t vectors = (slri_wgsl_argument(e, e->entry->bindings) + more + 3) / 4;
    if (strstr(slri_text_view(e->out), "slri_arg("))
        slri_text_printf(out, "@group(0) @binding(%u) var<uniform> slri_args: array<vec4<u32>, %u>;\n", number,
                         vectors);
    if (e->entry->function->uses & SLRI_USES_GLOBAL) {
        put_storage(out, number + 1, true, e->atomic_globals, "slri_globals");
        slri_text_puts(out, "\n");
        storage++;
    }
    if (may_fault) {
        put_storage(out, number + 2, true, true, "slri_faulted");
        slri_text_puts(out, "\n");
        storage++;
    }
    if (strstr(slri_text_view(e->out), "slri_tell_ended(")) {
        put_storage(out, number + 3, true, true, "slri_ended");
        slri_text_puts(out, "\n");
        storage++;
    }
    return storage;
}

static bool has_lanes(const struct slri_wgsl_emitter *e)
{
    return slri_entry_has_shared(e->entry, e->module->shareds - 1); // SLRI_BLOCK_LANES
}

static void put_workgroup(struct slri_wgsl_emitter *e, struct slri_text *out)
{
    const uint32_t *block = e->options ? e->options->block : NULL;
    const uint32_t lanes = e->module->shareds - 1;
    for (uint32_t i = 0; i < lanes; i++)
        if (slri_entry_has_shared(e->entry, i))
            slri_text_printf(out, "var<workgroup> slri_s%u: array<%s, %u>; // %s\n", i,
                             e->atomic_shared[i] ? "atomic<u32>" : "u32",
                             (unsigned)(e->module->shared[i].type->bytes / 4), e->module->shared[i].name);
    if (has_lanes(e)) {
        if (block)
            slri_text_printf(out, "const slri_lanes: u32 = %uu;\n", 2 * block[0] * block[1] * block[2] + 64);
        else
            slri_text_puts(out, "override slri_lanes: u32 = 2u * slri_block_x * slri_block_y * slri_block_z + 64u;\n");
        slri_text_printf(out, "var<workgroup> slri_s%u: array<%s, slri_lanes>;\n", lanes,
                         e->atomic_shared[lanes] ? "atomic<u32>" : "u32");
    }
    if (e->entry->function->uses & SLRI_USES_DYNAMIC)
        slri_text_printf(out,
                         "override slri_dynamic_words: u32;\n"
                         "var<workgroup> slri_dynamic: array<%s, slri_dynamic_words>;\n",
                         e->atomic_dynamic ? "atomic<u32>" : "u32");
    if (strstr(slri_text_view(e->out), "slri_count("))
        slri_text_puts(out, "var<workgroup> slri_votes: atomic<u32>;\nvar<workgroup> slri_counted: u32;\n");
}

static void put_constants(struct slri_wgsl_emitter *e, struct slri_text *out)
{
    for (uint32_t i = 0; i < e->module->constants; i++) {
        const struct slri_const *constant = &e->module->constant[i];
        const uint32_t count = (uint32_t)(constant->type->bytes / 4);
        if (!e->used_constant[i])
            continue;
        slri_text_printf(out, "var<private> slri_c%u: array<u32, %u> = array<u32, %u>( // %s", i, count, count,
                         constant->name);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t value;
            memcpy(&value, constant->data + 4 * (size_t)k, sizeof value);
            slri_text_printf(out, "%s%uu%s", k % 12 ? " " : "\n  ", value, k + 1 < count ? "," : "");
        }
        slri_text_puts(out, ");\n");
    }
}

// ---- functions that are called -------------------------------------------------------------------------------------

static bool calls(const struct slri_text *text, const char *name, size_t length)
{
    for (const char *at = strstr(slri_text_view(text), name); at; at = strstr(at + 1, name))
        if (at[length] == '(')
            return true;
    return false;
}

// A paragraph that begins with "fn NAME(", maybe behind a comment, is taken where NAME is called. Those that it calls
// in turn stand above it, or are found in another round.
static void put_helpers(const struct slri_wgsl_emitter *e, struct slri_text *out)
{
    enum { MOST = 64 };
    bool taken[MOST] = {false};
    bool more = true;
    while (more) {
        more = false;
        unsigned number = 0;
        const char *end;
        for (const char *at = slri_embedded_slr_wgsl_wgsl; *at && number < MOST; at = *end ? end + 2 : end, number++) {
            char name[32] = "";
            end = strstr(at, "\n\n");
            end = end ? end : at + strlen(at);
            const char *fn = strstr(at, "fn ");
            if (!fn || fn > end || taken[number])
                continue;
            size_t length = strcspn(fn + 3, "(");
            memcpy(name, fn + 3, length < sizeof name ? length : 0);
            if (!calls(e->out, name, length) && !calls(out, name, length))
                continue;
            taken[number] = more = true;
            slri_text_append(out, at, (size_t)(end - at));
            slri_text_puts(out, "\n");
        }
    }
}

// ---- what a device has not -----------------------------------------------------------------------------------------

static uint32_t most(uint32_t of_device, uint32_t of_all)
{
    return of_device ? of_device : of_all;
}

static slr_status check_limits(const struct slri_wgsl_emitter *e, uint32_t storage)
{
    const struct slri_wgsl_options none = {0}, *options = e->options ? e->options : &none;
    const uint32_t *block = options->block;
    const uint32_t most_storage = most(options->storage_buffers, SLRI_WGSL_STORAGE_BUFFERS);
    const uint32_t most_bytes = most(options->workgroup_bytes, SLRI_WGSL_WORKGROUP_BYTES);
    const uint32_t most_threads = most(options->block_threads, SLRI_WGSL_BLOCK_THREADS);
    const char *file = e->module->file[e->entry->function->where.file];
    const uint32_t line = e->entry->function->where.line;
    if (storage > most_storage)
        return SLRI_FAIL(
            UNSUPPORTED,
            "%s:%u: '%s' needs %u storage buffers, and WebGPU has %u for a kernel; put several arrays into one", file,
            line, e->entry->name, storage, most_storage);
    const uint64_t threads = block ? (uint64_t)block[0] * block[1] * block[2] : SLRI_WGSL_BLOCK_THREADS;
    const uint64_t lanes = has_lanes(e) ? e->module->shared[e->module->shareds - 1].type->bytes : 0;
    const uint64_t own = lanes ? 8 * threads + 264 : 8, bytes = e->entry->shared_bytes - lanes; // lanes, and votes
    if (threads > most_threads)
        return SLRI_FAIL(UNSUPPORTED, "%s:%u: a block of '%s' has more than the %u threads of WebGPU", file, line,
                         e->entry->name, most_threads);
    if (bytes + own > most_bytes)
        return SLRI_FAIL(UNSUPPORTED,
                         "%s:%u: '%s' has %u bytes of shared memory, and needs %u for itself; WebGPU has %u", file,
                         line, e->entry->name, (unsigned)bytes, (unsigned)own, most_bytes);
    return SLR_OK;
}

// ---- the module ----------------------------------------------------------------------------------------------------

static slr_status put_module(struct slri_wgsl_emitter *e, struct slri_text *out)
{
    struct slri_text head = SLRI_TEXT_INIT;
    bool may_fault = false;
    SLRI_TRY(slri_kernel_may_fault(e->module, e->entry, &may_fault));
    for (uint32_t i = 0; i < e->module->functions; i++)
        slri_wgsl_function(e, e->module->function[i]);
    if (e->options && e->options->tells_ended_loops)
        slri_wgsl_entry_around(e);
    SLRI_TRY(e->refused);
    slri_text_printf(&head, "// %s of %s\n", e->entry->name, e->module->name);
    if (!(e->options && e->options->block))
        slri_text_puts(&head, "override slri_block_x: u32 = 256u;\noverride slri_block_y: u32 = 1u;\n"
                              "override slri_block_z: u32 = 1u;\n");
    const uint32_t storage = put_bindings(e, &head, may_fault);
    put_workgroup(e, &head);
    put_constants(e, &head);
    slri_text_puts(&head, "\n");
    struct slri_text helpers = SLRI_TEXT_INIT;
    put_helpers(e, &helpers);
    slri_text_puts(out, slri_text_view(&head));
    slri_text_puts(out, slri_text_view(&helpers));
    slri_text_puts(out, "\n");
    slri_text_puts(out, slri_text_view(e->out));
    out->out_of_memory |= head.out_of_memory || helpers.out_of_memory || e->out->out_of_memory;
    slri_text_free(&head);
    slri_text_free(&helpers);
    return check_limits(e, storage);
}

static slr_status emit_words(const struct slri_module *words, const struct slri_wgsl_options *options,
                             struct slri_text *out)
{
    struct slri_text functions = SLRI_TEXT_INIT;
    struct slri_wgsl_emitter e = {.out = &functions, .module = words, .entry = words->entry, .options = options};
    e.scratch = slri_region_create();
    slr_status status = e.scratch && find_roots(&e) ? put_module(&e, out) : SLR_NO_MEMORY;
    if (status == SLR_NO_MEMORY || (status == SLR_OK && out->out_of_memory))
        status = SLRI_FAIL(NO_MEMORY, "no memory to emit %s", words->entry->name);
    slri_region_destroy(e.scratch);
    slri_text_free(&functions);
    return status;
}

slr_status slri_emit_wgsl(const struct slri_module *module, const struct slri_entry *kernel,
                          const struct slri_wgsl_options *options, struct slri_text *out)
{
    const struct slri_linked_libraries libraries = {.get = {[SLRI_LINKED_BLOCK] = slri_block_library_of_words},
                                                    .has_counts = true}; // compilers see that all get the same
    struct slri_module *words = NULL, *linked = NULL;
    SLRI_TRY(slri_matrix_refuse(module, kernel, "WGSL has none"));
    SLRI_TRY(slri_words_kernel(module, kernel, NULL, &words));
    slr_status status = slri_meet_kernel(words, "WGSL");
    if (status == SLR_OK)
        status = slri_linked_kernel(words, words->entry, &libraries, &linked);
    if (status == SLR_OK)
        status = emit_words(linked, options, out);
    slri_module_destroy(linked);
    slri_module_destroy(words);
    return status;
}
