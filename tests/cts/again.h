// SPDX-License-Identifier: Apache-2.0
/// A driver may lose all devices of a process for good: NVIDIA's OpenCL does at the first illegal access of a kernel.
/// Then the suite starts itself again in the same process, as exec does, and goes on with the next case.
#ifndef CTS_AGAIN_H
#define CTS_AGAIN_H

#include "report.h"

/// How far the suite has come.
typedef struct cts_progress {
    unsigned device; ///< in the order of the command line
    size_t next;     ///< case of that device, by its place in cts_cases
    bool any, all;   ///< whether one, or each, of the devices before has opened
    report said;
} cts_progress;

/// The option by which the suite tells itself its progress; not for users.
#define CTS_AGAIN "--again"

/// Of the option's value. False: it is none.
bool cts_again_read(const char *text, cts_progress *out);

/// Goes on from there, with the same command line. Returns only if that is not possible here.
void cts_again(char **argv, const cts_progress *from);

#endif
