// SPDX-License-Identifier: Apache-2.0
// What dtype and shape are for: printing, and refusing a buffer whose elements are of another kind than a parameter's.
#include "device/device_test.h"

#include <float.h>
#include <locale.h>
#include <math.h>

static slr_buffer *buffer_of(slr_device *device, slr_scalar dtype, uint32_t rank, const uint64_t *shape,
                             const void *contents)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_buffer *buffer;
    desc.dtype = dtype;
    desc.rank = rank;
    for (uint32_t i = 0; i < rank; ++i)
        desc.shape[i] = shape[i];
    must(slr_buffer_create_with(device, &desc, &buffer));
    must(slr_buffer_write(buffer, 0, contents, slr_buffer_size(buffer)));
    return buffer;
}

static void prints(slr_buffer *buffer, const slr_print_desc *desc, const char *want)
{
    char text[4096], part[6];
    size_t length;
    must(slr_buffer_format(buffer, desc, text, sizeof text, &length));
    assert_string_equal(text, want);
    assert_int_equal(length, strlen(want));
    must(slr_buffer_format(buffer, desc, part, sizeof part, &length)); // cut
    assert_int_equal(length, strlen(want));
    assert_int_equal(strncmp(part, want, 5), 0);
    assert_int_equal(strlen(part), length < 5 ? length : 5);
    must(slr_buffer_format(buffer, desc, NULL, 0, NULL));
}

#define NUMBERS(dtype, type, want, ...)                                                                                \
    do {                                                                                                               \
        const type values[] = {__VA_ARGS__};                                                                           \
        const uint64_t count = sizeof values / sizeof *values;                                                         \
        slr_buffer *buffer = buffer_of(device, dtype, 1, &count, values);                                              \
        prints(buffer, NULL, want);                                                                                    \
        slr_buffer_destroy(buffer);                                                                                    \
    } while (0)

static void elements_are_printed_as_what_they_are(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    NUMBERS(SLR_BOOL, uint8_t, "1 0\n", 1, 0);
    NUMBERS(SLR_U8, uint8_t, "255 7\n", 255, 7);
    NUMBERS(SLR_I8, int8_t, "-128 127\n", -128, 127);
    NUMBERS(SLR_I16, int16_t, "-32768\n", INT16_MIN);
    NUMBERS(SLR_U16, uint16_t, "65535\n", UINT16_MAX);
    NUMBERS(SLR_I32, int32_t, "-2147483648\n", INT32_MIN);
    NUMBERS(SLR_U32, uint32_t, "4294967295\n", UINT32_MAX);
    NUMBERS(SLR_I64, int64_t, "-9223372036854775808\n", INT64_MIN);
    NUMBERS(SLR_U64, uint64_t, "18446744073709551615\n", UINT64_MAX);
    NUMBERS(SLR_F32, float, "0.1 -0 16777215 1234567.5 1e-05 3.4028235e+38 inf nan 0.33333334\n", 0.1f, -0.0f,
            16777215.0f, 1234567.5f, 1e-5f, FLT_MAX, INFINITY, NAN, 1.0f / 3);
    NUMBERS(SLR_F64, double, "0.1 0.30000000000000004 1e+15 5e-324 -inf\n", 0.1, 0.1 + 0.2, 1e15, 5e-324,
            (double)-INFINITY);
    slr_device_close(device);
}

static void shape_makes_rows_and_matrices(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?unified=0");
    int values[120];
    for (int i = 0; i < 120; ++i)
        values[i] = i;
    slr_buffer *matrix = buffer_of(device, SLR_I32, 2, (const uint64_t[]){2, 3}, values);
    slr_buffer *block = buffer_of(device, SLR_I32, 3, (const uint64_t[]){2, 2, 2}, values);
    slr_buffer *large = buffer_of(device, SLR_I32, 2, (const uint64_t[]){10, 12}, values);
    prints(matrix, NULL, "0 1 2\n3 4 5\n");
    prints(block, NULL, "0 1\n2 3\n\n4 5\n6 7\n");
    slr_print_desc desc = SLR_PRINT_DESC_INIT;
    desc.edge = 2;
    prints(large, &desc, "0 1 ... 10 11\n12 13 ... 22 23\n...\n96 97 ... 106 107\n108 109 ... 118 119\n");
    prints(matrix, &desc, "0 1 2\n3 4 5\n"); // short enough
    desc.edge = 0;
    desc.count = 4;
    prints(matrix, &desc, "0 1 2 3\n");
    desc.count = 0;
    desc.dtype = SLR_U16;
    prints(matrix, &desc, "0 0 1 0 2 0 3 0 4 0 5 0\n");
    slr_buffer_destroy(matrix);
    slr_buffer_destroy(block);
    slr_buffer_destroy(large);
    slr_device_close(device);
}

static void file_gets_the_same_and_its_errors_are_told(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    const uint64_t count = 3000; // more than one piece
    static int values[3000];
    char line[16] = "";
    slr_buffer *buffer = buffer_of(device, SLR_I32, 1, &count, values);
    FILE *file = tmpfile();
    assert_non_null(file);
    must(slr_buffer_print(buffer, NULL, file));
    assert_int_equal(ftell(file), 2 * count);
    rewind(file);
    assert_int_equal(fread(line, 1, 5, file), 5);
    assert_string_equal(line, "0 0 0");
    fclose(file);
    file = fopen("/dev/full", "w");
    assert_non_null(file);
    setbuf(file, NULL);
    refuses(slr_buffer_print(buffer, NULL, file), SYSTEM, "could not be written");
    fclose(file);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
}

static void what_can_not_be_printed_is_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_buffer *buffer;
    slr_print_desc desc = SLR_PRINT_DESC_INIT;
    char text[8];
    must(slr_buffer_create(device, 64, &buffer));
    refuses(slr_buffer_format(NULL, NULL, text, 8, NULL), INVALID, "buffer is NULL");
    refuses(slr_buffer_format(buffer, NULL, text, 8, NULL), INVALID, "the buffer has no dtype");
    refuses(slr_buffer_print(buffer, NULL, NULL), INVALID, "to is NULL");
    desc.dtype = SLR_F64;
    desc.count = 9;
    refuses(slr_buffer_format(buffer, &desc, text, 8, NULL), INVALID, "9 elements were asked for, the buffer has 8");
    desc.dtype = (slr_scalar)77;
    refuses(slr_buffer_format(buffer, &desc, text, 8, NULL), INVALID, "77 is not an slr_scalar");
    slr_buffer_destroy(buffer);
    slr_device_close(device);
}

static void decimal_point_is_a_point_in_any_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"}; // where one is installed
    slr_device *device = open_device("cpu");
    for (int i = 0; i < 4 && !setlocale(LC_NUMERIC, names[i]); ++i)
        continue;
    NUMBERS(SLR_F64, double, "0.5 1.25e+30\n", 0.5, 1.25e30);
    setlocale(LC_NUMERIC, "C");
    slr_device_close(device);
}

static void parameter_takes_no_buffer_of_another_kind_of_elements(void **state)
{
    (void)state;
    static const char source[] = "__global__ void k(float *x) { x[0] = 1; }\n"
                                 "struct m { int i; };\n"
                                 "__ring__ void h(const struct m *in, const float *x) { }\n";
    slr_device *device = open_device("cpu?engine=interpreted");
    const uint64_t count = 4;
    const int zeros[4] = {0};
    slr_buffer *ints = buffer_of(device, SLR_I32, 1, &count, zeros), *floats, *plain;
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    floats = buffer_of(device, SLR_F32, 1, &count, zeros);
    must(slr_buffer_create(device, 16, &plain)); // says nothing of its elements
    must(slr_program_from_text(device, "k.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, "k", &kernel));
    must(slr_stream_default(device, &stream));
    refuses(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 1, 0), ints), INVALID,
            "kernel 'k': the elements of parameter 'x' are f32, and the buffer's dtype is i32");
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 1, 0), floats));
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 1, 0), plain));
    slr_binding binding = {.name = "x", .buffer = ints};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring;
    desc.name = "r";
    desc.program = program;
    desc.bindings = &binding;
    desc.binding_count = 1;
    desc.handler = "h";
    refuses(slr_ring_create(device, &desc, &ring), INVALID,
            "ring kernel 'r': the elements of parameter 'x' are f32, and the buffer's dtype is i32");
    must(slr_stream_finish(stream, LONG));
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_buffer_destroy(ints);
    slr_buffer_destroy(floats);
    slr_buffer_destroy(plain);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_printed_as_what_they_are),
        cmocka_unit_test(shape_makes_rows_and_matrices),
        cmocka_unit_test(file_gets_the_same_and_its_errors_are_told),
        cmocka_unit_test(what_can_not_be_printed_is_refused),
        cmocka_unit_test(decimal_point_is_a_point_in_any_locale),
        cmocka_unit_test(parameter_takes_no_buffer_of_another_kind_of_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
