// SPDX-License-Identifier: Apache-2.0
// The queue of a driver that takes command buffers: Vulkan, Metal, WebGPU. Commands are recorded, and submitted at the
// last one before a wait, when there are many of them, or when they are waited for. Copies that the driver cannot do go
// through the stage, which is memory that the host and the device reach.
//
// The engine keeps the counts, the stage's room and the copies out that the host completes. The backend keeps the
// driver's objects, and its struct begins with a struct slri_buffered_queue. One thread at a time uses a queue.
#ifndef SLRI_ENGINE_BUFFERED_QUEUE_H
#define SLRI_ENGINE_BUFFERED_QUEUE_H

#include "engine/loss.h"
#include "hal/hal.h"

#define SLRI_MOST_SUBMITS 8u                        // before the first is waited for
#define SLRI_MOST_BACKS 256u                        // copies out that the host completes, likewise
#define SLRI_STAGE_PART (UINT64_C(32) << 20)        // bytes of a copy through the stage at once, with what is around it
#define SLRI_HANG_TIMEOUT_NS UINT64_C(600000000000) // a command that takes longer has hung

// What struct slri_queue_facts says of these queues, as initializers. Threads of streams wait for the device most of
// their time, so there may be more of them than cores.
#define SLRI_BUFFERED_FACTS .threads = 16, .most_begun = 256, .most_pattern = 4, .faults = SLRI_FAULTS_IN_FIELDS

struct slri_buffered_queue;

// A copy out: `bytes` at `at` in the stage, or wherever `take_read` has put them, become the host's at `to`.
struct slri_back {
    unsigned char *to;
    uint64_t at, bytes;
    uint32_t submit; // number of its submission
};

// What differs by driver. All get the queue that the backend made; an error ends the command that is being encoded.
struct slri_buffered_calls {
    size_t bytes; // of the backend's struct
    // Makes the driver's objects of a queue, all zero before (slri_buffered_queue_create). Where it fails, `free` frees
    // them.
    slr_status (*make)(void *device, uint32_t priority, void *queue);
    bool splits_lists; // the commands of a recorded list count one by one; else a list is one command
    // Begins submission number `submits`, which is recorded from now on.
    slr_status (*open)(struct slri_buffered_queue *queue);
    // NULL, or called where the open submission, in which nothing is recorded yet, is to be timed (`is_timed`).
    slr_status (*time)(struct slri_buffered_queue *queue);
    // NULL: times are not those of whole submissions. Else, behind `await`: when the device was at that one, which was
    // timed. A pair that it leaves as it is tells nothing.
    slr_status (*read_ticks)(struct slri_buffered_queue *queue, uint32_t submit, uint64_t *from, uint64_t *to);
    // NULL, or called before each command, also each of a list: makes room for what its launches are given. May call
    // slri_buffered_drain and _cut.
    slr_status (*ready)(struct slri_buffered_queue *queue, const struct slri_command *command);
    // Records a move, a fill, a dispatch, a copy that it `reaches`, or a list that has a `native`. May call
    // slri_buffered_drain, _cut, _take and _copy, which may end the submission that it records into.
    slr_status (*record)(struct slri_buffered_queue *queue, const struct slri_command *command,
                         const struct slri_extras *extras);
    // Ends and submits what `open` began. Afterwards it is a submission, to be waited for, also where this failed.
    slr_status (*submit)(struct slri_buffered_queue *queue);
    // Waits for all submissions. Errors: DEVICE_LOST (slri_lose_hung by the deadline), their first failure.
    slr_status (*await)(struct slri_buffered_queue *queue, uint64_t deadline_ns);
    // After `await`, which gave `status`, and after the copies out: frees what the submissions used, and notes times
    // where there is no `read_ticks` (slri_buffered_note_ticks). Gives `status`, or a failure that shows at the end.
    // Touches nothing that the device may use where it hangs.
    slr_status (*settle)(struct slri_buffered_queue *queue, slr_status status);
    // NULL: what was timed ends now, on the host's clock. Else reads the device's clock and the host's at once.
    slr_status (*read_clocks)(struct slri_buffered_queue *queue, uint64_t *tick, uint64_t *now_ns);
    void (*free)(struct slri_buffered_queue *queue); // nothing of it is waited for any more

    // Replaces the stage, in which nothing is: `stage` gets at least so many bytes.
    slr_status (*grow)(struct slri_buffered_queue *queue, uint64_t bytes);
    // Records a copy between the device's memory and the stage (`in`), or out, to the place that was taken.
    slr_status (*copy)(struct slri_buffered_queue *queue, bool in, const void *device, uint64_t at, uint64_t bytes);
    // NULL: copies out go through the stage. Else takes room for one, as slri_buffered_take; and gives the bytes.
    slr_status (*take_read)(struct slri_buffered_queue *queue, uint64_t bytes, uint64_t *at);
    slr_status (*view)(struct slri_buffered_queue *queue, const struct slri_back *back, const void **bytes);
    // NULL, or whether `record` does this copy without the stage.
    bool (*reaches)(struct slri_buffered_queue *queue, const struct slri_command *command);
    // NULL, or where the host sees the device's memory: while the queue is empty, copies are done there at once. NULL:
    // it does not.
    unsigned char *(*seen)(struct slri_buffered_queue *queue, const void *device);
};

struct slri_buffered_queue {
    const struct slri_buffered_calls *call;
    struct slri_loss *loss; // the device's
    const slr_allocator *allocator;
    size_t size;      // of the backend's struct
    uint32_t submits; // since the last wait; also the number of the one that is recorded
    uint32_t recorded;
    bool is_open, wants_times; // the latter: of the command that is encoded
    bool is_timed[SLRI_MOST_SUBMITS];
    struct slri_stage { // the backend's `grow` sets the first two
        unsigned char *host;
        uint64_t bytes, used;
    } stage;
    struct slri_back back[SLRI_MOST_BACKS];
    uint32_t backs, sent_backs; // the latter are of what was submitted
    struct slri_ticks {         // the device's clock; the backend sets the first two where it notes ticks
        double ns_a_tick;
        uint64_t mask; // of the bits that it has; 0: it has no clock
        uint64_t from, to;
        bool are_noted; // the two before, since the last wait: when the device was at what was timed
    } ticks;
};

// A queue of `size` bytes, all zero but for the above. The backend makes its objects in it, and frees them and the
// queue (slri_buffered_free) in `call->free`. Errors: NO_MEMORY, DEVICE_LOST.
slr_status slri_buffered_create(const struct slri_buffered_calls *call, struct slri_loss *loss,
                                const slr_allocator *allocator, size_t size, void **queue);
void slri_buffered_free(struct slri_buffered_queue *queue);

// The backend's slots of these names. Of a lost device `destroy` waits two seconds for what still runs.
void slri_buffered_destroy(void *device, void *queue);
slr_status slri_buffered_encode(void *device, void *queue, const struct slri_command *command,
                                const struct slri_extras *extras, uint32_t commands);
slr_status slri_buffered_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times);

// For the backend, in the midst of encoding. Opens, where nothing is open.
slr_status slri_buffered_begin(struct slri_buffered_queue *queue);
// Waits for all, and begins again: nothing uses the arguments and the stage any more.
slr_status slri_buffered_drain(struct slri_buffered_queue *queue);
// Submits what is open, and begins the next.
slr_status slri_buffered_cut(struct slri_buffered_queue *queue);
// Takes so many bytes of the stage, at most SLRI_STAGE_PART, at a multiple of 64. May drain.
slr_status slri_buffered_take(struct slri_buffered_queue *queue, uint64_t bytes, uint64_t *at);
// The device was at what was timed from one tick to the other. Of a clock of 64 bits, a pair that
// ends before it begins tells nothing.
void slri_buffered_note_ticks(struct slri_buffered_queue *queue, uint64_t from, uint64_t to);
// A copy through the stage, in parts. `at` and the device's address have the same remainder by 4.
slr_status slri_buffered_copy(struct slri_buffered_queue *queue, bool in, void *device, void *host, uint64_t bytes);

#endif
