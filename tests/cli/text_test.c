// SPDX-License-Identifier: Apache-2.0
// `slipring run` and text: arrays of char in messages and replies, and delimiters.
#include "tests/cli/shell.h"

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("quote.cu",
               "#include <slipring/device.h>\n"
               "struct trade { char symbol[4]; float price; struct { char city[8]; } at; signed char n[2]; };\n"
               "struct quote { char symbol[4]; float mean; char city[8]; signed char n[2]; };\n"
               "__ring__ void quote(const struct trade *in)\n"
               "{\n"
               "    struct quote q = { {0}, in->price * 2.0f, {0}, { in->n[0], in->n[1] } };\n"
               "    for (int i = 0; i < 4; i++) q.symbol[i] = in->symbol[i];\n"
               "    for (int i = 0; i < 8; i++) q.city[i] = in->at.city[i];\n"
               "    if (in->price < 0.0f) q.symbol[1] = 'x';\n"
               "    ring_reply(&q);\n"
               "}\n");
    return 0;
}

// n is a list of numbers, which takes two rows; text is taken from the first.
#define CSV "printf 'symbol,price,at.city,n\\nABCD,1.5,\"a, \"\"b\"\"\",1\\nzz,9,z,2\\nE,2,,3\\nzz,9,z,4\\n'"

static void text_goes_through_csv_and_ndjson(void **state)
{
    (void)state;
    gives(CSV " | \"$S\" run quote.cu", 0, "symbol,mean,city,n[0],n[1]\nABCD,3,\"a, \"\"b\"\"\",1,2\nE,4,\"\",3,4\n");
    gives(CSV " | \"$S\" run quote.cu --format csv:ndjson", 0,
          "{\"symbol\":\"ABCD\",\"mean\":3,\"city\":\"a, \\\"b\\\"\",\"n\":[1,2]}\n"
          "{\"symbol\":\"E\",\"mean\":4,\"city\":\"\",\"n\":[3,4]}\n");
    gives("printf '{\"symbol\":\"\\\\u00e9\\\\n\",\"price\":1,\"at\":{\"city\":\"B\\\\\"\\\\\\\\\"},\"n\":[1,2]}\\n' | "
          "\"$S\" run quote.cu --format ndjson",
          0, "{\"symbol\":\"\303\251\\u000a\",\"mean\":2,\"city\":\"B\\\"\\\\\",\"n\":[1,2]}\n");
}

static void text_that_does_not_fit_is_a_bad_row(void **state)
{
    (void)state;
    says("printf 'symbol,price,at.city,n\\nABCDE,1,x,1\\n' | \"$S\" run quote.cu 2>&1", 1,
         "line 2: column symbol: 'ABCDE' has 5 bytes; the field allows 4");
    says("printf 'symbol,price,at.city,n\\nA\\000B,1,x,1\\n' | \"$S\" run quote.cu 2>&1", 1,
         "line 2: column symbol: a text has no NUL in it");
    says("printf '{\"symbol\":\"ABCDE\",\"price\":1,\"at\":{\"city\":\"\"},\"n\":[1,2]}\\n' | \"$S\" run quote.cu "
         "--format "
         "ndjson 2>&1",
         1, "line 1: member symbol: 'ABCDE' has 5 bytes; the field allows 4");
    says("printf '{\"symbol\":[1,2,3,4],\"price\":1,\"at\":{\"city\":\"\"},\"n\":[1,2]}\\n' | \"$S\" run quote.cu "
         "--format "
         "ndjson 2>&1",
         1, "line 1: member symbol: expected a string");
}

static void a_replay_compares_text(void **state)
{
    (void)state;
    gives(
        CSV
        " | \"$S\" run quote.cu --record q.rec >/dev/null; \"$S\" run quote.cu --replay q.rec >/dev/null && echo same; "
        "sed 's/in->price < 0/in->price < 2/' quote.cu >other.cu; \"$S\" run other.cu --replay q.rec",
        1, "same\nmessage 1, instance 0: reply 1, field symbol: recorded 'ABCD', now 'AxCD'\n");
}

static void columns_have_the_delimiter_that_is_named(void **state)
{
    (void)state;
    gives("printf 'symbol;price;at.city;n\\nA,B;1;\"c;d\";1\\nx;1;y;2\\n' | \"$S\" run quote.cu --delimiter ';'", 0,
          "symbol;mean;city;n[0];n[1]\nA,B;2;\"c;d\";1;2\n");
    gives("printf 'symbol\\tprice\\tat.city\\tn\\nA\\t1\\tc\\t1\\nx\\t1\\ty\\t2\\n' | \"$S\" run quote.cu --delimiter "
          "tab",
          0, "symbol\tmean\tcity\tn[0]\tn[1]\nA\t2\tc\t1\t2\n");
    says("\"$S\" run quote.cu --delimiter '\"' 2>&1", 2, "--delimiter: '\"' is not 'tab' or one byte");
    says("\"$S\" run quote.cu --delimiter ab 2>&1", 2, "--delimiter: 'ab' is not 'tab' or one byte");
    says("\"$S\" run quote.cu --delimiter ';' --format raw 2>&1", 2, "neither the input nor the output is CSV");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_goes_through_csv_and_ndjson),
        cmocka_unit_test(text_that_does_not_fit_is_a_bad_row),
        cmocka_unit_test(a_replay_compares_text),
        cmocka_unit_test(columns_have_the_delimiter_that_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
