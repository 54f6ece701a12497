// SPDX-License-Identifier: Apache-2.0
#include "lang/text/front_test.h"

#define HEAD "#ifndef T\n#define T 16\n#endif\n"

static void a_tunable_macro_has_its_values_sorted_and_its_value_in_this_run(void **state)
{
    (void)state;
    struct front_run run = run_text(HEAD "#pragma slipring tune T = 32, 8, 4 * 4\nT");
    const struct slri_tuning *tuning = run.front.tuning;
    assert_int_equal(slri_report_errors(&run.front), 0);
    assert_non_null(tuning);
    assert_int_equal(tuning->tunables, 1);
    assert_string_equal(tuning->tunable[0].name, "T");
    assert_int_equal(tuning->tunable[0].values, 3);
    assert_int_equal(tuning->tunable[0].value[0], 8);
    assert_int_equal(tuning->tunable[0].value[1], 16);
    assert_int_equal(tuning->tunable[0].value[2], 32);
    assert_int_equal(tuning->tunable[0].now, 16);
    assert_int_equal(tuning->tunable[0].line, 4);
    assert_true(tuning->is_allowed);
    assert_string_equal(slri_text_view(&run.spelled), "16"); // the line is no token
    run_end(&run);
}

static void a_source_without_such_lines_declares_nothing(void **state)
{
    (void)state;
    struct front_run run = run_text(HEAD "#pragma unroll 4\n#pragma other tune T = 1\nT");
    assert_null(run.front.tuning);
    run_end(&run);
}

static void a_define_from_outside_changes_value_block_and_what_is_allowed(void **state)
{
    (void)state;
    static const char text[] = HEAD "#pragma slipring block f = T, T / 2\n#pragma slipring items f = T * 4\n"
                                    "#pragma slipring tune T = 8, 16, 64\n#pragma slipring require T * T <= 1024\n";
    const char *const defines[] = {"T=8", "T=64"};
    for (uint32_t i = 0; i < 2; i++) {
        const struct slri_source source = {.path = "a.cu", .text = text, .define = &defines[i], .defines = 1};
        struct front_run run = run_source(&source);
        assert_int_equal(slri_report_errors(&run.front), 0);
        assert_int_equal(run.front.tuning->is_allowed, i == 0);
        assert_int_equal(run.front.tuning->tunable[0].now, i == 0 ? 8 : 64);
        assert_int_equal(run.front.tuning->launch[0].block[0], i == 0 ? 8 : 64);
        assert_int_equal(run.front.tuning->launch[0].block[1], i == 0 ? 4 : 32);
        assert_int_equal(run.front.tuning->launch[0].block[2], 1);
        assert_int_equal(run.front.tuning->launch[0].items[0], i == 0 ? 32 : 256);
        run_end(&run);
    }
}

static void what_a_line_lacks_is_said_at_its_place(void **state)
{
    (void)state;
    assert_refused(HEAD "#pragma slipring tune U = 1", "ward.cu:4:23: error SLR-K025: #pragma slipring: no macro");
    assert_refused(HEAD "#pragma slipring tune T 1, 2", "ward.cu:4:23: error SLR-K025: #pragma slipring: NAME =");
    assert_refused(HEAD "#pragma slipring tune T =", "ward.cu:4:1: error SLR-K025: #pragma slipring: a value");
    assert_refused(HEAD "#pragma slipring tune T = 1,", "ward.cu:4:27: error SLR-K025: #pragma slipring: a value");
    assert_refused(HEAD "#pragma slipring tune T = 1,, 2", "ward.cu:4:29: error SLR-K025: #pragma slipring: a value");
    assert_refused(HEAD "#pragma slipring tune T = 8, 4 + 4", "ward.cu:4:23: error SLR-K025: #pragma slipring: a val");
    assert_refused(HEAD "#pragma slipring tune T = x y", "ward.cu:4:29: error SLR-K013");
    assert_refused(HEAD "#pragma slipring tune T = 1\n#pragma slipring tune T = 2", "ward.cu:5:23: error SLR-K025");
    assert_refused(HEAD "#pragma slipring block f = 2048", "ward.cu:4:24: error SLR-K025: #pragma slipring: a block");
    assert_refused(HEAD "#pragma slipring block f = 1\n#pragma slipring block f = 2", "ward.cu:5:24: error SLR-K025");
    assert_refused(HEAD "#pragma slipring require", "ward.cu:4:1: error SLR-K025: #pragma slipring: the condition");
    assert_refused(HEAD "#pragma slipring tiles T", "ward.cu:4:18: error SLR-K025: #pragma slipring: not tune");
    assert_refused(HEAD "#pragma slipring", "ward.cu:4:1: error SLR-K025");
}

static void a_block_that_is_too_large_is_no_error_where_it_is_not_allowed(void **state)
{
    (void)state;
    assert_becomes(HEAD "#pragma slipring block f = T * 1000\n#pragma slipring require T < 2", "");
}

static void the_own_hash_knows_defines_but_not_the_device(void **state)
{
    (void)state;
    const char *const define = "T=8";
    const struct slri_source sources[] = {{.path = "a.cu", .text = HEAD},
                                          {.path = "a.cu", .text = HEAD, .cuda_arch = 900},
                                          {.path = "a.cu", .text = HEAD, .define = &define, .defines = 1},
                                          {.path = "a.cu", .text = HEAD "\n"}};
    struct front_run run[4];
    for (int i = 0; i < 4; i++)
        run[i] = run_source(&sources[i]);
    assert_memory_not_equal(run[0].front.source_hash, run[1].front.source_hash, 16);
    assert_memory_equal(run[0].front.own_hash, run[1].front.own_hash, 16);
    assert_memory_not_equal(run[0].front.own_hash, run[2].front.own_hash, 16);
    assert_memory_not_equal(run[0].front.own_hash, run[3].front.own_hash, 16);
    for (int i = 0; i < 4; i++)
        run_end(&run[i]);
}

// What a define from outside gives is not asked for, and a body is not before it is used.
static void a_source_that_asks_for_the_select_macro_is_known(void **state)
{
    (void)state;
    static const char *const asks[] = {"#if SLIPRING_SELECT\n#endif",
                                       "#ifdef SLIPRING_SELECT\n#endif",
                                       "#if 1 + defined(SLIPRING_SELECT)\n#endif",
                                       "int x = SLIPRING_SELECT;",
                                       "#define JOIN(a, b) a##b\nint x = JOIN(SLIPRING_, SELECT);",
                                       "#define SLIPRING_SELECT 1\n",
                                       "#define S SLIPRING_SELECT\nint x = S;",
                                       HEAD "#pragma slipring require SLIPRING_SELECT < 2\n"},
                             *const not [] = {"", "int x = 1; // SLIPRING_SELECT", "#define S SLIPRING_SELECT\n",
                                              "#if 0\nint x = SLIPRING_SELECT;\n#endif",
                                              "char *s = \"SLIPRING_SELECT\";"};
    const char *const define = "SLIPRING_SELECT=1";
    for (uint32_t with = 0; with < 2; with++)
        for (size_t i = 0; i < sizeof asks / sizeof *asks + sizeof not / sizeof *not ; i++) {
            const bool expected = i < sizeof asks / sizeof *asks;
            const char *text = expected ? asks[i] : not [i - sizeof asks / sizeof *asks];
            const struct slri_source source = {.path = "a.cu", .text = text, .define = &define, .defines = with};
            struct front_run run = run_source(&source);
            if (run.front.asks_select != expected)
                fail_msg("%d, not %d: %s", run.front.asks_select, expected, text);
            run_end(&run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tunable_macro_has_its_values_sorted_and_its_value_in_this_run),
        cmocka_unit_test(a_source_without_such_lines_declares_nothing),
        cmocka_unit_test(a_define_from_outside_changes_value_block_and_what_is_allowed),
        cmocka_unit_test(what_a_line_lacks_is_said_at_its_place),
        cmocka_unit_test(the_own_hash_knows_defines_but_not_the_device),
        cmocka_unit_test(a_block_that_is_too_large_is_no_error_where_it_is_not_allowed),
        cmocka_unit_test(a_source_that_asks_for_the_select_macro_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
