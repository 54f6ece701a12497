// SPDX-License-Identifier: Apache-2.0
// What NVRTC says of a text, for tests.
#ifndef SLIPRING_TESTS_NVRTC_H
#define SLIPRING_TESTS_NVRTC_H

#include "bench/nvrtc.h"

#define NVRTC_SKIPPED 77 // as cmake/SlipringTests.cmake tells CTest

// False, and said: there is none, or it does not run in this build. Then the test ends with NVRTC_SKIPPED.
static inline bool nvrtc_is_here(struct nvrtc *out)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)out;
    puts("skipped: NVRTC does not run under sanitizers");
    return false;
#else
    if (nvrtc_open(out))
        return true;
    puts("skipped: no NVRTC here (SLIPRING_NVRTC_LIB says where it is)");
    return false;
#endif
}

// What NVRTC says about the text, to free(); NULL if it compiles. `options` end with NULL; the flags that emitted text
// is compiled with come in front of them.
static inline char *nvrtc_complaint(const struct nvrtc *n, const char *text, unsigned capability,
                                    const char *const *options)
{
    char arch[32] = "--gpu-architecture=sm_";
    const char *all[16] = {arch, "--fmad=false"};
    int count = 2;
    size_t at = 22;
    if (capability >= 100)
        arch[at++] = (char)('0' + capability / 100);
    arch[at++] = (char)('0' + capability / 10 % 10);
    arch[at++] = (char)('0' + capability % 10);
    for (; options && *options; options++)
        all[count++] = *options;
    nvrtc_program *program;
    if (n->create(&program, text, "slipring.cu", 0, NULL, NULL) != 0)
        abort();
    int failed = n->compile(program, count, all);
    size_t bytes = 0;
    char *log = NULL;
    if (failed && n->log_size(program, &bytes) == 0) {
        log = calloc(bytes + 1, 1);
        n->log(program, log);
    }
    n->destroy(&program);
    return log;
}

#endif
