// SPDX-License-Identifier: Apache-2.0
// As race.c for the threads of a block: here for those of different blocks, and for the host. All of the host's threads
// are one agent: what one of them has seen all know, and their order among each other is for others to check.
//
// Where a library is loaded that says what it does with memory (tests/watch), the host's accesses count like a
// thread's. Else a kernel that stays is taken to tell the host all that it releases, and to learn all that the host
// knows.
#define _GNU_SOURCE
#include "tests/ptx/across.h"
#include "tests/watch/watch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST 0
#define ROOM 2112           // agents at once
#define MOST_OF_LAUNCH 1024 // else it is not looked at
#define MOST_WORDS 262144   // of 8 bytes: an owner of 64 ports alone brings some 40,000 of 4 home when it ends

static struct {
    struct ptx_clocks of;
    uint16_t group[ROOM], thread[ROOM];
    bool is_used[ROOM];
    uint32_t staying, unseen; // launches: kernels that stay, and such as are not looked at
    uint16_t groups;
    struct watch *watch; // NULL: the host says nothing
} all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t *row_of(uint32_t agent)
{
    return ptx_row(&all.of, all.of.clock, agent);
}

static void begin_all(void);

// ---- the host ------------------------------------------------------------------------------------------------------

static unsigned order_of(int order)
{
    switch (order) {
    case __ATOMIC_RELAXED:
        return PTX_RELAXED;
    case __ATOMIC_CONSUME:
    case __ATOMIC_ACQUIRE:
        return PTX_ACQUIRE;
    case __ATOMIC_RELEASE:
        return PTX_RELEASE;
    default:
        return PTX_ACQ_REL;
    }
}

static void touch_by_host(uintptr_t at, unsigned bytes, enum ptx_touch_kind how, const void *by)
{
    const struct ptx_access access = {HOST, 0, at, bytes, how, UINT64_C(0xa5a5a5a5a5a5a5a5)};
    struct ptx_touch was;
    const char *what;
    if (all.unseen != 0 || !ptx_clocks_touch(&all.of, &access, &was, &what))
        return;
    Dl_info place = {.dli_fname = "?", .dli_fbase = NULL};
    dladdr(by, &place);
    fprintf(stderr,
            "ptx: the host at %s+%#zx: a race: nothing orders it and %s of thread %u of another block at line %u\n",
            place.dli_fname, (size_t)((uintptr_t)by - (uintptr_t)place.dli_fbase), what, all.thread[was.agent], was.at);
    abort();
}

static void host_plain(uintptr_t at, unsigned bytes, bool writes, const void *by)
{
    pthread_mutex_lock(&lock);
    touch_by_host(at, bytes, writes ? PTX_STORES : PTX_LOADS, by);
    pthread_mutex_unlock(&lock);
}

static void host_told(uintptr_t at, unsigned bytes, int order, bool adds, const void *by)
{
    pthread_mutex_lock(&lock);
    touch_by_host(at, bytes, adds ? PTX_CHANGES : PTX_PUTS, by);
    if (all.unseen == 0)
        ptx_clocks_tell(&all.of, HOST, at, order_of(order), adds);
    pthread_mutex_unlock(&lock);
}

static void host_learned(uintptr_t at, unsigned bytes, int order, bool looks, const void *by)
{
    pthread_mutex_lock(&lock);
    if (all.unseen == 0)
        ptx_clocks_learn(&all.of, HOST, at, order_of(order));
    if (looks)
        touch_by_host(at, bytes, PTX_LOOKS, by);
    pthread_mutex_unlock(&lock);
}

static void host_fence(int order)
{
    (void)order;
    pthread_mutex_lock(&lock);
    ptx_clocks_fence(&all.of, HOST);
    pthread_mutex_unlock(&lock);
}

void ptx_shares(const void *memory, size_t bytes)
{
    pthread_once(&once, begin_all);
    if (!all.watch)
        return;
    for (uintptr_t page = (uintptr_t)memory >> 12; page <= ((uintptr_t)memory + bytes - 1) >> 12; ++page) {
        uintptr_t bit = page & ((1u << WATCH_PAGES) - 1);
        __atomic_fetch_or(&all.watch->page[bit / 8], (unsigned char)(1u << bit % 8), __ATOMIC_RELAXED);
    }
}

// ---- launches ------------------------------------------------------------------------------------------------------

static void begin_all(void)
{
    ptx_clocks_make(&all.of, ROOM, MOST_WORDS);
    all.of.group = all.group;
    all.of.keeps_told = true;
    all.of.agents = 1;
    all.is_used[HOST] = true;
    row_of(HOST)[HOST] = 1;
    all.watch = (struct watch *)dlsym(RTLD_DEFAULT, "slri_watch");
    if (!all.watch)
        return;
    all.watch->plain = host_plain;
    all.watch->told = host_told;
    all.watch->learned = host_learned;
    all.watch->fence = host_fence;
}

static uint32_t threads_of(const struct ptx_launch *launch)
{
    return launch->block.x * launch->block.y * launch->block.z;
}

// The first of as many agents in a row as nobody has; ROOM: there are none.
static uint32_t find_room(uint32_t agents)
{
    uint32_t first = 1, run = 0;
    for (uint32_t i = 1; i < ROOM; ++i) {
        run = all.is_used[i] ? 0 : run + 1;
        first = all.is_used[i] ? i + 1 : first;
        if (run == agents)
            return first;
    }
    return ROOM;
}

static void begin_agents(const struct ptx_launch *launch, uint32_t first, uint32_t agents)
{
    const uint32_t threads = threads_of(launch);
    if (all.of.agents < first + agents)
        all.of.agents = first + agents;
    for (uint32_t i = 0; i < agents; ++i) {
        uint32_t agent = first + i, *own = row_of(agent), last = own[agent];
        if (i % threads == 0 && ++all.groups == 0)
            ++all.groups; // the host's
        all.is_used[agent] = true;
        all.group[agent] = all.groups;
        all.thread[agent] = (uint16_t)(i % threads);
        all.of.has_fenced[agent] = all.of.has_seen[agent] = false;
        memcpy(own, row_of(HOST), all.of.agents * sizeof *own); // it knows what the host knew when it was launched
        own[agent] = last + 1;
    }
}

int32_t ptx_across_begins(const struct ptx_launch *launch, uint32_t blocks)
{
    const uint64_t agents = (uint64_t)threads_of(launch) * blocks;
    pthread_once(&once, begin_all);
    pthread_mutex_lock(&lock);
    if (blocks < 2 && all.staying == 0 && !launch->goes_on) {
        pthread_mutex_unlock(&lock);
        return -1; // there is nobody else
    }
    uint32_t first = agents <= MOST_OF_LAUNCH ? find_room((uint32_t)agents) : ROOM;
    if (first == ROOM) {
        ++all.unseen; // what it tells others is not known: nobody may be blamed until it has ended
    } else {
        all.staying += launch->goes_on != NULL;
        ++row_of(HOST)[HOST];
        begin_agents(launch, first, (uint32_t)agents);
    }
    pthread_mutex_unlock(&lock);
    return first == ROOM ? -2 : (int32_t)first;
}

void ptx_across_ends(const struct ptx_launch *launch, uint32_t blocks, int32_t first)
{
    pthread_mutex_lock(&lock);
    if (first == -2 && --all.unseen == 0)
        ptx_clocks_forget(&all.of);
    for (uint32_t i = 0; first >= 0 && i < threads_of(launch) * blocks; ++i) {
        ptx_clocks_join(&all.of, row_of(HOST), row_of((uint32_t)first + i));
        all.is_used[(uint32_t)first + i] = false;
    }
    all.staying -= first >= 0 && launch->goes_on;
    pthread_mutex_unlock(&lock);
}

// ---- threads of a block --------------------------------------------------------------------------------------------

// This thread's agent, with the lock held; 0: it is not looked at.
static uint32_t enter(const struct ptx_lane *lane)
{
    if (ptx_block->first_agent < 0)
        return 0;
    pthread_mutex_lock(&lock);
    if (all.unseen == 0)
        return (uint32_t)ptx_block->first_agent + lane->number;
    pthread_mutex_unlock(&lock);
    return 0;
}

// What is released to the host, or acquired from it, where nobody says what it does.
static bool passes_host(void)
{
    return !all.watch && ptx_block->launch->goes_on;
}

void ptx_across_meet(struct ptx_lane *const *lane, uint32_t lanes)
{
    if (enter(lane[0]) == 0)
        return;
    const uint32_t base = (uint32_t)ptx_block->first_agent;
    uint32_t *first = row_of(base + lane[0]->number);
    for (uint32_t i = 1; i < lanes; ++i)
        ptx_clocks_join(&all.of, first, row_of(base + lane[i]->number));
    for (uint32_t i = 0; i < ptx_block->lanes; ++i)
        if (ptx_block->lane[i].state == PTX_ENDED)
            ptx_clocks_join(&all.of, first, row_of(base + i));
    for (uint32_t i = 1; i < lanes; ++i)
        memcpy(row_of(base + lane[i]->number), first, all.of.agents * sizeof *first);
    for (uint32_t i = 0; i < lanes; ++i)
        ++row_of(base + lane[i]->number)[base + lane[i]->number];
    pthread_mutex_unlock(&lock);
}

bool ptx_across_fence(const struct ptx_lane *lane)
{
    uint32_t agent = enter(lane);
    if (agent == 0)
        return false;
    bool is_more = passes_host() && ptx_clocks_join(&all.of, row_of(agent), row_of(HOST));
    is_more |= ptx_clocks_fence(&all.of, agent);
    if (passes_host())
        ptx_clocks_join(&all.of, row_of(HOST), ptx_row(&all.of, all.of.fenced, agent));
    pthread_mutex_unlock(&lock);
    return is_more;
}

void ptx_across_tell(const struct ptx_lane *lane, uintptr_t at, unsigned order, bool adds)
{
    uint32_t agent = enter(lane);
    if (agent == 0)
        return;
    if (passes_host() && order > PTX_ACQUIRE)
        ptx_clocks_join(&all.of, row_of(HOST), row_of(agent));
    ptx_clocks_tell(&all.of, agent, at, order, adds);
    pthread_mutex_unlock(&lock);
}

bool ptx_across_learn(const struct ptx_lane *lane, uintptr_t at, unsigned order)
{
    uint32_t agent = enter(lane);
    if (agent == 0)
        return false;
    bool is_more = passes_host() && order >= PTX_ACQUIRE && order != PTX_RELEASE &&
                   ptx_clocks_join(&all.of, row_of(agent), row_of(HOST));
    is_more |= ptx_clocks_learn(&all.of, agent, at, order);
    pthread_mutex_unlock(&lock);
    return is_more;
}

void ptx_across_touch(const struct ptx_lane *lane, const struct ptx_access *access)
{
    uint32_t agent = enter(lane);
    if (agent == 0)
        return;
    struct ptx_access here = *access;
    struct ptx_touch was;
    const char *what;
    here.agent = agent;
    here.place = ptx_block->image->ins[access->place].line;
    bool is_race = ptx_clocks_touch(&all.of, &here, &was, &what);
    const unsigned thread = all.thread[is_race ? was.agent : HOST];
    pthread_mutex_unlock(&lock);
    if (is_race && was.agent == HOST)
        ptx_wrong(lane, PTX_WRONG, "a race: nothing orders it and %s of the host", what);
    if (is_race)
        ptx_wrong(lane, PTX_WRONG, "a race: nothing orders it and %s of thread %u of another block at line %u", what,
                  thread, was.at);
}
