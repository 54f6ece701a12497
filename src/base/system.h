// SPDX-License-Identifier: Apache-2.0
/// The operating system itself, where base needs it: one file a system (system.c, windows/system.c, macos/system.c).
/// Nothing here knows of simulation, or of messages.
#ifndef SLRI_BASE_SYSTEM_H
#define SLRI_BASE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Nanoseconds of a clock that is never set.
uint64_t slri_system_now_ns(void);
/// Returns when that clock shows `until_ns` or later, interrupted or not.
void slri_system_sleep_until(uint64_t until_ns);
void slri_system_yield(void);

/// Whether there can be more than the thread that is there.
bool slri_system_has_threads(void);
/// A thread that receives no signals, from its first instruction on. 0, or an errno.
int slri_system_create_thread(pthread_t *handle, void *(*body)(void *), void *arg);
/// Waits until the body has returned. Once for each created thread.
void slri_system_join_thread(pthread_t handle);
/// For a thread that nobody will join.
void slri_system_detach_self(void);
/// Names the calling thread, as a debugger shows it.
void slri_system_name_thread(const char *name);
/// The number of the calling thread that a debugger shows.
uint32_t slri_system_thread_id(void);
/// Cores that the calling thread may run on, at least 1.
unsigned slri_system_cores(void);

/// Memory at a multiple of `alignment`, for slri_system_free alone; NULL: none. Above that of max_align_t `bytes` must
/// be a multiple of it.
void *slri_system_allocate(size_t bytes, size_t alignment);
void slri_system_free(void *memory);

/// Fills it with random bytes. False: the system has none yet, and nothing is in it.
bool slri_system_random(void *out, size_t bytes);

/// Whether this program has more rights than its caller (set-user-id and the like).
bool slri_system_gives_more_rights(void);
bool slri_system_environment_is_empty(void);
bool slri_system_set_variable(const char *name, const char *value);

/// Of systems with POSIX's descriptors: waits until the disk has what was written; 0, or -1 and errno.
int slri_system_sync(int fd);
/// Likewise: a pipe that children do not get; 0, or -1 and errno.
int slri_system_pipe(int ends[2]);

/// What this machine calls itself, cut to `bytes`; "" where it does not say.
void slri_system_name_machine(char *out, size_t bytes);

/// A number of the place where process numbers mean what they mean in this process: a machine since it was started,
/// and a name space. 0: not known.
uint32_t slri_system_place(void);
/// Whether the process `id` of that place has ended. False where that cannot be told.
bool slri_system_process_has_ended(long id);

#endif
