// SPDX-License-Identifier: Apache-2.0
// What the emitter of kernels knows of each register before it writes: how far its value is shared among a block's
// threads, whether it is a linear function of threadIdx.x, and which loops mention it.
//
// Levels. UNIFORM: the same in all threads of the block: a scalar. ROW: the same in all threads of a row (of equal y
// and z): a scalar in the loop over rows. LANE: a thread's own. An instruction runs at the level of what it assigns;
// stores and atomics are LANE.
//
// Linear registers are never stored a thread: they are spelled from parts, scalars of their base level. A 32-bit one is
// b + c * lane, which wraps as it should. A 64-bit one is m * widened(b + c * lane) + d, where the widening must see
// the wrap; as long as nothing wraps within the row (part `ok`) that is f + g * lane, which compilers can vectorise,
// and loops that use it are written twice, unless it is known that nothing wraps.
#ifndef SLRI_EMIT_C_PLAN_H
#define SLRI_EMIT_C_PLAN_H

#include "emit/c/internal.h"

#include <slipring/status.h>

enum { SLRI_LEVEL_UNIFORM, SLRI_LEVEL_ROW, SLRI_LEVEL_LANE };

struct slri_c_value { // of a register
    uint32_t defs, mentions;
    const struct slri_instr *def; // the only one
    uint8_t level;
    bool again;  // cheap and the same whenever it is computed: written anew where it is used, never kept
    bool silent; // only says which lanes a narrowing leaves: never written
    // Linear in the lane.
    bool linear;
    uint8_t base_level; // of the parts
    bool wide, safe;    // 64 bits; known never to wrap within a row
    bool stride_known;  // c, or of a wide one g
    int64_t stride;
    // Every value it can have lies in least..most; `any` where nothing is known.
    bool some, any;
    bool exact; // its definition never wraps
    int64_t least, most;
    // Which loops mention it: numbers of nests, 0 for none yet. Noted by a first, dry run of the emitter.
    uint32_t row_nest, lane_nest;
    bool mentioned, many_row_nests, many_lane_nests;
};

struct slri_c_home { // of a local: likewise
    uint32_t lane_nest;
    bool many_lane_nests;
};

struct slri_c_counter { // a loop's counter: its step keeps it below a bound
    const struct slri_instr *step;
    slri_reg bound;
    int64_t beyond;
};

// Lanes that go on where others do not: act_N, an array by thread, holds 1 for them (emit_c_mask.c).
struct slri_c_mask {
    uint32_t number;
    struct slri_c_mask *outer;
    bool takes_break, takes_continue; // a BREAK or CONTINUE takes lanes out up to here
    uint32_t live;                    // of a loop: the mask of those that stay in it, which a BREAK clears too; or 0
};

struct slri_c_kernel {
    const struct slri_entry *entry;
    uint32_t block[3], rows, threads;
    struct slri_function function; // the entry's, with what it calls around barriers put in, and returns made into else
    struct slri_c_value *value;
    struct slri_c_home *home;
    struct slri_c_counter *counter;
    uint32_t counters;
    bool one_nest;                   // it returns from within a loop: all of it is one thread's code in one loop
    bool leaves;                     // the same, where threads meet: those that have returned are taken out of a mask
    uint32_t warps[SLRI_WARP_COUNT]; // which functions of a warp are used, by kind of value
    bool parts;                      // threads meet under a mask: whether all come is seen when it runs
    // While emitting:
    bool dry;
    uint8_t level;                      // at which code is written
    bool slow;                          // wide linear registers are spelled so that they wrap
    uint32_t row_nest, lane_nest;       // in which, or 0
    uint32_t nests, bounds;             // used so far
    uint32_t bound;                     // the lanes are lo_N to hi_N - 1; 0: all
    uint32_t loops;                     // hoisted ones around
    const struct slri_instr *around;    // the innermost of them, or NULL
    bool sums_alone;                    // in a thread's own loop of cheap trips
    struct slri_c_mask *mask;           // the innermost, or NULL
    uint32_t masks;                     // used so far
    bool break_masked, continue_masked; // whether BREAK and CONTINUE, here, take lanes out of a mask
    uint32_t next_lane;                 // the label behind the lane loop's code
    bool apart;                         // in a loop, where lanes may be in different trips of it
    slri_reg *unsafe;                   // wide linear registers mentioned in the lane nest that may wrap
    uint32_t unsafes;
    slr_status status; // of what cannot be emitted
};

// emit_c_prepare.c: the clone of the entry's function. Errors: NO_MEMORY, UNSUPPORTED.
slr_status slri_c_prepare(struct slri_c_emitter *e, struct slri_c_kernel *k);

// emit_c_plan.c: levels, linear registers, ranges.
// Takes k->value anew, and counts in it who mentions and who assigns each register; false: no memory.
bool slri_c_count_values(struct slri_c_emitter *e, struct slri_c_kernel *k);
bool slri_c_plan(struct slri_c_emitter *e, struct slri_c_kernel *k);                      // false: no memory
uint8_t slri_c_need(const struct slri_c_kernel *k, const struct slri_instr *in);          // the level it runs at
uint8_t slri_c_control_level(const struct slri_c_kernel *k, const struct slri_instr *in); // of IF, LOOP and SWITCH
uint32_t slri_c_mentions(const struct slri_block *block, slri_reg reg);

struct slri_c_assigned {
    uint32_t count;                // instructions in the block that assign the register,
    const struct slri_instr *last; // and the last of them, or NULL
};
struct slri_c_assigned slri_c_assigned(const struct slri_c_emitter *e, const struct slri_block *block, slri_reg reg);

// Whether an IF only narrows the range of lanes: a comparison of a linear register, of stride 1, with something of the
// row. `compare` takes it, `op` the comparison with the linear register on its left under which `body` runs.
struct slri_c_narrowing {
    const struct slri_instr *compare;
    const struct slri_block *body;
    enum slri_op op;
    slri_reg lane, bound;
};
bool slri_c_narrows(const struct slri_c_kernel *k, const struct slri_instr *in, struct slri_c_narrowing *out);

// Whether threads meet in it: at a barrier or in a function of a warp.
bool slri_c_meets(const struct slri_block *block);
bool slri_c_meets_in(const struct slri_instr *in);

// Whether the register is a lane's word that is a linear function of the lane.
static inline bool slri_c_is_linear(const struct slri_c_kernel *k, slri_reg reg)
{
    return reg != SLRI_NO_REG && k->value[reg].level == SLRI_LEVEL_LANE && k->value[reg].linear;
}

// emit_c_range.c
bool slri_c_ranges(struct slri_c_emitter *e, struct slri_c_kernel *k);
bool slri_c_never_wraps(const struct slri_c_kernel *k, slri_reg reg); // a linear register, within a row

// emit_c_kernel.c: what a kernel's file and a `__ring_block__` handler share, in the order in which it is called. Both
// write device functions and helpers; the body comes after them. Errors: NO_MEMORY, UNSUPPORTED.
struct slri_c_reach { // what the entry uses, by index in the module; `bound` by that of the binding
    bool *function, *shared, *bound, any_dynamic;
};
slr_status slri_c_open_kernel(struct slri_c_emitter *e, struct slri_c_kernel *k, struct slri_c_reach *out);
void slri_c_lane_helpers(struct slri_text *out);
slr_status slri_c_rehearse_kernel(struct slri_c_emitter *e, struct slri_c_kernel *k, const struct slri_c_reach *reach);
void slri_c_put_values(struct slri_c_emitter *e, const struct slri_c_kernel *k); // of parameters
void slri_c_put_body(struct slri_c_emitter *e, struct slri_c_kernel *k);

// emit_c_block.c: a `__ring_block__` handler, in the file of the handlers.
void slri_c_block_helpers(struct slri_c_emitter *e);
slr_status slri_c_put_block_handler(struct slri_c_emitter *e, const struct slri_entry *entry);

// emit_c_nest.c: the loops.
void slri_c_declare_block(struct slri_c_emitter *e);
void slri_c_sequence(struct slri_c_emitter *e, const struct slri_block *block);

// "for (...) {" over the lanes that run here, within a loop over rows if there are several; and its end. It is a nest
// of its own.
void slri_c_open_lanes(struct slri_c_emitter *e, struct slri_where where);
void slri_c_close_lanes(struct slri_c_emitter *e);
void slri_c_put_thread(struct slri_c_emitter *e); // the thread's number, in such a loop

// Of handlers: the lanes that run here take a back edge, each with its fuel. Nothing in kernels.
void slri_c_put_back_edge(struct slri_c_emitter *e, const struct slri_instr *loop);
void slri_c_put_fault(struct slri_c_emitter *e, const char *fault, struct slri_where where); // of a handler its end

// emit_c_ahead.c: prefetches of what the loop around reads in its next trip, as the run, one row's, does in this one.
void slri_c_put_ahead(struct slri_c_emitter *e, const struct slri_block *run);

// emit_c_mask.c: control that threads take apart around places where they meet.
void slri_c_put_masked(struct slri_c_emitter *e, const struct slri_instr *in);
void slri_c_put_leaving(struct slri_c_emitter *e, const struct slri_instr *jump); // BREAK, CONTINUE, RETURN of lanes
bool slri_c_is_leaving(const struct slri_c_kernel *k, const struct slri_instr *in);
void slri_c_put_active(struct slri_c_emitter *e); // whether the lane runs here; of constants 1 where all do
bool slri_c_all_run(const struct slri_c_kernel *k);
void slri_c_put_barrier_check(struct slri_c_emitter *e, const struct slri_instr *in);
void slri_c_put_root_mask(struct slri_c_emitter *e, struct slri_c_mask *root);

// emit_c_warp.c
void slri_c_put_warp(struct slri_c_emitter *e, const struct slri_instr *in);
void slri_c_warp_helpers(struct slri_c_emitter *e, const struct slri_c_kernel *k); // those that it uses

// A register in a kernel, as it is spelled at the present level.
void slri_c_kernel_register(struct slri_c_emitter *e, slri_reg reg);
void slri_c_kernel_local(struct slri_c_emitter *e, uint32_t local);

// emit_c_linear.c: parts of linear registers.
void slri_c_put_parts(struct slri_c_emitter *e, const struct slri_instr *in); // the instruction that defines one
void slri_c_declare_parts(struct slri_c_emitter *e, slri_reg reg);
void slri_c_part(struct slri_c_emitter *e, slri_reg reg, char part);
void slri_c_put_linear(struct slri_c_emitter *e, slri_reg reg); // as a lane's value

#endif
