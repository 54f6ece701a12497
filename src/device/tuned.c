// SPDX-License-Identifier: Apache-2.0
// What was tuned, for launches. A program looks once into the cache folder, when it is loaded: for each record of its
// source it makes the kernel that is to be launched instead, of a program with the record's macros where it has some.
#include "base/alloc.h"
#include "base/environment.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "device/kernel.h"
#include "lang/kernel.h"

#include <slipring/tune.h>

#include <stdio.h>
#include <string.h>

enum { DEFINES = 32 };

// ---- the source, kept ----------------------------------------------------------------------------------------------

static slr_status copy_texts(struct slri_region *region, const char *const *from, uint32_t count,
                             const char *const **out)
{
    const char **copy = slri_region_take(region, (count + 1) * sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++)
        if (!(copy[i] = slri_region_text(region, from[i], strlen(from[i]))))
            copy = NULL;
    *out = copy;
    return copy ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory to keep a program's source");
}

static slr_status keep_source(slr_program *program, const struct slri_source *source)
{
    struct slri_region *region = program->region;
    struct slri_source *kept = slri_region_take(region, sizeof *kept);
    if (!kept)
        return SLRI_FAIL(NO_MEMORY, "no memory to keep a program's source");
    *kept = *source;
    kept->path = slri_region_text(region, source->path, strlen(source->path));
    kept->text = source->text ? slri_region_text(region, source->text, strlen(source->text)) : NULL;
    if (!kept->path || (source->text && !kept->text))
        return SLRI_FAIL(NO_MEMORY, "no memory to keep a program's source");
    SLRI_TRY(copy_texts(region, source->define, source->defines, &kept->define));
    SLRI_TRY(copy_texts(region, source->include, source->includes, &kept->include));
    program->source = kept;
    return SLR_OK;
}

void slri_tuned_source(const slr_program *program, char out[SLRI_HASH_HEX_BYTES])
{
    const unsigned char *hash = program->module->own_hash;
    for (size_t i = 0; i < sizeof program->module->own_hash; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

// ---- another program of the same source ----------------------------------------------------------------------------

// Cuts "TILE=16 ROWS=2" into `room`; the number of them.
static uint32_t cut_defines(const char *defines, char *room, size_t bytes, const char **out, uint32_t most)
{
    uint32_t count = 0;
    snprintf(room, bytes, "%s", defines);
    for (char *at = room; *at && count < most;) {
        size_t length = strcspn(at, " ");
        if (length)
            out[count++] = at;
        at += length;
        if (*at)
            *at++ = '\0';
    }
    return count;
}

static slr_status load_again(slr_program *program, slr_device *device, const slr_program_desc *desc, slr_program **out)
{
    const struct slri_source *source = program->source;
    return source->text ? slr_program_from_text(device, source->path, source->text, desc, out)
                        : slr_program_load(device, source->path, desc, out);
}

#define GUARDED " " SLRI_GUARD_MACRO "=1"

// The macros of the program and those of `defines`, which it points into.
struct macros {
    char room[SLRI_TUNED_DEFINES_BYTES + sizeof GUARDED];
    const char **all;
    uint32_t count;
    size_t bytes;
};

static slr_status make_macros(const slr_program *program, const char *defines, struct macros *out)
{
    const char *more[DEFINES];
    const struct slri_source *source = program->source;
    if (!source)
        return SLRI_FAIL(UNSUPPORTED, "'%s' is a raw program, whose source is not known", program->module->name);
    uint32_t count = cut_defines(defines, out->room, sizeof out->room, more, DEFINES);
    out->count = source->defines + count;
    out->bytes = (out->count + 1) * sizeof *out->all;
    out->all = slri_alloc(NULL, out->bytes);
    if (!out->all)
        return SLRI_FAIL(NO_MEMORY, "no memory to compile '%s' with other macros", program->module->name);
    for (uint32_t i = 0; i < out->count; i++)
        out->all[i] = i < source->defines ? source->define[i] : more[i - source->defines];
    return SLR_OK;
}

static slr_status make_variant(slr_program *program, slr_device *device, const char *defines, slr_tuned_use use,
                               uint32_t level, slr_program **out)
{
    struct macros macros;
    SLRI_TRY(make_macros(program, defines, &macros));
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.defines = macros.all;
    desc.define_count = macros.count;
    desc.include_paths = program->source->include;
    desc.include_path_count = program->source->includes;
    desc.optimize = level;
    desc.debug = program->module->debug;
    desc.tuned = use;
    slr_status status = load_again(program, device, &desc, out);
    slri_free(NULL, macros.all, macros.bytes);
    return status;
}

slr_status slri_tuned_variant(slr_program *program, const char *defines, slr_program **out)
{
    return make_variant(program, program->device, defines, SLR_TUNED_OFF, program->level, out);
}

slr_status slri_tuned_guarded(slr_program *program, const char *defines, slr_program **out)
{
    char all[SLRI_TUNED_DEFINES_BYTES + sizeof GUARDED];
    snprintf(all, sizeof all, "%s" GUARDED, defines);
    return make_variant(program, program->device, all, SLR_TUNED_OFF, 1, out); // it runs once: compiling takes longer
}

slr_status slri_program_elsewhere(slr_program *program, slr_device *device, slr_program **out)
{
    return make_variant(program, device, "", program->tuned_use, program->level, out);
}

slr_status slri_tuned_is_allowed(slr_program *program, const char *defines, bool *is_allowed)
{
    struct macros macros;
    SLRI_TRY(make_macros(program, defines, &macros));
    struct slri_source source = *program->source;
    source.define = macros.all;
    source.defines = macros.count;
    slr_status status = slri_kernel_is_allowed(&source, is_allowed);
    slri_free(NULL, macros.all, macros.bytes);
    return status;
}

// ---- choices -------------------------------------------------------------------------------------------------------

static slr_status make_label(slr_kernel *kernel, const struct slri_tuned_record *record)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "%s (tuned:", kernel->info.name);
    if (*record->defines)
        slri_text_printf(&text, " %s", record->defines);
    if (record->block[0])
        slri_text_printf(&text, " block %ux%ux%u", record->block[0], record->block[1], record->block[2]);
    if (record->vector_width)
        slri_text_printf(&text, " vector width %u", record->vector_width);
    slri_text_puts(&text, ")");
    kernel->label = text.out_of_memory ? NULL : slri_region_text(kernel->program->region, text.data, text.length);
    slri_text_free(&text);
    return kernel->label ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a tuned kernel");
}

static bool is_default(const struct slri_tuned_record *record)
{
    return !*record->defines && !record->block[0] && !record->vector_width;
}

// The program that another choice with these macros has; NULL: none has.
static slr_program *find_variant(const slr_program *program, const char *defines)
{
    // Acquire: what is in the choices.
    const struct slri_choice *each = __atomic_load_n(&program->choices, __ATOMIC_ACQUIRE);
    while (each && strcmp(each->record.defines, defines) != 0)
        each = each->next;
    return each && each->kernel ? each->kernel->program : NULL;
}

static slr_status make_kernel(slr_program *program, const struct slri_tuned_record *record, slr_kernel **out)
{
    slr_program *variant;
    if (!*record->defines)
        return slr_program_get_kernel(program, record->kernel, out);
    if ((variant = find_variant(program, record->defines)))
        return slr_program_get_kernel(variant, record->kernel, out);
    SLRI_TRY(slri_tuned_variant(program, record->defines, &variant));
    slr_status status = slr_program_get_kernel(variant, record->kernel, out);
    slr_program_destroy(variant); // the kernel keeps it
    return status;
}

// A program's own kernel would keep the program, and it would never go.
static void let_program_go(slr_program *program, const slr_kernel *kernel)
{
    if (kernel && kernel->program == program)
        __atomic_fetch_sub(&program->holds, 1, __ATOMIC_RELAXED); // the caller's is not the last
}

static void free_choice(slr_program *program, struct slri_choice *choice)
{
    if (choice->kernel && choice->kernel->program == program)
        slri_program_hold(program);
    slr_kernel_destroy(choice->kernel);
    slri_free(program->device->allocator, choice, sizeof *choice);
}

static bool may_use(const slr_program *program, const struct slri_tuned_record *record)
{
    return program->tuned_use == SLR_TUNED_ANY || (program->tuned_use == SLR_TUNED_EXACT && record->is_exact);
}

// Variables of a program are one: a variant would have its own.
static bool fits_program(const slr_program *program, const struct slri_tuned_record *record)
{
    return !*record->defines || program->module->globals == 0;
}

slr_status slri_tuned_add(slr_program *program, const struct slri_tuned_record *record)
{
    const struct slri_entry *entry = slri_module_entry(program->module, record->kernel);
    if (!entry || entry->kind != SLRI_ENTRY_KERNEL || !may_use(program, record) || !fits_program(program, record))
        return SLR_OK;
    struct slri_choice *made = slri_alloc(program->device->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for what was tuned");
    *made = (struct slri_choice){.entry = entry, .record = *record};
    slr_status status = is_default(record) ? SLR_OK : make_kernel(program, record, &made->kernel);
    if (status == SLR_OK && made->kernel)
        status = make_label(made->kernel, record);
    let_program_go(program, made->kernel);
    if (status != SLR_OK) {
        free_choice(program, made);
        return status;
    }
    made->next = __atomic_load_n(&program->choices, __ATOMIC_RELAXED); // the exchange below sees whether it is still so
    // Release: a launch that finds the choice sees what is in it.
    while (
        !__atomic_compare_exchange_n(&program->choices, &made->next, made, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return SLR_OK;
}

// A record that cannot be used any more (its macros are no longer there) leaves the default, and a cache folder
// that is not there as well.
static slr_status add_records(slr_program *program)
{
    char source[SLRI_HASH_HEX_BYTES];
    struct slri_tuned_record *record;
    uint32_t count;
    slri_tuned_source(program, source);
    slr_status status = slri_tuned_records(program->device, source, &record, &count);
    if (status == SLR_NOT_FOUND)
        return SLR_OK;
    SLRI_TRY(status);
    for (uint32_t i = 0; i < count; i++)
        (void)slri_tuned_add(program, &record[i]);
    slri_free(NULL, record, count * sizeof *record);
    return SLR_OK;
}

static bool is_turned_off(void)
{
    const char *wish = slri_environment("SLIPRING_TUNED");
    return wish && strcmp(wish, "0") == 0;
}

void slri_tuned_place(const slr_device *device, struct slri_tuned_place *out)
{
    const struct slri_identity *identity = &device->facts.identity;
    *out = (struct slri_tuned_place){0};
    snprintf(out->device, sizeof out->device, "%s", *identity->device ? identity->device : device->backend->name);
    memcpy(out->model, identity->model, sizeof out->model);
    memcpy(out->compiler, identity->compiler, sizeof out->compiler);
    memcpy(out->driver, identity->driver, sizeof out->driver);
}

slr_status slri_tuned_begin(slr_program *program, const struct slri_source *source, const slr_program_desc *desc)
{
    program->tuned_use = desc->tuned ? (slr_tuned_use)desc->tuned : is_turned_off() ? SLR_TUNED_OFF : SLR_TUNED_EXACT;
    if (program->module->raw)
        program->tuned_use = SLR_TUNED_OFF;
    else
        SLRI_TRY(keep_source(program, source));
    if (program->tuned_use != SLR_TUNED_OFF)
        return add_records(program);
    return SLR_OK;
}

void slri_tuned_end(slr_program *program)
{
    struct slri_choice *next;
    program->holds += program->choices != NULL; // its own kernels take their holds of it back
    for (struct slri_choice *each = program->choices; each; each = next) {
        next = each->next;
        free_choice(program, each);
    }
    program->choices = NULL;
}

// ---- launches ------------------------------------------------------------------------------------------------------

const struct slri_choice *slri_tuned_find(const slr_kernel *kernel, const slr_shape *shape)
{
    // Acquire: what is in the choices.
    const struct slri_choice *each = __atomic_load_n(&kernel->program->choices, __ATOMIC_ACQUIRE);
    if (!each || kernel->label || shape->block[0] || shape->grid[0] || shape->grid[1] || shape->grid[2])
        return NULL;
    for (; each; each = each->next)
        if (each->entry == kernel->entry && memcmp(each->record.threads, shape->threads, sizeof shape->threads) == 0)
            break;
    return each && each->kernel ? each : NULL;
}

slr_kernel *slri_tuned_settle(slr_kernel *kernel, slr_shape *shape)
{
    const struct slri_choice *choice = slri_tuned_find(kernel, shape);
    if (!choice)
        return kernel;
    memcpy(shape->block, choice->record.block, sizeof shape->block);
    if (!shape->vector_width)
        shape->vector_width = choice->record.vector_width;
    return choice->kernel;
}

static void describe_choice(const struct slri_tuned_record *record, slr_tuned *out)
{
    out->is_default = is_default(record);
    out->is_exact = record->is_exact;
    memcpy(out->defines, record->defines, sizeof out->defines);
    out->default_cost = (double)record->default_ps / 1000;
    out->cost = (double)record->tuned_ps / 1000;
    out->speedup = record->speedup_permille ? (double)record->speedup_permille / 1000
                   : record->tuned_ps       ? out->default_cost / out->cost
                                            : 1;
    out->speedup_low = (double)record->low_permille / 1000;
    out->speedup_high = (double)record->high_permille / 1000;
    out->evaluations = record->evaluations;
    for (uint32_t i = SLR_TUNE_TIME; i <= SLR_TUNE_ENERGY; i++)
        if (strcmp(slri_tuned_metric(i), record->metric) == 0)
            out->metric = i;
}

slr_status slr_kernel_get_tuned_sized(slr_kernel *kernel, slr_shape shape, slr_tuned *out, size_t bytes)
{
    bool none;
    if (!kernel || !out)
        return SLRI_FAIL(INVALID, "slr_kernel_get_tuned: %s is NULL", kernel ? "out" : "kernel");
    slr_tuned whole = {.is_default = 1, .is_exact = 1, .speedup = 1, .speedup_low = 1, .speedup_high = 1};
    const struct slri_choice *choice = slri_tuned_find(kernel, &shape);
    slr_kernel *used = slri_tuned_settle(kernel, &shape);
    SLRI_TRY(slri_shape_settle(used, &shape, &none));
    if (choice)
        describe_choice(&choice->record, &whole);
    whole.shape = shape;
    snprintf(whole.reason, sizeof whole.reason, "%s",
             choice ? used->label : "Nothing that is faster than the default is known for these threads.");
    return SLRI_GIVE_REPORT(slr_tuned, out, bytes, &whole);
}

slr_status(slr_kernel_get_tuned)(slr_kernel *kernel, slr_shape shape, slr_tuned *out)
{
    return slr_kernel_get_tuned_sized(kernel, shape, out, SLRI_FIRST_slr_tuned);
}

// ---- all that is known ---------------------------------------------------------------------------------------------

struct visit_tuned {
    char source[SLRI_HASH_HEX_BYTES];
    slr_tuned_visitor *visit;
    void *user;
};

static void visit_record(void *user, const struct slri_tuned_place *place, const struct slri_tuned_record *record)
{
    const struct visit_tuned *visit = user;
    if (strcmp(record->source, visit->source) != 0)
        return;
    slr_tuned tuned = {0};
    describe_choice(record, &tuned);
    memcpy(tuned.shape.threads, record->threads, sizeof tuned.shape.threads);
    memcpy(tuned.shape.block, record->block, sizeof tuned.shape.block);
    tuned.shape.vector_width = record->vector_width;
    const slr_tuned_entry entry = {record->kernel, place->device, place->model, place->compiler, place->driver, &tuned};
    visit->visit(visit->user, &entry);
}

slr_status slr_program_visit_tuned(const slr_program *program, slr_tuned_visitor *visit, void *user)
{
    struct visit_tuned all = {.visit = visit, .user = user};
    if (!program || !visit)
        return SLRI_FAIL(INVALID, "slr_program_visit_tuned: %s is NULL", program ? "visit" : "program");
    slri_tuned_source(program, all.source);
    return slri_tuned_visit_all(visit_record, &all);
}
