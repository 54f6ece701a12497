// SPDX-License-Identifier: Apache-2.0
/// What the harnesses of CSV, NDJSON and raw records share: read, twice in different pieces, and write what was read.
#ifndef RECORDS_H
#define RECORDS_H

#include "run/format.h"

#include <stddef.h>
#include <stdint.h>

/// The first byte chooses layout and key, the second how large the pieces are; the rest is the input.
int fuzz_records(const format *format, const uint8_t *data, size_t size);

#endif
