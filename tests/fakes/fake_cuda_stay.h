// SPDX-License-Identifier: Apache-2.0
// The fake's kernels that stay: a thread a block, whose lanes are a loop.
#ifndef TESTS_FAKES_FAKE_CUDA_STAY_H
#define TESTS_FAKES_FAKE_CUDA_STAY_H

#define FAKE_CUDA_CLOCK_AHEAD_NS 7777000000000u // of the host's

#include <stdbool.h>
#include <stdint.h>

struct slri_call;
struct slri_interp;
struct fake_cuda_stay;
struct ptx_image;
struct shim_image;

// What a launch runs: `handler` is an entry of the module that `interp` runs, of a block or not, and `text` what that
// was read from. `image`: that text, compiled, which is run instead; or NULL. `ptx`: likewise, as NVRTC compiled it.
struct fake_cuda_code {
    struct slri_interp *interp;
    uint32_t handler;
    bool is_block;
    const char *text;
    const struct shim_image *image;
    const struct ptx_image *ptx;
};

// `running`: atomic counts of launches that run.
struct fake_cuda_stay *fake_cuda_stay_begin(const struct fake_cuda_code *code, uint32_t grid, uint32_t threads,
                                            void *table, uint32_t *const running[2]);
bool fake_cuda_stays(const struct fake_cuda_stay *stay);
// Waits for its end, and frees it. By force, it dies where it stands, as when a context goes.
void fake_cuda_stay_end(struct fake_cuda_stay *stay, bool by_force);

// A GPU's loads are of what is aligned: a message or a state may be of vectors. Dies of what is not.
void fake_check_alignment(const struct slri_call *call);
uint32_t fake_users_line(const char *text, uint32_t line); // that a line of emitted text came from

#endif
