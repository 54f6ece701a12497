// SPDX-License-Identifier: Apache-2.0
// A fault in words: what was indexed, by what it is called in the source, and how far outside the index was.
#ifndef SLRI_IR_BLAME_H
#define SLRI_IR_BLAME_H

#include "ir/ir.h"

#include <slipring/status.h>

// As whoever ran it tells it. `where.column` is 0 where only a line is known: a device's handlers say no more.
struct slri_blame {
    uint32_t fault; // enum slri_fault
    struct slri_where where;
    uint64_t index, size; // abi/handler.h
};

// A fault of a kernel in one word, as a device may report it.
#define SLRI_FAULT_WORD(fault, file, line) ((uint64_t)(fault) << 56 | (uint64_t)(file) << 32 | (line))
#define SLRI_FAULT_OF_WORD(word) ((uint32_t)((word) >> 56))
#define SLRI_FILE_OF_WORD(word) ((uint32_t)((word) >> 32) & 0xffffff)
#define SLRI_LINE_OF_WORD(word) ((uint32_t)(word))

#define SLRI_BLAME_BYTES 160

// "index outside its array: index 8 of 8 in 'table'". Of a line that has several such places and says no column, what
// is said fits all of them.
void slri_blame_text(const struct slri_module *module, const struct slri_entry *entry, const struct slri_blame *blame,
                     char out[SLRI_BLAME_BYTES]);

// Of a kernel that has faulted: HANDLER_FAULT, in the same words on every device. `thread` (NULL, or "block (0, 0, 0),
// thread (1, 0, 0)") says who.
slr_status slri_kernel_faulted(const struct slri_module *module, const struct slri_entry *entry,
                               const struct slri_blame *blame, const char *thread);

#endif
