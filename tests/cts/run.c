// SPDX-License-Identifier: Apache-2.0
// One case on one device: leaving it from anywhere, and giving back what it made.
#include "host.h"
#include "kept.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cts_kept {
    cts_sort sort;
    void *what;
    struct cts_kept *next;
};

uint64_t cts_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CTS_SECOND + (uint64_t)now.tv_nsec;
}

void cts_leave(cts *c, cts_result result, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(c->why, sizeof c->why, format, values);
    va_end(values);
    c->result = result;
    longjmp(c->leave, 1);
}

void cts_leave_with(cts *c, slr_status status, const char *what, const char *file, int line)
{
    if (status == SLR_UNSUPPORTED)
        cts_leave(c, CTS_UNSUPPORTED, "%s", slr_error_message());
    cts_leave(c, status == SLR_TIMEOUT ? CTS_HUNG : CTS_FAILED, "%s:%d: %s gave %s: %s", file, line, what,
              slr_status_name(status), slr_error_message());
}

// ---- what is kept ---------------------------------------------------------------------------------------------------

void cts_keep(cts *c, cts_sort sort, void *what)
{
    struct cts_kept *made = malloc(sizeof *made);
    if (!made)
        cts_leave(c, CTS_FAILED, "no memory");
    *made = (struct cts_kept){sort, what, c->kept};
    c->kept = made;
}

void *cts_memory(cts *c, size_t bytes)
{
    void *made = calloc(1, bytes ? bytes : 1);
    if (!made)
        cts_leave(c, CTS_FAILED, "no memory for %zu bytes", bytes);
    cts_keep(c, CTS_MEMORY, made);
    return made;
}

static void destroy(const cts *c, const struct cts_kept *kept)
{
    switch (kept->sort) {
    case CTS_PROGRAM:
        slr_program_destroy(kept->what);
        break;
    case CTS_KERNEL:
        slr_kernel_destroy(kept->what);
        break;
    case CTS_BUFFER:
        slr_buffer_destroy(kept->what);
        break;
    case CTS_STREAM:
        (void)slr_stream_finish(kept->what, CTS_LONG(c)); // a case that leaves early has work in flight on its memory
        slr_stream_destroy(kept->what);
        break;
    case CTS_POOL:
        slr_pool_destroy(kept->what);
        break;
    case CTS_PORT:
        slr_port_close(kept->what);
        break;
    case CTS_RING:
        slr_ring_destroy(kept->what);
        break;
    case CTS_MEMORY:
        free(kept->what);
        break;
    }
}

void cts_release(cts *c)
{
    while (c->kept) {
        struct cts_kept *first = c->kept;
        c->kept = first->next;
        destroy(c, first);
        free(first);
    }
}

// ---- running --------------------------------------------------------------------------------------------------------

slr_status cts_device_open(const char *spec, cts_device *out)
{
    out->spec = spec;
    slr_status status = slr_device_open(spec, NULL, &out->device);
    if (status == SLR_OK)
        status = slr_device_get_info(out->device, &out->info);
    if (status != SLR_OK)
        return status;
    const char *ring = strstr(spec, "ring=persistent") ? "persistent" : strstr(spec, "ring=") ? "relaunch" : "auto";
    if (strcmp(out->info.backend, "opencl") == 0) { // whose math it is depends on the platform
        bool is_pocl = strstr(out->info.description, "Portable Computing Language") != NULL;
        snprintf(out->kind, sizeof out->kind, "opencl/%s/%s", is_pocl ? "pocl" : "other", ring);
        return SLR_OK;
    }
    if (strcmp(out->info.backend, "cuda") == 0) {
        snprintf(out->kind, sizeof out->kind, "cuda/%s", ring);
        return SLR_OK;
    }
    if (strcmp(out->info.backend, "vulkan") == 0) { // a device without 64-bit integers runs a kernel's words
        snprintf(out->kind, sizeof out->kind, "vulkan/%s%s%s%s",
                 strstr(out->info.features, " shaderInt64") ? "SPIR-V" : "words",
                 strstr(out->info.features, " denorms=flushed") ? "/flushes" : "",
                 strstr(out->info.notes, "the driver ends loops") ? "/ends_loops" : "",
                 strcmp(ring, "persistent") == 0 ? "/persistent" : "");
        return SLR_OK;
    }
    size_t engine = strcspn(out->info.engine, " ,"); // of "compiled by /usr/bin/cc"
    snprintf(out->kind, sizeof out->kind, "%s/%.*s", out->info.backend, (int)(engine < 15 ? engine : 15),
             out->info.engine);
    return SLR_OK;
}

static void run_host(cts *c)
{
    uint64_t begin = cts_now_ns();
    c->what->run(c);
    c->ns = (double)(cts_now_ns() - begin);
}

static void hear(void *user, const slr_print *print)
{
    cts *c = user;
    size_t used = strlen(c->printed);
    snprintf(c->printed + used, sizeof c->printed - used, "%s", print->text ? print->text : "(lost)");
}

// Host cases count, close and terminate: each has a device of its own, so that none sees another's leavings.
static void enter(cts *c, cts_device *reference)
{
    if (!c->what->run) {
        cts_run_kernel(c, reference);
        return;
    }
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.on_print = hear;
    desc.print_user = c;
    CTS_OK(c, slr_device_open(c->on->spec, &desc, &c->device));
    run_host(c);
}

bool cts_device_is_well(const cts_device *on)
{
    static const int word = 1;
    slr_buffer *buffer;
    if (!on->device || slr_buffer_create(on->device, sizeof word, &buffer) != SLR_OK)
        return false;
    slr_status status = slr_buffer_write(buffer, 0, &word, sizeof word);
    slr_buffer_destroy(buffer);
    return status == SLR_OK;
}

// What hangs is left alone, device and all: whatever waited for it would hang too.
static void abandon(cts *c)
{
    c->kept = NULL;
    if (!c->what->run && cts_device_open(c->on->spec, c->on) != SLR_OK)
        c->on->device = NULL;
}

// `c->on` is the reference while that runs: what it cannot do is no excuse for the device.
static void judge_reference(cts *c, const cts_device *on)
{
    if (c->on != on && c->result == CTS_UNSUPPORTED)
        c->result = CTS_FAILED;
}

void cts_run(cts *c, const cts_case *what, cts_device *on, cts_device *reference, const cts_options *options)
{
    memset(c, 0, sizeof *c);
    c->what = what;
    c->on = on;
    c->options = options;
    c->device = what->run ? NULL : on->device;
    c->result = CTS_PASSED;
    if (setjmp(c->leave) == 0)
        enter(c, reference);
    judge_reference(c, on);
    if (c->result == CTS_HUNG) {
        abandon(c);
        return;
    }
    cts_release(c);
    if (what->run)
        slr_device_close(c->device);
}
