// SPDX-License-Identifier: Apache-2.0
/// A harness: one function that is given bytes and must come back, whatever they are. libFuzzer, AFL++ (persistent
/// mode, by afl-clang-fast -fsanitize=fuzzer) and driver.c, which replays files, all call it by this name.
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// What must hold of any input. abort(), so that each kind of fuzzer sees it.
#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
