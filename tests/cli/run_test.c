// SPDX-License-Identifier: Apache-2.0
// `slipring run` as its users see it: the built program, in a shell, with kernels of this file.
#include "tests/cli/shell.h"

static const char total_cu[] = "#include <slipring/device.h>\n"
                               "struct row { int a; double b; };\n"
                               "struct sum { long long total; double b; };\n"
                               "struct state { long long total; };\n"
                               "__ring__ void add(struct state *self, const struct row *in)\n"
                               "{\n"
                               "    self->total += in->a + 0 / (in->a - 13);\n"
                               "    struct sum sum = { self->total, in->b };\n"
                               "    if (in->a != 0) ring_reply(&sum);\n"
                               "}\n";

static const char means_cu[] = "#include <slipring/device.h>\n"
                               "struct four { short v[4]; int id; };\n"
                               "struct means { int id; float mean[2]; };\n"
                               "__ring__ void means(const struct four *in)\n"
                               "{\n"
                               "    struct means m;\n"
                               "    m.id = in->id * in->id / in->id;\n"
                               "    m.mean[0] = (float)(in->v[0] + in->v[1]) / 2.0f;\n"
                               "    m.mean[1] = (float)(in->v[2] + in->v[3]) / 2.0f;\n"
                               "    ring_reply(&m);\n"
                               "}\n";

static const char weigh_cu[] = "#include <slipring/device.h>\n"
                               "struct sample { float x; };\n"
                               "struct weighed { float y; };\n"
                               "__ring__ void weigh(const struct sample *in, const float *table, int n)\n"
                               "{\n"
                               "    struct weighed w = { 0.0f };\n"
                               "    for (int i = 0; i < n; i++) w.y += table[i] * in->x;\n"
                               "    ring_reply(&w);\n"
                               "}\n"
                               "__ring__ void pass(const struct sample *in)\n"
                               "{\n"
                               "    struct weighed w = { in->x };\n"
                               "    ring_reply(&w);\n"
                               "}\n";

static const char repeat_cu[] = "#include <slipring/device.h>\n"
                                "#include \"amount.h\"\n"
                                "struct sample { int x; };\n"
                                "__ring__ void repeat(const struct sample *in)\n"
                                "{\n"
                                "    for (int i = 0; i < TIMES; i++) { int r = in->x * AMOUNT + i; ring_reply(&r); }\n"
                                "}\n";

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("total.cu", total_cu);
    write_file("means.cu", means_cu);
    write_file("weigh.cu", weigh_cu);
    write_file("repeat.cu", repeat_cu);
    return 0;
}

static void records_stream_through_a_handler(void **state)
{
    (void)state;
    gives("printf 'a,b\\n1,2.5\\n2,0.1\\n0,9\\n-5,1e300\\n' | \"$S\" run total.cu 2>&1", 0,
          "total,b\n1,2.5\n3,0.1\n-2,1e+300\n");
    gives("printf 'a,b\\n' | \"$S\" run total.cu", 0, "total,b\n");
    gives("printf 'a,b\\n1,2\\n' >in.csv; \"$S\" run total.cu --input in.csv --output out.csv; cat out.csv", 0,
          "total,b\n1,2\n");
}

static void quotes_line_ends_blank_lines_and_a_byte_order_mark_are_understood(void **state)
{
    (void)state;
    gives("printf '\\357\\273\\277\"a\",b\\r\\n\"1\",2.5\\r\\n\\r\\n2,3' | \"$S\" run total.cu", 0,
          "total,b\n1,2.5\n3,3\n");
}

static void each_key_has_a_state_and_stands_first_as_it_was_written(void **state)
{
    (void)state;
    gives("printf 'k,a,b\\nx,1,0\\n\"y,z\",10,0\\nx,2,0\\n07,5,0\\n7,6,0\\n\"y,z\",1,0\\n' | \"$S\" run total.cu --key "
          "k --ordered",
          0, "k,total,b\nx,1,0\n\"y,z\",10,0\nx,3,0\n07,5,0\n7,6,0\n\"y,z\",11,0\n");
}

static void a_key_beyond_the_instances_is_a_bad_row(void **state)
{
    (void)state;
    const char *input =
        "printf 'k,a,b\\nx,1,0\\ny,2,0\\nz,3,0\\nx,4,0\\n' | \"$S\" run total.cu --key k --instances 2 --ordered";
    char command[512];
    snprintf(command, sizeof command, "%s 2>&1 >/dev/null", input);
    says(command, 1, "line 4: key 'z' needs a new instance, but all 2 of --instances are in use");
    snprintf(command, sizeof command, "%s --on-error skip 2>/dev/null", input);
    gives(command, 0, "k,total,b\nx,1,0\ny,2,0\nx,5,0\n");
}

static void a_bad_row_takes_no_instance(void **state)
{
    (void)state;
    gives("printf 'k,a,b\\nbad,x,0\\ny,2,0\\ny,3,0\\nz,x,0\\n' | \"$S\" run total.cu --key k --instances 1 --ordered "
          "--on-error skip 2>/dev/null",
          0, "k,total,b\ny,2,0\ny,5,0\n");
    gives("printf 'k,a,b\\nbad,x,0\\ny,2,0\\nz,x,0\\n' | \"$S\" run total.cu --key k --json --on-error skip "
          "2>/dev/null --output o.csv | grep -o '\"keys\": [0-9]*' | head -n 1",
          0, "\"keys\": 1\n");
    // A message of several rows: a bad first row leaves its key without an instance, a later one does not.
    gives("printf 'k,v,id\\nbad,x,7\\na,1,7\\na,x,0\\na,2,0\\na,3,0\\na,4,0\\n' | \"$S\" run means.cu --key k "
          "--instances 1 --on-error skip 2>/dev/null",
          0, "k,id,mean[0],mean[1]\na,7,1.5,3.5\n");
}

static void replies_keep_the_order_of_the_input_over_all_keys(void **state)
{
    (void)state;
    shell("awk 'BEGIN { print \"k,a,b\"; for (i = 1; i <= 50000; i++) print (i * 7919) % 1000 \",\" i % 12 \",\" i }' "
          ">keys.csv",
          &(int){0});
    gives("\"$S\" run total.cu --key k --ordered --input keys.csv --output ordered.csv;"
          "awk -F, 'NR == 1 { print \"k,total,b\"; next } { t[$1] += $2 } $2 != 0 { print $1 \",\" t[$1] \",\" $3 }' "
          "keys.csv |"
          "cmp - ordered.csv && echo same",
          0, "same\n");
    gives(
        "\"$S\" run total.cu --key k --input keys.csv --output any.csv; sort any.csv >a; sort ordered.csv | cmp - a && "
        "grep '^7,' any.csv >a; grep '^7,' ordered.csv | cmp - a && echo same",
        0, "same\n");
}

static void an_array_takes_consecutive_rows_of_its_key(void **state)
{
    (void)state;
    const char *input = "printf 'k,v,id\\na,1,7\\nb,2,8\\na,3,0\\na,4,0\\na,6,0\\nb,9,1\\na,5,2\\n' |"
                        "\"$S\" run means.cu --key k --ordered";
    char command[512];
    gives("printf 'v,id\\n1,7\\n2,8\\n3,9\\n4,9\\n' | \"$S\" run means.cu", 0, "id,mean[0],mean[1]\n7,1.5,3.5\n");
    snprintf(command, sizeof command, "%s 2>/dev/null", input);
    gives(command, 0, "k,id,mean[0],mean[1]\na,7,2,5\n");
    snprintf(command, sizeof command, "%s 2>&1 >/dev/null", input);
    says(command, 0, "rows dropped at the end: 3 (a message needs 4; incomplete messages: 2)");
    snprintf(command, sizeof command, "%s --partial zero", input);
    gives(command, 0, "k,id,mean[0],mean[1]\na,7,2,5\na,2,2.5,0\nb,8,5.5,0\n");
    says("printf 'v,id\\n1,1\\n2,1\\n3,1\\n4,1\\n\\n1,0\\n2,1\\n3,1\\n4,1\\n' | \"$S\" run means.cu 2>&1", 1,
         "line 7: the handler faulted: ");
}

static void a_bad_row_stops_or_is_skipped_and_its_line_is_named(void **state)
{
    (void)state;
    const char *input = "printf 'a,b\\n1,2\\n\\nx,1\\n2,3\\n3\\n4,5\\n' | \"$S\" run total.cu";
    char command[512];
    snprintf(command, sizeof command, "%s 2>/dev/null", input);
    gives(command, 1, "total,b\n1,2\n");
    snprintf(command, sizeof command, "%s 2>&1 >/dev/null", input);
    gives(command, 1, "slipring run: line 4: column a: 'x' is not a whole number from -2147483648 to 2147483647\n");
    snprintf(command, sizeof command, "%s --on-error skip 2>/dev/null", input);
    gives(command, 0, "total,b\n1,2\n3,3\n7,5\n");
    snprintf(command, sizeof command, "%s --on-error skip 2>&1 >/dev/null", input);
    says(command, 0, "line 6: 1 columns where the header has 2\nslipring run: bad rows skipped: 2\n");
}

static void columns_are_checked_against_the_message(void **state)
{
    (void)state;
    says("printf 'a,c\\n1,2\\n' | \"$S\" run total.cu 2>&1", 1,
         "no column 'b', which field b of struct row needs; the columns are: a, c");
    says("printf 'a,b,note,more\\n1,2,3,4\\n' | \"$S\" run total.cu 2>&1 >/dev/null", 0,
         "unused columns: note, more\n");
    says("printf 'a,b\\n1,2\\n' | \"$S\" run total.cu --key who 2>&1", 1, "no column 'who', which --key needs");
    says("\"$S\" run total.cu </dev/null 2>&1", 1, "the input is empty");
    says("\"$S\" run total.cu --input / 2>&1", 1, "cannot read the input '/': Is a directory");
}

static void a_fault_is_reported_with_the_line_of_its_message(void **state)
{
    (void)state;
    const char *input = "printf 'a,b\\n1,2\\n13,0\\n2,3\\n' | \"$S\" run total.cu";
    char command[512];
    snprintf(command, sizeof command, "%s 2>&1 >/dev/null", input);
    says(command, 1, "line 3: the handler faulted: ");
    snprintf(command, sizeof command, "%s --on-error skip 2>/dev/null", input);
    gives(command, 0, "total,b\n1,2\n2,3\n"); // the instance starts anew
    snprintf(command, sizeof command, "%s --on-error skip 2>&1 >/dev/null", input);
    says(command, 0, "messages that faulted: 1\n");
}

// Many messages are handled before the first notice is read: by then the ring kernel's last fault is another's.
static void a_fault_is_reported_with_its_own_reason(void **state)
{
    (void)state;
    static const char *const options[] = {"", "--device 'cpu?threads=1'", "--device 'cpu?engine=interpreted'",
                                          "--state own", "--ordered"};
    char command[1024];
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
        snprintf(command, sizeof command,
                 "cat >own.cu <<'END'\n"
                 "struct m { int kind; int d; }; struct s { int n; }; struct r { int n; };\n"
                 "__ring__ void own(struct s *self, const struct m *in)\n"
                 "{ struct r r = {}; int buf[8] = {1};\n"
                 "  if (in->kind == 1) r.n = 10 / in->d;\n"
                 "  if (in->kind == 2) r.n = buf[in->d];\n"
                 "  ring_reply(&r); }\n"
                 "END\n"
                 "awk 'BEGIN { print \"key,kind,d\"; for (i = 1; i <= 500; i++) print \"k\" i %% 7 \",\" 1 + i %% 2 "
                 "\",\" (i %% 2 ? 100 : 0) }' >own.csv; rm -rf own\n"
                 "\"$S\" run own.cu --key key --input own.csv --on-error skip %s 2>&1 >/dev/null | awk '"
                 "/the handler faulted/ { line = $4 + 0; what = (line - 1) %% 2 ? \"outside\" : \"zero\"; "
                 "n += index($0, what) > 0 } END { print n }'",
                 options[i]);
        gives(command, 0, "20\n");
    }
}

static void the_first_fault_is_said_at_the_end_with_what_was_indexed_and_the_key(void **state)
{
    (void)state;
    const char *input = "printf 'who,x\nann,1\nbob,2\neve,3\n' >who.csv; \"$S\" run weigh.cu --ring weigh --key who "
                        "--bind table=zeros:8 --bind n=9 --input who.csv --on-error skip";
    char command[512];
    snprintf(command, sizeof command, "%s 2>&1 >/dev/null | grep 'the first fault after'", input);
    says(command, 0, "index 8 of 8 in buffer 'table'");
    snprintf(command, sizeof command, "%s --json 2>&1 >/dev/null | grep -o '\"first_fault\": {\"what\": .*'", input);
    says(command, 0, "index 8 of 8 in buffer 'table'");
    // One worker: the first message to fault is the first.
    snprintf(command, sizeof command, "%s --device 'cpu?threads=1' 2>&1 >/dev/null | grep 'the first fault'", input);
    says(command, 0, "(message 1 of its shard, key 'ann')");
}

static void what_the_handler_prints_comes_on_standard_error_with_its_key(void **state)
{
    (void)state;
    write_file("say.cu", "struct row { int x; };\n"
                         "__ring__ void say(const struct row *in)\n"
                         "{\n"
                         "    printf(\"x is %d\\n\", in->x);\n"
                         "    if (in->x == 3) printf(\"three\");\n"
                         "    ring_reply(in);\n"
                         "}\n");
    const char *input = "printf 'who,x\nann,1\nbob,3\n' | \"$S\" run say.cu --key who --device 'cpu?threads=1'";
    char command[512];
    snprintf(command, sizeof command, "%s 2>/dev/null", input);
    gives(command, 0, "who,x\nann,1\nbob,3\n");
    snprintf(command, sizeof command, "%s 2>&1 >/dev/null", input);
    gives(command, 0, "say[ann]: x is 1\nsay[bob]: x is 3\nsay[bob]: three\n");
    snprintf(command, sizeof command, "%s --stats 2>&1 >/dev/null | grep printed", input);
    says(command, 0, " 3\n");
    says("printf 'x\n7\n' | \"$S\" run say.cu --device 'cpu?engine=interpreted' 2>&1 >/dev/null", 0,
         "say[0]: x is 7\n");
}

static void parameters_are_bound_to_values_files_and_zeros(void **state)
{
    (void)state;
    const char *input = "printf 'x\\n1\\n0.5\\n' | \"$S\" run weigh.cu --ring weigh";
    char command[512];
    write_file("table.txt", "1, 2\n4.5\n");
    snprintf(command, sizeof command, "%s --bind table=table.txt --bind n=3", input);
    gives(command, 0, "y\n7.5\n3.75\n");
    snprintf(command, sizeof command, "printf '\\0\\0\\200?' >t.bin; %s --bind table=t.bin --bind n=1", input);
    gives(command, 0, "y\n1\n0.5\n");
    snprintf(command, sizeof command, "%s --bind table=zeros:8 --bind n=8", input);
    gives(command, 0, "y\n0\n0\n");
    snprintf(command, sizeof command, "%s --bind n=3 2>&1", input);
    says(command, 2, "handler weigh needs --bind table=FILE");
    snprintf(command, sizeof command, "%s --bind table=zeros:8 --bind n=many 2>&1", input);
    says(command, 2, "n: 'many' is not a whole number");
    snprintf(command, sizeof command, "%s --bind tables=zeros:8 2>&1", input);
    says(command, 2, "handler weigh has no parameter with that name");
}

static void the_preprocessor_gets_definitions_and_folders_and_a_message_its_replies(void **state)
{
    (void)state;
    const char *input = "mkdir -p sub; echo '#define AMOUNT 10' >sub/amount.h; printf 'x\\n1\\n2\\n' | "
                        "\"$S\" run repeat.cu -I sub -D TIMES=2";
    char command[512];
    snprintf(command, sizeof command, "%s --replies 2", input);
    gives(command, 0, "value\n10\n11\n20\n21\n");
    snprintf(command, sizeof command, "%s 2>&1", input);
    says(command, 1, "line 2: the handler faulted: ");
}

static void the_handler_is_chosen_by_name_where_there_are_several(void **state)
{
    (void)state;
    gives("printf 'x\\n2\\n' | \"$S\" run weigh.cu --ring pass", 0, "y\n2\n");
    says("printf 'x\\n2\\n' | \"$S\" run weigh.cu 2>&1", 2, "several handlers");
    says("\"$S\" run weigh.cu --handler weigh 2>&1", 2, "no option '--handler'; --ring names the handler\n");
    says("\"$S\" run weigh.cu --handler=weigh 2>&1", 2, "no option '--handler=weigh'; --ring names the handler\n");
    says("\"$S\" run weigh.cu --handler-timeout weigh 2>&1", 2, "is not a time of at least 1ms");
    says("\"$S\" serve weigh.cu --handler weigh 2>&1", 2, "no option '--handler'; --ring names the handler\n");
    says("printf 'x\\n2\\n' | \"$S\" run weigh.cu --ring none 2>&1", 2, "  --ring weigh\n  --ring pass\n");
}

static void the_interpreter_prints_the_same_bytes(void **state)
{
    (void)state;
    shell("awk 'BEGIN { print \"v,id\"; for (i = 1; i <= 2000; i++) print (i * 7919) % 30011 \",\" i }' >v.csv",
          &(int){0});
    gives("\"$S\" run means.cu --input v.csv --output compiled.csv && "
          "\"$S\" run means.cu --input v.csv --device 'cpu?engine=interpreted' | cmp - compiled.csv && wc -l "
          "<compiled.csv",
          0, "501\n");
}

static void the_summary_is_one_object_with_counts_that_add_up(void **state)
{
    (void)state;
    const char *input = "printf 'a,b\\n1,2\\n13,0\\nx,1\\n2,3\\n' | \"$S\" run total.cu --json --on-error skip";
    char command[512];
    snprintf(command, sizeof command, "%s --output o.csv 2>/dev/null", input);
    says(command, 0, "\"rows\": 4, \"bad_rows\": 1,");
    says(command, 0, "\"messages\": 3, \"replies\": 2, \"faults\": 1, \"handled\": 2, \"faulted\": 1,");
    snprintf(command, sizeof command, "%s 2>/dev/null", input);
    gives(command, 0, "total,b\n1,2\n2,3\n");
    snprintf(command, sizeof command, "%s 2>&1 >/dev/null", input);
    says(command, 0, "\"ended\": \"end of input\"");
}

static void the_summary_says_what_the_ring_kernel_says_of_itself(void **state)
{
    (void)state;
    const char *run = "printf 'a,b\\n1,2\\n13,0\\n2,3\\n' | \"$S\" run total.cu --on-error skip --output o.csv";
    char command[512];
    snprintf(command, sizeof command, "%s --json 2>/dev/null", run);
    says(command, 0, "\"ring\": {\"ring\": \"add\", \"state\": \"terminated\"");
    says(command, 0, "\"received\": 3, \"handled\": 2, \"faulted\": 1, \"replied\": 3,");
    says(command, 0, "\"latency\": {\"every\": 1, \"count\": 3, \"min_ns\": ");
    snprintf(command, sizeof command, "%s --stats 2>&1", run);
    says(command, 0, "ring kernel 'add', terminated\n  received             3\n  handled              2\n");
    says(command, 0, "latency from mailbox to reply: 3 timed, one in 1\n  min ");
}

static void json_gives_a_line_each_second_while_the_input_stays_open(void **state)
{
    (void)state;
    // Two rows, then nothing for as long as two lines take.
    gives("mkfifo slow; { \"$S\" run total.cu --input slow --output s.csv --json >lines 2>&1 & } ; exec 3>slow; "
          "printf 'a,b\\n5,1\\n6,2\\n' >&3; "
          "await '[ $(wc -l <lines) -ge 2 ] && tail -n 1 lines >line && "
          "grep -q \"received.: 2,.*last.*per_s.: 0.0,\" line'; exec 3>&-; wait $!; rm slow; "
          "sed -n 's/.*\"state\": \\(\"[a-z]*\"\\).*\"received\": \\([0-9]*\\).*/\\1 \\2/p' line; "
          "sed -n 's/.*\"last\": {\"seconds\": .*, \"messages_per_s\": \\([0-9.]*\\), .*/\\1/p' line; "
          "grep -c '\"ended\": \"end of input\"' lines; tail -n 1 lines | grep -c ended",
          0, "\"active\" 2\n0.0\n1\n1\n");
}

static void a_signal_ends_the_input_and_what_was_read_is_handled(void **state)
{
    (void)state;
    const char *input = "mkfifo pipe; { \"$S\" run total.cu --input pipe --output o.csv 2>err & } ; exec 3>pipe;"
                        "printf 'a,b\\n1,1\\n2,2\\n' >&3;"
                        "await 'grep -qs ^3,2 o.csv'; kill -%s "
                        "$!; wait $!; echo $?; cat o.csv; cat err; rm pipe";
    // SIGTERM asks for an orderly end, and all was drained.
    static const char *const signals[] = {"INT", "TERM"}, *const codes[] = {"130", "0"};
    for (int i = 0; i < 2; i++) {
        char command[512], expected[256];
        snprintf(command, sizeof command, input, signals[i]);
        snprintf(expected, sizeof expected,
                 "%s\ntotal,b\n1,1\n3,2\nslipring run: interrupted: 2 rows read, 2 messages handled, 0 faulted, 2 "
                 "replies; left: 0 messages not sent, 0 undelivered, 0 pending\n",
                 codes[i]);
        gives(command, 0, expected);
    }
}

static void rows_are_answered_while_the_input_stays_open(void **state)
{
    (void)state;
    gives("mkfifo live; { \"$S\" run total.cu --input live --output l.csv & } ; exec 3>live; printf 'a,b\\n5,1\\n' >&3;"
          "await 'grep -qs ^5,1 l.csv'; "
          "grep -q ^5,1 l.csv && printf '6,2\\n' >&3; "
          "exec 3>&-; wait $!; cat l.csv",
          0, "total,b\n5,1\n11,2\n");
}

static void a_reader_that_goes_away_is_no_failure(void **state)
{
    (void)state;
    shell("awk 'BEGIN { print \"a,b\"; for (i = 1; i <= 200000; i++) print \"1,\" i }' >many.csv", &(int){0});
    gives("{ \"$S\" run total.cu --input many.csv 2>err; echo $? >code; } | head -n 2; cat code err", 0,
          "total,b\n1,1\n0\n");
    says("\"$S\" run total.cu --input many.csv --output /dev/full 2>&1", 1, "cannot write the output: ");
}

static void what_is_wrong_with_the_command_line_is_said(void **state)
{
    (void)state;
    says("\"$S\" run 2>&1", 2, "FILE.cu is missing");
    says("\"$S\" run total.cu other.cu 2>&1", 2, "not also 'other.cu'");
    says("\"$S\" run total.cu --on-error ignore 2>&1", 2, "'ignore' is neither stop nor skip");
    says("\"$S\" run total.cu --instances 4 2>&1", 2, "needs --key");
    says("\"$S\" run total.cu --key k --instances 0 2>&1", 2, "'0' is not a number from 1 to 16777216");
    says("\"$S\" run total.cu --device gpu9 2>&1 </dev/null", 2, "gpu9"); // a name that no machine has
    says("\"$S\" run total.cu --device 'cpu?colour=red' 2>&1 </dev/null", 2, "colour");
    says("\"$S\" run none.cu 2>&1 </dev/null", 1, "none.cu");
    says("echo '__ring__ void f(int x) { y; }' >bad.cu; \"$S\" run bad.cu 2>&1 </dev/null", 1, "bad.cu:1:");
    says("echo 'struct m { int a; }; __ring__ void f(const struct m *m, ring_to(struct m) to) { ring_send(to, m); }' "
         ">send.cu;"
         "\"$S\" run send.cu 2>&1 </dev/null",
         2, "handler f sends through 'to' to another ring kernel");
    says("\"$S\" run --help", 0, "Usage: slipring run FILE.cu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_stream_through_a_handler),
        cmocka_unit_test(quotes_line_ends_blank_lines_and_a_byte_order_mark_are_understood),
        cmocka_unit_test(each_key_has_a_state_and_stands_first_as_it_was_written),
        cmocka_unit_test(a_key_beyond_the_instances_is_a_bad_row),
        cmocka_unit_test(a_bad_row_takes_no_instance),
        cmocka_unit_test(replies_keep_the_order_of_the_input_over_all_keys),
        cmocka_unit_test(an_array_takes_consecutive_rows_of_its_key),
        cmocka_unit_test(a_bad_row_stops_or_is_skipped_and_its_line_is_named),
        cmocka_unit_test(columns_are_checked_against_the_message),
        cmocka_unit_test(a_fault_is_reported_with_the_line_of_its_message),
        cmocka_unit_test(a_fault_is_reported_with_its_own_reason),
        cmocka_unit_test(the_first_fault_is_said_at_the_end_with_what_was_indexed_and_the_key),
        cmocka_unit_test(what_the_handler_prints_comes_on_standard_error_with_its_key),
        cmocka_unit_test(parameters_are_bound_to_values_files_and_zeros),
        cmocka_unit_test(the_preprocessor_gets_definitions_and_folders_and_a_message_its_replies),
        cmocka_unit_test(the_handler_is_chosen_by_name_where_there_are_several),
        cmocka_unit_test(the_interpreter_prints_the_same_bytes),
        cmocka_unit_test(the_summary_is_one_object_with_counts_that_add_up),
        cmocka_unit_test(the_summary_says_what_the_ring_kernel_says_of_itself),
        cmocka_unit_test(json_gives_a_line_each_second_while_the_input_stays_open),
        cmocka_unit_test(a_signal_ends_the_input_and_what_was_read_is_handled),
        cmocka_unit_test(rows_are_answered_while_the_input_stays_open),
        cmocka_unit_test(a_reader_that_goes_away_is_no_failure),
        cmocka_unit_test(what_is_wrong_with_the_command_line_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
