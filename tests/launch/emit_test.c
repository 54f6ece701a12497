// SPDX-License-Identifier: Apache-2.0
// slr_program_emit as its callers see it.
#include <slipring/emit.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static slr_device *device;
static slr_program *program;

static const char source[] = "__global__ void first(int *p) { p[threadIdx.x] = 1; }\n"
                             "__global__ void __launch_bounds__(32) second(int *p) { p[threadIdx.x] = 2; }\n"
                             "struct message { int value; };\n"
                             "__ring__ void third(const struct message *in) { ring_reply(&in->value); }\n"
                             "__ring_block__ void fourth(const struct message *in) { __syncthreads(); }\n";

static int set_up(void **state)
{
    (void)state;
    return slr_device_open("cpu?engine=interpreted", NULL, &device) == SLR_OK &&
                   slr_program_from_text(device, "two.cu", source, NULL, &program) == SLR_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    slr_program_destroy(program);
    slr_device_close(device);
    return 0;
}

static slr_emit_desc desc_of(slr_language language, const char *name)
{
    slr_emit_desc desc = SLR_EMIT_DESC_INIT;
    desc.language = language;
    desc.name = name;
    return desc;
}

static void the_text_is_written_where_it_fits(void **state)
{
    (void)state;
    slr_emit_desc desc = desc_of(SLR_LANGUAGE_CUDA, "second");
    size_t needed = 0, again = 0;
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_OK);
    char *text = calloc(needed + 1, 1);
    text[needed - 2] = '!';
    assert_int_equal(slr_program_emit(program, &desc, text, needed - 1, &again), SLR_OK);
    assert_int_equal(again, needed);
    assert_int_equal(text[0], 0); // it does not fit: nothing of it is there
    assert_int_equal(slr_program_emit(program, &desc, text, needed, &again), SLR_OK);
    assert_int_equal(strlen(text) + 1, needed);
    assert_non_null(strstr(text, "__launch_bounds__(32) second(int *p)"));
    free(text);
}

static void c_is_for_one_kernel_and_a_block_that_it_allows(void **state)
{
    (void)state;
    size_t needed;
    slr_emit_desc desc = desc_of(SLR_LANGUAGE_C, "second");
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_OK);
    desc.block[0] = 64;
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_INVALID);
    desc = desc_of(SLR_LANGUAGE_C, NULL);
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "needs the name"));
}

static void spirv_is_one_kernel_as_assembly_or_words(void **state)
{
    (void)state;
    static uint32_t words[1 << 14];
    size_t needed, bytes;
    slr_emit_desc desc = desc_of(SLR_LANGUAGE_SPIRV, "second");
    assert_int_equal(slr_program_emit(program, &desc, (char *)words, sizeof words, &needed), SLR_OK);
    assert_int_equal(strlen((const char *)words) + 1, needed);
    assert_non_null(strstr((const char *)words, "\"second\""));
    desc.binary = 1;
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &bytes), SLR_OK);
    assert_int_equal(slr_program_emit(program, &desc, (char *)words, bytes, &needed), SLR_OK);
    assert_int_equal(needed, bytes);
    assert_int_equal(bytes % 4, 0);
    assert_int_equal(words[0], 0x07230203);
    desc.name = "third";
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_UNSUPPORTED);
    desc.batched = 1;
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_OK);
    desc = desc_of(SLR_LANGUAGE_SPIRV, NULL);
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "needs the name"));
    desc = desc_of(SLR_LANGUAGE_CUDA, "second");
    desc.binary = 1;
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "SLR_LANGUAGE_SPIRV"));
}

static void wrong_arguments_are_named(void **state)
{
    (void)state;
    size_t needed;
    slr_emit_desc desc = desc_of((slr_language)99, NULL);
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "99"));
    desc = desc_of(SLR_LANGUAGE_CUDA, "fifth");
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "'fifth'"));
    desc.struct_size = 3;
    assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), SLR_INVALID);
    assert_int_equal(slr_program_emit(NULL, &desc, NULL, 0, &needed), SLR_INVALID);
    assert_int_equal(slr_program_emit(program, &desc, NULL, 5, &needed), SLR_INVALID);
}

static void a_handler_becomes_the_kernel_of_its_batched_launches(void **state)
{
    (void)state;
    static const struct {
        slr_language language;
        const char *words;
    } list[] = {
        {SLR_LANGUAGE_C, "slrk_blocks"},          {SLR_LANGUAGE_CUDA, "__global__ void __launch_bounds__(32) third("},
        {SLR_LANGUAGE_HIP, "#define SLRI_HIP 1"}, {SLR_LANGUAGE_OPENCL, "slrk_third("},
        {SLR_LANGUAGE_WGSL, "fn slrk_third("},    {SLR_LANGUAGE_MSL, "void slrk_third(constant "}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        slr_emit_desc desc = desc_of(list[i].language, "third");
        static char text[1 << 20];
        size_t needed = 0;
        desc.batched = 1;
        assert_int_equal(slr_program_emit(program, &desc, text, sizeof text, &needed), SLR_OK);
        assert_true(needed <= sizeof text);
        assert_non_null(strstr(text, list[i].words));
        assert_null(strstr(text, "slre_third"));
        desc.batched = 0;
        const int takes_kernels = list[i].language == SLR_LANGUAGE_WGSL || list[i].language == SLR_LANGUAGE_MSL;
        desc.name = list[i].language == SLR_LANGUAGE_C || takes_kernels ? "first" : "third";
        assert_int_equal(slr_program_emit(program, &desc, text, sizeof text, &needed), SLR_OK);
        assert_null(strstr(text, strcmp(desc.name, "first") == 0 ? "third" : "slri_chains"));
    }
}

static void batched_is_for_a_handler_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        slr_status status;
    } list[] = {{NULL, SLR_INVALID}, {"first", SLR_UNSUPPORTED}, {"fifth", SLR_NOT_FOUND}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        slr_emit_desc desc = desc_of(SLR_LANGUAGE_CUDA, list[i].name);
        size_t needed = 0;
        desc.batched = 1;
        assert_int_equal(slr_program_emit(program, &desc, NULL, 0, &needed), list[i].status);
        assert_int_equal(needed, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_becomes_the_kernel_of_its_batched_launches),
        cmocka_unit_test(batched_is_for_a_handler_alone),
        cmocka_unit_test(the_text_is_written_where_it_fits),
        cmocka_unit_test(c_is_for_one_kernel_and_a_block_that_it_allows),
        cmocka_unit_test(spirv_is_one_kernel_as_assembly_or_words),
        cmocka_unit_test(wrong_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
