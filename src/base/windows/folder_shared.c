// SPDX-License-Identifier: Apache-2.0
// What processes share in a folder: numbers that are added to, and locks.
#define WIN32_LEAN_AND_MEAN
#include "base/folder.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/windows/error.h"
#include "base/windows/handle.h"
#include "base/windows/rights.h"

#include <io.h>
#include <string.h>
#include <windows.h>

enum { SHARED_BYTES = 4096, MOST_SUMS = 8 }; // the numbers are at its start, the locks on bytes behind it

static slr_status open_shared(const slri_folder *folder, const char *name, int *out)
{
    slri_text path = SLRI_TEXT_INIT;
    slri_text_printf(&path, "%s/%s", slri_folder_path(folder), name);
    int fd = slri_windows_open(slri_text_view(&path), SLRI_WINDOWS_EITHER);
    slr_status status = fd < 0 ? slri_windows_refused("open", slri_text_view(&path)) : SLR_OK;
    if (status == SLR_OK && (slri_windows_owner(slri_text_view(&path), SLRI_WINDOWS_CHANGE) != SLRI_WINDOWS_OURS ||
                             (_filelengthi64(fd) < SHARED_BYTES && _chsize_s(fd, SHARED_BYTES) != 0))) {
        _close(fd);
        status = SLRI_FAIL(SYSTEM, "%s is not used: other users may have written it, or there is no space",
                           slri_text_view(&path));
    }
    slri_text_free(&path);
    *out = fd;
    return status;
}

slr_status slri_folder_add(const slri_folder *folder, const char *name, const uint64_t *add, uint32_t count)
{
    int fd;
    SLRI_TRY(open_shared(folder, name, &fd));
    HANDLE mapping = CreateFileMappingA(slri_windows_handle(fd), NULL, PAGE_READWRITE, 0, SHARED_BYTES, NULL);
    uint64_t *sum = mapping ? MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, SHARED_BYTES) : NULL;
    slr_status status = sum && count <= MOST_SUMS ? SLR_OK : slri_windows_refused("map", name);
    for (uint32_t i = 0; status == SLR_OK && i < count; i++)
        if (add[i])
            __atomic_fetch_add(&sum[i], add[i], __ATOMIC_RELAXED); // a count: nothing else is read on its strength
    if (sum)
        UnmapViewOfFile(sum);
    if (mapping)
        CloseHandle(mapping);
    _close(fd);
    return status;
}

slr_status slri_folder_sums(const slri_folder *folder, const char *name, uint64_t *out, uint32_t count)
{
    slri_text path = SLRI_TEXT_INIT;
    memset(out, 0, count * sizeof *out);
    slri_text_printf(&path, "%s/%s", slri_folder_path(folder), name);
    int fd = slri_windows_open(slri_text_view(&path), SLRI_WINDOWS_READ);
    slr_status status = fd >= 0 ? SLR_OK : slri_windows_refused("read", slri_text_view(&path));
    if (status == SLR_OK && _read(fd, out, (unsigned)(count * sizeof *out)) < 0)
        status = SLRI_FAIL(SYSTEM, "cannot read %s", slri_text_view(&path));
    if (fd >= 0)
        _close(fd);
    slri_text_free(&path);
    return status == SLR_NOT_FOUND ? SLR_OK : status;
}

static OVERLAPPED place_of(uint32_t number)
{
    return (OVERLAPPED){.Offset = SHARED_BYTES + (number & 0x7fffffff)};
}

// A lock is the open file's, so that it holds against other threads too. Windows cannot wait for one until a deadline:
// a waiter looks again, soon at first.
slr_status slri_folder_lock(const slri_folder *folder, const char *name, uint32_t number, uint64_t deadline_ns,
                            const uint32_t *cancel, int *lock)
{
    int fd;
    slr_status status = SLR_OK;
    OVERLAPPED place = place_of(number);
    SLRI_TRY(open_shared(folder, name, &fd));
    for (uint64_t nap_ns = 1000000;
         status == SLR_OK &&
         !LockFileEx(slri_windows_handle(fd), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place);) {
        if (GetLastError() != ERROR_LOCK_VIOLATION && GetLastError() != ERROR_IO_PENDING)
            status = slri_windows_refused("lock", name);
        else if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) // nothing is read on its strength
            status = SLRI_FAIL(WRONG_STATE, "%s is no longer needed", name);
        else if (slri_passed(deadline_ns))
            status = SLRI_FAIL(TIMEOUT, "another process has locked %s/%s", slri_folder_path(folder), name);
        else
            slri_sleep_ns(nap_ns);
        nap_ns = nap_ns < 16000000 ? 2 * nap_ns : nap_ns;
    }
    if (status != SLR_OK) {
        _close(fd);
        return status;
    }
    *lock = fd;
    return SLR_OK;
}

void slri_folder_unlock(int lock, uint32_t number)
{
    OVERLAPPED place = place_of(number);
    UnlockFileEx(slri_windows_handle(lock), 0, 1, 0, &place);
    _close(lock);
}
