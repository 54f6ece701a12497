// SPDX-License-Identifier: Apache-2.0
/// A page that a verb writes: an embedded page, with one object in place of its "{{data}}".
#ifndef PAGE_FILE_H
#define PAGE_FILE_H

#include <stdbool.h>

#include <jansson.h>

/// False, and said, where the file cannot be written. `option` is what named it.
bool page_file_write(const char *page, const char *option, const char *path, const json_t *object);

#endif
