// SPDX-License-Identifier: Apache-2.0
#include "lang/text/front_test.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

// ---- macros --------------------------------------------------------------------------------------------------------

static void object_macros_are_rescanned_but_not_in_themselves(void **state)
{
    (void)state;
    assert_becomes("#define A B\n#define B 1\nA", "1");
    assert_becomes("#define A B\n#define B A\nA B", "A B");
    assert_becomes("#define x x + 1\nx", "x + 1");
    assert_becomes("#define A\n[A]", "[ ]");
    assert_becomes("#define A 1\n#undef A\nA", "A");
    assert_becomes("#define A 1 + 2\n#define A 1 + 2\nA", "1 + 2");
}

static void function_macros_take_arguments(void **state)
{
    (void)state;
    assert_becomes("#define MAX(a, b) ((a) > (b) ? (a) : (b))\nMAX(x, f(1, 2))",
                   "( ( x ) > ( f ( 1 , 2 ) ) ? ( x ) : ( f ( 1 , 2 ) ) )");
    assert_becomes("#define F() 1\nF() F", "1 F");
    assert_becomes("#define F(a) [a]\nF() F(\n1\n)", "[ ] [ 1 ]");
    assert_becomes("#define F (1)\nF", "( 1 )");
    assert_becomes("#define F(a) a + 1\nF(F(F(x)))", "x + 1 + 1 + 1");
    // C leaves this one open; common compilers expand f again, because its call closes outside of the first one.
    assert_becomes("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2 * 9 * g");
}

static void variadic_macros_pass_the_rest_on(void **state)
{
    (void)state;
    assert_becomes("#define F(a, ...) g(a, __VA_ARGS__)\nF(1, 2, 3)", "g ( 1 , 2 , 3 )");
    assert_becomes("#define F(...) g(__VA_ARGS__)\nF() F(1, 2)", "g ( ) g ( 1 , 2 )");
    assert_becomes("#define F(a, ...) g(a, ## __VA_ARGS__)\nF(1) F(1, 2)", "g ( 1 ) g ( 1 , 2 )");
}

static void stringize_and_paste(void **state)
{
    (void)state;
    assert_becomes("#define S(x) #x\nS( a  + \"b\\n\" )", "\"a + \"b\\n\"\"");
    assert_becomes("#define S(x) #x\nS(a\nb)", "\"a b\"");
    assert_becomes("#define P(a, b) a ## b\nP(x, 1) P(, y) P(z, ) P(<, <=) P(1, e3)", "x1 y z <<= 1e3");
    assert_becomes("#define A 1\n#define P(a, b) a##b\n#define Q(a, b) P(a, b)\nP(A, A) Q(A, A)", "AA 11");
    assert_becomes("#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
                   "#define join(c, d) in_between(c hash_hash d)\nf(join(x, y));",
                   "f ( \"x ## y\" ) ;");
    assert_becomes("#define t(x, y, z) x ## y ## z\nt(1,2,3) t(,4,5) t(6,,7) t(8,9,) t(10,,) t(,11,) t(,,12) t(,,)",
                   "123 45 67 89 10 11 12");
}

// The example of C11 6.10.3.5, whose results the standard gives.
static void standards_example_expands_as_it_says(void **state)
{
    (void)state;
    assert_becomes("#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n"
                   "#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n"
                   "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);",
                   "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; "
                   "f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;");
}

static void bad_macros_are_refused(void **state)
{
    (void)state;
    assert_refused("#define F(a, b) a\nF(1)", "ward.cu:2:1: error SLR-K016: macro 'F' takes 2 arguments, 1 given");
    assert_refused("#define F(a) a\nF(1, 2)", "ward.cu:2:1: error SLR-K016");
    assert_refused("#define F(a) a\nF(1", "ward.cu:2:1: error SLR-K016");
    assert_refused("#define F(a) a\nF(1\n#define X\n)", "ward.cu:2:1: error SLR-K016: the arguments of macro 'F' hold");
    assert_refused("#define A 1\n#define A 2\n", "ward.cu:2:9: error SLR-K017");
    assert_refused("#define A(x) x\n#define A(y) y\n", "ward.cu:2:9: error SLR-K017");
    assert_refused("#define 1", "ward.cu:1:9: error SLR-K018");
    assert_refused("#define", "ward.cu:1:2: error SLR-K018");
    assert_refused("#define F(a, a) a", "ward.cu:1:14: error SLR-K018");
    assert_refused("#define F(a", "ward.cu:1:11: error SLR-K018");
    assert_refused("#define F(a) #b", "ward.cu:1:14: error SLR-K018");
    assert_refused("#define A x ##", "ward.cu:1:13: error SLR-K018");
    assert_refused("#define defined 1", "ward.cu:1:9: error SLR-K018");
    assert_refused("#undef __LINE__", "ward.cu:1:8: error SLR-K018");
    assert_refused("#define P(a, b) a##b\nP(+, /)", "ward.cu:2:1: error SLR-K019: '+' and '/' make no token");
    assert_refused("#define P(a, b) a##b\nP(/, *)", "ward.cu:2:1: error SLR-K019");
}

// ---- conditions ----------------------------------------------------------------------------------------------------

static void groups_follow_their_conditions(void **state)
{
    (void)state;
    assert_becomes("#if 0\na don't @\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif\ne", "b e");
    assert_becomes("#ifdef X\na\n#else\nb\n#endif\n#define X\n#ifdef X\nc\n#endif\n#ifndef X\nd\n#endif", "b c");
    assert_becomes("#if 0\n#if 1\na\n#else\nb\n#endif\n#else\nc\n#endif", "c");
    assert_becomes("#if defined __SLIPRING__ && !defined(__CUDACC__)\nours\n#endif", "ours");
    assert_becomes("#if __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900\nampere\n#endif\n__CUDA_ARCH__", "ampere 800");
    assert_becomes("#define E(x) x > 2\n#if E(3)\na\n#endif", "a");
    assert_becomes("#if 1\n#elif 1 / 0\n#endif\na", "a");
}

static void condition_is_true(const char *condition, bool expected)
{
    char text[300];
    snprintf(text, sizeof text, "#if %s\nyes\n#else\nno\n#endif\n", condition);
    assert_becomes(text, expected ? "yes" : "no");
}

static void conditions_compute_in_64_bits(void **state)
{
    (void)state;
    condition_is_true("1 + 2 * 3 == 7 && (1 + 2) * 3 == 9", true);
    condition_is_true("-1 > 0u", true); // becomes unsigned
    condition_is_true("-1 > 0", false);
    condition_is_true("0x7fffffffffffffff + 1 < 0", true);
    condition_is_true("0x8000000000000000 > 0", true);
    condition_is_true("-8 >> 1 == -4 && 1 << 40 == 0x10000000000", true);
    condition_is_true("(2 || 1 / 0) && !(0 && 1 % 0)", true);
    condition_is_true("1 ? 2 : 1 / 0", true);
    condition_is_true("'A' == 65 && ~0 == -1 && +1", true);
    condition_is_true("unknown == 0", true);
    condition_is_true("(-0x7fffffffffffffff - 1) / -1 < 0", true);
    condition_is_true("10 - 3 - 2 == 5 && 7 % 4 == 3 && (6 ^ 3) == 5 && (6 & 3 | 8) == 10", true);
    condition_is_true("1 != 2 && 1 <= 1 && 2 >= 3", false);
    condition_is_true("(1 ? -1 : 0u) > 0", true);
}

static void bad_conditions_are_refused(void **state)
{
    (void)state;
    assert_refused("#if 1 / 0\n#endif", "ward.cu:1:7: error SLR-K013: division by zero");
    assert_refused("#if\n#endif", "ward.cu:1:1: error SLR-K013");
    assert_refused("#if (1\n#endif", "ward.cu:1:1: error SLR-K013: ')' is missing");
    assert_refused("#if 1 2\n#endif", "ward.cu:1:7: error SLR-K013");
    assert_refused("#if 1.5\n#endif", "ward.cu:1:5: error SLR-K013");
    assert_refused("#if defined\n#endif", "ward.cu:1:5: error SLR-K013");
    assert_refused("#if A = 1\n#endif", "ward.cu:1:7: error SLR-K013");
    assert_refused("#ifdef\n#endif", "ward.cu:1:2: error SLR-K013");
    assert_refused("a\n#if 1\nb", "ward.cu:2:1: error SLR-K011");
    assert_refused("#if 0\nb", "ward.cu:1:1: error SLR-K011");
    assert_refused("#endif", "ward.cu:1:1: error SLR-K012");
    assert_refused("#if 1\n#else\n#else\n#endif", "ward.cu:3:1: error SLR-K012");
}

static void other_directives(void **state)
{
    (void)state;
    assert_becomes("#pragma unroll 4\n#line 7 \"x\"\n#warning don't\n#\n# 3 \"y\"\na", "a");
    assert_becomes("#define UNROLL _Pragma(\"unroll\")\nUNROLL for", "for");
    assert_becomes("#define HASH #\nHASH define A", "# define A");
    assert_refused("#error only  for \"wards\"", "ward.cu:1:1: error SLR-K020: #error only for \"wards\"");
    assert_refused("#embed <x>", "ward.cu:1:2: error SLR-K010: unknown directive '#embed'");
}

// ---- places --------------------------------------------------------------------------------------------------------

static void products_of_a_macro_stand_where_it_was_used(void **state)
{
    (void)state;
    struct front_run run =
        run_text("#define INNER(x) (x)\n#define OUTER(x) INNER(x) +\n  OUTER(abc) __LINE__ __FILE__");
    static const struct {
        const char *text, *macro;
        uint32_t column;
    } expected[] = {{"(", "OUTER", 3}, {"abc", NULL, 9},      {")", "OUTER", 3},
                    {"+", "OUTER", 3}, {"3", "__LINE__", 14}, {"ward.cu", "__FILE__", 23}};
    assert_int_equal(run.front.tokens, 7);
    for (uint32_t i = 0; i < 6; i++) {
        assert_string_equal(run.front.token[i].text, expected[i].text);
        assert_int_equal(run.front.token[i].where.line, 3);
        assert_int_equal(run.front.token[i].where.column, expected[i].column);
        assert_string_equal(run.front.token[i].macro ? run.front.token[i].macro : "",
                            expected[i].macro ? expected[i].macro : "");
    }
    run_end(&run);
}

static void several_errors_are_reported_in_one_run(void **state)
{
    (void)state;
    struct front_run run = run_text("@\n#endif\nx = 08;\n");
    assert_int_equal(slri_report_errors(&run.front), 3);
    assert_string_equal(slri_text_view(&run.spelled), "x = 08 ;");
    run_end(&run);
}

// ---- files ---------------------------------------------------------------------------------------------------------

struct folder {
    char *path;
    char file[8][600];
    unsigned files;
};

static struct folder make_folder(void)
{
    struct folder folder = {0};
#ifdef _WIN32
    const char *parent = getenv("TEMP");
#else
    const char *parent = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
#endif
    assert_int_equal(slri_file_temporary_name(parent, ".kernel", &folder.path), SLR_OK);
    slri_folder *made;
    assert_int_equal(slri_folder_open(folder.path, &made), SLR_OK);
    slri_folder_close(made);
    return folder;
}

static const char *add_file(struct folder *folder, const char *name, const char *text)
{
    char *path = folder->file[folder->files++];
    snprintf(path, sizeof folder->file[0], "%s/%s", folder->path, name);
    assert_int_equal(slri_file_write_atomic(path, text, strlen(text)), SLR_OK);
    return path;
}

static void remove_folder(struct folder *folder)
{
    while (folder->files)
        assert_int_equal(slri_file_remove(folder->file[--folder->files]), SLR_OK);
    assert_int_equal(rmdir(folder->path), 0);
    free(folder->path);
}

static void includes_are_found_beside_and_in_folders(void **state)
{
    (void)state;
    struct folder here = make_folder(), there = make_folder();
    const char *const includes[] = {there.path};
    struct slri_source source = {.includes = 1, .include = includes};
    source.path = add_file(&here, "main.cu",
                           "#include \"a.h\"\n#include <b.h>\n#define N <b.h>\n#include N\n#include \"a.h\"\nmain");
    add_file(&here, "a.h", "#pragma once\na");
    add_file(&there, "b.h", "b __LINE__");
    struct front_run run = run_source(&source);
    assert_int_equal(slri_report_errors(&run.front), 0);
    assert_string_equal(slri_text_view(&run.spelled), "a b 1 b 1 main");
    assert_string_equal(run.front.file[0], source.path);
    run_end(&run);
    remove_folder(&here);
    remove_folder(&there);
}

static void error_in_an_included_file_says_from_where(void **state)
{
    (void)state;
    struct folder folder = make_folder();
    struct slri_source source = {.path = add_file(&folder, "main.cu", "\n#include \"a.h\"\n@\n")};
    add_file(&folder, "a.h", "#include \"b.h\"\n");
    add_file(&folder, "b.h", "x = 08;\n");
    struct front_run run = run_source(&source);
    slri_report_error(&run.front, (struct slri_where){0, 1, 1}, SLRI_K_UNKNOWN_NAME, "earliest");
    slri_report_fail(&run.front);
    char expected[1400];
    snprintf(expected, sizeof expected, "note: included from %s:1\nnote: included from %s:2\n", folder.file[1],
             source.path);
    const char *message = slr_error_message(), *earliest = strstr(message, "earliest"),
               *note = strstr(message, expected);
    assert_non_null(earliest);
    assert_non_null(note);
    assert_true(earliest < note && note < strstr(message, "SLR-K001")); // where the #include stands
    run_end(&run);
    remove_folder(&folder);
}

static void includes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    assert_refused("#include \"none.h\"", "ward.cu:1:1: error SLR-K014: there is no file 'none.h'");
    assert_refused("#include <nothing.h>", "ward.cu:1:1: error SLR-K014");
    assert_refused("#include", "ward.cu:1:1: error SLR-K023");
    assert_refused("#include <a", "ward.cu:1:1: error SLR-K023");
    assert_refused("#include \"a\" b", "ward.cu:1:1: error SLR-K023");
    assert_refused("#include \"/\"", "ward.cu:1:1: error SLR-K024: / is a folder, not a file");
    struct folder folder = make_folder();
    struct slri_source source = {.path = add_file(&folder, "main.cu", "#include \"main.cu\"\n")};
    struct front_run run = run_source(&source);
    slri_report_fail(&run.front);
    assert_non_null(strstr(slr_error_message(), "SLR-K015"));
    run_end(&run);
    remove_folder(&folder);
}

static void builtin_headers_need_no_file(void **state)
{
    (void)state;
    assert_becomes("#include <slipring/ring_slice.h>\n#include <slipring/ring_slice.h>\n",
                   "struct ring_slice { unsigned long long offset , bytes ; unsigned owner , turn ; } ;");
    assert_becomes("#include <slipring/device.h>\n#include <stdbool.h>\n#include <stdbool.h>\nbool x = true;",
                   "_Bool x = 1 ;");
    assert_becomes("#include <limits.h>\n#include <stdint.h>\n#if INT_MAX == INT32_MAX && UINT64_MAX > 0\na\n#endif",
                   "a");
    struct front_run run = run_text("#include <math.h>\n#include <float.h>\nINFINITY NAN FLT_MAX DBL_MAX");
    assert_int_equal(slri_report_errors(&run.front), 0);
    assert_true(isinf(run.front.token[0].value.f64) && run.front.token[0].is_float);
    assert_true(isnan(run.front.token[1].value.f64));
    assert_true(run.front.token[2].value.f64 == 3.40282346638528859811704183484516925440e+38);
    assert_true(isfinite(run.front.token[3].value.f64));
    run_end(&run);
}

static void missing_source_is_a_status(void **state)
{
    (void)state;
    struct slri_source source = {.path = "/nonexistent/ward.cu"};
    struct slri_front front = {.region = slri_region_create(), .source = &source};
    front.report = slri_report_create(front.region);
    assert_int_equal(slri_preprocess(&front), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "/nonexistent/ward.cu"));
    slri_region_destroy(front.region);
}

// ---- defines, hash, limits -----------------------------------------------------------------------------------------

static void defines_come_before_the_source_and_into_the_hash(void **state)
{
    (void)state;
    static const char *const define[] = {"TAPS=3", "FAST", "SQUARE(x)=(x)*(x)"}, *const other[] = {"TAPS=4"};
    struct slri_source source = {.path = "ward.cu", .text = "TAPS FAST SQUARE(2)", .define = define, .defines = 3};
    struct front_run run = run_source(&source), again = run_source(&source);
    assert_string_equal(slri_text_view(&run.spelled), "3 1 ( 2 ) * ( 2 )");
    assert_memory_equal(run.front.source_hash, again.front.source_hash, 16);
    source.define = other;
    source.defines = 1;
    struct front_run different = run_source(&source);
    assert_memory_not_equal(run.front.source_hash, different.front.source_hash, 16);
    source.text = "TAPS FAST SQUARE(3)";
    struct front_run edited = run_source(&source);
    assert_memory_not_equal(edited.front.source_hash, different.front.source_hash, 16);
    run_end(&run);
    run_end(&again);
    run_end(&different);
    run_end(&edited);
    static const char *const bad[] = {"1=2"};
    source.define = bad;
    struct front_run refused = run_source(&source);
    slri_report_fail(&refused.front);
    assert_non_null(strstr(slr_error_message(), "<defines>:4:9: error SLR-K018"));
    run_end(&refused);
}

static void bombs_end_with_a_diagnostic(void **state)
{
    (void)state;
    slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, "#define A0 x x\n");
    for (int i = 1; i < 40; i++)
        slri_text_printf(&text, "#define A%d A%d A%d\n", i, i - 1, i - 1);
    slri_text_puts(&text, "A39\n");
    assert_refused(slri_text_view(&text), "ward.cu:41:1: error SLR-K021");
    slri_text_clear(&text);
    slri_text_puts(&text, "#define F(a) a\n");
    for (int i = 0; i < 1000; i++)
        slri_text_puts(&text, "F(");
    for (int i = 0; i < 1000; i++)
        slri_text_puts(&text, ")");
    assert_refused(slri_text_view(&text), "ward.cu:2:");
    slri_text_clear(&text);
    for (int i = 0; i < 3000; i++)
        slri_text_printf(&text, "#define A%d A%d\n", i, i + 1);
    slri_text_puts(&text, "A0\n");
    assert_refused(slri_text_view(&text), "ward.cu:3001:1: error SLR-K022");
    slri_text_clear(&text);
    slri_text_puts(&text, "#if ");
    for (int i = 0; i < 100000; i++)
        slri_text_puts(&text, "(");
    assert_refused(slri_text_view(&text), "ward.cu:1:");
    slri_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(object_macros_are_rescanned_but_not_in_themselves),
        cmocka_unit_test(function_macros_take_arguments),
        cmocka_unit_test(variadic_macros_pass_the_rest_on),
        cmocka_unit_test(stringize_and_paste),
        cmocka_unit_test(standards_example_expands_as_it_says),
        cmocka_unit_test(bad_macros_are_refused),
        cmocka_unit_test(groups_follow_their_conditions),
        cmocka_unit_test(conditions_compute_in_64_bits),
        cmocka_unit_test(bad_conditions_are_refused),
        cmocka_unit_test(other_directives),
        cmocka_unit_test(products_of_a_macro_stand_where_it_was_used),
        cmocka_unit_test(several_errors_are_reported_in_one_run),
        cmocka_unit_test(includes_are_found_beside_and_in_folders),
        cmocka_unit_test(error_in_an_included_file_says_from_where),
        cmocka_unit_test(includes_that_cannot_be_are_refused),
        cmocka_unit_test(builtin_headers_need_no_file),
        cmocka_unit_test(missing_source_is_a_status),
        cmocka_unit_test(defines_come_before_the_source_and_into_the_hash),
        cmocka_unit_test(bombs_end_with_a_diagnostic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
