// SPDX-License-Identifier: Apache-2.0
// The SPIR-V writer: one kernel of a module becomes one SPIR-V 1.5 module, for Vulkan 1.2 and later. No text and no
// compiler lies between. Memory is reached by address: PhysicalStorageBuffer64, buffer device addresses.
//
// A device without 64-bit integers gets the kernel's words (ir/pass/words.h): integers and accesses of 32 bits, an
// address as two of them. It refuses doubles and atomics of 64 bits, and offsets end at 4 GiB.
//
// The interface of a kernel NAME:
//   entry point   NAME, GLCompute. The module has no descriptor set.
//   push block    struct slri_spirv_push: the 64-bit device address of the argument block, then the grid in blocks.
//                 gridDim is read from there, and blockIdx.x is WorkgroupId.x and `first`, so that a grid that is too
//                 wide for the device may be dispatched in parts. Behind them the first words of the argument block
//                 once more, as many as it has or fit: they cost a thread nothing there.
//   SpecId 0 1 2  threads of a block along x, y, z (WorkgroupSize); each 1 unless given
//   SpecId 3      words of 4 bytes of `extern __shared__` memory; 4 unless given, never less than 2. Only where the
//                 kernel uses such memory.
//   argument block emit/device/arguments.h
//
// What a tuner's macro changes is another module of the same source, so macros need no specialisation constants.
#ifndef SLRI_EMIT_SPIRV_SPIRV_H
#define SLRI_EMIT_SPIRV_SPIRV_H

#include "base/text.h"
#include "emit/device/arguments.h"
#include "ir/ir.h"

#include <slipring/status.h>

struct slri_spirv_push {
    uint64_t arguments; // device address
    uint32_t grid[3];   // blocks
    uint32_t first;     // of the grid's blocks along x, in this part
    // For a module that tells of loops which were ended: the device address of a word, SLRI_SPIRV_TURNS, and what is
    // written there then.
    uint64_t ended;
    uint32_t turns;
    uint32_t number;
    uint32_t argument[22]; // up to the 128 bytes that every device takes
};
#define SLRI_SPIRV_PUSHED_AT 40u
#define SLRI_SPIRV_PUSH_BYTES 128u
#define SLRI_SPIRV_TURNS 2u

enum slri_spirv_spec { // SpecId
    SLRI_SPIRV_BLOCK_X,
    SLRI_SPIRV_BLOCK_Y,
    SLRI_SPIRV_BLOCK_Z,
    SLRI_SPIRV_DYNAMIC_WORDS,
};

// What a device has beyond bufferDeviceAddress and vulkanMemoryModel, which every module needs. X(bit,
// feature of Vulkan, what a message calls it, its advice). With SUBGROUPS_OF_32 each subgroup is full, in order, and
// has ballot and shuffle: then a warp is a subgroup; else it goes through shared memory.
#define SLRI_SPIRV_FEATURE_LIST(X)                                                                                     \
    X(INT64, shaderInt64, "64-bit integers", "use int")                                                                \
    X(INT8, shaderInt8, "8-bit integers", "use int")                                                                   \
    X(INT16, shaderInt16, "16-bit integers", "use int")                                                                \
    X(STORAGE8, storageBuffer8BitAccess, "8-bit accesses to memory", "use arrays of int")                              \
    X(STORAGE16, storageBuffer16BitAccess, "16-bit accesses to memory", "use arrays of int or float")                  \
    X(FLOAT64, shaderFloat64, "double precision", "use float, and no literal without f")                               \
    X(ATOMICS64, shaderBufferInt64Atomics, "64-bit atomics", "use 32-bit ones, one for each half")                     \
    X(SHARED_ATOMICS64, shaderSharedInt64Atomics, "64-bit atomics in shared memory", "use 32-bit ones")                \
    X(DEVICE_SCOPE, vulkanMemoryModelDeviceScope, "order across the device", "use the scope of a block")               \
    X(SUBGROUPS_OF_32, subgroupSizeControl, "subgroups of 32 threads", "use shared memory")

enum slri_spirv_feature {
#define SLRI_SPIRV_FEATURE_BIT(name, feature, words, advice) SLRI_SPIRV_##name##_BIT,
    SLRI_SPIRV_FEATURE_LIST(SLRI_SPIRV_FEATURE_BIT)
#undef SLRI_SPIRV_FEATURE_BIT
        SLRI_SPIRV_FEATURES
};
enum {
#define SLRI_SPIRV_FEATURE_MASK(name, feature, words, advice) SLRI_SPIRV_##name = 1 << SLRI_SPIRV_##name##_BIT,
    SLRI_SPIRV_FEATURE_LIST(SLRI_SPIRV_FEATURE_MASK)
#undef SLRI_SPIRV_FEATURE_MASK
};

// Of VkPhysicalDeviceFloatControlsProperties: what is asked for, of those that the device has.
enum {
    SLRI_SPIRV_DENORM_PRESERVE_32 = 1 << 0,
    SLRI_SPIRV_DENORM_PRESERVE_64 = 1 << 1,
    SLRI_SPIRV_ZERO_INF_NAN_32 = 1 << 2, // SignedZeroInfNanPreserve
    SLRI_SPIRV_ZERO_INF_NAN_64 = 1 << 3,
    SLRI_SPIRV_ROUND_EVEN_32 = 1 << 4,
    SLRI_SPIRV_ROUND_EVEN_64 = 1 << 5,
};

struct slri_spirv_options {
    uint32_t has;            // SLRI_SPIRV_INT8 and so on
    uint32_t float_controls; // SLRI_SPIRV_DENORM_PRESERVE_32 and so on
    // The driver ends a thread's loops after so many turns, and each loop after that behind its first turn: so behind
    // the kernel comes a loop of two turns, which notices and tells.
    bool tells_ended_loops;
};

// A module's words. `needs`: bits of `has` that it asks for. `shared_bytes`: of shared memory without the dynamic one,
// for a block of `SLRI_BLOCK_MAX_THREADS` threads or of the entry's max_threads.
struct slri_spirv {
    uint32_t *word;
    size_t words;
    uint32_t needs;
    uint64_t shared_bytes;
};

// Writes a kernel's module; `out` is for slri_spirv_free. The module must pass slri_module_verify. `options` NULL: the
// device has everything but subgroups of 32. Errors: UNSUPPORTED (the device lacks a feature, or cannot wait at a
// barrier; the message names the place and says what to do), NO_MEMORY.
slr_status slri_emit_spirv(const struct slri_module *module, const struct slri_entry *entry,
                           const struct slri_spirv_options *options, struct slri_spirv *out);
void slri_spirv_free(struct slri_spirv *spirv);

// Appends the words as assembly, as spirv-as reads it.
void slri_spirv_disassemble(const uint32_t *word, size_t words, struct slri_text *out);

#endif
