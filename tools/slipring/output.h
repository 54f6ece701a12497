// SPDX-License-Identifier: Apache-2.0
/// Files that a verb writes. What is there stays as it is until output_begin: a verb that fails before its first result
/// leaves the file untouched, and removes one that it has made.
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct output {
    const char *option, *path; // what the command line says; path NULL: standard output
    int descriptor;            // -1: not open
    bool made, begun;          // made: by output_open, and nothing was there before
} output;

/// Opens a file for writing without changing it; NULL is standard output. An exit code: what is not EXIT_DONE has been
/// said.
int output_open(output *output, const char *option, const char *path);

/// Refuses an output that is also `input`, whatever it is called there: by device and inode. Only regular files count.
/// `said` names the input. EXIT_DONE, or EXIT_USAGE.
int output_refuse_path(const output *output, const char *input, const char *said);
int output_refuse_descriptor(const output *output, int input, const char *said);

/// From here on results are written: drops what a regular file has held. An exit code.
int output_begin(output *output);

/// Closes. A file that was made and never begun is removed. An exit code: the last write may fail here.
int output_close(output *output);

/// Before long work whose result goes to `path`: whether that can be opened, and is no file `input` (NULL: there is
/// none). Nothing is changed, but for a link to a file that is not there, which is made. What is not EXIT_DONE has been
/// said. A full disk shows itself only at the end.
int output_try(const char *option, const char *path, const char *input);

/// Whether two paths name one regular file that exists.
bool output_same_file(const char *a, const char *b);

/// Writes what a stream still has: 0, or the errno of that or of an earlier write that failed.
int output_flush(FILE *file);

/// Closes a stream that was written: EXIT_FAILED, and that was said, where any of it could not be written.
int output_close_stream(FILE *file, const char *option, const char *path);

#endif
