// SPDX-License-Identifier: Apache-2.0
/// The conformance suite: one list of cases, each of which runs on one device and passes or says what is wrong.
///
/// A kernel case is a section of a file in kernels/ with the line that says how it is launched (kernel_case.h); its
/// result is compared with the interpreter's. A host case is a C function on the public API (host.h), which compares
/// with what docs/contract says. known.c lists what a device cannot do, and why.
#ifndef CTS_H
#define CTS_H

#include <slipring/slipring.h>

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#define CTS_SECOND UINT64_C(1000000000)
#define CTS_REFERENCE "cpu?engine=interpreted"

/// How a case ended on a device.
typedef enum cts_result {
    CTS_PASSED = 1,
    CTS_BOUNDED, ///< passed, not with the same bits: within the bound that the case states
    CTS_FAILED,
    CTS_UNSUPPORTED, ///< the device said so: SLR_UNSUPPORTED
    CTS_HUNG,        ///< past the limit of time: a failure, and the device is not used again
    CTS_RESULTS
} cts_result;

/// What known.c says of a case on a kind of device.
typedef enum cts_expectation {
    CTS_MUST_PASS = 1,
    CTS_MUST_REFUSE, ///< unsupported there; passing is a failure, because the list is stale
    CTS_MAY_REFUSE,  ///< depends on the device: it either passes or is refused
    CTS_MAY_FAIL,    ///< a defect that is known and does not show in every run
    CTS_MUST_FAIL,   ///< a defect that is known; passing is a failure too
} cts_expectation;

typedef struct cts cts;
typedef void cts_function(cts *c);

typedef struct cts_case {
    const char *area, *name;
    cts_function *run; ///< of a host case; else
    const char *line;  ///< of a kernel case: how it is launched
    const char *text;  ///< and its source, `length` bytes
    size_t length;
} cts_case;

typedef struct cts_known {
    const char *device; ///< a pattern of what cts_device_kind gives
    const char *what;   ///< a pattern of "area/name"
    cts_expectation expectation;
    const char *reason; ///< one sentence, for who reads the support matrix
} cts_known;

/// What floats may be off in a case on a kind of device, where the case's own line allows less.
typedef struct cts_bound {
    const char *device, *what;
    uint64_t ulp;
    double off;
    const char *reason;
} cts_bound;

/// An open device. When a case hangs on it, it is abandoned and opened anew.
typedef struct cts_device {
    const char *spec;
    slr_device *device;
    slr_device_info info;
    char kind[48]; ///< "cpu/compiled", "cpu/interpreted", "opencl/..."
} cts_device;

typedef struct cts_options {
    const char *filter;   ///< patterns of "area/name" or parts of it, between commas; NULL: all
    uint64_t patience_ns; ///< of a case
    uint32_t optimize;    ///< slr_program_desc.optimize
    uint32_t rounds;      ///< of litmus cases
    bool perf;
} cts_options;

/// One case on one device.
struct cts {
    const cts_case *what;
    cts_device *on;
    slr_device *device;
    const cts_options *options;
    cts_result result;
    uint64_t ulp;      ///< of CTS_BOUNDED: the most that an element is off, in units in the last place
    char why[600];     ///< when it did not pass
    char note[200];    ///< what it has counted, where it passed
    char printed[600]; ///< what kernels of a host case have printed
    double ns;         ///< with --perf: a launch, or the whole case
    jmp_buf leave;
    struct cts_kept *kept; ///< what is to be destroyed when the case is done
};

/// Whether a name is of a pattern: `*` stands for any characters, `?` for one.
bool cts_matches(const char *pattern, const char *name);

/// Calls `then` when so many seconds have passed, whatever the process does; 0: not any more. There is one alarm.
void cts_alarm(unsigned seconds, void (*then)(void));

/// Ends the process, without destructors that would wait for what may have hung. In a page: tells the page, and
/// returns.
int cts_end(int status);

/// Replaces this process by a new one of the same program. Returns only where a system cannot do that.
void cts_exec(char **argv);

/// Ends the case with a result and why; does not return.
_Noreturn void cts_leave(cts *c, cts_result result, const char *format, ...) __attribute__((format(printf, 3, 4)));

/// The same as `status` wants it: unsupported, hung, or failed.
_Noreturn void cts_leave_with(cts *c, slr_status status, const char *what, const char *file, int line);

/// A call that must succeed.
#define CTS_OK(c, call)                                                                                                \
    do {                                                                                                               \
        slr_status cts_status_ = (call);                                                                               \
        if (cts_status_ != SLR_OK)                                                                                     \
            cts_leave_with(c, cts_status_, #call, __FILE__, __LINE__);                                                 \
    } while (0)

/// A call that must give this status.
#define CTS_GIVES(c, wanted, call)                                                                                     \
    do {                                                                                                               \
        slr_status cts_status_ = (call);                                                                               \
        if (cts_status_ != (wanted))                                                                                   \
            cts_leave(c, CTS_FAILED, "%s:%d: %s gave %s (%s), not %s", __FILE__, __LINE__, #call,                      \
                      slr_status_name(cts_status_), cts_status_ == SLR_OK ? "" : slr_error_message(),                  \
                      slr_status_name(wanted));                                                                        \
    } while (0)

#define CTS_TRUE(c, condition)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            cts_leave(c, CTS_FAILED, "%s:%d: not so: %s", __FILE__, __LINE__, #condition);                             \
    } while (0)

/// Two integers.
#define CTS_SAME(c, got, wanted)                                                                                       \
    do {                                                                                                               \
        long long cts_got_ = (long long)(got), cts_wanted_ = (long long)(wanted);                                      \
        if (cts_got_ != cts_wanted_)                                                                                   \
            cts_leave(c, CTS_FAILED, "%s:%d: %s is %lld, not %lld", __FILE__, __LINE__, #got, cts_got_, cts_wanted_);  \
    } while (0)

// ---- the list (catalog.c) -------------------------------------------------------------------------------------------

/// Every case, area by area. Made once.
const cts_case *cts_cases(size_t *count);

/// The text of the section of that name of kernels/host.cu, for host cases; NULL when there is none.
const char *cts_text(const char *name);

/// The area of cases that are wrong, which runs only where it is asked for.
#define CTS_PLANTED "planted"

extern const char *const cts_areas[];
extern const size_t cts_area_count;

// ---- what is known (known.c) ----------------------------------------------------------------------------------------

extern const cts_known cts_known_list[];
extern const size_t cts_known_count;

/// What is expected of a case on a kind of device; `entry` (may be NULL) gets the line of the list, or NULL.
cts_expectation cts_expected(const char *kind, const cts_case *what, const cts_known **entry);

/// NULL, or the wider bound of a case on a kind of device.
const cts_bound *cts_bound_of(const char *kind, const cts_case *what);

/// The support matrix, area by device, as docs/support.md has it.
void cts_print_matrix(void);

// ---- running --------------------------------------------------------------------------------------------------------

/// Opens it and finds out its kind.
slr_status cts_device_open(const char *spec, cts_device *out);

/// Whether the device still does what it is told.
bool cts_device_is_well(const cts_device *on);

/// Runs a case on a device and says how it ended. `reference` is where kernel cases are run to compare with.
void cts_run(cts *c, const cts_case *what, cts_device *on, cts_device *reference, const cts_options *options);

/// A kernel case (kernel_case.c), called by cts_run.
void cts_run_kernel(cts *c, cts_device *reference);

/// Zeroed memory that is freed when the case is done.
void *cts_memory(cts *c, size_t bytes);

uint64_t cts_now_ns(void);

#endif
