// SPDX-License-Identifier: Apache-2.0
// A libOpenCL with one device, or more, that does what it is told in the thread that tells it, checks what it is given
// as OpenCL's specification says, counts what is alive, and fails on demand. A test that has it loaded, by
// SLIPRING_OPENCL_LIB, reaches these words by its function fake_opencl_words(). fake_opencl_join() waits for kernels
// that were left when their device was lost, and may end now; fake_opencl_end_hung() ends commands that hang. All zero:
// no device that we would use.
#ifndef TESTS_FAKES_FAKE_OPENCL_H
#define TESTS_FAKES_FAKE_OPENCL_H

#include <stdint.h>

// Where in its batch a kernel that stays dies (`kill`): before the first handler; behind half of them, with nothing
// shown of what goes along routes; behind all, with that shown and nothing counted.
enum fake_kill { FAKE_KILL_BEGUN = 1, FAKE_KILL_HALF, FAKE_KILL_SHOWN };

struct fake_opencl {
    uint32_t calls;              // that can fail, so far
    uint32_t fail_at;            // the number of the call that fails, from 1; 0: none
    uint32_t lost;               // 1: and so do all behind it
    int32_t error;               // with which
    uint32_t events, fail_event; // likewise the command, which then fails when it is done
    const char *only;            // how the names of calls begin that are counted in `calls` and may fail; NULL: all
    const char *failed;          // the name of the call that failed, or NULL
    uint32_t live;               // objects not yet released
    uint32_t wrong;              // what the specification forbids: a release of what is not alive, and the like
    uint64_t svm;                // as CL_DEVICE_SVM_CAPABILITIES
    uint32_t host_unified, available, version; // version: 300
    uint32_t units;                            // compute units; 0: 2
    uint32_t platforms;                        // 0: 1; the second has no device, each further one two
    uint32_t stays;       // 1: kernels that stay do what they would, with a handler that replies nothing, or along
                          // routes what it was sent; atomic, as the
    uint32_t kill;        // next: not 0: the first with a batch in hand fails with `error`, and makes it 0
    uint32_t sub_groups;  // 0: none; else of how many threads
    uint32_t refuse_stay; // 1: launches of them fail with `error`
    uint32_t hang;        // 1: kernels never end, nor their handlers; those that stay go on when it is 0 again
    uint32_t mute;        // 1: it does not say what has ended: flushes and questions fail with `error`
    uint32_t type;        // as CL_DEVICE_TYPE; 0: a CPU
    uint32_t staying;     // atomic: kernels that run in threads of their own, now
    uint32_t hung;        // atomic: handlers of those that stay that have begun to hang, so far
};

#endif
