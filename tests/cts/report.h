// SPDX-License-Identifier: Apache-2.0
/// Saying how it went, as text or as one JSON object.
#ifndef CTS_REPORT_H
#define CTS_REPORT_H

#include "cts.h"

typedef struct report {
    bool json, verbose, perf;
    bool hung;                   ///< a case on the device that is being judged
    unsigned wrong;              ///< cases that did not go as they should, on all devices
    unsigned count[CTS_RESULTS]; ///< on this device
    unsigned known;              ///< failures on this device that are listed
    unsigned devices, cases;     ///< said so far, for commas
    char rest[256];              ///< why the other cases of this device were not run; "": they were
} report;

/// `goes_on`: another process has begun it, and *out is what that one has counted.
void report_begin(report *out, bool json, bool verbose, bool perf, bool goes_on);
void report_device(report *out, const cts_device *device);
void report_closed(report *out, const char *spec, const char *why);
void report_case(report *out, const cts *c, const cts_device *on);
void report_rest(report *out, const char *why); ///< the other cases of this device are not run, which is wrong
void report_device_end(report *out);
void report_end(report *out);

#endif
