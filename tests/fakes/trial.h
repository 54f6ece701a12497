// SPDX-License-Identifier: Apache-2.0
// What the tests of backends on fakes share: a device opened, used and closed, each step only behind the ones that went
// well, and the proof that other devices go on.
#ifndef TESTS_FAKES_TRIAL_H
#define TESTS_FAKES_TRIAL_H

#include "device/device_test.h"

struct trial {
    slr_device *device;
    slr_stream *stream;
    slr_buffer *a, *b; // 64 bytes each
    slr_event *event;
    slr_program *program;
    slr_kernel *kernel;
    unsigned char back[64];
    slr_status told; // to the host function
    uint32_t calls;
};

#define TRY_EACH(call)                                                                                                 \
    if (status == SLR_OK)                                                                                              \
    status = (call)

// A host function that notes what it is told.
static inline void trial_note(void *user, slr_status status)
{
    struct trial *trial = user;
    trial->told = status;
    ++trial->calls;
}

static inline slr_status trial_run(const char *spec, struct trial *t, slr_status (*submit)(struct trial *t))
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096; // zeroed as many times as there are calls
    slr_status status = slr_device_open(spec, &desc, &t->device);
    TRY_EACH(slr_stream_create(t->device, NULL, &t->stream));
    TRY_EACH(slr_event_create(t->device, &t->event));
    TRY_EACH(slr_buffer_create(t->device, 64, &t->a));
    TRY_EACH(slr_buffer_create(t->device, 64, &t->b));
    TRY_EACH(submit(t));
    TRY_EACH(slr_stream_finish(t->stream, LONG));
    if (t->calls != 0 && status == SLR_OK)
        holds(t->told == SLR_OK);
    return status;
}

static inline void trial_end(struct trial *t)
{
    if (t->stream)
        slr_stream_finish(t->stream, LONG); // what was submitted before a refusal
    slr_buffer_destroy(t->a);
    slr_buffer_destroy(t->b);
    slr_event_destroy(t->event);
    slr_kernel_destroy(t->kernel);
    slr_program_destroy(t->program);
    slr_stream_destroy(t->stream);
    slr_device_close(t->device);
}

static inline void still_works(slr_device *device, slr_buffer *buffer)
{
    char back[5] = "";
    slr_stream *stream;
    must(slr_stream_default(device, &stream));
    must(slr_stream_write(stream, buffer, 0, "well", 4, NULL));
    must(slr_stream_read(stream, buffer, 0, back, 4, NULL));
    must(slr_stream_finish(stream, LONG));
    assert_string_equal(back, "well");
}

#endif
