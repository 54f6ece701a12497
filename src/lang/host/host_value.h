// SPDX-License-Identifier: Apache-2.0
// Expressions of host code, computed as far as the text tells what they are.
#ifndef SLRI_LANG_HOST_HOST_VALUE_H
#define SLRI_LANG_HOST_HOST_VALUE_H

#include "lang/host/host.h"
#include "lang/check/parse.h"

#include <string.h>

enum { SLRI_HOST_ROOTS = 16, SLRI_HOST_DEPTH = 24 };

struct slri_host_reader {
    struct slri_unit *unit;
    uint32_t *body;  // of each token: the { of the function that it stands in; 0: none
    uint32_t depth;  // of names that lead to names
    uint64_t effort; // tokens that may still be looked at for this launch
    uint64_t left;   // and for all
    uint32_t halvings;
    bool is_grid;                   // what is computed is one
    uint32_t root[SLRI_HOST_ROOTS]; // local variables whose value is written down: their tokens
    bool is_size[SLRI_HOST_ROOTS];  // they take part in grids alone
    uint32_t roots;
};

// The value of the tokens from `from` up to `to`.
struct slri_host_number slri_host_value(struct slri_host_reader *r, uint32_t from, uint32_t to);
// A dim3, or a number that is one along x. False: not known.
bool slri_host_dims(struct slri_host_reader *r, uint32_t from, uint32_t to, uint32_t out[3]);
// What the host allocates for the pointer there; 0: not known.
uint64_t slri_host_bytes(struct slri_host_reader *r, uint32_t from, uint32_t to);

// Behind the comma at this level, or `to`.
uint32_t slri_host_argument_end(const struct slri_host_reader *r, uint32_t from, uint32_t to);
uint32_t slri_host_close(const struct slri_host_reader *r, uint32_t open); // of the bracket at `open`

// A variable, as it was assigned last in front of `use`.
struct slri_host_number slri_host_name(struct slri_host_reader *r, uint32_t use);
// A function of the file that only returns an expression of its parameters.
struct slri_host_number slri_host_call(struct slri_host_reader *r, const char *name,
                                       const struct slri_host_number *given, uint32_t count);

// ---- numbers and tokens --------------------------------------------------------------------------------------------

static inline struct slri_host_number slri_host_whole(int64_t value)
{
    return (struct slri_host_number){.is_known = true, .whole = value, .real = (double)value};
}

static inline struct slri_host_number slri_host_real(double value)
{
    bool fits = value > -9e18 && value < 9e18;
    return (struct slri_host_number){
        .is_known = true, .is_real = true, .whole = fits ? (int64_t)value : 0, .real = value};
}

static inline const struct slri_token *slri_host_token(const struct slri_host_reader *r, uint32_t at)
{
    return &r->unit->front->token[at < r->unit->front->tokens ? at : r->unit->front->tokens - 1];
}

static inline bool slri_host_is(const struct slri_host_reader *r, uint32_t at, const char *text)
{
    return slri_token_is(slri_host_token(r, at), text);
}

static inline int slri_host_step(const struct slri_host_reader *r, uint32_t at)
{
    const struct slri_token *t = slri_host_token(r, at);
    if (t->kind != SLRI_TOKEN_PUNCT || t->length != 1)
        return 0;
    return strchr("([{", *t->text) ? 1 : strchr(")]}", *t->text) ? -1 : 0;
}

static inline bool slri_host_may_look(struct slri_host_reader *r)
{
    return r->effort > 0 && r->effort--;
}

#endif
