// SPDX-License-Identifier: Apache-2.0
/// What a driver does to the process would hide all cases behind the one that met it: NVIDIA's OpenCL loses the process
/// at the first illegal access of a kernel, and any driver may not return. Then the suite starts itself again in the
/// same process, as exec does, and goes on with the next case.
#ifndef CTS_AGAIN_H
#define CTS_AGAIN_H

#include "report.h"

enum { CTS_STUCK = 1, CTS_WAS_STUCK };

/// How far the suite has come.
typedef struct cts_progress {
    unsigned device; ///< in the order of the command line
    size_t next;     ///< case of that device, by its place in cts_cases
    unsigned stuck;  ///< 0; or CTS_STUCK: the case before `next` has not returned; or CTS_WAS_STUCK: one before it
    bool any, all;   ///< whether one, or each, of the devices before has opened
    report said;
} cts_progress;

/// The option by which the suite tells itself its progress; not for users.
#define CTS_AGAIN "--again"

/// Of the option's value. False: it is none.
bool cts_again_read(const char *text, cts_progress *out);

/// From where cts_again_now goes on, with the same command line.
void cts_again_prepare(char **argv, const cts_progress *from);

/// Goes on there; also from a signal. What was printed must have been flushed. Returns only if that is not possible
/// here.
void cts_again_now(void);

#endif
