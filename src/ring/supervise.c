// SPDX-License-Identifier: Apache-2.0
// Supervisors: a tree, and one thread a tree that sleeps on a bell until a ring kernel of it fails. All that happens to
// the tree once it is started happens on that thread; others only read its counts.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/forks.h"
#include "base/futex.h"
#include "base/sized.h"
#include "base/status.h"
#include "ring/ring.h"

#include <slipring/supervisor.h>

#include <string.h>

struct child {      // one of the two
    slr_ring *ring; // held
    slr_supervisor *supervisor;
};

struct slr_supervisor {
    slr_supervisor_desc desc; // with its defaults
    slr_supervisor *parent;
    struct child *child;
    uint32_t children, room;
    uint64_t *marked;     // atomic: a bit a child: it may have failed. One of a supervisor stays set
    uint64_t *restart_ns; // when the last restarts were, by number modulo max_restarts
    uint64_t counted;     // since the supervisor was last restarted itself
    uint64_t restarts;    // atomic
    uint32_t failed;      // atomic
    uint32_t forks;       // base/forks.h: of the process that made it
    // Of the root.
    slri_thread thread;
    bool started;
    uint32_t stop;         // atomic
    uint32_t failed_event; // futex: raised when a supervisor of the tree has failed
    struct slri_bell bell;
};

// ---- making a tree ------------------------------------------------------------------------------------------------
static slr_status check_supervise(slr_supervisor_desc *d)
{
    if (d->strategy > SLR_REST_FOR_ONE)
        return SLRI_FAIL(INVALID, "slr_supervisor_desc.strategy is %u; expected an slr_strategy", d->strategy);
    if (d->restart_from > SLR_RESTART_CHECKPOINT)
        return SLRI_FAIL(INVALID, "slr_supervisor_desc.restart_from is %u; expected an slr_restart_from",
                         d->restart_from);
    if (d->max_restarts > 65536)
        return SLRI_FAIL(INVALID, "slr_supervisor_desc.max_restarts is %u; expected 1 to 65536", d->max_restarts);
    d->strategy = d->strategy ? d->strategy : SLR_ONE_FOR_ONE;
    d->restart_from = d->restart_from ? d->restart_from : SLR_RESTART_INITIAL;
    d->max_restarts = d->max_restarts ? d->max_restarts : 3;
    d->window_ns = d->window_ns ? d->window_ns : 5000000000u;
    d->restart_timeout_ns = d->restart_timeout_ns ? d->restart_timeout_ns : 1000000000u;
    return SLR_OK;
}

static size_t words_of(const slr_supervisor *s) // of `marked`
{
    return (s->children + 63) / 64;
}

static void free_marks(slr_supervisor *s)
{
    slri_free(NULL, s->marked, (words_of(s) + 1) * sizeof *s->marked);
    s->marked = NULL;
}

// The memory of supervisors, which belong to no device, comes from malloc.
static void free_supervisor(slr_supervisor *s)
{
    free_marks(s);
    slri_free(NULL, s->child, s->room * sizeof *s->child);
    slri_free(NULL, s->restart_ns, s->desc.max_restarts * sizeof *s->restart_ns);
    slri_free(NULL, s, sizeof *s);
}

slr_status slr_supervisor_create(const slr_supervisor_desc *desc, slr_supervisor **out)
{
    if (!desc || !out)
        return SLRI_FAIL(INVALID, "slr_supervisor_create: %s is NULL", desc ? "out" : "desc");
    slr_supervisor_desc checked;
    SLRI_TRY(SLRI_TAKE_DESC(slr_supervisor_desc, &checked, desc));
    SLRI_TRY(check_supervise(&checked));
    slr_supervisor *s = slri_alloc(NULL, sizeof *s);
    if (!s)
        return SLRI_FAIL(NO_MEMORY, "no memory for a supervisor");
    s->desc = checked;
    s->forks = slri_forks_count();
    s->restart_ns = slri_alloc(NULL, checked.max_restarts * sizeof *s->restart_ns);
    if (!s->restart_ns) {
        free_supervisor(s);
        return SLRI_FAIL(NO_MEMORY, "no memory for a supervisor");
    }
    *out = s;
    return SLR_OK;
}

static slr_supervisor *root_of(slr_supervisor *s)
{
    while (s->parent)
        s = s->parent;
    return s;
}

static slr_status add_supervise(slr_supervisor *s, struct child child)
{
    if (root_of(s)->started)
        return SLRI_FAIL(WRONG_STATE, "the supervisor has been started; add children before the start");
    if (s->children == s->room) {
        uint32_t room = s->room ? s->room * 2 : 8;
        struct child *grown = slri_alloc(NULL, room * sizeof *grown);
        if (!grown)
            return SLRI_FAIL(NO_MEMORY, "no memory for %u children of a supervisor", room);
        if (s->children)
            memcpy(grown, s->child, s->children * sizeof *grown);
        slri_free(NULL, s->child, s->room * sizeof *s->child);
        s->child = grown;
        s->room = room;
    }
    s->child[s->children++] = child;
    return SLR_OK;
}

slr_status slr_supervisor_add_ring(slr_supervisor *supervisor, slr_ring *ring)
{
    if (!supervisor || !ring)
        return SLRI_FAIL(INVALID, "slr_supervisor_add_ring: %s is NULL", supervisor ? "ring" : "supervisor");
    SLRI_TRY(slri_ring_check_process(ring));
    if (ring->main)
        return SLRI_FAIL(INVALID, "ring kernel '%s' is a loop, which cannot be restarted", ring->name);
    slri_mutex_lock(&ring->lock);
    slr_status status = ring->failure.bell ? SLRI_FAIL(INVALID, "ring kernel '%s' has a supervisor already", ring->name)
                                           : add_supervise(supervisor, (struct child){.ring = ring});
    if (status == SLR_OK) {
        ring->failure.bell = &supervisor->bell; // the root's from the start on
        slri_ring_hold(ring);
    }
    slri_mutex_unlock(&ring->lock);
    return status;
}

slr_status slr_supervisor_add_supervisor(slr_supervisor *supervisor, slr_supervisor *child)
{
    if (!supervisor || !child)
        return SLRI_FAIL(INVALID, "slr_supervisor_add_supervisor: %s is NULL", supervisor ? "child" : "supervisor");
    if (child->parent || root_of(supervisor) == child)
        return SLRI_FAIL(INVALID, "the supervisor %s",
                         child->parent ? "has a supervisor already" : "cannot be below itself");
    if (child->started)
        return SLRI_FAIL(WRONG_STATE, "the supervisor has been started; only a root may be");
    SLRI_TRY(add_supervise(supervisor, (struct child){.supervisor = child}));
    child->parent = supervisor;
    return SLR_OK;
}

// ---- failing and restarting children ------------------------------------------------------------------------------
static void tell_supervise(const slr_supervisor *s, slr_supervised_event event, slr_status status, slr_ring *ring)
{
    slr_supervised supervised = {.event = event, .status = status, .ring = ring, .supervisor = (slr_supervisor *)s};
    if (s->desc.on_event)
        s->desc.on_event(s->desc.user, &supervised);
}

// Those that have not failed yet, the last first.
static void fail_children(slr_supervisor *s, uint32_t first, uint32_t end)
{
    for (uint32_t i = end; i-- > first;) {
        if (s->child[i].ring)
            slri_ring_fail(s->child[i].ring, "its supervisor stopped it for another's failure");
        else
            fail_children(s->child[i].supervisor, 0, s->child[i].supervisor->children);
    }
}

static void restart_ring(const slr_supervisor *s, slr_ring *ring)
{
    if (slr_ring_get_state(ring) != SLR_RING_IN_FAILURE)
        return;
    slr_status status = slr_ring_restart(ring, (slr_restart_from)s->desc.restart_from, s->desc.restart_timeout_ns);
    tell_supervise(s, status == SLR_OK ? SLR_SUPERVISED_RESTARTED : SLR_SUPERVISED_REFUSED, status, ring);
}

static void restart_children(slr_supervisor *s, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; ++i) {
        slr_supervisor *below = s->child[i].supervisor;
        if (!below) {
            restart_ring(s, s->child[i].ring);
            continue;
        }
        below->counted = 0;
        __atomic_store_n(&below->failed, 0, __ATOMIC_RELEASE);
        restart_children(below, 0, below->children);
    }
}

static void give_up_restart(slr_supervisor *s)
{
    fail_children(s, 0, s->children);
    __atomic_store_n(&s->failed, 1, __ATOMIC_RELEASE);
    tell_supervise(s, SLR_SUPERVISED_GAVE_UP, SLR_RING_FAILED, NULL);
    slr_supervisor *root = root_of(s);
    __atomic_fetch_add(&root->failed_event, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&root->failed_event, UINT32_MAX);
}

// Whether one more restart is allowed: then it is counted.
static bool count_restart(slr_supervisor *s)
{
    uint64_t now = slri_now_ns();
    uint64_t *slot = &s->restart_ns[s->counted % s->desc.max_restarts];
    if (s->counted >= s->desc.max_restarts && now - *slot < s->desc.window_ns)
        return false;
    *slot = now;
    ++s->counted;
    __atomic_fetch_add(&s->restarts, 1, __ATOMIC_RELAXED);
    return true;
}

static void answer_failure(slr_supervisor *s, uint32_t i)
{
    if (!count_restart(s)) {
        give_up_restart(s);
        return;
    }
    uint32_t first = s->desc.strategy == SLR_ONE_FOR_ALL ? 0 : i;
    uint32_t end = s->desc.strategy == SLR_ONE_FOR_ONE ? i + 1 : s->children;
    fail_children(s, first, end);
    restart_children(s, first, end);
}

static bool child_has_failed(const struct child *child)
{
    return child->ring ? slr_ring_get_state(child->ring) == SLR_RING_IN_FAILURE : child->supervisor->failed != 0;
}

// The first child from `i` on that is marked; `children`: none. Relaxed: the bell was read before.
static uint32_t next_marked(const slr_supervisor *s, uint32_t i)
{
    while (i < s->children) {
        uint64_t word = __atomic_load_n(&s->marked[i / 64], __ATOMIC_RELAXED) >> i % 64;
        if (word != 0)
            return i + (uint32_t)__builtin_ctzll(word);
        i = (i / 64 + 1) * 64;
    }
    return s->children;
}

static void mark_again(slr_supervisor *s, uint32_t i)
{
    __atomic_fetch_or(&s->marked[i / 64], (uint64_t)1 << i % 64, __ATOMIC_RELAXED); // this thread looks itself
}

// Before the look at its state. Acquire: of who has set it, the state; who sets it behind this rings again.
static void unmark(slr_supervisor *s, uint32_t i)
{
    __atomic_fetch_and(&s->marked[i / 64], ~((uint64_t)1 << i % 64), __ATOMIC_ACQUIRE);
}

// Looks after one supervisor's part of the tree, from below. True: something was done, and may have to be done again.
static bool tend(slr_supervisor *s)
{
    bool done = false;
    for (uint32_t i = next_marked(s, 0); i < s->children && !s->failed; i = next_marked(s, i + 1)) {
        if (s->child[i].supervisor)
            done = tend(s->child[i].supervisor) || done;
        else
            unmark(s, i);
        if (!child_has_failed(&s->child[i]))
            continue;
        answer_failure(s, i);
        mark_again(s, i); // it may have failed again, or not have been restarted
        done = true;
    }
    return done;
}

// ---- the thread ---------------------------------------------------------------------------------------------------
static void supervise(void *arg)
{
    slr_supervisor *root = arg;
    for (;;) {
        uint32_t rings = __atomic_load_n(&root->bell.rings, __ATOMIC_ACQUIRE); // before the look at the states
        if (__atomic_load_n(&root->stop, __ATOMIC_RELAXED))
            return;
        if (!tend(root))
            slri_futex_wait(&root->bell.rings, rings, SLRI_FOREVER);
    }
}

static void set_bell(slr_ring *ring, struct slri_bell *bell, uint64_t *word, uint64_t bit)
{
    slri_mutex_lock(&ring->lock);
    ring->failure.bell = bell;
    ring->failure.word = word;
    ring->failure.bit = bit;
    slri_mutex_unlock(&ring->lock);
}

// All are marked first: one may have failed before.
static slr_status create_marks(slr_supervisor *s)
{
    s->marked = slri_alloc(NULL, (words_of(s) + 1) * sizeof *s->marked); // there may be no children
    if (!s->marked)
        return SLRI_FAIL(NO_MEMORY, "no memory for %u children of a supervisor", s->children);
    for (uint32_t i = 0; i < s->children; ++i) {
        mark_again(s, i);
        if (s->child[i].supervisor)
            SLRI_TRY(create_marks(s->child[i].supervisor));
    }
    return SLR_OK;
}

// A start that has failed: children may be added again, and need other marks then.
static void undo_start(slr_supervisor *s)
{
    for (uint32_t i = 0; i < s->children; ++i) {
        if (s->child[i].ring)
            set_bell(s->child[i].ring, &s->bell, NULL, 0);
        else
            undo_start(s->child[i].supervisor);
    }
    free_marks(s);
}

static void hang_bell(slr_supervisor *s, struct slri_bell *bell)
{
    for (uint32_t i = 0; i < s->children; ++i) {
        if (s->child[i].ring)
            set_bell(s->child[i].ring, bell, &s->marked[i / 64], (uint64_t)1 << i % 64);
        else
            hang_bell(s->child[i].supervisor, bell);
    }
}

slr_status slr_supervisor_start(slr_supervisor *root)
{
    if (!root)
        return SLRI_FAIL(INVALID, "slr_supervisor_start: root is NULL");
    if (root->parent || root->started)
        return SLRI_FAIL(WRONG_STATE, "slr_supervisor_start: the supervisor %s",
                         root->parent ? "is not the root of its tree" : "has been started already");
    slr_status status = create_marks(root);
    if (status == SLR_OK) {
        hang_bell(root, &root->bell); // before the thread's first look: no failure falls between
        status = slri_thread_start(&root->thread, "slr-supervisor", supervise, root);
    }
    root->started = status == SLR_OK;
    if (!root->started)
        undo_start(root);
    return status;
}

// ---- asking -------------------------------------------------------------------------------------------------------
static bool has_failed(const slr_supervisor *s)
{
    for (; s; s = s->parent)
        if (__atomic_load_n(&s->failed, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

slr_status slr_supervisor_wait_failed(slr_supervisor *supervisor, uint64_t timeout_ns)
{
    if (!supervisor)
        return SLRI_FAIL(INVALID, "slr_supervisor_wait_failed: supervisor is NULL");
    uint64_t deadline = slri_deadline_after(timeout_ns);
    uint32_t *word = &root_of(supervisor)->failed_event;
    for (;;) {
        uint32_t event = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (has_failed(supervisor))
            return SLR_OK;
        if (slri_has_forked(supervisor->forks))
            return SLRI_FAIL(WRONG_STATE, "the supervisor was made by a process of which this one is a child");
        if (slri_passed(deadline))
            return SLRI_FAIL(TIMEOUT, "the supervisor has not given up");
        slri_futex_wait(word, event, deadline);
    }
}

slr_status slr_supervisor_get_stats_sized(slr_supervisor *supervisor, slr_supervisor_stats *out, size_t bytes)
{
    if (!supervisor || !out)
        return SLRI_FAIL(INVALID, "slr_supervisor_get_stats: %s is NULL", supervisor ? "out" : "supervisor");
    const slr_supervisor_stats whole = {.restarts = __atomic_load_n(&supervisor->restarts, __ATOMIC_RELAXED),
                                        .failed = __atomic_load_n(&supervisor->failed, __ATOMIC_ACQUIRE),
                                        .children = supervisor->children};
    return SLRI_GIVE_REPORT(slr_supervisor_stats, out, bytes, &whole);
}

slr_status(slr_supervisor_get_stats)(slr_supervisor *supervisor, slr_supervisor_stats *out)
{
    return slr_supervisor_get_stats_sized(supervisor, out, SLRI_FIRST_slr_supervisor_stats);
}

// ---- the end ------------------------------------------------------------------------------------------------------
static void destroy_tree(slr_supervisor *s)
{
    for (uint32_t i = 0; i < s->children; ++i) {
        if (s->child[i].supervisor) {
            destroy_tree(s->child[i].supervisor);
            continue;
        }
        set_bell(s->child[i].ring, NULL, NULL, 0); // under the lock under which it is rung
        slri_ring_release(s->child[i].ring);
    }
    free_supervisor(s);
}

void slr_supervisor_destroy(slr_supervisor *root)
{
    if (!root || slri_has_forked(root->forks)) // its thread is the other process's
        return;
    if (root->started) {
        __atomic_store_n(&root->stop, 1, __ATOMIC_RELAXED);
        slri_bell_ring(&root->bell);
        slri_thread_join(&root->thread);
    }
    destroy_tree(root);
}
