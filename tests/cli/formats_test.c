// SPDX-License-Identifier: Apache-2.0
// The formats of `slipring run`, and its window.
#include "tests/cli/shell.h"

static const char count_cu[] = "#include <slipring/device.h>\n"
                               "struct row { int id; float v[2]; };\n"
                               "struct seen { unsigned count; };\n"
                               "struct sum { unsigned count; float sum; };\n"
                               "__ring__ void count(struct seen *self, const struct row *in)\n"
                               "{\n"
                               "    self->count += 1 + 0 / (in->id - 13);\n"
                               "    struct sum s = { self->count, in->v[0] + in->v[1] };\n"
                               "    ring_reply(&s);\n"
                               "}\n";

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("count.cu", count_cu);
    write_file("rows.ndjson", "{\"id\":1,\"v\":[1,2]}\n{\"id\":2,\"v\":[0.5,\"inf\"]}\n\n{\"v\":[3,4],\"id\":1}\n");
    return 0;
}

static void ndjson_goes_in_and_out_by_suffix_or_by_name(void **state)
{
    (void)state;
    const char *out = "{\"count\":1,\"sum\":3}\n{\"count\":2,\"sum\":\"inf\"}\n{\"count\":3,\"sum\":7}\n";
    gives("\"$S\" run count.cu --input rows.ndjson", 0, out);
    gives("\"$S\" run count.cu --format ndjson <rows.ndjson", 0, out);
    gives("\"$S\" run count.cu --input rows.ndjson --output out.csv; cat out.csv", 0, "count,sum\n1,3\n2,inf\n3,7\n");
    gives("\"$S\" run count.cu --format ndjson:csv <rows.ndjson --output o.jsonl; cat o.jsonl", 0,
          "count,sum\n1,3\n2,inf\n3,7\n");
    says("\"$S\" run count.cu --format ndjson:xml 2>&1", 2, "'ndjson:xml' is not csv, ndjson, raw or IN:OUT");
}

static void a_key_is_written_as_it_was_read(void **state)
{
    (void)state;
    gives("printf "
          "'{\"id\":1,\"v\":[1,1],\"k\":7}\\n{\"id\":1,\"v\":[1,1],\"k\":\"x\"}\\n{\"id\":1,\"v\":[1,1],\"k\":7}\\n' | "
          "\"$S\" run count.cu --key k --format ndjson --ordered",
          0, "{\"k\":7,\"count\":1,\"sum\":2}\n{\"k\":\"x\",\"count\":1,\"sum\":2}\n{\"k\":7,\"count\":2,\"sum\":2}\n");
    gives("\"$S\" run count.cu --input rows.ndjson --key id --format ndjson:csv --ordered", 0,
          "id,count,sum\n1,1,3\n2,1,inf\n1,2,7\n");
}

static void raw_records_go_round(void **state)
{
    (void)state;
    write_file("pass.cu",
               "struct row { int id; float v[2]; };\n__ring__ void pass(const struct row *in) { struct row r; "
               "r.id = in->id; r.v[0] = in->v[0]; r.v[1] = in->v[1]; ring_reply(&r); }\n");
    gives("\"$S\" run pass.cu --input rows.ndjson --output rows.raw; wc -c <rows.raw;"
          "\"$S\" run pass.cu --input rows.raw | cmp - rows.raw && \"$S\" run count.cu --input rows.raw --format "
          "raw:ndjson "
          "--key id --ordered",
          0,
          "36\n{\"id\":1,\"count\":1,\"sum\":3}\n{\"id\":2,\"count\":1,\"sum\":\"inf\"}\n{\"id\":1,\"count\":2,\"sum\":"
          "7}\n");
    gives("\"$S\" run count.cu --input rows.raw --key id --ordered | od -An -v -t d4 -w12 | awk '{ print $1, $2 }'", 0,
          "1 1\n2 1\n1 2\n");
    says("head -c 20 rows.raw | \"$S\" run pass.cu --format raw:csv 2>&1", 1,
         "record 2: the input ends within this record: 8 of 12 bytes");
    says("\"$S\" run pass.cu --format raw --key k 2>&1 </dev/null", 1, "struct row has no field 'k'");
}

static void a_bad_record_is_reported_where_it_stands(void **state)
{
    (void)state;
    const char *input =
        "printf '{\"id\":1,\"v\":[1,2]}\\n\\n{\"id\":1}\\n{\"id\":13,\"v\":[1,2]}\\n{\"id\":5,\"v\":[1,2]}\\n' | "
        "\"$S\" run count.cu --format ndjson";
    char command[512];
    snprintf(command, sizeof command, "%s 2>&1", input);
    says(command, 1, "line 3: no member 'v', which struct row needs");
    snprintf(command, sizeof command, "%s --on-error skip 2>&1 >/dev/null", input);
    says(command, 0, "line 4: the handler faulted: ");
    snprintf(command, sizeof command, "%s --on-error skip 2>/dev/null", input);
    gives(command, 0, "{\"count\":1,\"sum\":3}\n{\"count\":1,\"sum\":3}\n");
    says("\"$S\" run count.cu --input rows.ndjson --key k 2>&1", 1, "line 1: no member 'k', which --key needs");
}

static void a_window_bounds_what_is_under_way(void **state)
{
    (void)state;
    shell("awk 'BEGIN { for (i = 1; i <= 3000; i++) print \"{\\\"id\\\":\" i \",\\\"v\\\":[1,2]}\" }' | sed "
          "'s/:13,/:14,/' >m.ndjson",
          &(int){0});
    gives("for w in 1 7 65536; do \"$S\" run count.cu --input m.ndjson --window $w --ordered | tail -1; done", 0,
          "{\"count\":3000,\"sum\":3}\n{\"count\":3000,\"sum\":3}\n{\"count\":3000,\"sum\":3}\n");
    says("\"$S\" run count.cu --window 0 2>&1", 2, "--window: '0' is not a number from 1 to 1048576");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ndjson_goes_in_and_out_by_suffix_or_by_name),
        cmocka_unit_test(a_key_is_written_as_it_was_read),
        cmocka_unit_test(raw_records_go_round),
        cmocka_unit_test(a_bad_record_is_reported_where_it_stands),
        cmocka_unit_test(a_window_bounds_what_is_under_way),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
