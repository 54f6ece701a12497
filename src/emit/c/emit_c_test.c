// SPDX-License-Identifier: Apache-2.0
// The emitted text. What it does when it runs is tested where there is a compiler: hal/cpu/emitted_test.c.
#include "emit/c/emit_c.h"
#include "ir/ir_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// The text behind the prelude: from the first function on. The caller frees `text`.
static const char *emitted(struct build *b, slri_text *text)
{
    *text = (slri_text)SLRI_TEXT_INIT;
    assert_null(slri_module_verify(b->module));
    assert_int_equal(slri_emit_c(b->module, text), SLR_OK);
    const char *found = strstr(text->data, "static inline uint32_t slrf_");
    return found ? found : strstr(text->data, "static inline void slrf_");
}

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static void statements_carry_the_users_lines_and_names(void **state)
{
    struct build b;
    slri_text text;
    (void)state;
    build_open(&b, "a \"b\"\\c??.cu");
    build_entry(&b, "f", 64, 0);
    b.line = 10;
    slri_reg gain = build_reg(&b, SLRI_F32, "gain");
    build_to(&b, gain, SLRI_OP_MOVE, SLRI_F32, build_f32(&b, 1.5f), SLRI_NO_REG);
    b.line = 11;
    build_store_at(&b, SLRI_F32, build_state, 8, gain);
    b.line = 30;
    build_store_at(&b, SLRI_F32, build_state, 12, gain);
    const char *body = emitted(&b, &text);
    expect_text(body, "#line 10 \"a \\042b\\042\\134c\\077\\077.cu\"\n"
                      "    gain_0 = (0x1.800000p0f);\n"
                      "    slri_store_F32(state + 8ll, gain_0);\n"
                      "#line 30 ");
    slri_text_free(&text);
    build_close(&b);
}

// The file is temporary: no line of it may come to a profiler or a compiler's message by the file's own name. A
// debugger's stays, and is named.
static void no_code_has_a_place_in_the_temporary_file_unless_it_is_kept_for_a_debugger(void **state)
{
    static const char include[] = "#include <stdint.h>\n", place[] = "#line 1 \"slipring: helpers\"\n";
    (void)state;
    for (int debug = 0; debug < 2; debug++) {
        struct build b;
        slri_text text;
        build_open(&b, "a.cu");
        build_entry(&b, "f", 64, 0);
        b.module->debug = debug != 0;
        (void)emitted(&b, &text);
        assert_memory_equal(text.data, include, strlen(include));
        assert_int_equal(strncmp(text.data + strlen(include), place, strlen(place)) == 0, !debug);
        slri_text_free(&text);
        build_close(&b);
    }
}

// The key of a handler that stores `value`, at a line of a file.
static void key_of(const char *file, uint32_t line, float value, char key[SLRI_HASH_HEX_BYTES])
{
    struct build b;
    slri_text text;
    char named[80];
    build_open(&b, file);
    build_entry(&b, "f", 64, 0);
    b.line = line;
    build_store_at(&b, SLRI_F32, build_state, 8, build_f32(&b, value));
    (void)emitted(&b, &text);
    slri_emit_c_key(&text, key);
    assert_int_equal(slri_emit_c_link(b.module, NULL, &text), SLR_OK);
    snprintf(named, sizeof named, "#define slre_f slre_f_%s\n#include", key);
    assert_memory_equal(text.data, named, strlen(named));
    slri_text_free(&text);
    build_close(&b);
}

static void a_linked_texts_key_is_its_own_wherever_its_source_lies(void **state)
{
    char here[SLRI_HASH_HEX_BYTES], elsewhere[SLRI_HASH_HEX_BYTES], other[SLRI_HASH_HEX_BYTES];
    (void)state;
    key_of("user.cu", 10, 1.5f, here);
    key_of("folder/other.cu", 10, 1.5f, elsewhere);
    key_of("user.cu", 10, 2.5f, other);
    assert_string_equal(here, elsewhere);
    assert_string_not_equal(here, other);
}

static void a_function_that_cannot_fault_returns_its_value(void **state)
{
    struct build b;
    slri_text text;
    (void)state;
    build_open(&b, "user.cu");
    build_function(&b, "twice", SLRI_I32);
    slri_reg x = build_param(&b, SLRI_I32, "x", 0);
    build_to(&b, SLRI_NO_REG, SLRI_OP_RETURN, SLRI_VOID, build_op(&b, SLRI_OP_ADD, SLRI_I32, x, x), SLRI_NO_REG);
    build_entry(&b, "f", 8, 0);
    emitted(&b, &text);
    expect_text(text.data, "static inline int32_t slrf_twice(");
    expect_text(text.data, "static inline void slrf_f(");
    slri_text_free(&text);
    build_close(&b);
}

// for (i = 0; i < 36; i++) INDEX(i, extent)
static const char *indexing_loop(struct build *b, slri_text *text, bool with_return)
{
    build_open(b, "user.cu");
    build_entry(b, "f", 8, 0);
    slri_reg i = build_reg(b, SLRI_I64, "i"), zero = build_i64(b, 0), end = build_i64(b, 36);
    struct slri_block *outer = build_for(b, i, zero, SLRI_OP_LT, end, 1);
    if (with_return)
        build_append(b, SLRI_OP_RETURN, SLRI_VOID);
    else
        build_store_at(b, SLRI_I64, build_state, 0, i);
    b->block = outer;
    return emitted(b, text);
}

static void only_a_counted_loop_pays_its_fuel_at_once(void **state)
{
    struct build b;
    slri_text text;
    (void)state;
    const char *body = indexing_loop(&b, &text, false);
    expect_text(body, "slri_trips_up_I64(i_0, 36ll, 1, 0)");
    assert_null(strstr(body, "fuel--"));
    slri_text_free(&text);
    build_close(&b);
    body = indexing_loop(&b, &text, true);
    expect_text(body, "fuel--");
    assert_null(strstr(body, "slri_trips"));
    slri_text_free(&text);
    build_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_code_has_a_place_in_the_temporary_file_unless_it_is_kept_for_a_debugger),
        cmocka_unit_test(statements_carry_the_users_lines_and_names),
        cmocka_unit_test(a_linked_texts_key_is_its_own_wherever_its_source_lies),
        cmocka_unit_test(a_function_that_cannot_fault_returns_its_value),
        cmocka_unit_test(only_a_counted_loop_pays_its_fuel_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
