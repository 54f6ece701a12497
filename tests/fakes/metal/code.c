// SPDX-License-Identifier: Apache-2.0
// Libraries, functions, pipelines, archives. An archive is a file with a line for each pipeline: a hash of its text,
// its name, and its threads.
#define _POSIX_C_SOURCE 200809L
#include "tests/fakes/metal/classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct object *error_to(struct object **error, int64_t code, const char *words)
{
    if (error)
        *error = error_of(code, words);
    return NULL;
}

// ---- libraries and functions ---------------------------------------------------------------------------------------

static void end_library(struct object *object)
{
    struct library *library = (struct library *)object;
    free(library->text);
    image_end(library->image);
}

static void end_function(struct object *object)
{
    let_go(&((struct function *)object)->library->object);
}

static struct class class_MTLFunction = {.name = "MTLFunction", .bytes = sizeof(struct function), .end = end_function};

static struct object *new_function(struct library *library, sel selector, const struct object *name)
{
    (void)selector;
    if (fails("newFunctionWithName:") || !image_has(library->image, words_of(name)))
        return NULL;
    struct function *function = made(&class_MTLFunction);
    function->library = (struct library *)held(&library->object);
    snprintf(function->name, sizeof function->name, "%s", words_of(name));
    return &function->object;
}

static struct class class_MTLLibrary = {.name = "MTLLibrary",
                                        .bytes = sizeof(struct library),
                                        .of_object =
                                            (struct method[]){METHOD("newFunctionWithName:", new_function), {0}},
                                        .end = end_library};

struct object *new_library(struct object *device, sel selector, struct object *source, struct object *options,
                           struct object **error)
{
    const struct compile_options *how = (struct compile_options *)options;
    char *complaint = NULL;
    (void)device, (void)selector;
    if (how->has_fast_math)
        wrong("a text is compiled with fast math");
    if (how->version < 0x30000 || how->version > (fake.system_major && fake.system_major < 15 ? 0x30000u : 0x30002u))
        wrong("a text is compiled for version %llx of the language", (unsigned long long)how->version);
    if (fails("newLibraryWithSource:options:error:"))
        return fake.words ? error_to(error, 3, "") : NULL;
    struct image *image = image_of(words_of(source), &complaint);
    if (!image) {
        error_to(error, 3, complaint);
        free(complaint);
        return NULL;
    }
    struct library *library = made(&class_MTLLibrary);
    library->text = strdup(words_of(source));
    library->image = image;
    return &library->object;
}

// ---- archives ------------------------------------------------------------------------------------------------------

struct archive {
    struct object object;
    char key[4][192];
    uint32_t keys;
};

static void key_of(const struct pipeline_how *how, char key[192])
{
    const struct function *function = (struct function *)how->function;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *at = function->library->text; *at; ++at)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    snprintf(key, 192, "%016llx %s %llu", (unsigned long long)hash, function->name,
             (unsigned long long)how->most_threads);
}

static bool has_key(const struct object *archives, const char *key)
{
    const struct array *all = (const struct array *)archives;
    for (uint32_t i = 0; all && i < all->count; ++i)
        for (uint32_t k = 0; k < ((struct archive *)all->of[i])->keys; ++k)
            if (strcmp(((struct archive *)all->of[i])->key[k], key) == 0)
                return true;
    return false;
}

static bool add_pipeline(struct archive *archive, sel selector, const struct object *how, struct object **error)
{
    (void)selector;
    if (fails("addComputePipelineFunctionsWithDescriptor:error:") ||
        archive->keys == sizeof archive->key / sizeof *archive->key) {
        error_to(error, 3, "the pipeline cannot be added");
        return false;
    }
    key_of((const struct pipeline_how *)how, archive->key[archive->keys++]);
    return true;
}

static bool serialize(const struct archive *archive, sel selector, const struct object *url, struct object **error)
{
    (void)selector;
    FILE *file = fails("serializeToURL:error:") ? NULL : fopen(((const struct url *)url)->path, "wb");
    if (!file) {
        error_to(error, 4, "the archive cannot be written");
        return false;
    }
    fputs("fake binary archive\n", file);
    for (uint32_t i = 0; i < archive->keys; ++i)
        fprintf(file, "%s\n", archive->key[i]);
    return fclose(file) == 0;
}

static struct class class_MTLBinaryArchive = {
    .name = "MTLBinaryArchive",
    .bytes = sizeof(struct archive),
    .of_object = (struct method[]){METHOD("addComputePipelineFunctionsWithDescriptor:error:", add_pipeline),
                                   METHOD("serializeToURL:error:", serialize),
                                   {0}}};

static bool read_archive(struct archive *archive, const char *path)
{
    char line[192];
    FILE *file = fopen(path, "rb");
    bool is_one = file && fgets(line, sizeof line, file) && strcmp(line, "fake binary archive\n") == 0;
    while (is_one && archive->keys < sizeof archive->key / sizeof *archive->key && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        snprintf(archive->key[archive->keys++], sizeof line, "%s", line);
    }
    if (file)
        fclose(file);
    archive->keys = fake.forgets ? 0 : archive->keys;
    return is_one;
}

struct object *new_archive(struct object *device, sel selector, struct object *how, struct object **error)
{
    const struct url *url = (struct url *)((struct archive_how *)how)->url;
    (void)device, (void)selector;
    if (fails("newBinaryArchiveWithDescriptor:error:"))
        return NULL;
    struct archive *archive = made(&class_MTLBinaryArchive);
    if (!url || read_archive(archive, url->path))
        return &archive->object;
    let_go(&archive->object);
    return error_to(error, 1, "the file is no archive");
}

// ---- pipelines -----------------------------------------------------------------------------------------------------

static void end_pipeline(struct object *object)
{
    let_go(&((struct pipeline *)object)->function->object);
}

static uint64_t pipeline_threads(const struct pipeline *pipeline, sel selector)
{
    (void)selector;
    return pipeline->most_threads;
}

static uint64_t pipeline_width(const struct object *pipeline, sel selector)
{
    (void)pipeline, (void)selector;
    return fake.width ? fake.width : 32;
}

static uint64_t pipeline_shared(const struct object *pipeline, sel selector)
{
    (void)pipeline, (void)selector;
    return 0; // who runs it does not say
}

static struct class class_MTLComputePipelineState = {
    .name = "MTLComputePipelineState",
    .bytes = sizeof(struct pipeline),
    .of_object = (struct method[]){METHOD("maxTotalThreadsPerThreadgroup", pipeline_threads),
                                   METHOD("threadExecutionWidth", pipeline_width),
                                   METHOD("staticThreadgroupMemoryLength", pipeline_shared),
                                   {0}},
    .end = end_pipeline};

#define FAIL_ON_MISS 4

struct object *new_pipeline(struct object *device, sel selector, struct object *how, uint64_t options, void *reflection,
                            struct object **error)
{
    const struct pipeline_how *of = (struct pipeline_how *)how;
    char key[192];
    (void)device, (void)selector, (void)reflection;
    if (fails("newComputePipelineStateWithDescriptor:options:reflection:error:"))
        return fake.words ? error_to(error, 3, "") : NULL;
    key_of(of, key);
    const bool is_found = has_key(of->archives, key);
    if (!is_found && options & FAIL_ON_MISS)
        return error_to(error, 3, "no archive has the pipeline");
    if (!is_found)
        __atomic_fetch_add(&fake.compiled, 1, __ATOMIC_RELAXED);
    struct pipeline *pipeline = made(&class_MTLComputePipelineState);
    pipeline->function = (struct function *)held(of->function);
    pipeline->most_threads = of->most_threads ? of->most_threads : 1024;
    return &pipeline->object;
}
