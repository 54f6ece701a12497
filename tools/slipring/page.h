// SPDX-License-Identifier: Apache-2.0
/// Pages that draw the object that --json prints.
#ifndef PAGE_H
#define PAGE_H

#include <jansson.h>
#include <stdbool.h>

/// Writes the page to the file that --html names, with the object in place of its {{data}}. False: it could not be
/// written, and that has been said.
bool page_write(const char *page, const char *path, const json_t *object);

#endif
