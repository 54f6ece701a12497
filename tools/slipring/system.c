// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sched_setaffinity
#include "system.h"

#include "clock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

// A file that is opened must not get the number of a standard stream that the caller has closed. So each of those is a
// file that cannot be used in that direction: who reads or writes it is told EBADF, as without one.
void system_begin(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) == -1) // the lowest free number is this one
            (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

bool system_gives_more_rights(void)
{
    return getauxval(AT_SECURE) != 0;
}

bool system_reader_has_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

size_t system_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 0;
}

// ---- files ---------------------------------------------------------------------------------------------------------

int system_open_to_read(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

int system_open_to_write(const char *path, bool empty, bool is_new)
{
    return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (empty ? O_TRUNC : 0) | (is_new ? O_EXCL : 0), 0666);
}

int system_sync(int file)
{
    return fdatasync(file);
}

uint64_t system_bytes_left(int file)
{
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        return 0;
    off_t at = lseek(file, 0, SEEK_CUR);
    return at >= 0 && at < about.st_size ? (uint64_t)(about.st_size - at) : 0;
}

static bool identity_of(const struct stat *about, system_file *out)
{
    *out = (system_file){(uint64_t)about->st_dev, (uint64_t)about->st_ino};
    return S_ISREG(about->st_mode);
}

bool system_identify(int file, system_file *out)
{
    struct stat about;
    return fstat(file, &about) == 0 && identity_of(&about, out);
}

bool system_identify_path(const char *path, system_file *out)
{
    struct stat about;
    return stat(path, &about) == 0 && identity_of(&about, out);
}

// ---- cores, memory, libraries --------------------------------------------------------------------------------------

unsigned system_cores(int *cores, unsigned most)
{
    cpu_set_t all;
    unsigned found = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return 0;
    for (int core = 0; core < CPU_SETSIZE && found < most; core++)
        if (CPU_ISSET(core, &all))
            cores[found++] = core;
    return found;
}

void system_unpin(const int *cores, unsigned count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (unsigned i = 0; i < count; i++)
        CPU_SET(cores[i], &set);
    sched_setaffinity(0, sizeof set, &set);
}

void system_pin(int core)
{
    system_unpin(&core, 1);
}

void system_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void system_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / SECOND_NS), (long)(until_ns % SECOND_NS)};
    pthread_cond_timedwait(condition, mutex, &until);
}

void *system_aligned(size_t alignment, size_t bytes)
{
    return aligned_alloc(alignment, bytes);
}

void system_free(void *memory)
{
    free(memory);
}

void *system_load(const char *path, const char *function, void **library, const char **why)
{
    void *symbol = NULL;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*library != NULL)
        symbol = dlsym(*library, function);
    *why = symbol == NULL ? dlerror() : NULL;
    return symbol;
}

void system_close(void *library)
{
    if (library != NULL)
        dlclose(library);
}
