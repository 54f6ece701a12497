// SPDX-License-Identifier: Apache-2.0
#include "check/generate.h"
#include "check/shapes.h"

#include "base/status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_ELEMENTS 65536
#define PROBE_BYTES (UINT64_C(4) << 20) // of each buffer: what is reached beyond them is learned all the same
#define PROBE_FUEL 5000
#define PROBE_STEPS 16000000 // a second or two
#define PROBE_SHARED 16384
#define PROBE_MESSAGES 100
#define MESSAGES 600                     // to two instances: each meets more than 256, which many histories hold
#define MEMORY_BYTES (UINT64_C(1) << 30) // of all generated buffers of a launch, where nobody says more
#define RAGGED_BY 5 // fewer than threads: with blocks of 32 and more, neither a multiple nor a neighbour of one

// ---- names ---------------------------------------------------------------------------------------------------------

enum role { ROLE_NONE, ROLE_SIZE, ROLE_WIDTH, ROLE_HEIGHT, ROLE_DEPTH, ROLE_START, ROLE_STEP };

static const struct name {
    const char *text;
    enum role role;
    bool is_whole; // the name is exactly this; else it is part of it
} names[] = {
    {"offset", ROLE_START, false}, {"start", ROLE_START, false},   {"begin", ROLE_START, false},
    {"first", ROLE_START, false},  {"base", ROLE_START, false},    {"stride", ROLE_STEP, false},
    {"step", ROLE_STEP, false},    {"width", ROLE_WIDTH, false},   {"col", ROLE_WIDTH, false},
    {"pitch", ROLE_WIDTH, false},  {"height", ROLE_HEIGHT, false}, {"row", ROLE_HEIGHT, false},
    {"depth", ROLE_DEPTH, false},  {"w", ROLE_WIDTH, true},        {"nx", ROLE_WIDTH, true},
    {"h", ROLE_HEIGHT, true},      {"ny", ROLE_HEIGHT, true},      {"m", ROLE_HEIGHT, true},
    {"d", ROLE_DEPTH, true},       {"nz", ROLE_DEPTH, true},       {"n", ROLE_SIZE, true},
    {"k", ROLE_SIZE, true},        {"side", ROLE_SIZE, false},     {"size", ROLE_SIZE, false},
    {"count", ROLE_SIZE, false},   {"len", ROLE_SIZE, false},      {"num", ROLE_SIZE, false},
    {"elem", ROLE_SIZE, false},    {"total", ROLE_SIZE, false},    {"dim", ROLE_SIZE, false},
};

static enum role role_of(const char *name)
{
    char low[64];
    size_t length = 0;
    for (; name[length] && length + 1 < sizeof low; length++)
        low[length] = (char)tolower((unsigned char)name[length]);
    low[length] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].is_whole ? strcmp(low, names[i].text) == 0 : strstr(low, names[i].text) != NULL)
            return names[i].role;
    return ROLE_NONE;
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

static uint64_t extent(const struct slri_trial *trial, int axis)
{
    return (uint64_t)trial->grid[axis] * trial->block[axis];
}

static uint64_t threads_of(const struct slri_trial *trial)
{
    return extent(trial, 0) * extent(trial, 1) * extent(trial, 2);
}

static uint64_t least_extent(const struct slri_trial *trial, uint8_t axes)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++)
        if ((axes >> i & 1) && extent(trial, i) < least)
            least = extent(trial, i);
    return least;
}

static uint64_t product_extent(const struct slri_trial *trial, uint8_t axes)
{
    uint64_t product = 1;
    for (int i = 0; i < 3; i++)
        product *= axes >> i & 1 ? extent(trial, i) : 1;
    return product;
}

static uint64_t by_name(const struct slri_trial *trial, const struct slri_slot *slot, bool loops, bool *is_size)
{
    bool is_flat = extent(trial, 1) == 1;
    enum role role = role_of(slot->name);
    *is_size = role >= ROLE_SIZE && role <= ROLE_DEPTH;
    switch (role) {
    case ROLE_SIZE:
        return is_flat ? extent(trial, 0) : loops ? least_extent(trial, 3) : threads_of(trial);
    case ROLE_WIDTH:
        return is_flat && loops ? 16 : extent(trial, 0);
    case ROLE_HEIGHT:
        return is_flat ? extent(trial, 0) : extent(trial, 1);
    case ROLE_DEPTH:
        return extent(trial, 2);
    case ROLE_START:
        return 0;
    case ROLE_STEP:
        return 2;
    default:
        return loops ? 4 : 1;
    }
}

// What a whole number is, by what the kernel does with it, else by its name.
static uint64_t choose_value(const struct slri_trial *trial, const struct slri_lessons *lessons,
                             const struct slri_slot *slot, uint32_t index, bool *is_size)
{
    uint8_t pitch = lessons->pitch[index];
    bool is_named = role_of(slot->name) >= ROLE_SIZE && role_of(slot->name) <= ROLE_DEPTH;
    *is_size = is_named;
    if (lessons->nears[index] && !pitch && !is_named) // a part of the block: a radius
        return 4;
    *is_size = true;
    if (lessons->bound[index])
        return least_extent(trial, lessons->bound[index]);
    if (lessons->total[index])
        return product_extent(trial, lessons->total[index]);
    if (lessons->nears[index] && !pitch)
        return trial->block[0];
    if (pitch & 2) // a row's length, where a thread's y is multiplied by it
        return extent(trial, 0);
    if (pitch & 4)
        return extent(trial, 1);
    if ((pitch & 1) && extent(trial, 1) > 1) // columns lie behind each other
        return extent(trial, 1);
    uint64_t value = by_name(trial, slot, lessons->loops[index], is_size);
    if ((pitch & 1) && *is_size) { // a row a thread
        *is_size = true;
        return 16;
    }
    return value;
}

static int64_t fitting(uint64_t value, enum slri_kind kind)
{
    uint32_t bits = 8 * slri_kind_bytes(kind) - slri_kind_is_signed(kind);
    uint64_t most = bits >= 63 ? INT64_MAX : (UINT64_C(1) << bits) - 1;
    return (int64_t)(value < most ? value : most);
}

static void choose_values(const struct slri_plan *plan, const struct slri_lessons *lessons, struct slri_trial *trial)
{
    for (uint32_t i = 0; i < plan->slots; i++) {
        bool is_size;
        struct slri_host_number read;
        if (slri_host_number_of(plan, plan->slot[i].binding, &read)) {
            trial->value[i] = read.whole;
            trial->is_size[i] = read.whole >= 8;
            continue;
        }
        uint64_t value = choose_value(trial, lessons, &plan->slot[i], i, &is_size);
        trial->value[i] = fitting(value, plan->slot[i].kind);
        trial->is_size[i] = is_size;
    }
}

static int64_t read_whole(const void *from, enum slri_kind kind)
{
    uint64_t bits = 0;
    uint32_t bytes = slri_kind_bytes(kind);
    memcpy(&bits, from, bytes); // little-endian
    unsigned unused = 64 - 8 * bytes;
    return slri_kind_is_signed(kind) ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

// Sizes that were given take part in the sizes of buffers.
static void take_given(const struct slri_plan *plan, struct slri_trial *trial)
{
    for (uint32_t i = 0; i < plan->slots; i++) {
        const struct slri_slot *slot = &plan->slot[i];
        const slr_check_argument *given = plan->given[slot->binding];
        struct slri_bound bound;
        unsigned char room[4096];
        if (given == NULL || plan->entry->binding[slot->binding].type->bytes > sizeof room ||
            slri_argument_settle(plan->program, plan->entry, slot->binding, &given->arg, room, &bound) != SLR_OK)
            continue;
        trial->value[i] = read_whole(room + slot->offset, slot->kind);
        trial->is_size[i] = trial->value[i] >= 8;
    }
}

// ---- buffers -------------------------------------------------------------------------------------------------------

struct fit {
    uint64_t reach; // in elements
    uint64_t size;
    double cost;
    char why[128];
    bool tries_multiples;
};

// How many elements a probing run gives a buffer.
static uint64_t probe_elements(uint64_t element)
{
    uint64_t fitting = PROBE_BYTES / element;
    return fitting > PROBE_ELEMENTS ? PROBE_ELEMENTS : fitting > 1 ? fitting : 1;
}

// A size may be a little less than what is reached: then the rest is outside.
static void try_size(struct fit *best, uint64_t size, bool is_slot, const char *why)
{
    double reach = (double)best->reach, wanted = (double)size;
    double cost = size == best->reach ? (is_slot ? 0 : 0.0001)
                  : !is_slot          ? 2
                  : wanted > reach    ? (best->tries_multiples ? 0.05 : 0.001) + (wanted - reach) / wanted
                  : reach - wanted <= 0.12 * wanted && !best->tries_multiples ? 0.02 + (reach - wanted) / wanted
                                                                              : 2;
    if (size == 0 || cost >= best->cost || cost > 0.5)
        return;
    best->cost = cost;
    best->size = size;
    snprintf(best->why, sizeof best->why, "%s", why);
}

// Simple sizes are tried before multiples of them, so that "side * side" is not found as "32 * side".
static void try_multiples(struct fit *best, uint64_t size, bool is_slot, bool is_index, const char *why)
{
    static const uint32_t factors[] = {2, 3, 4, 8, 16, 32, 64, 128, 256};
    char text[128];
    if (!best->tries_multiples) {
        try_size(best, size, is_slot, why);
        snprintf(text, sizeof text, "%s + 1", why);
        if (is_index && size + 1 == best->reach)
            try_size(best, size + 1, is_slot, text);
        return;
    }
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        snprintf(text, sizeof text, "%u * %s", factors[i], why);
        try_size(best, size * factors[i], is_slot, text);
    }
}

static void try_slots(const struct slri_plan *plan, const struct slri_trial *trial, struct fit *best, bool is_index)
{
    uint32_t sizes = 0;
    char why[128];
    for (uint32_t i = 0; i < plan->slots; i++)
        sizes += trial->is_size[i] && trial->value[i] > 0;
    for (uint32_t i = 0; i < plan->slots; i++) {
        uint64_t a = (uint64_t)trial->value[i];
        if (!trial->is_size[i] || trial->value[i] <= 0 || a > UINT32_MAX)
            continue;
        try_multiples(best, a, true, is_index, plan->slot[i].name);
        for (uint32_t k = sizes == 1 ? i : i + 1; k < plan->slots; k++) {
            uint64_t b = (uint64_t)trial->value[k];
            if (!trial->is_size[k] || trial->value[k] <= 0 || b > UINT32_MAX)
                continue;
            snprintf(why, sizeof why, "%.50s * %.50s", plan->slot[i].name, plan->slot[k].name);
            try_multiples(best, a * b, true, is_index, why);
            for (uint32_t m = k + 1; m < plan->slots; m++) {
                uint64_t c = (uint64_t)trial->value[m];
                if (!trial->is_size[m] || trial->value[m] <= 0 || c > UINT32_MAX)
                    continue;
                snprintf(why, sizeof why, "%.35s * %.35s * %.35s", plan->slot[i].name, plan->slot[k].name,
                         plan->slot[m].name);
                try_multiples(best, a * b * c, true, is_index, why);
            }
        }
    }
}

static void try_shape(const struct slri_trial *trial, struct fit *best, bool is_index)
{
    uint64_t blocks = (uint64_t)trial->grid[0] * trial->grid[1] * trial->grid[2];
    try_multiples(best, threads_of(trial), false, is_index, "threads");
    try_multiples(best, blocks, false, is_index, "blocks");
    try_multiples(best, threads_of(trial) / blocks, false, is_index, "threads a block");
    static const char *const along[] = {"threads along x", "threads along y", "threads along z"};
    for (int i = 0; i < 3; i++)
        if (extent(trial, i) > 1)
            try_multiples(best, extent(trial, i), false, is_index, along[i]);
    if (!best->tries_multiples)
        try_size(best, 1, false, "one element");
}

// What the guards of the kernel leave of all threads; 0: there are none, or not along all axes.
static uint64_t guarded(const struct slri_plan *plan, const struct slri_lessons *lessons,
                        const struct slri_trial *trial, char why[128])
{
    uint64_t product = 1;
    size_t length = 0;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t least = extent(trial, axis) == 1 ? 1 : 0;
        const char *name = NULL;
        for (uint32_t i = 0; i < plan->slots; i++)
            if ((lessons->bound[i] >> axis & 1) && trial->value[i] > 0) {
                least = (uint64_t)trial->value[i];
                name = plan->slot[i].name;
            }
        product *= least;
        if (name != NULL)
            length += (size_t)snprintf(why + length, 128 - length, "%s%.30s", length ? " * " : "", name);
    }
    return product;
}

static uint64_t most_bytes(const struct slri_plan *plan)
{
    return plan->desc->memory_bytes ? plan->desc->memory_bytes : MEMORY_BYTES;
}

static void spell_limit(char *to, size_t room, uint64_t bytes)
{
    if (bytes % (1u << 20) == 0)
        snprintf(to, room, "%llu MiB", (unsigned long long)(bytes >> 20));
    else
        snprintf(to, room, "%llu bytes", (unsigned long long)bytes);
}

static slr_status too_large(const struct slri_plan *plan, uint32_t index, uint64_t elements)
{
    const struct slri_binding_info *info = &plan->entry->binding[index];
    char limit[32];
    spell_limit(limit, sizeof limit, most_bytes(plan));
    return SLRI_FAIL(INVALID,
                     "kernel %s: buffer '%s' would have %llu elements of %llu bytes, but the limit for all generated "
                     "buffers of a launch is %s: give the buffer or the sizes (--arg), a smaller shape (--grid, "
                     "--block), or allow more (--memory)",
                     plan->entry->name, info->name, (unsigned long long)elements, (unsigned long long)info->type->bytes,
                     limit);
}

static slr_status size_buffer(struct slri_plan *plan, const struct slri_outcome *probe, struct slri_trial *trial,
                              uint32_t index, bool is_ragged)
{
    uint64_t element = plan->entry->binding[index].type->bytes;
    uint64_t allocated = slri_host_bytes_of(plan, index) / element * element;
    if (allocated > 0) {
        trial->bytes[index] = allocated;
        trial->is_short[index] = false;
        trial->why[index] = "as the host allocates";
        return SLR_OK;
    }
    uint64_t reach = index < SLRI_SOURCES_MAX ? probe->lessons.reach[index] : probe_elements(element) * element;
    bool is_index = index < SLRI_SOURCES_MAX && probe->lessons.indexes[index];
    struct fit best = {.reach = (reach + element - 1) / element, .cost = 1};
    char why[128] = "";
    uint64_t all = threads_of(trial), some = is_ragged ? guarded(plan, &probe->lessons, trial, why) : 0;
    best.size = best.reach ? best.reach : 1;
    for (int pass = 0; pass < 2; pass++) {
        best.tries_multiples = pass == 1;
        try_slots(plan, trial, &best, is_index);
        try_shape(trial, &best, is_index);
    }
    trial->is_short[index] = some > 0 && some < all && best.reach == all && best.cost > 0;
    if (trial->is_short[index]) {
        best.size = some;
        snprintf(best.why, sizeof best.why, "%s", why);
    }
    if (probe->was_cut) { // further than was seen, perhaps
        uint64_t probed = probe_elements(element);
        best.size = best.size > probed ? best.size : probed;
        *best.why = '\0';
    }
    if (best.size > UINT64_MAX / element)
        return too_large(plan, index, best.size);
    trial->bytes[index] = best.size * element;
    trial->why[index] = *best.why ? slri_region_text(plan->region, best.why, strlen(best.why)) : NULL;
    return SLR_OK;
}

static void choose_contents(const struct slri_plan *plan, const struct slri_lessons *lessons, struct slri_trial *trial)
{
    for (uint32_t i = 0; i < plan->entry->bindings && i < SLRI_SOURCES_MAX; i++) {
        if (lessons->counts[i]) // a counter, as a launch begins with it
            trial->contents[i] = SLRI_ZEROED;
        else if (lessons->indexes[i])
            trial->contents[i] = SLRI_COUNTING;
        if (lessons->limit[i] != UINT64_MAX && lessons->limit[i] > 0 &&
            (trial->limit[i] == 0 || lessons->limit[i] < trial->limit[i]))
            trial->limit[i] = lessons->limit[i];
    }
}

// ---- probing -------------------------------------------------------------------------------------------------------

static bool chooses_shared(const struct slri_plan *plan)
{
    return plan->desc->shared_bytes == 0 && (plan->entry->function->uses & SLRI_USES_DYNAMIC);
}

static struct slri_trial ample(const struct slri_plan *plan, const struct slri_trial *trial)
{
    struct slri_trial made = *trial;
    for (uint32_t i = 0; i < plan->entry->bindings; i++) {
        made.bytes[i] = probe_elements(plan->entry->binding[i].type->bytes) * plan->entry->binding[i].type->bytes;
        made.is_short[i] = false;
    }
    if (chooses_shared(plan))
        made.shared_bytes = PROBE_SHARED;
    if (slri_plan_is_handler(plan) && made.grid[0] > PROBE_MESSAGES)
        made.grid[0] = PROBE_MESSAGES;
    made.fuel = plan->desc->fuel && plan->desc->fuel < PROBE_FUEL ? plan->desc->fuel : PROBE_FUEL;
    made.steps = plan->desc->steps && plan->desc->steps < PROBE_STEPS ? plan->desc->steps : PROBE_STEPS;
    return made;
}

// Probes until values and contents no longer change what is learned.
static slr_status probe(struct slri_plan *plan, struct slri_trial *trial, struct slri_outcome *outcome, bool chooses)
{
    for (int i = 0; i < 4; i++) {
        struct slri_trial with = ample(plan, trial), before = *trial;
        *outcome = (struct slri_outcome){0};
        SLRI_TRY(slri_trial_run(plan, &with, outcome));
        choose_contents(plan, &outcome->lessons, trial);
        if (chooses) {
            choose_values(plan, &outcome->lessons, trial);
            take_given(plan, trial);
        }
        if (outcome->was_cut || memcmp(&before, trial, sizeof before) == 0)
            break;
    }
    bool is_read = plan->host && plan->host->shared_bytes.is_known && plan->host->shared_bytes.whole > 0;
    if (chooses_shared(plan) && is_read)
        trial->shared_bytes = (uint64_t)plan->host->shared_bytes.whole;
    else if (chooses_shared(plan))
        trial->shared_bytes = (outcome->lessons.shared_reach + 15) / 16 * 16;
    return SLR_OK;
}

// ---- the shape ------------------------------------------------------------------------------------------------------

static uint32_t count_sizes(const struct slri_plan *plan)
{
    uint32_t sizes = 0;
    for (uint32_t i = 0; i < plan->slots; i++)
        sizes += !slri_plan_is_given(plan, i);
    return sizes;
}

// A shape that the kernel is not made for shows as indices outside arrays and as parts of arrays that nobody writes.
static slr_status choose_shape(struct slri_plan *plan, const struct slri_shapes *all, struct slri_trial *best,
                               struct slri_outcome *learned)
{
    uint32_t least = UINT32_MAX;
    bool prefers_square = count_sizes(plan) < 2;
    struct slri_lessons first_guess = {0};
    for (uint32_t i = 0; i < plan->slots; i++)
        first_guess.loops[i] = true; // small, so that the first probe is quick
    for (uint32_t i = 0; i < all->count && least > 0; i++) {
        const struct slri_tried_shape *shape = &all->list[i];
        struct slri_trial trial = {.shared_bytes = plan->desc->shared_bytes, .messages = SLRI_POSITIVE};
        struct slri_outcome outcome;
        if (slri_shapes_are_better(all, shape, prefers_square))
            continue;
        memcpy(trial.grid, shape->grid, sizeof trial.grid);
        memcpy(trial.block, shape->block, sizeof trial.block);
        choose_values(plan, &first_guess, &trial);
        take_given(plan, &trial);
        slr_status status = probe(plan, &trial, &outcome, true);
        if (status == SLR_INVALID && i + 1 < all->count)
            continue; // such a block may have no such launch: another may
        SLRI_TRY(status);
        if (outcome.misfits >= least)
            continue;
        least = outcome.misfits;
        *best = trial;
        *learned = outcome;
    }
    return least < UINT32_MAX
               ? SLR_OK
               : SLRI_FAIL(INVALID, "kernel %s: no tested shape can be launched: give a grid and a block",
                           plan->entry->name);
}

// ---- both launches -------------------------------------------------------------------------------------------------

static slr_status size_buffers(struct slri_plan *plan, const struct slri_outcome *learned, struct slri_trial *trial,
                               bool is_ragged)
{
    uint64_t fuel = slri_plan_is_handler(plan) ? 100000 : 1000000;
    trial->fuel = plan->desc->fuel ? plan->desc->fuel : fuel;
    uint64_t steps = slri_plan_is_handler(plan) ? PROBE_STEPS : 200000000;
    trial->steps = plan->desc->steps ? plan->desc->steps : steps;
    uint64_t left = most_bytes(plan);
    for (uint32_t i = 0; i < plan->entry->bindings; i++) {
        if (!plan->entry->binding[i].is_buffer || plan->entry->binding[i].is_outlet || plan->given[i])
            continue;
        SLRI_TRY(size_buffer(plan, learned, trial, i, is_ragged));
        if (trial->bytes[i] > left)
            return too_large(plan, i, trial->bytes[i] / plan->entry->binding[i].type->bytes);
        left -= trial->bytes[i];
    }
    return SLR_OK;
}

// A message is a block of its own, as far as watchers see.
static void add_messages(struct slri_shapes *all, const struct slri_plan *plan)
{
    uint64_t messages = plan->desc->messages ? plan->desc->messages : MESSAGES;
    uint32_t threads = plan->entry->kind == SLRI_ENTRY_BLOCK ? plan->entry->max_threads : 1;
    all->list[all->count++] = (struct slri_tried_shape){{(uint32_t)messages, 1, 1}, {threads, 1, 1}};
}

static slr_status generate_for_messages(struct slri_plan *plan, struct slri_trial *out, struct slri_outcome *learned)
{
    struct slri_shapes all = {.desc = plan->desc};
    add_messages(&all, plan);
    SLRI_TRY(choose_shape(plan, &all, out, learned));
    return size_buffers(plan, learned, out, false);
}

static slr_status generate(struct slri_plan *plan, struct slri_trial *out, struct slri_outcome *learned)
{
    struct slri_shapes all = {.desc = plan->desc};
    int axes;
    all.most = plan->entry->max_threads ? plan->entry->max_threads : 1024;
    SLRI_TRY(slri_count_axes(plan, &axes));
    plan->axes = axes;
    slri_shapes_add_known(&all, plan, axes);
    bool fits = all.count > 0 && choose_shape(plan, &all, out, learned) == SLR_OK &&
                (plan->knows_block || learned->misfits == 0);
    if (!fits) { // what is known may be a launch that fails, and a guess may be wrong
        if (plan->host && plan->host->block[0] && all.count > 0)
            plan->host = NULL;
        plan->knows_block = plan->desc->block[0];
        plan->knows_grid = plan->desc->grid[0];
        slri_shapes_add_usual(&all, plan, axes);
        SLRI_TRY(choose_shape(plan, &all, out, learned));
    }
    return size_buffers(plan, learned, out, false);
}

slr_status slri_generate_even(struct slri_plan *plan, struct slri_trial *out, struct slri_outcome *learned)
{
    if (slri_plan_is_handler(plan))
        return generate_for_messages(plan, out, learned);
    slr_status status = generate(plan, out, learned);
    if (status != SLR_INVALID || plan->host == NULL)
        return status;
    plan->too_large = plan->host; // for the memory that generated buffers may have
    plan->host = NULL;
    return generate(plan, out, learned);
}

slr_status slri_generate_ragged(struct slri_plan *plan, const struct slri_trial *even, struct slri_outcome *learned,
                                struct slri_trial *out, bool *is_there)
{
    *out = *even;
    *is_there = false;
    for (uint32_t i = 0; i < plan->slots; i++) {
        const struct slri_lessons *lessons = &learned->lessons;
        const bool guards_block = lessons->nears[i] && even->is_size[i]; // not as a radius
        if (slri_plan_is_given(plan, i) || slri_plan_is_read(plan, i) ||
            !(lessons->bound[i] || lessons->total[i] || guards_block))
            continue;
        out->value[i] -= out->value[i] > 2 * RAGGED_BY ? RAGGED_BY : out->value[i] > 1;
        *is_there = true;
    }
    if (!*is_there)
        return SLR_OK;
    SLRI_TRY(probe(plan, out, learned, false));
    return size_buffers(plan, learned, out, true);
}
