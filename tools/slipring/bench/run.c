// SPDX-License-Identifier: Apache-2.0
// `slipring bench run`: the command `slipring run` as a process, beside a filter in plain C that reads and writes the
// same text with the same code and calls a function in between.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"
#include "run/reader.h"
#include "say.h"
#include "run/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ROWS = 10000000, PATH_BYTES = 256 };

struct row {
    float value;
    uint32_t weight;
};
struct sums {
    double weighted, weights;
};
struct mean {
    float mean;
};

static const char source[] = "struct row { float value; unsigned weight; };\n"
                             "struct sums { double weighted, weights; };\n"
                             "struct mean { float mean; };\n"
                             "\n"
                             "__ring__ void weighted_mean(struct sums *self, const struct row *in)\n"
                             "{\n"
                             "    self->weighted += (double)in->value * (double)in->weight;\n"
                             "    self->weights += (double)in->weight;\n"
                             "    struct mean m = { (float)(self->weighted / self->weights) };\n"
                             "    ring_reply(&m);\n"
                             "}\n";

static struct mean weighted_mean(struct sums *self, const struct row *in)
{
    self->weighted += (double)in->value * (double)in->weight;
    self->weights += (double)in->weight;
    return (struct mean){(float)(self->weighted / self->weights)};
}

typedef struct filter {
    bench *bench;
    char folder[PATH_BYTES], kernel[PATH_BYTES], input[PATH_BYTES], output[PATH_BYTES], plain_output[PATH_BYTES];
} filter;

// ---- slipring run --------------------------------------------------------------------------------------------------

static bool run_process(filter *filter)
{
    char *arguments[] = {"slipring", "run",         filter->kernel, "--device",     filter->bench->info.name,
                         "--input",  filter->input, "--output",     filter->output, NULL};
    pid_t process;
    int ended = 0;
    partner_free_caller(filter->bench->partner); // it may use all cores
    int error = posix_spawn(&process, "/proc/self/exe", NULL, NULL, arguments, environ);
    partner_move_caller(filter->bench->partner, false);
    if (error == 0 && waitpid(process, &ended, 0) == process && WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return true;
    say("'slipring run' failed");
    return false;
}

static bool run_slice(void *context, double *figures)
{
    uint64_t start = clock_ns();
    bool fine = run_process(context);
    figures[0] = bench_per_second(ROWS, start);
    return fine;
}

// ---- the floor -----------------------------------------------------------------------------------------------------

static const slr_field row_fields[] = {
    {.name = "value", .scalar = SLR_F32, .count = 1, .offset = offsetof(struct row, value)},
    {.name = "weight", .scalar = SLR_U32, .count = 1, .offset = offsetof(struct row, weight)},
};
static const slr_field mean_fields[] = {{.name = "mean", .scalar = SLR_F32, .count = 1}};
static const slr_layout row_layout = {"row", sizeof(struct row), row_fields, 2};
static const slr_layout mean_layout = {"mean", sizeof(struct mean), mean_fields, 1};

static read_result next_row(reader *reader, int descriptor, read_result (*next)(struct reader *reader))
{
    read_result result;
    while ((result = next(reader)) == READ_MORE) {
        size_t room = 0;
        char *space = intake_space(&reader->bytes, &room);
        ssize_t bytes = space != NULL ? read(descriptor, space, room) : -1;
        if (bytes < 0)
            return READ_BAD;
        intake_put(&reader->bytes, (size_t)bytes);
    }
    return result;
}

static uint64_t filter_rows(reader *reader, int descriptor, writer *writer)
{
    struct sums sums = {0};
    struct row message;
    if (next_row(reader, descriptor, reader_header) != READ_RECORD)
        return 0;
    writer_header(writer);
    while (next_row(reader, descriptor, reader_next) == READ_RECORD &&
           reader_store(reader, 0, (unsigned char *)&message)) {
        struct mean mean = weighted_mean(&sums, &message);
        writer_row(writer, NULL, (unsigned char *)&mean);
    }
    writer_flush(writer);
    return writer->rows;
}

static bool plain_slice(void *context, double *figures)
{
    filter *filter = context;
    reader reader;
    writer writer;
    uint64_t start = clock_ns(), rows = 0;
    int from = open(filter->input, O_RDONLY | O_CLOEXEC);
    int to = open(filter->plain_output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool opened = reader_open(&reader, &csv_reader, &row_layout, NULL) &&
                  writer_open(&writer, &csv_writer, to, &mean_layout, &row_layout, NULL);
    if (opened && from >= 0 && to >= 0)
        rows = filter_rows(&reader, from, &writer);
    writer_close(&writer);
    reader_close(&reader);
    close(from);
    close(to);
    figures[0] = bench_per_second(ROWS, start);
    if (rows == ROWS)
        return true;
    say("the plain filter wrote %" PRIu64 " rows of %d", rows, ROWS);
    return false;
}

// ---- the files -----------------------------------------------------------------------------------------------------

static bool write_rows(FILE *file)
{
    uint32_t random = 1;
    fputs("value,weight\n", file);
    for (int i = 0; i < ROWS; i++) {
        random = random * 1664525u + 1013904223u; // Knuth, The Art of Computer Programming 2, 3.3.4
        fprintf(file, "%u.%02u,%u\n", random >> 22, (random >> 8) % 100, 1 + (random >> 16) % 99);
    }
    return true;
}

static bool write_source(FILE *file)
{
    return fputs(source, file) >= 0;
}

static bool write_file(const char *path, bool (*write)(FILE *file))
{
    FILE *file = fopen(path, "w");
    bool fine = file != NULL && write(file);
    return file != NULL && fclose(file) == 0 && fine;
}

static bool make_files(filter *filter)
{
    const char *parent = getenv("TMPDIR");
    snprintf(filter->folder, sizeof filter->folder - 16, "%s/slipring-bench-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(filter->folder) == NULL) {
        say("cannot make '%s': %s", filter->folder, strerror(errno));
        return false;
    }
    size_t length = strlen(filter->folder);
    const struct {
        char *path;
        const char *name;
    } files[] = {{filter->kernel, "/mean.cu"},
                 {filter->input, "/rows.csv"},
                 {filter->output, "/run.csv"},
                 {filter->plain_output, "/plain.csv"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        memcpy(files[i].path, filter->folder, length);
        strcpy(files[i].path + length, files[i].name);
    }
    if (write_file(filter->kernel, write_source) && write_file(filter->input, write_rows))
        return true;
    say("cannot write to '%s': %s", filter->folder, strerror(errno));
    return false;
}

static void remove_files(const filter *filter)
{
    unlink(filter->kernel);
    unlink(filter->input);
    unlink(filter->output);
    unlink(filter->plain_output);
    rmdir(filter->folder);
}

static bool same_files(const filter *filter)
{
    FILE *a = fopen(filter->output, "r"), *b = fopen(filter->plain_output, "r");
    bool same = a != NULL && b != NULL;
    for (int x = 0; same && x != EOF;)
        same = (x = getc(a)) == getc(b);
    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    if (!same)
        say("'slipring run' and the plain filter wrote different rows");
    return same;
}

// ---- the row -------------------------------------------------------------------------------------------------------

static const bench_case row = {
    "run_csv",
    "row/s",
    {"median"},
    "Rows a second of the process 'slipring run', from its start to its end: 10,000,000 rows of two columns from a "
    "file to a file, with a reply for each row. Floor: a plain C filter on one core, with the same reader, writer and "
    "work.",
    {.value = run_slice, .floor = plain_slice, .figures = 1, .enough = MEASURE_KEPT, .hard_s = 300}};

bool bench_run(bench *bench)
{
    if (!bench_wants(bench, row.name))
        return true;
    filter *filter = memory_take(1, sizeof *filter);
    filter->bench = bench;
    bench_case what = row;
    what.pair.value_context = what.pair.floor_context = filter;
    bool fine = make_files(filter) && run_process(filter) && bench_measure(bench, &what) && same_files(filter);
    remove_files(filter);
    free(filter);
    return fine;
}
