// SPDX-License-Identifier: Apache-2.0
/// Files that a user names: a profile, a trace. What has the name already stays what it is.
#ifndef SLRI_BASE_OUTPUT_H
#define SLRI_BASE_OUTPUT_H

#include <slipring/status.h>

#include <stddef.h>
#include <stdio.h>

/// Writes the whole file. A plain file of this user's with one name is replaced whole (slri_file_write_atomic).
/// Anything else that is there (a device, a pipe, a link, a file with several names or another owner) stays and is
/// written to. Blocks: up to 10 s where a pipe's reader takes nothing. Errors: NOT_FOUND (its folder), SYSTEM (also: a
/// pipe that nobody reads), TIMEOUT, NO_MEMORY.
slr_status slri_output_write(const char *path, const void *content, size_t bytes);

/// Opens for writing from the start, and never waits for a pipe's first reader. What is there stays what it is. The
/// caller's to fclose(). Errors: NOT_FOUND (its folder), SYSTEM (also: a pipe that nobody reads).
slr_status slri_output_stream(const char *path, FILE **out);

#endif
