// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_HAL_WEBGPU_WEBGPU_H
#define SLRI_HAL_WEBGPU_WEBGPU_H

#include "base/thread.h"
#include "engine/buffered_device.h"
#include "engine/launch_block.h"
#include "engine/own_kernel.h"
#include "hal/hal.h"
#include "hal/webgpu/api.h"

// What an adapter says of itself, asked once.
struct slri_wg_facts {
    char name[64], driver[96], backend[16]; // the last: of the adapter, "Vulkan"
    slr_device_class device_class;
    bool has_stamps;
    float ns_a_tick;
    WGPULimits limits;
};

#define SLRI_WG_SLICE_ALIGNMENT 64u // where buffers of the front half may begin

// Memory with a buffer over all of it.
struct slri_wg_chunk {
    uint64_t key, bytes; // the address, which nothing has; a multiple of 16
    uint64_t serial;     // no two of a device have the same
    WGPUBuffer buffer;
};

// Counted since the device was opened; atomic.
struct slri_wg_counts {
    uint64_t bind_groups, bind_group_layouts, bind_group_sets, passes, pipelines, submits, timestamp_resolves, maps;
};

// Which bindings kernels have; those with the same ones share it.
#define SLRI_WG_MOST_ENTRIES 65u // 64 storage buffers and the values
struct slri_wg_layout {
    uint32_t count;
    struct slri_wg_entry {
        uint32_t binding;
        bool is_uniform;
    } entry[SLRI_WG_MOST_ENTRIES];
    WGPUBindGroupLayout group;
    WGPUPipelineLayout pipeline;
    struct slri_wg_layout *next; // the device's
};

// Kernels of slipring's own, for what WebGPU copies and fills at whole words alone.
enum slri_wg_tool { SLRI_WG_TOOL_COPY, SLRI_WG_TOOL_FILL, SLRI_WG_TOOLS };

struct slri_webgpu {
    struct slri_buffered_device base; // first
    const struct slri_wg_library *lib;
    WGPUDevice device;
    WGPUQueue queue;
    struct slri_wg_facts facts;
    uint64_t serials;             // atomic
    slri_mutex buried_lock;       // of the next
    struct slri_wg_queue *buried; // queues whose states the library may still write, until the device has gone
    WGPUBuffer none;              // what a kernel gets in place of buffers that are not there
    uint64_t none_step;           // a part of it each

    struct slri_wg_layout *first_layout; // under the lock of kernels
    slri_mutex tool_lock;                // of the next
    struct slri_wg_kernel *tool[SLRI_WG_TOOLS];

    struct slri_wg_counts counts;
};

static inline WGPUStringView slri_wg_text(const char *text)
{
    return (WGPUStringView){text, strlen(text)};
}

// error.c: errors of a call, which the library reports before that returns.
void slri_wg_heard(const WGPUDevice *device, uint32_t type, WGPUStringView message, void *webgpu, void *unused);
void slri_wg_lost(const WGPUDevice *device, uint32_t reason, WGPUStringView message, void *webgpu, void *unused);
// Of this thread's calls since it was last asked: OK, NO_MEMORY, DEVICE_LOST, or INTERNAL (the library found a call
// invalid). `call` is the last of them.
slr_status slri_wg_check(struct slri_webgpu *webgpu, const char *call);
// Before that, where a refusal is about a text: its words, or NULL where nothing was refused.
const char *slri_wg_refusal(void);

// facts.c
slr_status slri_wg_count_devices(const struct slri_wg_library *lib, uint32_t *out);
// The adapter is the caller's to release.
slr_status slri_wg_find_adapter(const struct slri_wg_library *lib, uint32_t index, WGPUAdapter *out,
                                struct slri_wg_facts *facts);
slr_status slri_wg_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info);
slr_status slri_wg_metrics(const void *device, slr_metrics *out);

// memory.c
slr_status slri_wg_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory);
void slri_wg_chunk_free(void *device, const void *chunk);
slr_status slri_wg_buffer_make(struct slri_webgpu *webgpu, uint64_t bytes, WGPUFlags usage, WGPUBuffer *out);
void slri_wg_buffer_free(struct slri_webgpu *webgpu, WGPUBuffer buffer); // NULL is fine
uint64_t slri_wg_serial(struct slri_webgpu *webgpu);                     // the next one
struct slri_wg_chunk slri_wg_find(struct slri_webgpu *webgpu, const void *address, uint64_t *offset);

// code.c
struct slri_wg_kernel {
    struct slri_loaded base; // first
    const char *text;        // while it is made; then ""
    uint32_t uniform_bytes;  // 0: it takes none
    bool tells;              // of loops that the driver has ended
    WGPUShaderModule module;
    struct slri_wg_layout *layout;
};
extern const struct slri_loaded_calls slri_wg_loaded_calls;
slr_status slri_wg_code_write(void *device, struct slri_code_text *text);
slr_status slri_wg_code_write_text(void *device, struct slri_code_text *text, bool tells_ended_loops);
slr_status slri_wg_code_fill(void *device, const struct slri_code_text *text, const struct slri_blob *stored,
                             struct slri_blob *made, struct slri_loaded *loaded);
void slri_wg_code_forget(struct slri_webgpu *webgpu); // tools and layouts: no other kernel is left
slr_status slri_wg_code_pipeline(struct slri_webgpu *webgpu, struct slri_wg_kernel *kernel, uint32_t dynamic_bytes,
                                 WGPUComputePipeline *out);
slr_status slri_wg_code_tool(struct slri_webgpu *webgpu, enum slri_wg_tool tool, struct slri_wg_kernel **out);

// record.c: commands into a command encoder.
#define SLRI_WG_GROUPS 64u
#define SLRI_WG_MOST_PASSES 64u // of one submission, that are timed
struct slri_wg_range {
    WGPUBuffer buffer;
    uint64_t serial, at, bytes;
};
struct slri_wg_group {
    const struct slri_wg_layout *layout;
    WGPUBindGroup group; // NULL: none
    uint64_t uniform_bytes;
    uint32_t ranges; // of storage
    struct slri_wg_range range[SLRI_WG_MOST_ENTRIES];
};
struct slri_wg_recorder {
    struct slri_webgpu *webgpu;
    WGPUCommandEncoder encoder; // NULL: nothing is recorded
    WGPUComputePassEncoder pass;
    bool pass_is_timed;
    WGPUComputePipeline pipeline; // of the pass, and the next two
    WGPUBindGroup group;
    uint32_t group_at;

    WGPUBuffer args; // values of launches
    struct slri_blocks blocks;
    uint64_t sent;
    struct slri_wg_group *groups; // SLRI_WG_GROUPS, by hash

    WGPUBuffer scratch; // what moves by way of it
    uint64_t scratch_bytes, scratch_serial;

    WGPUBuffer ended; // the word by which kernels tell of loops
    uint64_t ended_serial;
    const char *told_by; // NULL, or the last kernel of the open submission that may have

    WGPUQuerySet stamps; // NULL: the device has none
    uint32_t stamped;    // passes of the open submission
};
slr_status slri_wg_recorder_open(struct slri_wg_recorder *recorder, struct slri_webgpu *webgpu);
void slri_wg_recorder_close(struct slri_wg_recorder *recorder);
bool slri_wg_recorder_has_room(const struct slri_wg_recorder *recorder, const struct slri_command *command);
slr_status slri_wg_recorder_refuse(const struct slri_wg_recorder *recorder,
                                   const struct slri_command *command); // of a clear one that has none: UNSUPPORTED
void slri_wg_recorder_clear(struct slri_wg_recorder *recorder); // of all values: nothing that names them is under way
slr_status slri_wg_recorder_begin(struct slri_wg_recorder *recorder); // an encoder, where there is none
void slri_wg_recorder_end_pass(struct slri_wg_recorder *recorder);
void slri_wg_recorder_send(struct slri_wg_recorder *recorder); // values, before a submission
slr_status slri_wg_record(struct slri_wg_recorder *recorder, const struct slri_command *command,
                          const struct slri_extras *extras); // a move, a fill or a dispatch
// A kernel of slipring's own: it writes `to`, and reads from there (NULL: nothing). `job`: as in bytes.wgsl.
slr_status slri_wg_record_tool(struct slri_wg_recorder *recorder, enum slri_wg_tool tool,
                               const struct slri_wg_range *to, const struct slri_wg_range *from, const uint32_t job[4],
                               uint32_t blocks);
// Between two buffers, from any byte to any byte. Both have whole words around.
slr_status slri_wg_record_copy(struct slri_wg_recorder *recorder, const struct slri_wg_range *from,
                               const struct slri_wg_range *to);

// queue.c
extern const struct slri_buffered_calls slri_wg_queue_calls;
void slri_wg_queues_forget(struct slri_webgpu *webgpu); // once the library's device has gone
#endif
