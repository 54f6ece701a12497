// SPDX-License-Identifier: Apache-2.0
// One run of a kernel, watched: what its steps do to shadow memory and what of that is a finding. Also what a run
// teaches about the kernel's parameters, for whoever chooses their values.
#ifndef SLRI_CHECK_WATCH_H
#define SLRI_CHECK_WATCH_H

#include "check/findings.h"
#include "check/shadow.h"
#include "check/traffic.h"
#include "run/grid.h"
#include "run/interpreter_thread.h"

// ---- what a value was computed from: bits of a word beside each register ------------------------------------------

enum { SLRI_SLOTS_MAX = 24, SLRI_SOURCES_MAX = 24 };
#define SLRI_FROM_NOTHING UINT64_C(1)                 // the source gave the variable no value
#define SLRI_FROM_AXIS(axis) (UINT64_C(2) << (axis))  // the thread's place along x, y or z
#define SLRI_FROM_AXES UINT64_C(14)                   // any of these
#define SLRI_FROM_SLOT(slot) (UINT64_C(16) << (slot)) // a whole number among the arguments
#define SLRI_FROM_SLOTS (UINT64_C(0xffffff) << 4)
#define SLRI_FROM_BUFFER(index) (UINT64_C(1) << (28 + (index))) // an element of a buffer
#define SLRI_FROM_BUFFERS (UINT64_C(0xffffff) << 28)
#define SLRI_FROM_GRID (UINT64_C(1) << 52) // the block's place: the thread's is one in the grid
#define SLRI_FROM_BLOCK_DIM (UINT64_C(1) << 53)
#define SLRI_FROM_GRID_DIM (UINT64_C(1) << 54)
#define SLRI_FROM_THREAD (UINT64_C(1) << 56) // the thread's place in its block
// Beside these in what a finding depends on: the length of a made-up buffer is SLRI_FROM_BUFFER too.
#define SLRI_FROM_STEPS (UINT64_C(1) << 55) // the launch was not run to its end

// A whole number among the arguments: a parameter, or a member of a struct that is one.
struct slri_slot {
    uint32_t binding;
    uint64_t offset; // in that
    enum slri_kind kind;
    char name[64];
};

struct slri_lessons {
    uint8_t bound[SLRI_SLOTS_MAX];    // a bit an axis: the thread's place along it is compared with the slot
    uint8_t total[SLRI_SLOTS_MAX];    // the axes of a place made of several that is compared with it
    uint8_t pitch[SLRI_SLOTS_MAX];    // the axes of a place that is multiplied by it
    bool nears[SLRI_SLOTS_MAX];       // the thread's place in its block alone is compared with it
    bool loops[SLRI_SLOTS_MAX];       // something else is compared with it
    uint64_t reach[SLRI_SOURCES_MAX]; // of a buffer: the bytes from its start that the kernel touches
    uint64_t limit[SLRI_SOURCES_MAX]; // what a buffer's elements must stay below, because they index something
    bool indexes[SLRI_SOURCES_MAX];   // a buffer's elements take part in addresses
    bool counts[SLRI_SOURCES_MAX];    // atomics change it
    uint64_t shared_reach;            // of extern shared memory
    uint64_t compared;                // SLRI_FROM_BUFFER: whose elements were compared with something
};

// ---- a run ---------------------------------------------------------------------------------------------------------

struct slri_check_lane {
    struct slri_check_thread place;
    uint64_t *value;   // a word for each 8 bytes of the thread's stack
    bool has_returned; // by a return statement
    bool is_astray;    // its next access has an index that is outside: not looked at
};

struct slri_check_block {
    uint64_t number;
    bool is_open;
    struct slri_ordering order;
    struct slri_shadow *shared; // by the module's shared objects, then the dynamic one
    struct slri_check_lane *lane;
    uint32_t arrived;  // threads at the barrier to come
    uint32_t returned; // by a return statement
    uint32_t words;    // of each lane's values
};

struct slri_word { // a word that atomics publish through
    uint64_t key;
    struct slri_knowledge past;
    struct slri_word *next;
};
enum { SLRI_WORD_CHAINS = 256 };

struct slri_run {
    struct slri_region *region; // of the run
    const struct slri_flat *flat;
    const struct slri_module *module;
    const struct slri_entry *entry;
    const struct slri_grid *grid;
    struct slri_findings *findings;
    struct slri_lessons *lessons;
    uint32_t threads, residents;
    struct slri_check_block *block, *last;
    struct slri_shadow *buffer; // by binding
    struct slri_shadow state;   // of a block handler: its threads share it
    const bool *is_unset;       // by binding: a buffer that nothing was written to
    const bool *is_made;        // by binding: its contents were generated
    const bool *is_short;       // by binding: it has room for what is guarded only; more may be meant
    const struct slri_slot *slot;
    uint32_t slots;
    const struct slri_made *made; // NULL: all is given, or a handler's, whose findings are weighed otherwise
    uint64_t *address_from;       // of each instruction: what addresses it was seen with were computed from
    struct slri_traffic *traffic; // NULL: not counted
    struct slri_word *word[SLRI_WORD_CHAINS];
    bool out_of_memory;
};

// Prepares `run`, whose members up to `lessons`, and the arrays that are given, are set, and a watch on it.
bool slri_run_prepare(struct slri_run *run, struct slri_watch *watch);

// What the interpreter's end of the grid means.
void slri_run_judge(struct slri_run *run, const struct slri_grid_end *end);

// ---- verdict.c -----------------------------------------------------------------------------------------------------

// What of a launch was made up, and what the kernel is.
struct slri_made {
    uint64_t values;  // SLRI_FROM_SLOT: numbers; SLRI_FROM_BUFFER: contents
    uint64_t lengths; // SLRI_FROM_BUFFER
    bool block, grid; // the shape
    int axes;         // that the kernel asks for
    bool uses_thread, uses_block;
};

struct slri_evidence {
    unsigned code;
    uint64_t from;   // what the address, the index or the operands were computed from
    uint32_t buffer; // that an access lies outside of; UINT32_MAX: none
    bool is_before;  // in front of it
    const struct slri_check_thread *by, *other;
};

// Of what was made up, that which the finding depends on: 0 if it holds whatever is given. It is for the next
// slri_findings_add.
void slri_run_weigh(struct slri_run *run, const struct slri_evidence *evidence);

// ---- values.c ------------------------------------------------------------------------------------------------------

// The step's effect on what is known of registers and local memory, and findings about values.
void slri_values_step(struct slri_run *run, struct slri_check_lane *lane, const struct slri_interp_thread *thread,
                      const struct slri_code *code);
void slri_values_open(struct slri_run *run, struct slri_check_lane *lane);
uint64_t slri_values_of(const struct slri_check_lane *lane, const struct slri_interp_thread *thread, slri_reg reg);
// 8 bits: which bytes of the local word at `at` were given no value.
bool slri_values_local(struct slri_check_lane *lane, const struct slri_interp_thread *thread, const unsigned char *at,
                       uint64_t bytes);
void slri_values_set_local(struct slri_check_lane *lane, const struct slri_interp_thread *thread,
                           const unsigned char *at, uint64_t bytes, bool is_unset);
uint32_t slri_slot_at(const struct slri_run *run, uint32_t binding, uint64_t offset); // UINT32_MAX: none

// ---- words.c -------------------------------------------------------------------------------------------------------

enum { SLRI_WORDS_BYTES = 160 };
// "part[3]", "in[12].x", "extern shared memory, byte 8"; "x[-1]" where it is outside.
const char *slri_words_element(const struct slri_run *run, struct slri_root root, uint64_t offset,
                               char out[SLRI_WORDS_BYTES]);
const char *slri_words_root(const struct slri_run *run, struct slri_root root);
const char *slri_words_thread(const struct slri_run *run, const struct slri_check_thread *thread,
                              char out[SLRI_WORDS_BYTES]);
const char *slri_words_register(const struct slri_run *run, const struct slri_code *code, slri_reg reg);

static inline struct slri_where slri_run_where(const struct slri_run *run, const struct slri_code *code)
{
    return run->flat->where[code - run->flat->code];
}

#endif
