// SPDX-License-Identifier: Apache-2.0
// The front half's objects, for the layers above.
#ifndef SLRI_DEVICE_DEVICE_H
#define SLRI_DEVICE_DEVICE_H

#include "base/forks.h"
#include "base/links.h"
#include "base/spares.h"
#include "base/thread.h"
#include "hal/hal.h"
#include "engine/ring_mode.h"
#include "engine/stream.h"
#include "device/validity.h"

#include <slipring/buffer.h>
#include <slipring/heap.h>
#include <slipring/program.h>

struct slr_device {
    const struct slri_backend *backend;
    void *self; // the backend's
    slr_allocator allocator_copy;
    const slr_allocator *allocator; // the copy, or NULL: malloc
    char chosen[256];
    struct slri_facts facts;
    uint32_t opened;   // atomic: how often it was opened again
    uint64_t serial;   // no other device has or had it
    uint32_t place;    // its index in the table of open devices
    uint32_t holds;    // the user's, and one an object on it; atomic
    uint32_t fixtures; // atomic: graphs and heaps: what would have to be made anew with a device that is opened again
    uint32_t parks;    // atomic: slr_device_park that no slr_device_resume has followed
    uint32_t closing;  // atomic: 1 from slr_device_close on: what is compiled ahead is of no use any more
    slri_mutex prefetch_lock;    // one compilation ahead at a time
    struct slri_printer printer; // function NULL: none
    // The ring layer's part, made with the device's first port or ring kernel and released by slri_rings_close.
    slri_mutex ring_lock;
    struct slri_ring_device *ring;
    struct slri_given *given; // buffers that go with messages; atomic: NULL until the first does
    slr_heap *heap;           // that buffers are taken from: device/store.h
    slr_heap *host_heap;      // that the host's views of pinned buffers are taken from; NULL: the system pins them
    slr_heap *private_heap;   // that private buffers are taken from; NULL: as all others
    struct slr_pool *pool;
    struct slri_spares spares; // for what submissions keep until they are done
    // stream.c's, under the queues' lock.
    struct slri_link streams, given_up; // all of them; of those, the ones destroyed by their owners and not gone
    struct slr_stream *default_stream;
    struct slr_stream *peer_stream;  // for copies to or from other devices; NULL: none was needed
    struct slri_link aways;          // copies that it has of other devices' buffers: device/away.h
    struct slri_queue_device queues; // the engine's, with the next
    struct slri_ring_owners owners;
    struct slri_tuned_known *tuned; // tuned_records.c's, under its lock: NULL until the first program is loaded
    // observe's; atomic: 0 and NULL until they are first asked for.
    uint32_t observed_name;
    struct slri_row *row[SLRI_OPS];
};

struct slri_flight { // a submission that uses a buffer, until it is over
    struct slri_queue *queue;
    uint64_t value;
    struct slri_range range;
    bool writes;
};

struct slr_buffer {
    slr_device *device;
    uint64_t bytes;
    void *memory;  // the device's address of the first byte
    slr_span span; // where it was taken from the device's heap
    uint32_t holds;
    slr_buffer *parent; // of a slice: whose bytes from `offset` on it is; never a slice itself
    uint64_t offset;
    slr_scalar dtype; // 0: none was given
    uint32_t rank;
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS];

    // Of a buffer that is no slice; under the lock of all queues, once it is made.
    slr_buffer_mode mode;
    unsigned char *host; // the host's view, where it is not the device's memory: made when it is first asked for
    bool imported;       // the view, or the memory, is the user's
    bool apart;          // on a unified device: which cannot use the user's memory, or whose bytes are private
    slr_storage storage; // as it was asked for; where private it never has a view
    void *locked;        // NULL, or `bytes` from here are page-locked
    slr_span host_span;  // of the view, where it was taken from the device's heap of pinned memory
    bool written_without_view;
    struct slri_validity validity; // with a view
    struct slri_flight *flight;
    uint32_t flights, flight_room;
    struct slri_mapping *mappings;
    struct slri_away *away; // copies on other devices
    uint64_t writes;        // submissions and maps that have written it
    uint32_t bound;         // ring kernels that may touch it at any time: the device's bytes are the ones that count
    slri_mutex move_lock;
    struct {
        uint64_t uploads, uploaded_bytes, downloads, downloaded_bytes;
    } moved;
    void (*release)(void *user); // of what was imported
    void *user;
    // The pool's that it is of, or NULL, and where it waits there.
    uint32_t pool_class;
    struct slr_pool *pool;
    slr_buffer *next_waiting;
    uint32_t given; // its number among those that go with messages; 0: it never has
};

struct slri_program_entry { // one handler, as the user is told
    const struct slri_entry *entry;
    slr_handler_info info;
};

struct slr_program {
    slr_device *device;
    struct slri_module *module;
    struct slri_code *code;
    uint32_t level; // of optimisation
    struct slri_program_entry *entry;
    uint32_t entries;
    uint32_t holds;
    struct slri_prefetch_stream *prefetch; // under the queues' lock: streams that compile ahead
    struct slri_region *region;            // of the infos
    slr_function_info *function;           // one an entry of the module
    slr_tuned_use tuned_use;
    struct slri_source *source;  // to compile it anew, with other macros or elsewhere; NULL: it is raw
    struct slri_choice *choices; // atomic: tuned.c's; only ever grows, so that it is read without a lock
};

// Whether host and device use the same bytes of it.
static inline bool slri_buffer_is_one(const slr_buffer *root)
{
    return root->device->facts.unified && !root->apart;
}

// Whether the process that opened it is another one, of which this is a child: nothing of it can be freed here.
static inline bool slri_device_is_anothers(const slr_device *device)
{
    return slri_has_forked(device->queues.forks);
}

// WRONG_STATE: it is. Before any lock of its objects is taken: a thread of the parent may have held it at the fork.
static inline slr_status slri_device_check_process(const slr_device *device)
{
    return slri_queue_device_check_process(&device->queues);
}

void slri_tuned_records_free(slr_device *device);
void slri_device_hold(slr_device *device);
void slri_device_release(slr_device *device);
void slri_buffer_hold(slr_buffer *buffer);
void slri_buffer_release(slr_buffer *buffer);
// A ring kernel may touch the buffer from here on until it lets go of it; both with a hold of the caller's.
slr_status slri_buffer_bind(slr_buffer *buffer);
void slri_buffer_unbind(slr_buffer *buffer);
void slri_program_hold(slr_program *program);
void slri_program_release(slr_program *program);

// INVALID, naming `call` and the range, where it leaves the buffer or that is NULL.
slr_status slri_buffer_check_range(const slr_buffer *buffer, uint64_t offset, uint64_t bytes, const char *call);
// WRONG_STATE, naming `call`, where the buffer is private: the host has no side of it.
slr_status slri_buffer_check_side(const slr_buffer *root, const char *call);
// Whether the host reaches the device's bytes of a unified device's buffer.
static inline bool slri_buffer_is_reached(const slr_buffer *buffer)
{
    const slr_buffer *root = buffer->parent ? buffer->parent : buffer;
    return root->storage != SLR_STORAGE_PRIVATE || !root->device->private_heap;
}
// slr_buffer_slice of a range that has been checked, from any byte on: for launches only.
slr_status slri_buffer_part(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_buffer **out);
// Whether a kernel's slice may begin there.
static inline bool slri_is_aligned_for(const slr_device *device, uint64_t offset)
{
    return device->facts.alignment <= 1 || offset % device->facts.alignment == 0;
}
// Whether kernels of the device use the buffer where it lies: it is the device's own, or both devices are the host.
static inline bool slri_buffer_is_near(const slr_buffer *buffer, const slr_device *device)
{
    const slr_device *home = buffer->device;
    const slr_buffer *root = buffer->parent ? buffer->parent : buffer;
    return (home == device && slri_is_aligned_for(device, buffer->offset)) ||
           (home != device && home->backend->is_host && device->backend->is_host && device->facts.unified &&
            slri_buffer_is_one(root));
}
uint32_t slri_scalar_bytes(slr_scalar scalar); // 0 for what is no scalar
// print.c: the shortest text that reads back as the same value; of a NaN "nan".
#define SLRI_SCALAR_TEXT 48
void slri_scalar_spell(slr_scalar dtype, const unsigned char *from, char to[SLRI_SCALAR_TEXT]);
double slri_scalar_real(slr_scalar dtype, const unsigned char *from); // of F32, F64, F16 and BF16
// INVALID where both are known and the buffer's dtype has another size, or one is floating and the other not: as a
// parameter of a kernel or ring kernel (`what` and its name) whose elements are `scalar`; 0: no scalars.
slr_status slri_buffer_check_elements(const slr_buffer *buffer, slr_scalar scalar, const char *what, const char *name,
                                      const char *parameter);
// The device's address of a byte; NULL on a device that stores nothing.
static inline void *slri_buffer_at(const slr_buffer *buffer, uint64_t offset)
{
    return buffer->memory ? (char *)buffer->memory + offset : NULL;
}

// The open device of that place, held, or NULL. For addresses; the device may close at once after.
slr_device *slri_device_at(uint32_t place);

// slr_device_open, once what begins use has been begun (src/api). `spec` NULL: as SLIPRING_DEVICE says, or "auto".
slr_status slri_device_open(const char *spec, const slr_device_desc *desc, slr_device **out);

static inline void slri_hold(uint32_t *holds)
{
    __atomic_fetch_add(holds, 1, __ATOMIC_RELAXED);
}
// True when that was the last. Release and acquire: what other holders did comes before the freeing. Who sees 1 is
// alone, and saves the atomic addition.
static inline bool slri_let_go(uint32_t *holds)
{
    return __atomic_load_n(holds, __ATOMIC_ACQUIRE) == 1 || __atomic_fetch_sub(holds, 1, __ATOMIC_ACQ_REL) == 1;
}

#endif
