// SPDX-License-Identifier: Apache-2.0
/// The floors of ring kernels on a device that is no cpu: the barest kernels, written by hand for the device's own API,
/// without credits, priorities, addresses or any way to stop but a number of messages. They use bench_queue.h's queues
/// where they lie. On a cpu there is nothing here but memory, and the floor is the partner's.
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "bench/bench.h"
#include "bench/queue.h"

#include <stddef.h>
#include <stdint.h>

typedef struct bare bare;

enum bare_kernel {
    BARE_ECHO,     ///< stays: of LATENCY_SLOTS latency_slots to as many
    BARE_RELAYED,  ///< the same, of which one block watches the flags and another one answers
    BARE_HANDOVER, ///< stays: two blocks hand a message to each other, in the device's memory. In CUDA alone
    BARE_READER,   ///< stays: of a batch_queue, to a sum
    BARE_ONCE,     ///< one round of the echo: of as many slots to as many
    BARE_ADDER,    ///< adds each message, a multiple of 1,000, to the sum of its place
    BARE_KERNELS
};

/// How one message is handled by BARE_ONCE, without a kernel that stays. Each is waited for.
enum bare_way {
    BARE_BY_LAUNCH,        ///< a launch; the message lies in the host's memory, which the device reaches
    BARE_BY_GRAPH,         ///< the same launch, recorded once
    BARE_BY_COPIES,        ///< a copy there, a launch, a copy back, in calls that wait, of memory that is not pinned
    BARE_BY_QUEUED_COPIES, ///< the same in one stream, of memory that is pinned, then one wait
    BARE_WAYS
};

/// For the benchmark's device. NULL: failed, and that has been said.
bare *bare_open(const bench *bench);
void bare_close(bare *bare); ///< with the memory that it gave; NULL is fine

/// Whether the floor's other side is a thread of the host's, because the device is a cpu.
bool bare_on_host(const bare *bare);

/// Zeroed memory that both sides reach, on a multiple of 128 bytes. NULL: failed, and that has been said.
void *bare_take(bare *bare, size_t bytes);

/// Makes a kernel ready for what bare_take gave. False: it cannot run there, and bare_why says why.
bool bare_prepare(bare *bare, enum bare_kernel kernel, void *in, void *out);
bool bare_is_ready(const bare *bare, enum bare_kernel kernel);
const char *bare_why(const bare *bare);

/// "OpenCL", "CUDA", for the rows' methods.
const char *bare_called(const bare *bare);

/// Launches the echo or the reader for messages `begin` to `end` - 1; bare_wait waits until it is done. In between, the
/// device's ring kernels are parked: else the two would share the device. False: failed, and that has been said.
bool bare_start(bare *bare, enum bare_kernel kernel, uint32_t begin, uint32_t end);
bool bare_wait(bare *bare);

/// The same around launches that are waited for, where they are quicker so.
bool bare_begin_launches(bare *bare);
bool bare_end_launches(bare *bare);

/// Handles the message `number`, which lies in its slot. Where the API has not all ways, bare_has says so.
bool bare_has(const bare *bare, enum bare_way way);
bool bare_handle(bare *bare, enum bare_way way, uint32_t number);

/// One launch for `count` messages, waited for.
bool bare_add(bare *bare, uint32_t count);

/// Polls of memory, of tens of nanoseconds each, after which the other side does not answer any more. A look at the
/// clock would be a part of what is measured.
#define BARE_MOST_POLLS (1u << 29)

/// Ends the program, and says why: a kernel that waits for ever can be ended in no other way. Rows that are made stay.
_Noreturn void bare_give_up(const bare *bare);

// ---- what an API gives ----------------------------------------------------------------------------------------------

/// A text's kernels and how an API runs them. Contexts and kernels are the API's own.
struct bare_api {
    const char *called;
    /// Launches are quicker while no ring kernel stays: on CUDA theirs is another context. On PoCL they are four times
    /// slower, whose threads then sleep.
    bool parks_for_launches;
    void *(*open)(const char *device, const char **why); ///< of its name; NULL: it is not here
    void (*close)(void *api);
    void *(*take)(void *api, size_t bytes); ///< or NULL
    void (*give)(void *api, void *memory);
    void *(*prepare)(void *api, enum bare_kernel kernel, void *const memory[2], const size_t bytes[2],
                     const char **why);
    bool (*launch)(void *kernel, const uint32_t *values, unsigned count, uint32_t messages);
    bool (*finish)(void *kernel);
    bool (*handle)(void *kernel, enum bare_way way, uint32_t number); ///< NULL: by launches alone
    void (*release)(void *kernel);                                    ///< NULL is fine
};
extern const struct bare_api bare_opencl, bare_cuda, bare_vulkan, bare_webgpu;

// ---- kernels by hand, on Vulkan -------------------------------------------------------------------------------------

enum { BARE_HAND_BUFFERS = 3 };

/// A module whose `main` is pushed the addresses of buffers that bare_vulkan.take gave, then `n` and `factor`.
typedef struct bare_hand {
    const uint32_t *word;
    size_t bytes;
    void *memory[BARE_HAND_BUFFERS]; ///< NULL behind the last
    int32_t n;
    float factor;
    uint32_t grid[2];
} bare_hand;

/// `api`: of bare_vulkan.open. NULL: Vulkan makes no pipeline of it. For bare_vulkan.release.
void *bare_by_hand(void *api, const bare_hand *hand);
bool bare_run_by_hand(void *kernel); ///< and waits

#endif
