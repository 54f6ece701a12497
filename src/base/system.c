// SPDX-License-Identifier: Apache-2.0
// Linux.
#define _GNU_SOURCE
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

uint64_t slri_system_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void slri_system_sleep_until(uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
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
    pthread_setname_np(pthread_self(), name);
}

uint32_t slri_system_thread_id(void)
{
    return (uint32_t)gettid();
}

unsigned slri_system_cores(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return (unsigned)CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN); // more cores than cpu_set_t holds
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
    return getrandom(out, bytes, GRND_NONBLOCK) == (ssize_t)bytes;
}

bool slri_system_gives_more_rights(void)
{
    return getauxval(AT_SECURE) != 0;
}

bool slri_system_environment_is_empty(void)
{
    return !environ || !*environ;
}

bool slri_system_set_variable(const char *name, const char *value)
{
    return setenv(name, value, 0) == 0;
}

int slri_system_sync(int fd)
{
    return fdatasync(fd);
}

int slri_system_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC);
}

// ---- processes -----------------------------------------------------------------------------------------------------

static uint32_t here;
static pthread_once_t here_once = PTHREAD_ONCE_INIT;

static void find_here(void)
{
    char boot[64] = "", space[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, boot, sizeof boot);
    ssize_t named = readlink("/proc/self/ns/pid", space, sizeof space);
    if (fd >= 0)
        close(fd);
    if (got <= 0 || named <= 0)
        return;
    uint32_t hash = 2166136261u; // FNV-1a
    for (ssize_t i = 0; i < got + named; ++i)
        hash = (hash ^ (unsigned char)(i < got ? boot[i] : space[i - got])) * 16777619u;
    here = hash;
}

uint32_t slri_system_place(void)
{
    pthread_once(&here_once, find_here);
    return here;
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
