// SPDX-License-Identifier: Apache-2.0
// `slipring run --key`: many keys, what happens at the limit, and that replies name the right key and row.
#include "tests/cli/shell.h"

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("count.cu", "#include <slipring/device.h>\n"
                           "struct row { int a; };\n"
                           "struct count { int n; };\n"
                           "__ring__ void count(struct count *self, const struct row *in)\n"
                           "{\n"
                           "    self->n += in->a;\n"
                           "    ring_reply(self);\n"
                           "}\n");
    write_file("many.cu", "#include <slipring/device.h>\n"
                          "struct row { int a; };\n"
                          "struct count { int n; };\n"
                          "__ring_batch__ void many(struct count *self, const struct row *in, int n)\n"
                          "{\n"
                          "    for (int i = 0; i < n; i++) {\n"
                          "        self->n += in[i].a;\n"
                          "        ring_reply_to(i, self);\n"
                          "    }\n"
                          "}\n");
    write_file("pairs.cu", "#include <slipring/device.h>\n"
                           "struct row { int v[2]; };\n"
                           "struct sum { int sum; };\n"
                           "__ring__ void pairs(const struct row *in)\n"
                           "{\n"
                           "    struct sum s = { in->v[0] + in->v[1] };\n"
                           "    ring_reply(&s);\n"
                           "}\n");
    int code;
    // 100,000 keys, each twice in a row
    shell("awk 'BEGIN { print \"k,a,note\"; for (i = 0; i < 100000; i++) for (j = 1; j <= 2; j++) print \"key\" i "
          "\",\" j "
          "\",\" i \":\" j }' >in.csv",
          &code);
    return code;
}

static void more_keys_than_65536_are_taken(void **state)
{
    (void)state;
    gives("\"$S\" run count.cu --key k --input in.csv --ordered --output out.csv 2>/dev/null; "
          "awk -F, 'NR == 1 || $2 == 1 && !seen[$1]++ { n++ } $2 == 3 { m++ } END { print n, m }' out.csv; "
          "tail -n 1 out.csv",
          0, "100001 100000\nkey99999,3\n");
}

static void at_the_limit_a_key_is_refused_or_an_idle_one_evicted(void **state)
{
    (void)state;
    says("\"$S\" run count.cu --key k --input in.csv --instances 100 --output out.csv 2>&1", 1,
         "line 202: key 'key100' needs a new instance, but all 100 of --instances are in use; --key-limit evict reuses "
         "the instance of");
    // A key's two rows are next to each other: it is not evicted in between, or its second reply would say 2.
    gives("\"$S\" run count.cu --key k --input in.csv --instances 8192 --key-limit evict --ordered --output out.csv "
          "--json "
          "2>/dev/null | tail -n 1 | grep -o '\"keys\": 8192, \"evicted\": 91808' | head -n 1; "
          "awk -F, 'NR > 1 { if ($1 != \"key\" int((NR - 2) / 2) || $2 != ((NR % 2) ? 3 : 1)) bad++ } END { print NR, "
          "bad + "
          "0 }' out.csv",
          0, "\"keys\": 8192, \"evicted\": 91808\n200001 0\n");
}

static void a_batch_handler_has_the_same_keys(void **state)
{
    (void)state;
    gives(
        "head -n 4001 in.csv >few.csv; for f in count many; do \"$S\" run $f.cu --key k --input few.csv --instances 64 "
        "--key-limit evict --ordered --batch 128 --output $f.csv --json >$f.json 2>/dev/null || exit 1; done; "
        "cmp count.csv many.csv && wc -l <many.csv; tail -n 1 many.json | grep -o '\"keys\": 64, \"evicted\": 1936' | "
        "head -n 1",
        0, "4001\n\"keys\": 64, \"evicted\": 1936\n");
}

static void a_kept_column_comes_out_with_its_row(void **state)
{
    (void)state;
    gives("\"$S\" run count.cu --key k --keep note --input in.csv --output out.csv && head -n 1 out.csv; "
          "awk -F, 'NR > 1 { split($2, p, \":\"); if ($1 != \"key\" p[1] || $3 != (p[2] == 1 ? 1 : 3)) bad++ } "
          "END { print NR, bad + 0 }' out.csv",
          0, "k,note,n\n200001 0\n");
    gives("\"$S\" run count.cu --key k --keep note --input in.csv --instances 64 --key-limit evict --window 64 "
          "--output out.csv && awk -F, 'NR > 1 { split($2, p, \":\"); if ($1 != \"key\" p[1]) bad++ } END { print NR, "
          "bad + 0 }' out.csv",
          0, "200001 0\n");
    gives("printf 'a,x,\"y z\"\\n1,\"p,q\",5\\n2,,6\\n' | \"$S\" run count.cu --keep 'y z' --keep x", 0,
          "y z,x,n\n5,\"p,q\",1\n6,\"\",3\n");
    gives("printf '{\"a\":1,\"x\":{\"b\":[1,null]},\"t\":\"q\\\\\"\"}\\n{\"a\":2,\"t\":7}\\n' | \"$S\" run count.cu "
          "--format "
          "ndjson --keep t --keep x",
          0, "{\"t\":\"q\\\"\",\"x\":{\"b\":[1,null]},\"n\":1}\n{\"t\":7,\"x\":null,\"n\":3}\n");
    gives("printf 'a,t\\n1,u\"v\\n' | \"$S\" run count.cu --format csv:ndjson --keep t", 0,
          "{\"t\":\"u\\\"v\",\"n\":1}\n");
}

static void a_message_of_several_rows_keeps_what_its_first_row_has(void **state)
{
    (void)state;
    const char *rows =
        "printf 'k,v,n\\na,1,1\\nb,2,2\\na,3,3\\nb,4,4\\n' | \"$S\" run pairs.cu --key k --keep n --ordered";
    char command[512];
    gives(rows, 0, "k,n,sum\na,1,4\nb,2,6\n");
    snprintf(command, sizeof command, "%s --instances 1 --key-limit evict", rows);
    gives(command, 0, "k,n,sum\na,1,4\nb,2,6\n");
    // Rows of a key far apart: the table of waiting keys is made anew in between.
    gives("awk 'BEGIN { print \"k,v\"; print \"first,1\"; for (i = 0; i < 200000; i++) { print i \",1\"; print i "
          "\",2\" } "
          "print \"first,41\" }' | \"$S\" run pairs.cu --key k --key-limit evict --instances 16 | grep first",
          0, "first,42\n");
}

static void what_does_not_go_together_is_said(void **state)
{
    (void)state;
    says("\"$S\" run count.cu --key-limit evict 2>&1", 2, "--key-limit: there are no keys without --key");
    says("\"$S\" run count.cu --key k --key-limit evict --record r 2>&1", 2,
         "--record cannot be used with --key-limit evict");
    says("\"$S\" run count.cu --key k --key-bytes 8 2>&1", 2, "--key-bytes needs --key-limit evict");
    says("printf 'k,a\\nabcdefghi,1\\n' | \"$S\" run count.cu --key k --key-limit evict --key-bytes 8 2>&1", 1,
         "line 2: key 'abcdefghi...' has 9 bytes; --key-bytes allows 8");
    says("printf 'a,n\\n1,2\\n' | \"$S\" run count.cu --keep n 2>&1", 1,
         "--keep n: the reply has a field of that name");
    says("printf 'a,k\\n1,2\\n' | \"$S\" run count.cu --key k --keep k 2>&1", 1, "--keep k: it is the key");
    says("printf 'a\\n1\\n' | \"$S\" run count.cu --keep x 2>&1", 1, "no column 'x', which --keep needs");
    says("\"$S\" run count.cu --keep a --format raw --input in.csv 2>&1", 1, "--keep: raw records have no columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_keys_than_65536_are_taken),
        cmocka_unit_test(at_the_limit_a_key_is_refused_or_an_idle_one_evicted),
        cmocka_unit_test(a_batch_handler_has_the_same_keys),
        cmocka_unit_test(a_kept_column_comes_out_with_its_row),
        cmocka_unit_test(a_message_of_several_rows_keeps_what_its_first_row_has),
        cmocka_unit_test(what_does_not_go_together_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
