// SPDX-License-Identifier: Apache-2.0
// The random cases of tests/ops/random_test without cmocka, one after the other until the time is over. A case that
// fails is told and left as it is, with its memory, and the next one is tried: so one run names all that fail.
#define TESTS_OPS_WITHOUT_CMOCKA
#include "gpu.h"

#include "json_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SANITIZED 0 // it has no list of devices
#define MOST_TOLD 40u

static jmp_buf next_case;
static char what_failed[600];

static _Noreturn void leave_case(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(what_failed, sizeof what_failed, format, list);
    va_end(list);
    longjmp(next_case, 1);
}

#undef must
#define must(call) ((call) == SLR_OK ? (void)0 : leave_case("%s: %s", #call, slr_error_message()))
#define assert_true(condition) ((condition) ? (void)0 : leave_case("%s does not hold", #condition))
#define fail_msg leave_case

static slr_device *open_device(const char *spec)
{
    slr_device *device;
    must(slr_device_open(spec, NULL, &device));
    return device;
}

#include "tests/ops/random.h"

struct operations {
    struct random_ops ops;
    json_out out;
    uint32_t tried[RANDOM_KINDS], failed[RANDOM_KINDS], told;
};

static const char *type_of(uint32_t number)
{
    slr_scalar type_here = random_type_of(number);
    return type_here == SLR_F16 ? "f16" : type_here == SLR_BF16 ? "bf16" : "f32";
}

static void tell_failure(struct operations *o, uint32_t number)
{
    if (o->told++ >= MOST_TOLD)
        return;
    json_out_line(&o->out, NULL);
    json_out_integer(&o->out, "case", number);
    json_out_text(&o->out, "kind", random_kinds[random_kind_of(number)].name);
    json_out_text(&o->out, "type", type_of(number));
    json_out_bool(&o->out, "deterministic", number % RANDOM_MODES != 0);
    json_out_text(&o->out, "said", what_failed);
    json_out_end_object(&o->out);
}

// False: no other case can be tried, because the device is lost.
static bool try_case(struct operations *o, uint32_t number)
{
    uint32_t kind = random_kind_of(number);
    slr_stream *stream = o->ops.mode[0].stream;
    ++o->tried[kind];
    if (setjmp(next_case) == 0) {
        check_random(&o->ops, number);
        return true;
    }
    ++o->failed[kind];
    tell_failure(o, number);
    return slr_stream_finish(stream, COMPILED) == SLR_OK ||
           (slr_stream_recover(stream) == SLR_OK && slr_stream_finish(stream, COMPILED) != SLR_DEVICE_LOST);
}

// How each kind went, and what the two libraries are: where they are not there, own kernels were tried alone.
static uint32_t tell_all(struct operations *o)
{
    uint32_t failed = 0;
    json_out_end_array(&o->out);
    json_out_array(&o->out, "kinds");
    for (uint32_t kind = 0; kind < RANDOM_KINDS; ++kind) {
        failed += o->failed[kind];
        if (o->tried[kind] == 0)
            continue;
        json_out_line(&o->out, NULL);
        json_out_text(&o->out, "kind", random_kinds[kind].name);
        json_out_integer(&o->out, "cases", o->tried[kind]);
        json_out_integer(&o->out, "failed", o->failed[kind]);
        json_out_end_object(&o->out);
    }
    json_out_end_array(&o->out);
    json_out_integer(&o->out, "biased_halves", biased_halves); // of these
    json_out_integer(&o->out, "rounded_twice", rounded_twice);
    return failed;
}

static void tell_provider(void *user, const slr_provider *provider)
{
    struct operations *o = user;
    if (strncmp(provider->name, "cu", 2) == 0)
        json_out_text(&o->out, provider->name, *provider->why_not ? provider->why_not : provider->version);
}

static int open_operations(const char *device, struct operations *o)
{
    slr_device_info info;
    if (setjmp(next_case) != 0) {
        fprintf(stderr, "%s\n", what_failed);
        return GPU_NO_DEVICE;
    }
    open_random(device, &o->ops);
    must(slr_device_get_info(o->ops.mode[0].device, &info));
    setvbuf(stdout, NULL, _IOLBF, 0); // what it has told stays where it is cut off
    o->out = (json_out){.to = stdout};
    json_out_object(&o->out, NULL);
    json_out_text(&o->out, "device", info.description);
    must(slr_ops_visit_providers(tell_provider, o));
    json_out_array(&o->out, "failures");
    return GPU_DONE;
}

static bool is_kind(const char *name)
{
    for (uint32_t kind = 0; kind < RANDOM_KINDS; ++kind)
        if (strcmp(random_kinds[kind].name, name) == 0)
            return true;
    fprintf(stderr, "'%s' is no kind of operation\n", name);
    return false;
}

int gpu_operations(const char *device, uint64_t seconds, const char *kind)
{
    static struct operations o; // which a jump leaves alone
    if (kind && !is_kind(kind))
        return GPU_USAGE;
    uint64_t deadline = slri_deadline_after(seconds * SECOND);
    int end = open_operations(device, &o);
    bool goes_on = end == GPU_DONE;
    for (uint32_t number = 0; goes_on && !slri_passed(deadline); ++number)
        if (!kind || strcmp(random_kinds[random_kind_of(number)].name, kind) == 0)
            goes_on = try_case(&o, number);
    if (end != GPU_DONE)
        return end;
    uint32_t failed = tell_all(&o);
    json_out_end_object(&o.out);
    if (failed == 0 && setjmp(next_case) == 0)
        close_random(&o.ops); // a case that has failed may have left the device as it must not be closed
    return failed == 0 ? GPU_DONE : GPU_FAILED;
}
