// SPDX-License-Identifier: Apache-2.0
// A libcuda and an NVRTC in one, with devices of their own making. They do what they are told in the thread that tells
// them, check what they are given as the manuals say, count what is alive, and fail on demand. A cubin is the emitted
// source: our front end reads it again, our interpreter runs it. A kernel that stays runs in a thread a block: its loop
// is the text that NVRTC gets, compiled as C, its handler is interpreted. What would wait for such a kernel on a GPU
// waits here, too, and is wrong where it waits for long. With SLIPRING_FAKE_CUDA_BY=text what runs is the source
// itself, compiled by the host's compiler (tests/shim). A test that has the library loaded, by SLIPRING_CUDA_LIB and
// SLIPRING_NVRTC_LIB, reaches these words by its function fake_cuda_words().
#ifndef TESTS_FAKES_FAKE_CUDA_H
#define TESTS_FAKES_FAKE_CUDA_H

#include <stdint.h>

#define FAKE_CUDA_MOST_DEVICES 4

struct fake_cuda {
    uint32_t devices;   // how many there are
    uint32_t calls;     // that can fail, so far
    uint32_t fail_at;   // the number of the call that fails, from 1; 0: none
    uint32_t lost;      // 1: and so do all behind it
    int32_t error;      // with which
    const char *only;   // how the names of calls begin that are counted in `calls` and may fail; NULL: all
    uint32_t commands;  // given to streams, so far
    uint32_t fault_at;  // the number of the command in which a kernel or a copy faults: its context is gone
    const char *failed; // the name of the call that failed, or NULL
    uint32_t live;      // objects not yet released: contexts, and what is in them
    uint32_t wrong;     // what the manual forbids: the NULL stream, a call without a context, and the like
    const char *first_wrong;
    uint32_t contexts;       // that were made of their own, so far
    uint32_t retained;       // holds on primary ones
    int32_t last_priority;   // of the stream made last
    uint32_t compilations;   // by NVRTC, so far
    uint32_t most_threads;   // of a block, as every kernel says; 0: 1024
    uint32_t pinned;         // copies between the device and memory of the host that is pinned, so far
    uint32_t pageable;       // and that is not
    uint32_t allocations;    // of memory of the device, so far
    uint32_t graph_launches; // so far
    uint32_t staying;        // kernels that run in threads of their own, now
    uint32_t stayed;         // and that were launched, so far
    uint32_t most_idle;      // passes without work behind which kernels that stay end; 0: some that soon pass
    const char *stalls_in;   // atomic: the name of a call that waits while a kernel of its context stays, or NULL
    uint32_t held;           // atomic: 1: and they wait, whatever stays, until it is 0
    uint32_t holds;          // atomic: calls that have begun to wait so, so far
    uint32_t keeps_waiting;  // atomic: N: waits for streams and events, from the Nth on, do not return until it is 0
    uint32_t waiting;        // atomic: such waits that have begun, so far
    uint32_t mps;            // 1: contexts are shared with other processes
    uint32_t old;            // 1: the driver does not know whether they are
    uint32_t display;        // 1: the devices drive displays
    uint32_t keeps_pins;     // 1: memory that is registered stays so behind the end of its context, for all
    uint32_t lingers;        // 1: kernels of a context that is lost run on until it is destroyed
    uint32_t stall;          // atomic: 1: blocks of kernels that stay stop where they stand, until it is 0
    uint32_t stalled;        // atomic: blocks that have stopped so, so far
    uint32_t destroyed;      // atomic: contexts whose destruction has begun, so far
    uint32_t separate;       // 1: the device sees mapped memory elsewhere; no managed memory for both at once
    uint32_t registers;      // of a thread, as every kernel says; 0: 32
    uint32_t peers;          // bit 4 * a + b: device a reaches the memory of device b
    uint32_t peer_atomics;   // likewise: also by atomic functions
    uint32_t peer_copies;    // so far
    uint32_t general;        // atomic: 1: kernels that stay take the general path alone, where their loop is run as C
    uint32_t fast;           // atomic: messages that took the fast path there, so far
    uint32_t blocks;         // of any kernel on a multiprocessor; 0: as its registers and shared memory let in
    uint64_t threads;        // atomic: of all launches so far: fake_nvml.c makes the energy of them
};

#endif
