// SPDX-License-Identifier: Apache-2.0
// Code: a library of one kernel, compiled from its text, and the pipeline for a shape of block. What is kept on disk is
// a binary archive of the pipeline. With it Metal translates the text again, which takes less time than the rest.
#include "base/file.h"
#include "base/status.h"
#include "engine/code.h"
#include "hal/metal/metal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARCHIVE ((size_t)64 << 20) // bytes

extern const char slri_embedded_bytes_metal[];

// ---- writing -------------------------------------------------------------------------------------------------------

slr_status slri_mt_code_write(void *device, struct slri_code_text *text)
{
    struct slri_metal *metal = device;
    const struct slri_msl_options options = {.block = text->shape.block, .version = metal->facts.language};
    const struct slri_mt_size *of = &metal->facts.most_threads;
    const uint32_t most[] = {(uint32_t)of->width, (uint32_t)of->height, (uint32_t)of->depth};
    SLRI_TRY(slri_code_check_block(text, metal->base.name, most, most[0]));
    SLRI_TRY(slri_code_check_shared(text, metal->base.name, text->entry->shared_bytes, metal->facts.most_shared_bytes));
    slri_code_identify(text, metal->facts.name);
    slri_code_identify(text, metal->facts.system);
    slri_text_printf(&text->label, "%s\n%s\n%s, macOS %s", text->name, text->file, metal->facts.name,
                     metal->facts.system);
    return slri_emit_msl(text->module, text->entry, &options, &text->text);
}

// ---- libraries and pipelines ---------------------------------------------------------------------------------------

// What is made of one text: for as long as it is made.
struct making {
    struct slri_metal *metal;
    const char *name; // of the kernel, for messages
    slri_mt_id library, function, how, archive_how, archive;
};

static void end_making(struct making *making)
{
    slri_mt_id all[] = {making->archive, making->archive_how, making->how, making->function, making->library};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        slri_mt_release(making->metal, all[i]);
}

static slr_status make_string(const struct slri_metal *metal, const char *words, slri_mt_id *out)
{
    *out = SLRI_MT_WITH(metal->mt, metal->mt->class.NSString, string, words);
    return *out ? SLR_OK : slri_mt_nothing(metal, "stringWithUTF8String");
}

static slr_status make_new(const struct slri_metal *metal, slri_mt_id class, slri_mt_id *out)
{
    *out = SLRI_MT(metal->mt, class, make);
    return *out ? SLR_OK : slri_mt_nothing(metal, "new");
}

// Without an error it is memory that was wanting.
static slr_status refuse(const struct making *making, const char *call, slri_mt_id error)
{
    char words[300];
    if (!error)
        return slri_mt_nothing(making->metal, call);
    slri_mt_error_words(making->metal->mt, error, words, sizeof words);
    return SLRI_FAIL(COMPILE, "kernel %s: the compiler of device '%s' rejected its MSL: %s", making->name,
                     making->metal->base.name, words);
}

static slr_status make_library(struct making *making, const char *text, uint32_t version)
{
    const struct slri_metal *metal = making->metal;
    const struct slri_mt_runtime *mt = metal->mt;
    slri_mt_id source, options, error = NULL;
    SLRI_TRY(slri_loss_check(&metal->base.loss));
    SLRI_TRY(make_string(metal, text, &source));
    SLRI_TRY(make_new(metal, mt->class.MTLCompileOptions, &options));
    SLRI_MT_WITH(mt, options, set_fast_math, false);
    SLRI_MT_WITH(mt, options, set_language, version);
    making->library = SLRI_MT_WITH(mt, metal->device, new_library, source, options, &error);
    slri_mt_release(metal, options);
    return making->library ? SLR_OK : refuse(making, "newLibraryWithSource", error);
}

// What a pipeline is to be, of the kernel of that name.
static slr_status describe_pipeline(struct making *making, const char *name, uint64_t threads)
{
    const struct slri_metal *metal = making->metal;
    slri_mt_id string;
    slri_text full = SLRI_TEXT_INIT;
    slri_text_printf(&full, SLRI_MSL_KERNEL_PREFIX "%s", name);
    slr_status status = make_string(metal, slri_text_view(&full), &string);
    slri_text_free(&full);
    SLRI_TRY(status);
    making->function = SLRI_MT_WITH(metal->mt, making->library, new_function, string);
    if (!making->function)
        return slri_mt_nothing(metal, "newFunctionWithName");
    SLRI_TRY(make_new(metal, metal->mt->class.MTLComputePipelineDescriptor, &making->how));
    SLRI_MT_WITH(metal->mt, making->how, set_function, making->function);
    SLRI_MT_WITH(metal->mt, making->how, set_most_threads, threads);
    return SLR_OK;
}

static slr_status make_pipeline(const struct making *making, uint64_t options, slri_mt_id *out)
{
    struct slri_metal *metal = making->metal;
    slri_mt_id error = NULL;
    *out = SLRI_MT_WITH(metal->mt, metal->device, new_pipeline, making->how, options, NULL, &error);
    slri_count(&metal->counts.pipelines, 1);
    return *out ? SLR_OK : refuse(making, "newComputePipelineState", error);
}

// ---- archives ------------------------------------------------------------------------------------------------------

// That of the file, where it is there; else an empty one, for it.
static slr_status open_archive(struct making *making, const char *path, slri_mt_id *url)
{
    const struct slri_metal *metal = making->metal;
    const struct slri_mt_runtime *mt = metal->mt;
    slri_mt_id string, error = NULL;
    SLRI_TRY(make_new(metal, mt->class.MTLBinaryArchiveDescriptor, &making->archive_how));
    SLRI_TRY(make_string(metal, path, &string));
    *url = SLRI_MT_WITH(mt, mt->class.NSURL, file_url, string);
    if (!*url)
        return slri_mt_nothing(metal, "fileURLWithPath");
    if (slri_file_is_there(path))
        SLRI_MT_WITH(mt, making->archive_how, set_url, *url);
    making->archive = SLRI_MT_WITH(mt, metal->device, new_archive, making->archive_how, &error);
    return making->archive ? SLR_OK : refuse(making, "newBinaryArchive", error);
}

static bool write_archive(struct making *making, const char *path)
{
    const struct slri_mt_runtime *mt = making->metal->mt;
    slri_mt_id url, error = NULL;
    return open_archive(making, path, &url) == SLR_OK &&
           SLRI_MT_WITH(mt, making->archive, add_pipeline, making->how, &error) &&
           SLRI_MT_WITH(mt, making->archive, serialize, url, &error);
}

// Without it the pipeline is compiled in each process.
static void take_archive(struct making *making, const struct slri_code_text *text, struct slri_blob *blob)
{
    char *path = NULL;
    if (!text->folder || slri_file_temporary_name(text->folder, ".metal", &path) != SLR_OK)
        return;
    if (write_archive(making, path) && slri_file_read(path, MOST_ARCHIVE, &blob->bytes, &blob->count) == SLR_OK)
        slri_count(&making->metal->counts.archives, 1);
    slri_file_remove(path);
    free(path);
}

// Errors: UNSUPPORTED, whatever was wrong with it.
static slr_status use_archive(struct making *making, const char *path, slri_mt_id *pipeline)
{
    const struct slri_mt_runtime *mt = making->metal->mt;
    slri_mt_id url, archives;
    slr_status status = open_archive(making, path, &url);
    if (status == SLR_OK) {
        archives = SLRI_MT_WITH(mt, mt->class.NSArray, array, making->archive);
        SLRI_MT_WITH(mt, making->how, set_archives, archives);
        status = make_pipeline(making, SLRI_MT_FAIL_ON_MISS, pipeline);
    }
    return status == SLR_OK ? SLR_OK : slri_fail(SLR_UNSUPPORTED, "%s", slr_error_message());
}

static slr_status load_archive(struct making *making, const struct slri_code_text *text, const struct slri_blob *blob,
                               slri_mt_id *pipeline)
{
    char *path = NULL;
    SLRI_TRY(slri_file_temporary_name(text->folder, ".metal", &path));
    slr_status status = slri_file_write_atomic(path, blob->bytes, blob->count);
    if (status == SLR_OK)
        status = use_archive(making, path, pipeline);
    slri_file_remove(path);
    free(path);
    return status;
}

// ---- kernels -------------------------------------------------------------------------------------------------------

static slr_status check_pipeline(const struct slri_metal *metal, const struct slri_code_text *text,
                                 const struct slri_mt_kernel *kernel)
{
    const uint64_t width = SLRI_MT(metal->mt, kernel->pipeline, pipeline_width);
    const uint64_t most = SLRI_MT(metal->mt, kernel->pipeline, pipeline_threads);
    const uint32_t *block = text->shape.block;
    if (kernel->facts.has_warps && width != 32)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s: device '%s' has warps of %llu threads, and it counts on 32",
                         text->name, metal->base.name, (unsigned long long)width);
    if ((uint64_t)block[0] * block[1] * block[2] > most)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s: blocks of %u x %u x %u threads; on device '%s' it has at most %llu",
                         text->name, block[0], block[1], block[2], metal->base.name, (unsigned long long)most);
    return SLR_OK;
}

// From an archive that is stored; else anew, and then with one.
static slr_status fill_kernel(struct slri_metal *metal, const struct slri_code_text *text,
                              const struct slri_blob *stored, struct slri_blob *made, struct slri_mt_kernel *kernel)
{
    struct making making = {.metal = metal, .name = text->name};
    const uint32_t *block = text->shape.block;
    SLRI_TRY(slri_msl_facts(text->module, text->entry, &kernel->facts));
    slr_status status = make_library(&making, slri_text_view(&text->text), kernel->facts.version);
    if (status == SLR_OK)
        status = describe_pipeline(&making, kernel->base.name, (uint64_t)block[0] * block[1] * block[2]);
    if (status == SLR_OK)
        status = stored ? load_archive(&making, text, stored, &kernel->pipeline)
                        : make_pipeline(&making, 0, &kernel->pipeline);
    if (status == SLR_OK)
        status = check_pipeline(metal, text, kernel);
    if (status == SLR_OK && made)
        take_archive(&making, text, made);
    end_making(&making);
    return status;
}

slr_status slri_mt_code_fill(void *device, const struct slri_code_text *text, const struct slri_blob *stored,
                             struct slri_blob *made, struct slri_loaded *loaded)
{
    struct slri_metal *metal = device;
    void *pool = metal->mt->push_pool();
    slr_status status = fill_kernel(metal, text, stored, made, (struct slri_mt_kernel *)loaded);
    metal->mt->pop_pool(pool);
    return status;
}

static void drop_pipeline(void *device, struct slri_loaded *loaded)
{
    struct slri_mt_kernel *kernel = (struct slri_mt_kernel *)loaded;
    slri_mt_release(device, kernel->pipeline);
    kernel->pipeline = NULL;
}

const struct slri_loaded_calls slri_mt_loaded_calls = {.bytes = sizeof(struct slri_mt_kernel), .drop = drop_pipeline};

slr_status slri_mt_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out)
{
    const struct slri_metal *metal = device;
    const struct slri_mt_kernel *kernel = loaded;
    out->native = loaded;
    out->most_threads = (uint32_t)SLRI_MT(metal->mt, kernel->pipeline, pipeline_threads);
    out->may_fault = !of->is_batched && kernel->facts.arguments.faulted != SLRI_ARGUMENT_NONE;
    return SLR_OK;
}

slr_status slri_mt_code_use(void *device, const struct slri_kernel_query *of, struct slri_kernel_use *out)
{
    const struct slri_metal *metal = device;
    const struct slri_mt_kernel *kernel = of->ready->kernel.native;
    *out = (struct slri_kernel_use){.most_threads = (uint32_t)SLRI_MT(metal->mt, kernel->pipeline, pipeline_threads),
                                    .multiple = (uint32_t)SLRI_MT(metal->mt, kernel->pipeline, pipeline_width),
                                    .shared_bytes = SLRI_MT(metal->mt, kernel->pipeline, pipeline_shared)};
    return SLR_OK;
}

// ---- slipring's own ------------------------------------------------------------------------------------------------

static slr_status make_tool(struct slri_metal *metal)
{
    struct making making = {.metal = metal, .name = "bytes"};
    slr_status status = make_library(&making, slri_embedded_bytes_metal, SLRI_MSL_3_0);
    if (status == SLR_OK)
        status = describe_pipeline(&making, making.name, SLRI_MT_TOOL_THREADS);
    if (status == SLR_OK)
        status = make_pipeline(&making, 0, &metal->tool);
    end_making(&making);
    return status;
}

slr_status slri_mt_code_tool(struct slri_metal *metal, slri_mt_id *out)
{
    slri_mutex_lock(&metal->base.kernels.lock);
    slr_status status = metal->tool ? SLR_OK : make_tool(metal);
    *out = metal->tool;
    slri_mutex_unlock(&metal->base.kernels.lock);
    return status;
}
