// SPDX-License-Identifier: Apache-2.0
/// CUDA by hand, as a peer: the driver and NVRTC are opened when they are there, never linked. Its context is the
/// device's primary one, as a program of CUDA's runtime has it; all is done in the thread that opened it.
#ifndef BENCH_CUDA_H
#define BENCH_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cuda cuda;
typedef struct cuda_module cuda_module;
typedef struct cuda_kernel_object *cuda_kernel;
typedef struct cuda_graph_object *cuda_graph;
typedef uint64_t cuda_pointer;

/// `device`: as slipring names it, by number. NULL: it is not here, and `why` says so.
cuda *cuda_open(const char *device, const char **why);
void cuda_close(cuda *cu); ///< NULL is fine

/// Memory of the host's, pinned and mapped, zeroed; and where the device sees it. NULL, 0: failed.
void *cuda_take(cuda *cu, size_t bytes);
void cuda_give(cuda *cu, void *memory);
cuda_pointer cuda_seen(cuda *cu, void *memory);

/// Memory of the device's. 0: failed.
cuda_pointer cuda_take_own(cuda *cu, size_t bytes);
void cuda_give_own(cuda *cu, cuda_pointer memory);

/// Copies between the two, and back. `waits`: the call that waits (cuMemcpyHtoD); else it is put into the stream, which
/// needs memory that cuda_take gave to be quick.
bool cuda_copy_in(cuda *cu, cuda_pointer to, const void *from, size_t bytes, bool waits);
bool cuda_copy_out(cuda *cu, void *to, cuda_pointer from, size_t bytes, bool waits);

/// CUDA C++, compiled by NVRTC for the device and loaded; NULL: it is not, and `why`, which lives as long as `cu`, says
/// so. The kernels in it are released with it. NULL is fine.
cuda_module *cuda_compile(cuda *cu, const char *text, const char *name, const char **why);
void cuda_unload(cuda *cu, cuda_module *module);
cuda_kernel cuda_find(cuda *cu, cuda_module *module, const char *name); ///< NULL: it has none of that name

/// Puts it into the one stream there is: so many blocks of so many threads, along x and y, with pointers to its
/// arguments' values.
bool cuda_launch(cuda *cu, cuda_kernel kernel, const uint32_t blocks[2], const uint32_t threads[2], void **arguments);
bool cuda_finish(cuda *cu);  ///< the stream
void *cuda_stream(cuda *cu); ///< for libraries that put their work into it

/// The most bytes that L2 can keep for a buffer; 0: this device or its driver keeps none. Then the next: keeps a
/// buffer's bytes in L2 for all that is launched from now on, in the place of those kept before; no bytes: none.
size_t cuda_most_in_l2(cuda *cu);
bool cuda_keep_in_l2(cuda *cu, cuda_pointer from, size_t bytes);

/// What is put into the stream between the two, as a graph, instead. NULL: failed.
bool cuda_record(cuda *cu);
cuda_graph cuda_recorded(cuda *cu);
bool cuda_launch_graph(cuda *cu, cuda_graph graph);
void cuda_drop_graph(cuda *cu, cuda_graph graph);

#endif
