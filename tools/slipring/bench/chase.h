// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_CHASE_H
#define BENCH_CHASE_H

/// Kernel source: one thread follows links, each of which waits for the one before.
#define BENCH_CHASE                                                                                                    \
    "__global__ void chase(const unsigned *next, unsigned *at, int hops)\n"                                            \
    "{\n"                                                                                                              \
    "    unsigned here = at[0];\n"                                                                                     \
    "    for (int i = 0; i < hops; i++)\n"                                                                             \
    "        here = next[here];\n"                                                                                     \
    "    at[0] = here;\n"                                                                                              \
    "}\n"

#endif
