// SPDX-License-Identifier: Apache-2.0
// A file may hold more than kernels: host code, templates, classes. Each declaration at file scope is looked at before
// it is parsed; what belongs to the host or to C++ is left out and listed, and a name that was left out says so where
// it is used.
#ifndef SLRI_LANG_CHECK_SKIP_H
#define SLRI_LANG_CHECK_SKIP_H

#include "lang/check/check.h"

struct slri_item {
    uint32_t end;                       // the token behind it
    const struct slri_token *name;      // what it declares, as far as that can be seen; or NULL
    const char *what;                   // "the template", "the host function"
    bool is_ring, is_kernel, is_device; // marked so
    unsigned code;                      // why it is left out unread, else 0: it is worth reading
};

// Looks at the declaration that is next.
struct slri_item slri_look_at_item(const struct slri_unit *unit);

// Whether the file is one of CUDA, which nobody wrote for slipring: it has __global__ in it.
bool slri_is_foreign_file(const struct slri_front *front);

// Whether `code` says that something is outside the language, rather than wrong in it.
bool slri_is_outside(const struct slri_unit *unit, unsigned code);

void slri_list_skipped(struct slri_unit *unit, const struct slri_skipped *skipped);

// Goes behind the item, lists it, and marks its name.
void slri_skip_item(struct slri_unit *unit, const struct slri_item *item, unsigned code, const char *why);

// After the item has been read: if errors were reported since there were `errors` of them, takes them back and leaves
// the item out, with the functions from `made` on, which were declared meanwhile.
void slri_skip_failed(struct slri_unit *unit, const struct slri_item *item, uint32_t errors,
                      struct slri_func *const *made);

// The same of a function whose lowering failed. True: it is left out.
bool slri_skip_function(struct slri_unit *unit, struct slri_func *func, uint32_t errors);

// Headers that were not found and macros that were defined anew, of a file of CUDA: listed instead of reported.
void slri_skip_headers(struct slri_unit *unit);

// Reports a use of a name that was left out.
void slri_report_skipped(struct slri_unit *unit, const struct slri_symbol *symbol, struct slri_where where);

#endif
