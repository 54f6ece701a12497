// SPDX-License-Identifier: Apache-2.0
// What the tests of the tuner share: a kernel with its arguments, made-up costs, and what is told of the candidates.
#ifndef SLRI_TUNER_TUNER_TEST_H
#define SLRI_TUNER_TUNER_TEST_H

#include "device/device_test.h"

#include <unistd.h>

enum { N = 256 };

static char folder[64];

static inline int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/slipring-tuner-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    unsetenv("SLIPRING_TUNED");
    return setenv("SLIPRING_CACHE_DIR", folder, 1);
}

static inline int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

// ---- a kernel, its arguments, and what is told of it ----------------------------------------------------------------

struct bench {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *x, *y;
    slr_arg args[3];
    slr_tune_problem problem;
    slr_tune_desc desc;
    slr_tuned tuned;
    // Of the watcher.
    uint32_t told, samples, renewed, wrong, failed, refused, slow;
    // Of meter_of_numbers: by K.
    uint32_t evaluation[16], misnamed, samples_beside;
    double cost; // of what was told last
    char why[256], order[2048];
};

static inline slr_program *load(struct bench *b, const char *text, slr_tuned_use use)
{
    slr_program *program;
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.tuned = use;
    must(slr_program_from_text(b->device, "k.cu", text, &desc, &program));
    return program;
}

static inline void watch(void *user, const slr_tune_candidate *candidate)
{
    struct bench *b = user;
    size_t length = strlen(b->order);
    ++b->told;
    b->cost = candidate->cost;
    b->wrong += candidate->state == SLR_TUNE_WRONG;
    b->failed += candidate->state == SLR_TUNE_FAILED;
    b->refused += candidate->state == SLR_TUNE_REFUSED;
    if (candidate->state != SLR_TUNE_MEASURED)
        snprintf(b->why, sizeof b->why, "%s: %s", candidate->defines, candidate->why);
    snprintf(b->order + length, sizeof b->order - length, "%s/%u;", candidate->defines, candidate->shape.block[0]);
}

static inline slr_status meter_by_block(void *user, slr_stream *stream, slr_kernel *kernel,
                                        const slr_tune_candidate *candidate, double *cost)
{
    (void)user;
    (void)stream;
    (void)kernel;
    uint32_t block = candidate->shape.block[0];
    *cost = candidate->is_default ? 10 : block == 128 ? 10 : block == 256 ? 8 : block == 512 ? 9 : 20;
    return SLR_OK;
}

// The default costs 10; K=2 1, K=3 5, K=4 7; what has another block more.
static inline slr_status meter_by_macro(void *user, slr_stream *stream, slr_kernel *kernel,
                                        const slr_tune_candidate *candidate, double *cost)
{
    (void)user;
    (void)stream;
    (void)kernel;
    static const double costs[] = {[2] = 1, [3] = 5, [4] = 7};
    int k = 0;
    bool has_macro = sscanf(candidate->defines, "K=%d", &k) == 1 && k >= 2 && k <= 4;
    *cost = (has_macro ? costs[k] : 10) + candidate->shape.block[0] / 1e4;
    return SLR_OK;
}

static inline void begin_with(struct bench *b, const char *device, const slr_device_desc *desc, const char *text,
                              slr_tuned_use use, slr_tune_meter *meter)
{
    static float numbers[N];
    *b = (struct bench){.desc = SLR_TUNE_DESC_INIT};
    must(slr_device_open(device, desc, &b->device));
    b->program = load(b, text, use);
    must(slr_program_get_kernel(b->program, NULL, &b->kernel));
    must(slr_buffer_create(b->device, N * 4, &b->x));
    must(slr_buffer_create(b->device, N * 4, &b->y));
    for (int i = 0; i < N; i++)
        numbers[i] = (float)(i + 1);
    must(slr_buffer_write(b->x, 0, numbers, sizeof numbers));
    b->args[0] = slr_arg_buffer(b->x);
    b->args[1] = slr_arg_buffer(b->y);
    b->args[2] = slr_arg_signed(N);
    b->problem = (slr_tune_problem){SLR_1D(N), b->args, 3};
    b->desc.strategy = SLR_TUNE_EXHAUSTIVE;
    b->desc.watch = watch;
    b->desc.measure = meter;
    b->desc.user = b;
}

static inline void begin_on(struct bench *b, const char *device, const char *text, slr_tuned_use use,
                            slr_tune_meter *meter)
{
    begin_with(b, device, NULL, text, use, meter);
}

static inline void begin(struct bench *b, const char *text, slr_tuned_use use, slr_tune_meter *meter)
{
    begin_on(b, "cpu?engine=interpreted", text, use, meter);
}

static inline void end(struct bench *b)
{
    slr_buffer_destroy(b->x);
    slr_buffer_destroy(b->y);
    slr_kernel_destroy(b->kernel);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
}

static inline slr_stream *stream_of(struct bench *b)
{
    slr_stream *stream;
    must(slr_stream_default(b->device, &stream));
    return stream;
}

static inline float launch_and_read(struct bench *b, slr_program *program, uint64_t threads, int at)
{
    slr_kernel *kernel;
    float y[N];
    slr_stream *stream = stream_of(b);
    must(slr_program_get_kernel(program, NULL, &kernel));
    must(slr_launch(stream, kernel, SLR_1D(threads), b->args, 3, NULL));
    slr_kernel_destroy(kernel);
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(b->y, 0, y, sizeof y));
    return y[at];
}

// ---- kernels -------------------------------------------------------------------------------------------------------

#define PLAIN                                                                                                          \
    "__global__ void f(const float *x, float *y, int n)\n"                                                             \
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }\n"

#define TUNED                                                                                                          \
    "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4\n#pragma slipring require K < 4\n"           \
    "#pragma slipring block f = 64\n"                                                                                  \
    "__global__ void f(const float *x, float *y, int n)\n"                                                             \
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
#define WRONG_AT_2 TUNED "y[i] = K == 2 ? x[i] + 1 : x[i]; }\n"
#define EXACT TUNED "y[i] = x[i] * K / K; }\n"

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
