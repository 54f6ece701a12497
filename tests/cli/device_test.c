// SPDX-License-Identifier: Apache-2.0
// --device of every verb that has one: a name that no machine has is a wrong command line, a device that is not here is
// not; and kernels and handlers that a file has not.
#include "tests/cli/shell.h"

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("two.cu", "struct row { int a; };\n"
                         "struct out { int a; };\n"
                         "__ring__ void first(const struct row *in) { struct out o = { in->a }; ring_reply(&o); }\n"
                         "__ring__ void second(const struct row *in) { struct out o = { in->a }; ring_reply(&o); }\n"
                         "__global__ void scale(float *x) { x[0] = 2 * x[0]; }\n"
                         "__global__ void bad(float *x) { x[0] = nothing; }\n");
    write_file("in.csv", "a\n1\n");
    unsetenv("SLIPRING_CUDA_LIB");
    return 0;
}

static const char *const verbs[] = {"run two.cu --ring first --input in.csv",
                                    "kernel run two.cu scale --grid 1 --block 1 --arg 'x=float[4]:zero'",
                                    "cache warm two.cu", "bench latency --small", "demo ward --patients 1 --seconds 3"};

static void a_device_that_no_machine_has_is_a_usage_error(void **state)
{
    (void)state;
    char command[512];
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        snprintf(command, sizeof command, "$S %s --device cpp 2>&1", verbs[i]);
        says(command, 2,
             "--device: no backend 'cpp'; there are: cpu, cuda, hip, metal, opencl, vulkan, webgpu, null, auto; did "
             "you mean "
             "'cpu'?\nTry "
             "'slipring ");
        snprintf(command, sizeof command, "$S %s --device 'cpp,cpu' 2>&1", verbs[i]);
        says(command, 2, "--device: no backend 'cpp'");
        snprintf(command, sizeof command, "SLIPRING_DEVICE=odd $S %s 2>&1", verbs[i]);
        if (i != 1) // which has a default of its own
            says(command, 2, "SLIPRING_DEVICE: no backend 'odd'; there are: cpu,");
        snprintf(command, sizeof command, "$S %s --device 'cpu?thread=2' 2>&1", verbs[i]);
        says(command, 2, "'thread'");
    }
}

static void a_device_that_is_not_here_is_none(void **state)
{
    (void)state;
    char command[512];
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        snprintf(command, sizeof command, "SLIPRING_CUDA_LIB=/nowhere.so $S %s --device cuda:0 2>&1", verbs[i]);
        says(command, 3, "--device: ");
    }
    says("SLIPRING_CUDA_LIB=/nowhere.so $S run two.cu --ring first --input in.csv --device cuda:0,cpu", 0, "a\n1\n");
}

static void what_a_file_has_is_said_where_it_has_not_what_is_asked(void **state)
{
    (void)state;
    gives("$S run two.cu --ring frist --input in.csv 2>&1", 2,
          "slipring run: --ring: two.cu has no handler 'frist'\n  --ring first\n  --ring second\n");
    says("$S kernel run two.cu scall --grid 1 --block 1 2>&1", 2,
         "two.cu has no __global__ kernel 'scall'; it has: scale; did you mean 'scale'?\n");
    says("$S kernel run two.cu bad --grid 1 --block 1 2>&1", 1, "two.cu: the kernel 'bad' in line 6 is skipped: ");
    says("$S kernel explain two.cu frist 2>&1", 2,
         "two.cu has no kernel and no handler 'frist'; it has: first, second, scale; did you mean 'first'?\n");
    says("$S kernel emit two.cu other 2>&1", 2,
         "two.cu has no kernel and no handler 'other'; it has: first, second, scale\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_no_machine_has_is_a_usage_error),
        cmocka_unit_test(a_device_that_is_not_here_is_none),
        cmocka_unit_test(what_a_file_has_is_said_where_it_has_not_what_is_asked),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
