// SPDX-License-Identifier: Apache-2.0
// Streams over the four slots of a backend's queues (hal/hal.h): threads, order of calls and tasks of the host among
// commands, kernels that print or may fault, copies and fills that a device has not, times. What begins when is
// engine/queue.h's rule.
#ifndef SLRI_ENGINE_STREAM_H
#define SLRI_ENGINE_STREAM_H

#include "engine/queue_pool.h"

struct slri_queue_device;
struct slri_faults;

struct slri_stream {
    struct slri_queue_device *of;
    struct slri_queue *queue;   // whose commands these are; NULL: the device's own
    void *native;               // the backend's queue; NULL where it needs none
    uint32_t begun;             // commands that have not been waited for
    uint32_t mark;              // 0, or is put before the next command that is begun
    void *printed;              // SLRI_PRINTED_ROOM bytes of the device; NULL: no kernel has printed yet
    struct slri_faults *faults; // of what was begun; NULL: no kernel that may fault yet
};

// A device, as its streams see it.
struct slri_queue_device {
    const struct slri_backend *backend;
    void *device; // the backend's
    const slr_allocator *allocator;
    struct slri_queue_facts facts;
    uint64_t hang_timeout_ns;   // what is not done so long after somebody waits for it has hung; 0: nobody says
    struct slri_loss *loss;     // whether it was lost; NULL: it never is
    bool is_unified;            // the host can address its buffers
    bool has_words, keeps_host; // as struct slri_facts says
    const struct slri_residents *residents; // likewise
    struct slri_queue_pool pool;
    slri_mutex own_lock;    // of the next
    struct slri_stream own; // for what is done at once, in the calling thread
    slri_mutex bounce_lock; // of the next, until what goes through it has been waited for
    void *bounce;           // SLRI_BOUNCE_BYTES, for copies over themselves; NULL: the device needs none
    uint32_t forks;         // base/forks.h: of the process that opened it
};
#define SLRI_BOUNCE_BYTES ((uint64_t)1 << 20)

// `allocator` stays. Errors: those of queue_create and memory_create.
slr_status slri_queue_device_open(struct slri_queue_device *of, const struct slri_backend *backend, void *device,
                                  const slr_allocator *allocator);
void slri_queue_device_close(struct slri_queue_device *of); // no queue has work any more
// Of a lost device that has no streams: gives up what lay in its memory, before the backend opens it again; behind that
// makes it anew. Errors: those of queue_create and memory_create.
void slri_queue_device_lose(struct slri_queue_device *of);
slr_status slri_queue_device_renew(struct slri_queue_device *of);

// WRONG_STATE in a child, by fork(), of the process that opened it: the child has neither the device's threads nor,
// with most drivers, the device.
slr_status slri_queue_device_check_process(const struct slri_queue_device *of);
// Commands at once, in the calling thread.
slr_status slri_queue_device_run(struct slri_queue_device *of, const struct slri_command *command, uint32_t commands);
// Memory of a kind. Errors: those of memory_create.
slr_status slri_queue_device_memory(const struct slri_queue_device *of, enum slri_memory_kind kind, uint64_t bytes,
                                    void **memory);
// Copies into the device's memory or out of it, and waits. From any thread.
slr_status slri_queue_device_copy(struct slri_queue_device *of, void *memory, void *host, uint64_t bytes, bool in);
// Frees memory of the device's allocator that a command has named: at once, or when a lost device can touch it no more.
void slri_queue_device_free(struct slri_queue_device *of, void *memory, uint64_t bytes);

// For engine/queue.c, which does one submission after the other.
slr_status slri_stream_open(struct slri_stream *stream, struct slri_queue_device *of, struct slri_queue *queue,
                            uint32_t priority);
void slri_stream_close(struct slri_stream *stream); // nothing is in it
// Does a command, or begins it. `before` is what has failed before it, or SLR_OK; then only a call is run.
slr_status slri_stream_run(struct slri_stream *stream, const struct slri_command *command, slr_status before);
slr_status slri_stream_finish(struct slri_stream *stream); // waits for all that was begun

// Whether the device can be given a submission behind others that are not done, and does not tell afterwards that it
// failed, but where it was lost: it has only commands of the device's, whose end nobody need see at once.
bool slri_stream_goes_ahead(const struct slri_stream *stream, const struct slri_submission *submission);
// Whether who submits it may also begin it: that takes no longer than a call of the driver's, which does not wait.
bool slri_stream_begins_at_once(const struct slri_stream *stream, const struct slri_submission *submission);
// Waits for what was begun before the mark, but not for what was begun since.
slr_status slri_stream_await_mark(struct slri_stream *stream, uint32_t mark);
// Likewise, of commands that the caller gave to slri_stream_begin. `times`, which is zero: NULL, or where they go.
slr_status slri_stream_await(struct slri_stream *stream, struct slri_times *times);

// Several commands that are done again and again, as one. Errors: UNSUPPORTED (what cannot be in one is said),
// NO_MEMORY, what the backend gives. Nothing of it is in a queue when it is destroyed.
struct slri_list;
slr_status slri_list_create(struct slri_queue_device *of, const struct slri_command *command, uint32_t commands,
                            struct slri_list **out);
void slri_list_destroy(struct slri_list *list);

// ---- between the files that streams are made of ---------------------------------------------------------------------

// Begins commands of the device's as they are: fewer than its facts' `most_begun`.
slr_status slri_stream_begin(struct slri_stream *stream, const struct slri_command *command,
                             const struct slri_extras *extras, uint32_t commands);
// Copies into the device's memory or out of it, behind what was begun, and waits.
slr_status slri_stream_copy(struct slri_stream *stream, void *memory, void *host, uint64_t bytes, bool in);

// stream_pieces.c: commands that a device has not, as several that it has; `begin` is given one after the other.
typedef slr_status slri_piece_begin(void *user, const struct slri_command *command);
slr_status slri_fill_in_pieces(const struct slri_command *fill, uint32_t most_pattern, slri_piece_begin *begin,
                               void *user);
// `bounce`: as much memory of the device as SLRI_BOUNCE_BYTES says.
slr_status slri_move_in_pieces(const struct slri_command *move, void *bounce, slri_piece_begin *begin, void *user);

// kernel_faults.c: the faults of kernels that were begun, each in a fault word of its own.
struct slri_faults {
    struct slri_queue_device *of;
    uint32_t room, count;
    uint64_t stride;
    bool can_see;                            // the host can address the words
    bool is_unknown;                         // some words could not be read or made zero
    unsigned char *word;                     // `stride` bytes apart
    const struct slri_ready_kernel *ready[]; // a word's kernel
};
slr_status slri_faults_create(struct slri_queue_device *of, uint32_t room, struct slri_faults **out);
void slri_faults_destroy(struct slri_faults *faults); // NULL is fine
// The word of a dispatch, for which there is room.
void *slri_faults_add(struct slri_faults *faults, const struct slri_ready_kernel *ready);
// When they have been waited for: gives the first fault, or `before` where that is a failure already. All words are
// zero then, unless the device was lost or `is_unknown` is set.
slr_status slri_faults_look(struct slri_faults *faults, struct slri_stream *stream, slr_status before);

#endif
