// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_HAL_VULKAN_VULKAN_H
#define SLRI_HAL_VULKAN_VULKAN_H

#include "base/thread.h"
#include "emit/spirv/spirv.h"
#include "engine/buffered_device.h"
#include "engine/code.h"
#include "engine/hazards.h"
#include "engine/launch_block.h"
#include "engine/own_kernel.h"
#include "engine/resident.h"
#include "hal/hal.h"
#include "hal/vulkan/api.h"

enum { SLRI_VK_HOST_MEMORY, SLRI_VK_BUDGET, SLRI_VK_CALIBRATED, SLRI_VK_SUBGROUP_SIZE, SLRI_VK_EXTENSIONS };

// What a device says of itself, asked once.
struct slri_vk_facts {
    VkPhysicalDeviceProperties2 all;
    VkPhysicalDeviceVulkan11Properties p11;
    VkPhysicalDeviceVulkan12Properties p12;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host; // 0: memory that the application made cannot be imported
    VkPhysicalDeviceMemoryProperties memory;
    uint64_t memory_bytes, most_buffer_bytes;
    uint32_t heap;                             // that has these bytes
    uint32_t family, queues;                   // the family that is used, and how many of its queues
    uint32_t stamp_bits;                       // of its time stamps; 0: it has none
    uint32_t has, float_controls;              // SLRI_SPIRV_...
    bool addresses, timeline, model;           // what every module needs, and every queue
    bool subgroups_of_32;                      // it has subgroups of that size, for compute, with all that warps do
    bool calibrated;                           // its clock is read with the host's
    const char *extension[SLRI_VK_EXTENSIONS]; // NULL: it lacks that one
};

// One chain: what is asked of a device, and asked for.
struct slri_vk_features {
    VkPhysicalDeviceFeatures2 all;
    VkPhysicalDeviceVulkan11Features f11;
    VkPhysicalDeviceVulkan12Features f12;
    VkPhysicalDeviceSubgroupSizeControlFeaturesEXT sizes; // of an extension
};

// Memory with a buffer over all of it. One that the host sees is known by its address there, too.
struct slri_vk_chunk {
    uint64_t key, bytes; // of the list that it is in
    uint64_t lead;       // bytes before `key`: of imported memory, which is whole pages
    uint64_t address;    // of the device
    unsigned char *host; // NULL: the host does not see it
    VkBuffer buffer;
    VkDeviceMemory memory;
};

// Counted since the device was opened; atomic.
struct slri_vk_counts {
    uint64_t barriers, host_barriers; // between commands; before the host reads
    uint64_t argument_writes, pipelines, submits;
};

#define SLRI_VK_MOST_LINES 8u

struct slri_vulkan {
    struct slri_buffered_device base; // first; its chunks are by the device's address
    const struct slri_vk_instance *vk;
    struct slri_vk_calls call;
    VkPhysicalDevice physical;
    VkDevice device;
    struct slri_vk_facts facts;

    struct slri_vk_line { // one of the family's queues
        VkQueue queue;
        slri_mutex lock; // Vulkan's queues are for one thread at a time
        bool shares;     // under the lock: the group that stays may be on the device; who submits has it end first
    } line[SLRI_VK_MOST_LINES];
    uint32_t lines, next_line; // the second is atomic

    slri_mutex own_lock; // of the queue that zeroes new memory
    void *own;

    VkPipelineLayout layout;
    struct slri_vk_counts counts, uncounted; // the latter: of slipring's own kernels, which nobody asks for

    struct slri_residents residents;
    struct { // stay.c: a device has one group that stays, for one ring kernel at a time
        slri_mutex lock;
        bool is_tried;     // probe.c
        const char *lacks; // behind that: NULL, or why none can stay, as a clause
        uint32_t pieces;   // atomic: of memory that persistent ring kernels have
    } stay;
};

// A call has failed: DEVICE_LOST, where that is what it says, loses the device.
slr_status slri_vk_check(struct slri_vulkan *vulkan, const char *call, VkResult result);
#define SLRI_VK_TRY(vulkan, name, ...) SLRI_TRY(slri_vk_check(vulkan, #name, (vulkan)->call.name(__VA_ARGS__)))

// facts.c
slr_status slri_vk_count_devices(const struct slri_vk_instance *vk, uint32_t *out);
slr_status slri_vk_find_device(struct slri_vulkan *vulkan, const struct slri_spec *spec); // and its facts
void slri_vk_wanted(const struct slri_vk_facts *facts, struct slri_vk_features *out); // all that are used, and there
slr_status slri_vk_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info);
slr_status slri_vk_metrics(const void *device, slr_metrics *out);
const char *slri_vk_refuses(const struct slri_vulkan *vulkan); // NULL, or why it compiles no kernel

// memory.c
slr_status slri_vk_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory);
void slri_vk_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes);
void slri_vk_locate(void *device, const void *memory, struct slri_memory_place *out);
uint64_t slri_vk_seen_address(struct slri_vulkan *vulkan, const void *host); // the device's, of memory that it shares
// Memory that the host writes and the device reads, or the other way round (`is_read`); in no list.
slr_status slri_vk_chunk_make_seen(struct slri_vulkan *vulkan, uint64_t bytes, bool is_read, struct slri_vk_chunk *out);
void slri_vk_chunk_free(void *device, const void *chunk); // also what could be made in part
// Fills in where an address lies, and whether the host sees it: among `base.chunks` one of the device, among
// `base.seen` one of the host. False: not so many bytes are there.
bool slri_vk_find(struct slri_places *chunks, const void *address, struct slri_hazard_use *use);

// record.c: commands into a command buffer.
struct slri_vk_recorder {
    struct slri_vulkan *vulkan;
    struct slri_vk_counts *counts;
    bool is_own; // a kernel of slipring's own: behind all that the device has done, and what it writes is the host's
    VkCommandPool pool;
    VkCommandBuffer commands; // that is recorded
    struct slri_hazards hazards;
    uint64_t bound;              // a VkPipeline
    struct slri_vk_chunk memory; // the word by which kernels tell of loops, argument blocks, the edges of fills
    struct slri_blocks blocks;
};
// With memory of so many bytes, and command buffers. Where it fails, slri_vk_recorder_close frees a part of it.
slr_status slri_vk_recorder_open(struct slri_vk_recorder *recorder, struct slri_vulkan *vulkan, uint64_t bytes,
                                 VkCommandBufferLevel level, uint32_t count, VkCommandBuffer *commands);
void slri_vk_recorder_clear(struct slri_vk_recorder *recorder);      // of all argument blocks
slr_status slri_vk_recorder_look(struct slri_vk_recorder *recorder); // UNSUPPORTED, where a loop was ended
void slri_vk_recorder_close(struct slri_vk_recorder *recorder);
uint64_t slri_vk_record_needs(const struct slri_command *command); // of its memory, at most
slr_status slri_vk_record(struct slri_vk_recorder *recorder, const struct slri_command *command,
                          const struct slri_extras *extras); // a move, a fill or a dispatch; or a copy of seen memory
void slri_vk_record_list(struct slri_vk_recorder *recorder, const struct slri_vk_recorder *list);
void slri_vk_record_to_host(struct slri_vk_recorder *recorder); // a barrier, where it needs one
bool slri_vk_record_can(struct slri_vulkan *vulkan, const struct slri_command *command);
// A copy between two places, of which `how` and `stage` are not set.
void slri_vk_record_copy(struct slri_vk_recorder *recorder, struct slri_hazard_use from, struct slri_hazard_use to);

// queue.c
extern const struct slri_buffered_calls slri_vk_queue_calls;
// A queue of the device's first for one of slipring's own kernels, which is recorded once: each launch is the first one
// again, also of what that was given. And whether the newest launch has ended: VK_SUCCESS, or VK_TIMEOUT.
slr_status slri_vk_queue_create_own(void *device, void **queue);
slr_status slri_vk_queue_launch_own(void *queue, const struct slri_own_kernel *own, const struct slri_bound *bound);
VkResult slri_vk_queue_look(const void *queue, uint64_t wait_ns);
// The same, with what follows from a wait that fails. Only a wait in vain means that the device hangs.
slr_status slri_vk_queue_await(struct slri_buffered_queue *queue, uint64_t deadline_ns);
// In a queue of the device's own, and waits.
slr_status slri_vk_zero_at_once(struct slri_vulkan *vulkan, const struct slri_vk_chunk *chunk);

// list.c: `native` of a struct slri_kept_list is a recorder.
slr_status slri_vk_list_make(void *device, struct slri_kept_list *kept);
void slri_vk_list_free(void *device, void *native);

// code.c
slr_status slri_vk_code_write(void *device, struct slri_code_text *text);
slr_status slri_vk_code_write_module(void *device, struct slri_code_text *text, bool tells_ended_loops);
slr_status slri_vk_code_fill(void *device, const struct slri_code_text *text, const struct slri_blob *stored,
                             struct slri_blob *made, struct slri_loaded *loaded);
// A kernel for a shape of block: what was loaded.
struct slri_vk_kernel {
    struct slri_loaded base; // first
    struct slri_arguments layout;
    uint32_t block[3];
    VkShaderModule module;
    VkPipelineCache cache;
    uint32_t needs; // SLRI_SPIRV_...
};
extern const struct slri_loaded_calls slri_vk_loaded_calls;

// probe.c
// NULL, or why no kernel can stay on the device, as a clause. The first call tries it.
const char *slri_vk_cannot_stay(struct slri_vulkan *vulkan);

// stay.c: persistent ring kernels.
slr_status slri_vk_stay_check(void *device); // WRONG_STATE: memory of some goes with a lost device
void slri_vk_stay_open(struct slri_vulkan *vulkan);
void slri_vk_stay_close(void *device);

#endif
