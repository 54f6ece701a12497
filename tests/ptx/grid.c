// SPDX-License-Identifier: Apache-2.0
// Blocks and grids: a block runs in one thread of the host.
#define _GNU_SOURCE
#include "tests/ptx/across.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_SHARED (PTX_DYNAMIC_AT + 232448)
#define MOST_PARAMETERS 4096

// ---- what is not there ---------------------------------------------------------------------------------------------

static struct sigaction before[2];

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!ptx_block) {
        sigaction(number, &before[number == SIGBUS], NULL); // it comes again
        return;
    }
    ptx_wrong(NULL, PTX_ACCESS, "there is no memory at %p", info->si_addr);
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

// ---- a block -------------------------------------------------------------------------------------------------------

static void *reserve(size_t bytes)
{
    void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        abort();
    return made;
}

static bool make_block(struct ptx_block *made, const struct ptx_launch *launch)
{
    sigset_t seen; // the library's own threads block all signals
    sigemptyset(&seen);
    sigaddset(&seen, SIGSEGV);
    sigaddset(&seen, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &seen, NULL);
    watch(SIGSEGV);
    watch(SIGBUS);
    memset(made, 0, sizeof *made);
    made->lanes = launch->block.x * launch->block.y * launch->block.z;
    if (made->lanes == 0 || made->lanes > PTX_MOST_THREADS)
        return false;
    made->warps = (made->lanes + PTX_WARP - 1) / PTX_WARP;
    made->lane = calloc(made->lanes, sizeof *made->lane);
    made->stacks = reserve((size_t)made->lanes * PTX_STACK);
    made->registers = reserve((size_t)made->lanes * PTX_REGISTERS * sizeof *made->registers);
    made->are_set = reserve((size_t)made->lanes * PTX_REGISTERS);
    made->shared_bytes = PTX_DYNAMIC_AT + launch->dynamic_shared;
    made->shared = reserve(MOST_SHARED);
    made->parameters = calloc(1, MOST_PARAMETERS);
    if (!made->lane || !made->parameters)
        abort();
    const struct ptx_function *f = &launch->kernel->function;
    for (uint32_t i = 0; i < f->parameters; ++i)
        memcpy(made->parameters + f->parameter[i].at, launch->parameter[i], f->parameter[i].bytes);
    made->race = ptx_race_make(made->lanes);
    made->launch = launch;
    made->image = launch->image;
    return true;
}

static void free_block(struct ptx_block *made)
{
    munmap(made->stacks, (size_t)made->lanes * PTX_STACK);
    munmap(made->registers, (size_t)made->lanes * PTX_REGISTERS * sizeof *made->registers);
    munmap(made->are_set, (size_t)made->lanes * PTX_REGISTERS);
    munmap(made->shared, MOST_SHARED);
    ptx_race_free(made->race);
    free(made->parameters);
    free(made->lane);
}

static uint64_t seed(void)
{
    const char *given = getenv("SLIPRING_PTX_SEED");
    return given ? strtoull(given, NULL, 0) : 0;
}

// `out` is where ptx_wrong() comes back to: no function that it leaves may be inlined here.
__attribute__((noinline)) static void run_or_end(struct ptx_block *made)
{
    if (__builtin_setjmp(made->out) == 0)
        ptx_run_lanes();
}

static enum ptx_end run_one(struct ptx_block *made, uint32_t number)
{
    const struct ptx_dim *g = &made->launch->grid;
    struct ptx_block *outer = ptx_block;
    made->ctaid[0] = number % g->x;
    made->ctaid[1] = number / g->x % g->y;
    made->ctaid[2] = number / g->x / g->y;
    made->live = made->lanes;
    made->end = PTX_DONE;
    made->random = number + seed() * UINT64_C(0x100000001b3);
    made->tick = 0;
    memset(made->shared, 0xa5, made->image->shared_bytes);
    memset(made->shared + PTX_DYNAMIC_AT, 0xa5, made->launch->dynamic_shared);
    ptx_block = made;
    ptx_memory_begins();
    ptx_race_begins();
    run_or_end(made);
    ptx_block = outer;
    return made->end;
}

enum ptx_end ptx_run_block(const struct ptx_launch *launch, uint32_t number)
{
    struct ptx_block *made = malloc(sizeof *made);
    if (!made || !make_block(made, launch))
        return PTX_WRONG;
    int32_t first = ptx_across_begins(launch, 1);
    made->first_agent = first;
    enum ptx_end end = run_one(made, number);
    ptx_across_ends(launch, 1, first);
    free_block(made);
    free(made);
    return end;
}

// ---- grids ---------------------------------------------------------------------------------------------------------

#define MOST_THREADS 4

struct grid {
    const struct ptx_launch *launch;
    uint32_t blocks, next, end; // the last two: atomic
    int32_t first_agent;
};

static void *run_some(void *arg)
{
    struct grid *grid = arg;
    struct ptx_block *made = malloc(sizeof *made);
    if (!made || !make_block(made, grid->launch)) {
        grid->end = PTX_WRONG;
        free(made);
        return NULL;
    }
    uint32_t i;
    while (__atomic_load_n(&grid->end, __ATOMIC_RELAXED) == PTX_DONE &&
           (i = __atomic_fetch_add(&grid->next, 1, __ATOMIC_RELAXED)) < grid->blocks) {
        uint32_t number = grid->blocks - 1 - i; // the last first: blocks have no order
        made->first_agent = grid->first_agent < 0 ? -1 : grid->first_agent + (int32_t)(number * made->lanes);
        enum ptx_end end = run_one(made, number);
        if (end != PTX_DONE)
            __atomic_store_n(&grid->end, end, __ATOMIC_RELAXED);
    }
    free_block(made);
    free(made);
    return NULL;
}

enum ptx_end ptx_run(const struct ptx_launch *launch)
{
    struct grid grid = {launch, launch->grid.x * launch->grid.y * launch->grid.z, 0, PTX_DONE, -1};
    grid.first_agent = ptx_across_begins(launch, grid.blocks);
    pthread_t helper[MOST_THREADS - 1];
    unsigned helpers = grid.blocks == 0 ? 0 : grid.blocks < MOST_THREADS ? grid.blocks - 1 : MOST_THREADS - 1;
    for (unsigned i = 0; i < helpers; ++i)
        if (pthread_create(&helper[i], NULL, run_some, &grid) != 0)
            abort();
    run_some(&grid);
    for (unsigned i = 0; i < helpers; ++i)
        pthread_join(helper[i], NULL);
    ptx_across_ends(launch, grid.blocks, grid.first_agent);
    return (enum ptx_end)grid.end;
}
