// SPDX-License-Identifier: Apache-2.0
// The driver's functions as this backend calls them: stall.h says what each notes, and who looks.
#include "hal/cuda/stall.h"

static struct slri_cu real; // written once, by the loader, before anybody has the table
static _Thread_local struct slri_cu_place *here;
static _Thread_local uint32_t last; // the place that it had last, which is most likely free

// Relaxed: nothing comes with it. Two looks that find the same value find the same call, as the count is in it.
static void begin_calls(enum slri_cu_call call)
{
    if (here)
        __atomic_store_n(&here->call, (here->call | 0xff) + 1 + call, __ATOMIC_RELAXED);
}

static void end(void)
{
    if (here)
        __atomic_store_n(&here->call, here->call & ~(uint64_t)0xff, __ATOMIC_RELAXED);
}

void slri_cu_library_begin(void)
{
    begin_calls(SLRI_CU_CALL_LIBRARY);
}

void slri_cu_library_end(void)
{
    end();
}

#define WATCHED(result, name, parameters, arguments)                                                                   \
    static result watched_##name parameters                                                                            \
    {                                                                                                                  \
        begin_calls(SLRI_CU_CALL_##name);                                                                              \
        result answer = real.name arguments;                                                                           \
        end();                                                                                                         \
        return answer;                                                                                                 \
    }
SLRI_CU_REQUIRED(WATCHED)
SLRI_CU_OPTIONAL(WATCHED)
_Static_assert(SLRI_CU_CALLS <= 256, "a call is a byte of its word");

void slri_cu_watched(const struct slri_cu *found, struct slri_cu *out)
{
    real = *found;
    *out = *found;
#define PUT(result, name, parameters, arguments) out->name = found->name ? watched_##name : NULL;
    SLRI_CU_REQUIRED(PUT)
    SLRI_CU_OPTIONAL(PUT)
#undef PUT
}

// Acquire: what the one before stored in it.
static bool take(struct slri_cu_place *place)
{
    uint32_t free = 0;
    return __atomic_load_n(&place->taken, __ATOMIC_RELAXED) == 0 &&
           __atomic_compare_exchange_n(&place->taken, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void slri_cu_watch_enter(struct slri_cu_watch *watch)
{
    for (uint32_t i = 0; i < SLRI_CU_PLACES; ++i) {
        struct slri_cu_place *place = &watch->place[(last + i) % SLRI_CU_PLACES];
        if (!take(place))
            continue;
        last = (last + i) % SLRI_CU_PLACES;
        place->outer = here;
        here = place;
        return;
    }
}

void slri_cu_watch_leave(void)
{
    struct slri_cu_place *place = here;
    if (!place)
        return;
    here = place->outer;
    __atomic_store_n(&place->taken, 0, __ATOMIC_RELEASE); // what we stored in it
}
