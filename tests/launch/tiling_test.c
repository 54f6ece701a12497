// SPDX-License-Identifier: Apache-2.0
// Planned tiles on the devices of this machine: every element has one thread, and a product of the tile that was
// planned for it is right.
#include "tests/launch/engines.h"

#include <stdbool.h>
#include <stdio.h>

static const char source[] =
    "__global__ void count(unsigned *seen, int x, int y, int z) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    int k = blockIdx.z * blockDim.z + threadIdx.z;\n"
    "    if (i < x && j < y && k < z) atomicAdd(&seen[(k * y + j) * x + i], 1u);\n}\n"
    "#ifdef TILE_M\n"
    "__global__ void product(const float *a, const float *b, float *c, int m, int n, int k) {\n"
    "    __shared__ float as[TILE_M * TILE_K], bs[TILE_K * TILE_N];\n"
    "    float sum[OUTPUTS];\n"
    "    int row = blockIdx.y * TILE_M, column = blockIdx.x * TILE_N;\n"
    "    for (int o = 0; o < OUTPUTS; o++) sum[o] = 0.0f;\n"
    "    for (int at = 0; at < k; at += TILE_K) {\n"
    "        for (int e = threadIdx.x; e < TILE_M * TILE_K; e += THREADS)\n"
    "            as[e] = row + e / TILE_K < m && at + e % TILE_K < k\n"
    "                        ? a[(row + e / TILE_K) * k + at + e % TILE_K] : 0.0f;\n"
    "        for (int e = threadIdx.x; e < TILE_K * TILE_N; e += THREADS)\n"
    "            bs[e] = at + e / TILE_N < k && column + e % TILE_N < n\n"
    "                        ? b[(at + e / TILE_N) * n + column + e % TILE_N] : 0.0f;\n"
    "        __syncthreads();\n"
    "        for (int o = 0; o < OUTPUTS; o++) {\n"
    "            int e = o * THREADS + threadIdx.x;\n"
    "            for (int l = 0; l < TILE_K; l++) sum[o] += as[e / TILE_N * TILE_K + l] * bs[l * TILE_N + e % "
    "TILE_N];\n"
    "        }\n"
    "        __syncthreads();\n"
    "    }\n"
    "    for (int o = 0; o < OUTPUTS; o++) {\n"
    "        int e = o * THREADS + threadIdx.x, r = row + e / TILE_N, q = column + e % TILE_N;\n"
    "        if (r < m && q < n) c[r * n + q] = sum[o];\n"
    "    }\n"
    "}\n"
    "#endif\n";

static const char *const devices[] = {"cpu?engine=compiled", "cpu?engine=interpreted", "opencl:0"};
enum { DEVICES = sizeof devices / sizeof *devices };

static slr_program *program_of(slr_device *device, const char *const *defines)
{
    slr_program *program;
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.optimize = 1;
    desc.defines = defines;
    desc.define_count = defines ? 5 : 0;
    CHECK(slr_program_from_text(device, "tiling.cu", source, &desc, &program));
    return program;
}

static void each_element_has_one_thread(void **unused)
{
    (void)unused;
    static const uint64_t problems[][3] = {{1, 0, 0},   {77, 0, 0},  {5000, 1, 1}, {33, 65, 1},
                                           {100, 7, 0}, {17, 9, 11}, {1, 300, 1},  {3, 1, 200}};
    for (int d = 0; d < DEVICES; d++) {
        slr_device *device;
        if (slr_device_open(devices[d], NULL, &device) != SLR_OK)
            continue;
        slr_stream *stream;
        slr_kernel *kernel;
        slr_program *program = program_of(device, NULL);
        CHECK(slr_stream_default(device, &stream));
        CHECK(slr_program_get_kernel(program, "count", &kernel));
        for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
            uint32_t size[3], all = 1;
            slr_tiling tiling;
            slr_buffer *buffer;
            for (int axis = 0; axis < 3; axis++) {
                size[axis] = problems[i][axis] ? (uint32_t)problems[i][axis] : 1;
                all *= size[axis];
            }
            uint32_t *seen = malloc(all * sizeof *seen);
            CHECK(slr_tiling_plan(kernel, problems[i], &tiling));
            assert_true(tiling.tile_n <= size[0] && tiling.tile_m <= size[1] && tiling.tile_planes <= size[2]);
            CHECK(slr_buffer_create(device, all * sizeof *seen, &buffer));
            CHECK(SLR_LAUNCH(stream, kernel, slr_tiling_shape(&tiling), buffer, size[0], size[1], size[2]));
            CHECK(slr_stream_finish(stream, 60 * SECOND));
            CHECK(slr_buffer_read(buffer, 0, seen, all * sizeof *seen));
            for (uint32_t e = 0; e < all; e++)
                assert_int_equal(seen[e], 1);
            slr_buffer_destroy(buffer);
            free(seen);
        }
        slr_kernel_destroy(kernel);
        slr_program_destroy(program);
        slr_device_close(device);
    }
}

static void a_line_has_the_block_that_a_launch_takes(void **unused)
{
    (void)unused;
    slr_device *device;
    slr_kernel *kernel;
    slr_suggestion suggestion;
    slr_tiling tiling;
    const uint64_t none[3] = {0, 1, 1};
    CHECK(slr_device_open(devices[1], NULL, &device));
    slr_program *program = program_of(device, NULL);
    CHECK(slr_program_get_kernel(program, "count", &kernel));
    for (uint64_t n = 64; n < 300000; n *= 5) {
        const uint64_t line[3] = {n, 1, 1};
        CHECK(slr_kernel_suggest(kernel, SLR_1D(n), &suggestion));
        CHECK(slr_tiling_plan(kernel, line, &tiling));
        assert_int_equal(tiling.threads[0], suggestion.shape.block[0]);
        assert_int_equal(tiling.groups[0], suggestion.shape.grid[0]);
    }
    assert_int_equal(slr_tiling_plan(kernel, none, &tiling), SLR_INVALID);
    assert_int_equal(slr_tiling_plan(NULL, none, &tiling), SLR_INVALID);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
}

// ---- products ------------------------------------------------------------------------------------------------------

static void multiply(slr_device *device, const slr_tiling *t, uint32_t m, uint32_t n, uint32_t k)
{
    char text[5][32];
    const char *defines[] = {text[0], text[1], text[2], text[3], text[4]};
    snprintf(text[0], sizeof text[0], "TILE_M=%u", t->tile_m);
    snprintf(text[1], sizeof text[1], "TILE_N=%u", t->tile_n);
    snprintf(text[2], sizeof text[2], "TILE_K=%u", t->tile_k);
    snprintf(text[3], sizeof text[3], "THREADS=%u", t->threads[0]);
    snprintf(text[4], sizeof text[4], "OUTPUTS=%u", t->outputs_a_thread);
    slr_program *program = program_of(device, defines);
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *a, *b, *c;
    float *x = malloc(m * k * sizeof *x), *y = malloc(k * n * sizeof *y), *z = malloc(m * n * sizeof *z);
    for (uint32_t i = 0; i < m * k; i++)
        x[i] = (float)(i * 7 % 13);
    for (uint32_t i = 0; i < k * n; i++)
        y[i] = (float)(i * 5 % 11);
    CHECK(slr_stream_default(device, &stream));
    CHECK(slr_program_get_kernel(program, "product", &kernel));
    CHECK(slr_buffer_create(device, m * k * sizeof *x, &a));
    CHECK(slr_buffer_create(device, k * n * sizeof *y, &b));
    CHECK(slr_buffer_create(device, m * n * sizeof *z, &c));
    CHECK(slr_buffer_write(a, 0, x, m * k * sizeof *x));
    CHECK(slr_buffer_write(b, 0, y, k * n * sizeof *y));
    CHECK(SLR_LAUNCH(stream, kernel, slr_tiling_shape(t), a, b, c, m, n, k));
    CHECK(slr_stream_finish(stream, 60 * SECOND));
    CHECK(slr_buffer_read(c, 0, z, m * n * sizeof *z));
    for (uint32_t i = 0; i < m * n; i++) {
        float sum = 0; // of small whole numbers: exact in any order
        for (uint32_t l = 0; l < k; l++)
            sum += x[i / n * k + l] * y[l * n + i % n];
        if (z[i] != sum)
            fail_msg("%u x %u x %u: element %u is %g, not %g", m, n, k, i, (double)z[i], (double)sum);
    }
    slr_buffer_destroy(a);
    slr_buffer_destroy(b);
    slr_buffer_destroy(c);
    free(x);
    free(y);
    free(z);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
}

static void a_product_of_the_planned_tile_is_right(void **unused)
{
    (void)unused;
    static const uint32_t problems[][3] = {{100, 60, 37}, {1, 500, 64}, {4, 4, 4}};
    for (int d = 0; d < DEVICES; d++) {
        slr_device *device;
        if (slr_device_open(devices[d], NULL, &device) != SLR_OK)
            continue;
        for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
            slr_tiling_desc desc = SLR_TILING_DESC_INIT;
            slr_tiling tiling;
            desc.device = device;
            desc.m = problems[i][0];
            desc.n = problems[i][1];
            desc.k = problems[i][2];
            CHECK(slr_tiling_compute(&desc, &tiling));
            multiply(device, &tiling, problems[i][0], problems[i][1], problems[i][2]);
        }
        slr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_element_has_one_thread),
        cmocka_unit_test(a_line_has_the_block_that_a_launch_takes),
        cmocka_unit_test(a_product_of_the_planned_tile_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
