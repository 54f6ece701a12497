// SPDX-License-Identifier: Apache-2.0
// The deadlock list: each call that may wait for a kernel that never returns is made while such a kernel runs and
// answers, in a thread of its own. One that has not returned in time is told as blocked, and the kernel is parked,
// which lets it return. Of slipring's own calls none may block, and the kernel must answer behind each.
#include "calls.h"

#include "base/thread.h"
#include "json_out.h"
#include "ring/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLIPRING_NS (60 * SECOND) // slipring parks the kernel by itself, and compiles
#define FREED_NS (60 * SECOND)    // a call that has not returned so long after the kernel has gone never will

struct deadlocks {
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_address to;
    struct gpu_calls *calls;
    json_out out;
    uint64_t patience_ns;
    uint32_t stop;     // atomic: the thread that sends
    uint32_t answered; // atomic: by the kernel, so far
    slri_thread sender;
    uint32_t blocked, failed;
};

// ---- the kernel that stays -----------------------------------------------------------------------------------------

static const char echo[] = "struct message { unsigned value; };\n"
                           "__ring__ void echo(const struct message *in) { ring_reply(in); }\n";

// Without a rest, so that the kernel never has nothing to do for long. What is parked is waited for.
static void send_always(void *arg)
{
    struct deadlocks *d = arg;
    slr_port *port;
    must(slr_port_open(d->device, &port));
    while (!__atomic_load_n(&d->stop, __ATOMIC_RELAXED)) {
        uint32_t sent = d->answered, got = 0;
        slr_status status = slr_call(port, d->to, &sent, sizeof sent, &got, sizeof got, 60 * SECOND);
        holds(status == SLR_OK && got == sent);
        __atomic_fetch_add(&d->answered, 1, __ATOMIC_RELAXED); // a count alone
    }
    slr_port_close(port);
}

static void start_ring(struct deadlocks *d)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    must(slr_program_from_text(d->device, "echo.cu", echo, NULL, &d->program));
    desc.program = d->program;
    must(slr_ring_create(d->device, &desc, &d->ring));
    must(slr_ring_launch(d->ring));
    must(slr_ring_activate(d->ring, 60 * SECOND));
    must(slr_ring_get_address(d->ring, 0, &d->to));
    must(slri_thread_start(&d->sender, "sender", send_always, d));
}

static uint32_t answered(const struct deadlocks *d)
{
    return __atomic_load_n(&d->answered, __ATOMIC_RELAXED);
}

// Some messages more than now.
static bool goes_on(const struct deadlocks *d, uint64_t patience_ns)
{
    uint32_t now = answered(d);
    uint64_t deadline = slri_deadline_after(patience_ns);
    while (answered(d) - now < 10 && !slri_passed(deadline))
        slri_sleep_ns(MS / 10);
    return answered(d) - now >= 10;
}

// ---- one call ------------------------------------------------------------------------------------------------------

struct trial {
    const struct gpu_call *call;
    struct gpu_calls *calls;
    int32_t result;
    char said[200]; // of slipring's
    uint64_t took_ns;
    uint32_t returned; // atomic; release: the others
};

static void make_call(void *arg)
{
    struct trial *t = arg;
    gpu_calls_enter(t->calls);
    uint64_t began_ns = slri_now_ns();
    t->result = t->call->make(t->calls);
    t->took_ns = slri_now_ns() - began_ns;
    gpu_calls_leave(t->calls);
    snprintf(t->said, sizeof t->said, "%s", slr_error_message());
    __atomic_store_n(&t->returned, 1, __ATOMIC_RELEASE);
}

static bool returns(const struct trial *t, uint64_t patience_ns)
{
    uint64_t deadline = slri_deadline_after(patience_ns);
    while (!__atomic_load_n(&t->returned, __ATOMIC_ACQUIRE) && !slri_passed(deadline))
        slri_sleep_ns(MS / 20);
    return __atomic_load_n(&t->returned, __ATOMIC_ACQUIRE);
}

static void tell(struct deadlocks *d, const struct trial *t, const char *ended, bool is_slipring)
{
    json_out *out = &d->out;
    json_out_line(out, NULL);
    json_out_text(out, "call", t->call->name);
    json_out_text(out, "through", is_slipring ? "slipring" : "driver");
    json_out_text(out, "ended", ended);
    json_out_real(out, "ms", (double)t->took_ns / 1e6);
    json_out_integer(out, "error", t->result == GPU_ABSENT ? 0 : (uint64_t)(uint32_t)t->result);
    if (is_slipring && t->result != SLR_OK)
        json_out_text(out, "said", t->said);
    json_out_end_object(out);
    fflush(out->to);
}

static void close_json(struct deadlocks *d)
{
    slr_device_info info;
    json_out_end_array(&d->out);
    if (slr_device_get_info(d->device, &info) == SLR_OK) {
        json_out_integer(&d->out, "pauses", info.pauses);
        json_out_integer(&d->out, "stalls", info.stalls); // calls of slipring's own for which its watchdog parked
    }
    json_out_integer(&d->out, "blocked", d->blocked);
    json_out_integer(&d->out, "failed", d->failed);
    json_out_end_object(&d->out);
    fflush(d->out.to);
}

// What the caller's thread holds is lost with the process.
_Noreturn static void give_up(struct deadlocks *d, const struct gpu_call *call, uint64_t waited_ns, bool is_slipring)
{
    tell(d, &(struct trial){.call = call, .took_ns = waited_ns}, "never returned", is_slipring);
    ++d->failed;
    close_json(d);
    _exit(GPU_FAILED);
}

// An idle kernel ends after a while: where the sender gets no core for as long, a call returns without waiting for it.
static uint32_t launches(const struct deadlocks *d)
{
    const struct slri_resident *resident = d->ring->shard[0].group.resident;
    return resident ? __atomic_load_n(&resident->launches, __ATOMIC_RELAXED) : 0; // a number alone
}

// False: the kernel was launched anew meanwhile, so that nothing was shown.
static bool try_call(struct deadlocks *d, const struct gpu_call *call, bool is_slipring)
{
    struct trial t = {.call = call, .calls = d->calls};
    slri_thread thread;
    bool in_time, parked = false;
    holds(goes_on(d, 60 * SECOND)); // it runs
    uint32_t launch = launches(d);
    must(slri_thread_start(&thread, "caller", make_call, &t));
    in_time = returns(&t, is_slipring ? SLIPRING_NS : d->patience_ns);
    if (!in_time) {
        parked = slr_device_park(d->device, FREED_NS) == SLR_OK;
        if (!returns(&t, FREED_NS))
            give_up(d, call, (is_slipring ? SLIPRING_NS : d->patience_ns) + FREED_NS, is_slipring);
    }
    slri_thread_join(&thread);
    if (parked)
        must(slr_device_resume(d->device));
    if (in_time && !is_slipring && goes_on(d, 60 * SECOND) && launches(d) != launch)
        return false;
    d->blocked += !in_time && !is_slipring;
    d->failed += is_slipring && (!in_time || t.result != SLR_OK || !goes_on(d, 60 * SECOND));
    tell(d, &t, t.result == GPU_ABSENT ? "absent" : in_time ? "returned" : "blocked until parked", is_slipring);
    return true;
}

// ---- all -----------------------------------------------------------------------------------------------------------

static int close_device(slr_device *device, const char *why)
{
    slr_device_close(device);
    fprintf(stderr, "%s\n", why);
    return GPU_NO_DEVICE;
}

// "cuda:0" with the context that other users of CUDA have too, and ring kernels that stay.
static int open_device(const char *name, struct deadlocks *d)
{
    char spec[128];
    uint32_t number = 0;
    const char *why = "";
    slr_device_info info;
    snprintf(spec, sizeof spec, "%s%ccontext=primary&ring=persistent", name, strchr(name, '?') ? '&' : '?');
    if (sscanf(name, "cuda:%u", &number) != 1 && strcmp(name, "cuda") != 0)
        return close_device(NULL, "the list is CUDA's: a device 'cuda:N' is needed");
    if (slr_device_open(spec, NULL, &d->device) != SLR_OK)
        return close_device(NULL, slr_error_message());
    must(slr_device_get_info(d->device, &info));
    d->calls = gpu_calls_open(d->device, number, &why);
    if (d->calls == NULL)
        return close_device(d->device, why);
    d->out = (json_out){.to = stdout};
    json_out_object(&d->out, NULL);
    json_out_text(&d->out, "device", info.description);
    json_out_real(&d->out, "patience_ms", (double)d->patience_ns / 1e6);
    json_out_array(&d->out, "calls");
    return GPU_DONE;
}

int gpu_deadlocks(const char *device, uint64_t patience_ns)
{
    struct deadlocks d = {.patience_ns = patience_ns};
    int end = open_device(device, &d);
    if (end != GPU_DONE)
        return end;
    start_ring(&d);
    for (const struct gpu_call *call = gpu_slipring_calls; call->name; ++call)
        try_call(&d, call, true);
    for (const struct gpu_call *call = gpu_driver_calls; call->name; ++call) {
        uint64_t deadline = slri_deadline_after(60 * SECOND);
        while (!try_call(&d, call, false) && !slri_passed(deadline))
            ;
    }
    __atomic_store_n(&d.stop, 1, __ATOMIC_RELAXED);
    slri_thread_join(&d.sender);
    must(slr_ring_terminate(d.ring, 60 * SECOND, NULL, NULL, NULL));
    slr_ring_destroy(d.ring);
    slr_program_destroy(d.program);
    close_json(&d);
    gpu_calls_close(d.calls);
    slr_device_close(d.device);
    return d.failed == 0 ? GPU_DONE : GPU_FAILED;
}
