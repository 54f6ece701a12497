// SPDX-License-Identifier: Apache-2.0
/// How Windows passes arguments: as one line, which each program takes apart by itself.
#ifndef SLRI_BASE_WINDOWS_COMMAND_LINE_H
#define SLRI_BASE_WINDOWS_COMMAND_LINE_H

#include "base/text.h"

/// Adds an argument so that a program of Microsoft's or mingw's C library sees it as it is.
void slri_windows_argument(slri_text *line, const char *argument);

#endif
