// SPDX-License-Identifier: Apache-2.0
// `slipring run --record` and `--replay`.
#include "tests/cli/shell.h"

#define KERNEL(name, step, limit)                                                                                      \
    "#include <slipring/device.h>\n"                                                                                   \
    "struct row { int a; float w[2]; };\n"                                                                             \
    "struct state { int total; };\n"                                                                                   \
    "struct sum { char low; int total; float mean[2]; };\n"                                                            \
    "__ring__ void " name "(struct state *self, const struct row *in, const float *scale, int least)\n"                \
    "{\n"                                                                                                              \
    "    self->total += in->a " step " + 0 / (in->a - 13);\n"                                                          \
    "    struct sum s = { (char)self->total, self->total, { in->w[0] * scale[0], in->w[1] / 0.0f * 0.0f } };\n"        \
    "    if (in->a > least " limit ") ring_reply(&s);\n"                                                               \
    "}\n"

#define RUN "\"$S\" run add.cu --bind scale=scale.txt --bind least=0 "

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("add.cu", KERNEL("add", "", ""));
    write_file("step.cu", KERNEL("add", "+ (in->a == 70)", ""));
    write_file("quiet.cu", KERNEL("add", "", "&& in->a != 71"));
    write_file("loud.cu", KERNEL("add", "", "|| in->a == 0"));
    write_file("named.cu", KERNEL("sum", "", ""));
    write_file("scale.txt", "0.5\n");
    int code;
    shell("awk 'BEGIN { for (i = 0; i < 20000; i++) print \"{\\\"k\\\":\" i % 7 \",\\\"a\\\":\" i % 100 "
          "\",\\\"w\\\":[\" i \",1]}\" }' >in.ndjson;" RUN "--input in.ndjson --key k --on-error skip --record a.rec "
          "--output out.csv 2>/dev/null",
          &code);
    return code;
}

static void a_recording_replays_on_any_device(void **state)
{
    (void)state;
    says(RUN "--replay a.rec", 0, "20000 messages, 19800 replies, all as recorded; on cpu?threads=2, compiled by ");
    says(RUN "--replay a.rec --device 'cpu?engine=interpreted'", 0,
         "20000 messages, 19800 replies, all as recorded; on cpu?engine=interpreted, interpreted\n");
    says(RUN "--replay a.rec --json --window 7", 0, "\"replies\": 19800, \"difference\": null");
}

static void two_recordings_of_one_input_are_the_same_bytes(void **state)
{
    (void)state;
    gives(RUN
          "--input in.ndjson --key k --on-error skip --record b.rec --window 100 --device 'cpu?engine=interpreted' "
          "--output out2.csv 2>/dev/null; cmp a.rec b.rec && sort out.csv >o1; sort out2.csv | cmp o1 - && echo same",
          0, "same\n");
}

static void the_first_reply_that_differs_is_named(void **state)
{
    (void)state;
    // Instance 0 has had 0 + 7 + ... + 70 = 385, in 8 bits -127.
    gives("\"$S\" run step.cu --bind scale=scale.txt --bind least=0 --replay a.rec", 1,
          "message 71, instance 0: reply 1, field low: recorded -127, now -126\n");
    gives("sed 's/scale\\[0\\]/(in->a == 90 ? 0.25f : scale[0])/' add.cu >half.cu; "
          "\"$S\" run half.cu --bind scale=scale.txt --bind least=0 --replay a.rec",
          1, "message 91, instance 6: reply 1, field mean[0]: recorded 45, now 22.5\n");
    gives("\"$S\" run quiet.cu --bind scale=scale.txt --bind least=0 --replay a.rec", 1,
          "message 72, instance 1: reply 1: recorded a reply, now none\n");
    gives("\"$S\" run loud.cu --bind scale=scale.txt --bind least=0 --replay a.rec", 1,
          "message 1, instance 0: reply 1: recorded none, now a reply\n");
    says("\"$S\" run step.cu --bind scale=scale.txt --bind least=0 --replay a.rec --json", 1,
         "\"difference\": {\"message\": 71, \"instance\": 0, \"reply\": 1, \"field\": \"low\", \"recorded\": \"-127\", "
         "\"now\": \"-126\"}");
}

static void a_fault_where_there_was_a_reply_is_a_difference(void **state)
{
    (void)state;
    says("sed 's/in->a - 13/in->a - 14/' add.cu >other.cu; \"$S\" run other.cu --bind scale=scale.txt --bind least=0 "
         "--replay a.rec",
         1, "message 14, instance 6: reply 1: recorded SLR_HANDLER_FAULT, now a reply\n");
}

static void what_does_not_match_the_recording_is_refused(void **state)
{
    (void)state;
    says("\"$S\" run named.cu --bind scale=scale.txt --bind least=0 --replay a.rec 2>&1", 2,
         "'a.rec' was recorded from the handler 'add', which is not in named.cu");
    says("\"$S\" run named.cu --ring sum --bind scale=scale.txt --bind least=0 --replay a.rec 2>&1", 1,
         "it was recorded from the handler 'add', not 'sum'");
    says("sed 's/int a;/unsigned a;/' add.cu >u.cu; \"$S\" run u.cu --bind scale=scale.txt --bind least=0 --replay "
         "a.rec "
         "2>&1",
         1, "the fields of add's message or reply differ from the recorded ones");
    says("sed 's/w\\[2\\]/w[3]/' add.cu >w.cu; \"$S\" run w.cu --bind scale=scale.txt --bind least=0 --replay a.rec "
         "2>&1",
         1, "its messages have 12 bytes and its replies 16; those of add have 16 and 16");
    says("\"$S\" run add.cu --bind scale=scale.txt --bind least=1 --replay a.rec 2>&1", 1,
         "the values of --bind differ");
    says("echo 0.75 >scale2.txt; \"$S\" run add.cu --bind scale=scale2.txt --bind least=0 --replay a.rec 2>&1", 1,
         "the values of --bind differ");
    says(RUN "--replay a.rec --key k 2>&1", 2, "--key cannot be used with --replay");
}

static void a_file_that_is_damaged_is_refused_with_the_place(void **state)
{
    (void)state;
    says("head -c 100000 a.rec >cut.rec; " RUN "--replay cut.rec 2>&1", 1,
         "it is truncated: it ends at byte 100000, inside the block at byte 152 of ");
    says("{ head -c 500 a.rec; printf '\\377'; tail -c +502 a.rec; } >bad.rec; " RUN "--replay bad.rec 2>&1", 1,
         "the block at byte 152 has a wrong checksum");
    says(RUN "--replay in.ndjson 2>&1", 1, "'in.ndjson': it is not a recording");
    says(RUN "--replay none.rec 2>&1", 1, "'none.rec': No such file");
    says(RUN "--input in.ndjson --record /dev/full 2>&1 >/dev/null", 1, "cannot write '/dev/full'");
}

// As a writer leaves it that was killed: 4,096 messages a block.
static void a_file_that_is_cut_off_is_replayed_up_to_the_cut(void **state)
{
    (void)state;
    says("head -c 400000 a.rec >cut2.rec; " RUN "--replay cut2.rec 2>&1", 0,
         "'cut2.rec': it is truncated: it ends at byte 400000, inside the block at byte ");
    says(RUN "--replay cut2.rec 2>&1", 0, "; 8192 messages before it are complete and were sent again\n");
    says(RUN "--replay cut2.rec 2>/dev/null", 0, "8192 messages, 8110 replies, all as recorded; on ");
    says(RUN "--replay cut2.rec --json 2>/dev/null", 0, "\"cut_off\": true}");
    says(RUN "--replay a.rec --json", 0, "\"cut_off\": false}");
    says("head -c -32 a.rec >cut3.rec; " RUN "--replay cut3.rec 2>&1", 0,
         "; 20000 messages before it are complete and ");
    gives("\"$S\" run step.cu --bind scale=scale.txt --bind least=0 --replay cut2.rec 2>/dev/null", 1,
          "message 71, instance 0: reply 1, field low: recorded -127, now -126\n");
    says("{ head -c 200000 a.rec; printf '\\377\\377'; tail -c +200003 a.rec | head -c 300000; } >both.rec; " RUN
         "--replay both.rec 2>&1",
         1, "has a wrong checksum: the file is damaged");
}

// As a device does that computes other bits: the third value in its last bits, the fifth far off.
#define DRIFT(far)                                                                                                     \
    "struct row { float a; };\n"                                                                                       \
    "struct out { int n; float near; double pair[2]; };\n"                                                             \
    "struct state { int n; };\n"                                                                                       \
    "__ring__ void drift(struct state *self, const struct row *in)\n"                                                  \
    "{\n"                                                                                                              \
    "    self->n += 1;\n"                                                                                              \
    "    struct out o = { self->n, in->a, { in->a, 0.0 } };\n"                                                         \
    "    if (self->n == 3) o.near = in->a * 1.000001f;\n"                                                              \
    "    if (self->n == 5) { o.pair[0] = in->a " far "; o.pair[1] = 1e-9; }\n"                                         \
    "    ring_reply(&o);\n"                                                                                            \
    "}\n"

static void a_tolerance_lets_values_differ_and_says_by_how_much(void **state)
{
    (void)state;
    write_file("exact.cu", "struct row { float a; };\n"
                           "struct out { int n; float near; double pair[2]; };\n"
                           "struct state { int n; };\n"
                           "__ring__ void drift(struct state *self, const struct row *in)\n"
                           "{\n"
                           "    self->n += 1;\n"
                           "    struct out o = { self->n, in->a, { in->a, 0.0 } };\n"
                           "    ring_reply(&o);\n"
                           "}\n");
    write_file("drift.cu", DRIFT("* 1.01"));
    write_file("nan.cu", DRIFT("/ 0.0 * 0.0"));
    write_file("count.cu", DRIFT("* 1.01; o.n = 6"));
    gives("seq 100 110 | sed 1ia | \"$S\" run exact.cu --record d.rec --output d.csv; echo $?", 0, "0\n");
#define REPLAY(file, tolerance) "\"$S\" run " file ".cu --replay d.rec " tolerance " 2>&1"
    says(REPLAY("drift", ""), 1, "message 3, instance 0: reply 1, field near: recorded 102, now 102.0001");
    says(REPLAY("drift", "--tolerance 1e-5"), 1,
         "message 5, instance 0: reply 1, field pair[0]: recorded 104, now 105.04\n");
    says(REPLAY("drift", "--tolerance 0.02"), 1, "field pair[1]: recorded 0, now 1e-09\n"); // of 0 no part is near
    says(REPLAY("drift", "--tolerance 0.02,1e-6"), 0,
         "11 messages, 11 replies, all within the tolerance; on cpu?threads=2");
    says(REPLAY("drift", "--tolerance 0.02,1e-6"), 0,
         "\n3 values differ within the tolerance, by at most 1 of the larger: message 5, field pair\n");
    says(REPLAY("drift", "--tolerance pair=0.02,1e-6 --json"), 1, "\"message\": 3");
    says(REPLAY("drift", "--tolerance pair=0.02,1e-6 --tolerance 1e-5 --json"), 0,
         "\"difference\": null, \"within_tolerance\": {\"values\": 3, \"most_relative\": 1.0, \"message\": 5, "
         "\"field\": \"pair\"}");
    says(REPLAY("exact", "--json"), 0, "\"within_tolerance\": null");
    says(REPLAY("exact", "--tolerance 1e-5"), 0, "11 messages, 11 replies, all as recorded");
    says(REPLAY("nan", "--tolerance 1e9,1e9"), 1, "message 5, instance 0: reply 1, field pair[0]: recorded 104, now ");
    says(REPLAY("count", "--tolerance 1e9,1e9"), 1, "message 5, instance 0: reply 1, field n: recorded 5, now 6\n");
    says(REPLAY("exact", "--tolerance nearby=1"), 2,
         "the reply has no floating-point field 'nearby'; it has: near, pair; did you mean 'near'?");
    says(REPLAY("exact", "--tolerance n=1"), 2, "the reply has no floating-point field 'n'; it has: near, pair");
    static const char *const wrong[] = {"", "x", "-1", "1,", "1,x", "nan", "=1", "near=", "1,inf", "1e-5,1,2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char command[256];
        snprintf(command, sizeof command, REPLAY("exact", "--tolerance '%s'"), wrong[i]);
        says(command, 2, "is not REL, REL,ABS or FIELD=REL,ABS");
    }
    says("\"$S\" run exact.cu --tolerance 1e-5 2>&1 </dev/null", 2, "--tolerance needs --replay");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_replays_on_any_device),
        cmocka_unit_test(two_recordings_of_one_input_are_the_same_bytes),
        cmocka_unit_test(the_first_reply_that_differs_is_named),
        cmocka_unit_test(a_fault_where_there_was_a_reply_is_a_difference),
        cmocka_unit_test(what_does_not_match_the_recording_is_refused),
        cmocka_unit_test(a_file_that_is_damaged_is_refused_with_the_place),
        cmocka_unit_test(a_file_that_is_cut_off_is_replayed_up_to_the_cut),
        cmocka_unit_test(a_tolerance_lets_values_differ_and_says_by_how_much),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
