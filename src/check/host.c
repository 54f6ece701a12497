// SPDX-License-Identifier: Apache-2.0
// What need not be made up: what the file's host code launches the kernel with, and what its own text says of its
// block.
#include "check/launch.h"
#include "ir/type.h"

#include <stdio.h>
#include <string.h>

// ---- the launch ----------------------------------------------------------------------------------------------------

static uint64_t product(const uint32_t shape[3])
{
    return (uint64_t)shape[0] * shape[1] * shape[2];
}

static uint32_t read_of(const struct slri_plan *plan, const struct slri_host_launch *launch)
{
    uint64_t most = plan->entry->max_threads ? plan->entry->max_threads : 1024, threads = product(launch->block);
    if (launch->arguments > plan->entry->bindings || threads > most || product(launch->grid) > UINT32_MAX)
        return 0;
    uint32_t score = (threads > 0) * 16 + (product(launch->grid) > 0) * 8;
    for (uint32_t i = 0; i < launch->arguments; i++)
        score += launch->argument[i].number.is_known || launch->argument[i].bytes > 0;
    return score;
}

void slri_plan_find_host(struct slri_plan *plan)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < plan->module->launches; i++) {
        const struct slri_host_launch *launch = &plan->module->launch[i];
        uint32_t score = strcmp(launch->kernel, plan->entry->name) == 0 ? read_of(plan, launch) : 0;
        if (score > best) {
            best = score;
            plan->host = launch;
        }
    }
}

static const struct slri_host_argument *argument_of(const struct slri_plan *plan, uint32_t binding)
{
    bool is_there = plan->host && binding < plan->host->arguments && !plan->given[binding];
    return is_there ? &plan->host->argument[binding] : NULL;
}

bool slri_host_number_of(const struct slri_plan *plan, uint32_t binding, struct slri_host_number *out)
{
    const struct slri_host_argument *argument = argument_of(plan, binding);
    if (!argument || !argument->number.is_known || plan->entry->binding[binding].is_buffer ||
        !slri_type_is_scalar(plan->entry->binding[binding].type))
        return false;
    *out = argument->number;
    return true;
}

uint64_t slri_host_bytes_of(const struct slri_plan *plan, uint32_t binding)
{
    const struct slri_host_argument *argument = argument_of(plan, binding);
    return argument && plan->entry->binding[binding].is_buffer ? argument->bytes : 0;
}

bool slri_plan_is_read(const struct slri_plan *plan, uint32_t slot)
{
    struct slri_host_number number;
    return slri_host_number_of(plan, plan->slot[slot].binding, &number);
}

const char *slri_host_words(const struct slri_plan *plan, const struct slri_trial *trial)
{
    const struct slri_host_launch *host = plan->host ? plan->host : plan->too_large;
    char clipped[96] = "", halved[64] = "";
    if (host == NULL)
        return NULL;
    if (host == plan->too_large)
        snprintf(halved, sizeof halved, "; not followed: it is too large");
    else if (host->halvings > 0)
        snprintf(halved, sizeof halved, "; its sizes divided by %llu", 1ull << host->halvings);
    if (plan->host && product(host->grid) > product(trial->grid) && !plan->desc->grid[0])
        snprintf(clipped, sizeof clipped, "; of its %llu blocks %llu", (unsigned long long)product(host->grid),
                 (unsigned long long)product(trial->grid));
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "line %u: %s%s%s", host->where.line, host->text, halved, clipped);
    const char *kept = slri_region_text(plan->region, slri_text_view(&text), text.length);
    slri_text_free(&text);
    return kept;
}

// ---- what its text implies -----------------------------------------------------------------------------------------

struct tracker { // of registers, in the order of the text: which instruction gave each its value
    const struct slri_flat *flat;
    const struct slri_code *def[4096];
};

static bool is_conversion(unsigned op)
{
    return op > SLRI_CODE_STORE_BF16 && op <= SLRI_CODE_FROM_F64_BF16;
}

static const struct slri_code *origin(const struct tracker *t, slri_reg reg)
{
    const struct slri_code *code = reg < 4096 ? t->def[reg] : NULL;
    for (int i = 0; code && i < 4; i++) {
        bool passes = code->op == SLRI_CODE_MOVE || is_conversion(code->op);
        if (!passes || code->a >= 4096)
            break;
        code = t->def[code->a];
    }
    return code;
}

// The axis of a place that it gives: of the thread (0-2) or the block (3-5); else -1.
static int place_of(const struct slri_code *code)
{
    if (!code || code->op != SLRI_CODE_BUILTIN || code->imm >= SLRI_BUILTIN_BLOCK_DIM_X)
        return -1;
    return code->imm >= SLRI_BUILTIN_BLOCK_X ? (int)(code->imm - SLRI_BUILTIN_BLOCK_X) + 3 : (int)code->imm;
}

static uint64_t constant_of(const struct slri_code *code)
{
    bool is_one = code && (code->op == SLRI_CODE_CONST32 || code->op == SLRI_CODE_CONST64);
    return is_one ? code->imm : 0;
}

// blockIdx.x * CONST: the constant, and its axis.
static uint32_t stride_of(const struct tracker *t, const struct slri_code *code, int *axis)
{
    if (!code || code->op < SLRI_CODE_MUL_I32 || code->op > SLRI_CODE_MUL_U64)
        return 0;
    const struct slri_code *a = origin(t, code->a), *b = origin(t, code->b);
    const struct slri_code *place = place_of(a) >= 3 ? a : b;
    uint64_t stride = constant_of(place == a ? b : a);
    *axis = place_of(place) - 3;
    return *axis >= 0 && stride <= 1024 ? (uint32_t)stride : 0;
}

// blockIdx.x * CONST + threadIdx.x.
static void learn_sum(const struct tracker *t, const struct slri_code *code, uint32_t implied[3])
{
    int axis = -1;
    const struct slri_code *a = origin(t, code->a), *b = origin(t, code->b);
    uint32_t stride = stride_of(t, a, &axis);
    const struct slri_code *thread = b;
    if (stride == 0) {
        stride = stride_of(t, b, &axis);
        thread = a;
    }
    if (stride > 0 && place_of(thread) == axis)
        implied[axis] = stride;
}

// tile[threadIdx.x] of an array with that extent; of one more than a power of two, the last is to keep banks apart.
static void learn_index(const struct tracker *t, const struct slri_code *code, uint32_t extent[3])
{
    int axis = place_of(origin(t, code->a));
    uint64_t count = code->imm;
    if (axis < 0 || axis > 2 || count < 2 || count > 1024)
        return;
    uint64_t less = count - 1;
    if ((less & (less - 1)) == 0 && less >= 8)
        count = less;
    if (extent[axis] == 0 || count < extent[axis])
        extent[axis] = (uint32_t)count;
}

static bool sets_register(const struct slri_code *code)
{
    bool is_result = code->op <= SLRI_CODE_LOAD_BF16 || is_conversion(code->op) || code->op == SLRI_CODE_CONST32 ||
                     code->op == SLRI_CODE_CONST64 || code->op == SLRI_CODE_MOVE || code->op == SLRI_CODE_BUILTIN ||
                     code->op == SLRI_CODE_MATH || code->op == SLRI_CODE_CALL;
    return is_result && code->dst < 4096;
}

enum slri_implied slri_plan_implied_block(const struct slri_plan *plan, int axes, uint32_t out[3])
{
    struct tracker *t = slri_region_take(plan->region, sizeof *t);
    uint32_t extent[3] = {0};
    memset(out, 0, 3 * sizeof *out);
    if (t == NULL)
        return SLRI_IMPLIED_NOT;
    const struct slri_flat *flat = t->flat = &plan->interp->flat;
    uint32_t index = 0;
    while (plan->module->function[index] != plan->entry->function)
        index++;
    uint32_t end = index + 1 < plan->module->functions ? flat->function[index + 1].start : flat->count;
    for (uint32_t i = flat->function[index].start; i < end; i++) {
        const struct slri_code *code = &flat->code[i];
        if (code->op >= SLRI_CODE_ADD_I32 && code->op <= SLRI_CODE_ADD_U64)
            learn_sum(t, code, out);
        if (code->op == SLRI_CODE_INDEX)
            learn_index(t, code, extent);
        else if (sets_register(code))
            t->def[code->dst] = code;
    }
    bool is_whole = true, is_sure = true;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        is_sure &= i >= axes || out[i] > 0;
        out[i] = i >= axes ? 1 : out[i] ? out[i] : extent[i];
        is_whole &= out[i] > 0;
        threads *= out[i] ? out[i] : 1;
    }
    uint64_t most = plan->entry->max_threads ? plan->entry->max_threads : 1024;
    bool may_be = is_whole && threads <= most && threads >= 8;
    return !may_be ? SLRI_IMPLIED_NOT : is_sure ? SLRI_IMPLIED_BY_STRIDES : SLRI_IMPLIED_BY_EXTENTS;
}

// ---- what is made up -----------------------------------------------------------------------------------------------

void slri_plan_made(const struct slri_plan *plan, struct slri_made *out)
{
    *out = (struct slri_made){.block = !plan->knows_block,
                              .grid = !plan->knows_grid,
                              .axes = plan->axes,
                              .uses_thread = plan->uses_thread,
                              .uses_block = plan->uses_block};
    for (uint32_t i = 0; i < plan->slots; i++)
        if (!slri_plan_is_given(plan, i) && !slri_plan_is_read(plan, i))
            out->values |= SLRI_FROM_SLOT(i);
    for (uint32_t i = 0; i < plan->entry->bindings; i++) {
        uint32_t bit = i < SLRI_SOURCES_MAX ? i : SLRI_SOURCES_MAX - 1;
        if (!plan->entry->binding[i].is_buffer || plan->given[i])
            continue;
        out->values |= SLRI_FROM_BUFFER(bit);
        out->lengths |= slri_host_bytes_of(plan, i) == 0 ? SLRI_FROM_BUFFER(bit) : 0;
    }
}

static void put_option(slri_text *to, const char *text)
{
    slri_text_printf(to, "%s%s", to->length > 0 ? ", " : "", text);
}

const char *slri_plan_give(const struct slri_plan *plan, uint64_t made)
{
    slri_text text = SLRI_TEXT_INIT;
    char option[96];
    for (uint32_t i = 0; i < plan->entry->bindings; i++) {
        uint64_t from = i < SLRI_SOURCES_MAX && plan->entry->binding[i].is_buffer ? SLRI_FROM_BUFFER(i) : 0;
        for (uint32_t k = 0; k < plan->slots; k++)
            from |= plan->slot[k].binding == i ? SLRI_FROM_SLOT(k) : 0;
        snprintf(option, sizeof option, "--arg %.60s=...", plan->entry->binding[i].name);
        if (made & from)
            put_option(&text, option);
    }
    if (made & SLRI_FROM_BLOCK_DIM)
        put_option(&text, "--block ...");
    if (made & SLRI_FROM_GRID_DIM)
        put_option(&text, "--grid ...");
    if (made & SLRI_FROM_STEPS)
        put_option(&text, "--steps ...");
    const char *kept = text.length > 0 ? slri_region_text(plan->region, slri_text_view(&text), text.length) : NULL;
    slri_text_free(&text);
    return kept;
}
