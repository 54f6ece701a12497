// SPDX-License-Identifier: Apache-2.0
// Comparisons: setp.OPERATOR.TYPE. Also the search for an instruction in all tables.
#include "tests/ptx/alu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static float as_f32(uint64_t bits)
{
    float value;
    uint32_t low = (uint32_t)bits;
    memcpy(&value, &low, sizeof value);
    return value;
}

static double as_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define OF_INTEGER(name, T)                                                                                            \
    PTX_FN(eq_##name, (T)v[0] == (T)v[1])                                                                              \
    PTX_FN(ne_##name, (T)v[0] != (T)v[1])                                                                              \
    PTX_FN(lt_##name, (T)v[0] < (T)v[1])                                                                               \
    PTX_FN(le_##name, (T)v[0] <= (T)v[1])                                                                              \
    PTX_FN(gt_##name, (T)v[0] > (T)v[1])                                                                               \
    PTX_FN(ge_##name, (T)v[0] >= (T)v[1])
OF_INTEGER(u16, uint16_t)
OF_INTEGER(u32, uint32_t)
OF_INTEGER(u64, uint64_t)
OF_INTEGER(s16, int16_t)
OF_INTEGER(s32, int32_t)
OF_INTEGER(s64, int64_t)

#define NAN_OF(as) (as(v[0]) != as(v[0]) || as(v[1]) != as(v[1]))
#define OF_FLOAT(name, as)                                                                                             \
    PTX_FN(eq_##name, as(v[0]) == as(v[1]))                                                                            \
    PTX_FN(ne_##name, !NAN_OF(as) && as(v[0]) != as(v[1]))                                                             \
    PTX_FN(lt_##name, as(v[0]) < as(v[1]))                                                                             \
    PTX_FN(le_##name, as(v[0]) <= as(v[1]))                                                                            \
    PTX_FN(gt_##name, as(v[0]) > as(v[1]))                                                                             \
    PTX_FN(ge_##name, as(v[0]) >= as(v[1]))                                                                            \
    PTX_FN(equ_##name, NAN_OF(as) || as(v[0]) == as(v[1]))                                                             \
    PTX_FN(neu_##name, as(v[0]) != as(v[1]))                                                                           \
    PTX_FN(ltu_##name, !(as(v[0]) >= as(v[1])))                                                                        \
    PTX_FN(leu_##name, !(as(v[0]) > as(v[1])))                                                                         \
    PTX_FN(gtu_##name, !(as(v[0]) <= as(v[1])))                                                                        \
    PTX_FN(geu_##name, !(as(v[0]) < as(v[1])))                                                                         \
    PTX_FN(num_##name, !NAN_OF(as))                                                                                    \
    PTX_FN(nan_##name, NAN_OF(as))
OF_FLOAT(f32, as_f32)
OF_FLOAT(f64, as_f64)

#define EQUAL(T, as)                                                                                                   \
    {"setp.eq." #T, eq_##as},                                                                                          \
    {                                                                                                                  \
        "setp.ne." #T, ne_##as                                                                                         \
    }
#define ORDERED(T)                                                                                                     \
    EQUAL(T, T), {"setp.lt." #T, lt_##T}, {"setp.le." #T, le_##T}, {"setp.gt." #T, gt_##T},                            \
    {                                                                                                                  \
        "setp.ge." #T, ge_##T                                                                                          \
    }
#define UNORDERED(T)                                                                                                   \
    ORDERED(T), {"setp.equ." #T, equ_##T}, {"setp.neu." #T, neu_##T}, {"setp.ltu." #T, ltu_##T},                       \
        {"setp.leu." #T, leu_##T}, {"setp.gtu." #T, gtu_##T}, {"setp.geu." #T, geu_##T}, {"setp.num." #T, num_##T},    \
    {                                                                                                                  \
        "setp.nan." #T, nan_##T                                                                                        \
    }

const struct ptx_row ptx_compares[] = {
    ORDERED(u16),    ORDERED(u32),    ORDERED(u64),    ORDERED(s16),   ORDERED(s32),   ORDERED(s64),
    EQUAL(b16, u16), EQUAL(b32, u32), EQUAL(b64, u64), UNORDERED(f32), UNORDERED(f64), {NULL, NULL},
};

// ---- all tables as one, in order -----------------------------------------------------------------------------------

static struct ptx_row *all;
static size_t rows;

static int by_opcode(const void *a, const void *b)
{
    return strcmp(((const struct ptx_row *)a)->opcode, ((const struct ptx_row *)b)->opcode);
}

static void put_all(void)
{
    const struct ptx_row *const table[] = {ptx_integers, ptx_bits, ptx_floats, ptx_compares};
    for (size_t t = 0; t < sizeof table / sizeof *table; ++t)
        for (const struct ptx_row *row = table[t]; row->opcode; ++row) {
            all = realloc(all, (rows + 1) * sizeof *all);
            all[rows++] = *row;
        }
    qsort(all, rows, sizeof *all, by_opcode);
}

ptx_alu *ptx_find_alu(const char *opcode)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, put_all);
    const struct ptx_row key = {opcode, NULL}, *found = bsearch(&key, all, rows, sizeof *all, by_opcode);
    return found ? found->alu : NULL;
}
