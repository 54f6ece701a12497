// SPDX-License-Identifier: Apache-2.0
// Products of matrix fragments: by the interpreter, by the emitted text on a simulated driver; and where they
// are refused.
#define _POSIX_C_SOURCE 200809L
#include "device/device_test.h"

#include "ir/math/slr_math.h"
#include "ir/math/slr_half.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 8, DEPTH = 16 };

// A is 16 rows of 16, B 8 columns of 16: its transpose. Both as pairs of halves.
static const char source[] =
    "__global__ void multiply(const unsigned *a, const unsigned *b, const float *c, float *d)\n"
    "{\n"
    "    int lane = threadIdx.x, g = lane / 4, t = lane % 4;\n"
    "    unsigned a0 = a[g * 8 + t], a1 = a[(g + 8) * 8 + t], a2 = a[g * 8 + t + 4], a3 = a[(g + 8) * 8 + t + 4];\n"
    "    unsigned b0 = b[g * 8 + t], b1 = b[g * 8 + t + 4];\n"
    "    for (int i = 0; i < 4; i++) {\n"
    "        int at = (g + i / 2 * 8) * 8 + t * 2 + i % 2;\n"
    "        d[at] = MATRIX(0xffffffffu, a0, a1, a2, a3, b0, b1, c[at], i);\n"
    "    }\n"
    "}\n";

struct numbers {
    uint16_t a[ROWS][DEPTH], b[COLUMNS][DEPTH];
    float c[ROWS][COLUMNS], d[ROWS][COLUMNS];
    double want[ROWS][COLUMNS], size[ROWS][COLUMNS];
};

static float value_of(bool is_half, uint16_t bits)
{
    return is_half ? slri_f16_from_bits(bits) : slri_bf16_from_bits(bits);
}

static void fill(struct numbers *n, bool is_half)
{
    uint32_t random = 1;
    for (int i = 0; i < ROWS * DEPTH + COLUMNS * DEPTH + ROWS * COLUMNS; ++i) {
        random = random * 1664525u + 1013904223u;
        float value = (float)(random >> 8) / (1 << 23) - 1.0f;
        uint16_t bits = is_half ? slri_f16_to_bits(value) : slri_bf16_to_bits(value);
        if (i < ROWS * DEPTH)
            n->a[i / DEPTH][i % DEPTH] = bits;
        else if (i < ROWS * DEPTH + COLUMNS * DEPTH)
            n->b[i / DEPTH - ROWS][i % DEPTH] = bits;
        else
            n->c[(i - ROWS * DEPTH - COLUMNS * DEPTH) / COLUMNS][i % COLUMNS] = value;
    }
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j) {
            n->want[i][j] = (double)n->c[i][j], n->size[i][j] = fabs(n->want[i][j]);
            for (int k = 0; k < DEPTH; ++k) {
                double term = (double)value_of(is_half, n->a[i][k]) * (double)value_of(is_half, n->b[j][k]);
                n->want[i][j] += term, n->size[i][j] += fabs(term);
            }
        }
}

// The status of the first step that fails.
static slr_status run(const char *spec, bool is_half, uint32_t threads, struct numbers *n)
{
    const char *define = is_half ? "MATRIX=__matrix_f16_sync" : "MATRIX=__matrix_bf16_sync";
    const size_t bytes[] = {sizeof n->a, sizeof n->b, sizeof n->c, sizeof n->d};
    void *const at[] = {n->a, n->b, n->c, n->d};
    slr_device *device = open_device(spec);
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    slr_program *program = NULL;
    slr_kernel *kernel = NULL;
    slr_stream *stream;
    slr_buffer *buffer[4];
    desc.defines = &define, desc.define_count = 1;
    must(slr_stream_create(device, NULL, &stream));
    for (int i = 0; i < 4; ++i) {
        must(slr_buffer_create(device, bytes[i], &buffer[i]));
        must(slr_stream_write(stream, buffer[i], 0, at[i], bytes[i], NULL));
    }
    slr_status status = slr_program_from_text(device, "matrix.cu", source, &desc, &program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(program, "multiply", &kernel);
    const slr_arg args[] = {slr_arg_buffer(buffer[0]), slr_arg_buffer(buffer[1]), slr_arg_buffer(buffer[2]),
                            slr_arg_buffer(buffer[3])};
    if (status == SLR_OK)
        status = slr_launch(stream, kernel, SLR_GRID(1, threads, 0), args, 4, NULL);
    if (status == SLR_OK)
        status = slr_stream_read(stream, buffer[3], 0, n->d, sizeof n->d, NULL);
    if (status == SLR_OK)
        status = slr_stream_finish(stream, 3 * LONG);
    for (int i = 0; i < 4; ++i)
        slr_buffer_destroy(buffer[i]);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_stream_destroy(stream);
    slr_device_close(device);
    return status;
}

// ---- results -------------------------------------------------------------------------------------------------------

static void check(const char *spec, bool is_half)
{
    struct numbers n = {0};
    fill(&n, is_half);
    must(run(spec, is_half, 32, &n));
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j)
            if (!(fabs((double)n.d[i][j] - n.want[i][j]) <= 4 * 0x1p-24 * n.size[i][j]))
                fail_msg("%s: row %d, column %d is %.9g, expected %.9g", spec, i, j, (double)n.d[i][j], n.want[i][j]);
}

static void the_interpreter_multiplies_fragments(void **state)
{
    (void)state;
    check("cpu?engine=interpreted", true);
    check("cpu?engine=interpreted", false);
}

// What runs is the text for CUDA: read again by the front end, or compiled as C++ with what PTX means.
static void emitted_text_multiplies_them_on_a_simulated_driver(void **state)
{
    (void)state;
    check("cuda:0", true);
    check("cuda:0", false);
}

static void a_warp_that_is_not_whole_is_a_fault(void **state)
{
    (void)state;
    struct numbers n = {0};
    fill(&n, true);
    assert_int_not_equal(run("cpu?engine=interpreted", true, 16, &n), SLR_OK);
}

// ---- refusals ------------------------------------------------------------------------------------------------------

static void other_devices_refuse_them_and_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *why;
    } others[] = {{"cpu", "a CPU has none, but cpu?engine=interpreted computes it"},
                  {"opencl:0", "OpenCL has no word for them"},
                  {"vulkan:0", "SPIR-V is written without them"},
                  {"metal:0", "Metal's are of another form"},
                  {"hip:0", "AMD's have others"}};
    struct numbers n = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        if (is_here(others[i].spec)) {
            refuses(run(others[i].spec, true, 32, &n), UNSUPPORTED, others[i].why);
            assert_non_null(strstr(slr_error_message(), "matrix.cu:8"));
        }
}

int main(void)
{
    const char *path = getenv("SLIPRING_FAKE_CUDA");
    setenv("SLIPRING_CUDA_LIB", path, 1), setenv("SLIPRING_NVRTC_LIB", path, 1);
    if (getenv("SLIPRING_FAKE_METAL"))
        setenv("SLIPRING_METAL_LIB", getenv("SLIPRING_FAKE_METAL"), 1);
    setenv("SLIPRING_HIP_LIB", path, 1), setenv("SLIPRING_HIPRTC_LIB", path, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interpreter_multiplies_fragments),
        cmocka_unit_test(emitted_text_multiplies_them_on_a_simulated_driver),
        cmocka_unit_test(a_warp_that_is_not_whole_is_a_fault),
        cmocka_unit_test(other_devices_refuse_them_and_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
