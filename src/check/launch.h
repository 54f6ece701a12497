// SPDX-License-Identifier: Apache-2.0
// A check's launches: memory for the arguments, one run of the grid, watched.
#ifndef SLRI_CHECK_LAUNCH_H
#define SLRI_CHECK_LAUNCH_H

#include "check/watch.h"
#include "device/kernel.h"
#include "lang/host/host.h"

enum { SLRI_CHECK_PARAMETERS_MAX = 256 };

struct slri_plan { // what is the same in all launches of a check
    slr_program *program;
    const struct slri_interp *interp;
    const struct slri_module *module;
    const struct slri_entry *entry;
    uint32_t entry_index;
    const slr_check_desc *desc;
    struct slri_region *region; // of what outlives the launches
    const slr_check_argument *given[SLRI_CHECK_PARAMETERS_MAX];
    bool is_unset[SLRI_CHECK_PARAMETERS_MAX];
    struct slri_slot slot[SLRI_SLOTS_MAX];
    uint32_t slots;
    const struct slri_host_launch *host;      // that the file's host code makes, or NULL
    const struct slri_host_launch *too_large; // one that was given up for that, or NULL
    int axes;                                 // that the kernel asks for
    bool uses_thread, uses_block;             // its place in the block, the block's in the grid
    bool knows_block, knows_grid;             // given, read or implied: not made up
};

enum slri_contents { SLRI_RANDOM, SLRI_COUNTING, SLRI_ZEROED, SLRI_POSITIVE, SLRI_EXTREME };

struct slri_trial { // one launch
    uint32_t grid[3], block[3];
    uint64_t shared_bytes;
    int64_t value[SLRI_SLOTS_MAX]; // of slots that nobody gave
    bool is_size[SLRI_SLOTS_MAX];  // the value follows from the number of threads
    // Of buffers that nobody gave:
    uint64_t bytes[SLRI_CHECK_PARAMETERS_MAX];
    const char *why[SLRI_CHECK_PARAMETERS_MAX]; // "n", "4 * n": where that size comes from; NULL: as far as is reached
    bool is_short[SLRI_CHECK_PARAMETERS_MAX];
    enum slri_contents contents[SLRI_CHECK_PARAMETERS_MAX];
    uint64_t limit[SLRI_CHECK_PARAMETERS_MAX]; // elements are below it (0: none)
    uint64_t fuel, steps;
    // Of a handler:
    enum slri_contents messages; // ZEROED, POSITIVE or EXTREME
};

struct slri_outcome {
    struct slri_findings findings; // in the run's region, or the one given
    struct slri_lessons lessons;
    uint32_t misfits;    // findings that may be the shape's fault, not the kernel's
    bool counts_traffic; // asked for: notes, and lines in the region of the findings
    slr_check_line *lines;
    uint32_t line_count;
    uint64_t instructions;
    uint32_t handled; // messages, of a handler
    bool was_cut;     // it has used up its steps or fuel
};

// Finds the whole numbers among the entry's arguments.
void slri_plan_find_slots(struct slri_plan *plan);
bool slri_plan_is_given(const struct slri_plan *plan, uint32_t slot);

// Runs it. `outcome->findings.region` NULL: findings are only counted, and gone when this returns.
slr_status slri_trial_run(const struct slri_plan *plan, const struct slri_trial *trial, struct slri_outcome *outcome);

// ---- host.c --------------------------------------------------------------------------------------------------------

// Chooses the launch of the file's host code of which most could be read.
void slri_plan_find_host(struct slri_plan *plan);
bool slri_plan_is_read(const struct slri_plan *plan, uint32_t slot); // its value
bool slri_host_number_of(const struct slri_plan *plan, uint32_t binding, struct slri_host_number *out);
uint64_t slri_host_bytes_of(const struct slri_plan *plan, uint32_t binding); // of a buffer; 0: not read
void slri_plan_made(const struct slri_plan *plan, struct slri_made *out);
// What a finding depends on as options: "--arg n=..., --block ..."; NULL where that is nothing.
const char *slri_plan_give(const struct slri_plan *plan, uint64_t made);
// "line 42: scale<<<grid, 256>>>(x, n)", and what of it was made smaller; NULL: there is none.
const char *slri_host_words(const struct slri_plan *plan, const struct slri_trial *trial);
// The block that the kernel's text implies along all axes: `blockIdx.x * 16 + threadIdx.x` leaves no other,
// `tile[threadIdx.x]` may be meant for a smaller one.
enum slri_implied { SLRI_IMPLIED_NOT, SLRI_IMPLIED_BY_EXTENTS, SLRI_IMPLIED_BY_STRIDES };
enum slri_implied slri_plan_implied_block(const struct slri_plan *plan, int axes, uint32_t out[3]);

// ---- contents.c ----------------------------------------------------------------------------------------------------

bool slri_is_whole(enum slri_kind kind);
void slri_fill_buffer(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t index, unsigned char *to);
// A number or a struct that nobody gave: floating-point members are 1.5, slots what was chosen.
void slri_fill_value(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t index, unsigned char *to);
void slri_fill_message(const struct slri_plan *plan, const struct slri_trial *trial, uint64_t number,
                       unsigned char *to);

// ---- messages.c ----------------------------------------------------------------------------------------------------

#define SLRI_CHECK_SENDS 64 // for one message: ring kernels allow no more

static inline bool slri_plan_is_handler(const struct slri_plan *plan)
{
    return plan->entry->kind != SLRI_ENTRY_KERNEL;
}

// Gives a handler its messages, watched. `run->grid` and `run->watch` are ready.
slr_status slri_messages_run(const struct slri_plan *plan, const struct slri_trial *trial, struct slri_run *run,
                             struct slri_grid *grid, struct slri_outcome *outcome);
const char *slri_messages_words(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t handled);

// What an argument is, in words: "n = 507", "x = float[507], random".
const char *slri_trial_words(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t parameter);

#endif
