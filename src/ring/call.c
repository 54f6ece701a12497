// SPDX-License-Identifier: Apache-2.0
// Send and wait for the reply, on a port of one's own or on the device's shared one. On the shared port whoever holds
// its lock hands each reply to the caller that waits for its correlation.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "engine/observe.h"
#include "ring/ring.h"

#include <string.h>

struct waiter { // one caller on the shared port, on its stack
    struct waiter *next;
    uint32_t correlation;
    const slr_ring *ring; // the one that it called, to compare: any caller may let go of the ended one under the lock
    uint64_t late_ns;     // of that ring kernel
    void *reply;
    size_t bytes;
    slr_status status;                      // SLR_TIMEOUT until it is decided
    char name[sizeof((slr_ring *)0)->name]; // of that ring kernel, which may be gone: where the status needs a message
};

struct slri_shared_port {
    uint32_t holds; // atomic: its device's until that closes, and one of each thread in a call on it
    slri_mutex lock;
    slr_port *port;
    struct waiter *waiters;
    uint32_t announcements;
};

// ---- what both sorts of call share ---------------------------------------------------------------------------------

static slr_status noticed(const char *name, slr_status notice)
{
    if (notice == SLR_DROPPED)
        return SLRI_FAIL(DROPPED,
                         "ring kernel '%s': the mailbox was full, and its overflow policy dropped this message", name);
    return SLRI_FAIL(HANDLER_FAULT,
                     "ring kernel '%s': the handler faulted on this message; slr_ring_stats has the reason", name);
}

static slr_status ended_early(const char *name)
{
    return SLRI_FAIL(END, "ring kernel '%s' ended before it replied", name);
}

static slr_status failed(const char *name)
{
    return SLRI_FAIL(RING_FAILED, "ring kernel '%s' failed before it replied", name);
}

// Copies a found reply out for its caller.
static slr_status answer(const struct slri_found *found, void *reply, size_t bytes)
{
    const slr_ring *ring = found->connection->ring;
    slr_status status = slri_reply_status(ring->S[found->slot + MB_HEAD]);
    if (status == SLR_OK)
        memcpy(reply, slri_reply_payload(found), bytes);
    return status;
}

slr_status slri_check_reply(const slr_ring *ring, const void *reply, size_t bytes)
{
    if (ring->reply_bytes == 0)
        return SLRI_FAIL(INVALID, "ring kernel '%s' never replies; use slr_send", ring->name);
    if (bytes != ring->reply_bytes || !reply)
        return SLRI_FAIL(INVALID, "ring kernel '%s': its replies have %u B; the buffer has %zu B", ring->name,
                         ring->reply_bytes, reply ? bytes : 0);
    return SLR_OK;
}

static slr_status check_target(slr_address to, const void *reply, size_t bytes)
{
    slr_ring *ring;
    SLRI_TRY(slri_table_find(to, &ring));
    slr_status status = slri_check_reply(ring, reply, bytes);
    slri_ring_release(ring);
    return status;
}

// ---- on a port of one's own ----------------------------------------------------------------------------------------

// Keeps a reply that was meant for slr_receive.
static slr_status keep(slr_port *port, const struct slri_found *found)
{
    slr_reply reply;
    slri_describe_reply(found, &reply);
    size_t bytes = sizeof(struct slri_kept_reply) + reply.bytes;
    struct slri_kept_reply *kept = slri_alloc(port->device->allocator, bytes);
    if (!kept)
        return SLRI_FAIL(NO_MEMORY, "no memory to keep a reply of %u B", reply.bytes);
    kept->reply = reply;
    kept->allocated = bytes;
    if (reply.bytes)
        memcpy(kept->payload, slri_reply_payload(found), reply.bytes);
    slri_consume_reply(found);
    if (port->kept_last)
        port->kept_last->next = kept;
    else
        port->kept_first = kept;
    port->kept_last = kept;
    return SLR_OK;
}

// Looks through what has come. SLR_TIMEOUT: not there yet.
static slr_status look_for_reply(slr_port *port, struct slri_connection *c, uint32_t correlation, void *reply,
                                 size_t bytes)
{
    const slr_ring *ring = c->ring;
    struct slri_found found;
    struct slri_connection *ended;                                  // for slr_receive to tell
    uint32_t over = __atomic_load_n(&ring->over, __ATOMIC_ACQUIRE); // before its lanes
    uint32_t failures = __atomic_load_n(&ring->failures, __ATOMIC_ACQUIRE);
    // Behind the last word nothing more comes: what is there is looked for where it lies, be it marked yet or not.
    bool last = over || failures != port->call_failures;
    while (slri_find_reply(port, &found, &ended) || (last && slri_find_in(c, &found))) {
        if (slri_answers(&found, ring, correlation)) {
            slr_status status = answer(&found, reply, bytes);
            const char *name = found.connection->ring->name;
            slri_consume_reply(&found);
            return status == SLR_OK ? SLR_OK : noticed(name, status);
        }
        if (slri_is_late(&found))
            slri_discard_reply(&found);
        else
            SLRI_TRY(keep(port, &found));
    }
    if (over)
        return ended_early(ring->name);
    return last ? failed(ring->name) : SLR_TIMEOUT;
}

static slr_status call_on(slr_port *port, slr_address to, const void *message, size_t bytes, void *reply,
                          size_t reply_bytes, uint64_t timeout_ns, struct slri_granted *by_key,
                          struct slri_until *until, bool *sent)
{
    struct slri_connection *c = slri_connection_of(port, to);
    SLRI_TRY(c ? slri_check_reply(c->ring, reply, reply_bytes) : check_target(to, reply, reply_bytes));
    uint32_t correlation = ++port->call_correlation | SLRI_CALL_BIT;
    port->call_failures = c ? __atomic_load_n(&c->ring->failures, __ATOMIC_ACQUIRE) : 0; // before it is sent
    bool fresh = !c;
    SLRI_TRY(slri_send(port, to, message, bytes, 0, correlation, by_key, until));
    *sent = true;
    c = slri_connection_of(port, to);
    if (fresh)
        port->call_failures = c->lane->failures_told; // as it was when the lane was taken
    struct slri_backoff backoff = {
        .until = *until, .late_ns = slri_late_ns(c->ring), .batched = c->ring->mode == SLR_RING_RELAUNCHED};
    for (;;) {
        slr_status status = look_for_reply(port, c, correlation, reply, reply_bytes);
        if (status != SLR_TIMEOUT)
            return status;
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait != SLRI_POLL_AGAIN)
            SLRI_TRY(slri_ring_check_process(c->ring));
        if (wait == SLRI_PARK)
            slri_port_park(port, c->ring, backoff.until.deadline_ns);
        if (wait == SLRI_TOO_LATE)
            return SLRI_FAIL(TIMEOUT, "no reply came within %llu ns", (unsigned long long)timeout_ns);
    }
}

slr_status slri_call(slr_port *port, slr_address to, const void *message, size_t bytes, void *reply, size_t reply_bytes,
                     uint64_t timeout_ns, struct slri_granted *by_key, struct slri_until *until, bool *sent)
{
    return call_on(port, to, message, bytes, reply, reply_bytes, timeout_ns, by_key, until, sent);
}

// ---- on the shared port --------------------------------------------------------------------------------------------

void slri_shared_port_release(struct slri_shared_port *shared)
{
    if (!slri_let_go(&shared->holds))
        return;
    slr_device *device = shared->port->device;
    slri_device_hold(device); // the port's may be the last
    slr_port_close(shared->port);
    slri_mutex_destroy(&shared->lock);
    slri_free(device->allocator, shared, sizeof *shared);
    slri_device_release(device);
}

static slr_status create_shared(slr_device *device, struct slri_shared_port **out)
{
    struct slri_shared_port *shared = slri_alloc(device->allocator, sizeof *shared);
    if (!shared)
        return SLRI_FAIL(NO_MEMORY, "no memory for a shared port");
    slr_status status = slri_port_create(device, &shared->port);
    if (status != SLR_OK) {
        slri_free(device->allocator, shared, sizeof *shared);
        return status;
    }
    shared->holds = 1;
    slri_mutex_init(&shared->lock);
    *out = shared;
    return SLR_OK;
}

// The device's, held; NULL: it has none. `made` becomes it, unless there is one or the device has closed.
static struct slri_shared_port *find_shared(slr_device *device, struct slri_shared_port *made)
{
    struct slri_shared_port *found = NULL;
    slri_mutex_lock(&device->ring_lock);
    struct slri_ring_device *table = device->ring; // NULL: it has no ring kernel, or has closed
    if (table && !table->shared)
        table->shared = made;
    if (table && table->shared) {
        found = table->shared;
        slri_hold(&found->holds);
    }
    slri_mutex_unlock(&device->ring_lock);
    if (made && found != made) // another thread was first
        slri_shared_port_release(made);
    return found;
}

static slr_status shared_port_of(slr_device *device, struct slri_shared_port **out)
{
    struct slri_shared_port *made;
    *out = find_shared(device, NULL);
    if (*out)
        return SLR_OK;
    SLRI_TRY(create_shared(device, &made));
    *out = find_shared(device, made);
    return *out ? SLR_OK : SLRI_FAIL(RING_DEAD, "the device at place %u has no ring kernels", device->place);
}

// Held: the device may close while a caller waits.
static slr_status shared_port(slr_address to, struct slri_shared_port **out)
{
    slr_device *device = slri_device_at(to.place);
    if (!device)
        return SLRI_FAIL(RING_DEAD, "no open device has place %u", to.place);
    slr_status status = slri_device_check_process(device);
    if (status == SLR_OK)
        status = shared_port_of(device, out);
    slri_device_release(device);
    return status;
}

// What has become of a caller's message, told to it.
static void settle_waiter(struct waiter *w, const slr_ring *ring, slr_status status)
{
    if (status != SLR_OK)
        memcpy(w->name, ring->name, sizeof w->name);
    __atomic_store_n(&w->status, status, __ATOMIC_RELEASE); // the reply, and the name
}

// Tells every caller that waits for this ring kernel that no reply will come. True: there was one.
static bool settle(struct slri_shared_port *shared, const slr_ring *ring, slr_status status)
{
    bool some = false;
    for (struct waiter *w = shared->waiters; w; w = w->next) {
        if (w->ring != ring || w->status != SLR_TIMEOUT)
            continue;
        settle_waiter(w, ring, status);
        some = true;
    }
    return some;
}

// Hands every reply that has come to its caller, discards those that nobody waits for, and tells one end (the last
// argument, else NULL). True: some caller has something.
static bool deliver_some(struct slri_shared_port *shared, struct slri_connection **ended)
{
    struct slri_found found;
    bool others = false;
    struct slri_connection *failure = slri_find_failure(shared->port); // before the lanes: replies go first
    while (slri_find_reply(shared->port, &found, ended) || (failure && slri_find_in(failure, &found))) {
        bool taken = false;
        for (struct waiter *w = shared->waiters; w; w = w->next) {
            if (w->status != SLR_TIMEOUT || !slri_answers(&found, w->ring, w->correlation))
                continue; // of several replies to a message the first is its answer
            settle_waiter(w, found.connection->ring, answer(&found, w->reply, w->bytes));
            others = taken = true;
        }
        if (taken)
            slri_consume_reply(&found);
        else
            slri_discard_reply(&found);
    }
    if (failure)
        others = settle(shared, failure->ring, SLR_RING_FAILED) || others;
    if (!*ended)
        return others;
    settle(shared, (*ended)->ring, SLR_END);
    slr_reply end;
    slri_report_end(shared->port, *ended, &end);
    return true;
}

// All that has come, under the lock. Callers that are not this one are woken by the futex that all of them sleep on.
static void deliver(struct slri_shared_port *shared)
{
    struct slri_connection *ended;
    bool others = false;
    do
        others = deliver_some(shared, &ended) || others;
    while (ended || __atomic_load_n(&shared->port->waker->failed, __ATOMIC_RELAXED)); // `ended` may be gone
    if (others) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        slri_waker_wake(shared->port->waker);
    }
}

static void remove_waiter(struct slri_shared_port *shared, const struct waiter *waiter)
{
    for (struct waiter **at = &shared->waiters; *at; at = &(*at)->next) {
        if (*at != waiter)
            continue;
        *at = waiter->next;
        return;
    }
}

// Sleeps on the shared port's waker. Announce, fence, look again, sleep: the last look is a delivery. Each announcement
// behind a wake has another number, so that a caller which was served between its look and its sleep does not sleep on
// somebody else's announcement.
static void park_shared(struct slri_shared_port *shared, const struct waiter *waiter, uint64_t deadline_ns)
{
    struct slri_waker *waker = shared->port->waker;
    slri_mutex_lock(&shared->lock);
    slri_unblock_shards(shared->port);
    uint32_t announced = __atomic_load_n(&waker->asleep, __ATOMIC_RELAXED);
    if (announced == 0) {
        announced = ++shared->announcements | 1u << 31; // never 0
        __atomic_store_n(&waker->asleep, announced, __ATOMIC_RELAXED);
    }
    slri_announced();
    deliver(shared);
    slri_mutex_unlock(&shared->lock);
    if (__atomic_load_n(&waiter->status, __ATOMIC_ACQUIRE) == SLR_TIMEOUT)
        slri_futex_wait(&waker->asleep, announced, deadline_ns);
}

static slr_status wait_shared(struct slri_shared_port *shared, struct waiter *waiter, uint64_t deadline_ns)
{
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns, .late_ns = waiter->late_ns};
    for (;;) {
        slri_mutex_lock(&shared->lock);
        deliver(shared);
        slri_mutex_unlock(&shared->lock);
        slr_status status = __atomic_load_n(&waiter->status, __ATOMIC_ACQUIRE);
        if (status != SLR_TIMEOUT)
            return status;
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE)
            return SLR_TIMEOUT;
        if (wait == SLRI_PARK)
            park_shared(shared, waiter, deadline_ns);
    }
}

// A try has failed, and has been counted as refused, which the send is not yet.
static void go_on_trying(const struct slri_shared_port *shared, slr_address to, const struct slri_connection *c)
{
    slr_ring *ring;
    if (c) {
        __atomic_fetch_sub(&c->ring->refused, 1, __ATOMIC_RELAXED);
        slri_unblock_shards(shared->port);
    } else if (slri_table_find(to, &ring) == SLR_OK) {
        __atomic_fetch_sub(&ring->refused, 1, __ATOMIC_RELAXED);
        slri_ring_release(ring);
    }
}

// Sends under the lock without waiting there: other callers' replies must go on being delivered.
static slr_status send_shared(struct slri_shared_port *shared, slr_address to, const void *message, size_t bytes,
                              uint32_t priority, uint32_t correlation, uint64_t deadline_ns, struct waiter *waiter)
{
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    for (;;) {
        slri_mutex_lock(&shared->lock);
        deliver(shared);
        if (waiter)
            correlation = ++shared->port->call_correlation | SLRI_CALL_BIT;
        else if (correlation == 0)
            correlation = ++shared->port->correlation & ~SLRI_CALL_BIT;
        struct slri_until now = {0};
        slr_status status = slri_send(shared->port, to, message, bytes, priority, correlation, NULL, &now);
        if (status == SLR_OK && waiter) {
            waiter->correlation = correlation;
            waiter->ring = slri_connection_of(shared->port, to)->ring;
            waiter->late_ns = slri_late_ns(waiter->ring);
            waiter->next = shared->waiters;
            shared->waiters = waiter;
        }
        // NULL: the port has no place there yet; those of closed ports are not free.
        const struct slri_connection *c = status == SLR_FULL ? slri_connection_of(shared->port, to) : NULL;
        bool may_wait = status == SLR_FULL && deadline_ns != 0 && (!c || c->ring->overflow != SLR_OVERFLOW_REJECT);
        bool late = slri_passed(deadline_ns);
        if (may_wait && !late)
            go_on_trying(shared, to, c);
        slri_mutex_unlock(&shared->lock);
        if (!may_wait)
            return status;
        if (late)
            return c ? SLRI_FAIL(TIMEOUT, "the mailbox was full until the deadline")
                     : SLRI_FAIL(
                           TIMEOUT,
                           "no closed port had released its place by the deadline; raise slr_ring_desc.max_ports");
        if (slri_backoff_step(&backoff) == SLRI_PARK)
            slri_sleep_ns(50000); // a full mailbox behind a lock: nobody is in a hurry here
    }
}

slr_status slri_shared_send(slr_address to, const void *message, size_t bytes, const slr_send_options *options,
                            struct slri_until *until)
{
    struct slri_shared_port *shared;
    SLRI_TRY(shared_port(to, &shared));
    slr_status status = send_shared(shared, to, message, bytes, options->priority, options->correlation,
                                    slri_until_deadline(until), NULL);
    slri_shared_port_release(shared);
    return status;
}

// The status is the reply's, or why there is none: TIMEOUT, END, RING_FAILED.
static slr_status call_on_shared(struct slri_shared_port *shared, slr_address to, const void *message, size_t bytes,
                                 uint64_t timeout_ns, struct waiter *waiter)
{
    uint64_t deadline = slri_deadline_after(timeout_ns);
    SLRI_TRY(send_shared(shared, to, message, bytes, 0, 0, timeout_ns ? deadline : 0, waiter));
    wait_shared(shared, waiter, deadline);
    slri_mutex_lock(&shared->lock);
    remove_waiter(shared, waiter);
    slri_mutex_unlock(&shared->lock);
    const char *name = waiter->name;
    switch (waiter->status) { // nobody else knows the waiter any more
    case SLR_OK:
        return SLR_OK;
    case SLR_TIMEOUT:
        return SLRI_FAIL(TIMEOUT, "no reply came within %llu ns", (unsigned long long)timeout_ns);
    case SLR_END:
        return ended_early(name);
    case SLR_RING_FAILED:
        return failed(name);
    default:
        return noticed(name, waiter->status);
    }
}

static slr_status call_shared(slr_address to, const void *message, size_t bytes, void *reply, size_t reply_bytes,
                              uint64_t timeout_ns)
{
    struct slri_shared_port *shared;
    SLRI_TRY(check_target(to, reply, reply_bytes));
    SLRI_TRY(shared_port(to, &shared));
    struct waiter waiter = {.reply = reply, .bytes = reply_bytes, .status = SLR_TIMEOUT};
    slr_status status = call_on_shared(shared, to, message, bytes, timeout_ns, &waiter);
    slri_shared_port_release(shared);
    return status;
}

slr_status slr_call(slr_port *port, slr_address to, const void *message, size_t bytes, void *reply, size_t reply_bytes,
                    uint64_t timeout_ns)
{
    struct slri_until until = {.timeout_ns = timeout_ns};
    bool sent;
    uint64_t begin = slri_observe_begin();
    slr_status status = port ? call_on(port, to, message, bytes, reply, reply_bytes, timeout_ns, NULL, &until, &sent)
                             : call_shared(to, message, bytes, reply, reply_bytes, timeout_ns);
    if (begin)
        slri_observe_reply(to, begin);
    return status;
}
