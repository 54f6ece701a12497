// SPDX-License-Identifier: Apache-2.0
#include "bench/bare.h"

#include "bench/batch.h"
#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BARE_PIECES = 8 };

struct bare {
    const struct bare_api *api; // NULL: on the host
    slr_device *device;
    void *context, *kernel[BARE_KERNELS], *running;
    const char *why;
    struct bare_piece {
        void *memory;
        size_t bytes;
    } piece[BARE_PIECES];
    unsigned pieces;
    bool parked, stays; // stays: kernels can, there
};

bare *bare_open(const bench *bench)
{
    const char *backend = bench->info.backend;
    bare *bare = memory_take(1, sizeof *bare);
    bare->device = bench->device;
    bare->stays = strcmp(backend, "vulkan") != 0 || strstr(bench->info.features, "persistent_groups=1") != NULL;
    bare->api = strcmp(backend, "opencl") == 0   ? &bare_opencl
                : strcmp(backend, "cuda") == 0   ? &bare_cuda
                : strcmp(backend, "vulkan") == 0 ? &bare_vulkan
                : strcmp(backend, "webgpu") == 0 ? &bare_webgpu
                                                 : NULL;
    if (bare->api == NULL)
        return bare;
    partner_free_caller(bench->partner); // as slipring's: the driver's threads must not inherit the caller's core
    bare->context = bare->api->open(bench->info.name, &bare->why);
    partner_move_caller(bench->partner, false);
    if (bare->context != NULL)
        return bare;
    say("the floor on %s: %s", bare->api->called, bare->why);
    free(bare);
    return NULL;
}

void bare_close(bare *bare)
{
    if (bare == NULL)
        return;
    for (unsigned i = 0; i < BARE_KERNELS && bare->api != NULL; i++)
        bare->api->release(bare->kernel[i]);
    for (unsigned i = 0; i < bare->pieces; i++) {
        if (bare->api != NULL)
            bare->api->give(bare->context, bare->piece[i].memory);
        else
            free(bare->piece[i].memory);
    }
    if (bare->api != NULL)
        bare->api->close(bare->context);
    free(bare);
}

bool bare_on_host(const bare *bare)
{
    return bare->api == NULL;
}

void *bare_take(bare *bare, size_t bytes)
{
    if (bare->pieces == BARE_PIECES)
        abort();
    void *memory = bare->api == NULL ? bench_lines(bytes) : bare->api->take(bare->context, bytes);
    if (memory == NULL) {
        say("the floor on %s: no memory for %zu bytes", bare->api->called, bytes);
        return NULL;
    }
    bare->piece[bare->pieces++] = (struct bare_piece){memory, bytes};
    return memset(memory, 0, bytes);
}

static size_t bytes_of(const bare *bare, const void *memory)
{
    for (unsigned i = 0; i < bare->pieces; i++)
        if (bare->piece[i].memory == memory)
            return bare->piece[i].bytes;
    abort();
}

bool bare_prepare(bare *bare, enum bare_kernel kernel, void *in, void *out)
{
    if (bare->api == NULL)
        return true;
    bare->why = "its driver keeps no kernel";
    if (!bare->stays && kernel != BARE_ONCE && kernel != BARE_ADDER)
        return false;
    bare->kernel[kernel] = bare->api->prepare(bare->context, kernel, (void *[]){in, out},
                                              (size_t[]){bytes_of(bare, in), bytes_of(bare, out)}, &bare->why);
    return bare->kernel[kernel] != NULL;
}

bool bare_is_ready(const bare *bare, enum bare_kernel kernel)
{
    return bare->kernel[kernel] != NULL;
}

const char *bare_why(const bare *bare)
{
    return bare->why;
}

const char *bare_called(const bare *bare)
{
    return bare->api->called;
}

static bool park(bare *bare, bool parked)
{
    if (parked == bare->parked)
        return true;
    slr_status status = parked ? slr_device_park(bare->device, BENCH_TIMEOUT_NS) : slr_device_resume(bare->device);
    if (status == SLR_UNSUPPORTED) // nothing stays there
        return true;
    bare->parked = parked && status == SLR_OK;
    return status == SLR_OK || bench_failed(status, "slr_device_park");
}

bool bare_begin_launches(bare *bare)
{
    return !bare->api->parks_for_launches || park(bare, true);
}

bool bare_end_launches(bare *bare)
{
    return park(bare, false);
}

static bool begin(bare *bare, enum bare_kernel kernel, const uint32_t *values, unsigned count, uint32_t messages)
{
    bare->running = bare->kernel[kernel];
    if (bare->api->launch(bare->running, values, count, messages))
        return true;
    say("the floor on %s: it is not launched", bare->api->called);
    return false;
}

static bool finish(const bare *bare)
{
    if (bare->api->finish(bare->running))
        return true;
    say("the floor on %s: it has failed", bare->api->called);
    return false;
}

bool bare_start(bare *bare, enum bare_kernel kernel, uint32_t first, uint32_t end)
{
    return park(bare, true) && begin(bare, kernel, (uint32_t[]){first, end}, 2, 1);
}

bool bare_wait(bare *bare)
{
    bool fine = finish(bare);
    return park(bare, false) && fine;
}

bool bare_has(const bare *bare, enum bare_way way)
{
    return way == BARE_BY_LAUNCH || bare->api->handle != NULL;
}

bool bare_handle(bare *bare, enum bare_way way, uint32_t number)
{
    if (way == BARE_BY_LAUNCH)
        return begin(bare, BARE_ONCE, &number, 1, 1) && finish(bare);
    if (bare->api->handle(bare->kernel[BARE_ONCE], way, number))
        return true;
    say("the floor on %s: it fails", bare->api->called);
    return false;
}

_Noreturn void bare_give_up(const bare *bare)
{
    say("the floor on %s: its kernel does not reply", bare->api != NULL ? bare->api->called : "the host");
    fflush(NULL);
    _exit(EXIT_FAILED); // the driver's own functions at exit would wait for the kernel
}

bool bare_add(bare *bare, uint32_t count)
{
    return begin(bare, BARE_ADDER, NULL, 0, count) && finish(bare);
}
