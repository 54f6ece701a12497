// SPDX-License-Identifier: Apache-2.0
// What the parts of the tuner share: one problem of one kernel.
#ifndef SLRI_TUNER_TUNER_H
#define SLRI_TUNER_TUNER_H

#include "device/kernel.h"
#include "run/count.h"
#include "tune/contest.h"
#include "tune/search.h"

#include <slipring/event.h>
#include <slipring/tune.h>

#define SLRI_TUNER_BLOCKS 24u
#define SLRI_TUNER_VARIANTS 64u
#define SLRI_TUNER_WHY_BYTES 256
#define SLRI_TUNER_SEARCH_SHARE 80u // of the budget of time, in percent
// Instructions that an integer division or remainder costs more, by a value that compilers do not know. On NVIDIA's
// GPUs it is up to 20 of them (CUDA C++ Programming Guide, Integer Arithmetic). On x86 32 bits take 10 to 26 cycles (A.
// Fog, Instruction tables).
#define SLRI_TUNER_DIVISION_COST 20

// A buffer that the kernel may write to.
struct slri_tuner_output {
    slr_buffer *buffer, *saved; // `saved`: as it was before
    const slr_parameter *parameter;
    const struct slri_type *element;
    uint64_t bytes;
    bool is_read;                    // by the code of a kernel that was tried
    unsigned char *expected, *found; // of the host: after the default; after a candidate
};

// The program of one choice of macros; made when it is first wanted.
typedef slr_status slri_tuner_maker(slr_program *program, const char *defines, slr_program **out);
struct slri_tuner_variant {
    char defines[SLRI_TUNED_DEFINES_BYTES];
    slr_program *program; // NULL: none is here
    // Of a guarded one: the blocks with which it ran and went wrong nowhere.
    uint32_t proven[SLRI_TUNER_BLOCKS][3];
    uint32_t provens;
};

// A candidate that is ready to launch.
struct slri_tuner_launch {
    char defines[SLRI_TUNED_DEFINES_BYTES];
    slr_kernel *kernel;
    slr_shape wanted; // as the problem has it, with the chosen block and width
    slr_shape shape;  // with block and grid
    uint64_t code;
    uint32_t evaluation; // as slr_tune_candidate has it
};

struct slri_tuner {
    slr_kernel *kernel;
    const slr_tune_problem *problem;
    const slr_tune_desc *desc;
    slr_stream *stream;
    slr_event *from, *to;
    uint64_t begun_ns;

    // space.c: the dimensions are the macros (SLIPRING_SELECT is the last), then the block, then the width; each has
    // its default, too.
    struct slri_space space;
    int64_t value[SLRI_SPACE_DIMENSIONS][72];
    const char *macro[SLRI_SPACE_DIMENSIONS];
    int64_t now[SLRI_SPACE_DIMENSIONS];
    uint32_t macros;
    bool adds_select; // the last of them is SLIPRING_SELECT, which the source does not declare
    uint32_t block[SLRI_TUNER_BLOCKS][3];
    uint32_t width[8];
    uint64_t start;

    struct slri_tuner_output *output; // one a parameter; those that are not written have no buffer
    uint32_t outputs;
    struct slri_tuner_variant variant[SLRI_TUNER_VARIANTS];
    uint32_t launches;  // of a sample
    uint32_t units;     // of the device
    uint32_t registers; // of a thread of the default; 0: the driver does not say
    bool scatters;      // the default's threads of a row reach places that do not lie side by side
    // The fastest candidate so far. Its samples, in turn with those of a candidate, tell how fast the machine is just
    // then.
    struct slri_tuner_launch reference; // its kernel is NULL: there is none
    double reference_cost;

    // guard.c
    struct slri_tuner_variant guarded[SLRI_TUNER_VARIANTS];
    uint64_t default_threads;
    uint32_t default_turns;                   // about the most iterations of loops that a thread of the default does
    uint32_t unguarded;                       // candidates of which there is no guarded kernel
    char why_unguarded[SLRI_TUNER_WHY_BYTES]; // of the first

    struct slri_search search;
    uint32_t forbidden;     // choices of macros that `require` does not allow
    uint32_t other_choices; // of the source's macros that are allowed, but for the default's
    uint32_t refused, wrong, failed;
    char why[SLRI_TUNER_WHY_BYTES];
    bool differs_in_reals; // what `why` says of a result: a tolerance could accept it
    bool varies;           // the default's results differ each time: `reason` says how, and the tuning ends
    char reason[512];
    struct slri_tuner_launch contender[SLRI_CONTENDERS];
    uint32_t contenders;
};

// tuner.c: whether so much of the budget of time is gone.
bool slri_tuner_has_spent(const struct slri_tuner *tuner, uint32_t percent);

// space.c
slr_status slri_tuner_make_space(struct slri_tuner *tuner);
// The macros of a choice that differ from the program's, and the shape. False: the macros do not fit the record.
bool slri_tuner_decode(const struct slri_tuner *tuner, uint64_t code, char defines[SLRI_TUNED_DEFINES_BYTES],
                       slr_shape *shape);
// The macros of a choice that the source declares: without what slipring adds to them.
void slri_tuner_own_defines(const struct slri_tuner *tuner, const char *defines, char out[SLRI_TUNED_DEFINES_BYTES]);

// compare.c
slr_status slri_tuner_save(struct slri_tuner *tuner);    // what the buffers hold
slr_status slri_tuner_restore(struct slri_tuner *tuner); // waits
// Before a timed launch: what the kernels read. The copy of the rest would only drive the inputs out of the caches,
// where the launches of a program find them.
slr_status slri_tuner_renew(struct slri_tuner *tuner);
slr_status slri_tuner_expect(struct slri_tuner *tuner); // from now on what they hold is right
// OK; WRONG_STATE: they hold something else, and tuner->why says what. `is_exact`: bit for bit.
slr_status slri_tuner_compare(struct slri_tuner *tuner, bool *is_exact);
void slri_tuner_free_outputs(struct slri_tuner *tuner);

// differ.c: the first place in which what a candidate has left is wrong.
#define SLRI_TUNER_MEMBER_BYTES 64
struct slri_tuner_difference {
    uint64_t at;                          // the byte of the buffer
    enum slri_kind kind;                  // of the number there; VOID: a byte of none
    char member[SLRI_TUNER_MEMBER_BYTES]; // the number's name within the element, such as ".x"; ""
};
bool slri_tuner_differs(const struct slri_tuner_output *output, double tolerance, struct slri_tuner_difference *out);

// reads.c: notes which of the outputs the launch's kernel reads somewhere in its code, whether or not a thread comes
// there. Other macros make other code, so that each candidate is looked at. Errors: NO_MEMORY.
slr_status slri_tuner_find_read(struct slri_tuner *tuner, const struct slri_tuner_launch *launch);

// guard.c: runs the candidate's guarded kernel once, or not at all where it is one that did not go wrong. `is_bad`: it
// does not end, or leaves a buffer, and tuner->why says so. Where the device has no such kernel for the launch, it is
// counted in `unguarded`, and nothing is run. The default comes first. Errors: those of the launch, and tuner->why has
// them.
void slri_tuner_guard_ahead(struct slri_tuner *tuner, const struct slri_tuner_launch *launch); // begins to compile it
slr_status slri_tuner_guard(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, bool *is_bad);

// trial.c
// The variant with these macros, of `all` or by `make`. Its program stays until another needs its place.
slr_status slri_tuner_take(struct slri_tuner *tuner, struct slri_tuner_variant all[SLRI_TUNER_VARIANTS],
                           const char *defines, slri_tuner_maker *make, struct slri_tuner_variant **out);
slr_status slri_tuner_ready(struct slri_tuner *tuner, uint64_t code, struct slri_tuner_launch *out);
void slri_tuner_unready(struct slri_tuner_launch *launch);
// Launches that often from what the buffers that are read held at first, and waits; `ns` of one launch.
slr_status slri_tuner_run(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, uint32_t launches,
                          double *ns);
slr_status slri_tuner_sample(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, double *cost);
// The default: its results are the right ones, and what is wrong with it ends the tuning.
slr_status slri_tuner_begin(struct slri_tuner *tuner);
// Runs it once from what the buffers held at first. MEASURED: its results are right; `is_exact`: bit for bit.
slr_tune_state slri_tuner_check(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, bool *is_exact);
slr_tune_state slri_tuner_try(void *tuner, struct slri_trial *trial);

// warp_cost.c: what a launch is expected to cost on an NVIDIA GPU, in cycles. INFINITY: no block fits.
double slri_tuner_cost_in_warps(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                                const struct slri_count *count);

// cost.c
// Notes whether the default scatters its accesses.
void slri_tuner_find_scatter(struct slri_tuner *tuner, const struct slri_tuner_launch *launch);
double slri_tuner_predict(void *tuner, uint64_t code);

// energy.c
static inline bool slri_tuner_counts_energy(const slr_tune_desc *desc)
{
    return desc->metric == SLR_TUNE_ENERGY && !desc->measure;
}
slr_status slri_tuner_find_counter(const slr_device *device); // UNSUPPORTED: it tells no energy; the reason is said
// How often a launch is made between two readings of the counter. Takes a first sample. UNSUPPORTED: the counter
// stands.
slr_status slri_tuner_choose_group(struct slri_tuner *tuner, const struct slri_tuner_launch *launch);
slr_status slri_tuner_measure_energy(struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                                     double *microjoules);

#endif
