// SPDX-License-Identifier: Apache-2.0
// The math library that the front end reads (lang/library.h) gives the bits of the one that the compiler has compiled.
#include "run/grid_test.h"

#include "lang/library.h"
#include "ir/math/eval.h"

#include <math.h>
#include <stdlib.h>

#define RESULTS SLRI_MATH_RESULTS
#define ROUNDS 400

struct arrays {
    float f[RESULTS];
    double d[RESULTS];
    int32_t i[RESULTS];
    uint32_t u[RESULTS];
    int64_t l[RESULTS];
    uint64_t m[RESULTS];
};

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11 ^ *seed << 31;
}

// Anything, or something of ordinary size, or one of the places where functions differ.
static double real(uint64_t *seed)
{
    static const double places[] = {0.0,       -0.0, 1.0,    -1.0,  0.5,  3.5,  INFINITY,
                                    -INFINITY, NAN,  1e-310, 1e300, 1e22, 700.0};
    uint64_t bits = draw(seed), which = draw(seed) % 4;
    double value;
    memcpy(&value, &bits, sizeof value);
    return which == 0   ? value
           : which == 1 ? places[draw(seed) % (sizeof places / sizeof *places)]
           : which == 2 ? ldexp((double)(int64_t)bits * 0x1p-63, (int)(draw(seed) % 60) - 30)
                        : (double)(int64_t)bits * 0x1p-60;
}

static void fill(struct arrays *a, uint64_t *seed)
{
    memset(a, 0, sizeof *a);
    for (int k = 0; k < 3; k++) {
        a->d[k] = real(seed);
        a->f[k] = (float)real(seed);
        a->l[k] = (int64_t)(draw(seed) >> draw(seed) % 64);
        a->m[k] = draw(seed) >> draw(seed) % 64;
        a->i[k] = (int32_t)(uint32_t)(draw(seed) >> draw(seed) % 32);
        a->u[k] = (uint32_t)(draw(seed) >> draw(seed) % 32);
    }
}

static union slri_scalar at(const struct arrays *a, enum slri_math_type type, uint32_t index)
{
    union slri_scalar value = {.u64 = 0};
    switch (type) {
    case SLRI_MATH_F32:
        value.f32 = a->f[index];
        break;
    case SLRI_MATH_F64:
        value.f64 = a->d[index];
        break;
    case SLRI_MATH_I32:
        value.i32 = a->i[index];
        break;
    case SLRI_MATH_U32:
        value.u32 = a->u[index];
        break;
    case SLRI_MATH_I64:
        value.i64 = a->l[index];
        break;
    default:
        value.u64 = a->m[index];
        break;
    }
    return value;
}

static bool is_first(uint32_t id)
{
    for (uint32_t i = 0; i < id; i++)
        if (strcmp(slri_math_functions[i].c_function, slri_math_functions[id].c_function) == 0)
            return false;
    return true;
}

static void check(const struct arrays *a)
{
    for (uint32_t id = 0; id < SLRI_MATH_COUNT; id++) {
        const struct slri_math_function *function = &slri_math_functions[id];
        union slri_scalar arg[3], want;
        if (!is_first(id))
            continue;
        for (uint32_t k = 0; k < function->arity; k++)
            arg[k] = at(a, function->args[k], k);
        slri_math_eval(id, arg, &want);
        union slri_scalar got = at(a, function->result, SLRI_MATH_RESULT + id);
        if (got.u64 != want.u64)
            fail_msg("%s(%a, %a; %a, %a): %llx, not %llx", function->name, (double)a->f[0], (double)a->f[1], a->d[0],
                     a->d[1], (unsigned long long)got.u64, (unsigned long long)want.u64);
    }
    const float quotient = a->f[0] / a->f[1], root = sqrtf(a->f[0]), *made = &a->f[SLRI_MATH_RESULT + SLRI_MATH_COUNT];
    if (made[0] != quotient && !(isnan(made[0]) && isnan(quotient)))
        fail_msg("%a / %a: %a", (double)a->f[0], (double)a->f[1], (double)made[0]);
    if (made[1] != root && !(isnan(made[1]) && isnan(root)))
        fail_msg("sqrtf(%a): %a", (double)a->f[0], (double)made[1]);
}

static void every_function_read_has_the_bits_of_the_compiled_one(void **state)
{
    (void)state;
    const struct slri_module *module, *again;
    struct slri_interp *interp;
    static struct arrays a;
    uint64_t seed = 1;
    assert_int_equal(slri_math_library(&module), SLR_OK);
    assert_int_equal(slri_math_library(&again), SLR_OK);
    assert_ptr_equal(module, again);
    assert_int_equal(slri_interp_create(module, &interp), SLR_OK);
    const struct slri_bound arg[] = {{a.f, sizeof a.f}, {a.d, sizeof a.d}, {a.i, sizeof a.i},
                                     {a.u, sizeof a.u}, {a.l, sizeof a.l}, {a.m, sizeof a.m}};
    const struct slri_grid grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .arg = arg, .args = 6, .fuel = 1u << 20};
    for (int round = 0; round < ROUNDS; round++) {
        struct slri_grid_end end = {0};
        fill(&a, &seed);
        assert_int_equal(slri_interpret_grid(interp, &grid, &end), SLR_OK);
        assert_int_equal(end.fault, 0);
        check(&a);
    }
    slri_interp_destroy(interp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_read_has_the_bits_of_the_compiled_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
