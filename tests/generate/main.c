// SPDX-License-Identifier: Apache-2.0
// generate: random programs of the kernel language, compiled and interpreted; what differs is cut down and shown.
#include "device.h"
#include "subject.h"

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 100, SHRINK_TRIES = 400 };

static const char help[] =
    "usage: generate [--from SEED] [--programs N] [--level L] [--device SPEC] [--loops] [--normal] [--floats] "
    "[--print] [--no-shrink] [--verbose]\n"
    "\n"
    "Makes N random programs (500), those of seeds SEED (0) and on, kernels and handlers; runs each compiled, 100 a\n"
    "shared object, and interpreted; and compares every bit of what they leave. The first few that differ are cut "
    "down\n"
    "and shown.\n"
    "\n"
    "  --level L     optimisation: 0 (little, compiled twice as fast), 1, 2; default: 1 and 2 in turn\n"
    "                3: not as C, but its CUDA C, compiled by the host's compiler (tests/shim)\n"
    "                4: not as C, but its words of 32 bits (src/ir/pass/words.h), interpreted\n"
    "                5: without doubles, and not as C, but its Metal text, compiled by the host's compiler\n"
    "  --device SPEC not as C: kernels are launched on that device, handlers are left out\n"
    "  --loops       programs are made of loops that threads leave after different numbers of turns\n"
    "  --normal      no subnormal number is given to programs, for a device that takes it for 0\n"
    "  --floats      programs have floats in place of doubles, for a device without doubles\n"
    "  --print       prints the programs and runs nothing\n"
    "  --no-shrink   shows what differs as it was made\n"
    "  --verbose     says why programs were refused\n"
    "\n"
    "Exit code: 0 all agree, 1 some do not, 2 usage, 3 no such device.\n";

typedef struct asked {
    uint64_t from, programs, level;
    bool prints, shrinks, verbose;
    const char *device;
} asked;

typedef struct tally {
    unsigned agree, refused, differ, shown;
} tally;

static subject subjects[BATCH];

// Three batches of kernels, then one of handlers of both sorts.
static kind kind_of(uint64_t seed)
{
    return seed / BATCH % 4 != 3 ? KERNEL : seed % 2 ? BLOCK : HANDLER;
}

static int level_of(const asked *asked, uint64_t seed)
{
    return asked->device ? AS_DEVICE : asked->level <= AS_METAL ? (int)asked->level : 1 + (int)(seed / BATCH % 2);
}

static void begin(subject *s, uint64_t seed)
{
    s->seed = seed;
    s->number = (unsigned)(seed % 1000000);
    tape_seed(&s->tape, seed + 1);
}

// ---- one program by itself ------------------------------------------------------------------------------------------

static verdict try_alone(subject *s, kind kind, int level)
{
    slri_dl *library = NULL;
    subject_free(s);
    subject_make(s, kind);
    s->as_words = level == AS_WORDS;
    if (s->verdict)
        return s->verdict;
    slr_status status = level >= AS_CUDA ? SLR_OK : subjects_compile(&s, 1, level, &library);
    if (status == SLR_OK)
        subject_run(s, library);
    else {
        s->verdict = DIFFERS;
        snprintf(s->why, sizeof s->why, "%s: %.300s", slr_status_name(status), slr_error_message());
    }
    slri_dl_close(library);
    return s->verdict;
}

// ---- cutting down ---------------------------------------------------------------------------------------------------

static tape tried;

// Whether it still fails without the choices from `first` to `end`, with `zeros` in their place.
static bool fails_without(subject *s, uint32_t first, uint32_t end, uint32_t zeros, int level)
{
    static tape kept;
    kept = tried = s->tape;
    if (first + zeros >= end)
        return false;
    memset(tried.choice + first, 0, zeros * sizeof *tried.choice);
    memmove(tried.choice + first + zeros, kept.choice + end, (kept.length - end) * sizeof *tried.choice);
    tried.length -= end - first - zeros;
    s->tape = tried;
    tape_rewind(&s->tape);
    if (try_alone(s, s->program.kind, level) == DIFFERS)
        return true;
    s->tape = kept;
    return false;
}

// Statements out, expressions made 0, the longest first. A span that went takes those in it along.
static bool cut_spans(subject *s, int level, int *tries)
{
    for (uint32_t length = s->tape.length; length > 0; length = length * 2 / 3)
        for (uint32_t i = 0; i < s->tape.spans && *tries < SHRINK_TRIES; i++) {
            const span at = s->tape.span[i];
            uint32_t bytes = at.end - at.first;
            if (bytes > length || bytes <= length * 2 / 3)
                continue;
            ++*tries;
            if (fails_without(s, at.first, at.end, at.is_statement ? 0 : 4, level))
                return true;
        }
    return false;
}

static bool lower_choices(subject *s, int level, int *tries)
{
    for (uint32_t i = 0; i < s->tape.length && *tries < SHRINK_TRIES; i++) {
        uint16_t choice = s->tape.choice[i];
        if (choice == 0)
            continue;
        ++*tries;
        s->tape.choice[i] = 0;
        tape_rewind(&s->tape);
        if (try_alone(s, s->program.kind, level) == DIFFERS)
            return true;
        s->tape.choice[i] = choice;
    }
    return false;
}

static void shrink(subject *s, int level)
{
    int tries = 0;
    tape_rewind(&s->tape);
    try_alone(s, s->program.kind, level);
    while (tries < SHRINK_TRIES && (cut_spans(s, level, &tries) || lower_choices(s, level, &tries))) {
    }
    tape_rewind(&s->tape);
    try_alone(s, s->program.kind, level);
    printf("cut down in %d programs:\n", tries);
}

// ---- showing --------------------------------------------------------------------------------------------------------

static void show(const subject *s)
{
    const program *p = &s->program;
    printf("// grid %u x %u x %u, block %u x %u x %u\n%s\n", p->grid[0], p->grid[1], p->grid[2], p->block[0],
           p->block[1], p->block[2], slri_text_view(&p->text));
}

static void tell(subject *s, const asked *asked, int level, tally *sum)
{
    printf("seed %llu, level %d, differs: %s\n", (unsigned long long)s->seed, level, s->why);
    if (sum->shown++ >= 3)
        return;
    if (asked->shrinks)
        shrink(s, level);
    printf("%s\n", s->why);
    show(s);
}

// ---- batches --------------------------------------------------------------------------------------------------------

static void judge(subject *s, const asked *asked, int level, tally *sum)
{
    if (s->verdict == AGREES)
        sum->agree++;
    else if (s->verdict == REFUSED) {
        sum->refused++;
        if (asked->verbose)
            printf("seed %llu refused: %s\n", (unsigned long long)s->seed, s->why);
    } else {
        sum->differ++;
        tell(s, asked, level, sum);
    }
}

static void run_batch(const asked *asked, uint64_t first, unsigned count, tally *sum)
{
    subject *all[BATCH] = {NULL};
    slri_dl *library = NULL;
    int level = level_of(asked, first);
    for (unsigned i = 0; i < count; i++) {
        all[i] = &subjects[i];
        begin(all[i], first + i);
        subject_make(all[i], kind_of(first + i));
        all[i]->as_words = level == AS_WORDS;
    }
    slr_status status = level >= AS_CUDA ? SLR_OK : subjects_compile(all, count, level, &library);
    for (unsigned i = 0; i < count; i++) {
        if (!all[i]->verdict && status == SLR_OK)
            subject_run(all[i], library);
        else if (!all[i]->verdict) { // which of them the compiler refuses
            tape_rewind(&all[i]->tape);
            try_alone(all[i], kind_of(first + i), level);
        }
        judge(all[i], asked, level, sum);
        subject_free(all[i]);
    }
    slri_dl_close(library);
}

static void print_all(const asked *asked)
{
    for (uint64_t i = 0; i < asked->programs; i++) {
        subject *s = &subjects[0];
        begin(s, asked->from + i);
        make_program(&s->tape, s->number, kind_of(s->seed), &s->program);
        if (subjects_are_floats)
            make_floats(&s->program);
        show(s);
        slri_text_free(&s->program.text);
    }
}

static bool number(const char *text, uint64_t *out)
{
    char *end;
    *out = text ? strtoull(text, &end, 10) : 0;
    return text && *text >= '0' && *text <= '9' && *end == '\0';
}

static bool understand(char **at, asked *asked)
{
    for (; *at; ++at) {
        uint64_t *to = strcmp(*at, "--programs") == 0 ? &asked->programs
                       : strcmp(*at, "--from") == 0   ? &asked->from
                       : strcmp(*at, "--level") == 0  ? &asked->level
                                                      : NULL;
        if (strcmp(*at, "--print") == 0)
            asked->prints = true;
        else if (strcmp(*at, "--no-shrink") == 0)
            asked->shrinks = false;
        else if (strcmp(*at, "--verbose") == 0)
            asked->verbose = true;
        else if (strcmp(*at, "--loops") == 0)
            programs_have_loops = true;
        else if (strcmp(*at, "--normal") == 0)
            subjects_are_normal = true;
        else if (strcmp(*at, "--floats") == 0)
            subjects_are_floats = true;
        else if (strcmp(*at, "--device") == 0 && at[1])
            asked->device = *++at;
        else if (!to || !number(*++at, to))
            return false;
    }
    return true;
}

int main(int count, char **arguments)
{
    asked asked = {.programs = 500, .level = UINT64_MAX, .shrinks = true};
    tally sum = {0};
    bool helps = count > 1 && strcmp(arguments[1], "--help") == 0;
    if (helps || !understand(arguments + 1, &asked)) {
        fputs(help, helps ? stdout : stderr);
        return helps ? 0 : 2;
    }
    subjects_are_metal = !asked.device && asked.level == AS_METAL;
    subjects_are_floats |= subjects_are_metal;
    if (asked.prints) {
        print_all(&asked);
        return 0;
    }
    if (asked.device && device_use(asked.device) != SLR_OK) {
        fprintf(stderr, "%s\n", slr_error_message());
        return 3;
    }
    for (uint64_t done = 0; done < asked.programs;) {
        uint64_t first = asked.from + done, to_next = BATCH - first % BATCH;
        unsigned batch = (unsigned)(to_next < asked.programs - done ? to_next : asked.programs - done);
        run_batch(&asked, first, batch, &sum);
        done += batch;
        fflush(stdout);
    }
    if (asked.device)
        device_release();
    printf("%u programs agree, %u were refused with a diagnostic, %u differ\n", sum.agree, sum.refused, sum.differ);
    return sum.differ ? 1 : 0;
}
