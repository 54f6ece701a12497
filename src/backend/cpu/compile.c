// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/compile.h"
#include "backend/cpu/compiler.h"
#include "base/cpu.h"
#include "base/dl.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "device/observe.h"
#include "kernel/cache.h"
#include "kernel/emit_c.h"
#include "kernel/emit_c_kernel.h"

#include <slipring/api.h>

#include <stdlib.h>
#include <string.h>

#define LIBRARY_SUFFIX ".so"

struct slri_cpu_library {
    slri_dl *code;
    bool was_cached;
};

// What one compilation works on.
struct job {
    const struct slri_module *module;
    const char *what; // a kernel's name, or the module's
    struct slri_cpu_compiler compiler;
    slri_text text, label; // what is compiled, and what the cache says of it
    const char *flag[9];   // beside slri_cpu_flags; up to NULL
    const uint32_t *cancel;
    slri_cache cache;
    char key[SLRI_HASH_HEX_BYTES];
};

static void put_field(slri_hash *hash, const char *text)
{
    slri_hash_field(hash, text, strlen(text));
}

// Everything that the machine code depends on.
static void make_key(struct job *job)
{
    char cpu[SLRI_CPU_IDENTITY_BYTES];
    slri_hash hash;
    slri_cpu_identity(cpu);
    slri_hash_init(&hash);
    put_field(&hash, "slipring " SLR_VERSION);
    put_field(&hash, cpu);
    put_field(&hash, job->compiler.identity);
    for (const char *const *flag = slri_cpu_flags; *flag; flag++)
        put_field(&hash, *flag);
    for (const char *const *flag = job->flag; *flag; flag++)
        put_field(&hash, *flag);
    slri_hash_field(&hash, job->module->source_hash, sizeof job->module->source_hash);
    slri_hash_field(&hash, job->text.data, job->text.length);
    slri_hash_hex(&hash, job->key);
}

static slr_status load(const char *path, bool was_cached, struct slri_cpu_library **out)
{
    struct slri_cpu_library *library = calloc(1, sizeof *library);
    if (!library)
        return SLRI_FAIL(NO_MEMORY, "no memory to load %s", path);
    library->was_cached = was_cached;
    slr_status status = slri_dl_open(path, &library->code);
    if (status == SLR_OK)
        *out = library;
    else
        free(library);
    return status;
}

// What was loaded is good: only then may others have it. Failing to keep it costs the next process a compilation.
static slr_status load_and_keep(struct job *job, const char *made, struct slri_cpu_library **out)
{
    if (load(made, false, out) != SLR_OK)
        return SLRI_FAIL(SYSTEM, "%s left what cannot be loaded: %s", job->compiler.path, slr_error_message());
    slri_cache_publish_file(&job->cache, job->key, LIBRARY_SUFFIX, made, slri_text_view(&job->label));
    return SLR_OK;
}

static slr_status compile_files(struct job *job, const char *source, const char *made, struct slri_cpu_library **out)
{
    slr_status status = slri_file_write_atomic(source, job->text.data, job->text.length);
    if (status == SLR_OK)
        status = slri_cpu_run_compiler(&job->compiler, source, made, job->flag, job->cancel);
    if (status == SLR_OK)
        status = load_and_keep(job, made, out);
    slri_file_remove(source);
    slri_file_remove(made);
    return status;
}

static slr_status compile_anew(struct job *job, struct slri_cpu_library **out)
{
    char *source = NULL, *made = NULL;
    slr_status status = slri_file_temporary_name(job->cache.folder, ".c", &source);
    if (status == SLR_OK)
        status = slri_file_temporary_name(job->cache.folder, LIBRARY_SUFFIX, &made);
    if (status == SLR_OK)
        status = compile_files(job, source, made, out);
    free(source);
    free(made);
    return status;
}

static slr_status find_or_compile(struct job *job, struct slri_cpu_library **out)
{
    char *entry;
    if (slri_cache_find(&job->cache, job->key, LIBRARY_SUFFIX, &entry) == SLR_OK) {
        slr_status status = load(entry, true, out);
        free(entry);
        if (status == SLR_OK)
            return SLR_OK; // else it was whole, but the loader will not have it: its replacement may fare better
    }
    return compile_anew(job, out);
}

// What was emitted, compiled unless the cache has it.
static slr_status finish(struct job *job, slr_status status, struct slri_cpu_library **out)
{
    uint64_t begin = slri_observe_begin();
    if (status == SLR_OK)
        status = slri_cache_open(&job->cache);
    if (status == SLR_OK) {
        make_key(job);
        status = find_or_compile(job, out);
        slri_cache_close(&job->cache);
    }
    slri_text_free(&job->text);
    slri_text_free(&job->label);
    if (begin != 0 && status == SLR_OK)
        slri_observe_compile(job->what, (*out)->was_cached, begin);
    return status;
}

static void label_handlers(struct job *job)
{
    const char *before = "";
    for (uint32_t i = 0; i < job->module->entries; ++i) {
        if (job->module->entry[i].kind == SLRI_ENTRY_KERNEL)
            continue;
        slri_text_printf(&job->label, "%s%s", before, job->module->entry[i].name);
        before = ", ";
    }
    slri_text_printf(&job->label, "\n%s\nhandlers, %s", job->module->name, job->compiler.version);
}

slr_status slri_cpu_compile(const struct slri_module *module, struct slri_cpu_library **out)
{
    struct job job = {.module = module, .what = module->name};
    SLRI_TRY(slri_cpu_find_compiler(&job.compiler));
    label_handlers(&job);
    return finish(&job, slri_emit_c(module, &job.text), out);
}

// ---- kernels -------------------------------------------------------------------------------------------------------

static const char *width_flag(uint32_t width)
{
    if (width == 1)
        return "-fno-tree-vectorize";
#if defined(__x86_64__)
    return width == 4   ? "-mprefer-vector-width=128"
           : width == 8 ? "-mprefer-vector-width=256"
                        : "-mprefer-vector-width=512"; // measured: 1.3 x 256 on matmul, as fast on what memory bounds
#else
    return NULL;
#endif
}

static void label_kernel(struct job *job, const struct slri_entry *entry, const struct slri_cpu_variant *variant)
{
    slri_text_printf(&job->label, "%s\n%s\nblock %u,%u,%u, optimize %u, ", entry->name, job->module->name,
                     variant->block[0], variant->block[1], variant->block[2], variant->level);
    if (variant->width != 0)
        slri_text_printf(&job->label, "vectors of %u, ", variant->width);
    slri_text_puts(&job->label, job->compiler.version);
}

slr_status slri_cpu_compile_kernel(const struct slri_module *module, const struct slri_entry *entry,
                                   const struct slri_cpu_variant *variant, struct slri_cpu_library **out)
{
    struct job job = {.module = module, .what = entry->name, .cancel = variant->cancel};
    int flags = 0;
    SLRI_TRY(slri_cpu_find_compiler(&job.compiler));
    bool gcc = !strstr(job.compiler.version, "clang");
    if (gcc)
        // A block's copy of a few lanes would become a memcpy, inline in vectors narrower than those that read it next:
        // their loads then wait for the stores (a tenth of matmul).
        job.flag[flags++] = "-fno-tree-loop-distribute-patterns";
    if (variant->level > 1) {
        job.flag[flags++] = "-O3";
        job.flag[flags++] = "-DSLRI_LONG";
        // Else a loop over 16 lanes is unrolled before it could become one vector operation: 33 to 2 GFLOP/s on matmul.
        if (gcc)
            job.flag[flags++] = "--param=max-completely-peel-times=8";
    }
    job.flag[flags] = width_flag(variant->width);
    label_kernel(&job, entry, variant);
    return finish(&job, slri_emit_c_kernel(module, entry, variant->block, &job.text), out);
}

slr_status slri_cpu_library_kernel(const struct slri_cpu_library *library, slri_kernel_blocks **out)
{
    slri_function found = NULL;
    SLRI_TRY(slri_dl_function(library->code, SLRI_KERNEL_SYMBOL, &found));
    *out = (slri_kernel_blocks *)found;
    return SLR_OK;
}

slr_status slri_cpu_library_symbol(const struct slri_cpu_library *library, const char *entry, slri_handler **out)
{
    slri_text symbol = SLRI_TEXT_INIT;
    slri_function found = NULL;
    slri_text_printf(&symbol, "%s%s", SLRI_ENTRY_SYMBOL_PREFIX, entry);
    slr_status status = symbol.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to look up %s", entry)
                                             : slri_dl_function(library->code, slri_text_view(&symbol), &found);
    slri_text_free(&symbol);
    if (status == SLR_OK)
        *out = (slri_handler *)found;
    return status;
}

bool slri_cpu_library_was_cached(const struct slri_cpu_library *library)
{
    return library->was_cached;
}

void slri_cpu_library_close(struct slri_cpu_library *library)
{
    if (!library)
        return;
    slri_dl_close(library->code);
    free(library);
}

slr_status slri_cpu_compiler(const char **path, const char **version)
{
    struct slri_cpu_compiler compiler;
    SLRI_TRY(slri_cpu_find_compiler(&compiler));
    *path = compiler.path;
    *version = compiler.version;
    return SLR_OK;
}
