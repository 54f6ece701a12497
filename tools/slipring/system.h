// SPDX-License-Identifier: Apache-2.0
/// What the command line needs of the operating system: one file a system (system.c, windows/system.c).
#ifndef SYSTEM_H
#define SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Before anything is read or written: bytes are bytes, and a standard stream that is closed stays without a file.
void system_begin(void);

/// Whether this program has more rights than its caller (set-user-id).
bool system_gives_more_rights(void);

/// Whether what reads standard output has gone.
bool system_reader_has_gone(void);

/// Columns of the terminal that standard output is; 0 where it is none, or does not say.
size_t system_columns(void);

/// Opens a file, which no child gets; -1 and errno.
int system_open_to_read(const char *path);
/// Made where it is missing. `empty`: what it holds is dropped. `is_new`: one that is there refuses (EEXIST).
int system_open_to_write(const char *path, bool empty, bool is_new);

/// Waits until the disk has what was written: 0, or -1 and errno.
int system_sync(int file);

/// What a regular file holds behind where it stands; 0: it is none.
uint64_t system_bytes_left(int file);

/// Where one file is, whatever its name. False: no regular file.
typedef struct system_file {
    uint64_t device, number;
} system_file;
bool system_identify(int file, system_file *out);
bool system_identify_path(const char *path, system_file *out);

/// The cores that this thread may use, the first `most` of them: how many.
unsigned system_cores(int *cores, unsigned most);
/// Runs the calling thread on that core alone.
void system_pin(int core);
/// Ends that, by what system_cores gave.
void system_unpin(const int *cores, unsigned count);

/// A condition that can be waited for until a time of clock_ns. It may return early.
void system_condition_init(pthread_cond_t *condition);
void system_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns);

/// Memory at a multiple of `alignment`; system_free gives it back.
void *system_aligned(size_t alignment, size_t bytes);
void system_free(void *memory);

/// A function of a shared library: NULL, and `*why` says what is wrong. `library` is closed by system_close.
void *system_load(const char *path, const char *function, void **library, const char **why);
void system_close(void *library);

#endif
