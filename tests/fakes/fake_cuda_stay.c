// SPDX-License-Identifier: Apache-2.0
// The loop that NVRTC gets, as C. The real thing is C++ with CUDA's words; these are theirs here.
#define _POSIX_C_SOURCE 200809L
#include "fake_cuda_inside.h"
#include "fake_cuda_stay.h"
#include "fake_gdr.h"

#include "abi/handler.h"
#include "abi/subset.h"

#include "abi/buckets.h"
#include "engine/resident_layout.h"
#include "run/interpreter.h"
#include "tests/ptx/ptx.h"
#include "tests/shim/image.h"
#include "tests/shim/lanes.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_BLOCKS 64

struct slr_blocks {
    uint32_t idle, ended, ending;
};

struct block {
    struct fake_cuda_stay *stay;
    struct slri_interp_thread *thread;
    uint32_t number;
    jmp_buf dies;
};

struct fake_cuda_stay {
    struct slr_blocks blocks;
    const char *text;
    bool is_block;
    const struct shim_image *image; // or the next; both NULL: the loop as C, below
    const struct ptx_image *ptx;
    uint32_t threads; // of a block
    uint32_t *running[2];
    uint32_t grid, live, gone, killed; // the last three: atomic
    void *table;
    struct block block[MOST_BLOCKS];
    pthread_t thread[MOST_BLOCKS];
};

static __thread struct block *block;

uint32_t fake_users_line(const char *text, uint32_t line)
{
    uint32_t is = 0;
    for (; line != 0 && *text; --line) {
        unsigned said;
        is = sscanf(text, "#line %u", &said) == 1 ? said - 1 : is + 1;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return is;
}

void fake_check_alignment(const struct slri_call *call)
{
    if (((uintptr_t)call->message | (uintptr_t)call->state) % 16 != 0)
        abort();
}

// Where it faults is told as it lies in the text that was read again; the user's source is one file here.
static uint32_t handle(struct slri_call *call)
{
    fake_check_alignment(call);
    uint32_t fault = slri_interp_handler(block->thread, call);
    call->fault_file = 0;
    call->fault_line = fake_users_line(block->stay->text, call->fault_line);
    return fault;
}

// Where lanes meet, a block may die, or stop.
static bool goes_on(void *user)
{
    (void)user;
    if (__atomic_load_n(&block->stay->killed, __ATOMIC_RELAXED))
        return false;
    if (!__atomic_load_n(&fake_cuda.stall, __ATOMIC_ACQUIRE))
        return true;
    __atomic_fetch_add(&fake_cuda.stalled, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&fake_cuda.stall, __ATOMIC_ACQUIRE))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    const struct slri_resident_table *table = block->stay->table;
    (void)__atomic_load_n(&table->stop, __ATOMIC_ACQUIRE); // its memory is still there, or this is a crash
    return true;
}

static void meet(void)
{
    if (!goes_on(NULL))
        longjmp(block->dies, 1);
}

#define SLR_KERNEL static void
#define SLR_FN static
#define SLR_TEAM static __thread
#define SLR_BLOCKS (&block->stay->blocks)
#define SLR_CALL(call) handle(call)
#define SLR_EACH(l)                                                                                                    \
    for (mb_word l = SLR_LANES; l-- > 0;) // the last first: lanes have no order, and nobody may rely on one
#define SLR_FIRST if (true)
#define SLR_MEET() meet()
#define SLR_IS_BLOCK block->stay->is_block // whose handler is one call of the interpreter
#define SLR_HELPS false
#define SLR_BLOCK_MEET() (void)0
// Sanitizers know no fences: the words themselves acquire and release.
#define SLR_PEEK(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define SLR_SEEN() (void)0
#define SLR_LOOK(word) SLR_PEEK(word)
#define MB_APART
#define SLR_FLAG(word) __atomic_load_n(fake_gdr_seen(&(word)), __ATOMIC_ACQUIRE)
#define SLR_ORDER() (void)0
#define SLR_NEAR_ORDER() (void)0
#define SLR_TELL(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)
#define slr_peek_long(word) __atomic_load_n(word, __ATOMIC_RELAXED)
static SLRI_ADDRESS slr_time(void) // a clock that is not the host's
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (SLRI_ADDRESS)now.tv_sec * 1000000000u + (SLRI_ADDRESS)now.tv_nsec + FAKE_CUDA_CLOCK_AHEAD_NS;
}
// Of all lanes at once: what NVRTC's text has warp functions for.
static uint32_t slr_count_bits(uint32_t bits)
{
    return (uint32_t)__builtin_popcount(bits);
}

static uint32_t slr_ballot(const uint32_t word[32])
{
    uint32_t bits = 0;
    for (uint32_t l = 0; l < 32; ++l)
        bits |= (uint32_t)(word[l] != 0) << l;
    return bits;
}

static void slr_rank(uint32_t rank[32], const uint32_t key[32])
{
    for (uint32_t l = 0; l < 32; ++l) {
        rank[l] = 0;
        for (uint32_t k = 0; k < l; ++k)
            rank[l] += key[k] == key[l];
    }
}

static uint32_t slr_most(const uint32_t word[32])
{
    uint32_t most = 0;
    for (uint32_t l = 0; l < 32; ++l)
        most = word[l] > most ? word[l] : most;
    return most;
}

static uint32_t slr_sum_before(uint32_t word[32])
{
    uint32_t sum = 0;
    for (uint32_t l = 0; l < 32; ++l) {
        uint32_t own = word[l];
        word[l] = sum;
        sum += own;
    }
    return sum;
}

#define blockIdx ((struct { uint32_t x; }){block->number})
#define gridDim ((struct { uint32_t x; }){block->stay->grid})
#define SLR_MAY_BE_FAST (__atomic_load_n(&fake_cuda.general, __ATOMIC_RELAXED) == 0)
#define SLR_NOTE_FAST(batch) __atomic_fetch_add(&fake_cuda.fast, (batch), __ATOMIC_RELAXED)
#define SLR_IDLE_LOOKS 2u
#define __nanosleep(ns) sched_yield() // a thread a block, and few cores
#include "hal/cuda/device/cu_team.h"

#include "abi/passage.h"

#include "hal/cuda/device/cu_near.h"

#include "hal/cuda/device/cu_passage.h"

#include "hal/cuda/device/cu_home.h"

#include "hal/cuda/device/cu_look.h"

#include "hal/cuda/device/cu_handle.h"

#include "hal/cuda/device/cu_batch.h"

#include "hal/cuda/device/cu_run.h"

#include "hal/cuda/device/cu_fast.h"

#include "hal/cuda/device/cu_resident.h"
#undef blockIdx
#undef gridDim

// The text itself, compiled.
static void run_shim(const struct fake_cuda_stay *stay, uint32_t number)
{
    const void *table = stay->table;
    const struct shim_launch launch = {.image = stay->image,
                                       .kernel = shim_image_kernel(stay->image, "slr_stay"),
                                       .parameter = (void *[]){&table},
                                       .grid = {stay->grid, 1, 1},
                                       .block = {stay->threads, 1, 1},
                                       .goes_on = goes_on};
    enum shim_end end = shim_run_block(&launch, number);
    if (end != SHIM_DONE && end != SHIM_STOPPED)
        abort(); // it has said why
}

// What NVRTC made of it.
static void run_ptx(const struct fake_cuda_stay *stay, uint32_t number)
{
    const void *table = stay->table;
    const struct ptx_launch launch = {.image = stay->ptx,
                                      .kernel = ptx_image_kernel(stay->ptx, "slr_stay"),
                                      .parameter = (void *[]){&table},
                                      .grid = {stay->grid, 1, 1},
                                      .block = {stay->threads, 1, 1},
                                      .goes_on = goes_on};
    enum ptx_end end = launch.kernel ? ptx_run_block(&launch, number) : PTX_WRONG;
    if (end != PTX_DONE && end != PTX_STOPPED)
        abort(); // it has said why
}

static void *run_block(void *arg)
{
    block = arg;
    struct fake_cuda_stay *stay = block->stay;
    if (stay->image)
        run_shim(stay, block->number);
    else if (stay->ptx)
        run_ptx(stay, block->number);
    else if (setjmp(block->dies) == 0)
        slr_stay(stay->table);
    if (__atomic_sub_fetch(&stay->live, 1, __ATOMIC_ACQ_REL) != 0)
        return NULL;
    for (int i = 0; i < 2; ++i)
        __atomic_fetch_sub(stay->running[i], 1, __ATOMIC_RELEASE);
    // Release: all that the blocks did, for who finds that they have gone.
    __atomic_store_n(&stay->gone, 1, __ATOMIC_RELEASE);
    return NULL;
}

struct fake_cuda_stay *fake_cuda_stay_begin(const struct fake_cuda_code *code, uint32_t grid, uint32_t threads,
                                            void *table, uint32_t *const running[2])
{
    struct fake_cuda_stay *stay = calloc(1, sizeof *stay);
    if (!stay || grid > MOST_BLOCKS)
        abort();
    stay->text = code->text;
    stay->is_block = code->is_block;
    stay->image = code->image;
    stay->ptx = code->ptx;
    stay->threads = threads;
    stay->grid = stay->live = grid;
    stay->table = table;
    for (int i = 0; i < 2; ++i) {
        stay->running[i] = running[i];
        __atomic_fetch_add(running[i], 1, __ATOMIC_RELAXED);
    }
    for (uint32_t i = 0; i < grid; ++i) {
        stay->block[i].stay = stay;
        stay->block[i].number = i;
        if (slri_interp_thread_create(code->interp, code->handler, &stay->block[i].thread) != SLR_OK ||
            pthread_create(&stay->thread[i], NULL, run_block, &stay->block[i]) != 0)
            abort();
    }
    return stay;
}

bool fake_cuda_stays(const struct fake_cuda_stay *stay)
{
    return __atomic_load_n(&stay->gone, __ATOMIC_ACQUIRE) == 0;
}

void fake_cuda_stay_end(struct fake_cuda_stay *stay, bool by_force)
{
    if (by_force)
        __atomic_store_n(&stay->killed, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < stay->grid; ++i) {
        pthread_join(stay->thread[i], NULL);
        slri_interp_thread_destroy(stay->block[i].thread);
    }
    free(stay);
}
