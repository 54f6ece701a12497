// SPDX-License-Identifier: Apache-2.0
// The command line: finds the verb. Everything else is the verb's.
#include "output.h"
#include "say.h"
#include "verbs.h"

#include <slipring/api.h>
#include <slipring/trace.h>

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const struct verb {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv);
    bool has_programs_trace; // --trace is for the program that it runs
} verbs[] = {
    {"doctor", "what can run here, and why not", verb_doctor, false},
    {"devices", "the devices that open here", verb_devices, false},
#if SLIPRING_HAS_JANSSON // they read JSON
    {"run", "stream records (CSV, NDJSON, raw) through a message handler", verb_run, false},
    {"kernel", "list and run the kernels of a CUDA C file", verb_kernel, false},
    {"cache", "compiled kernels on disk: list, check, compile ahead, remove", verb_cache, false},
    {"demo", "a heart monitor: a ward of patients on one ring kernel", verb_demo, false},
    {"profile", "run a program and say where its time goes", verb_profile, true},
    {"trace", "what is in a trace", verb_trace, false},
#endif
    {"bench", "ring kernels beside the physical limit, the plain call and other libraries", verb_bench, false},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static int help(void)
{
    puts("Usage: slipring VERB [OPTION]...\n"
         "Message handlers, written in the C subset of CUDA C, that stay on the device.\n");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-10s %s\n", verbs[i].name, verbs[i].help);
#if !SLIPRING_HAS_JANSSON
    puts("\nThis one was built without jansson, which run, kernel, cache, demo, profile and trace need.");
#endif
    puts("\n'slipring VERB --help' says what a verb does and takes. With --json a verb prints one object;\n"
         "with --trace FILE it writes a trace that Perfetto loads ('slipring trace print' sums it up).\n\n"
         "Exit codes:\n"
         "    0  done\n"
         "    1  the work failed: a source that does not compile, a bad row, a device that was lost\n"
         "    2  the command line is wrong\n"
         "    3  the device cannot run that here\n"
         "  130  interrupted by SIGINT; 143 by SIGTERM, or 0 where all that was read was handled");
    return EXIT_DONE;
}

// ---- --trace -------------------------------------------------------------------------------------------------------

// Takes --trace FILE, or --trace=FILE, out of a verb's arguments; NULL: it is not there. What is behind "--" is not
// ours.
static char *take_trace(int *argc, char **argv)
{
    static const char option[] = "--trace";
    const size_t length = sizeof option - 1;
    for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], option, length) != 0 || (argv[i][length] != '=' && argv[i][length] != '\0'))
            continue;
        bool apart = argv[i][length] == '\0';
        char *path = !apart ? argv[i] + length + 1 : i + 1 < *argc ? argv[i + 1] : "";
        int taken = apart && i + 1 < *argc ? 2 : 1;
        memmove(&argv[i], &argv[i + taken], (size_t)(*argc - i - taken + 1) * sizeof *argv);
        *argc -= taken;
        return path;
    }
    return NULL;
}

// A trace that is written over what the verb reads would destroy it. True where an argument, or what follows its '=',
// is that file.
static bool is_argument(const char *path, int argc, char **argv)
{
    bool found = false;
    for (int i = 1; i < argc && !found; i++) {
        const char *value = strchr(argv[i], '=');
        found = output_same_file(path, argv[i]) || (value != NULL && output_same_file(path, value + 1));
    }
    return found;
}

static int end_trace(const char *path, int code)
{
    slr_trace_stats stats;
    slr_status status = slr_trace_stop(&stats);
    if (status != SLR_OK) {
        int failed = say_failure(status, "--trace");
        return code == EXIT_DONE ? failed : code;
    }
    if (stats.dropped != 0)
        say("%llu events of %llu found no room in the trace '%s'", (unsigned long long)stats.dropped,
            (unsigned long long)(stats.events + stats.dropped), path);
    return code;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    char *path = verb->has_programs_trace ? NULL : take_trace(&argc, argv);
    if (path == NULL)
        return verb->run(argc, argv);
    if (*path == '\0')
        return say_usage("'--trace' needs a value");
    if (is_argument(path, argc, argv))
        return say_usage("--trace '%s' is also an argument of '%s', which would be overwritten", path, verb->name);
    slr_status status = slr_trace_start(path, NULL);
    if (status != SLR_OK)
        return say_failure(status, "--trace");
    return end_trace(path, verb->run(argc, argv));
}

// What was printed may lie in stdio's buffer still, and a full disk is a failure. A reader that has gone is none: `run`
// says so, and where SIGPIPE is not ignored nobody comes here.
static int end_output(int code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    failed |= fflush(stdout) != 0;
    int error = errno;
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (!failed || code != EXIT_DONE || (poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0))
        return code;
    say("cannot write standard output%s%s", error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
    return EXIT_FAILED;
}

static int find_verb(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(name, verbs[i].name) == 0) {
            say_as(name);
            return run(&verbs[i], argc - 1, argv + 1);
        }
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help();
    if (strcmp(name, "--version") == 0) {
        say_version();
        return EXIT_DONE;
    }
    const char *built = SLIPRING_HAS_JANSSON ? "" : " (this slipring was built without jansson)";
    return *name ? say_usage("no verb '%s'%s", name, built) : say_usage("a verb is missing");
}

int main(int argc, char **argv)
{
    if (getauxval(AT_SECURE) != 0) { // it compiles, loads and writes whatever its caller says
        say("this program must not be set-user-id, set-group-id or have capabilities: see SECURITY.md");
        return EXIT_FAILED;
    }
    return end_output(find_verb(argc, argv));
}
