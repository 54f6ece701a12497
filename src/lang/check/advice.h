// SPDX-License-Identifier: Apache-2.0
// What to write instead, for the commonest mistakes: where more can be said than a number's own advice
// (diagnostics.h). Each gives a text that lives as long as the unit, or NULL: that advice is the best there is. For
// SLRI_ADVISE, behind the error.
#ifndef SLRI_LANG_CHECK_ADVICE_H
#define SLRI_LANG_CHECK_ADVICE_H

#include "lang/check/ast.h"
#include "lang/check/parse.h"

#define SLRI_ADVISE(unit, text) slri_report_advise((unit)->front, text)

const char *slri_advise_function(struct slri_unit *unit, const char *name); // that there is no function of that name
const char *slri_advise_name(struct slri_unit *unit, const char *name);     // no variable
const char *slri_advise_type(struct slri_unit *unit, const char *name);     // no type
const char *slri_advise_member(struct slri_unit *unit, const struct slri_type *type, const char *name);
const char *slri_advise_std(struct slri_unit *unit, const char *name); // behind std::
const char *slri_advise_left_out(struct slri_unit *unit, const struct slri_symbol *symbol);
const char *slri_advise_message(struct slri_unit *unit, const struct slri_symbol *param); // NULL: there is none
const char *slri_advise_state(struct slri_unit *unit, const struct slri_symbol *param);   // likewise

// "};" was meant: a struct's definition is followed by another declaration. Reports each, of all of the file. Only what
// no C and no C++ allows: two types in one declaration.
void slri_check_struct_ends(struct slri_front *front);

#endif
