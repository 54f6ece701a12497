// SPDX-License-Identifier: Apache-2.0
// For tests of the built program in a shell: SLIPRING_TOOL names it.
#ifndef SHELL_H
#define SHELL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/slipring-cli-XXXXXX";

static inline void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// A folder of its own, and two workers.
static inline int shell_begin(void)
{
    if (getenv("SLIPRING_TOOL") == NULL || mkdtemp(folder) == NULL || chdir(folder) != 0)
        return -1;
    return setenv("SLIPRING_DEVICE", "cpu?threads=2", 1);
}

static inline int shell_end(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

// Runs a shell command in which $S is the program, and `await COMMAND` waits until that succeeds; what it prints on
// standard output, and its exit code.
static inline const char *shell(const char *command, int *code)
{
    static char out[1 << 16];
    char line[4096];
    snprintf(line, sizeof line,
             "S=\"$SLIPRING_TOOL\"; "
             "await() { for i in $(seq 6000); do eval \"$1\" && return; sleep 0.02; done; echo \"in vain: $1\"; }; %s",
             command);
    fflush(NULL);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    int status = pclose(pipe);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return out;
}

// The command ends with that code and prints exactly that.
static inline void gives(const char *command, int code, const char *out)
{
    int got;
    const char *text = shell(command, &got);
    if (got != code || strcmp(text, out) != 0)
        fail_msg("%s\nexit code %d, wanted %d; printed:\n%s\nwanted:\n%s", command, got, code, text, out);
}

// The command ends with that code, and what it prints holds that.
static inline void says(const char *command, int code, const char *part)
{
    int got;
    const char *text = shell(command, &got);
    if (got != code || strstr(text, part) == NULL)
        fail_msg("%s\nexit code %d, wanted %d; printed:\n%s\nwanted in it:\n%s", command, got, code, text, part);
}

#endif
