// SPDX-License-Identifier: Apache-2.0
// PTX as NVRTC makes it of emitted texts: compiled, read, run on the host (README.md). SLIPRING_FAKE_CUDA_BY=ptx.
#ifndef TESTS_PTX_PTX_H
#define TESTS_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_CLOCK_AHEAD_NS 7777000000000u // of the host's

bool ptx_is_on(void);

// A text of CUDA C++ as PTX, and the name by which it is kept.
struct ptx_text {
    char *ptx; // to free()
    char name[64];
};

// Compiled, or found compiled. False: `complaint`, to free().
bool ptx_compile(const char *text, struct ptx_text *out, char **complaint);

struct ptx_image;
struct ptx_kernel;

// Links PTX, and gives its variables their places. NULL: said on stderr.
struct ptx_image *ptx_image_load(const struct ptx_text *text, size_t texts);
void ptx_image_unload(struct ptx_image *image);                                             // NULL is fine
const struct ptx_kernel *ptx_image_kernel(const struct ptx_image *image, const char *name); // NULL: there is none

// Memory that the host and the device both reach: who checks order looks at the host there, too.
void ptx_shares(const void *memory, size_t bytes);

enum ptx_end { PTX_DONE, PTX_TRAPPED, PTX_ACCESS, PTX_WRONG, PTX_STOPPED };

struct ptx_dim {
    uint32_t x, y, z;
};

struct ptx_launch {
    const struct ptx_image *image;
    const struct ptx_kernel *kernel;
    void **parameter;
    struct ptx_dim grid, block;
    uint32_t dynamic_shared;
    bool (*goes_on)(void *user); // asked now and then; NULL: yes
    void *user;
};

// One block, in this thread.
enum ptx_end ptx_run_block(const struct ptx_launch *launch, uint32_t block);
// All of them, a few at once. The first end that is not DONE.
enum ptx_end ptx_run(const struct ptx_launch *launch);

#endif
