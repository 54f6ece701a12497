// SPDX-License-Identifier: Apache-2.0
/// Text of strangers (sources, file names, what drivers say) that people will see on a terminal, or programs in JSON.
/// slr_text_printable (slipring/status.h) is defined here.
#ifndef SLRI_BASE_PRINTABLE_H
#define SLRI_BASE_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

/// Bytes of the UTF-8 character (RFC 3629) at the start of `text`, of which `left` bytes are there; 0: it is none.
/// `*code` is its number.
size_t slri_utf8_bytes(const char *text, size_t left, uint32_t *code);

#endif
