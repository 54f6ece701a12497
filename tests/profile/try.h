// SPDX-License-Identifier: Apache-2.0
// What programs share that are run to be watched: they end where a call fails.
#ifndef TRY_H
#define TRY_H

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((call) != SLR_OK) {                                                                                        \
            fprintf(stderr, "%s: %s\n", #call, slr_error_message());                                                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
