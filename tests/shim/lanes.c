// SPDX-License-Identifier: Apache-2.0
// Lanes have no order: each round goes through them from another one on, forwards or backwards, and an atomic operation
// is a place where others may go on. So what is not ordered by the text is seen in several orders, which are the same
// in each run. What a lane does in between is not divided.
#define _GNU_SOURCE
#include "tests/shim/lanes.h"
#include "tests/shim/image.h"
#include "tests/shim/late.h"

#include "ir/math/eval.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define STACK (256 * 1024) // of a lane; with a page that none may touch below it
#define MOST_LANES 1024
#define WARP 32
#define MOST_WAVE 64
#define STEPS 8 // atomic operations between two places where others go on

enum state { READY, AT_BARRIER, IN_WARP, ASKS_WHO, IN_WAVE, ENDED };

struct lane {
    struct shim_seen seen;
    enum state state;
    void *resume[5]; // __builtin_setjmp's
    bool begun;
    unsigned site, place, mask, mine, steps, result;
    shim_word value, part, given[MOST_WAVE];
};

struct block {
    const struct shim_launch *launch;
    struct lane *lane, *now;
    unsigned lanes, live, at_barrier;
    enum shim_vote vote;
    enum shim_end end;
    unsigned live_of[MOST_LANES / WARP], waiting_of[MOST_LANES / WARP]; // of each warp, bits: IN_WARP the latter
    bool moved; // a lane has done more than to wait, since the flag was cleared
    uint64_t random;
    void *scheduler[5];
    unsigned char *stacks, *shared;
    size_t shared_bytes;
    struct shim_late *late;
};

static __thread struct block *block;

#define LANE (block->now)

// ---- fibres --------------------------------------------------------------------------------------------------------

// The builtins, because they ask no system for the signal mask and no sanitizer looks at them. A function that is left
// by one must not be inlined into who is there.
__attribute__((noinline)) static void go_to_scheduler(void)
{
    __builtin_longjmp(block->scheduler, 1);
}

__attribute__((noinline)) static void leave(void)
{
    if (__builtin_setjmp(LANE->resume) == 0)
        go_to_scheduler();
}

static void yield_as(enum state state)
{
    LANE->state = state;
    leave();
}

static void end_lane(void);

static void begin_lane(void)
{
    block->launch->kernel(block->launch->parameter);
    end_lane();
}

__attribute__((noinline)) static void resume(struct lane *lane)
{
    if (lane->begun)
        __builtin_longjmp(lane->resume, 1);
    ucontext_t context;
    getcontext(&context);
    lane->begun = true;
    context.uc_stack.ss_sp = block->stacks + (size_t)(lane - block->lane) * STACK + 4096;
    context.uc_stack.ss_size = STACK - 4096;
    makecontext(&context, begin_lane, 0);
    setcontext(&context);
}

__attribute__((noinline)) static void run_lane(struct lane *lane)
{
    block->now = lane;
    if (__builtin_setjmp(block->scheduler) == 0)
        resume(lane);
    block->now = NULL;
}

// ---- who waits for whom --------------------------------------------------------------------------------------------

static void stop(enum shim_end end, const char *why)
{
    if (why)
        fprintf(stderr, "shim: block %u, thread %u: %s\n", LANE->seen.blockIdx.x, LANE->seen.threadIdx.x, why);
    block->end = end;
}

static void release_barrier(void)
{
    unsigned votes = 0, all = block->at_barrier;
    if (all == 0 || all != block->live)
        return;
    for (unsigned i = 0; i < block->lanes; ++i)
        votes += block->lane[i].state == AT_BARRIER && block->lane[i].mine != 0;
    unsigned result = block->vote == SHIM_AND ? votes == all : block->vote == SHIM_OR ? votes != 0 : votes;
    for (unsigned i = 0; i < block->lanes; ++i)
        if (block->lane[i].state == AT_BARRIER) {
            block->lane[i].result = result;
            block->lane[i].state = READY;
        }
    block->at_barrier = 0;
}

static struct lane *warp_of(const struct lane *lane)
{
    return &block->lane[(lane - block->lane) / WARP * WARP];
}

static unsigned lanes_of_warp(const struct lane *warp)
{
    unsigned left = block->lanes - (unsigned)(warp - block->lane);
    return left < WARP ? left : WARP;
}

// Those of the mask that have not ended, if all of them are in the function of that site; else 0.
static unsigned gathered(const struct lane *one)
{
    const struct lane *warp = warp_of(one);
    unsigned number = (unsigned)(warp - block->lane) / WARP, part = one->mask & block->live_of[number];
    if ((part & ~block->waiting_of[number]) != 0)
        return 0;
    for (unsigned rest = part; rest != 0; rest &= rest - 1) {
        const struct lane *lane = &warp[__builtin_ctz(rest)];
        if (lane->mask != one->mask || lane->site != one->site)
            return 0;
    }
    return part;
}

static void release_group(const struct lane *one)
{
    struct lane *warp = warp_of(one);
    unsigned part = gathered(one);
    for (unsigned rest = part; rest != 0; rest &= rest - 1) {
        struct lane *lane = &warp[__builtin_ctz(rest)];
        for (unsigned from = part; one->site != 0 && from != 0; from &= from - 1)
            lane->given[__builtin_ctz(from)] = warp[__builtin_ctz(from)].value;
        lane->result = part;
        lane->state = READY;
    }
    block->waiting_of[(warp - block->lane) / WARP] &= ~part;
}

static void release_warp(const struct lane *warp)
{
    const unsigned number = (unsigned)(warp - block->lane) / WARP;
    for (unsigned i = 0; i < WARP; ++i)
        if (block->waiting_of[number] >> i & 1)
            release_group(&warp[i]);
}

// When nobody can go on without: those of a warp that ask at one place are together.
static bool release_active(void)
{
    struct lane *one = block->lane;
    while (one < block->lane + block->lanes && one->state != ASKS_WHO)
        ++one;
    if (one == block->lane + block->lanes)
        return false;
    struct lane *warp = warp_of(one);
    unsigned part = 0, site = one->site;
    for (unsigned i = 0; i < lanes_of_warp(warp); ++i)
        part |= (unsigned)(warp[i].state == ASKS_WHO && warp[i].site == site) << i;
    for (unsigned i = 0; part >> i != 0 && i < WARP; ++i)
        if (part >> i & 1) {
            warp[i].result = part;
            warp[i].state = READY;
        }
    return true;
}

// Likewise of a wave, at one instruction and one place.
static bool release_wave(void)
{
    struct lane *one = block->lane, *last = block->lane + block->lanes;
    while (one < last && one->state != IN_WAVE)
        ++one;
    if (one == last)
        return false;
    struct lane *wave = &block->lane[(one - block->lane) / one->mask * one->mask];
    const unsigned site = one->site, place = one->place, lanes = one->mask;
    shim_word part = 0;
    for (unsigned i = 0; i < lanes && wave + i < last; ++i)
        if (wave[i].state == IN_WAVE && wave[i].site == site && wave[i].place == place)
            part |= (shim_word)1 << i;
    for (unsigned i = 0; i < lanes; ++i) {
        if ((part >> i & 1) == 0)
            continue;
        for (unsigned from = 0; from < lanes; ++from)
            if (part >> from & 1)
                wave[i].given[from] = wave[from].value;
        wave[i].part = part;
        wave[i].state = READY;
    }
    return true;
}

static void end_lane(void)
{
    block->moved = true;
    LANE->state = ENDED;
    --block->live;
    block->live_of[(LANE - block->lane) / WARP] &= ~(1u << (LANE - warp_of(LANE)));
    release_barrier();
    release_warp(warp_of(LANE));
    go_to_scheduler();
}

// ---- what an image calls -------------------------------------------------------------------------------------------

static const struct shim_seen *here(void)
{
    return &LANE->seen;
}

static void wrong(const char *what)
{
    stop(SHIM_WRONG, what);
    leave();
}

// On a GPU a warp's lanes are at one instruction of a barrier that is .aligned.
static bool is_aligned(const struct lane *mine)
{
    const struct lane *warp = warp_of(mine);
    for (unsigned i = 0; i < lanes_of_warp(warp); ++i)
        if (warp[i].state == AT_BARRIER && warp[i].site != mine->site)
            return false;
    return true;
}

static unsigned meet(enum shim_vote vote, unsigned site, unsigned mine)
{
    struct lane *lane = LANE;
    block->moved = true;
    lane->site = site;
    lane->mine = mine;
    lane->state = AT_BARRIER;
    if (block->at_barrier != 0 && block->vote != vote)
        wrong("threads meet at barriers of two kinds");
    if (!is_aligned(lane))
        wrong("threads of a warp meet at different barriers");
    block->vote = vote;
    ++block->at_barrier;
    release_barrier();
    leave();
    return lane->result;
}

static const shim_word *warp(unsigned site, unsigned mask, shim_word mine, unsigned *part)
{
    struct lane *lane = LANE;
    block->moved = true;
    if ((mask >> (lane - warp_of(lane)) & 1) == 0)
        wrong("a warp function whose mask leaves its caller out");
    lane->site = site;
    lane->mask = mask;
    lane->value = mine;
    lane->state = IN_WARP;
    block->waiting_of[(lane - block->lane) / WARP] |= 1u << (lane - warp_of(lane));
    release_group(lane);
    leave();
    *part = lane->result;
    return lane->given;
}

static unsigned active(unsigned site)
{
    struct lane *lane = LANE;
    lane->site = site;
    yield_as(ASKS_WHO);
    return lane->result;
}

static void place(unsigned site)
{
    LANE->place = site;
}

static const shim_word *wave(unsigned site, unsigned lanes, shim_word mine, shim_word *part)
{
    struct lane *lane = LANE;
    lane->site = site;
    lane->mask = lanes;
    lane->value = mine;
    yield_as(IN_WAVE);
    *part = lane->part;
    return lane->given;
}

static void end_wave(unsigned lanes)
{
    struct lane *first = &block->lane[(LANE - block->lane) / lanes * lanes];
    for (struct lane *lane = first; lane < first + lanes && lane < block->lane + block->lanes; ++lane) {
        if (lane == LANE || lane->state == ENDED)
            continue;
        block->at_barrier -= lane->state == AT_BARRIER;
        lane->state = ENDED;
        --block->live;
        block->live_of[(lane - block->lane) / WARP] &= ~(1u << (lane - warp_of(lane)));
    }
    end_lane();
}

static void pause_lane(void)
{
    yield_as(READY);
}

static void step(void)
{
    if (++LANE->steps % STEPS == 0)
        yield_as(READY);
}

static void load(int order)
{
    (void)order;
    step();
}

static void store(void *to, const void *value, unsigned bytes, int order)
{
    step();
    shim_late_store(block->late, to, value, bytes, order);
}

#define SWAP(type)                                                                                                     \
    __atomic_compare_exchange((type *)word, (type *)was, (type *)value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
static int swap(void *word, void *was, const void *value, unsigned bytes, int order)
{
    step();
    shim_late_order(block->late, order);
    return bytes == 1 ? SWAP(uint8_t) : bytes == 2 ? SWAP(uint16_t) : bytes == 4 ? SWAP(uint32_t) : SWAP(uint64_t);
}

static void fence(int order)
{
    shim_late_order(block->late, order);
    static uint32_t between; // what a sanitizer knows in place of a fence
    __atomic_fetch_add(&between, 0, __ATOMIC_SEQ_CST);
}

// What others see: neither a lane's own memory nor the block's.
static void plain(void *at, size_t bytes)
{
    if ((size_t)((unsigned char *)at - block->stacks) >= (size_t)block->lanes * STACK &&
        (size_t)((unsigned char *)at - block->shared) >= block->shared_bytes)
        shim_late_note(block->late, at, bytes);
}

static void end(int traps)
{
    if (traps) {
        stop(SHIM_TRAPPED, NULL);
        leave();
    }
    end_lane();
}

static shim_word clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (shim_word)now.tv_sec * 1000000000u + (shim_word)now.tv_nsec + SHIM_CLOCK_AHEAD_NS;
}

static void math(unsigned id, const shim_word *argument, shim_word *result)
{
    union slri_scalar given[3], out;
    memcpy(given, argument, sizeof given);
    slri_math_eval(id, given, &out);
    memcpy(result, &out, sizeof *result);
}

const struct shim_calls shim_calls = {here, meet,  warp,  active,     place, wave,  end_wave, load, store,
                                      swap, fence, plain, pause_lane, end,   wrong, clock_ns, math, printf};

// ---- what is not there ---------------------------------------------------------------------------------------------

static struct sigaction before[2];

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    if (!block || !LANE) {
        sigaction(number, &before[number == SIGBUS], NULL); // it comes again
        return;
    }
    stop(SHIM_ACCESS, "an access to memory that is not there");
    go_to_scheduler();
}

// With each launch, because a test may have put handlers of its own there.
static void watch(int number)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction was;
    pthread_mutex_lock(&lock);
    sigaction(number, &ours, &was);
    if (was.sa_sigaction != on_signal)
        before[number == SIGBUS] = was;
    pthread_mutex_unlock(&lock);
}

// ---- blocks --------------------------------------------------------------------------------------------------------

static uint64_t draw(void) // splitmix64
{
    uint64_t z = block->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Gives whether any was ready.
static bool run_round(void)
{
    uint64_t random = draw();
    unsigned lanes = block->lanes, at = (unsigned)(random % lanes), by = random >> 32 & 1 ? 1 : lanes - 1;
    bool any = false;
    for (unsigned i = 0; i < lanes && block->end == SHIM_DONE; ++i) {
        if (block->lane[at].state == READY) {
            run_lane(&block->lane[at]);
            any = true;
        }
        at += by;
        at -= at >= lanes ? lanes : 0;
    }
    return any;
}

static void run_rounds(void)
{
    const struct shim_launch *launch = block->launch;
    while (block->live != 0 && block->end == SHIM_DONE) {
        block->moved = false;
        shim_late_round();
        if (launch->goes_on && !launch->goes_on(launch->user))
            block->end = SHIM_STOPPED;
        else if (!run_round() && !release_active() && !release_wave()) {
            block->now = block->lane;
            stop(SHIM_WRONG, "threads wait for each other at different places");
            block->now = NULL;
        } else if (!block->moved)
            sched_yield(); // for other blocks, and the host
    }
}

static void begin_block(struct block *made, const struct shim_launch *launch, uint32_t number)
{
    const struct shim_dim *g = &launch->grid, *b = &launch->block;
    struct shim_seen seen = {.blockDim = *b, .gridDim = *g};
    seen.blockIdx = (struct shim_dim){number % g->x, number / g->x % g->y, number / g->x / g->y};
    for (unsigned i = 0; i < made->lanes; ++i) {
        seen.threadIdx = (struct shim_dim){i % b->x, i / b->x % b->y, i / b->x / b->y};
        made->lane[i].seen = seen;
        made->lane[i].state = READY;
        made->lane[i].begun = false;
        made->lane[i].steps = i;
    }
    for (unsigned i = 0; i < made->lanes; i += WARP) {
        made->live_of[i / WARP] = made->lanes - i >= WARP ? ~0u : (1u << (made->lanes - i)) - 1;
        made->waiting_of[i / WARP] = 0;
    }
    made->launch = launch;
    made->live = made->lanes;
    made->at_barrier = 0;
    made->end = SHIM_DONE;
    made->random = number;
}

static bool make_block(struct block *made, const struct shim_launch *launch)
{
    sigset_t seen; // the library's own threads block all signals
    sigemptyset(&seen);
    sigaddset(&seen, SIGSEGV);
    sigaddset(&seen, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &seen, NULL);
    watch(SIGSEGV);
    watch(SIGBUS);
    *made = (struct block){.lanes = launch->block.x * launch->block.y * launch->block.z};
    if (made->lanes == 0 || made->lanes > MOST_LANES)
        return false;
    made->lane = calloc(made->lanes, sizeof *made->lane);
    made->stacks = mmap(NULL, (size_t)made->lanes * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    made->late = calloc(1, sizeof *made->late);
    if (!made->lane || !made->late || made->stacks == MAP_FAILED)
        abort();
    for (unsigned i = 0; i < made->lanes; ++i)
        mprotect(made->stacks + (size_t)i * STACK, 4096, PROT_NONE);
    return true;
}

static void free_block(struct block *made)
{
    munmap(made->stacks, (size_t)made->lanes * STACK);
    free(made->late);
    free(made->lane);
}

static enum shim_end run_one(struct block *made, const struct shim_launch *launch, uint32_t number)
{
    struct block *outer = block;
    begin_block(made, launch, number);
    made->shared = shim_image_spoil_shared(launch->image, &made->shared_bytes);
    made->late->pieces = 0;
    block = made;
    shim_late_runs(true);
    run_rounds();
    shim_late_runs(false);
    block = outer;
    return made->end;
}

enum shim_end shim_run_block(const struct shim_launch *launch, uint32_t number)
{
    struct block made;
    if (!make_block(&made, launch))
        return SHIM_WRONG;
    enum shim_end end = run_one(&made, launch, number);
    free_block(&made);
    return end;
}

// ---- grids ---------------------------------------------------------------------------------------------------------

#define MOST_THREADS 4

struct grid {
    const struct shim_launch *launch;
    uint32_t blocks, next, end; // the last two: atomic
};

static void *run_some(void *arg)
{
    struct grid *grid = arg;
    struct block made;
    if (!make_block(&made, grid->launch)) {
        grid->end = SHIM_WRONG;
        return NULL;
    }
    uint32_t i;
    while (__atomic_load_n(&grid->end, __ATOMIC_RELAXED) == SHIM_DONE &&
           (i = __atomic_fetch_add(&grid->next, 1, __ATOMIC_RELAXED)) < grid->blocks) {
        // The last first: blocks have no order either.
        enum shim_end end = run_one(&made, grid->launch, grid->blocks - 1 - i);
        if (end != SHIM_DONE)
            __atomic_store_n(&grid->end, end, __ATOMIC_RELAXED);
    }
    free_block(&made);
    return NULL;
}

enum shim_end shim_run(const struct shim_launch *launch)
{
    struct grid grid = {launch, launch->grid.x * launch->grid.y * launch->grid.z, 0, SHIM_DONE};
    pthread_t helper[MOST_THREADS - 1];
    unsigned helpers = grid.blocks < MOST_THREADS ? grid.blocks - 1 : MOST_THREADS - 1;
    for (unsigned i = 0; i < helpers; ++i)
        if (pthread_create(&helper[i], NULL, run_some, &grid) != 0)
            abort();
    run_some(&grid);
    for (unsigned i = 0; i < helpers; ++i)
        pthread_join(helper[i], NULL);
    return (enum shim_end)grid.end;
}
