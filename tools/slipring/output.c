// SPDX-License-Identifier: Apache-2.0
// Opens without truncation, so that nothing is lost to a command line or an input that turns out to be wrong.
#include "output.h"

#include "say.h"
#include "system.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const output *output, const char *what)
{
    say("%s: cannot %s '%s': %s", output->option, what, output->path != NULL ? output->path : "-", strerror(errno));
    return EXIT_FAILED;
}

int output_open(output *output, const char *option, const char *path)
{
    *output = (struct output){.option = option, .path = path, .descriptor = STDOUT_FILENO};
    if (path == NULL)
        return EXIT_DONE;
    output->descriptor = system_open_to_write(path, false, true);
    output->made = output->descriptor >= 0;
    if (!output->made && errno == EEXIST) // O_CREAT: a symbolic link to nothing
        output->descriptor = system_open_to_write(path, false, false);
    return output->descriptor >= 0 ? EXIT_DONE : refuse(output, "open");
}

static bool same(const system_file *a, const system_file *b)
{
    return a->device == b->device && a->number == b->number;
}

static int check(const output *output, const system_file *input, const char *said)
{
    system_file here;
    if (!system_identify(output->descriptor, &here) || !same(&here, input))
        return EXIT_DONE;
    return say_usage("%s%s%s%s is the same file as %s and would overwrite it", output->option,
                     output->path != NULL ? " '" : "", output->path != NULL ? output->path : "",
                     output->path != NULL ? "'" : "", said);
}

int output_refuse_path(const output *output, const char *input, const char *said)
{
    system_file there;
    return system_identify_path(input, &there) ? check(output, &there, said) : EXIT_DONE;
}

int output_refuse_descriptor(const output *output, int input, const char *said)
{
    system_file there;
    return system_identify(input, &there) ? check(output, &there, said) : EXIT_DONE;
}

int output_begin(output *output)
{
    system_file here;
    output->begun = true;
    if (output->path == NULL || !system_identify(output->descriptor, &here))
        return EXIT_DONE;
    return ftruncate(output->descriptor, 0) == 0 ? EXIT_DONE : refuse(output, "write");
}

int output_close(output *output)
{
    int end = EXIT_DONE;
    if (output->path == NULL || output->descriptor < 0)
        return end;
    if (close(output->descriptor) != 0 && errno != EINTR)
        end = refuse(output, "write");
    output->descriptor = -1;
    if (output->made && !output->begun)
        unlink(output->path);
    return end;
}

int output_try(const char *option, const char *path, const char *input)
{
    output output;
    struct stat about;
    if (stat(path, &about) == 0 && S_ISFIFO(about.st_mode)) // who reads there would take the closing for the end
        return EXIT_DONE;
    int end = output_open(&output, option, path);
    if (end != EXIT_DONE)
        return end;
    char said[160];
    snprintf(said, sizeof said, "the input '%s'", input != NULL ? input : "");
    end = input != NULL ? output_refuse_path(&output, input, said) : EXIT_DONE;
    int closed = output_close(&output);
    return end != EXIT_DONE ? end : closed;
}

bool output_same_file(const char *a, const char *b)
{
    system_file one, other;
    return system_identify_path(a, &one) && system_identify_path(b, &other) && same(&one, &other);
}

int output_flush(FILE *file)
{
    const bool had_failed = ferror(file) != 0;
    errno = 0;
    if (fflush(file) != 0 && errno != 0)
        return errno;
    if (!had_failed)
        return 0;
    // Nobody kept the reason of the write that failed. What is written is cut off there in any case: one more byte.
    return write(fileno(file), "\n", 1) < 0 ? errno : EIO;
}

int output_close_stream(FILE *file, const char *option, const char *path)
{
    int error = output_flush(file);
    if (fclose(file) != 0 && error == 0)
        error = errno;
    if (error == 0)
        return EXIT_DONE;
    say("%s: cannot write '%s': %s", option, path, strerror(error));
    return EXIT_FAILED;
}
