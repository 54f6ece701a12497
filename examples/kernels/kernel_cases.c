// SPDX-License-Identifier: Apache-2.0
#include "kernel_cases.h"

#include "kernel_plain.h"

#include <stdlib.h>

#define TEXT(name) extern const char kernel_embedded_##name##_cu[];
TEXT(saxpy)
TEXT(strided_copy)
TEXT(reduce_shared)
TEXT(reduce_shuffle)
TEXT(scan)
TEXT(histogram)
TEXT(transpose)
TEXT(matmul)
TEXT(stencil)
TEXT(softmax)
TEXT(black_scholes)
TEXT(nbody)
TEXT(spmv)
TEXT(bitonic)
TEXT(mandelbrot)
#undef TEXT

#define CASE(kernel) .name = #kernel, .source = kernel_embedded_##kernel##_cu, .plain = plain_##kernel
#define MILLION 1048576

const kernel_case kernel_cases[] = {
    {CASE(saxpy), .arguments = "f01n", .buffer = {{1, 1, 1, 'f'}, {1, 1, 1, 'f'}}, .written = 1, .block = {256, 1},
     .dimensions = 1, .small = 1000, .large = 64 * MILLION, .bytes = 12, .work_power = 1},
    {CASE(strided_copy), .arguments = "01n", .buffer = {{4, 1, 1, 'f'}, {1, 1, 1, 0}}, .written = 1, .block = {256, 1},
     .dimensions = 1, .small = 1000, .large = 16 * MILLION, .bytes = 8, .work_power = 1},
    {CASE(reduce_shared), .arguments = "01n", .buffer = {{1, 1, 1, 'f'}, {1, 1, 256, 0}}, .written = 1,
     .block = {256, 1}, .dimensions = 1, .small = 1024, .large = 64 * MILLION, .bytes = 4, .work_power = 1},
    {CASE(reduce_shuffle), .arguments = "01n", .buffer = {{1, 1, 1, 'f'}, {1, 1, 256, 0}}, .written = 1,
     .block = {256, 1}, .dimensions = 1, .small = 1024, .large = 64 * MILLION, .bytes = 4, .work_power = 1},
    {CASE(scan), .arguments = "01n", .buffer = {{1, 1, 1, 'f'}, {1, 1, 1, 0}}, .written = 1, .block = {256, 1},
     .dimensions = 1, .small = 1000, .large = 16 * MILLION, .bytes = 8, .work_power = 1},
    {CASE(histogram), .arguments = "01n", .buffer = {{1, 1, 1, 'i'}, {256, 0, 1, 0}}, .written = 1, .block = {256, 1},
     .dimensions = 1, .small = 1000, .large = 16 * MILLION, .bytes = 4, .work_power = 1},
    {CASE(transpose), .arguments = "01n", .buffer = {{1, 2, 1, 'f'}, {1, 2, 1, 0}}, .written = 1, .block = {16, 16},
     .dimensions = 2, .small = 48, .large = 2048, .bytes = 8, .work_power = 2},
    {CASE(matmul), .arguments = "012n", .buffer = {{1, 2, 1, 'f'}, {1, 2, 1, 'f'}, {1, 2, 1, 0}}, .written = 1,
     .block = {16, 16}, .dimensions = 2, .small = 48, .large = 1024, .flops = 2, .work_power = 3},
    {CASE(stencil), .arguments = "01n", .buffer = {{1, 2, 1, 'f'}, {1, 2, 1, 0}}, .written = 1, .block = {32, 8},
     .dimensions = 2, .small = 50, .large = 4096, .bytes = 8, .work_power = 2},
    {CASE(softmax), .arguments = "01n", .buffer = {{1, 1, 1, 'f'}, {1, 1, 1, 0}}, .written = 1, .block = {256, 1},
     .dimensions = 1, .small = 1024, .large = 8 * MILLION, .bytes = 8, .work_power = 1, .tolerance = 1e-5},
    {CASE(black_scholes), .arguments = "0123n", .buffer = {{1, 1, 1, 'f'}, {1, 1, 1, 'f'}, {1, 1, 1, 0}, {1, 1, 1, 0}},
     .written = 2, .block = {256, 1}, .dimensions = 1, .small = 1000, .large = 4 * MILLION, .bytes = 16,
     .work_power = 1, .tolerance = 1e-4},
    {CASE(nbody), .arguments = "0123n", .buffer = {{1, 1, 1, 'f'}, {1, 1, 1, 'f'}, {1, 1, 1, 'f'}, {3, 1, 1, 0}},
     .written = 1, .block = {256, 1}, .dimensions = 1, .small = 512, .large = 8192, .flops = 20, .work_power = 2},
    {CASE(spmv), .arguments = "01234n",
     .buffer = {{2, 1, 1, 'r'}, {8, 1, 1, 'c'}, {8, 1, 1, 'f'}, {1, 1, 1, 'f'}, {1, 1, 1, 0}}, .written = 1,
     .block = {256, 1}, .dimensions = 1, .small = 1000, .large = 2 * MILLION, .bytes = 76, .work_power = 1},
    {CASE(bitonic), .arguments = "01n", .buffer = {{1, 1, 1, 'f'}, {1, 1, 1, 0}}, .written = 1, .block = {256, 1},
     .dimensions = 1, .small = 1024, .large = 4 * MILLION, .bytes = 8, .work_power = 1},
    {CASE(mandelbrot), .arguments = "0n", .buffer = {{1, 2, 1, 0}}, .written = 1, .block = {32, 8}, .dimensions = 2,
     .small = 50, .large = 1024, .bytes = 4, .work_power = 2},
};
const size_t kernel_case_count = sizeof kernel_cases / sizeof *kernel_cases;

size_t kernel_case_elements(const kernel_case *what, unsigned buffer, int n)
{
    size_t elements = what->buffer[buffer].times;
    for (unsigned i = 0; i < what->buffer[buffer].power; i++)
        elements *= (size_t)n;
    return elements ? elements / what->buffer[buffer].by : 0;
}

// Rows of 8 elements, in a band around the diagonal.
void kernel_case_fill(const kernel_case *what, unsigned buffer, int n, void *memory)
{
    char fill = what->buffer[buffer].fill;
    float *f = memory;
    int *i = memory;
    unsigned random = 99 + buffer;
    size_t elements = kernel_case_elements(what, buffer, n);
    for (size_t at = 0; at < elements; at++) {
        random = random * 1664525u + 1013904223u;
        if (fill == 'f')
            f[at] = (float)(random >> 8) / 16777216.0f;
        else if (fill == 'i')
            i[at] = (int)(random >> 24);
        else if (fill == 'r')
            i[at] = (int)at * 8;
        else if (fill == 'c')
            i[at] = (int)((at / 8 + (at % 8) * 5) % (size_t)n);
        else
            i[at] = 0;
    }
}

slr_shape kernel_case_shape(const kernel_case *what, int n)
{
    uint32_t size = (uint32_t)n, x = what->block[0], y = what->block[1];
    return SLR_GRID_2D((size + x - 1) / x, what->dimensions == 2 ? (size + y - 1) / y : 1, x, y);
}

slr_status kernel_case_launch(const kernel_case *what, int n, slr_stream *stream, slr_kernel *kernel,
                              slr_buffer *const *buffer)
{
    return kernel_case_launch_shape(what, n, stream, kernel, buffer, kernel_case_shape(what, n));
}

slr_status kernel_case_launch_shape(const kernel_case *what, int n, slr_stream *stream, slr_kernel *kernel,
                                    slr_buffer *const *buffer, slr_shape shape)
{
    slr_arg args[8];
    uint32_t count = 0;
    for (const char *at = what->arguments; *at; at++)
        args[count++] = *at == 'n'   ? slr_arg_signed(n)
                        : *at == 'f' ? slr_arg_float(2.0)
                                     : slr_arg_buffer(buffer[*at - '0']);
    return slr_launch(stream, kernel, shape, args, count, NULL);
}
