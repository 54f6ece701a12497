// SPDX-License-Identifier: Apache-2.0
// Setting up ring kernels that stay, a route between them and a stream, in many steps of which each may fail: what was
// begun before is undone, and no group runs on. Behind a header that has `fake`.
#ifndef TESTS_FAKES_SETUP_H
#define TESTS_FAKES_SETUP_H

#include "base/clock.h"
#include "base/kept.h"
#include "base/purse_test.h"
#include "base/thread.h"
#include "tests/fakes/trial.h"

struct setup {
    slr_device *device;
    slr_program *program;
    slr_ring *first, *second;
    slr_port *port;
    slr_stream *stream;
    slr_ring_mode mode; // of its ring kernels
};

static slr_status setup_ring(struct setup *s, const char *handler, slr_ring **out)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.handler = handler;
    desc.program = s->program;
    desc.instances = 2;
    desc.queue_size = 64;
    desc.max_ports = 4;
    desc.mode = s->mode;
    slr_status status = slr_ring_create(s->device, &desc, out);
    TRY_EACH(slr_ring_launch(*out));
    TRY_EACH(slr_ring_activate(*out, LONG));
    return status;
}

static slr_status setup_begin(struct setup *s, const char *spec, const slr_allocator *allocator)
{
    static const char source[] =
        "struct message { unsigned value, port; };\n"
        "struct count { unsigned handled; };\n"
        "__ring__ void first(struct count *self, const struct message *in)\n"
        "{ struct message out = *in; self->handled += 1u; ring_reply(&out); }\n"
        "__ring__ void second(struct count *self, const struct message *in) { self->handled += in->value; }\n";
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    slr_address to;
    desc.max_memory_bytes = 4096;
    desc.allocator = allocator;
    s->mode = strstr(spec, "ring=persistent") ? SLR_RING_PERSISTENT : SLR_RING_RELAUNCHED;
    slr_status status = slr_device_open(spec, &desc, &s->device);
    TRY_EACH(slr_program_from_text(s->device, "setup.cu", source, NULL, &s->program));
    TRY_EACH(setup_ring(s, "first", &s->first));
    TRY_EACH(setup_ring(s, "second", &s->second));
    TRY_EACH(slr_route(s->first, s->second, NULL));
    TRY_EACH(slr_stream_create(s->device, NULL, &s->stream));
    TRY_EACH(slr_port_open(s->device, &s->port));
    TRY_EACH(slr_ring_get_address(s->first, 0, &to));
    const uint32_t message[2] = {1, 0};
    TRY_EACH(slr_send(s->port, to, message, sizeof message, LONG));
    return status;
}

static uint32_t setup_staying(void)
{
    return __atomic_load_n(&fake->staying, __ATOMIC_ACQUIRE);
}

// All but the device, of which then no group may run: it would hold the device up, for ever.
static void setup_end(struct setup *s, const char *what)
{
    char said[256];
    snprintf(said, sizeof said, "%s", slr_error_message());
    slr_port_close(s->port);
    slr_ring_destroy(s->first);
    slr_ring_destroy(s->second);
    slr_stream_destroy(s->stream);
    slr_program_destroy(s->program);
    uint64_t deadline = slri_deadline_after(LONG);
    while (setup_staying() != 0 && !slri_passed(deadline)) // a thread that has said its last word, and ends
        slri_sleep_ns(100000);
    if (setup_staying() != 0)
        fail_msg("%s: %u kernels stay, and nothing is there for them (%s)", what, setup_staying(), said);
    slr_device_close(s->device);
}

static void setup_check(struct setup *s, const struct purse *purse, slr_status status, bool failed, uint64_t kept,
                        const char *what)
{
    if (status != SLR_OK && *slr_error_message() == '\0')
        fail_msg("%s: no message", what);
    if (status != SLR_OK && !failed)
        fail_msg("%s: %s, and nothing was to fail: %s", what, slr_status_name(status), slr_error_message());
    setup_end(s, what);
    bool keeps = slri_kept_bytes() != kept; // where nobody says any more that it has ended
    if (!keeps && (fake->live != 0 || purse->out != 0))
        fail_msg("%s: %u objects and %llu B are left", what, fake->live, (unsigned long long)purse->out);
    if (fake->wrong != 0)
        fail_msg("%s: %u wrong calls", what, fake->wrong);
}

// `begin`: resets the fake. Gives how many calls failed in turn.
static uint32_t setup_fail_at_each_call(const char *spec, void (*begin)(void), int32_t error, bool lost)
{
    for (uint32_t k = 1;; ++k) {
        struct purse purse = {.left = UINT64_MAX};
        const slr_allocator allocator = {purse_give, purse_take, &purse};
        struct setup s = {0};
        uint64_t kept = slri_kept_bytes();
        char what[96];
        begin();
        fake->error = error;
        fake->lost = lost;
        fake->fail_at = k;
        slr_status status = setup_begin(&s, spec, &allocator);
        const char *failed = __atomic_load_n(&fake->failed, __ATOMIC_ACQUIRE); // a poller calls, too
        snprintf(what, sizeof what, "%s, call %u (%s)", spec, k, failed ? failed : "none");
        setup_check(&s, &purse, status, failed != NULL, kept, what);
        if (!failed)
            return k;
    }
}

// Likewise of allocations.
static uint32_t setup_fail_at_each_allocation(const char *spec, void (*begin)(void))
{
    for (uint32_t k = 0;; ++k) {
        struct purse purse = {.left = k};
        const slr_allocator allocator = {purse_give, purse_take, &purse};
        struct setup s = {0};
        uint64_t kept = slri_kept_bytes();
        char what[64];
        begin();
        slr_status status = setup_begin(&s, spec, &allocator);
        snprintf(what, sizeof what, "%s, %u allocations", spec, k);
        setup_check(&s, &purse, status, true, kept, what);
        if (status == SLR_OK)
            return k;
    }
}

#endif
