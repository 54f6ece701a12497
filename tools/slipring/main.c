// SPDX-License-Identifier: Apache-2.0
// The command line: finds the verb. Everything else is the verb's.
#include "output.h"
#include "say.h"
#include "system.h"
#include "verbs.h"

#include <slipring/api.h>
#include <slipring/trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct verb {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv);
    bool has_programs_trace; // --trace is for the program that it runs
    bool has_verbs;          // of its own
} verbs[] = {
    {"doctor", "what works on this machine, and why the rest does not", verb_doctor, false, false},
    {"devices", "list the devices that work here", verb_devices, false, false},
#if SLIPRING_HAS_JANSSON // they read JSON
    {"run", "send records (CSV, NDJSON, raw) through a message handler", verb_run, false, false},
    {"kernel", "check, list, translate, explain and run kernels of CUDA C", verb_kernel, false, true},
    {"build", "compile handlers and kernels for a web page", verb_build, false, false},
    {"cache", "compiled kernels on disk: list, verify, compile ahead, remove", verb_cache, false, true},
    {"cluster", "share a job between devices of this machine, or machines", verb_cluster, false, true},
    {"decide", "whether work is better done on a GPU or on a CPU, and why", verb_decide, false, false},
    {"demo", "a heart monitor: many patients on one ring kernel", verb_demo, false, true},
    {"ops", "operations of networks: list them, time their algorithms", verb_ops, false, true},
    {"profile", "run a program and show where its time goes", verb_profile, true, false},
    {"serve", "handle messages together with other machines, over NATS", verb_serve, false, false},
    {"state", "show and check a folder of 'run --state'", verb_state, false, true},
    {"trace", "summarise a trace", verb_trace, false, true},
    {"tune", "find and keep the fastest launch of a kernel, by measurement", verb_tune, false, false},
#endif
    {"bench", "measure ring kernels against hardware limits and plain calls", verb_bench, false, true},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

#if !SLIPRING_HAS_JANSSON
static const char *const absent[] = {"run", "kernel",  "build", "cache", "cluster", "decide", "demo",
                                     "ops", "profile", "serve", "state", "trace",   "tune"};
enum { ABSENT = sizeof absent / sizeof *absent };
#endif

static const char exit_codes[] = "Exit codes:\n"
                                 "    0  success\n"
                                 "    1  the work failed: a source does not compile, a row is bad, a device was\n"
                                 "       lost, a file cannot be written; 'kernel check': it found errors;\n"
                                 "       'cache verify': an entry is damaged; '--replay': a reply differs;\n"
                                 "       'bench compare': a row has regressed\n"
                                 "    2  the command line is wrong: an unknown verb, option, value, device,\n"
                                 "       kernel or handler, or an output that is also an input\n"
                                 "    3  the device is missing or cannot run this\n"
                                 "    4  'bench compare': the comparison is incomplete, and no row has regressed\n"
                                 "  130  interrupted by SIGINT\n"
                                 "  143  interrupted by SIGTERM; 0 if all rows read were handled\n";

static int help(void)
{
    puts("Usage: slipring VERB [OPTION]...\n"
         "Runs persistent message handlers (ring kernels), written in the C subset of\nCUDA C, on a device.\n");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-10s %s\n", verbs[i].name, verbs[i].help);
    puts("  help       describe a verb and its options: help VERB; help exit-codes\n"
         "  version    the versions of this command and of its library");
#if !SLIPRING_HAS_JANSSON
    fputs("\nThis slipring was built without jansson, which these verbs need:\n ", stdout);
    for (size_t i = 0; i < ABSENT; i++)
        printf(" %s", absent[i]);
    puts("");
#endif
    puts("\nExample:\n"
         "  slipring doctor\n"
         "\nWith --json a verb prints one JSON object. With --trace FILE it writes a trace\n"
         "for Perfetto; 'slipring trace print FILE' summarises the trace.\n");
    fputs(exit_codes, stdout);
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
        say("--trace '%s': %s", path, slr_error_message());
        return code == EXIT_DONE ? EXIT_FAILED : code;
    }
    if (stats.dropped != 0)
        say("%llu events of %llu were lost for lack of room in the trace '%s'", (unsigned long long)stats.dropped,
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
    const int error = output_flush(stdout);
    if (error == 0 || system_reader_has_gone())
        return code;
    say("cannot write standard output: %s", strerror(error));
    return code == EXIT_DONE ? EXIT_FAILED : code;
}

static int version(int argc, char **argv)
{
    const bool wants_help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (argc > 1 && !wants_help)
        return say_usage("%s takes no arguments, such as '%s'; 'doctor --json' has the versions, too", argv[0],
                         argv[1]);
    if (wants_help)
        puts("Usage: slipring version\nPrints the versions of this command and of its library.");
    else
        say_version();
    return EXIT_DONE;
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(name, verbs[i].name) == 0)
            return &verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
#if !SLIPRING_HAS_JANSSON
    for (size_t i = 0; i < ABSENT; i++)
        if (strcmp(name, absent[i]) == 0)
            return say_usage("no verb '%s' (this slipring was built without jansson)", name);
#endif
    return say_unknown("verb", name, &verbs[0].name, sizeof *verbs, VERBS);
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
    say_as(verb->name);
    return run(verb, argc, argv);
}

// "help VERB SUBVERB" is "VERB SUBVERB --help".
static int help_of(int argc, char **argv)
{
    enum { MOST = 8 };
    char *words[MOST + 2] = {0}, option[] = "--help";
    if (argc == 1)
        return help();
    const struct verb *verb = find_verb(argv[1]);
    const int known = verb != NULL && verb->has_verbs ? 3 : 2;
    if (argc > known)
        return say_usage("help: unexpected argument '%s'", argv[known]);
    if (strcmp(argv[1], "exit-codes") == 0) {
        fputs(exit_codes, stdout);
        return EXIT_DONE;
    }
    if (verb == NULL && strcmp(argv[1], "version") == 0)
        return version(2, (char *[]){argv[1], option, NULL});
    if (verb == NULL)
        return unknown_verb(argv[1]);
    int count = argc - 1 < MOST ? argc - 1 : MOST;
    memcpy(words, argv + 1, (size_t)count * sizeof *words);
    words[count] = option;
    return run_verb(verb, count + 1, words);
}

static int dispatch(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const struct verb *verb = find_verb(name);
    if (verb != NULL)
        return run_verb(verb, argc - 1, argv + 1);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help();
    if (strcmp(name, "help") == 0)
        return help_of(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0)
        return version(argc - 1, argv + 1);
    return unknown_verb(name);
}

int main(int argc, char **argv)
{
    system_begin();
    if (system_gives_more_rights()) { // it compiles, loads and writes whatever its caller says
        say("this program must not be set-user-id, set-group-id or have capabilities: see SECURITY.md");
        return EXIT_FAILED;
    }
    return end_output(dispatch(argc, argv));
}
