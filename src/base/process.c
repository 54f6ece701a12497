// SPDX-License-Identifier: Apache-2.0
// Running a program without a shell. The child leads a process group of its own, so that a compiler driver past its
// deadline is killed together with the compiler proper.
#define _GNU_SOURCE
#include "base/process.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/sim.h"
#include "base/file.h"
#include "base/status.h"
#include "base/system.h"
#include "base/text.h"
#include "base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The environment, as the manual page declares it.
extern char **environ;

// What a program gets where ours is a stranger's: compilers, too, are told by variables which programs to run.
#define SAFE_PATH "/usr/bin:/bin"
static char *safe_environment[] = {"PATH=" SAFE_PATH, "LC_ALL=C", NULL};

static bool executable(const char *path)
{
    return slri_file_identify(path, NULL) && access(path, X_OK) == 0;
}

// The first `PATH element/name` that can be executed, left in `candidate`.
static bool search_path(const char *name, slri_text *candidate)
{
    const char *path = slri_environment("PATH");
    for (const char *element = path ? path : SAFE_PATH; *element;) {
        size_t length = strcspn(element, ":");
        slri_text_clear(candidate);
        slri_text_printf(candidate, "%.*s/%s", length ? (int)length : 1, length ? element : ".", name);
        if (candidate->out_of_memory || executable(slri_text_view(candidate)))
            return true;
        element += length + (element[length] == ':');
    }
    return false;
}

slr_status slri_process_find(const char *name, char **path)
{
    slri_text candidate = SLRI_TEXT_INIT;
    bool found;
    if (strchr(name, '/')) {
        slri_text_puts(&candidate, name);
        found = executable(name);
    } else {
        found = *name && search_path(name, &candidate);
    }
    if (!found) {
        slri_text_free(&candidate);
        return SLRI_FAIL(NOT_FOUND, "no program %s%s", name, strchr(name, '/') ? "" : " on PATH");
    }
    char *taken = slri_text_take(&candidate);
    if (!taken)
        return SLRI_FAIL(NO_MEMORY, "no memory for the path of %s", name);
    *path = taken;
    return SLR_OK;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, restored;
    sigemptyset(&none); // the caller may be a thread that blocks every signal
    sigemptyset(&restored);
    sigaddset(&restored, SIGPIPE); // and may ignore these
    sigaddset(&restored, SIGXFSZ);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &restored);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int set_files(posix_spawn_file_actions_t *files, int output_fd)
{
    int error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(files, output_fd, STDOUT_FILENO);
    return error ? error : posix_spawn_file_actions_adddup2(files, output_fd, STDERR_FILENO);
}

// Starts the program with `output_fd` as its stdout and stderr. Returns 0 or an errno.
static int spawn(const char *program, const char *const argv[], int output_fd, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    int error = posix_spawnattr_init(&attributes);
    if (error)
        return error;
    error = posix_spawn_file_actions_init(&files);
    if (!error) {
        error = set_attributes(&attributes);
        if (!error)
            error = set_files(&files, output_fd);
        if (!error) // POSIX declares argv without const, and promises not to write to it
            error = posix_spawn(pid, program, &files, &attributes, (char *const *)(void *)argv,
                                slri_environment_is_trusted() ? environ : safe_environment);
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attributes);
    return error;
}

// ---- whether it works ----------------------------------------------------------------------------------------------

// Of a program's processes and their children that have ended.
struct work {
    uint64_t ticks; // of processor time
    bool runs;      // or waits for a core or a disk
};

#if defined(__linux__)
// A process's line: its number, its name in brackets, its state, its parent, its group ...
static bool read_process(const char *number, char *line, size_t room)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/stat", number);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, line, room - 1) : -1;
    if (fd >= 0)
        close(fd);
    line[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static bool add_process(const char *number, pid_t group, struct work *work)
{
    char line[1024], state;
    int of;
    unsigned long long own[2], children[2];
    const char *behind = read_process(number, line, sizeof line) ? strrchr(line, ')') : NULL;
    if (!behind ||
        sscanf(behind + 1, " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &state, &of, &own[0],
               &own[1], &children[0], &children[1]) != 6 ||
        of != group)
        return false;
    work->ticks += own[0] + own[1] + children[0] + children[1];
    work->runs |= state == 'R' || state == 'D';
    return true;
}

static bool look_at_work(pid_t group, struct work *work)
{
    bool found = false;
    DIR *processes = opendir("/proc");
    *work = (struct work){0};
    for (const struct dirent *each; processes && (each = readdir(processes)) != NULL;)
        if (each->d_name[0] >= '1' && each->d_name[0] <= '9')
            found |= add_process(each->d_name, group, work);
    if (processes)
        closedir(processes);
    return found;
}
#else
static bool look_at_work(pid_t group, struct work *work)
{
    (void)group, (void)work;
    return false;
}
#endif

// ---- how long ------------------------------------------------------------------------------------------------------

#define CANCEL_POLL_MS 20
#define LOOK_NS UINT64_C(1000000000) // between looks at what a program does behind its deadline

// How long a program may run.
struct limit {
    uint64_t deadline_ns, last_ns, cpu_ns;
    const uint32_t *cancel; // or NULL
    pid_t group;
    uint64_t ticks; // that it had used when it was last looked at
};

static bool still_works(struct limit *limit)
{
    struct work work;
    if (!look_at_work(limit->group, &work))
        return false;
    const bool works = work.runs || work.ticks != limit->ticks;
    limit->ticks = work.ticks;
    return works && work.ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) < limit->cpu_ns / 1000000;
}

static bool is_cancelled(const struct limit *limit)
{
    return limit->cancel && __atomic_load_n(limit->cancel, __ATOMIC_RELAXED); // nothing is read on its strength
}

static bool is_over(struct limit *limit)
{
    if (is_cancelled(limit))
        return true;
    if (!slri_passed(limit->deadline_ns))
        return false;
    if (slri_passed(limit->last_ns) || !still_works(limit))
        return true;
    limit->deadline_ns = slri_deadline_after(LOOK_NS);
    return false;
}

// Milliseconds for poll(), rounded up, so that it does not return just before the deadline; at most a second at a time.
static int poll_ms_until(const struct limit *limit)
{
    uint64_t deadline_ns = limit->deadline_ns;
    if (limit->cancel)
        return CANCEL_POLL_MS;
    if (deadline_ns == SLRI_FOREVER)
        return -1;
    uint64_t now = slri_now_ns();
    uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    return left < 1000000000u ? (int)(left / 1000000u) + 1 : 1000;
}

// Reads to the end of the output, keeping the first `most` bytes. False if its time is over first.
static bool collect(int fd, struct limit *limit, size_t most, slri_text *text, bool *truncated)
{
    char chunk[4096];
    for (;;) {
        struct pollfd waited = {.fd = fd, .events = POLLIN};
        int ready = poll(&waited, 1, poll_ms_until(limit));
        if (ready <= 0) {
            if (is_over(limit))
                return false;
            continue;
        }
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got == 0 || (got < 0 && errno != EINTR))
            return true;
        if (got < 0)
            continue;
        size_t room = most - text->length;
        *truncated |= (size_t)got > room;
        slri_text_append(text, chunk, (size_t)got < room ? (size_t)got : room);
        if (is_over(limit))
            return false; // it writes without end
    }
}

// Waits for the child, which has closed its output and so is about to end. False if its time is over first.
static bool reap(pid_t pid, struct limit *limit, int *exit_code)
{
    int how = 0;
    pid_t ended;
    uint64_t nap_ns = 20000;
    while ((ended = waitpid(pid, &how, WNOHANG)) == 0) {
        if (is_over(limit))
            return false;
        slri_sleep_ns(nap_ns);
        if (nap_ns < 1000000)
            nap_ns *= 2;
    }
    if (ended < 0) // the application ignores SIGCHLD, so that its children leave no exit code
        *exit_code = 0;
    else
        *exit_code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return true;
}

static void kill_group(pid_t pid)
{
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

// Starts the program; its output comes out of `*output_fd`.
static slr_status start(const char *const argv[], pid_t *pid, int *output_fd)
{
    char *program;
    int pipe_fds[2];
    SLRI_TRY(slri_process_find(argv[0], &program));
    int error = slri_system_pipe(pipe_fds) == 0 ? 0 : errno;
    if (!error) {
        error = spawn(program, argv, pipe_fds[1], pid);
        close(pipe_fds[1]); // the program's copies are the only ones: they close when it ends
        if (error)
            close(pipe_fds[0]);
    }
    free(program);
    if (error)
        return SLRI_FAIL(SYSTEM, "cannot run %s: %s", argv[0], strerror(error));
    *output_fd = pipe_fds[0];
    return SLR_OK;
}

static slr_status run(const char *const argv[], struct limit *limit, size_t limit_bytes, slri_process_result *out)
{
    pid_t pid;
    int output_fd;
    SLRI_TRY(start(argv, &pid, &output_fd));
    limit->group = pid;

    slri_text output = SLRI_TEXT_INIT;
    slri_process_result result = {0};
    bool ended =
        collect(output_fd, limit, limit_bytes, &output, &result.truncated) && reap(pid, limit, &result.exit_code);
    close(output_fd);
    if (!ended) {
        kill_group(pid);
        slri_text_free(&output);
        if (is_cancelled(limit))
            return SLRI_FAIL(WRONG_STATE, "%s was killed: its result is no longer needed", argv[0]);
        return SLRI_FAIL(TIMEOUT, "%s did not end by its deadline and was killed", argv[0]);
    }
    result.output_bytes = output.length;
    result.output = slri_text_take(&output);
    if (!result.output)
        return SLRI_FAIL(NO_MEMORY, "no memory for the output of %s", argv[0]);
    *out = result;
    return SLR_OK;
}

slr_status slri_process_run_within(const char *const argv[], const slri_process_limit *limit, size_t limit_bytes,
                                   slri_process_result *out)
{
    const uint64_t deadline_ns = slri_sim_leave(limit->deadline_ns); // a program takes real time
    struct limit own = {.deadline_ns = deadline_ns,
                        .last_ns = deadline_ns == SLRI_FOREVER ? deadline_ns : deadline_ns + limit->more_ns,
                        .cpu_ns = limit->cpu_ns,
                        .cancel = limit->cancel};
    slr_status status = run(argv, &own, limit_bytes, out);
    slri_sim_return();
    return status;
}
