// SPDX-License-Identifier: Apache-2.0
// Several kernels as one: whether that gives the same, and what it saves.
#include "fuse/join.h"

#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define REFUSE_JOIN(join, ...)                                                                                         \
    (snprintf((join)->why, sizeof(join)->why, __VA_ARGS__), SLRI_FAIL(UNSUPPORTED, "%s", (join)->why))

// ---- accesses ------------------------------------------------------------------------------------------------------

struct surveying {
    struct slri_join *join;
    const struct slri_join_part *part;
    struct seen *seen; // one for each object
};

struct seen {
    bool elsewhere; // an element that is not the thread's own
    bool any, first_is_store, first_is_nested, stores_at_top;
    const char *elsewhere_in;
};

static bool survey_access(void *user, const struct slri_instr *instr, uint32_t depth)
{
    struct surveying *at = user;
    struct slri_access access;
    if ((instr->op != SLRI_OP_LOAD && instr->op != SLRI_OP_STORE) || !slri_part_access(&at->part->part, instr, &access))
        return true;
    uint32_t number = at->part->object[access.binding];
    struct slri_join_object *object = &at->join->object[number];
    struct seen *seen = &at->seen[number];
    object->is_read = object->is_read || !access.is_store;
    object->is_written = object->is_written || access.is_store;
    if (access.to == SLRI_TO_OTHER && !seen->elsewhere) {
        seen->elsewhere = true;
        seen->elsewhere_in = at->part->entry->name;
    }
    if (!seen->any) {
        seen->first_is_store = access.is_store;
        seen->first_is_nested = depth != 0;
    }
    seen->any = true;
    seen->stores_at_top = seen->stores_at_top || (access.is_store && depth == 0);
    return true;
}

// A buffer whose element is known from the first access on is kept in a variable. Elsewhere memory does what the parts
// do, and that is right, too: each thread has its own element.
static slr_status settle_object(struct slri_join *join, struct slri_join_object *object, const struct seen *seen)
{
    if (!object->is_buffer)
        return SLR_OK;
    if (object->is_written && seen->elsewhere)
        return REFUSE_JOIN(
            join,
            "%s accesses elements of '%s' that are not its thread's own, and '%s' is written: each thread "
            "would have to wait for others, or to compute their elements again",
            seen->elsewhere_in, object->name, object->name);
    bool is_known = seen->first_is_store || !object->is_written || seen->stores_at_top;
    object->is_in_variable = seen->any && !seen->elsewhere && !seen->first_is_nested && is_known;
    bool is_gone = object->is_unread && object->is_in_variable && seen->first_is_store;
    object->is_stored = object->is_written && !is_gone;
    object->is_loaded = object->is_read && !(object->is_in_variable && seen->first_is_store);
    return SLR_OK;
}

static slr_status survey_parts(struct slri_join *join)
{
    struct seen *seen = slri_region_take(join->region, (join->objects + 1) * sizeof *seen);
    if (!seen)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse %u kernels", join->parts);
    for (uint32_t i = 0; i < join->parts; ++i) {
        struct surveying at = {join, &join->part[i], seen};
        slri_part_walk(&join->part[i].part, survey_access, &at);
    }
    for (uint32_t i = 0; i < join->objects; ++i)
        SLRI_TRY(settle_object(join, &join->object[i], &seen[i]));
    return SLR_OK;
}

// ---- one index and one guard ---------------------------------------------------------------------------------------

#define BOUND_TEXT 100

// "'n' = 1024", or "'1024'" of a number in the source.
static const char *spell_bound(const struct slri_join_part *part, char room[BOUND_TEXT])
{
    const bool is_named = part->part.bound != UINT32_MAX;
    const char *name = is_named ? part->entry->binding[part->part.bound].name : "";
    enum slri_kind kind = is_named ? part->entry->binding[part->part.bound].type->kind : part->part.kind;
    char number[32];
    snprintf(number, sizeof number, slri_kind_is_signed(kind) ? "%lld" : "%llu",
             is_named ? (unsigned long long)part->bound : (unsigned long long)part->part.bound_value);
    if (is_named && part->is_bound_known)
        snprintf(room, BOUND_TEXT, "'%.60s' = %s", name, number);
    else
        snprintf(room, BOUND_TEXT, "'%.60s'", is_named ? name : number);
    return room;
}

static slr_status compare_guards(struct slri_join *join, const struct slri_join_part *a, const struct slri_join_part *b)
{
    char room[2][BOUND_TEXT];
    const struct slri_part *one = &a->part, *other = &b->part;
    if (one->form != other->form)
        return REFUSE_JOIN(join, "%s has a grid-stride loop and %s has not",
                           one->form ? a->entry->name : b->entry->name, one->form ? b->entry->name : a->entry->name);
    if (one->kind != other->kind || one->is_wide != other->is_wide)
        return REFUSE_JOIN(join, "the indices of %s and %s differ in type", a->entry->name, b->entry->name);
    bool is_same = one->bound == UINT32_MAX || other->bound == UINT32_MAX
                       ? one->bound == other->bound && one->bound_value == other->bound_value
                       : a->object[one->bound] == b->object[other->bound];
    const bool is_equal = a->is_bound_known && b->is_bound_known && a->bound == b->bound;
    if (!is_equal && !is_same)
        return REFUSE_JOIN(join, "different guards: %s has %s, %s has %s", a->entry->name, spell_bound(a, room[0]),
                           b->entry->name, spell_bound(b, room[1]));
    return SLR_OK;
}

slr_status slri_join_read(struct slri_join *join)
{
    for (uint32_t i = 0; i < join->parts; ++i) {
        struct slri_join_part *part = &join->part[i];
        char why[200] = "";
        slr_status status = slri_part_read(part->module, part->entry, join->region, &part->part, why);
        if (status == SLR_UNSUPPORTED)
            return REFUSE_JOIN(join, "%s: %s", part->entry->name, why);
        SLRI_TRY(status);
    }
    return SLR_OK;
}

slr_status slri_join_plan(struct slri_join *join)
{
    for (uint32_t i = 1; i < join->parts; ++i)
        SLRI_TRY(compare_guards(join, &join->part[0], &join->part[i]));
    return survey_parts(join);
}

// ---- figures -------------------------------------------------------------------------------------------------------

struct traffic_of_part {
    const struct slri_join_part *part;
    bool reads[64], writes[64]; // by binding
};

static bool note_traffic(void *user, const struct slri_instr *instr, uint32_t depth)
{
    struct traffic_of_part *at = user;
    struct slri_access access;
    (void)depth;
    if ((instr->op == SLRI_OP_LOAD || instr->op == SLRI_OP_STORE) &&
        slri_part_access(&at->part->part, instr, &access) && access.to == SLRI_TO_ELEMENT && access.binding < 64)
        *(access.is_store ? &at->writes[access.binding] : &at->reads[access.binding]) = true;
    return true;
}

static uint64_t bytes_of_part(const struct slri_join_part *part)
{
    struct traffic_of_part at = {.part = part};
    uint64_t bytes = 0;
    slri_part_walk(&part->part, note_traffic, &at);
    for (uint32_t i = 0; i < part->entry->bindings && i < 64; ++i)
        bytes += (uint64_t)(at.reads[i] + at.writes[i]) * part->entry->binding[i].type->bytes;
    return bytes;
}

void slri_join_count(const struct slri_join *join, slr_fusion_info *out)
{
    *out = (slr_fusion_info){.launches = 1, .launches_apart = join->parts, .source = "", .why_not = ""};
    for (uint32_t i = 0; i < join->objects; ++i) {
        const struct slri_join_object *object = &join->object[i];
        if (!object->is_buffer)
            continue;
        out->inputs += object->is_loaded;
        out->outputs += object->is_stored;
        out->bytes_an_element += (uint64_t)(object->is_loaded + object->is_stored) * object->type->bytes;
    }
    for (uint32_t i = 0; i < join->parts; ++i)
        out->bytes_apart += bytes_of_part(&join->part[i]);
    out->bound = out->bytes_an_element ? (double)out->bytes_apart / (double)out->bytes_an_element : 1;
}

// ---- whether it pays -----------------------------------------------------------------------------------------------

// Registers of 32 bits that a thread may have where a multiprocessor is to hold half of its threads. More of them
// leave proportionally fewer threads to wait for memory; on a CPU they are spilled.
#define REGISTERS_FOR_HALF 64.0

static uint32_t registers_of_kind(enum slri_kind kind)
{
    return slri_kind_bytes(kind) > 4 ? 2 : 1;
}

// What is alive at once: the addresses of buffers, numbers, the elements that are kept, and the widest part's
// variables.
static uint32_t registers_of_join(const struct slri_join *join)
{
    uint32_t count = 0, most = 0;
    for (uint32_t i = 0; i < join->objects; ++i) {
        const struct slri_join_object *object = &join->object[i];
        if (object->is_buffer)
            count += (object->is_loaded || object->is_stored ? 2 : 0) +
                     (object->is_in_variable && object->is_written ? registers_of_kind(object->type->kind) : 0);
        else
            count += (uint32_t)(object->type->bytes + 3) / 4;
    }
    for (uint32_t i = 0; i < join->parts; ++i) {
        const struct slri_function *function = join->part[i].entry->function;
        uint32_t own = 0;
        for (uint32_t k = 0; k < function->regs; ++k)
            own += join->part[i].part.reg[k].writes && function->reg_name[k] ? registers_of_kind(function->reg_kind[k])
                                                                             : 0;
        most = own > most ? own : most;
    }
    return count + most;
}

uint64_t slri_join_saving(const struct slri_join *join)
{
    slr_fusion_info info;
    slri_join_count(join, &info);
    return info.bytes_apart > info.bytes_an_element ? info.bytes_apart - info.bytes_an_element : 0;
}

// A buffer of the last part that an earlier part has, too; one that stays in memory first. NULL: none.
static const struct slri_join_object *shared_buffer(const struct slri_join *join)
{
    const struct slri_join_part *last = &join->part[join->parts - 1];
    const struct slri_join_object *found = NULL;
    for (uint32_t k = 0; k < last->entry->bindings; ++k) {
        const struct slri_join_object *object = &join->object[last->object[k]];
        for (uint32_t i = 0; object->is_buffer && i + 1 < join->parts; ++i)
            for (uint32_t m = 0; m < join->part[i].entry->bindings; ++m)
                if (join->part[i].object[m] == last->object[k] && (!found || !object->is_in_variable))
                    found = object;
    }
    return found;
}

static slr_status refuse_useless(struct slri_join *join)
{
    const char *last = join->part[join->parts - 1].entry->name;
    const struct slri_join_object *shared = shared_buffer(join);
    if (!shared)
        return REFUSE_JOIN(join, "%s shares no buffer with what comes before it: nothing would be saved", last);
    if (shared->is_in_variable)
        return REFUSE_JOIN(join,
                           "%s and what comes before it share '%s', but fused they would load and store no fewer "
                           "bytes",
                           last, shared->name);
    return REFUSE_JOIN(
        join,
        "%s and what comes before it share '%s', but it would stay in memory: a part accesses it under a "
        "condition, or at elements of other threads",
        last, shared->name);
}

slr_status slri_join_weigh(struct slri_join *join, uint64_t saving)
{
    slr_fusion_info info;
    slri_join_count(join, &info);
    uint32_t registers = registers_of_join(join);
    double slowdown = registers > REGISTERS_FOR_HALF ? registers / REGISTERS_FOR_HALF : 1;
    if (slri_join_saving(join) <= saving)
        return refuse_useless(join);
    if (slowdown >= info.bound)
        return REFUSE_JOIN(join,
                           "slower by the model: %u registers would be alive, which costs a factor of %.2f, and the "
                           "bytes saved gain %.2f",
                           registers, slowdown, info.bound);
    return SLR_OK;
}
