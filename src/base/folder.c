// SPDX-License-Identifier: Apache-2.0
// Folders whose files are run, and the way there.
#define _GNU_SOURCE
#include "base/folder.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct slri_folder {
    int fd;
    char *path;
};

// ---- the way there -------------------------------------------------------------------------------------------------

enum { MOST_LINKS = 40 }; // as Linux

// On the way: what has been walked, which holds no link, and what is still to come.
struct walk {
    char at[PATH_MAX], rest[PATH_MAX];
    int links;
};

static bool is_of_user(const struct stat *about)
{
    return about->st_uid == geteuid();
}

// A group of the user's own (Debian, Fedora: its number is the user's) has no other member.
static bool others_may_write(const struct stat *about, bool own_group_counts)
{
    bool own_group = own_group_counts && about->st_gid == about->st_uid && about->st_uid != 0;
    return (about->st_mode & S_IWOTH) != 0 || ((about->st_mode & S_IWGRP) != 0 && !own_group);
}

static slr_status check_on_the_way(const char *path, const struct stat *about)
{
    if (!is_of_user(about) && about->st_uid != 0)
        return SLRI_FAIL(SYSTEM, "%s belongs to another user, who could replace the folder", path);
    if (S_ISDIR(about->st_mode) && others_may_write(about, true) && (about->st_mode & S_ISVTX) == 0)
        return SLRI_FAIL(SYSTEM, "other users may rename files in %s: chmod go-w %s, or use another folder", path,
                         path);
    return SLR_OK;
}

static slr_status check_itself(const char *path, const struct stat *about, bool to_write)
{
    if (!is_of_user(about))
        return SLRI_FAIL(SYSTEM, "the folder %s belongs to another user", path);
    if (about->st_mode & S_IWOTH)
        return SLRI_FAIL(SYSTEM, "every user can write to the folder %s: chmod go-w %s", path, path);
    if (about->st_mode & S_IWGRP)
        return SLRI_FAIL(SYSTEM, "the group can write to the folder %s: chmod go-w %s", path, path);
    // By the effective user, who writes: access() would ask for the real one of a set-user-id program.
    return !to_write || faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0
               ? SLR_OK
               : SLRI_FAIL(SYSTEM, "the folder %s is not writable", path);
}

static slr_status too_long(const char *path)
{
    return SLRI_FAIL(SYSTEM, "the path %.60s... is too long", path);
}

// `rest` becomes "first/rest".
static slr_status put_before_rest(struct walk *walk, const char *first)
{
    size_t length = strlen(first), rest = strlen(walk->rest);
    if (length + 1 + rest >= sizeof walk->rest)
        return too_long(first);
    memmove(walk->rest + length + 1, walk->rest, rest + 1);
    memcpy(walk->rest, first, length);
    walk->rest[length] = '/';
    return SLR_OK;
}

static slr_status follow(struct walk *walk, const char *link)
{
    char target[PATH_MAX];
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length <= 0 || ++walk->links > MOST_LINKS)
        return SLRI_FAIL(SYSTEM, "the link %s is broken", link);
    target[length] = '\0';
    if (target[0] == '/')
        walk->at[0] = '\0';
    return put_before_rest(walk, target);
}

// Into `next`, a child of what has been walked, and made where it is missing.
static slr_status enter_folder(struct walk *walk, const char *next)
{
    struct stat about;
    if (mkdir(next, 0700) != 0 && errno != EEXIST && lstat(next, &about) != 0)
        return SLRI_FAIL(SYSTEM, "cannot make the folder %s: %s", next, strerror(errno));
    if (lstat(next, &about) != 0)
        return SLRI_FAIL(SYSTEM, "cannot inspect the folder %s: %s", next, strerror(errno));
    if (S_ISLNK(about.st_mode)) {
        SLRI_TRY(check_on_the_way(next, &about));
        return follow(walk, next);
    }
    if (!S_ISDIR(about.st_mode))
        return SLRI_FAIL(SYSTEM, "%s is a file, not a folder", next);
    if (walk->rest[strspn(walk->rest, "/")] != '\0')
        SLRI_TRY(check_on_the_way(next, &about));
    memcpy(walk->at, next, strlen(next) + 1);
    return SLR_OK;
}

// Takes the next name off `rest` and goes there.
static slr_status step(struct walk *walk)
{
    char next[2 * PATH_MAX];
    const char *name = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(name, "/"), at = strlen(walk->at);
    if (at + 1 + length >= PATH_MAX)
        return too_long(walk->at);
    memcpy(next, walk->at, at);
    next[at] = '/';
    memcpy(next + at + 1, name, length);
    next[at + 1 + length] = '\0';
    bool stays = length == 0 || (length == 1 && name[0] == '.'), rises = length == 2 && memcmp(name, "..", 2) == 0;
    memmove(walk->rest, name + length, strlen(name + length) + 1);
    if (rises && at)
        *strrchr(walk->at, '/') = '\0'; // it holds no link
    return stays || rises ? SLR_OK : enter_folder(walk, next);
}

static slr_status begin_walk(struct walk *walk, const char *path)
{
    struct stat root;
    *walk = (struct walk){0};
    if (strlen(path) >= sizeof walk->rest)
        return too_long(path);
    memcpy(walk->rest, path, strlen(path) + 1);
    if (stat("/", &root) != 0)
        return SLRI_FAIL(SYSTEM, "cannot inspect /: %s", strerror(errno));
    SLRI_TRY(check_on_the_way("/", &root));
    char here[PATH_MAX];
    if (path[0] == '/')
        return SLR_OK;
    if (!getcwd(here, sizeof here))
        return SLRI_FAIL(SYSTEM, "the working directory has no path: %s", strerror(errno));
    return put_before_rest(walk, here);
}

// Nobody else can change a step of it once it has been taken, so that it may be taken by names.
static slr_status walk_there(struct walk *walk, const char *path)
{
    SLRI_TRY(begin_walk(walk, path));
    while (*walk->rest)
        SLRI_TRY(step(walk));
    if (!*walk->at)
        return SLRI_FAIL(SYSTEM, "/ cannot be used as the folder");
    return SLR_OK;
}

static slr_status open_walked(const char *path, bool to_write, slri_folder **out)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return SLRI_FAIL(SYSTEM, "the folder %s cannot be read: %s", path, strerror(errno));
    slr_status status = fstat(fd, &about) == 0 ? check_itself(path, &about, to_write)
                                               : SLRI_FAIL(SYSTEM, "the folder %s: %s", path, strerror(errno));
    slri_folder *folder = status == SLR_OK ? malloc(sizeof *folder) : NULL;
    char *copy = folder ? strdup(path) : NULL;
    if (copy) {
        *folder = (slri_folder){fd, copy};
        *out = folder;
        return SLR_OK;
    }
    free(folder);
    close(fd);
    return status != SLR_OK ? status : SLRI_FAIL(NO_MEMORY, "no memory to open %s", path);
}

slr_status slri_folder_open(const char *path, slri_folder **out)
{
    struct walk walk;
    SLRI_TRY(walk_there(&walk, path));
    return open_walked(walk.at, true, out);
}

slr_status slri_folder_open_to_read(const char *path, slri_folder **out)
{
    struct walk walk;
    SLRI_TRY(walk_there(&walk, path));
    return open_walked(walk.at, false, out);
}

slr_status slri_folder_open_private(slri_folder **out)
{
    const char *named = slri_environment("TMPDIR"), *parent = named && *named ? named : "/tmp";
    struct walk walk;
    struct stat about;
    char *path;
    if (stat(parent, &about) != 0) // walking would make it
        return SLRI_FAIL(SYSTEM, "no folder for temporary files, %s: %s", parent, strerror(errno));
    SLRI_TRY(walk_there(&walk, parent));
    SLRI_TRY(check_on_the_way(walk.at, &about));
    SLRI_TRY(slri_file_temporary_name(walk.at, "", &path));
    slr_status status = mkdir(path, 0700) == 0
                            ? open_walked(path, true, out)
                            : SLRI_FAIL(SYSTEM, "cannot make the private folder %s: %s", path, strerror(errno));
    free(path);
    return status;
}

void slri_folder_close(slri_folder *folder)
{
    if (!folder)
        return;
    close(folder->fd);
    free(folder->path);
    free(folder);
}

const char *slri_folder_path(const slri_folder *folder)
{
    return folder->path;
}

// ---- files ---------------------------------------------------------------------------------------------------------

static slr_status refused(const slri_folder *folder, const char *what, const char *name)
{
    return slri_fail(errno == ENOENT ? SLR_NOT_FOUND : SLR_SYSTEM, "cannot %s %s/%s: %s", what, folder->path, name,
                     strerror(errno));
}

static bool is_ours(const struct stat *about)
{
    return S_ISREG(about->st_mode) && is_of_user(about) && !others_may_write(about, false);
}

static slr_status read_checked(const slri_folder *folder, const char *name, int fd, size_t limit_bytes, bool is_use,
                               char **content, size_t *bytes)
{
    const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    struct stat about;
    if (fstat(fd, &about) != 0)
        return refused(folder, "look at", name);
    if (!is_ours(&about))
        return SLRI_FAIL(NOT_FOUND, "%s/%s is not used: other users may have written it", folder->path, name);
    if (is_use)
        (void)futimens(fd, now); // else it only looks older than it is
    return slri_file_read_open(fd, name, limit_bytes, content, bytes);
}

slr_status slri_folder_read(const slri_folder *folder, const char *name, size_t limit_bytes, bool is_use,
                            char **content, size_t *bytes)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = openat(folder->fd, name, flags | O_NOATIME); // that is for a file's owner
    if (fd < 0 && errno == EPERM)
        fd = openat(folder->fd, name, flags);
    if (fd < 0 && errno == ELOOP)
        return SLRI_FAIL(NOT_FOUND, "%s/%s is not used: it is a link", folder->path, name);
    if (fd < 0)
        return refused(folder, "read", name);
    slr_status status = read_checked(folder, name, fd, limit_bytes, is_use, content, bytes);
    close(fd);
    return status;
}

static slr_status write_temporary(const slri_folder *folder, const char *temporary, const char *name,
                                  const void *content, size_t bytes)
{
    int fd = openat(folder->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return refused(folder, "create", temporary);
    slr_status status = slri_file_write_open(fd, name, content, bytes);
    if (close(fd) != 0 && status == SLR_OK) // a full quota on a network drive shows only here
        status = refused(folder, "write", name);
    return status;
}

slr_status slri_folder_write(const slri_folder *folder, const char *name, const void *content, size_t bytes)
{
    char *path;
    SLRI_TRY(slri_file_temporary_name(folder->path, "", &path));
    const char *temporary = strrchr(path, '/') + 1;
    slr_status status = write_temporary(folder, temporary, name, content, bytes);
    if (status == SLR_OK && renameat(folder->fd, temporary, folder->fd, name) != 0)
        status = refused(folder, "write", name);
    if (status != SLR_OK)
        (void)unlinkat(folder->fd, temporary, 0);
    free(path);
    return status;
}

slr_status slri_folder_delete(const slri_folder *folder, const char *name)
{
    return unlinkat(folder->fd, name, 0) == 0 || errno == ENOENT ? SLR_OK : refused(folder, "remove", name);
}

// ---- what is in it -------------------------------------------------------------------------------------------------

static uint64_t seconds_since(int64_t then_s)
{
    int64_t passed = (int64_t)time(NULL) - then_s;
    return passed > 0 ? (uint64_t)passed : 0;
}

static int64_t nanoseconds(struct timespec then)
{
    return (int64_t)then.tv_sec * 1000000000 + then.tv_nsec;
}

static void tell(const slri_folder *folder, const char *name, void (*visit)(void *user, const slri_folder_item *item),
                 void *user)
{
    struct stat about;
    if (fstatat(folder->fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode))
        return;
    const int64_t read_ns = nanoseconds(about.st_atim), written_ns = nanoseconds(about.st_mtim);
    const int64_t used_ns = read_ns > written_ns ? read_ns : written_ns;
    slri_folder_item item = {.name = name,
                             .bytes = (uint64_t)about.st_size,
                             .age_s = seconds_since(about.st_mtim.tv_sec),
                             .unused_s = seconds_since(used_ns / 1000000000),
                             .used_ns = used_ns,
                             .is_ours = is_ours(&about)};
    item.is_left_behind = slri_file_is_left_behind(name, item.age_s);
    visit(user, &item);
}

slr_status slri_folder_list(const slri_folder *folder, void (*visit)(void *user, const slri_folder_item *item),
                            void *user)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *open_folder = fd < 0 ? NULL : fdopendir(fd);
    if (!open_folder) {
        slr_status status = SLRI_FAIL(SYSTEM, "cannot list %s: %s", folder->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    for (const struct dirent *entry; (entry = readdir(open_folder));)
        tell(folder, entry->d_name, visit, user);
    closedir(open_folder);
    return SLR_OK;
}

static void delete_it(void *user, const slri_folder_item *item)
{
    (void)slri_folder_delete(user, item->name);
}

void slri_folder_discard(slri_folder *folder)
{
    if (!folder)
        return;
    (void)slri_folder_list(folder, delete_it, folder);
    (void)rmdir(folder->path);
    slri_folder_close(folder);
}

// ---- what processes share ------------------------------------------------------------------------------------------

enum { SHARED_BYTES = 4096, MOST_SUMS = 8 }; // the numbers are at its start, the locks on bytes behind it

static slr_status open_shared(const slri_folder *folder, const char *name, int *out)
{
    struct stat about;
    int fd = openat(folder->fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return refused(folder, "open", name);
    if (fstat(fd, &about) == 0 && is_ours(&about) &&
        (about.st_size >= SHARED_BYTES || ftruncate(fd, SHARED_BYTES) == 0)) { // which keeps what is there
        *out = fd;
        return SLR_OK;
    }
    close(fd);
    return SLRI_FAIL(SYSTEM, "%s/%s is not used: other users may have written it, or there is no space", folder->path,
                     name);
}

slr_status slri_folder_add(const slri_folder *folder, const char *name, const uint64_t *add, uint32_t count)
{
    int fd;
    SLRI_TRY(open_shared(folder, name, &fd));
    uint64_t *sum = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    slr_status status = sum != MAP_FAILED && count <= MOST_SUMS ? SLR_OK : refused(folder, "map", name);
    close(fd);
    for (uint32_t i = 0; status == SLR_OK && i < count; i++)
        if (add[i])
            __atomic_fetch_add(&sum[i], add[i], __ATOMIC_RELAXED); // a count: nothing else is read on its strength
    if (sum != MAP_FAILED)
        munmap(sum, SHARED_BYTES);
    return status;
}

slr_status slri_folder_sums(const slri_folder *folder, const char *name, uint64_t *out, uint32_t count)
{
    memset(out, 0, count * sizeof *out);
    int fd = openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? SLR_OK : refused(folder, "read", name);
    ssize_t got = pread(fd, out, count * sizeof *out, 0);
    close(fd);
    return got >= 0 ? SLR_OK : refused(folder, "read", name);
}

static struct flock lock_of(uint32_t number, short type)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = SHARED_BYTES + (off_t)(number & 0x7fffffff), .l_len = 1};
}

// A lock is the open file's, not the process's (Linux: F_OFD_SETLK), so that it holds against other threads too. Linux
// cannot wait for one until a deadline: a waiter looks again, soon at first.
slr_status slri_folder_lock(const slri_folder *folder, const char *name, uint32_t number, uint64_t deadline_ns,
                            const uint32_t *cancel, int *lock)
{
    int fd;
    slr_status status = SLR_OK;
    struct flock wanted = lock_of(number, F_WRLCK);
    SLRI_TRY(open_shared(folder, name, &fd));
    for (uint64_t nap_ns = 1000000; status == SLR_OK && fcntl(fd, F_OFD_SETLK, &wanted) != 0;) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            status = refused(folder, "lock", name);
        else if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) // nothing is read on its strength
            status = SLRI_FAIL(WRONG_STATE, "%s is no longer needed", name);
        else if (slri_passed(deadline_ns))
            status = SLRI_FAIL(TIMEOUT, "another process has locked %s/%s", folder->path, name);
        else
            slri_sleep_ns(nap_ns);
        nap_ns = nap_ns < 16000000 ? 2 * nap_ns : nap_ns;
    }
    if (status != SLR_OK) {
        close(fd);
        return status;
    }
    *lock = fd;
    return SLR_OK;
}

// Told to the kernel, not left to close(): a child of the application's that was forked meanwhile has the file open,
// too.
void slri_folder_unlock(int lock, uint32_t number)
{
    struct flock given = lock_of(number, F_UNLCK);
    (void)fcntl(lock, F_OFD_SETLK, &given);
    close(lock);
}
