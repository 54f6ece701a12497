// SPDX-License-Identifier: Apache-2.0
// Windows, by its own calls and the C library's. Names are in the program's code page.
#define WIN32_LEAN_AND_MEAN
#include "system.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <share.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

void system_begin(void)
{
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    _fmode = _O_BINARY;
}

bool system_gives_more_rights(void)
{
    return false; // Windows has no such programs
}

// The pipe of a reader that has gone takes nothing, not even 0 bytes.
bool system_reader_has_gone(void)
{
    HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD put = 0;
    return GetFileType(out) == FILE_TYPE_PIPE && !WriteFile(out, "", 0, &put, NULL) &&
           (GetLastError() == ERROR_NO_DATA || GetLastError() == ERROR_BROKEN_PIPE);
}

size_t system_columns(void)
{
    CONSOLE_SCREEN_BUFFER_INFO screen;
    return GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &screen)
               ? (size_t)(screen.srWindow.Right - screen.srWindow.Left + 1)
               : 0;
}

// ---- files ---------------------------------------------------------------------------------------------------------

int system_open_to_read(const char *path)
{
    return _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}

int system_open_to_write(const char *path, bool empty, bool is_new)
{
    return _open(path,
                 _O_WRONLY | _O_CREAT | _O_BINARY | _O_NOINHERIT | (empty ? _O_TRUNC : 0) | (is_new ? _O_EXCL : 0),
                 _S_IREAD | _S_IWRITE);
}

int system_sync(int file)
{
    return _commit(file);
}

static bool about_handle(HANDLE handle, BY_HANDLE_FILE_INFORMATION *out)
{
    return GetFileType(handle) == FILE_TYPE_DISK && GetFileInformationByHandle(handle, out) &&
           (out->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

uint64_t system_bytes_left(int file)
{
    BY_HANDLE_FILE_INFORMATION about;
    if (!about_handle((HANDLE)_get_osfhandle(file), &about))
        return 0;
    const int64_t at = _lseeki64(file, 0, SEEK_CUR);
    const int64_t bytes = (int64_t)((uint64_t)about.nFileSizeHigh << 32 | about.nFileSizeLow);
    return at >= 0 && at < bytes ? (uint64_t)(bytes - at) : 0;
}

static bool identity_of(HANDLE handle, system_file *out)
{
    BY_HANDLE_FILE_INFORMATION about;
    if (!about_handle(handle, &about))
        return false;
    *out = (system_file){about.dwVolumeSerialNumber, (uint64_t)about.nFileIndexHigh << 32 | about.nFileIndexLow};
    return true;
}

bool system_identify(int file, system_file *out)
{
    return identity_of((HANDLE)_get_osfhandle(file), out);
}

bool system_identify_path(const char *path, system_file *out)
{
    HANDLE handle = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                                FILE_ATTRIBUTE_NORMAL, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return false;
    const bool fine = identity_of(handle, out);
    CloseHandle(handle);
    return fine;
}

// ---- cores, memory, libraries --------------------------------------------------------------------------------------

unsigned system_cores(int *cores, unsigned most)
{
    DWORD_PTR mine = 0, all = 0;
    unsigned found = 0;
    GetProcessAffinityMask(GetCurrentProcess(), &mine, &all);
    for (int core = 0; core < 64 && found < most; core++)
        if (mine >> core & 1)
            cores[found++] = core;
    return found;
}

void system_unpin(const int *cores, unsigned count)
{
    DWORD_PTR mask = 0;
    for (unsigned i = 0; i < count; i++)
        mask |= (DWORD_PTR)1 << cores[i];
    SetThreadAffinityMask(GetCurrentThread(), mask);
}

void system_pin(int core)
{
    system_unpin(&core, 1);
}

void system_condition_init(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

// By the calendar's clock, which winpthreads waits by: set back meanwhile, it waits longer, and a signal still ends it.
void system_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns)
{
    struct timespec until;
    const uint64_t now_ns = clock_ns(), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    clock_gettime(CLOCK_REALTIME, &until);
    const uint64_t ns = (uint64_t)until.tv_nsec + left_ns;
    until.tv_sec += (time_t)(ns / SECOND_NS);
    until.tv_nsec = (long)(ns % SECOND_NS);
    pthread_cond_timedwait(condition, mutex, &until);
}

void *system_aligned(size_t alignment, size_t bytes)
{
    return _aligned_malloc(bytes, alignment);
}

void system_free(void *memory)
{
    _aligned_free(memory);
}

void *system_load(const char *path, const char *function, void **library, const char **why)
{
    static char words[200];
    void *symbol = NULL;
    HMODULE module = LoadLibraryA(path);
    FARPROC found = module ? GetProcAddress(module, function) : NULL;
    *library = module;
    if (!found)
        snprintf(words, sizeof words, "cannot load %s of %s (Windows' error %lu)", function, path, GetLastError());
    *why = found ? NULL : words;
    memcpy(&symbol, &found, sizeof symbol);
    return symbol;
}

void system_close(void *library)
{
    if (library != NULL)
        FreeLibrary(library);
}
