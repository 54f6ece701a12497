// SPDX-License-Identifier: Apache-2.0
// IR as source in the subset of CUDA C: the bodies of parts, and the functions that they call.
#ifndef SLRI_FUSE_PRINT_H
#define SLRI_FUSE_PRINT_H

#include "base/text.h"
#include "fuse/part.h"

// Names in use, so that each new one is unique. All memory is the region's.
struct slri_name_list {
    struct slri_region *region;
    const char **name;
    uint32_t count, room;
    bool out_of_memory;
};

// `wanted`, or that with a number behind it.
const char *slri_name_unique(struct slri_name_list *names, const char *wanted);

// What the source calls a parameter.
struct slri_spelling {
    const char *name;
    const char *variable; // NULL, or the local variable that holds the buffer's element
    bool *is_undeclared;  // NULL, or whether the first store to the variable declares it
};

struct slri_print_part {
    const struct slri_part *part;
    const struct slri_spelling *binding; // one for each
    const char *index;                   // the variable
    enum slri_kind index_kind;
    const char *const *function; // one for each of the module's: the name that it has here
};

// Appends the body, indented by `indent` spaces. `why` (200 bytes): the reason for UNSUPPORTED. Errors: also NO_MEMORY.
slr_status slri_print_body(const struct slri_print_part *print, struct slri_name_list *names, uint32_t indent,
                           struct slri_text *out, char why[200]);

// Appends a device function as `name`.
slr_status slri_print_function(const struct slri_module *module, const struct slri_function *function,
                               const char *const *functions, const char *name, struct slri_name_list *names,
                               struct slri_text *out, char why[200]);

// Whether the text has that identifier.
bool slri_mentions_name(const char *text, const char *name);

const char *slri_kind_source(enum slri_kind kind); // "unsigned long long"

#endif
