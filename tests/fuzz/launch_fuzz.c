// SPDX-License-Identifier: Apache-2.0
// Launches of anybody's making: grids, blocks, shared memory and arguments out of the bytes, for kernels that index,
// wait, shuffle and print by them. Checked and launched: each is refused with a reason, or ends.
#include "fuzz.h"

#include <slipring/slipring.h>

#include <string.h>

enum { PARAMETERS_MAX = 8, ELEMENTS_MAX = 300, FUEL = 50, STEPS = 30000 };

static const char source[] =
    "struct box { int width, height; short step; };\n"
    "__global__ void scale(float a, const float *x, float *y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "__global__ void sum(const float *in, float *out, unsigned n) {\n"
    "    __shared__ float part[64];\n"
    "    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
    "    part[t] = i < n ? in[i] : 0.0f;\n"
    "    __syncthreads();\n"
    "    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {\n"
    "        if (t < s) part[t] += part[t + s];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (t == 0) out[blockIdx.x] = part[0];\n"
    "}\n"
    "__global__ void gather(const int *first, const unsigned char *which, double *y, struct box b, long long n) {\n"
    "    extern __shared__ int room[];\n"
    "    int x = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y + threadIdx.z;\n"
    "    room[threadIdx.x] = x / b.step;\n"
    "    __syncwarp();\n"
    "    for (int j = first[x]; j < first[x + 1]; j++)\n"
    "        y[which[j] + k * b.width] += (double)(room[j % 7] << b.height) + (double)n;\n"
    "}\n"
    "__global__ void votes(int *x, unsigned mask, int width, bool wait) {\n"
    "    int v = __shfl_down_sync(mask, x[threadIdx.x], 1, width);\n"
    "    if (__any_sync(mask, v > 3) && wait)\n"
    "        __syncthreads();\n"
    "    else if (wait)\n"
    "        __syncthreads();\n"
    "    while (atomicCAS(&x[0], v, v + 1) != v && wait)\n"
    "        ;\n"
    "    if (threadIdx.x == 0) printf(\"%d %u\\n\", v, mask);\n"
    "}\n";

static const char *const names[] = {"scale", "sum", "gather", "votes"};

static slr_device *device;
static slr_kernel *kernels[4];

static void open_once(void)
{
    slr_program *program;
    if (device != NULL)
        return;
    FUZZ_CHECK(slr_device_open("cpu?engine=interpreted&threads=1", NULL, &device) == SLR_OK);
    FUZZ_CHECK(slr_program_from_text(device, "fuzz.cu", source, NULL, &program) == SLR_OK);
    for (int i = 0; i < 4; i++)
        FUZZ_CHECK(slr_program_get_kernel(program, names[i], &kernels[i]) == SLR_OK);
    slr_program_destroy(program);
}

// ---- out of bytes --------------------------------------------------------------------------------------------------

struct bytes {
    const uint8_t *data;
    size_t size;
};

static uint64_t take(struct bytes *from, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value = value << 8 | (from->size > 0 ? from->data[0] : 0);
        if (from->size > 0)
            from->data++, from->size--;
    }
    return value;
}

// Small as a rule, so that something runs; now and then anything.
static uint32_t take_extent(struct bytes *from)
{
    uint8_t first = (uint8_t)take(from, 1);
    return first >= 0xf8 ? (uint32_t)take(from, 4) : first % 5;
}

static slr_arg take_buffer(struct bytes *from, slr_buffer **out)
{
    uint8_t data[ELEMENTS_MAX];
    size_t count = 1 + take(from, 1);
    for (size_t i = 0; i < count; i++)
        data[i] = (uint8_t)take(from, 1);
    if (slr_buffer_create(device, count, out) == SLR_OK)
        FUZZ_CHECK(slr_buffer_write(*out, 0, data, count) == SLR_OK);
    return slr_arg_buffer(*out);
}

static slr_arg take_argument(struct bytes *from, slr_buffer **buffer, uint8_t *memory)
{
    double real;
    uint64_t bits;
    switch (take(from, 1) % 5) {
    case 0:
        return slr_arg_signed((int8_t)take(from, 1));
    case 1:
        return slr_arg_unsigned(take(from, 8));
    case 2:
        bits = take(from, 8);
        memcpy(&real, &bits, sizeof real);
        return slr_arg_float(real);
    case 3:
        for (int i = 0; i < 12; i++)
            memory[i] = (uint8_t)take(from, 1);
        return slr_arg_bytes(memory, (uint32_t)(take(from, 1) % 4 ? 12 : 8));
    default:
        return take_buffer(from, buffer);
    }
}

// ---- one launch ----------------------------------------------------------------------------------------------------

static void check(slr_kernel *kernel, const slr_shape *shape, const slr_arg *args, uint32_t count, struct bytes *from)
{
    slr_check_argument given[PARAMETERS_MAX];
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    slr_check *made;
    slr_check_finding finding;
    uint64_t leaves = take(from, 1);
    for (uint32_t i = 0; i < count; i++)
        if (!(leaves >> i & 1))
            given[desc.argument_count++] = (slr_check_argument){i, leaves >> 6 & 1, args[i]};
    desc.arguments = given;
    memcpy(desc.grid, shape->grid, sizeof desc.grid);
    memcpy(desc.block, shape->block, sizeof desc.block);
    desc.shared_bytes = shape->shared_bytes;
    desc.fuel = FUEL;
    desc.steps = STEPS;
    if (slr_kernel_check(kernel, &desc, &made) != SLR_OK) {
        FUZZ_CHECK(slr_error_message()[0] != '\0');
        return;
    }
    for (uint32_t i = 0; slr_check_get_finding(made, i, &finding) == SLR_OK; i++)
        FUZZ_CHECK(finding.message && finding.at.line > 0 && finding.count > 0);
    slr_check_destroy(made);
}

// Only what is small: a stream's launch has no limit of its own.
static void launch(slr_kernel *kernel, slr_shape shape, const slr_arg *args, uint32_t count)
{
    slr_stream *stream;
    for (int i = 0; i < 3; i++)
        if (shape.grid[i] > 4 && shape.grid[i] <= 65535)
            return;
    if (slr_stream_create(device, NULL, &stream) != SLR_OK)
        return;
    if (slr_launch(stream, kernel, shape, args, count, NULL) != SLR_OK ||
        slr_stream_finish(stream, UINT64_MAX) != SLR_OK)
        FUZZ_CHECK(slr_error_message()[0] != '\0');
    slr_stream_destroy(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes from = {data, size};
    slr_arg args[PARAMETERS_MAX];
    slr_buffer *buffers[PARAMETERS_MAX] = {NULL};
    uint8_t memory[PARAMETERS_MAX][12];
    slr_kernel_info info;
    slr_shape shape = SLR_GRID(0, 0, 0);
    open_once();
    uint64_t choice = take(&from, 1);
    slr_kernel *kernel = kernels[choice % 4];
    FUZZ_CHECK(slr_kernel_get_info(kernel, &info) == SLR_OK);
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = take_extent(&from);
        shape.block[i] = i == 0 ? (uint32_t)take(&from, 1) : take_extent(&from);
    }
    shape.shared_bytes = take_extent(&from) * 64;
    uint32_t count = choice & 0x80 ? (uint32_t)take(&from, 1) % PARAMETERS_MAX : info.parameter_count;
    for (uint32_t i = 0; i < count; i++)
        args[i] = take_argument(&from, &buffers[i], memory[i]);
    check(kernel, &shape, args, count, &from);
    if (choice % 4 < 2) // the others may spin for ever
        launch(kernel, shape, args, count);
    for (uint32_t i = 0; i < count; i++)
        slr_buffer_destroy(buffers[i]);
    return 0;
}
