// SPDX-License-Identifier: Apache-2.0
/// Numbers between text and the scalars of messages. Nothing is rounded, wrapped or cut silently, and what is printed
/// reads back as the same value.
#ifndef NUMBER_H
#define NUMBER_H

#include <slipring/program.h>

#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_TEXT_MAX = 40 }; // characters that number_print writes at most, the NUL included

/// Bytes of a scalar.
size_t number_bytes(slr_scalar scalar);

/// What text a scalar takes: "a whole number from -128 to 127".
const char *number_takes(slr_scalar scalar);

/// Stores `text` (blanks around it are ignored) as a scalar at `to`, unaligned. False, and nothing stored, where the
/// text is not what number_takes says.
bool number_parse(slr_scalar scalar, const char *text, void *to);

/// Stores a duration in nanoseconds: a number with a unit, "500ms", "2.5s", of ns, us, ms, s, min. False, and nothing
/// stored, where the text is something else or beyond 2^62 ns.
bool number_parse_duration(const char *text, uint64_t *to_ns);

/// Prints the scalar at `from` (unaligned) to `to` and ends it with a NUL; the characters without it. Floats get the
/// fewest digits that read back as the same value.
size_t number_print(slr_scalar scalar, const void *from, char *to);

/// Prints about three digits of `value` for people, as "3200", "99.7" and "0.04": all digits before the point, and an
/// exponent only where the number is below 1e-6 or from 1e15 on. `to` has room for NUMBER_TEXT_MAX characters. Gives
/// `to`.
const char *number_print_rounded(double value, char *to);

#endif
