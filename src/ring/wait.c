// SPDX-License-Identifier: Apache-2.0
// Back-off and parking. Announce, full fence, look again, sleep; the waker stores, full fence, looks at the
// announcement: of two such threads at least one sees the other (tests/model/park.pml).
#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/sim.h"
#include "base/status.h"
#include "ring/ring.h"

slr_status slri_waker_create(const slr_allocator *allocator, struct slri_waker **out)
{
    struct slri_waker *waker = slri_alloc(allocator, sizeof *waker);
    if (!waker)
        return SLRI_FAIL(NO_MEMORY, "no memory for a port");
    waker->holds = 1;
    waker->allocator = allocator;
    *out = waker;
    return SLR_OK;
}

void slri_waker_release(struct slri_waker *waker)
{
    if (!waker || !slri_let_go(&waker->holds))
        return;
    slri_marks_drop(waker);
    if (waker->has_event)
        slri_event_close(&waker->event);
    slri_free(waker->allocator, waker, sizeof *waker);
}

void slri_waker_wake(struct slri_waker *waker)
{
    // Relaxed looks: the caller's fence orders them behind its stores. The exchanges make one wake of many.
    if (__atomic_load_n(&waker->asleep, __ATOMIC_RELAXED) && __atomic_exchange_n(&waker->asleep, 0, __ATOMIC_RELAXED))
        slri_futex_wake(&waker->asleep, UINT32_MAX);
    // Acquire: `polled` was released behind the making of the event.
    if (__atomic_load_n(&waker->polled, __ATOMIC_RELAXED) && __atomic_exchange_n(&waker->polled, 0, __ATOMIC_ACQUIRE))
        slri_event_signal(&waker->event);
}

// Polls without a pause instruction first: it is 140 cycles on recent Intel cores, as long as a message takes. The
// other side answers within a hundred polls when it is awake. If it is not, it may be waiting for this very core: with
// more threads than cores a worker woken behind a spinning caller was seen to wait out 20 us of spins. So some 5 us,
// then yields, each of which lets such a thread run at once; and since waking from a futex costs 30-60 us, about as
// long of those.
#define SPINS 400
#define YIELDS 60

uint64_t slri_ring_patience_ns(const slr_ring *ring)
{
    const uint64_t most_ns = 10000000000u;
    uint64_t asked_ns = ring->device->facts.hang_timeout_ns;
    return asked_ns != 0 && asked_ns < most_ns ? asked_ns : most_ns;
}

// A device cannot wake a thread: a poller looks for it, every 100 us. On an H100 a reply comes after some 10 us, which
// is longer than the yields: parked at once, each round trip took 135 us.
static bool may_park(struct slri_backoff *backoff)
{
    if (backoff->late_ns == 0 || slri_sim_on())
        return true;
    if (backoff->parks_ns == 0)
        backoff->parks_ns = slri_deadline_after(backoff->late_ns);
    return slri_passed(backoff->parks_ns);
}

enum slri_wait slri_backoff_step(struct slri_backoff *backoff)
{
    if (slri_until_now(&backoff->until))
        return SLRI_TOO_LATE;
    uint32_t polls = backoff->polls++;
    // What a spinning thread waits for cannot happen meanwhile; or it takes longer than the spins, and the threads of a
    // driver that computes on the host's cores want this one.
    if (polls == 0 && (slri_core_count() == 1 || slri_sim_on() || backoff->batched))
        backoff->polls = SPINS;
    // A clock read a poll would cost more than the poll; a deadline begins a microsecond late for it.
    if (polls < SPINS && polls % 64 != 63)
        return SLRI_POLL_AGAIN;
    if (slri_passed(slri_until_deadline(&backoff->until)))
        return SLRI_TOO_LATE;
    if (polls < SPINS)
        return SLRI_POLL_AGAIN;
    if (polls >= SPINS + YIELDS && may_park(backoff))
        return SLRI_PARK;
    slri_yield();
    return SLRI_POLL_AGAIN;
}
