// SPDX-License-Identifier: Apache-2.0
// `slipring profile`: runs a program with the profiler and the trace on, by its environment, and says where its time
// went.
#define _GNU_SOURCE
#include "profile/profile.h"
#include "profile/sampling.h"

#include "clock.h"
#include "output.h"
#include "say.h"
#include "verbs.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] = "Usage: slipring profile [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
                           "Runs an unchanged program that uses slipring, and shows where its time goes:\n"
                           "load of streams, kernels and transfers; quantiles of each kernel's time, and\n"
                           "what limits it; the hottest source lines, by operations and by measured time;\n"
                           "memory; and advice with its evidence.\n"
                           "\n"
                           "  --html FILE    writes one self-contained page with all figures, and a timeline\n"
                           "  --trace FILE   writes the trace, for Perfetto (ui.perfetto.dev)\n"
                           "  --measure      measures the device's peak performance again and keeps the\n"
                           "                 better values: a busy machine gives values that are too low\n"
                           "  --gpu          prints only the device's part of the report, with the lines of\n"
                           "                 the program and the advice\n"
                           "  --memory       prints only the memory's part; both options may be given\n"
                           "  --json         prints one JSON object\n"
                           "  --output FILE  writes the report to FILE, in the format that --json chooses.\n"
                           "                 Without it, the report follows the program's own output\n"
                           "\n"
                           "Example:\n"
                           "  slipring profile --html profile.html -- ./program --its-option\n"
                           "  slipring profile --json --output report.json -- ./program\n"
                           "\n"
                           "The program's own output is not changed. On a new device, peak performance is\n"
                           "measured after the program has ended. If a program starts other programs, the\n"
                           "report shows the program with the most events. Exit code: 0, or 1 if the program\n"
                           "could not be run or opened no device. The report shows the program's own exit\n"
                           "code.\n";

typedef struct options {
    const char *html, *trace, *output;
    bool json, measure;
    unsigned parts; // of the text
    char **program;
} options;

typedef struct run {
    char folder[64];
    char *command;
    int exit_code;
    double wall_s;
    sampling sampling;
} run;

// ---- the program ---------------------------------------------------------------------------------------------------

static char *join(char **words)
{
    size_t bytes = 1;
    for (char **word = words; *word != NULL; word++)
        bytes += strlen(*word) + 1;
    char *all = calloc(bytes, 1);
    for (char **word = words; all != NULL && *word != NULL; word++) {
        strcat(all, *all != '\0' ? " " : "");
        strcat(all, *word);
    }
    return all;
}

static void set_path(const char *variable, const char *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    setenv(variable, path, 1);
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); // as a shell says it
}

// Waits until `gate` is closed at its other end.
static _Noreturn void become_program(const options *options, const run *run, const int gate[2])
{
    char none;
    close(gate[1]);
    while (read(gate[0], &none, 1) < 0 && errno == EINTR)
        continue;
    close(gate[0]);
    signal(SIGINT, SIG_DFL);
    set_path("SLIPRING_TRACE", run->folder, "%p.trace");
    set_path("SLIPRING_PROFILE", run->folder, "%p.rows");
    execvp(options->program[0], options->program);
    say("cannot run '%s': %s", options->program[0], strerror(errno));
    _exit(127);
}

// SIGINT is the program's: it ends, and what it left is reported.
static bool run_program(const options *options, run *run)
{
    int gate[2], status = 0;
    if (pipe(gate) != 0) {
        say("cannot run '%s': %s", options->program[0], strerror(errno));
        return false;
    }
    signal(SIGINT, SIG_IGN);
    pid_t child = fork();
    if (child == 0)
        become_program(options, run, gate);
    if (child > 0)
        sampling_begin(&run->sampling, child);
    uint64_t from = clock_ns();
    close(gate[0]);
    close(gate[1]);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        say("cannot run '%s': %s", options->program[0], strerror(errno));
        return false;
    }
    run->wall_s = (double)(clock_ns() - from) / 1e9;
    sampling_end(&run->sampling);
    signal(SIGINT, SIG_DFL);
    run->exit_code = code_of(status);
    return run->exit_code != 127;
}

// ---- what it left --------------------------------------------------------------------------------------------------

// The process with the largest trace; 0: none. `others`: how many more there are.
static long find_process(const char *folder, unsigned *others)
{
    long process = 0;
    off_t most = -1;
    unsigned found = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char path[512], *end;
        struct stat stat_of;
        long number = strtol(entry->d_name, &end, 10);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(end, ".trace") != 0 || stat(path, &stat_of) != 0)
            continue;
        found++;
        if (stat_of.st_size > most) {
            most = stat_of.st_size;
            process = number;
        }
    }
    if (directory != NULL)
        closedir(directory);
    *others = found != 0 ? found - 1 : 0;
    return process;
}

static void remove_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (directory != NULL)
        closedir(directory);
    rmdir(folder);
}

static bool copy_file(const char *from, const char *to)
{
    char piece[65536];
    size_t bytes;
    FILE *in = fopen(from, "r"), *out = in != NULL ? fopen(to, "w") : NULL;
    bool fine = out != NULL;
    while (fine && (bytes = fread(piece, 1, sizeof piece, in)) > 0)
        fine = fwrite(piece, 1, bytes, out) == bytes;
    if (out != NULL && fclose(out) != 0)
        fine = false;
    if (in != NULL)
        fclose(in);
    if (!fine)
        say("cannot write '%s': %s", to, strerror(errno));
    return fine;
}

// ---- the report ----------------------------------------------------------------------------------------------------

// From here on the tool's standard output is the file. The program has ended, so nothing else is written there.
static int redirect(const char *path)
{
    output output;
    int code = output_open(&output, "--output", path);
    if (code != EXIT_DONE)
        return code;
    code = output_begin(&output);
    fflush(stdout);
    if (code == EXIT_DONE && dup2(output.descriptor, STDOUT_FILENO) < 0) {
        say("--output: cannot write '%s': %s", path, strerror(errno));
        code = EXIT_FAILED;
    }
    int closed = output_close(&output);
    return code != EXIT_DONE ? code : closed;
}

static int report(const options *options, const run *run, const profile *profile)
{
    int code = options->output != NULL ? redirect(options->output) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    bool fine = true;
    json_t *object = options->json || options->html != NULL
                         ? profile_json(profile, run->command, run->exit_code, run->wall_s)
                         : NULL;
    if (options->json) {
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        putchar('\n');
    } else {
        profile_print(profile, run->command, run->exit_code, run->wall_s, options->parts);
    }
    if (options->html != NULL)
        fine = profile_write_page(options->html, object);
    json_decref(object);
    return fine ? EXIT_DONE : EXIT_FAILED;
}

static int report_process(const options *options, const run *run)
{
    unsigned others;
    char trace[128], rows[128];
    long process = find_process(run->folder, &others);
    if (process == 0) {
        say("'%s' opened no device of slipring (exit code %d)", options->program[0], run->exit_code);
        return EXIT_FAILED;
    }
    if (others != 0)
        say("%u more processes opened devices; this is process %ld, which has the most events", others, process);
    snprintf(trace, sizeof trace, "%s/%ld.trace", run->folder, process);
    snprintf(rows, sizeof rows, "%s/%ld.rows", run->folder, process);
    if (options->trace != NULL && !copy_file(trace, options->trace))
        return EXIT_FAILED;
    profile profile;
    if (!profile_read(rows, trace, options->measure, &profile))
        return EXIT_FAILED;
    timed_lines_make(&run->sampling, (uint32_t)process, &profile.timed);
    int code = report(options, run, &profile);
    profile_free(&profile);
    return code;
}

static int profile_program(const options *options)
{
    run run = {.command = join(options->program)};
    const char *tmp = getenv("TMPDIR");
    snprintf(run.folder, sizeof run.folder, "%s/slipring-profile-XXXXXX",
             tmp != NULL && strlen(tmp) < 32 ? tmp : "/tmp");
    if (run.command == NULL || mkdtemp(run.folder) == NULL) {
        say("cannot make a folder like '%s': %s", run.folder, strerror(errno));
        free(run.command);
        return EXIT_FAILED;
    }
    fflush(stdout);
    int code = run_program(options, &run) ? report_process(options, &run) : EXIT_FAILED;
    remove_folder(run.folder);
    sampling_free(&run.sampling);
    free(run.command);
    return code;
}

// ---- the command line ----------------------------------------------------------------------------------------------

// -1: go on; else the exit code.
static int parse(int argc, char **argv, options *out)
{
    static const struct option long_options[] = {{"html", required_argument, NULL, 'p'},
                                                 {"trace", required_argument, NULL, 't'},
                                                 {"output", required_argument, NULL, 'o'},
                                                 {"measure", no_argument, NULL, 'm'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"gpu", no_argument, NULL, 'g'},
                                                 {"memory", no_argument, NULL, 'y'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    *out = (options){0};
    int option;
    while ((option = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1) {
        switch (option) {
        case 'p':
            out->html = optarg;
            break;
        case 't':
            out->trace = optarg;
            break;
        case 'o':
            out->output = optarg;
            break;
        case 'm':
            out->measure = true;
            break;
        case 'j':
            out->json = true;
            break;
        case 'g':
            out->parts |= PROFILE_DEVICE;
            break;
        case 'y':
            out->parts |= PROFILE_MEMORY;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        default:
            return say_refused_option(option, argv);
        }
    }
    out->program = argv + optind;
    return optind < argc ? -1 : say_usage("a program is missing");
}

int verb_profile(int argc, char **argv)
{
    options options;
    int code = parse(argc, argv, &options);
    if (code >= 0)
        return code;
    code = options.html != NULL ? output_try("--html", options.html, NULL) : EXIT_DONE;
    if (code == EXIT_DONE && options.trace != NULL)
        code = output_try("--trace", options.trace, NULL);
    if (code == EXIT_DONE && options.output != NULL)
        code = output_try("--output", options.output, NULL);
    return code != EXIT_DONE ? code : profile_program(&options);
}
