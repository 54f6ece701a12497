// SPDX-License-Identifier: Apache-2.0
// What the files that write source share.
#ifndef SLRI_FUSE_PRINTING_H
#define SLRI_FUSE_PRINTING_H

#include "fuse/print.h"

// How loosely operators bind; parentheses are left out only among the first five.
enum level { ATOM, UNARY, PRODUCT, SUM_LEVEL, COMPARISON, OTHER_OPERATOR, ANYTHING };

enum place { LATER = 1, DECLARED }; // of a register: its expression waits; it has a variable

struct printed { // a register
    const char *name;
    char *text; // of LATER
    uint32_t reads, writes;
    uint32_t block_from, block_to; // where the block that writes it begins and ends, in the order of instructions
    uint32_t at, first_at, first_to, first_read, last_read; // `at`: the last that writes it; first_to: as block_to
    uint8_t place;
    uint8_t level; // of LATER: how loosely its operator binds
    bool reads_memory, is_constant;
    bool is_test; // of a loop, and nothing else
};

struct printing {
    const struct slri_print_part *print; // NULL: of a function
    const char *const *function_name;
    const struct slri_module *module;
    const struct slri_function *function;
    struct printed *reg;
    struct slri_name_list *names;
    struct slri_text *out;
    uint32_t indent, order;
    bool in_line; // statements are parts of one expression: `a = 1, b = 2`
    bool failed, out_of_memory;
    char *why;
};

void slri_print_give_up(struct printing *p, const char *why); // the first reason counts

// print_count.c: the reads and writes of each register, of instructions `first` to `end` and those in them.
void slri_print_count(struct printing *p, const struct slri_block *block, uint32_t first, uint32_t end);
bool slri_print_skips(const struct printing *p, const struct slri_instr *instr); // it is for an address alone

// print_value.c. Those that give a bool give whether it reads memory.
void slri_print_constant(enum slri_kind kind, uint64_t bits, struct slri_text *out);
const struct slri_register *slri_print_held(const struct printing *p, slri_reg reg);
void slri_print_drop(struct printed *r); // the expression that waits
bool slri_print_operand(struct printing *p, slri_reg reg, enum level most, struct slri_text *out);
bool slri_print_element(struct printing *p, const struct slri_instr *instr, struct slri_text *out);
bool slri_print_value(struct printing *p, const struct slri_instr *instr, enum level *level, struct slri_text *out);

#endif
