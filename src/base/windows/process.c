// SPDX-License-Identifier: Apache-2.0
// Running a program without a shell. It is in a job of its own, so that a compiler driver past its deadline is ended
// together with the compiler proper.
#define WIN32_LEAN_AND_MEAN
#include "base/process.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/sim.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/windows/command_line.h"
#include "base/windows/error.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

// ---- finding a program ----------------------------------------------------------------------------------------------

// As it is, or with the ending of programs.
static bool find_program(slri_text *candidate)
{
    if (slri_file_identify(slri_text_view(candidate), NULL))
        return true;
    slri_text_puts(candidate, ".exe");
    return slri_file_identify(slri_text_view(candidate), NULL);
}

// The first `PATH element/name` that is there, left in `candidate`. The working directory is none of them.
static bool search_path(const char *name, slri_text *candidate)
{
    const char *path = slri_environment("PATH");
    for (const char *element = path ? path : ""; *element;) {
        size_t length = strcspn(element, ";");
        slri_text_clear(candidate);
        slri_text_printf(candidate, "%.*s/%s", (int)length, element, name);
        if (candidate->out_of_memory || (length > 0 && find_program(candidate)))
            return true;
        element += length + (element[length] == ';');
    }
    return false;
}

slr_status slri_process_find(const char *name, char **path)
{
    slri_text candidate = SLRI_TEXT_INIT;
    const bool is_path = strpbrk(name, "/\\") != NULL;
    slri_text_puts(&candidate, name);
    if (!*name || !(is_path ? find_program(&candidate) : search_path(name, &candidate))) {
        slri_text_free(&candidate);
        return SLRI_FAIL(NOT_FOUND, "no program %s%s", name, is_path ? "" : " on PATH");
    }
    char *taken = slri_text_take(&candidate);
    if (!taken)
        return SLRI_FAIL(NO_MEMORY, "no memory for the path of %s", name);
    *path = taken;
    return SLR_OK;
}

// ---- running it ----------------------------------------------------------------------------------------------------

struct running {
    HANDLE process, job, output;
};

// How long a program may run.
struct limit {
    uint64_t deadline_ns;
    const uint32_t *cancel; // or NULL
};

static bool is_cancelled(const struct limit *limit)
{
    return limit->cancel && __atomic_load_n(limit->cancel, __ATOMIC_RELAXED); // nothing is read on its strength
}

static bool is_over(const struct limit *limit)
{
    return is_cancelled(limit) || slri_passed(limit->deadline_ns);
}

// The list of the handles that the program gets, so that it has none of those that others open meanwhile.
static LPPROC_THREAD_ATTRIBUTE_LIST handles_to_pass(HANDLE *handles, DWORD count)
{
    SIZE_T bytes = 0;
    InitializeProcThreadAttributeList(NULL, 1, 0, &bytes);
    LPPROC_THREAD_ATTRIBUTE_LIST list = malloc(bytes);
    if (!list)
        return NULL;
    if (InitializeProcThreadAttributeList(list, 1, 0, &bytes) &&
        UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles, count * sizeof *handles, NULL,
                                  NULL))
        return list;
    free(list);
    return NULL;
}

static bool create(const char *program, char *line, HANDLE input, HANDLE output, struct running *out)
{
    HANDLE passed[] = {input, output};
    PROCESS_INFORMATION made;
    STARTUPINFOEXA how = {.StartupInfo = {.cb = sizeof how,
                                          .dwFlags = STARTF_USESTDHANDLES,
                                          .hStdInput = input,
                                          .hStdOutput = output,
                                          .hStdError = output},
                          .lpAttributeList = handles_to_pass(passed, 2)};
    if (!how.lpAttributeList) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    const DWORD flags = CREATE_SUSPENDED | CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT;
    const bool fine = CreateProcessA(program, line, NULL, NULL, TRUE, flags, NULL, NULL, &how.StartupInfo, &made);
    const DWORD why = GetLastError();
    DeleteProcThreadAttributeList(how.lpAttributeList);
    free(how.lpAttributeList);
    SetLastError(why);
    if (!fine)
        return false;
    out->process = made.hProcess;
    out->job = CreateJobObjectA(NULL, NULL);
    if (out->job)
        AssignProcessToJobObject(out->job, made.hProcess); // refused: then its children are not ended with it
    ResumeThread(made.hThread);
    CloseHandle(made.hThread);
    return true;
}

static void close_handle(HANDLE handle)
{
    if (handle && handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
}

// Starts the program; its output comes out of `out->output`.
static bool start(const char *program, const char *const argv[], struct running *out)
{
    SECURITY_ATTRIBUTES passed_on = {.nLength = sizeof passed_on, .bInheritHandle = TRUE};
    slri_text line = SLRI_TEXT_INIT;
    HANDLE read = NULL, write = NULL;
    for (uint32_t i = 0; argv[i]; ++i)
        slri_windows_argument(&line, argv[i]);
    HANDLE nothing =
        CreateFileA("NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &passed_on, OPEN_EXISTING, 0, NULL);
    bool fine = !line.out_of_memory && nothing != INVALID_HANDLE_VALUE && CreatePipe(&read, &write, &passed_on, 0) &&
                SetHandleInformation(read, HANDLE_FLAG_INHERIT, 0);
    fine = fine && create(program, line.data, nothing, write, out);
    const DWORD why = GetLastError();
    slri_text_free(&line);
    close_handle(nothing);
    close_handle(write); // the program's copy is the only one: it closes when that ends
    if (fine)
        out->output = read;
    else
        close_handle(read);
    SetLastError(why);
    return fine;
}

// What is to be read now; 0 at the end of the output, -1 where there is nothing yet.
static int bytes_there(HANDLE output, DWORD most)
{
    DWORD there = 0;
    if (!PeekNamedPipe(output, NULL, 0, NULL, &there, NULL))
        return 0;
    return there == 0 ? -1 : (int)(there < most ? there : most);
}

// Reads to the end of the output, keeping the first `most` bytes. False if its time is over first.
static bool collect(HANDLE output, const struct limit *limit, size_t most, slri_text *text, bool *truncated)
{
    char chunk[4096];
    uint64_t nap_ns = 1000000;
    for (;;) {
        DWORD got = 0;
        int there = bytes_there(output, sizeof chunk);
        if (there == 0)
            return true;
        if (there < 0) {
            if (is_over(limit))
                return false;
            slri_sleep_ns(nap_ns);
            nap_ns = nap_ns < 16000000 ? 2 * nap_ns : nap_ns;
            continue;
        }
        nap_ns = 1000000;
        if (!ReadFile(output, chunk, (DWORD)there, &got, NULL) || got == 0)
            return true;
        size_t room = most - text->length;
        *truncated |= got > room;
        slri_text_append(text, chunk, got < room ? got : room);
        if (is_over(limit))
            return false; // it writes without end
    }
}

// Waits for the program, which has closed its output and so is about to end. False if its time is over first.
static bool reap(HANDLE process, const struct limit *limit, int *exit_code)
{
    DWORD code = 0;
    while (WaitForSingleObject(process, 10) == WAIT_TIMEOUT)
        if (is_over(limit))
            return false;
    GetExitCodeProcess(process, &code);
    *exit_code = (int)code;
    return true;
}

static void end_all(const struct running *running)
{
    if (running->job)
        TerminateJobObject(running->job, 1);
    TerminateProcess(running->process, 1);
    WaitForSingleObject(running->process, INFINITE);
}

static slr_status finish(const struct running *running, const char *name, const struct limit *limit, size_t limit_bytes,
                         slri_process_result *out)
{
    slri_text output = SLRI_TEXT_INIT;
    slri_process_result result = {0};
    if (!collect(running->output, limit, limit_bytes, &output, &result.truncated) ||
        !reap(running->process, limit, &result.exit_code)) {
        end_all(running);
        slri_text_free(&output);
        if (is_cancelled(limit))
            return SLRI_FAIL(WRONG_STATE, "%s was killed: its result is no longer needed", name);
        return SLRI_FAIL(TIMEOUT, "%s did not end by its deadline and was killed", name);
    }
    result.output_bytes = output.length;
    result.output = slri_text_take(&output);
    if (!result.output)
        return SLRI_FAIL(NO_MEMORY, "no memory for the output of %s", name);
    *out = result;
    return SLR_OK;
}

static slr_status run(const char *const argv[], const struct limit *limit, size_t limit_bytes, slri_process_result *out)
{
    char *program, words[SLRI_WINDOWS_WORDS];
    struct running running = {0};
    SLRI_TRY(slri_process_find(argv[0], &program));
    slr_status status = start(program, argv, &running)
                            ? SLR_OK
                            : SLRI_FAIL(SYSTEM, "cannot run %s: %s", argv[0], slri_windows_words(words));
    free(program);
    if (status != SLR_OK)
        return status;
    status = finish(&running, argv[0], limit, limit_bytes, out);
    close_handle(running.output);
    close_handle(running.process);
    close_handle(running.job);
    return status;
}

slr_status slri_process_run_within(const char *const argv[], const slri_process_limit *limit, size_t limit_bytes,
                                   slri_process_result *out)
{
    const struct limit own = {slri_sim_leave(limit->deadline_ns), limit->cancel}; // a program takes real time
    slr_status status = run(argv, &own, limit_bytes, out);
    slri_sim_return();
    return status;
}
