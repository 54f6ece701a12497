// SPDX-License-Identifier: Apache-2.0
/// Lists of names for people, and what a name that is not there was meant to be.
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

/// Adds a name to a list for people, "a, b", within `bytes`; what does not fit becomes an ellipsis.
void names_add(char *to, size_t bytes, const char *name);

/// The one of `count` names that `word` is most likely meant to be; NULL: none is near.
const char *names_nearest(const char *word, const char *const *names, size_t count);

/// For behind "no verb 'rnu'": "; there are: doctor, run; did you mean 'run'?". `has` is "there are". Into `bytes` of
/// `to`; "" of no names.
enum { NAMES_GUESS_BYTES = 512 };
void names_guess(char *to, size_t bytes, const char *word, const char *has, const char *const *names, size_t count);

#endif
