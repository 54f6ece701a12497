// SPDX-License-Identifier: Apache-2.0
// What is used of Metal, by the Objective-C runtime: methods by their names and their C types. No header of Apple's is
// needed, so all systems compile it. What Apple's headers call NSUInteger is a uint64_t here, CFTimeInterval a double.
#ifndef SLRI_HAL_METAL_API_H
#define SLRI_HAL_METAL_API_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct objc_object *slri_mt_id;          // an object, or a class
typedef const struct objc_selector *slri_mt_sel; // the name of a method

struct slri_mt_size { // MTLSize; NSOperatingSystemVersion
    uint64_t width, height, depth;
};

// Name here, name there, result, parameters behind the object and the selector.
#define SLRI_MT_METHODS(DO)                                                                                            \
    /* NSObject, NSString, NSArray, NSError, NSURL, NSProcessInfo */                                                   \
    DO(retain, "retain", slri_mt_id, )                                                                                 \
    DO(release, "release", void, )                                                                                     \
    DO(make, "new", slri_mt_id, )                                                                                      \
    DO(string, "stringWithUTF8String:", slri_mt_id, , const char *)                                                    \
    DO(utf8, "UTF8String", const char *, )                                                                             \
    DO(array, "arrayWithObject:", slri_mt_id, , slri_mt_id)                                                            \
    DO(count, "count", uint64_t, )                                                                                     \
    DO(object_at, "objectAtIndex:", slri_mt_id, , uint64_t)                                                            \
    DO(code, "code", int64_t, )                                                                                        \
    DO(description, "localizedDescription", slri_mt_id, )                                                              \
    DO(file_url, "fileURLWithPath:", slri_mt_id, , slri_mt_id)                                                         \
    DO(process, "processInfo", slri_mt_id, )                                                                           \
    DO(system, "operatingSystemVersionString", slri_mt_id, )                                                           \
    DO(is_at_least, "isOperatingSystemAtLeastVersion:", bool, , struct slri_mt_size)                                   \
    /* MTLDevice */                                                                                                    \
    DO(name, "name", slri_mt_id, )                                                                                     \
    DO(registry_id, "registryID", uint64_t, )                                                                          \
    DO(has_unified_memory, "hasUnifiedMemory", bool, )                                                                 \
    DO(supports_family, "supportsFamily:", bool, , int64_t)                                                            \
    DO(working_set, "recommendedMaxWorkingSetSize", uint64_t, )                                                        \
    DO(allocated, "currentAllocatedSize", uint64_t, )                                                                  \
    DO(most_buffer, "maxBufferLength", uint64_t, )                                                                     \
    DO(most_shared, "maxThreadgroupMemoryLength", uint64_t, )                                                          \
    DO(most_threads, "maxThreadsPerThreadgroup", struct slri_mt_size, )                                                \
    DO(new_queue, "newCommandQueueWithMaxCommandBufferCount:", slri_mt_id, , uint64_t)                                 \
    DO(new_event, "newSharedEvent", slri_mt_id, )                                                                      \
    DO(new_buffer, "newBufferWithLength:options:", slri_mt_id, , uint64_t, uint64_t)                                   \
    DO(new_library, "newLibraryWithSource:options:error:", slri_mt_id, , slri_mt_id, slri_mt_id, slri_mt_id *)         \
    DO(new_archive, "newBinaryArchiveWithDescriptor:error:", slri_mt_id, , slri_mt_id, slri_mt_id *)                   \
    DO(new_pipeline, "newComputePipelineStateWithDescriptor:options:reflection:error:", slri_mt_id, , slri_mt_id,      \
       uint64_t, void *, slri_mt_id *)                                                                                 \
    /* MTLCompileOptions, MTLLibrary, descriptors, MTLBinaryArchive */                                                 \
    DO(set_fast_math, "setFastMathEnabled:", void, , bool)                                                             \
    DO(set_language, "setLanguageVersion:", void, , uint64_t)                                                          \
    DO(new_function, "newFunctionWithName:", slri_mt_id, , slri_mt_id)                                                 \
    DO(set_url, "setUrl:", void, , slri_mt_id)                                                                         \
    DO(set_function, "setComputeFunction:", void, , slri_mt_id)                                                        \
    DO(set_most_threads, "setMaxTotalThreadsPerThreadgroup:", void, , uint64_t)                                        \
    DO(set_archives, "setBinaryArchives:", void, , slri_mt_id)                                                         \
    DO(add_pipeline, "addComputePipelineFunctionsWithDescriptor:error:", bool, , slri_mt_id, slri_mt_id *)             \
    DO(serialize, "serializeToURL:error:", bool, , slri_mt_id, slri_mt_id *)                                           \
    /* MTLComputePipelineState, MTLBuffer */                                                                           \
    DO(pipeline_threads, "maxTotalThreadsPerThreadgroup", uint64_t, )                                                  \
    DO(pipeline_width, "threadExecutionWidth", uint64_t, )                                                             \
    DO(pipeline_shared, "staticThreadgroupMemoryLength", uint64_t, )                                                   \
    DO(contents, "contents", void *, )                                                                                 \
    DO(gpu_address, "gpuAddress", uint64_t, )                                                                          \
    /* MTLCommandQueue, MTLCommandBuffer, MTLSharedEvent */                                                            \
    DO(command_buffer, "commandBuffer", slri_mt_id, )                                                                  \
    DO(encoder, "computeCommandEncoder", slri_mt_id, )                                                                 \
    DO(signal, "encodeSignalEvent:value:", void, , slri_mt_id, uint64_t)                                               \
    DO(commit, "commit", void, )                                                                                       \
    DO(wait, "waitUntilCompleted", void, )                                                                             \
    DO(status, "status", uint64_t, )                                                                                   \
    DO(error, "error", slri_mt_id, )                                                                                   \
    DO(began, "GPUStartTime", double, )                                                                                \
    DO(ended, "GPUEndTime", double, )                                                                                  \
    DO(await, "waitUntilSignaledValue:timeoutMS:", bool, , uint64_t, uint64_t)                                         \
    /* MTLComputeCommandEncoder */                                                                                     \
    DO(set_pipeline, "setComputePipelineState:", void, , slri_mt_id)                                                   \
    DO(set_bytes, "setBytes:length:atIndex:", void, , const void *, uint64_t, uint64_t)                                \
    DO(set_buffer, "setBuffer:offset:atIndex:", void, , slri_mt_id, uint64_t, uint64_t)                                \
    DO(set_shared, "setThreadgroupMemoryLength:atIndex:", void, , uint64_t, uint64_t)                                  \
    DO(use, "useResource:usage:", void, , slri_mt_id, uint64_t)                                                        \
    DO(dispatch, "dispatchThreadgroups:threadsPerThreadgroup:", void, , struct slri_mt_size, struct slri_mt_size)      \
    DO(end, "endEncoding", void, )

// Classes that objects are made of.
#define SLRI_MT_CLASSES(DO)                                                                                            \
    DO(NSString)                                                                                                       \
    DO(NSArray)                                                                                                        \
    DO(NSURL) DO(NSProcessInfo) DO(MTLCompileOptions) DO(MTLComputePipelineDescriptor) DO(MTLBinaryArchiveDescriptor)

struct slri_mt_runtime {
    char path[256];
    bool is_simulated; // it says of itself that it has no GPU
    void *(*push_pool)(void);
    void (*pop_pool)(void *pool);
    slri_mt_id (*all_devices)(void); // an array that the caller owns
#define FIELD(name, there, result, ...) result (*name)(slri_mt_id object, slri_mt_sel name __VA_ARGS__);
    SLRI_MT_METHODS(FIELD)
#undef FIELD
    struct {
#define FIELD(name, ...) slri_mt_sel name;
        SLRI_MT_METHODS(FIELD)
#undef FIELD
    } sel;
    struct {
#define FIELD(name) slri_mt_id name;
        SLRI_MT_CLASSES(FIELD)
#undef FIELD
    } class;
};

// Calls a method of an object, with nothing or with arguments.
#define SLRI_MT(mt, object, name) ((mt)->name((object), (mt)->sel.name))
#define SLRI_MT_WITH(mt, object, name, ...) ((mt)->name((object), (mt)->sel.name, __VA_ARGS__))

enum {
    SLRI_MT_SHARED = 0 << 4, // MTLResourceStorageMode...
    SLRI_MT_PRIVATE = 2 << 4,
    SLRI_MT_READ = 1, // MTLResourceUsage
    SLRI_MT_WRITE = 2,
    SLRI_MT_COMPLETED = 4, // MTLCommandBufferStatus
    SLRI_MT_FAILED = 5,
    SLRI_MT_OUT_OF_MEMORY = 8,    // MTLCommandBufferError
    SLRI_MT_FAMILY_METAL3 = 5001, // MTLGPUFamily
    SLRI_MT_FAIL_ON_MISS = 1 << 2 // MTLPipelineOption: no compiler where the archive has it not
};

slr_status slri_mt_load(const struct slri_mt_runtime **out);

#endif
