// SPDX-License-Identifier: Apache-2.0
// One kernel on two engines: text in, words out, the same launch on both.
#ifndef TESTS_LAUNCH_ENGINES_H
#define TESTS_LAUNCH_ENGINES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <slipring/slipring.h>

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != SLR_OK)                                                                                          \
            fail_msg("%s:%d: %s", __FILE__, __LINE__, slr_error_message());                                            \
    } while (0)

struct engine {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *in, *out;
    uint32_t words;
    int32_t *result;
};

// A kernel `k(const int *in, int *out, int n)`; both buffers have `words` elements, `in` random ones.
static inline void engine_open(struct engine *e, const char *spec, const char *text, uint32_t words, int optimize)
{
    int32_t *values = malloc(words * sizeof *values);
    uint32_t random = 12345;
    for (uint32_t i = 0; i < words; i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = (int32_t)(random >> 8) - (1 << 23);
    }
    e->words = words;
    e->result = malloc(words * sizeof *e->result);
    CHECK(slr_device_open(spec, NULL, &e->device));
    CHECK(slr_stream_default(e->device, &e->stream));
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.optimize = (uint32_t)optimize;
    CHECK(slr_program_from_text(e->device, "agreement.cu", text, &desc, &e->program));
    CHECK(slr_program_get_kernel(e->program, NULL, &e->kernel));
    CHECK(slr_buffer_create(e->device, words * sizeof *values, &e->in));
    CHECK(slr_buffer_create(e->device, words * sizeof *values, &e->out));
    CHECK(slr_buffer_write(e->in, 0, values, words * sizeof *values));
    free(values);
}

static inline void engine_close(struct engine *e)
{
    slr_buffer_destroy(e->in);
    slr_buffer_destroy(e->out);
    slr_kernel_destroy(e->kernel);
    slr_program_destroy(e->program);
    slr_device_close(e->device);
    free(e->result);
}

// What the stream says of the launch; what was written is in `result` all the same.
static inline slr_status engine_try(struct engine *e, slr_shape shape, int n)
{
    uint32_t pattern = 0xabababab;
    CHECK(slr_stream_fill(e->stream, e->out, 0, e->words * 4, &pattern, 4, NULL));
    slr_status status = SLR_LAUNCH(e->stream, e->kernel, shape, e->in, e->out, n);
    if (status == SLR_OK)
        status = slr_stream_finish(e->stream, 60 * SECOND);
    if (status == SLR_OK)
        CHECK(slr_buffer_read(e->out, 0, e->result, e->words * sizeof *e->result));
    return status;
}

#endif
