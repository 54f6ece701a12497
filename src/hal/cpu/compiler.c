// SPDX-License-Identifier: Apache-2.0
#include "hal/cpu/compiler.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/forks.h"
#include "base/process.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

#define COMPILE_LIMIT_S 300u // a large kernel takes a minute where 20 programs share two cores
#define SHORT_LIMIT_S 10u    // of what takes some 30 ms: a version, a trial
#define LONGEST_S 1200u      // while it works, or waits for a core
#define SECOND_NS UINT64_C(1000000000)
#define OUTPUT_LIMIT_BYTES 16384
#define VERSION_LIMIT_CHARACTERS 160

// A flag or a group of flags a line.
// clang-format off
const char *const slri_cpu_flags[] = {
    "-std=c17",
    "-O2",
    "-ftree-vectorize", // a quarter of -O3's compile time, as fast on what memory bounds; gcc's -O2 alone is timid
    "-march=native",    // it runs where it was compiled: the cache's key holds the CPU
#if defined(_WIN32)
    "-static-libgcc", // what of it is called must not be another file
#else
    "-fPIC",
#endif
    "-shared",
    "-fwrapv",              // the IR's integers wrap
    "-fno-strict-aliasing", // and its memory is bytes, with atomics among them
    "-ffp-contract=off",    // each operation is rounded, as the interpreter does
    "-fno-math-errno",      // a square root is one instruction; nothing reads errno
    "-fno-trapping-math", // nor the floating-point exception flags: loops with selects vectorise; results stay the same
#if defined(__x86_64__)
    "-mno-red-zone", // gcc 12 puts locals there that it has not aligned, and clears them by instructions that want it
#endif
    "-g1", // lines, for who asks where time goes: no other code, 3 KiB more
    "-w",                 // its warnings are about our text: what a user can change was checked before
    NULL,
};
// clang-format on

// ---- which one -----------------------------------------------------------------------------------------------------

// Compilers seen so far. Asking one for its version takes milliseconds, and handlers are compiled while others wait.
struct known {
    struct slri_cpu_compiler compiler;
    slri_file_identity file;
    struct known *next;
};
static struct known *known; // never freed: callers hold what points into it
static slri_mutex known_lock = SLRI_MUTEX_INIT;
SLRI_RENEW_IN_CHILD(renew_known_lock, &known_lock, NULL)

static slr_status find_path(char **path)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    const char *wish = slri_environment("SLIPRING_CC");
    if (wish && *wish) {
        slr_status status = slri_process_find(wish, path);
        return status == SLR_NOT_FOUND
                   ? SLRI_FAIL(NOT_FOUND, "SLIPRING_CC names %s, which is not a program on this machine", wish)
                   : status;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        slr_status status = slri_process_find(names[i], path);
        if (status != SLR_NOT_FOUND)
            return status;
    }
    return SLRI_FAIL(NOT_FOUND, "no C compiler: neither cc, gcc nor clang is on PATH, and SLIPRING_CC is not set");
}

// The first line of its answer, or NULL where there is none that could be a version.
static char *first_line(const slri_process_result *answer)
{
    size_t length = 0;
    while (answer->output[length] >= ' ' && answer->output[length] < 127 && length < VERSION_LIMIT_CHARACTERS)
        length++;
    if (answer->exit_code != 0 || length == 0)
        return NULL;
    slri_text line = SLRI_TEXT_INIT;
    slri_text_append(&line, answer->output, length);
    return slri_text_take(&line);
}

// A compiler that rests for so long hangs, and so does one that computes for so long. One that has no core yet does
// not, however many programs share the machine.
static slri_process_limit limit_of(uint32_t limit_s, const uint32_t *cancel)
{
    return (slri_process_limit){.deadline_ns = slri_deadline_after(limit_s * SECOND_NS),
                                .cancel = cancel,
                                .more_ns = (LONGEST_S - limit_s) * SECOND_NS,
                                .cpu_ns = limit_s * SECOND_NS};
}

static slr_status ask_version(const char *path, char **version)
{
    const char *const argv[] = {path, "--version", NULL};
    const slri_process_limit limit = limit_of(SHORT_LIMIT_S, NULL);
    slri_process_result answer;
    SLRI_TRY(slri_process_run_within(argv, &limit, OUTPUT_LIMIT_BYTES, &answer));
    *version = first_line(&answer);
    int exit_code = answer.exit_code;
    free(answer.output);
    return *version ? SLR_OK
                    : SLRI_FAIL(UNSUPPORTED,
                                "%s is not a C compiler: `%s --version` exits with %d and prints nothing useful", path,
                                path, exit_code);
}

static struct known *look_up(const char *path, const slri_file_identity *file)
{
    for (struct known *entry = known; entry; entry = entry->next)
        if (!strcmp(entry->compiler.path, path) && entry->file.bytes == file->bytes &&
            entry->file.mtime_ns == file->mtime_ns && entry->file.inode == file->inode)
            return entry;
    return NULL;
}

// Takes the path over.
static slr_status learn(char *path, const slri_file_identity *file, struct known **out)
{
    char *version = NULL;
    slri_text identity = SLRI_TEXT_INIT;
    slr_status status = ask_version(path, &version);
    if (status == SLR_OK) {
        slri_text_printf(&identity, "%s, %s, %llu bytes of %lld", path, version, (unsigned long long)file->bytes,
                         (long long)file->mtime_ns);
        struct known *entry = malloc(sizeof *entry);
        char *text = slri_text_take(&identity);
        if (entry && text) {
            *entry = (struct known){{path, version, text, false}, *file, known};
            *out = known = entry;
            return SLR_OK;
        }
        free(entry);
        free(text);
        status = SLRI_FAIL(NO_MEMORY, "no memory for the compiler's identity");
    }
    free(version);
    free(path);
    return status;
}

slr_status slri_cpu_find_compiler(struct slri_cpu_compiler *out)
{
    char *path;
    slri_file_identity file;
    SLRI_TRY(find_path(&path));
    if (!slri_file_identify(path, &file)) {
        slr_status status = SLRI_FAIL(NOT_FOUND, "%s is not a file", path);
        free(path);
        return status;
    }
    slri_mutex_lock(&known_lock);
    slr_status status = SLR_OK;
    struct known *entry = look_up(path, &file);
    if (entry)
        free(path);
    else
        status = learn(path, &file, &entry);
    slri_mutex_unlock(&known_lock);
    if (status == SLR_OK)
        *out = entry->compiler;
    return status;
}

// ---- running it ----------------------------------------------------------------------------------------------------

static slr_status judge(const struct slri_cpu_compiler *compiler, const slri_process_result *result, const char *output)
{
    const char *said = result->output_bytes ? result->output : "(no output)";
    const char *more = result->truncated ? "\n(and more)" : "";
    if (result->exit_code >= 128)
        return SLRI_FAIL(SYSTEM, "%s crashed (signal %d): %s%s", compiler->path, result->exit_code - 128, said, more);
    if (result->exit_code != 0)
        return SLRI_FAIL(COMPILE, "%s rejected the kernel's C (exit code %d): %s%s", compiler->path, result->exit_code,
                         said, more);
    slri_file_identity made;
    if (!slri_file_identify(output, &made) || made.bytes == 0)
        return SLRI_FAIL(SYSTEM, "%s reported success, but made no library: %s%s", compiler->path, said, more);
    return SLR_OK;
}

slr_status slri_cpu_run_compiler(const struct slri_cpu_compiler *compiler, const char *source, const char *output,
                                 const char *const *more, const uint32_t *cancel)
{
    enum { FLAGS = sizeof slri_cpu_flags / sizeof *slri_cpu_flags - 1, MORE = 8 };
    const char *argv[FLAGS + MORE + 5] = {compiler->path};
    memcpy(argv + 1, slri_cpu_flags, FLAGS * sizeof *argv);
    int count = FLAGS + 1;
    while (more && *more)
        argv[count++] = *more++;
    argv[count++] = "-o";
    argv[count++] = output;
    argv[count] = source;
    const uint32_t limit_s = compiler->tries ? SHORT_LIMIT_S : COMPILE_LIMIT_S;
    const slri_process_limit limit = limit_of(limit_s, cancel);
    slri_process_result result;
    slr_status status = slri_process_run_within(argv, &limit, OUTPUT_LIMIT_BYTES, &result);
    if (status == SLR_TIMEOUT)
        return SLRI_FAIL(TIMEOUT, "%s was killed: it did not finish in %u s", compiler->path, limit_s);
    SLRI_TRY(status);
    status = judge(compiler, &result, output);
    free(result.output);
    return status;
}

void slri_cpu_find_built(const struct slri_code_text *of, slri_dl **library)
{
    (void)of; // who has no compiler here has none of these either
    *library = NULL;
}
