// SPDX-License-Identifier: Apache-2.0
/// How a function fails: it names a status code and writes the calling thread's message. The function that first
/// decides writes the message; those above it pass the status on with SLRI_TRY.
#ifndef SLRI_BASE_STATUS_H
#define SLRI_BASE_STATUS_H

#include <slipring/status.h>

/// Writes the calling thread's message (of any length; cut to 511 bytes only where memory is short) and returns `code`.
/// The arguments may point into the present message.
slr_status slri_fail(slr_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Simulated threads (sim.h) are many on one: each has a message of its own. `use` NULL: the thread's.
struct slri_message;
struct slri_message *slri_message_create(void);          // NULL: no memory
void slri_message_destroy(struct slri_message *message); // NULL is fine
void slri_message_use(struct slri_message *message);

/// `return SLRI_FAIL(INVALID, "priority %u is above 255", priority);`
/// (The code is spelled again so that the compiler sees that the call's value is not SLR_OK.)
#define SLRI_FAIL(CODE, ...) ((void)slri_fail(SLR_##CODE, __VA_ARGS__), (slr_status)SLR_##CODE)

/// Returns from the calling function with the status of `expr` unless it is SLR_OK.
#define SLRI_TRY(expr)                                                                                                 \
    do {                                                                                                               \
        slr_status slri_try_status = (expr);                                                                           \
        if (slri_try_status != SLR_OK)                                                                                 \
            return slri_try_status;                                                                                    \
    } while (0)

#endif
