// SPDX-License-Identifier: Apache-2.0
// Sources, data and traces of strangers: what is in them does not steer the terminal that it is shown on, and JSON
// stays JSON whatever their bytes are. ESC is planted wherever text comes from outside.
#include "tests/cli/shell.h"

// No ESC, no other control but tab and line feed, no byte that is no UTF-8, no change of direction in what the command
// prints; and `part` is in it.
static void shows_safely(const char *command, const char *part)
{
    char whole[2048];
    snprintf(
        whole, sizeof whole,
        "{ %s ; } >shown 2>&1; LC_ALL=C grep -q \"$(printf '[\\001-\\010\\013-\\037\\177]')\" shown && echo steers; "
        "iconv -f UTF-8 -t UTF-8 shown >/dev/null 2>&1 || echo no UTF-8; "
        "grep -q \"$(printf '\\342\\200\\256')\" shown && echo overrides; cat shown",
        command);
    int code;
    const char *printed = shell(whole, &code);
    if (strncmp(printed, "steers", 6) == 0 || strncmp(printed, "no UTF-8", 8) == 0 ||
        strncmp(printed, "overrides", 9) == 0 || strstr(printed, part) == NULL)
        fail_msg("%s\nprinted:\n%s\nwanted in it:\n%s", command, printed, part);
}

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("line.cu", "__global__ void k(int *to) { to[0] = 1 \x1b]0;owned\a\xe2\x80\xae\xff; x }\n");
    write_file("word.cu", "#error \x1b[31mred\x9b\n__global__ void k(int *to) { to[0] = 1; }\n");
    write_file("race.cu", "__global__ void k(int *to) { to[0] = threadIdx.x; /* \x1b[2J \xff */ }\n");
    write_file("in.csv", "a,\x1b[2Jb\xff\n1,2\n");
    write_file("add.cu", "struct row { int a; };\n__ring__ void add(const struct row *in) { ring_reply(in); }\n");
    return 0;
}

static void diagnostics_spell_what_a_source_holds(void **state)
{
    (void)state;
    shows_safely("$S kernel list line.cu", "\\x1b]0;owned\\x07\\xe2\\x80\\xae\\xff");
    shows_safely("$S kernel list word.cu", "SLR-K020: #error \\x1b[31mred\\x9b\n#error \\x1b[31mred\\x9b\n^");
    shows_safely("$S kernel check line.cu", "\\x1b]0;owned");
    shows_safely("$S kernel check race.cu", "/* \\x1b[2J \\xff */ }");
    shows_safely("$S run line.cu --input in.csv", "\\x1b]0;owned");
}

static void names_of_files_and_columns_are_spelled(void **state)
{
    (void)state;
    shows_safely("n=$(printf 'e\\033[2J.cu'); cp race.cu $n; $S kernel list $n", "e\\x1b[2J.cu:1: kernel k");
    shows_safely("n=$(printf 'e\\033[2J.cu'); $S kernel check $n", "e\\x1b[2J.cu:1:");
    shows_safely("$S kernel list \"$(printf 'no\\033[2J.cu')\"", "no\\x1b[2J.cu");
    shows_safely("$S \"$(printf 'da\\033[2Jnce')\"", "no verb 'da\\x1b[2Jnce'");
    shows_safely("$S run add.cu --input in.csv --output out.csv", "\\x1b[2Jb\\xff");
    shows_safely(
        "export SLIPRING_CACHE_DIR=cache; n=$(printf 'e\\033[2J.cu'); $S cache warm $n --block 32; $S cache ls",
        "k  e\\x1b[2J.cu (");
    shows_safely("SLIPRING_TRACE=t.json $S kernel run race.cu k --grid 1 --block 1 --arg 'to=int[4]' >/dev/null; "
                 "sed 's/\"name\":\"k\"/\"name\":\"\\\\u001b[2Jslice\"/' t.json >e.json; $S trace print e.json",
                 "\\x1b[2Jslice");
}

static void json_is_text_whatever_the_bytes_are(void **state)
{
    (void)state;
    shows_safely("n=$(printf 'e\\033[2J\\377.cu'); cp race.cu \"$n\"; $S kernel check --json \"$n\"",
                 "e\\u001B[2J\xEF\xBF\xBD.cu\"");
    shows_safely("n=$(printf 'e\\033[2J\\377.cu'); $S kernel list --json \"$n\"", "e\\u001B[2J\xEF\xBF\xBD.cu\"");
    shows_safely("n=$(printf 'e\\033[2J\\377.cu'); $S kernel check --sarif s.sarif \"$n\" >/dev/null; cat s.sarif",
                 "\"uri\": \"e%1B%5B2J%FF.cu\"");
    shows_safely("SLIPRING_CC=$(printf '/no/\\377\\033cc') $S doctor --json",
                 "\"SLIPRING_CC names /no/\\\\xff\\\\x1bcc");
}

static void lines_are_as_wide_as_the_terminal(void **state)
{
    (void)state;
    int code;
    shell("command -v script", &code);
    if (code != 0)
        skip();
    says("script -qec 'stty cols 40; \"$SLIPRING_TOOL\" devices' /dev/null </dev/null | tr -d '\\r'", 0,
         "null     opens: executes nothing; 0\n         commands of 0 B so far\n");
    says("$S devices", 0, "null     opens: executes nothing; 0 commands of 0 B so far\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagnostics_spell_what_a_source_holds),
        cmocka_unit_test(names_of_files_and_columns_are_spelled),
        cmocka_unit_test(json_is_text_whatever_the_bytes_are),
        cmocka_unit_test(lines_are_as_wide_as_the_terminal),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
