// SPDX-License-Identifier: Apache-2.0
// What lies in buffers, numbers and messages that nobody gave.
#include "check/launch.h"
#include "run/interpreter_op.h"

#include <math.h>
#include <string.h>

bool slri_is_whole(enum slri_kind kind)
{
    return kind >= SLRI_I8 && kind <= SLRI_U64;
}

struct filling {
    enum slri_contents contents;
    uint64_t limit, random, index;
};

static void fill(struct filling *f, const struct slri_type *type, unsigned char *to);

// One of: the least, the most, 0, -1 and 1; of floating point the same with no number for the least.
static uint64_t extreme(const struct filling *f, enum slri_kind kind, double *real)
{
    static const double reals[] = {(double)NAN, 1e30, 0, -1, 1};
    uint64_t which = f->index < 5 ? f->index : (f->random >> 33) % 5;
    uint32_t bits = 8 * slri_kind_bytes(kind);
    uint64_t all = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1,
             top = slri_kind_is_signed(kind) ? all >> 1 : all;
    *real = reals[which];
    return which == 0 ? all - top : which == 1 ? top : which == 2 ? 0 : which == 3 ? all : 1;
}

static void fill_scalar(struct filling *f, enum slri_kind kind, unsigned char *to)
{
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); // Knuth's MMIX
    double real = f->contents == SLRI_ZEROED ? 0 : (double)(f->random >> 40) / (1 << 24);
    uint64_t whole = f->contents == SLRI_COUNTING ? f->index : f->contents == SLRI_ZEROED ? 0 : (f->random >> 33) % 100;
    if (f->limit > 0)
        whole %= f->limit;
    if (f->contents == SLRI_POSITIVE)
        whole++, real++;
    if (f->contents == SLRI_EXTREME)
        whole = extreme(f, kind, &real);
    switch (kind) {
#define STORED(KIND, type, member, loaded, stored)                                                                     \
    case SLRI_##KIND: {                                                                                                \
        const __typeof__(((union slri_scalar *)0)->member) value =                                                     \
            (__typeof__(value))(slri_kind_is_float(kind) ? real : 0) +                                                 \
            (__typeof__(value))(slri_is_whole(kind) ? whole : 0);                                                      \
        const type narrow = (stored);                                                                                  \
        memcpy(to, &narrow, sizeof narrow);                                                                            \
        break;                                                                                                         \
    }
        SLRI_ACCESS_TABLE(STORED)
#undef STORED
    default:
        break;
    }
    if (kind == SLRI_BOOL)
        *to = whole % 2;
}

static void fill(struct filling *f, const struct slri_type *type, unsigned char *to)
{
    if (type->kind == SLRI_ARRAY)
        for (uint64_t i = 0; i < type->count; i++)
            fill(f, type->of, to + i * type->of->bytes);
    else if (type->kind == SLRI_STRUCT)
        for (uint32_t i = 0; i < type->fields; i++)
            fill(f, type->field[i].type, to + type->field[i].offset);
    else
        fill_scalar(f, type->kind, to);
}

void slri_fill_buffer(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t index, unsigned char *to)
{
    const struct slri_type *type = plan->entry->binding[index].type;
    struct filling f = {trial->contents[index], trial->limit[index], index + 1, 0};
    for (uint64_t count = trial->bytes[index] / type->bytes; f.index < count; f.index++)
        fill(&f, type, to + f.index * type->bytes);
}

void slri_fill_value(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t index, unsigned char *to)
{
    const struct slri_type *type = plan->entry->binding[index].type;
    struct slri_host_number read;
    double real = slri_host_number_of(plan, index, &read) ? read.real : 1.5;
    float single = (float)real;
    if (type->kind == SLRI_F32)
        memcpy(to, &single, sizeof single);
    else if (type->kind == SLRI_F64)
        memcpy(to, &real, sizeof real);
    else if (type->kind == SLRI_BOOL)
        *to = real != 0;
    else if (!slri_is_whole(type->kind)) {
        struct filling f = {SLRI_RANDOM, 0, index + 1, 0};
        fill(&f, type, to);
    }
    for (uint32_t i = 0; i < plan->slots; i++)
        if (plan->slot[i].binding == index)
            memcpy(to + plan->slot[i].offset, &trial->value[i], slri_kind_bytes(plan->slot[i].kind)); // little-endian
}

void slri_fill_message(const struct slri_plan *plan, const struct slri_trial *trial, uint64_t number, unsigned char *to)
{
    struct filling f = {trial->messages, 0, number + 1, number};
    fill(&f, plan->entry->message, to);
}
