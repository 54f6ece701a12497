// SPDX-License-Identifier: Apache-2.0
// What the driver's calls share: objects, waiting for kernels that stay, and failing on demand.
#define _POSIX_C_SOURCE 200809L
#include "fake_cuda_inside.h"
#include "fake_cuda_stay.h"
#include "fake_gdr.h"

#include "run/interpreter.h"
#include "lang/kernel.h"
#include "tests/ptx/ptx.h"
#include "tests/shim/image.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fake_cuda fake_cuda = {.devices = 2, .error = 2};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ---- objects -------------------------------------------------------------------------------------------------------

int32_t refuse(const char *name, int32_t error)
{
    ++fake_cuda.wrong;
    if (!fake_cuda.first_wrong)
        fake_cuda.first_wrong = name;
    return error;
}

void *make(enum kind kind, struct object *context)
{
    struct object *object = calloc(1, sizeof *object);
    object->kind = kind;
    object->context = context;
    if (context) {
        object->next = context->first;
        context->first = object;
    }
    ++fake_cuda.live;
    return object;
}

void free_nodes(struct object *object)
{
    for (uint32_t i = 0; i < object->nodes; ++i)
        for (uint32_t p = 0; p < object->node[i].parameters; ++p)
            free(object->node[i].parameter[p]);
    free(object->node);
    object->node = NULL;
    object->nodes = 0;
}

void drop(struct object *object)
{
    free_nodes(object);
    if (object->stay)
        end_stay(object, true);
    if (object->kind == MEMORY)
        fake_gdr_goes(object->bytes, object->size);
    if (object->kind != REGISTERED) // that is the application's
        free(object->bytes);
    free(object->text);
    slri_interp_destroy(object->interp);
    slri_module_destroy(object->module);
    shim_image_unload(object->image);
    ptx_image_unload(object->ptx);
    object->kind = 0;
    free(object);
    --fake_cuda.live;
}

int32_t drop_from_context(const char *name, void *handle, enum kind kind)
{
    struct object *context = current();
    if (!context)
        return refuse(name, INVALID_CONTEXT);
    struct object **at = &context->first;
    while (*at && *at != handle)
        at = &(*at)->next;
    if (!*at || (*at)->kind != kind)
        return refuse(name, INVALID_VALUE);
    struct object *object = *at;
    *at = object->next;
    forget_user(context, object);
    drop(object);
    return context->gone;
}

// ---- kernels that stay ---------------------------------------------------------------------------------------------

void end_stay(struct object *stream, bool by_force)
{
    fake_cuda_stay_end(stream->stay, by_force);
    stream->stay = NULL;
}

void end_stays(struct object *context)
{
    for (struct object *o = context->first; o; o = o->next)
        if (o->stay)
            end_stay(o, true);
}

void lose_stays(struct object *context)
{
    if (!fake_cuda.lingers)
        end_stays(context); // a context that is lost runs nothing
}

void drop_all(struct object *context)
{
    end_stays(context); // before the memory that they use
    while (context->first) {
        struct object *object = context->first;
        context->first = object->next;
        if (object->kind == REGISTERED && fake_cuda.keeps_pins)
            keep_pin(object->bytes);
        drop(object);
    }
}

bool stays(const struct object *stream)
{
    return stream->stay && fake_cuda_stays(stream->stay);
}

void wait_for_stays(const char *name, int most_ms)
{
    const struct object *context = current();
    for (int ms = 0; context && __atomic_load_n(&context->staying, __ATOMIC_ACQUIRE) != 0; ++ms) {
        if (ms == most_ms) {
            pthread_mutex_lock(&lock);
            refuse(name, 0);
            pthread_mutex_unlock(&lock);
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void stall(const char *name)
{
    const char *asked = __atomic_load_n(&fake_cuda.stalls_in, __ATOMIC_ACQUIRE);
    const struct object *context = current();
    if (!asked || !context || strcmp(asked, name) != 0 || __atomic_load_n(&context->staying, __ATOMIC_ACQUIRE) == 0)
        return;
    if (__atomic_load_n(&fake_cuda.held, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add(&fake_cuda.holds, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(&fake_cuda.held, __ATOMIC_ACQUIRE))
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        return;
    }
    wait_for_stays(name, 20000); // as long as a slow machine may take
}

// ---- failing on demand: under the lock -----------------------------------------------------------------------------

int32_t next_call(const char *name)
{
    if (fake_cuda.only && strncmp(name, fake_cuda.only, strlen(fake_cuda.only)) != 0)
        return 0;
    uint32_t call = __atomic_add_fetch(&fake_cuda.calls, 1, __ATOMIC_RELAXED);
    uint32_t fail_at =
        __atomic_load_n(&fake_cuda.fail_at, __ATOMIC_ACQUIRE); // of a test that writes while pollers call
    bool fails = fail_at != 0 && (call == fail_at || (fake_cuda.lost && call > fail_at));
    if (!fails)
        return 0;
    if (fake_cuda.lost && current())
        lose_stays(current());
    if (!fake_cuda.failed) // atomic for a test that looks while pollers call
        __atomic_store_n(&fake_cuda.failed, name, __ATOMIC_RELAXED);
    return fake_cuda.error;
}

int32_t next_in_context(const char *name)
{
    int32_t error = next_call(name);
    if (error != 0)
        return error;
    return current() ? current()->gone : refuse(name, INVALID_CONTEXT);
}

void lose_context(struct object *context, int32_t error)
{
    context->gone = error;
    lose_stays(context);
}

int32_t next_command(const char *name, slri_cu_stream stream)
{
    struct object *object = (void *)stream;
    int32_t error = next_in_context(name);
    if (error != 0)
        return error;
    if (!object || object->kind != STREAM || object->context != current())
        return refuse(name, INVALID_VALUE);
    if (!object->captured && __atomic_add_fetch(&fake_cuda.commands, 1, __ATOMIC_RELAXED) ==
                                 __atomic_load_n(&fake_cuda.fault_at, __ATOMIC_RELAXED)) {
        lose_context(current(), ILLEGAL_ADDRESS);
        fake_cuda.failed = "a command";
    }
    return 0;
}
