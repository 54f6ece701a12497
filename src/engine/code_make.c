// SPDX-License-Identifier: Apache-2.0
// A text becomes loaded code: by the cache, or by the backend's compiler and then kept.
#include "base/file.h"
#include "base/status.h"
#include "engine/cache.h"
#include "engine/code.h"
#include "engine/observe.h"

#include <slipring/api.h>

#include <stdlib.h>

// What one compilation works on.
struct job {
    const struct slri_backend *backend;
    void *device;
    struct slri_code_text *text;
    slri_cache cache;
    char key[SLRI_HASH_HEX_BYTES];
    struct slri_blob *blob; // NULL: it is loaded
    void *loaded;
};

void slri_code_text_free(struct slri_code_text *text)
{
    slri_text_free(&text->text);
    slri_text_free(&text->identity);
    slri_text_free(&text->label);
}

void slri_code_identify(struct slri_code_text *text, const char *field)
{
    slri_text_append(&text->identity, field, strlen(field) + 1); // with the NUL: fields do not run together
}

slr_status slri_code_check_block(const struct slri_code_text *text, const char *device, const uint32_t most[3],
                                 uint32_t threads)
{
    const uint32_t *block = text->shape.block;
    bool fits = (uint64_t)block[0] * block[1] * block[2] <= threads;
    for (int i = 0; i < 3; ++i)
        fits &= block[i] <= most[i];
    return fits ? SLR_OK
                : SLRI_FAIL(UNSUPPORTED, "kernel %s: blocks of %u x %u x %u threads; device '%s' has at most %u",
                            text->name, block[0], block[1], block[2], device, threads);
}

slr_status slri_code_check_shared(const struct slri_code_text *text, const char *device, uint64_t bytes, uint64_t most)
{
    return bytes <= most ? SLR_OK
                         : SLRI_FAIL(UNSUPPORTED, "kernel %s takes %llu B of shared memory; device '%s' has %llu",
                                     text->name, (unsigned long long)bytes, device, (unsigned long long)most);
}

// Everything that the code depends on.
static void make_key(struct job *job)
{
    const struct slri_code_text *text = job->text;
    slri_hash hash;
    slri_hash_init(&hash);
    slri_hash_field(&hash, job->backend->name, strlen(job->backend->name));
    slri_hash_field(&hash, SLR_VERSION, strlen(SLR_VERSION));
    slri_hash_field(&hash, text->identity.data, text->identity.length);
    for (const char *const *option = text->option; option && *option; ++option)
        slri_hash_field(&hash, *option, strlen(*option));
    slri_hash_field(&hash, text->text.data, text->text.length);
    slri_hash_hex(&hash, job->key);
}

static void free_blob(struct slri_blob *blob)
{
    free(blob->bytes);
    free(blob->file);
    *blob = (struct slri_blob){0};
}

static slr_status load(struct job *job, const struct slri_blob *blob)
{
    return job->backend->code_load(job->device, job->text, blob, &job->loaded);
}

// What the cache has may be what this device will not have; its replacement may fare better.
static slr_status find_made(void *user)
{
    struct job *job = user;
    struct slri_blob blob = {0};
    const char *suffix = job->backend->blob_suffix;
    SLRI_TRY(job->backend->blobs_are_files ? slri_cache_find(&job->cache, job->key, suffix, &blob.file)
                                           : slri_cache_read(&job->cache, job->key, suffix, &blob.bytes, &blob.count));
    if (job->blob) {
        *job->blob = blob;
        return SLR_OK;
    }
    slr_status status = load(job, &blob);
    free_blob(&blob);
    return status == SLR_UNSUPPORTED ? SLR_NOT_FOUND : status;
}

// What could be loaded is good: only then may others have it. Failing to keep it costs the next process a compilation.
static void keep(struct job *job, const struct slri_blob *blob)
{
    const char *suffix = job->backend->blob_suffix, *label = slri_text_view(&job->text->label);
    if (job->text->is_unkept)
        return;
    if (blob->file)
        (void)slri_cache_publish_file(&job->cache, job->key, suffix, blob->file, label);
    else if (blob->bytes)
        (void)slri_cache_publish(&job->cache, job->key, suffix, blob->bytes, blob->count, label);
}

static void load_stored(struct job *job)
{
    void *first = job->loaded;
    if (find_made(job) == SLR_OK)
        job->backend->code_unload(job->device, first);
    else
        job->loaded = first;
}

static slr_status make(void *user)
{
    struct job *job = user;
    struct slri_blob blob = {0};
    slr_status status = job->backend->code_build(job->device, job->text, &blob, &job->loaded);
    if (status == SLR_OK && !job->loaded && !job->blob)
        status = load(job, &blob);
    if (status == SLR_OK)
        keep(job, &blob);
    if (blob.file)
        slri_file_remove(blob.file);
    if (status == SLR_OK && job->text->loads_stored && !job->blob)
        load_stored(job);
    if (status == SLR_OK && job->blob)
        *job->blob = blob;
    else
        free_blob(&blob);
    return status;
}

static slr_status find_or_make(struct job *job, bool *was_cached)
{
    const struct slri_cache_maker maker = {find_made, make, job, job->text->cancel};
    struct slri_code_text *text = job->text;
    if (text->text.out_of_memory || text->identity.out_of_memory)
        return SLRI_FAIL(NO_MEMORY, "no memory for the text of %s", text->name);
    SLRI_TRY(slri_cache_open(&job->cache));
    make_key(job);
    text->key = job->key;
    text->folder = job->cache.folder;
    text->why_private = job->cache.why_private;
    slr_status status =
        text->is_unkept ? make(job) : slri_cache_find_or_make(&job->cache, job->key, &maker, was_cached);
    slri_cache_close(&job->cache);
    return status;
}

static slr_status run(struct job *job, bool *was_cached)
{
    const struct slri_code_text *text = job->text;
    const bool is_compiled = text->text.length != 0;
    uint64_t begin = is_compiled ? slri_observe_begin() : 0;
    struct slri_blob none = {0};
    *was_cached = false;
    slr_status status =
        is_compiled ? find_or_make(job, was_cached) : job->backend->code_build(job->device, text, &none, &job->loaded);
    if (begin != 0 && status == SLR_OK)
        slri_observe_compile(text->name, *was_cached, begin);
    slri_code_text_free(job->text);
    return status;
}

slr_status slri_code_load(const struct slri_backend *backend, void *device, struct slri_code_text *text, void **loaded,
                          bool *was_cached)
{
    struct job job = {.backend = backend, .device = device, .text = text};
    slr_status status = run(&job, was_cached);
    if (status == SLR_OK)
        *loaded = job.loaded;
    return status;
}

slr_status slri_code_blob(const struct slri_backend *backend, void *device, struct slri_code_text *text,
                          struct slri_blob *out)
{
    struct job job = {.backend = backend, .device = device, .text = text, .blob = out};
    bool was_cached;
    return run(&job, &was_cached);
}
