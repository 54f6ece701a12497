// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: what the lanes of a block that stays share, and by what of it the mailbox goes. It stands before the
// mailbox (abi/mailbox.h), behind the table's layout (engine/resident_layout.h). C as well as C++: the simulated driver
// of the tests compiles it, too; there the lanes of a block are a loop, so nothing of a lane outlives SLR_EACH.
//
// Why. The mailbox lies in the host's memory, and a look at it takes 1.1 us on an H100 however many lanes look at once.
// So the lanes look together at all that the host may have changed, and one of them then runs the mailbox's code on
// what they have seen, on copies of the sizes, and on owner's words that lie near (rationale: round trips of a
// message).
// clang-format off
#define SLR_LANES 32u
#define SLR_OUTLETS 8u // that are at hand; further ones are looked up in the host's memory
#define SLR_OUTLETS_HERE 2u
#ifndef SLR_OUTLET_ROOM
#define SLR_OUTLET_ROOM 128u // words: MBO_WORDS(8)
#define SLR_SIGHTS SLR_LANES // 1: there is no fast path
#endif
#define SLR_ALIGNED __attribute__((aligned(16)))
#ifndef SLR_ROOM
#define SLR_ROOM 2048u // words of slots, and of replies, that are handled together
#endif

#ifndef SLR_OWN_ROOM
#define SLR_OWN_ROOM 5312u // MBP_LISTS_AT(MB_MAX_PORTS); 0: the owner's words are worked on where they lie
#endif

#ifndef SLR_KERNEL
#define SLR_KERNEL extern "C" __global__ void __launch_bounds__(SLR_THREADS)
#define SLR_FN __device__
#define SLR_TEAM static __shared__
__device__ struct slr_blocks { unsigned idle, ended, ending; } slr_blocks; // zero between launches
#define SLR_BLOCKS (&slr_blocks)
#define SLR_CALL(call) SLR_HANDLER(call)
#define SLR_EACH(l) for (mb_word l = threadIdx.x, slr_once = 1u; slr_once != 0u; slr_once = 0u)
#define SLR_FIRST if (threadIdx.x == 0u)
#define SLR_MEET() __syncwarp()
#define SLR_HELPS (threadIdx.x >= SLR_LANES) // a thread of another warp than the first
#if SLR_IS_BLOCK
#define SLR_BLOCK_MEET() slri_meet(0)
#else
#define SLR_BLOCK_MEET() (void)0
#endif
// A look: an acquire each, and no fence. On an H100 a fence for the whole system takes 0.75 us, also where nothing is on
// its way; an acquire costs no more than the load, but the next load waits for it. SLR_PEEK has a fence behind it. Not
// what __nv_atomic_thread_fence gives: NVRTC 13.0 makes a fence.sc of each order, which is slower still.
#define SLR_LOOK(word) __nv_atomic_load_n(&(word), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_FENCE(scope) asm volatile("fence.acq_rel." scope ";" : : : "memory")
#define SLR_PEEK(word) __nv_atomic_load_n(&(word), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_SEEN() SLR_FENCE("sys")
// What all lanes have stored, before what the first one stores behind it.
#define SLR_ORDER() SLR_FENCE("sys")
#define SLR_NEAR_ORDER() SLR_FENCE("gpu") // for other groups
#define SLR_TELL(word, value) __nv_atomic_store_n(&(word), value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)
__device__ SLRI_ADDRESS slr_peek_long(const SLRI_ADDRESS *word) // as SLR_PEEK
{
    SLRI_ADDRESS is;
    asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(is) : "l"(word) : "memory");
    return is;
}
__device__ SLRI_ADDRESS slr_time(void)
{
    SLRI_ADDRESS ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
// By all lanes together. A lane touches only its own of the words.
__device__ unsigned slr_count_bits(unsigned bits)
{
    return (unsigned)__popc(bits);
}
__device__ unsigned slr_ballot(const unsigned *word) // which are not 0
{
    return __ballot_sync(0xffffffffu, word[threadIdx.x] != 0u);
}
__device__ void slr_rank(unsigned *rank, const unsigned *key) // of each, how many before it are the same
{
    rank[threadIdx.x] = (unsigned)__popc(__match_any_sync(0xffffffffu, key[threadIdx.x]) & ((1u << threadIdx.x) - 1u));
}
__device__ unsigned slr_most(const unsigned *word)
{
    unsigned most = word[threadIdx.x];
    for (unsigned far = 16u; far != 0u; far /= 2u) {
        unsigned other = __shfl_xor_sync(0xffffffffu, most, (int)far);
        most = other > most ? other : most;
    }
    return most;
}
__device__ unsigned slr_sum_before(unsigned *word) // each becomes the sum of those before it; gives the sum of all
{
    unsigned own = word[threadIdx.x], sum = own;
    for (unsigned far = 1u; far < 32u; far *= 2u) {
        unsigned other = __shfl_up_sync(0xffffffffu, sum, far);
        sum += threadIdx.x >= far ? other : 0u;
    }
    word[threadIdx.x] = sum - own;
    return __shfl_sync(0xffffffffu, sum, 31);
}
#endif
#define SLR_APART SLR_FN __attribute__((noinline)) // off the way of most messages: it shall take no registers there
// A look at a flag, which the host writes and the device has.
#ifndef SLR_FLAG
#define SLR_FLAG(word) SLR_LOOK(word)
#endif
#define SLR_LOAD(word) __nv_atomic_load_n(&(word), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_STORE(word, value) __nv_atomic_store_n(&(word), value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM)

struct SLR_ALIGNED slr_quad { // what a lane copies at once
    unsigned word[4];
};

enum { SLR_STOP, SLR_HOLD, SLR_JUDGED, SLR_ASKED, SLR_CONTROL, SLR_EPOCH, SLR_WORDS };

#define SLR_UNTIMED (~(SLRI_ADDRESS)0)

SLR_TEAM struct slr_team {
    struct slri_resident_entry *serving; // the entry that this is about
    struct slri_resident_entry set;      // a copy of it, but for the host's words
    unsigned size[32];                   // a copy of the mailbox's third line
    unsigned is_own, own_changed;        // `own` holds the entry's words, and other ones than lie in the device's memory
    // Of each entry, from the look before: the control words are older than what the lanes show, as the mailbox asks.
    unsigned heard[SLRI_RESIDENT_SHARDS][2];
    unsigned unheard[SLRI_RESIDENT_SHARDS]; // looks to come before a command is heard that a judgement has given
    unsigned index;            // which entry it is
    unsigned word[SLR_WORDS];  // of this look
    unsigned looks;            // since it is this entry
    unsigned aimed;            // 1: the next two are so
    unsigned next[SLR_LANES], turn[SLR_LANES]; // of ports 0 to 31: where the next message's sequence lies, 0: nowhere, and what it will be
    unsigned shows[SLR_LANES]; // bit w of the l-th: port 32 * w + l shows a message
    // Lanes of ports that show messages: where each lies, from which position on, how many, and its mark.
    // of ports 0 to 31: how many messages each shows by its flag, or by a look at its next slots; 0: that is not known
    unsigned flagged[SLR_LANES];
    unsigned only; // 1 + the one port that there is; 0: there are others, or flags. Lanes then have its next slots
    unsigned unsure;             // 1: of a run is known only that it is not empty
    unsigned runs, lane[SLR_LANES], from[SLR_LANES], run[SLR_LANES], mark[SLR_LANES];
    unsigned more; // 1: and further ones
    // Of the fast path (cu_fast.h): whether it may be tried, how many passes of the general path come before it is again,
    // the port that sent last, which ports' lanes lie on the host, and for each lane where it looks and for what.
    unsigned fast, crowd, last, far, sight[SLR_SIGHTS], expect[SLR_SIGHTS];
    unsigned polled; // looks of this pass
    unsigned arrives; // 1: the outlets' words are not near yet
    unsigned full[SLR_LANES];
    unsigned busy; // something was taken in the last pass: there may be more than one message
    unsigned act, worked, looked, waited, rounds, together, all;
    unsigned called; // of a block's handler: which message of the batch, from 1; 0: the kernel ends
    unsigned answered;         // the last question for the clock
    SLRI_ADDRESS taken_ns;     // of the batch, where records are kept
    SLRI_ADDRESS took_ns[SLR_LANES]; // of each message that is timed; SLR_UNTIMED: of another
    struct slri_resident_passage passage; // copies, where the entry has one
    struct slri_resident_outlet outlet[SLR_OUTLETS];
    // The words O of the first ones, where they have room here: a pass reads some 40 of them, one behind the other.
    unsigned outlet_words[SLR_OUTLETS_HERE][SLR_OUTLET_ROOM] SLR_ALIGNED;
    SLRI_ADDRESS outlet_far[SLR_OUTLETS_HERE]; // where they lie in the device's memory; 0: not here
    // A batch.
    unsigned batch, instance[SLR_LANES], round[SLR_LANES], fault[SLR_LANES], to[SLR_LANES], placed[SLR_LANES];
    unsigned near, now; // 1: its slots are in `message`; which of them is being put down as handled
    unsigned fetched;   // a slot that is there before it is in a batch; 0: none
    struct slri_call call[SLR_LANES];
    unsigned message[SLR_ROOM] SLR_ALIGNED, reply[SLR_ROOM] SLR_ALIGNED;
    // The owner's words but for the ports' lists. Behind each fence they are read once more from where they lie, and a
    // read of the L2 cache takes 465 cycles on an H100: a message reads some 60 of them, one behind the other.
    unsigned own[SLR_OWN_ROOM + 1u] SLR_ALIGNED;
} slr_team;

// ---- what the mailbox is told --------------------------------------------------------------------------------------

#define SLR_SIZE(name) slr_team.size[(name)-64u]
#define SLR_P (SLR_OWN_ROOM != 0u ? slr_team.own : (unsigned *)slr_team.set.own)
#ifndef MB_APART
#define MB_APART __attribute__((noinline))
#endif
#define MB_LIST(P, at) (((unsigned *)slr_team.set.own)[at])
// No owner that evicts is a kernel that stays: then the code for it goes.
#define MB_SIZE(name) ((void)S, (name) == MB_KEEP ? 0u : SLR_SIZE(name))
#define MB_HEARD(at) slr_team.heard[slr_team.index][(at) == 0u ? 0 : 1] // MB_CONTROL is 0
#define MB_MARK(at) slr_mark(at)
#define MB_TAKEN(at, word) (slr_team.near != 0u ? slr_team.message[slr_team.now * SLR_SIZE(MB_SLOT_WORDS) + (word)] : MB_AT((at) + (word)))
#define MB_AT(at) (*slr_at(S, at)) // cu_near.h
#define MB_LANE_OF(S, P, port) ((void)(S), slr_lane_of(P, port))
#define MB_IS_ELSEWHERE(P, port) (slr_lane_of(P, port) & MB_NEAR)
#define MB_RETURN(P, port) slr_return(P, port)
#define MB_PORT_OF(P, port) ((void)(P), MBP_PORT(port))
#define MBO_SEE(word) SLR_LOAD(word)
#define MBO_SHOW(word, value) SLR_TELL(word, value) // cu_passage.h has a fence before all outlets
#define MBO_TELL(word, value) (void)&(word) // it tells behind what it shows
SLR_FN void slr_return(const unsigned *P, unsigned port);
SLR_FN unsigned *slr_at(const unsigned *S, unsigned at);
SLR_FN unsigned slr_lane_of(const unsigned *P, unsigned port);
#define MB_PUBLISH(at, value) SLR_TELL(S[at], value) // behind slr_publish's fence
#define MB_MAY_END(S, P) (slr_team.set.away == 0u && mb_drained(S) != 0u ? 1u : 0u)
#define MB_RUNS_ARE_KNOWN

SLR_FN unsigned slr_find_run(unsigned lane)
{
    unsigned i = 0u;
    while (i < slr_team.runs && slr_team.lane[i] != lane)
        i += 1u;
    return i;
}

SLR_FN unsigned mb_full_run(const unsigned *S, unsigned lane, unsigned position)
{
    unsigned i = slr_find_run(lane);
    (void)S;
    if (i == slr_team.runs)
        return 0u;
    unsigned gone = position - slr_team.from[i]; // taken since
    return gone < slr_team.run[i] ? slr_team.run[i] - gone : 0u;
}

// Where there were more lanes than are known, one that is not may show something.
SLR_FN unsigned mb_shows(const unsigned *S, unsigned lane, unsigned position)
{
    return mb_full_run(S, lane, position) != 0u || (slr_team.more != 0u && slr_find_run(lane) == slr_team.runs) ? 1u : 0u;
}

SLR_FN unsigned slr_mark(unsigned lane)
{
    unsigned i = slr_find_run(lane);
    return i < slr_team.runs ? slr_team.mark[i] : 0u;
}
