// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share. Each slot that calls Metal has an autorelease pool of its own; what outlives the
// slot is owned.
#ifndef SLRI_HAL_METAL_METAL_H
#define SLRI_HAL_METAL_METAL_H

#include "emit/msl/emit_msl.h"
#include "engine/buffered_device.h"
#include "hal/hal.h"
#include "hal/metal/api.h"

// What a device says of itself, asked once.
struct slri_mt_facts {
    char name[64], system[64];
    slr_device_class device_class;
    bool is_unified;
    uint64_t id, memory_bytes, most_buffer_bytes, most_shared_bytes;
    struct slri_mt_size most_threads; // of a block
    uint32_t language;                // the newest version of the language that is compiled
};

// Memory: a buffer, and the address that the layers above know it by. That is the host's, where the host sees it; else
// one that nothing has.
struct slri_mt_chunk {
    uint64_t key, bytes, address; // the last: the device's
    unsigned char *host;          // NULL: the host does not see it
    slri_mt_id buffer;
};

// Counted since the device was opened; atomic.
struct slri_mt_counts {
    uint64_t command_buffers, encoders, pipelines, archives, staged_copies;
};

#define SLRI_MT_TOOL_THREADS 256u // of a block that copies or fills

struct slri_metal {
    struct slri_buffered_device base; // first
    const struct slri_mt_runtime *mt;
    slri_mt_id device;
    struct slri_mt_facts facts;
    slri_mt_id tool; // under the lock of those: the pipeline that copies and fills; NULL: not made yet
    struct slri_mt_counts counts;
};

// error.c
void slri_mt_words(const struct slri_mt_runtime *mt, slri_mt_id string, char *out, size_t room);
void slri_mt_error_words(const struct slri_mt_runtime *mt, slri_mt_id error, char *out, size_t room);
slr_status slri_mt_nothing(const struct slri_metal *metal, const char *call); // it gave NULL: NO_MEMORY
// Of what was committed: OK, NO_MEMORY, or DEVICE_LOST, which loses the device.
slr_status slri_mt_check(struct slri_metal *metal, slri_mt_id commands);
void slri_mt_release(const struct slri_metal *metal, slri_mt_id object); // NULL is fine

// facts.c
slr_status slri_mt_count_devices(const struct slri_mt_runtime *mt, uint32_t *out);
slr_status slri_mt_find_device(struct slri_metal *metal); // and its facts
slr_status slri_mt_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info);
slr_status slri_mt_metrics(const void *device, slr_metrics *out);

// memory.c
slr_status slri_mt_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory);
void slri_mt_chunk_free(void *device, const void *chunk);
slr_status slri_mt_buffer_make(struct slri_metal *metal, uint64_t bytes, bool is_seen, struct slri_mt_chunk *out);
void slri_mt_locate(void *device, const void *memory, struct slri_memory_place *out);

// code.c: a kernel for a shape of block.
struct slri_mt_kernel {
    struct slri_loaded base; // first
    struct slri_msl_facts facts;
    slri_mt_id pipeline; // for all sizes of dynamic shared memory
};
extern const struct slri_loaded_calls slri_mt_loaded_calls;
slr_status slri_mt_code_write(void *device, struct slri_code_text *text);
slr_status slri_mt_code_fill(void *device, const struct slri_code_text *text, const struct slri_blob *stored,
                             struct slri_blob *made, struct slri_loaded *loaded);
slr_status slri_mt_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out);
slr_status slri_mt_code_use(void *device, const struct slri_kernel_query *of, struct slri_kernel_use *out);
slr_status slri_mt_code_tool(struct slri_metal *metal, slri_mt_id *out);

// record.c: commands into an encoder.
#define SLRI_MT_MOST_USED 64u
struct slri_mt_recorder {
    struct slri_metal *metal;
    slri_mt_id encoder;   // NULL: none is open
    slri_mt_id pipeline;  // that it has
    struct slri_mt_used { // buffers that the encoder was told of
        slri_mt_id buffer;
        uint64_t usage;
    } used[SLRI_MT_MOST_USED];
    uint32_t uses;
    struct slri_mt_chunk stage; // between the host's memory and the device's
    uint64_t block_at;          // in it, of the argument block of the next dispatch, if that is long
};
void slri_mt_recorder_begin(struct slri_mt_recorder *recorder, slri_mt_id encoder); // which it owns
void slri_mt_recorder_end(struct slri_mt_recorder *recorder);
uint64_t slri_mt_record_needs(const struct slri_command *command); // of the stage
slr_status slri_mt_record(struct slri_mt_recorder *recorder, const struct slri_command *command,
                          const struct slri_extras *extras); // a move, a fill or a dispatch
// Between the device's memory and `at` of the stage, where there is room.
slr_status slri_mt_record_staged(struct slri_mt_recorder *recorder, bool in, const void *device, uint64_t at,
                                 uint64_t bytes);

// queue.c
extern const struct slri_buffered_calls slri_mt_queue_calls;
slr_status slri_mt_queue_create(void *device, uint32_t priority, void **queue);
void slri_mt_queue_destroy(void *device, void *queue);
slr_status slri_mt_encode(void *device, void *queue, const struct slri_command *command,
                          const struct slri_extras *extras, uint32_t commands);
slr_status slri_mt_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times);

#endif
