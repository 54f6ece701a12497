// SPDX-License-Identifier: Apache-2.0
/// A kernel is a `__global__` function of a program (a compiled kernel source). A launch runs a kernel with a grid of
/// threads. Contract: docs/contract/launch.md.
///
///     slr_kernel *saxpy;
///     slr_kernel_load(device, "saxpy.cu", "saxpy", &saxpy);
///     SLR_LAUNCH(stream, saxpy, SLR_1D(n), 2.0, x, y, n);
#ifndef SLIPRING_KERNEL_H
#define SLIPRING_KERNEL_H

#include <slipring/program.h>
#include <slipring/stream.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_kernel slr_kernel;

/// slr_kernel_info has the properties of a kernel. The texts and arrays in slr_kernel_info live as long as the kernel.
typedef struct slr_kernel_info {
    const char *name;
    const slr_parameter *parameters; ///< the kernel's parameters, in order
    uint32_t parameter_count;
    uint32_t max_threads;         ///< the most threads that a block may have: 1024, or the value of __launch_bounds__
    uint32_t shared_bytes;        ///< bytes of `__shared__` objects of known size, per block
    uint8_t takes_dynamic_shared; ///< 1: the kernel has an `extern __shared__` object; slr_shape.shared_bytes gives its
                                  ///< size
} slr_kernel_info;

/// Finds a kernel of a program by its name. `name` may be NULL if the program has only one kernel.
///
/// Threads: any.  Blocks: no.  Owns: the kernel keeps its program alive; the caller frees the kernel by
/// slr_kernel_destroy.
/// Errors: INVALID (a NULL argument), NOT_FOUND (no such kernel: the error message lists the kernels), NO_MEMORY.
SLR_API slr_status slr_program_get_kernel(slr_program *program, const char *name, slr_kernel **out);

/// Calls slr_program_load and then slr_program_get_kernel. Each call of slr_kernel_load makes a new program. To use
/// several kernels of one file, call slr_program_load once, and slr_program_get_kernel for each kernel.
/// Threads: any.  Blocks: while the call compiles the file.  Owns, Errors: those of slr_program_load and
/// slr_program_get_kernel.
SLR_API slr_status slr_kernel_load(slr_device *device, const char *path, const char *name, slr_kernel **out);

/// Releases the kernel object. Launches that were submitted before slr_kernel_destroy still run. If `kernel` is NULL,
/// slr_kernel_destroy does nothing.
/// Threads: any, once for each kernel.  Blocks: no.
SLR_API void slr_kernel_destroy(slr_kernel *kernel);

/// Gives the properties of a kernel.
/// Threads: any.  Blocks: no.  Owns: the kernel owns the texts and arrays in slr_kernel_info.  Errors: INVALID (a NULL
/// argument).
SLR_API slr_status slr_kernel_get_info(const slr_kernel *kernel, slr_kernel_info *out);

/// The macro slr_kernel_get_info calls slr_kernel_get_info_sized with sizeof(slr_kernel_info) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_kernel_get_info_sized(const slr_kernel *kernel, slr_kernel_info *out, size_t bytes);
#define slr_kernel_get_info(kernel, out) slr_kernel_get_info_sized((kernel), (out), sizeof(slr_kernel_info))

// ---- the shape of a launch ------------------------------------------------------------------------------------------

/// slr_shape says how many threads a launch has, and how these threads form blocks. SLR_1D, SLR_1D_BLOCKS, SLR_2D,
/// SLR_GRID and SLR_GRID_2D make an slr_shape; a program may change its members.
typedef struct slr_shape {
    uint64_t threads[3]; ///< the least number of threads along x, y and z, if `grid` is 0
    uint32_t block[3];   ///< number of threads per block along x, y and z; 0: slipring chooses
    /// Number of blocks along x (at most 2^31 - 1), y and z (at most 65,535); 0: as many as `threads` needs.
    uint32_t grid[3];
    uint32_t shared_bytes; ///< size of the `extern __shared__` memory per block, in bytes
    /// vector_width is the number of 4-byte elements in the CPU vectors of the compiled code: 1, 4, 8 or 16. If
    /// vector_width is 0, slipring selects the fastest number by measurement. slipring ignores vector_width if
    /// slr_device_info.features lacks "vector_width".
    uint32_t vector_width;
} slr_shape;

/// Makes a shape of `n` threads along x, for which slipring chooses the block size. If the tuner slr_tune has found a
/// block size, or the source declares one, slipring takes that block size (docs/contract/tuning.md). Otherwise `n`
/// decides the number of threads per block: 64 for `n` below 512, 128 below 1,024, 256 up to 100,000, and 512 above. If
/// a smaller block gives the kernel a better occupancy (more of its threads run at once), slipring takes the smaller
/// block. slr_kernel_suggest gives the block size that slipring would choose, and the reason.
static inline slr_shape slr_shape_1d(uint64_t n)
{
    slr_shape shape = {{n, 1, 1}, {0, 0, 0}, {0, 0, 0}, 0, 0};
    return shape;
}
#define SLR_1D(n) slr_shape_1d(n)

/// Makes a shape of `n` threads along x, in blocks of `block` threads.
static inline slr_shape slr_shape_1d_blocks(uint64_t n, uint32_t block)
{
    slr_shape shape = {{n, 1, 1}, {block, 1, 1}, {0, 0, 0}, 0, 0};
    return shape;
}
#define SLR_1D_BLOCKS(n, block) slr_shape_1d_blocks(n, block)

/// Makes a shape of `width` by `height` threads, in blocks of 32 by 8 threads. If `width` is below 32 or `height` below
/// 8, the block is smaller.
static inline slr_shape slr_shape_2d(uint64_t width, uint64_t height)
{
    slr_shape shape = {{width, height, 1}, {0, 0, 0}, {0, 0, 0}, 0, 0};
    return shape;
}
#define SLR_2D(width, height) slr_shape_2d(width, height)

/// Makes the shape that CUDA writes as `<<<grid, block, shared>>>`: `grid` blocks along x, each of `block` threads.
static inline slr_shape slr_shape_grid(uint32_t grid, uint32_t block, uint32_t shared_bytes)
{
    slr_shape shape = {{0, 0, 0}, {block, 1, 1}, {grid, 1, 1}, shared_bytes, 0};
    return shape;
}
#define SLR_GRID(grid, block, shared_bytes) slr_shape_grid(grid, block, shared_bytes)

/// Makes a shape of `grid_x` by `grid_y` blocks, each of `block_x` by `block_y` threads.
static inline slr_shape slr_shape_grid_2d(uint32_t grid_x, uint32_t grid_y, uint32_t block_x, uint32_t block_y)
{
    slr_shape shape = {{0, 0, 0}, {block_x, block_y, 1}, {grid_x, grid_y, 1}, 0, 0};
    return shape;
}
#define SLR_GRID_2D(grid_x, grid_y, block_x, block_y) slr_shape_grid_2d(grid_x, grid_y, block_x, block_y)

// ---- arguments ------------------------------------------------------------------------------------------------------

/// slr_arg_kind lists the kinds of argument that a kernel can have. slr_launch takes an array of slr_arg; this form is
/// meant for wrappers of slipring in other languages. C and C++ programs use the macro SLR_LAUNCH, which itself makes
/// the array.
typedef enum slr_arg_kind {
    SLR_ARG_SIGNED = 1, ///< a signed integer in `value.i`
    SLR_ARG_UNSIGNED,   ///< an unsigned integer in `value.u`
    SLR_ARG_FLOAT,      ///< a floating-point number in `value.f`
    SLR_ARG_BUFFER,     ///< a buffer in `value.buffer`
    SLR_ARG_BYTES,      ///< a struct, passed by value: `bytes` bytes at `value.memory`, which slr_launch copies
    SLR_ARG_SPLIT,      ///< made by slr_arg_split, for slr_cluster_launch only
    SLR_ARG_ITEMS,      ///< made by slr_arg_items, for slr_cluster_launch only
    SLR_ARG_FIRST       ///< made by slr_arg_first, for slr_cluster_launch only
} slr_arg_kind;

/// slr_arg is one argument of a kernel. The functions slr_arg_signed to slr_arg_bytes below make an slr_arg.
typedef struct slr_arg {
    uint32_t kind;  ///< an slr_arg_kind
    uint32_t bytes; ///< for SLR_ARG_BYTES: the size of the struct
    union {
        int64_t i;
        uint64_t u;
        double f;
        slr_buffer *buffer;
        const void *memory;
    } value;
} slr_arg;

/// Launches a kernel: slr_launch appends the launch to the stream and does not wait until the kernel has run. A launch
/// without threads does nothing.
///
/// slipring converts a number to the type of the kernel's parameter, if the value stays the same. For example, 2.0
/// becomes a float, and a small size_t becomes an int. The first launch with a block size compiles the kernel for this
/// block size, and stores the compiled code in the cache on disk. slr_kernel_prepare compiles the kernel before its
/// first launch.
///
/// If a buffer belongs to another device than the stream does, the kernel uses a copy on the stream's device. slipring
/// updates the copy before the launch. After the launch, slipring copies to the buffer all bytes that the kernel may
/// have written in the copy (docs/contract/cluster.md). `out` gets a point that passes when the launch has completed;
/// `out` may be NULL.
/// Threads: any.  Blocks: only if the call compiles the kernel.
/// Owns: slipring keeps the buffers and the kernel alive until the launch has run, and copies `args`.
/// Errors: INVALID (a NULL argument; a wrong number of arguments; an argument of a wrong type or size; a value out of
///   range; a buffer of another device in the mode SLR_BUFFER_EXPLICIT; an impossible block, grid or size of shared
///   memory: the error message names the parameter), UNSUPPORTED (the device runs no kernels, or cannot run this
///   kernel: the error message gives the reason), COMPILE, NO_MEMORY. If the kernel faults while it runs, slr_launch
///   does not report the fault: the stream fails with HANDLER_FAULT (docs/contract/streams.md).
SLR_API slr_status slr_launch(slr_stream *stream, slr_kernel *kernel, slr_shape shape, const slr_arg *args,
                              uint32_t count, slr_point *out);

/// Compiles the kernel for the block size of `shape`, as the first launch with that block size would do.
/// Threads: any.  Blocks: while the call compiles the kernel.  Errors: those of slr_launch.
SLR_API slr_status slr_kernel_prepare(slr_kernel *kernel, slr_shape shape);

#define SLR_OPTIMIZE_BOTH 3u ///< for slr_prefetch_desc.optimize: both levels of optimization, 1 and 2

/// slr_prefetch_desc says which kernels slr_program_prefetch compiles in advance, and for which block sizes. A zero in
/// any field of slr_prefetch_desc means the default. Later versions of slipring only append fields to
/// slr_prefetch_desc.
typedef struct slr_prefetch_desc {
    uint32_t struct_size;
    /// `optimize` is a level of optimization, 1 or 2 as in slr_program_desc.optimize, or SLR_OPTIMIZE_BOTH. By default
    /// `optimize` is the program's own level. Code that is compiled at another level goes only into the cache on disk,
    /// for later programs.
    uint32_t optimize;
    const char *kernel; ///< the kernel's name; default: all kernels of the program
    /// `shapes` lists the shapes of later launches. slr_program_prefetch compiles each kernel for the block size and
    /// the vector width of each of these shapes. If `shapes` is NULL, slr_program_prefetch compiles for each block size
    /// that SLR_1D can choose.
    const slr_shape *shapes;
    uint32_t shape_count;
    uint32_t reserved; ///< ignored
} slr_prefetch_desc;
#ifdef __cplusplus
static inline slr_prefetch_desc slr_prefetch_desc_init(void)
{
    slr_prefetch_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_PREFETCH_DESC_INIT slr_prefetch_desc_init()
#else
#define SLR_PREFETCH_DESC_INIT                                                                                         \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_prefetch_desc)                                                             \
    }
#endif

/// Compiles kernels as slr_kernel_prepare does, but in the background. If `desc` is NULL, slipring compiles all kernels
/// of the program, for each block size that SLR_1D can choose. `out` gets a point that passes when all these
/// compilations have ended. slr_point_wait waits for this point, and returns the error of the first compilation that
/// failed. If the program launches a kernel while other kernels are still being compiled, the launch waits only for the
/// compilation of its own kernel. slr_device_close stops all compilations. The point `out` is valid as long as the
/// program exists.
/// Threads: any.  Blocks: no.
/// Owns: slipring keeps the program alive until all compilations have ended, and copies `desc` with everything to which
/// `desc` points; `out` may be NULL.
/// Errors: INVALID (a NULL argument, an impossible shape), NOT_FOUND (no such kernel), UNSUPPORTED (the device runs no
///   kernels), WRONG_STATE (the device is closed), NO_MEMORY. A wait for the point `out` fails with the errors of
///   slr_kernel_prepare, and with WRONG_STATE if the device was closed.
SLR_API slr_status slr_program_prefetch(slr_program *program, const slr_prefetch_desc *desc, slr_point *out);

static inline slr_arg slr_arg_signed(int64_t value)
{
    slr_arg arg = {SLR_ARG_SIGNED, 8, {0}};
    arg.value.i = value;
    return arg;
}

static inline slr_arg slr_arg_unsigned(uint64_t value)
{
    slr_arg arg = {SLR_ARG_UNSIGNED, 8, {0}};
    arg.value.u = value;
    return arg;
}

static inline slr_arg slr_arg_float(double value)
{
    slr_arg arg = {SLR_ARG_FLOAT, 8, {0}};
    arg.value.f = value;
    return arg;
}

static inline slr_arg slr_arg_buffer(slr_buffer *buffer)
{
    slr_arg arg = {SLR_ARG_BUFFER, 0, {0}};
    arg.value.buffer = buffer;
    return arg;
}

static inline slr_arg slr_arg_bytes(const void *memory, uint32_t bytes)
{
    slr_arg arg = {SLR_ARG_BYTES, bytes, {0}};
    arg.value.memory = memory;
    return arg;
}

static inline slr_arg slr_arg_itself(slr_arg arg)
{
    return arg;
}

#ifdef __cplusplus
}
#endif

/// SLR_VALUE passes a struct variable as an argument of SLR_LAUNCH.
#define SLR_VALUE(variable) slr_arg_bytes(&(variable), (uint32_t)sizeof(variable))

#ifdef __cplusplus
/// In C++, slr_arg_of makes an slr_arg from an argument of SLR_LAUNCH; there is an overload for each C++ type. The
/// template makes an slr_arg from a struct, which is passed by value.
template <class T> slr_arg slr_arg_of(const T &value)
{
    return slr_arg_bytes(&value, static_cast<uint32_t>(sizeof value));
}
inline slr_arg slr_arg_of(slr_arg arg)
{
    return arg;
}
inline slr_arg slr_arg_of(slr_buffer *buffer)
{
    return slr_arg_buffer(buffer);
}
inline slr_arg slr_arg_of(bool value)
{
    return slr_arg_unsigned(value);
}
inline slr_arg slr_arg_of(char value)
{
    return slr_arg_signed(value);
}
inline slr_arg slr_arg_of(signed char value)
{
    return slr_arg_signed(value);
}
inline slr_arg slr_arg_of(unsigned char value)
{
    return slr_arg_unsigned(value);
}
inline slr_arg slr_arg_of(short value)
{
    return slr_arg_signed(value);
}
inline slr_arg slr_arg_of(unsigned short value)
{
    return slr_arg_unsigned(value);
}
inline slr_arg slr_arg_of(int value)
{
    return slr_arg_signed(value);
}
inline slr_arg slr_arg_of(unsigned value)
{
    return slr_arg_unsigned(value);
}
inline slr_arg slr_arg_of(long value)
{
    return slr_arg_signed(value);
}
inline slr_arg slr_arg_of(unsigned long value)
{
    return slr_arg_unsigned(value);
}
inline slr_arg slr_arg_of(long long value)
{
    return slr_arg_signed(value);
}
inline slr_arg slr_arg_of(unsigned long long value)
{
    return slr_arg_unsigned(value);
}
inline slr_arg slr_arg_of(float value)
{
    return slr_arg_float(static_cast<double>(value));
}
inline slr_arg slr_arg_of(double value)
{
    return slr_arg_float(value);
}

/// In C++, the macro SLR_LAUNCH calls slr_launch_of, which takes any number of arguments. A struct needs no SLR_VALUE
/// in C++.
template <class... Args>
slr_status slr_launch_of(slr_stream *stream, slr_kernel *kernel, slr_shape shape, const Args &...args)
{
    const slr_arg list[] = {slr_arg_of(args)..., slr_arg_signed(0)};
    return slr_launch(stream, kernel, shape, list, static_cast<uint32_t>(sizeof...(args)), nullptr);
}
#define SLR_LAUNCH(...) slr_launch_of(__VA_ARGS__)

#else

#define SLR_ARG(value)                                                                                                 \
    _Generic((value),                                                                                                  \
        _Bool: slr_arg_unsigned,                                                                                       \
        char: slr_arg_signed,                                                                                          \
        signed char: slr_arg_signed,                                                                                   \
        unsigned char: slr_arg_unsigned,                                                                               \
        short: slr_arg_signed,                                                                                         \
        unsigned short: slr_arg_unsigned,                                                                              \
        int: slr_arg_signed,                                                                                           \
        unsigned: slr_arg_unsigned,                                                                                    \
        long: slr_arg_signed,                                                                                          \
        unsigned long: slr_arg_unsigned,                                                                               \
        long long: slr_arg_signed,                                                                                     \
        unsigned long long: slr_arg_unsigned,                                                                          \
        float: slr_arg_float,                                                                                          \
        double: slr_arg_float,                                                                                         \
        slr_buffer *: slr_arg_buffer,                                                                                  \
        slr_arg: slr_arg_itself)(value)

/// SLR_LAUNCH(stream, kernel, shape, arguments...) calls slr_launch with up to 16 arguments. Each argument is a number,
/// an slr_buffer *, or SLR_VALUE(variable) for a struct. In C, a call of SLR_LAUNCH with an argument of any other type
/// does not compile. SLR_LAUNCH returns the status of slr_launch.
#define SLR_LAUNCH(...)                                                                                                \
    SLR_LAUNCH_PICK_(__VA_ARGS__, SLR_LAUNCH_16_, SLR_LAUNCH_15_, SLR_LAUNCH_14_, SLR_LAUNCH_13_, SLR_LAUNCH_12_,      \
                     SLR_LAUNCH_11_, SLR_LAUNCH_10_, SLR_LAUNCH_9_, SLR_LAUNCH_8_, SLR_LAUNCH_7_, SLR_LAUNCH_6_,       \
                     SLR_LAUNCH_5_, SLR_LAUNCH_4_, SLR_LAUNCH_3_, SLR_LAUNCH_2_, SLR_LAUNCH_1_, SLR_LAUNCH_0_, 0)      \
    (__VA_ARGS__)
#define SLR_LAUNCH_PICK_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, name, ...) name
#define SLR_LAUNCH_LIST_(s, k, d, n, ...) slr_launch(s, k, d, (const slr_arg[]){__VA_ARGS__}, n, NULL)
#define SLR_LAUNCH_0_(s, k, d) slr_launch(s, k, d, NULL, 0, NULL)
// clang-format off
#define SLR_LAUNCH_1_(s, k, d, a1) SLR_LAUNCH_LIST_(s, k, d, 1, SLR_ARG(a1))
#define SLR_LAUNCH_2_(s, k, d, a1, a2) SLR_LAUNCH_LIST_(s, k, d, 2, SLR_ARG(a1), SLR_ARG(a2))
#define SLR_LAUNCH_3_(s, k, d, a1, a2, a3) SLR_LAUNCH_LIST_(s, k, d, 3, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3))
#define SLR_LAUNCH_4_(s, k, d, a1, a2, a3, a4) SLR_LAUNCH_LIST_(s, k, d, 4, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4))
#define SLR_LAUNCH_5_(s, k, d, a1, a2, a3, a4, a5) SLR_LAUNCH_LIST_(s, k, d, 5, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5))
#define SLR_LAUNCH_6_(s, k, d, a1, a2, a3, a4, a5, a6) SLR_LAUNCH_LIST_(s, k, d, 6, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6))
#define SLR_LAUNCH_7_(s, k, d, a1, a2, a3, a4, a5, a6, a7) SLR_LAUNCH_LIST_(s, k, d, 7, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7))
#define SLR_LAUNCH_8_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8) SLR_LAUNCH_LIST_(s, k, d, 8, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8))
#define SLR_LAUNCH_9_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9) SLR_LAUNCH_LIST_(s, k, d, 9, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8), SLR_ARG(a9))
#define SLR_LAUNCH_10_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) SLR_LAUNCH_LIST_(s, k, d, 10, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8), SLR_ARG(a9), SLR_ARG(a10))
#define SLR_LAUNCH_11_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) SLR_LAUNCH_LIST_(s, k, d, 11, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8), SLR_ARG(a9), SLR_ARG(a10), SLR_ARG(a11))
#define SLR_LAUNCH_12_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) SLR_LAUNCH_LIST_(s, k, d, 12, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8), SLR_ARG(a9), SLR_ARG(a10), SLR_ARG(a11), SLR_ARG(a12))
#define SLR_LAUNCH_13_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13) SLR_LAUNCH_LIST_(s, k, d, 13, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8), SLR_ARG(a9), SLR_ARG(a10), SLR_ARG(a11), SLR_ARG(a12), SLR_ARG(a13))
#define SLR_LAUNCH_14_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14) SLR_LAUNCH_LIST_(s, k, d, 14, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8), SLR_ARG(a9), SLR_ARG(a10), SLR_ARG(a11), SLR_ARG(a12), SLR_ARG(a13), SLR_ARG(a14))
#define SLR_LAUNCH_15_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15) SLR_LAUNCH_LIST_(s, k, d, 15, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8), SLR_ARG(a9), SLR_ARG(a10), SLR_ARG(a11), SLR_ARG(a12), SLR_ARG(a13), SLR_ARG(a14), SLR_ARG(a15))
#define SLR_LAUNCH_16_(s, k, d, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16) SLR_LAUNCH_LIST_(s, k, d, 16, SLR_ARG(a1), SLR_ARG(a2), SLR_ARG(a3), SLR_ARG(a4), SLR_ARG(a5), SLR_ARG(a6), SLR_ARG(a7), SLR_ARG(a8), SLR_ARG(a9), SLR_ARG(a10), SLR_ARG(a11), SLR_ARG(a12), SLR_ARG(a13), SLR_ARG(a14), SLR_ARG(a15), SLR_ARG(a16))
// clang-format on

#endif
#endif
