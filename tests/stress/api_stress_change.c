// SPDX-License-Identifier: Apache-2.0
// Who changes ring kernels: the keeper, and the maker of mayflies.
#include "tests/stress/api_stress.h"

// A route to a `second` that does not run gets room, and places of ports that are closed, when it runs again.
// slr_route waits 10 s for that, and the keeper, who is to bring it about, waits with it. So a few such routes are
// tried, of up to eight ports each: none that needs room, which is from a persistent one, and none behind one that has
// waited.
enum { ROUTES_TO_RESTING = 8 };
static void route_to_second(struct thread *t, slr_ring *from, const slr_route_desc *desc, const char *what)
{
    if (slr_ring_get_state(rings[SECOND_STAGE]) == SLR_RING_ACTIVE)
        __atomic_store_n(&routes_to_resting, 0, __ATOMIC_RELAXED);
    else if (persistent || __atomic_fetch_add(&routes_to_resting, 1, __ATOMIC_RELAXED) >= ROUTES_TO_RESTING)
        return;
    doing(t, what);
    if (expect(slr_route(from, rings[SECOND_STAGE], desc), ROUTE_RESULTS, what) == SLR_TIMEOUT)
        __atomic_store_n(&routes_to_resting, ROUTES_TO_RESTING, __ATOMIC_RELAXED);
}

static void unroute_mayfly(struct thread *t)
{
    slri_mutex_lock(&lock);
    slr_ring *mayfly = rings[MAYFLY];
    mayfly_users += mayfly != NULL;
    slri_mutex_unlock(&lock);
    if (!mayfly)
        return;
    for (uint32_t i = 0; i < 10; ++i) { // beside its first activation
        doing(t, "slr_unroute of a mayfly");
        count(&totals.unroutes, expect(slr_unroute(mayfly, rings[SECOND_STAGE]), ONE(SLR_OK) | ONE(SLR_NOT_FOUND),
                                       "slr_unroute of a mayfly") == SLR_OK);
        if (persistent)
            break; // each change of theirs ends a launch and begins another
        route_to_second(t, mayfly, NULL, "slr_route of a mayfly");
    }
    slri_mutex_lock(&lock);
    --mayfly_users;
    slri_mutex_unlock(&lock);
}

static void route_or_unroute(struct thread *t)
{
    if (pick(t, 2)) {
        slr_route_desc desc = SLR_ROUTE_DESC_INIT;
        desc.reply_too = pick(t, 2);
        route_to_second(t, rings[FIRST], &desc, "slr_route");
    } else {
        doing(t, "slr_unroute");
        count(&totals.unroutes, expect(slr_unroute(rings[FIRST], rings[SECOND_STAGE]), ONE(SLR_OK) | ONE(SLR_NOT_FOUND),
                                       "slr_unroute") == SLR_OK);
    }
}

static uint32_t count_accepted(const struct thread *t, uint32_t from)
{
    uint32_t accepted = 0;
    for (uint32_t k = from; k < t->sent; ++k)
        accepted += fate[t->number * OF_ONE + k] == ACCEPTED;
    return accepted;
}

// Pauses `second`, takes the route from `first` away while messages lie there that it has brought, and sends for as
// long as there is room: with what was pending before no more than queue_size may be accepted, because none is handled.
// The stats say queue_size at most, whatever is there. Nobody reads the replies.
static void fill_second(struct thread *t)
{
    slr_port *port;
    slr_ring_stats paused;
    uint32_t from = t->sent;
    doing(t, "slr_ring_deactivate before `second` is filled");
    if (expect(slr_ring_deactivate(rings[SECOND_STAGE], LONG), WRONG_STATE_TOO, "deactivate") != SLR_OK)
        return;
    slri_sleep_ns(pick(t, 8) * MS);
    doing(t, "slr_unroute before `second` is filled");
    count(&totals.unroutes, expect(slr_unroute(rings[FIRST], rings[SECOND_STAGE]), ONE(SLR_OK) | ONE(SLR_NOT_FOUND),
                                   "slr_unroute") == SLR_OK);
    must(slr_port_open(device, &port));
    paused = stats_of(SECOND_STAGE, rings[SECOND_STAGE]);
    while (send_some(t, port, SECOND_STAGE) && t->sent - from < 2048)
        ;
    if (paused.pending + count_accepted(t, from) > queue_sizes[SECOND_STAGE])
        stop("second: paused, %llu were pending and %u more were accepted, of queue_size %u",
             (unsigned long long)paused.pending, count_accepted(t, from), queue_sizes[SECOND_STAGE]);
    close_port(t, port, from);
    doing(t, "slr_ring_reactivate of `second`");
    count(&totals.pauses,
          expect(slr_ring_reactivate(rings[SECOND_STAGE], LONG), WRONG_STATE_TOO, "reactivate") == SLR_OK);
}

void be_keeper(void *arg)
{
    struct thread *t = arg;
    while (!slri_passed(round_ends_ns)) {
        uint32_t r = pick(t, keyed ? MAYFLY : KEYED);
        switch (pick(t, 11)) {
        case 10:
            fill_second(t);
            break;
        case 0:
            doing(t, "slr_ring_deactivate");
            count(&totals.pauses, expect(slr_ring_deactivate(rings[r], LONG), WRONG_STATE_TOO, "deactivate") == SLR_OK);
            break;
        case 1:
        case 2:
            for (r = 0; r < (keyed ? MAYFLY : KEYED); ++r) {
                doing(t, "slr_ring_reactivate");
                expect(slr_ring_reactivate(rings[r], LONG), WRONG_STATE_TOO, "reactivate");
            }
            break;
        case 3:
            doing(t, "slr_ring_checkpoint");
            expect(r == KEYED ? SLR_OK : slr_ring_checkpoint(rings[r], LONG), WRONG_STATE_TOO, "checkpoint");
            break;
        case 4:
        case 5:
            doing(t, "slr_ring_restart");
            expect(slr_ring_restart(rings[r], SLR_RESTART_INITIAL, LONG), WRONG_STATE_TOO, "slr_ring_restart");
            break;
        case 6:
            take_letters(r, rings[r]);
            break;
        default:
            route_or_unroute(t);
            break;
        }
        for (r = 0; r < (keyed ? MAYFLY : KEYED); ++r)
            (void)stats_of(r, rings[r]);
        unroute_mayfly(t);
        slri_sleep_ns(pick(t, 1000) * 1000);
    }
    doing(t, NULL);
}

static void show_mayfly(slr_ring *ring)
{
    slri_mutex_lock(&lock);
    rings[MAYFLY] = ring;
    while (!ring && mayfly_users != 0) {
        slri_mutex_unlock(&lock);
        slri_sleep_ns(MS / 10);
        slri_mutex_lock(&lock);
    }
    slri_mutex_unlock(&lock);
}

// For a while: so it often changes the routes of a mayfly beside its activation.
static void wait_for_keeper(void)
{
    uint64_t until = slri_deadline_after(2 * MS);
    for (bool there = false; !there && !slri_passed(until);) {
        slri_mutex_lock(&lock);
        there = mayfly_users != 0;
        slri_mutex_unlock(&lock);
    }
}

static void send_to_mayfly(struct thread *t, slr_port *port, slr_address to)
{
    struct job job[16];
    uint32_t n = 1 + pick(t, 16), accepted = 0;
    if (!has_numbers(t, n))
        return;
    for (uint32_t k = 0; k < n; ++k)
        job[k] = make_job(t, MAYFLY);
    to.instance = pick(t, instances[MAYFLY]);
    doing(t, "a mayfly's slr_send_many");
    expect(slr_send_many(port, to, NULL, job, sizeof *job, n, MS, &accepted), ONE(SLR_OK) | REFUSALS, "send");
    note_sent(job, n, accepted);
}

static void live_once(struct thread *t)
{
    slr_port *port;
    slr_address to;
    doing(t, "a mayfly's launch");
    slr_ring *ring = make_ring(MAYFLY, t);
    must(slr_ring_get_address(ring, 0, &to));
    must(slr_port_open(device, &port));
    uint32_t sort = pick(t, 3);
    if (sort == 0) {
        doing(t, "a mayfly's slr_subscribe");
        must(slr_subscribe(ring, "told.mayfly"));
    } else if (sort == 1) {
        doing(t, "a mayfly's slr_advertise");
        expect(slr_advertise(ring, "other.mayfly"), ROUTE_RESULTS, "slr_advertise");
    }
    route_to_second(t, ring, NULL, "a mayfly's slr_route");
    for (uint32_t i = 0; i < 2; ++i) // so there is work for its owners as they start
        send_to_mayfly(t, port, to);
    show_mayfly(ring);
    wait_for_keeper();
    doing(t, "a mayfly's slr_ring_activate");
    must(slr_ring_activate(ring, LONG));
    for (uint32_t i = pick(t, 4); i > 0; --i)
        send_to_mayfly(t, port, to);
    show_mayfly(NULL);
    doing(t, "a mayfly's end");
    for (uint32_t k = t->number * OF_ONE; k < t->number * OF_ONE + t->sent; ++k)
        reply_may_go[k] = 1;
    slr_port_close(port);
    end_ring(MAYFLY, ring);
    count(&totals.mayflies, 1);
}

void be_mayfly(void *arg)
{
    struct thread *t = arg;
    while (!slri_passed(round_ends_ns)) {
        live_once(t);
        slri_sleep_ns(pick(t, 3000) * 1000);
    }
    doing(t, NULL);
}
