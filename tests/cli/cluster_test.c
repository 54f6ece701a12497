// SPDX-License-Identifier: Apache-2.0
// `slipring cluster` as its users see it: the built program, in a shell.
#include "tests/cli/shell.h"

static const char saxpy_cu[] = "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
                               "{\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n)\n"
                               "        y[i] = a * x[i] + y[i];\n"
                               "}\n"
                               "__global__ void divide(int *y, int by, int n)\n"
                               "{\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n)\n"
                               "        y[i] = 12 / by;\n"
                               "}\n";

#define TWO " --devices 'cpu?threads=1,cpu?threads=1' "
#define SAXPY                                                                                                          \
    "$S cluster run saxpy.cu saxpy" TWO "--items 10 --arg n=items --arg a=2 --arg 'x=float[10]:iota' "                 \
    "--arg 'y=float[10]:zero' --split x "

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("saxpy.cu", saxpy_cu);
    return 0;
}

static void a_split_shows_who_would_get_how_much(void **state)
{
    (void)state;
    gives("$S cluster split" TWO "--items 7 --weights 2,1", 0,
          "cpu?threads=1                               5 items from 0\n"
          "cpu?threads=1                               2 items from 5\n");
    says("$S cluster split" TWO "--items 1000000 --weights 3,1 --json", 0, "\"items\": 750000");
    says("$S cluster split" TWO "--items 10 --weights 1,1 --most 3,3 2>&1", 1, "no room for 4 of 10 items");
    says("$S cluster split" TWO "--items 10 --weights 1 2>&1", 2, "1 numbers for 2 devices");
    says("$S cluster split" TWO "--items 10 --balance throughput 2>&1", 2, "see 'slipring cluster run'");
    says("$S cluster split --items 10 2>&1", 2, "--devices is missing");
    says("$S cluster split --devices cpu,cuda:9 --items 10 2>&1", 3, "cuda");
}

static void a_run_over_two_devices_gives_what_one_gives(void **state)
{
    (void)state;
    const char *const both = SAXPY "--split y --print y";
    says(both, 0, "y: 0 2 4 6 8 10 12 14 16 18\n");
    says(SAXPY "--split y --weights 1,4 --json", 0, "\"items\": 8");
    says(SAXPY "--split y --passes 3 --print y", 0, "y: 0 6 12 18 24 30 36 42 48 54\n");
    says(SAXPY "2>&1", 2, "writes parameter 'y'");
    says(SAXPY "--split z 2>&1", 2, "has no buffer with that name");
    says("$S cluster run saxpy.cu divide" TWO "--items 4 --arg 'y=int[4]:iota' --arg by=0 --arg n=items --split y 2>&1",
         1, "device 0 of the cluster");
    says("$S cluster run saxpy.cu divide" TWO
         "--items 4 --arg 'y=int[4]:iota' --arg by=4 --arg n=items --split y --print y",
         0, "y: 3 3 3 3\n");
}

static void peers_are_direct_or_staged_and_say_why(void **state)
{
    (void)state;
    says("$S cluster peers --devices 'cpu?threads=1,cpu?threads=1'", 0, "direct same    both devices are the host\n");
    says("$S cluster peers --devices 'cpu?unified=0,cpu?unified=0'", 0, "staged host    neither of");
    says("$S cluster peers --devices 'cpu?unified=0,cpu' --json", 0, "\"link\": \"host\"");
    says("$S cluster peers --devices 'cpu?unified=0,cpu' --measure --bytes 65536 --json", 0, "\"bytes_per_second\": ");
    says("$S cluster peers --devices cpu,cpu --bytes x 2>&1", 2, "--bytes: 'x' is not");
}

static const char counts_cu[] = "struct message { unsigned value; };\n"
                                "struct count { unsigned handled; };\n"
                                "__ring__ void counts(struct count *self, const struct message *in)\n"
                                "{\n"
                                "    self->handled += 1u / (1u - in->value);\n"
                                "    ring_reply(&self->handled);\n"
                                "}\n"
                                "__ring__ void sums(struct count *self, const struct message *in)\n"
                                "{\n"
                                "    self->handled += in->value;\n"
                                "}\n"
                                "__ring__ void faults(struct count *self, const struct message *in)\n"
                                "{\n"
                                "    self->handled = 1 / in->value;\n"
                                "}\n";

static void a_handler_is_spread_and_its_counts_add_up(void **state)
{
    (void)state;
    write_file("counts.cu", counts_cu);
    says("$S cluster ring counts.cu counts" TWO "--instances 5 --messages 50", 0,
         "cpu?threads=1                            30 accepted         30 handled");
    says("$S cluster ring counts.cu counts" TWO "--keys 9 --messages 8000 | tail -1", 0,
         "all                                    8000 accepted       8000 handled");
    says("$S cluster ring counts.cu counts" TWO "--keys 9 --json", 0, "\"keys\": 9\n");
    says("$S cluster ring counts.cu counts" TWO "--instances 4 --messages 500 --route sums | tail -1", 0,
         "cpu?threads=1: sums                     250 accepted        250 handled");
    says("$S cluster ring counts.cu sums" TWO "--route counts 2>&1", 2, "never replies");
    says("$S cluster ring counts.cu faults" TWO "--messages 4 2>&1", 1, "4 messages have faulted");
    says("$S cluster ring counts.cu counts" TWO "--instances 1 2>&1", 2, "1 instances on 2 devices");
    says("$S cluster ring counts.cu" TWO "--keys 1 --instances 2 2>&1", 2, "exclude each other");
}

static void collectives_show_what_each_device_has(void **state)
{
    (void)state;
    says("$S cluster reduce" TWO "--count 3", 0, "cpu?threads=1                    1 3 5\n");
    says("$S cluster reduce" TWO "--count 3 --op average", 0, "cpu?threads=1                    0.5 1.5 2.5\n");
    says("$S cluster reduce" TWO "--count 3 --op gather | sed -n 2p", 0, "cpu?threads=1                    1 2 3\n");
    says("$S cluster reduce" TWO "--count 3 --op broadcast | sed -n 2p", 0, "cpu?threads=1                    0 1 2\n");
    says("$S cluster reduce" TWO "--count 3 --json", 0, "\"op\": \"sum\"");
    says("$S cluster reduce" TWO "--op multiply 2>&1", 2, "average");
}

static void what_a_command_line_says_is_used_or_refused(void **state)
{
    (void)state;
    says("\"$S\" cluster split --devices cpu,nosuch --items 7 2>&1", 2, "--devices: no backend 'nosuch'");
    says("SLIPRING_CUDA_LIB=/nowhere.so \"$S\" cluster split --devices cpu,cuda:0 --items 7 2>&1", 3, "/nowhere.so");
    says("\"$S\" cluster split --devices cpu,cpu --items 7 --weights 0,0 2>&1", 2, "all weights are 0");
    write_file("fill.cu", "__global__ void fill(float *x, int n)\n"
                          "{\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    if (i < n) x[i] = 3;\n"
                          "}\n");
    says("\"$S\" cluster run fill.cu fill --devices 'cpu?threads=1,cpu?threads=1' --items 4096 --arg n=items "
         "--arg 'x=float[%n]:zero' --split x --print x:2",
         0, "x: 3 3\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_split_shows_who_would_get_how_much),
        cmocka_unit_test(a_run_over_two_devices_gives_what_one_gives),
        cmocka_unit_test(peers_are_direct_or_staged_and_say_why),
        cmocka_unit_test(a_handler_is_spread_and_its_counts_add_up),
        cmocka_unit_test(collectives_show_what_each_device_has),
        cmocka_unit_test(what_a_command_line_says_is_used_or_refused),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
