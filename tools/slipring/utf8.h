// SPDX-License-Identifier: Apache-2.0
/// What is text and what is not.
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>

/// Bytes of the character that begins here, of which `left` bytes are there; 0 where this is no UTF-8 (RFC 3629).
size_t utf8_bytes(const unsigned char *at, size_t left);

/// The character that begins here as it stands in a JSON string, without a NUL; its length. What is no UTF-8 becomes a
/// character a byte, as if it were Latin-1: keys that differ should stay so. `*wide`: bytes of `at` that it is.
enum { UTF8_JSON_MOST = 8 };
size_t utf8_json(const unsigned char *at, size_t left, char out[UTF8_JSON_MOST], size_t *wide);

/// What stands in JSON for a byte that is no text: U+FFFD.
#define UTF8_REPLACEMENT "\xEF\xBF\xBD"

#endif
