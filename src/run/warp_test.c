// SPDX-License-Identifier: Apache-2.0
// Functions of a warp, against what CUDA's programming guide says of each lane; and warps that do not come together.
#include "run/grid_test.h"

// Runs a body over `threads` threads of one block; out[i] is what thread i stores.
static uint32_t run(const char *body, uint32_t threads, uint64_t seed, int *out)
{
    char text[2048];
    snprintf(text, sizeof text, "__global__ void k(int *out, int n) {\nint t = threadIdx.x, lane = t & 31;\n%s\n}",
             body);
    struct launch l = begin(text, "k", 1, threads);
    int n = (int)threads;
    memset(out, 0xee, threads * sizeof *out);
    GIVE(&l, out, threads * sizeof *out), GIVE(&l, &n, sizeof n);
    l.grid.seed = seed;
    uint32_t fault = go(&l);
    end(&l);
    return fault;
}

static int shuffled(int op, int lane, int by, int width)
{
    int first = lane / width * width, from = lane;
    if (op == 0)
        from = first + (by & (width - 1));
    else if (op == 1)
        from = lane - by >= first ? lane - by : lane;
    else if (op == 2)
        from = lane + by < first + width ? lane + by : lane;
    else if ((lane ^ by) < first + width)
        from = lane ^ by;
    return from;
}

static void shuffles_move_values_between_lanes(void **unused)
{
    (void)unused;
    static const char *const names[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"};
    for (int op = 0; op < 4; op++)
        for (int width = 1; width <= 32; width *= 2)
            for (int by = 0; by < 33; by += by < 8 ? 1 : 5) {
                char body[256];
                int out[64];
                snprintf(body, sizeof body, "out[t] = %s(0xffffffffu, t * 10, %d, %d);", names[op], by, width);
                assert_int_equal(run(body, 64, (uint64_t)by, out), SLRI_FAULT_NONE);
                for (int t = 0; t < 64; t++)
                    assert_int_equal(out[t], 10 * (t / 32 * 32 + shuffled(op, t % 32, by, width)));
            }
}

static void every_type_is_shuffled_and_the_width_may_be_left_out(void **unused)
{
    (void)unused;
    int out[32];
    assert_int_equal(run("double d = __shfl_down_sync(0xffffffff, t + 0.5, 1);\n"
                         "float f = __shfl_up_sync(0xffffffff, t * 2.f, 1);\n"
                         "unsigned long u = __shfl_xor_sync(0xffffffff, (unsigned long)t << 40, 1);\n"
                         "unsigned char c = t; int b = __shfl_sync(0xffffffff, c, 3);\n"
                         "out[t] = (int)(d * 2) + (int)f * 100 + (int)(u >> 40) * 10000 + b * 1000000;",
                         32, 1, out),
                     SLRI_FAULT_NONE);
    for (int t = 0; t < 32; t++)
        assert_int_equal(out[t], (2 * (t < 31 ? t + 1 : t) + 1) + 200 * (t ? t - 1 : 0) + 10000 * (t ^ 1) + 3000000);
}

static void votes_and_matches_look_at_all_lanes_of_the_mask(void **unused)
{
    (void)unused;
    int out[48];
    assert_int_equal(run("int b = __ballot_sync(~0u, t % 3 == 0), all = __all_sync(~0u, t < 40);\n"
                         "int any = __any_sync(~0u, t == 33);\n"
                         "out[t] = __popc(b) * 100 + all * 10 + any;",
                         48, 2, out),
                     SLRI_FAULT_NONE);
    for (int t = 0; t < 48; t++)
        assert_int_equal(out[t], t < 32 ? 1110 : 501);
    assert_int_equal(run("out[t] = (int)__match_any_sync(~0u, (float)(t % 2));", 32, 2, out), SLRI_FAULT_NONE);
    for (int t = 0; t < 32; t++)
        assert_int_equal(out[t], (int)(t % 2 ? 0xaaaaaaaau : 0x55555555u));
    assert_int_equal(run("out[t] = __reduce_add_sync(~0u, t) + __reduce_max_sync(~0u, -t) * 1000 +\n"
                         "         (int)__reduce_max_sync(~0u, (unsigned)t) * 1000000;",
                         32, 2, out),
                     SLRI_FAULT_NONE);
    for (int t = 0; t < 32; t++)
        assert_int_equal(out[t], 496 + 31000000);
}

static void a_warp_sum_by_halving_and_by_butterfly(void **unused)
{
    (void)unused;
    int out[64];
    for (uint64_t seed = 0; seed < 6; seed++) {
        assert_int_equal(run("int v = t;\n"
                             "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);\n"
                             "int w = t;\n"
                             "for (int m = 1; m < 32; m <<= 1) w += __shfl_xor_sync(0xffffffff, w, m);\n"
                             "out[t] = lane == 0 ? v : w;",
                             64, seed, out),
                         SLRI_FAULT_NONE);
        for (int t = 0; t < 64; t++)
            assert_int_equal(out[t], t < 32 ? 496 : 496 + 32 * 32);
    }
}

static void part_of_a_warp_may_go_alone(void **unused)
{
    (void)unused;
    int out[32];
    for (uint64_t seed = 0; seed < 6; seed++) {
        assert_int_equal(run("if (lane < 8) out[t] = __shfl_xor_sync(0xff, t, 1);\n"
                             "else out[t] = (int)__activemask();\n"
                             "__syncwarp();",
                             32, seed, out),
                         SLRI_FAULT_NONE);
        for (int t = 0; t < 32; t++)
            assert_int_equal(out[t], t < 8 ? t ^ 1 : (int)0xffffff00u);
    }
    assert_int_equal(run("if (lane >= 20) { out[t] = 0; return; }\n"
                         "out[t] = __shfl_down_sync(0xffffffff, t, 4);",
                         32, 3, out),
                     SLRI_FAULT_NONE); // who has returned is not waited for; its value is the reader's own
    for (int t = 0; t < 20; t++)
        assert_int_equal(out[t], t < 16 ? t + 4 : t);
}

static void a_warp_that_does_not_come_together_is_a_fault(void **unused)
{
    (void)unused;
    int out[32];
    assert_int_equal(
        run("if (lane < n - 24) out[t] = __shfl_sync(0xffffffff, t, 0); else __syncthreads();", 32, 1, out),
        SLRI_FAULT_WARP);
    assert_int_equal(run("if (lane < 8) out[t] = __shfl_sync(0xff, t, 0); else __syncwarp(0xff);", 32, 1, out),
                     SLRI_FAULT_WARP); // lanes that their own mask leaves out
    assert_int_equal(run("out[t] = __shfl_sync(lane < 8 ? 0xffffffffu : 0xfffffff0u, t, 0);", 32, 1, out),
                     SLRI_FAULT_WARP);
    assert_int_equal(run("out[t] = __shfl_sync(0xffffffffu, t, 0, n - 20);", 32, 1, out), SLRI_FAULT_WARP);
    assert_int_equal(run("if (lane < 16) __syncwarp(); else __syncwarp();", 32, 1, out), SLRI_FAULT_WARP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles_move_values_between_lanes),
        cmocka_unit_test(every_type_is_shuffled_and_the_width_may_be_left_out),
        cmocka_unit_test(votes_and_matches_look_at_all_lanes_of_the_mask),
        cmocka_unit_test(a_warp_sum_by_halving_and_by_butterfly),
        cmocka_unit_test(part_of_a_warp_may_go_alone),
        cmocka_unit_test(a_warp_that_does_not_come_together_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
