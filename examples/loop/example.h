// SPDX-License-Identifier: Apache-2.0
// What the three examples share.
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)
#define FOREVER UINT64_MAX

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        slr_status try_status = (call);                                                                                \
        if (try_status != SLR_OK)                                                                                      \
            return try_status;                                                                                         \
    } while (0)

// What an example promises of itself: the program fails where it does not hold.
static inline void check(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    exit(1);
}

static inline void must(slr_status status, const char *what)
{
    if (status == SLR_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, slr_status_name(status), slr_error_message());
    exit(1);
}

#define MUST(call) must((call), #call)

#endif
