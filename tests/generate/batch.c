// SPDX-License-Identifier: Apache-2.0
// Many programs' emitted C as one file, because starting a C compiler and reading the prelude takes longer than a
// program.
#include "subject.h"

#include "hal/cpu/compiler.h"
#include "base/file.h"
#include "base/status.h"
#include "emit/c/emit_c.h"
#include "emit/c/internal.h"
#include "emit/c/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONSTANTS = 24 }; // that a program may have, for their names

// What every file begins with: up to what belongs to the shape of block, or the prelude.
static size_t prelude_bytes(const subject *s)
{
    const char *text = slri_text_view(&s->emitted);
    const char *shape = strstr(text, "#define SLRI_BLOCK_X");
    if (s->program.kind == KERNEL)
        return shape ? (size_t)(shape - text) : 0;
    slri_text prelude = SLRI_TEXT_INIT;
    slri_c_prelude(&prelude, false);
    size_t bytes = prelude.length;
    slri_text_free(&prelude);
    return bytes;
}

// Functions are named for their program already; these are not.
static void rename_names(slri_text *out, unsigned number)
{
    static const char *const names[] = {SLRI_KERNEL_SYMBOL, "slri_roots", "slri_block_memory"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        slri_text_printf(out, "#undef %s\n#define %s %s_%u\n", names[i], names[i], names[i], number);
    slri_text_puts(out, "#undef SLRI_BLOCK_X\n#undef SLRI_BLOCK_Y\n#undef SLRI_BLOCK_Z\n");
    for (int i = 0; i < CONSTANTS; i++)
        slri_text_printf(out, "#undef slrc_%d\n#define slrc_%d slrc_%d_%u\n", i, i, i, number);
}

static void join(subject *const *subjects, unsigned count, slri_text *out)
{
    bool first = true;
    for (unsigned i = 0; i < count; i++) {
        const subject *s = subjects[i];
        if (s->verdict)
            continue;
        size_t prelude = prelude_bytes(s);
        if (first)
            slri_text_append(out, s->emitted.data, prelude);
        first = false;
        rename_names(out, s->number);
        slri_text_puts(out, s->emitted.data + prelude);
    }
}

static slr_status compile(const slri_text *text, int level, slri_dl **out)
{
    struct slri_cpu_compiler compiler;
    static const char *const levels[] = {"-Og", "-O2", "-O3"};
    const char *const more[] = {levels[level], level > 1 ? "-DSLRI_LONG" : NULL, NULL};
    char source[64] = "/tmp/slipring-generate-XXXXXX.c", made[80];
    int file = mkstemps(source, 2);
    SLRI_TRY(slri_cpu_find_compiler(&compiler));
    if (file < 0)
        return SLRI_FAIL(SYSTEM, "no file in /tmp");
    FILE *stream = fdopen(file, "w");
    fwrite(text->data, 1, text->length, stream);
    fclose(stream);
    snprintf(made, sizeof made, "%s.so", source);
    slr_status status = slri_cpu_run_compiler(&compiler, source, made, more, NULL);
    if (status == SLR_OK)
        status = slri_dl_open(made, out);
    slri_file_remove(source);
    slri_file_remove(made);
    return status;
}

slr_status subjects_compile(subject *const *subjects, unsigned count, int level, slri_dl **out)
{
    slri_text text = SLRI_TEXT_INIT;
    join(subjects, count, &text);
    slr_status status = text.length == 0     ? SLR_NOT_FOUND
                        : text.out_of_memory ? SLR_NO_MEMORY
                                             : compile(&text, level, out);
    slri_text_free(&text);
    return status;
}
