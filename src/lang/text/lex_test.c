// SPDX-License-Identifier: Apache-2.0
#include "lang/text/front_test.h"

#include <math.h>

static struct slri_token first_token(const char *text)
{
    struct front_run run = run_text(text);
    if (slri_report_errors(&run.front)) {
        slri_report_fail(&run.front);
        fail_msg("%s", slr_error_message());
    }
    struct slri_token token = run.front.token[0];
    token.text = NULL; // dies with the run
    run_end(&run);
    return token;
}

static void longest_punctuator_wins(void **state)
{
    (void)state;
    assert_becomes("a+++b<<=c>>>d<<<e...f->g", "a ++ + b <<= c >>> d <<< e ... f -> g");
    assert_becomes("x<:1:>=<%%>;%:", "x [ 1 ] = { } ; #");
    assert_becomes("a..b", "a . . b");
}

static void comments_and_splices_separate_or_join(void **state)
{
    (void)state;
    assert_becomes("a/**/b // c \\\n still c\n d", "a b d");
    assert_becomes("in\\\nt x\\\r\n1 +\\\n+ y", "int x1 ++ y");
    assert_becomes("a /* // \n */ b", "a b");
    assert_becomes("", "");
    assert_becomes("\xEF\xBB\xBFint", "int");
}

static void integers_have_value_and_suffix(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        bool is_unsigned, is_long, is_decimal;
    } cases[] = {
        {"0", 0, 0, 0, 0},
        {"42", 42, 0, 0, 1},
        {"017", 15, 0, 0, 0},
        {"0x1Fu", 31, 1, 0, 0},
        {"0b101l", 5, 0, 1, 0},
        {"9223372036854775807LL", INT64_MAX, 0, 1, 1},
        {"18446744073709551615uLL", UINT64_MAX, 1, 1, 1},
        {"0xffffffffffffffff", UINT64_MAX, 0, 0, 0},
        {"7Lu", 7, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct slri_token token = first_token(cases[i].text);
        assert_int_equal(token.kind, SLRI_TOKEN_INTEGER);
        assert_int_equal(token.value.u64, cases[i].value);
        assert_int_equal(token.is_unsigned, cases[i].is_unsigned);
        assert_int_equal(token.is_long, cases[i].is_long);
        assert_int_equal(token.is_decimal, cases[i].is_decimal);
    }
}

static void floats_are_rounded_once(void **state)
{
    (void)state;
    // Between two floats, a hair above the middle: as a double it is the middle, which would round to even, downwards.
    struct slri_token token = first_token("1.00000005960464477540f");
    assert_int_equal(token.kind, SLRI_TOKEN_FLOAT);
    assert_true(token.is_float);
    assert_true(token.value.f64 == (double)nextafterf(1.0f, 2.0f));
    assert_true((float)1.00000005960464477540 == 1.0f);
    assert_true(first_token("0.1").value.f64 == 0.1);
    assert_true(first_token(".5e-1F").value.f64 == (double)0.05f);
    assert_true(first_token("0x1.8p1").value.f64 == 3.0);
    assert_true(first_token("1.").value.f64 == 1.0);
    assert_true(first_token("1e10").value.f64 == 1e10);
}

static void characters_and_strings_resolve_escapes(void **state)
{
    (void)state;
    assert_int_equal(first_token("'a'").value.u64, 'a');
    assert_int_equal(first_token("'\\n'").value.u64, '\n');
    assert_int_equal(first_token("'\\xff'").value.u64, UINT64_MAX); // char is signed
    assert_int_equal(first_token("'\\101'").value.u64, 'A');
    assert_int_equal(first_token("'\\''").value.u64, '\'');
    assert_int_equal(first_token("\"a\\0b\" \"c\"").length, 4);
    assert_becomes("f(\"a\\tb\" \"c\", \"d\")", "f ( \"a\tbc\" , \"d\" )");
}

static void bad_literals_are_refused(void **state)
{
    (void)state;
    assert_refused("x = 18446744073709551616u;", "ward.cu:1:5: error SLR-K003");
    assert_refused("x = 9223372036854775808;", "ward.cu:1:5: error SLR-K003");
    assert_refused("x = 08;", "ward.cu:1:5: error SLR-K002: not a number: 08\n");
    assert_refused("x = 0x;", "ward.cu:1:5: error SLR-K002");
    assert_refused("x = 1lL;", "ward.cu:1:5: error SLR-K002");
    assert_refused("x = 12abc;", "ward.cu:1:5: error SLR-K002");
    assert_refused("x = 1.5e+;", "ward.cu:1:5: error SLR-K002");
    assert_refused("x = 0x1.8;", "ward.cu:1:5: error SLR-K002");
    assert_refused("x = 1e39f;", "ward.cu:1:5: error SLR-K008");
    assert_refused("x = 1.0L;", "ward.cu:1:5: error SLR-K088");
    assert_refused("x = 'ab';", "ward.cu:1:5: error SLR-K006");
    assert_refused("x = '';", "ward.cu:1:5: error SLR-K006");
    assert_refused("x = '\\q';", "ward.cu:1:5: error SLR-K007");
    assert_refused("x = \"\\400\";", "ward.cu:1:5: error SLR-K007");
    assert_refused("x = \"\\x1ff\";", "ward.cu:1:5: error SLR-K007");
}

static void bad_text_is_refused_where_it_stands(void **state)
{
    (void)state;
    assert_refused("a\n  @b", "ward.cu:2:3: error SLR-K001: no token starts with '@'");
    assert_refused("a \xC3\xA9 b", "ward.cu:1:3: error SLR-K001: no token starts with the byte 0xC3");
    assert_refused("a /* b", "ward.cu:1:3: error SLR-K004");
    assert_refused("a \"b\nc", "ward.cu:1:3: error SLR-K005");
    assert_refused("a 'b", "ward.cu:1:3: error SLR-K005");
}

static void equal_spellings_are_one_text(void **state)
{
    (void)state;
    struct front_run run = run_text("beat + be\\\nat");
    assert_ptr_equal(run.front.token[0].text, run.front.token[2].text);
    assert_int_equal(run.front.token[2].where.column, 8);
    assert_int_equal(run.front.token[0].length, 4);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longest_punctuator_wins),
        cmocka_unit_test(comments_and_splices_separate_or_join),
        cmocka_unit_test(integers_have_value_and_suffix),
        cmocka_unit_test(floats_are_rounded_once),
        cmocka_unit_test(characters_and_strings_resolve_escapes),
        cmocka_unit_test(bad_literals_are_refused),
        cmocka_unit_test(bad_text_is_refused_where_it_stands),
        cmocka_unit_test(equal_spellings_are_one_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
