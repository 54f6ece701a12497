// SPDX-License-Identifier: Apache-2.0
// Programs of CUDA C++ that slipring does not read, on a driver that is simulated: its compiler reads of C++ what is in
// the subset too.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

static const char source[] = "extern \"C\" __global__ void add(int *p, int n)\n"
                             "{\n"
                             "    __shared__ int s[8];\n"
                             "    s[threadIdx.x] = n;\n"
                             "    p[threadIdx.x] += s[threadIdx.x];\n"
                             "}\n";

static slr_program_desc raw(void)
{
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.raw = SLR_RAW_CUDA;
    return desc;
}

static slr_device *open_small(void)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    slr_device *device = NULL;
    desc.max_memory_bytes = 4096;
    must(slr_device_open("cuda:0", &desc, &device));
    return device;
}

static void add_three(slr_device *device, slr_program *program)
{
    int words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    must(slr_program_get_kernel(program, "add", &kernel));
    must(slr_stream_default(device, &stream));
    must(slr_buffer_create(device, sizeof words, &buffer));
    must(slr_buffer_write(buffer, 0, words, sizeof words));
    slr_shape shape = SLR_GRID(1, 8, 4096); // dynamic shared memory is the source's business
    must(SLR_LAUNCH(stream, kernel, shape, buffer, 3));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(buffer, 0, words, sizeof words));
    for (int i = 0; i < 8; ++i)
        assert_int_equal(words[i], i + 4);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
}

static void raw_program_is_launched_with_what_its_source_or_table_says(void **state)
{
    (void)state;
    reset();
    slr_device *device = open_small();
    for (int by_table = 0; by_table < 2; ++by_table) {
        slr_program_desc desc = raw();
        slr_program *program;
        slr_function_info info;
        desc.raw_table = by_table ? "__global__ void add(int *words, int n);" : NULL;
        must(slr_program_from_text(device, "add.cu", source, &desc, &program));
        must(slr_program_get_function(program, 0, &info));
        assert_string_equal(info.parameters[0].name, by_table ? "words" : "p");
        add_three(device, program);
        slr_program_destroy(program);
    }
    slr_device_close(device);
    nothing_is_left("raw");
}

static void what_reads_code_refuses_a_raw_program(void **state)
{
    (void)state;
    reset();
    slr_program_desc desc = raw();
    slr_device *device = open_small(), *cpu = open_device("cpu");
    slr_program *program;
    slr_explanation what;
    slr_emit_desc emit = SLR_EMIT_DESC_INIT;
    slr_kernel *kernel;
    slr_check *check;
    size_t needed;
    refuses(slr_program_from_text(cpu, "add.cu", source, &desc, &program), UNSUPPORTED,
            "'add.cu' is CUDA C++, which device 'cpu' cannot run; use cuda");
    must(slr_program_from_text(device, "add.cu", source, &desc, &program));
    refuses(slr_program_explain(program, "add", &what), UNSUPPORTED, "raw source, which slipring does not read");
    emit.language = SLR_LANGUAGE_CUDA;
    refuses(slr_program_emit(program, &emit, NULL, 0, &needed), UNSUPPORTED,
            "raw source, which slipring does not read");
    must(slr_program_get_kernel(program, "add", &kernel));
    refuses(slr_kernel_check(kernel, NULL, &check), UNSUPPORTED, "raw source, which slipring does not read");
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    desc.raw = 3;
    refuses(slr_program_from_text(device, "add.cu", source, &desc, &program), INVALID, "raw is 3");
    desc.raw = 0;
    desc.raw_table = "";
    refuses(slr_program_from_text(device, "add.cu", source, &desc, &program), INVALID, "0 without raw_table");
    slr_device_close(device);
    slr_device_close(cpu);
    nothing_is_left("refused");
}

static void what_includes_others_is_compiled_each_time(void **state)
{
    (void)state;
    char folder[] = "/tmp/slipring-raw-XXXXXX", before[512], command[64], including[400];
    assert_non_null(mkdtemp(folder));
    snprintf(before, sizeof before, "%s", getenv("SLIPRING_CACHE_DIR"));
    setenv("SLIPRING_CACHE_DIR", folder, 1);
    snprintf(including, sizeof including, "// may include others\n%s", source);
    for (int i = 0; i < 4; ++i) {
        reset();
        slr_program_desc desc = raw();
        slr_device *device = open_small();
        slr_program *program;
        must(slr_program_from_text(device, "add.cu", i < 2 ? source : including, &desc, &program));
        add_three(device, program);
        assert_int_equal(fake->compilations, i != 1);
        slr_program_destroy(program);
        slr_device_close(device);
        nothing_is_left("includes");
    }
    setenv("SLIPRING_CACHE_DIR", before, 1);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_program_is_launched_with_what_its_source_or_table_says),
        cmocka_unit_test(what_reads_code_refuses_a_raw_program),
        cmocka_unit_test(what_includes_others_is_compiled_each_time),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
