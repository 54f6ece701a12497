// SPDX-License-Identifier: Apache-2.0
// macOS.
#include "base/system.h"

#include <crt_externs.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/sysctl.h>
#include <time.h>
#include <unistd.h>

uint64_t slri_system_now_ns(void)
{
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW); // as Linux's monotonic clock: not while the machine sleeps
}

void slri_system_sleep_until(uint64_t until_ns)
{
    for (uint64_t now; (now = slri_system_now_ns()) < until_ns;) {
        uint64_t left = until_ns - now;
        struct timespec rest = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
        nanosleep(&rest, NULL);
    }
}

void slri_system_yield(void)
{
    sched_yield();
}

bool slri_system_has_threads(void)
{
    return true;
}

int slri_system_create_thread(pthread_t *handle, void *(*body)(void *), void *arg)
{
    // A new thread inherits the mask: so it is blocked here, not inside, where a signal could come first.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(handle, NULL, body, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void slri_system_join_thread(pthread_t handle)
{
    pthread_join(handle, NULL);
}

void slri_system_detach_self(void)
{
    pthread_detach(pthread_self());
}

void slri_system_name_thread(const char *name)
{
    pthread_setname_np(name);
}

uint32_t slri_system_thread_id(void)
{
    uint64_t id = 0;
    pthread_threadid_np(NULL, &id);
    return (uint32_t)id;
}

// macOS binds no thread to a core.
unsigned slri_system_cores(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

void *slri_system_allocate(size_t bytes, size_t alignment)
{
    return alignment > _Alignof(max_align_t) ? aligned_alloc(alignment, bytes) : malloc(bytes);
}

void slri_system_free(void *memory)
{
    free(memory);
}

bool slri_system_random(void *out, size_t bytes)
{
    arc4random_buf(out, bytes);
    return true;
}

bool slri_system_gives_more_rights(void)
{
    return issetugid() != 0;
}

bool slri_system_environment_is_empty(void)
{
    char **environment = *_NSGetEnviron();
    return !environment || !*environment;
}

bool slri_system_set_variable(const char *name, const char *value)
{
    return setenv(name, value, 0) == 0;
}

// fsync() leaves it in the disk's own memory; file systems that cannot do more have that alone.
int slri_system_sync(int fd)
{
    return fcntl(fd, F_FULLFSYNC) == 0 ? 0 : fsync(fd);
}

int slri_system_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

// ---- processes -----------------------------------------------------------------------------------------------------

uint32_t slri_system_place(void)
{
    char boot[64] = "";
    size_t bytes = sizeof boot;
    uint32_t hash = 2166136261u; // FNV-1a
    if (sysctlbyname("kern.bootsessionuuid", boot, &bytes, NULL, 0) != 0)
        return 0;
    for (size_t i = 0; i < bytes; ++i)
        hash = (hash ^ (unsigned char)boot[i]) * 16777619u;
    return hash;
}

bool slri_system_process_has_ended(long id)
{
    return id > 0 && kill((pid_t)id, 0) != 0 && errno == ESRCH;
}

void slri_system_name_machine(char *out, size_t bytes)
{
    if (gethostname(out, bytes) != 0)
        out[0] = '\0';
    out[bytes - 1] = '\0';
}
