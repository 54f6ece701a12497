// SPDX-License-Identifier: Apache-2.0
// Several kernels as one: which of their parameters are the same, what is kept in a variable, what is not written.
#ifndef SLRI_FUSE_JOIN_H
#define SLRI_FUSE_JOIN_H

#include "fuse/print.h"

#include <slipring/fuse.h>

// What parameters stand for: a buffer, or a number.
struct slri_join_object {
    const char *name;             // as in the result
    const struct slri_type *type; // of an element or the number
    bool is_buffer;
    bool is_unread; // nobody reads the buffer after the result
    // Set by slri_join_plan:
    bool is_read, is_written;  // by the parts
    bool is_in_variable;       // its element is kept in a variable
    bool is_loaded, is_stored; // the result reads it, and writes it
    const char *variable;
    bool is_undeclared; // the variable, so far
    uint32_t parameter; // of the result; UINT32_MAX: none
};

#define SLRI_JOIN_PARTS 32u

struct slri_join_part {
    const struct slri_module *module;
    const struct slri_entry *entry;
    const uint32_t *object; // one for each binding
    struct slri_part part;  // set by slri_join_read
    bool is_bound_known;    // the number that it compares its index with, as a 64-bit pattern of its kind
    int64_t bound;
};

struct slri_join {
    const char *name; // of the result
    struct slri_join_part part[SLRI_JOIN_PARTS];
    uint32_t parts;
    struct slri_join_object *object;
    uint32_t objects;
    struct slri_region *region;
    char why[300]; // the reason, where it may not or should not be
};

// Reads the parts. Errors: UNSUPPORTED (`why`), NO_MEMORY.
slr_status slri_join_read(struct slri_join *join);

// Whether the parts may become one, and what becomes of each object. Parts whose bounds are known and equal have one
// guard, though they may be different objects. Errors: UNSUPPORTED (`why`), NO_MEMORY.
slr_status slri_join_plan(struct slri_join *join);

// The bytes an element that the result saves.
uint64_t slri_join_saving(const struct slri_join *join);

// UNSUPPORTED (`why`): one kernel would be slower, as far as a model says, or the last part adds nothing to the
// `saving` of those before it.
slr_status slri_join_weigh(struct slri_join *join, uint64_t saving);

void slri_join_count(const struct slri_join *join, slr_fusion_info *out);

// The result as source. `names` holds names at file scope that are in use. Errors: UNSUPPORTED (`why`), NO_MEMORY.
slr_status slri_join_write(struct slri_join *join, struct slri_name_list *names, struct slri_text *out);

#endif
