// SPDX-License-Identifier: Apache-2.0
// Texts of PTX as one image: read, linked by name.
#include "tests/ptx/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ptx_function *find_function(const struct ptx_image *image, const char *name, uint32_t text)
{
    for (uint32_t i = 0; i < image->functions; ++i) {
        const struct ptx_function *f = &image->function[i];
        if (f->is_known && (f->text == text || f->is_visible) && strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}

static bool fits(const struct ptx_function *f, const struct ptx_call *call)
{
    bool same = f->parameters == call->arguments && (call->result.bytes == 0 || call->result.bytes == f->result.bytes);
    for (uint32_t i = 0; i < f->parameters && same; ++i)
        same = f->parameter[i].bytes == call->argument[i].bytes;
    return same;
}

static bool link_calls(struct ptx_image *image)
{
    for (uint32_t i = 0; i < image->functions; ++i) {
        const struct ptx_function *f = &image->function[i];
        for (uint32_t at = f->begin; f->is_known && at < f->end; ++at) {
            struct ptx_ins *ins = &image->ins[at];
            if (ins->kind != PTX_CALL)
                continue;
            ins->called = find_function(image, ins->call->callee, f->text);
            bool is_print = strcmp(ins->call->callee, "vprintf") == 0 && ins->call->arguments == 2;
            if (ins->called ? !fits(ins->called, ins->call) : !is_print) {
                fprintf(stderr, "ptx: line %u: there is no such function: %s\n", ins->line, ins->words);
                return false;
            }
        }
    }
    return true;
}

struct ptx_image *ptx_image_load(const struct ptx_text *text, size_t texts)
{
    struct ptx_image *made = calloc(1, sizeof *made);
    bool good = texts <= PTX_MOST_TEXTS;
    for (size_t i = 0; i < texts && good; ++i) {
        strcpy(made->name[i], text[i].name);
        good = ptx_parse(made, text[i].ptx, (uint32_t)i);
    }
    if (good && link_calls(made))
        return made;
    ptx_image_unload(made);
    return NULL;
}

// SLIPRING_PTX_TRACE names a file, which gets a line for each instruction that ran and that mutants.sh may change: 1
// where it has mattered, of a release that it had anything to release, of a guard that it has left a lane out.
static void trace(const struct ptx_image *image)
{
    const char *path = getenv("SLIPRING_PTX_TRACE");
    FILE *file = path ? fopen(path, "a") : NULL;
    for (uint32_t i = 0; i < image->functions && file; ++i) {
        const struct ptx_function *f = &image->function[i];
        for (uint32_t at = f->begin; f->is_known && at < f->end; ++at) {
            const struct ptx_ins *ins = &image->ins[at];
            if (ins->ran && (ins->guard.kind != PTX_NONE || ins->kind >= PTX_ACTIVE || ins->kind == PTX_FENCE ||
                             ins->order > PTX_RELAXED))
                fprintf(file, "%s %u %d\n", image->name[f->text], ins->line, ins->matters);
        }
    }
    if (file)
        fclose(file);
}

void ptx_image_unload(struct ptx_image *image)
{
    if (!image)
        return;
    trace(image);
    for (uint32_t i = 0; i < image->keeps; ++i)
        free(image->kept[i]);
    free(image->kept);
    free(image->ins);
    free(image->function);
    free(image);
}

const struct ptx_kernel *ptx_image_kernel(const struct ptx_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->functions; ++i)
        if (image->function[i].is_entry && image->function[i].is_known && strcmp(image->function[i].name, name) == 0)
            return (const struct ptx_kernel *)&image->function[i];
    return NULL;
}
