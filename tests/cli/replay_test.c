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
         "'a.rec' was recorded from the handler 'add', which named.cu has not");
    says("\"$S\" run named.cu --ring sum --bind scale=scale.txt --bind least=0 --replay a.rec 2>&1", 1,
         "it was recorded from the handler 'add', not 'sum'");
    says("sed 's/int a;/unsigned a;/' add.cu >u.cu; \"$S\" run u.cu --bind scale=scale.txt --bind least=0 --replay "
         "a.rec "
         "2>&1",
         1, "the fields of add's message or reply are not those that it was recorded with");
    says("sed 's/w\\[2\\]/w[3]/' add.cu >w.cu; \"$S\" run w.cu --bind scale=scale.txt --bind least=0 --replay a.rec "
         "2>&1",
         1, "its messages have 12 bytes and its replies 16; add takes messages of 16 and gives replies of 16");
    says("\"$S\" run add.cu --bind scale=scale.txt --bind least=1 --replay a.rec 2>&1", 1, "--bind gives other values");
    says("echo 0.75 >scale2.txt; \"$S\" run add.cu --bind scale=scale2.txt --bind least=0 --replay a.rec 2>&1", 1,
         "--bind gives other values");
    says(RUN "--replay a.rec --key k 2>&1", 2, "--key has no place beside --replay");
}

static void a_file_that_is_damaged_is_refused_with_the_place(void **state)
{
    (void)state;
    says("head -c 100000 a.rec >cut.rec; " RUN "--replay cut.rec 2>&1", 1,
         "it is cut off: it ends at byte 100000, within the block that begins at byte 152 and has ");
    says("{ head -c 500 a.rec; printf '\\377'; tail -c +502 a.rec; } >bad.rec; " RUN "--replay bad.rec 2>&1", 1,
         "the block at byte 152 does not have its checksum");
    says(RUN "--replay in.ndjson 2>&1", 1, "'in.ndjson': it is no recording");
    says(RUN "--replay none.rec 2>&1", 1, "'none.rec': No such file");
    says(RUN "--input in.ndjson --record /dev/full 2>&1 >/dev/null", 1, "cannot write '/dev/full'");
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
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
