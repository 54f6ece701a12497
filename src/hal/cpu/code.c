// SPDX-License-Identifier: Apache-2.0
// Code: emitted C, the machine's C compiler and the loader; or the IR as it is, for the interpreter. Handlers are
// compiled all in one file, a kernel for each shape in its own.
#include "base/alloc.h"
#include "base/cpu.h"
#include "base/dl.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "emit/c/emit_c.h"
#include "emit/c/kernel.h"
#include "engine/cache.h"
#include "engine/code.h"
#include "hal/cpu/compiler.h"
#include "hal/cpu/cpu.h"
#include "run/interpreter.h"

#include <stdlib.h>
#include <string.h>

#define LIBRARY_SUFFIX ".so"

struct loaded {
    slri_dl *library; // one of the two
    struct slri_interp *interp;
};

// ---- writing -------------------------------------------------------------------------------------------------------

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

bool slri_cpu_takes_width(void)
{
    return width_flag(4) != NULL;
}

static void label_handlers(struct slri_code_text *text, const char *version)
{
    const char *before = "";
    for (uint32_t i = 0; i < text->module->entries; ++i) {
        if (text->module->entry[i].kind == SLRI_ENTRY_KERNEL)
            continue;
        slri_text_printf(&text->label, "%s%s", before, text->module->entry[i].name);
        before = ", ";
    }
    slri_text_printf(&text->label, "\n%s\nhandlers, %s%s", text->file, text->module->debug ? "to be debugged, " : "",
                     version);
}

static void label_kernel(struct slri_code_text *text, const char *version)
{
    const struct slri_kernel_shape *shape = &text->shape;
    slri_text_printf(&text->label, "%s\n%s\nblock %u,%u,%u, optimize %u, ", text->name, text->file, shape->block[0],
                     shape->block[1], shape->block[2], shape->level);
    if (shape->width != 0)
        slri_text_printf(&text->label, "vectors of %u, ", shape->width);
    slri_text_puts(&text->label, version);
}

// Behind slri_cpu_flags, of which -O0 takes -O2 back.
static void choose_flags(struct slri_code_text *text, bool gcc)
{
    const char **flag = text->option_room;
    text->option = text->option_room;
#if defined(_WIN32)
    // gcc for Windows loads and stores vectors of 32 bytes and more as if they were aligned, on a stack that is aligned
    // to 16 (GCC's bug 54412): its assembler can make them instructions that need no alignment.
    if (gcc)
        *flag++ = "-Wa,-muse-unaligned-vector-move";
#endif
    if (!gcc) { // it reads a[t * 7 % 64] of neighbouring t as one range, past where that wraps (LLVM's issue 156849)
        *flag++ = "-mllvm";
        *flag++ = "-enable-interleaved-mem-accesses=false";
    }
    if (text->entry && gcc)
        // A block's copy of a few lanes would become a memcpy, inline in vectors narrower than those that read it next:
        // their loads then wait for the stores (a tenth of matmul).
        *flag++ = "-fno-tree-loop-distribute-patterns";
    if (text->module->debug) {
        *flag++ = "-g";
        *flag++ = "-O0";
    } else if (text->module->guards) { // its kernels run once, and are not to be waited for
        *flag++ = "-O1";
        *flag++ = "-fno-tree-vectorize";
    } else if (text->entry && text->shape.level > 1) {
        *flag++ = "-O3";
        *flag++ = "-DSLRI_LONG";
        // Else a loop over 16 lanes is unrolled before it could become one vector operation: 33 to 2 GFLOP/s on matmul.
        if (gcc)
            *flag++ = "--param=max-completely-peel-times=8";
    }
    if (text->entry)
        *flag = width_flag(text->shape.width);
}

static void identify(struct slri_code_text *text, const struct slri_cpu_compiler *compiler)
{
    char cpu[SLRI_CPU_IDENTITY_BYTES], *folder = NULL;
    slri_cpu_identity(cpu);
    slri_code_identify(text, cpu);
    slri_code_identify(text, compiler->identity);
    for (const char *const *flag = slri_cpu_flags; *flag; flag++)
        slri_code_identify(text, *flag);
    if (text->module->debug) { // a debugger looks for the source from where the compiler was run
        slri_code_identify(text, slri_path_canonical(".", &folder) == SLR_OK ? folder : "");
        free(folder);
    }
    slri_text_append(&text->identity, (const char *)text->module->source_hash, sizeof text->module->source_hash);
}

static slr_status write_c(struct slri_code_text *text)
{
    struct slri_cpu_compiler compiler;
    SLRI_TRY(slri_cpu_find_compiler(&compiler));
    choose_flags(text, !strstr(compiler.version, "clang"));
    identify(text, &compiler);
    text->loads_stored = text->module->debug; // a debugger, and who looks at a core, read it there
    if (text->entry)
        label_kernel(text, compiler.version);
    else
        label_handlers(text, compiler.version);
    return text->entry ? slri_emit_c_kernel(text->module, text->entry, text->shape.block, &text->text)
                       : slri_emit_c(text->module, &text->text);
}

// Who compiles ahead (and may cancel it) asked for just that, and is told where it fails.
static bool may_interpret(struct slri_cpu *cpu, const struct slri_code_text *text, slr_status status)
{
    return !text->cancel && slri_cpu_was_broken(cpu, status);
}

slr_status slri_cpu_code_write(void *device, struct slri_code_text *text)
{
    struct slri_cpu *cpu = device;
    if (cpu->interpreted) {
        slri_dl *built;
        slri_cpu_find_built(text, &built); // else one kernel's code would be taken for all others'
        text->is_own = built != NULL;
        slri_dl_close(built);
        return SLR_OK;
    }
    if (!text->cancel && slri_cpu_is_broken(cpu))
        return SLR_OK;
    slr_status status = write_c(text);
    if (status == SLR_OK || !may_interpret(cpu, text, status))
        return status;
    slri_text_clear(&text->text);
    return SLR_OK;
}

// ---- compiling -----------------------------------------------------------------------------------------------------

// The text of what is to be debugged stays beside the entry, for who wants to read it, and so that a debugger finds it.
static bool keeps_source(const struct slri_code_text *text)
{
    return text->loads_stored && !text->why_private;
}

static slr_status name_source(const struct slri_code_text *text, char **source)
{
    if (!keeps_source(text))
        return slri_file_temporary_name(text->folder, ".c", source);
    slri_text name = SLRI_TEXT_INIT;
    slri_text_printf(&name, "%s/debug-%s.c", text->folder, text->key);
    *source = slri_text_take(&name);
    return *source ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a path");
}

static slr_status load_made(const struct slri_cpu_compiler *compiler, const char *made, slri_dl **library)
{
    return slri_dl_open(made, library) == SLR_OK
               ? SLR_OK
               : SLRI_FAIL(SYSTEM, "the output of %s cannot be loaded: %s", compiler->path, slr_error_message());
}

static slr_status compile_files(const struct slri_cpu_compiler *compiler, const struct slri_code_text *text,
                                const char *source, const char *made, slri_dl **library)
{
    slr_status status = slri_file_write_atomic(source, text->text.data, text->text.length);
    if (status == SLR_OK)
        status = slri_cpu_run_compiler(compiler, source, made, text->option, text->cancel);
    if (status == SLR_OK)
        status = load_made(compiler, made, library);
    if (!keeps_source(text))
        slri_file_remove(source);
    if (status != SLR_OK)
        slri_file_remove(made);
    return status;
}

// `*made`: the path of the library, to free(), whose file is there.
static slr_status compile(const struct slri_cpu_compiler *compiler, const struct slri_code_text *text, char **made,
                          slri_dl **library)
{
    char *source = NULL;
    if (!text->folder)
        return SLRI_FAIL(SYSTEM, "no folder to compile in: %s", text->why_private);
    SLRI_TRY(name_source(text, &source));
    slr_status status = slri_file_temporary_name(text->folder, LIBRARY_SUFFIX, made);
    if (status == SLR_OK) {
        status = compile_files(compiler, text, source, *made, library);
        if (status != SLR_OK) {
            free(*made);
            *made = NULL;
        }
    }
    free(source);
    return status;
}

static slr_status take_over(slri_dl *library, struct slri_interp *interp, void **out)
{
    struct loaded *made = malloc(sizeof *made);
    if (!made) {
        slri_dl_close(library);
        slri_interp_destroy(interp);
        return SLRI_FAIL(NO_MEMORY, "no memory for a program's code");
    }
    *made = (struct loaded){library, interp};
    *out = made;
    return SLR_OK;
}

static slr_status interpret(const struct slri_module *module, void **loaded)
{
    struct slri_interp *interp;
    SLRI_TRY(slri_interp_create(module, &interp));
    return take_over(NULL, interp, loaded);
}

slr_status slri_cpu_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded)
{
    struct slri_cpu_compiler compiler;
    slri_dl *library;
    if (text->text.length == 0) {
        slri_cpu_find_built(text, &library);
        return library ? take_over(library, NULL, loaded) : interpret(text->module, loaded);
    }
    slr_status status = slri_cpu_find_compiler(&compiler);
    if (status == SLR_OK)
        status = compile(&compiler, text, &blob->file, &library);
    if (status == SLR_OK)
        return take_over(library, NULL, loaded);
    return may_interpret(device, text, status) ? interpret(text->module, loaded) : status;
}

// The loader may refuse what is whole.
slr_status slri_cpu_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                              void **loaded)
{
    slri_dl *library;
    (void)device;
    if (slri_dl_open(blob->file, &library) != SLR_OK)
        return SLRI_FAIL(UNSUPPORTED, "%s: %s", text->name, slr_error_message());
    return take_over(library, NULL, loaded);
}

void slri_cpu_code_unload(void *device, void *loaded)
{
    struct loaded *dying = loaded;
    (void)device;
    slri_dl_close(dying->library);
    slri_interp_destroy(dying->interp);
    free(dying);
}

// ---- a trial of the compiler ---------------------------------------------------------------------------------------

static slr_status try_in_folder(const struct slri_cpu_compiler *compiler, struct slri_code_text *text)
{
    slri_cache cache;
    slri_dl *library = NULL;
    char *made = NULL;
    SLRI_TRY(slri_cache_open(&cache));
    text->folder = cache.folder;
    text->why_private = cache.why_private;
    slr_status status = compile(compiler, text, &made, &library);
    slri_dl_close(library); // Windows does not remove what is loaded
    if (made)
        slri_file_remove(made);
    free(made);
    slri_cache_close(&cache);
    return status;
}

slr_status slri_cpu_try_compiler(void)
{
    struct slri_code_text text = {.name = "a trial"};
    struct slri_cpu_compiler compiler;
    SLRI_TRY(slri_cpu_find_compiler(&compiler));
    compiler.tries = true;
    slri_text_puts(&text.text, "int slri_trial(void) { return 1; }\n");
    slr_status status = try_in_folder(&compiler, &text);
    slri_code_text_free(&text);
    if (status == SLR_OK)
        return status;
    return slri_fail(status, "the C compiler does not work (set SLIPRING_CC to use another): %s", slr_error_message());
}

slr_status slri_cpu_compiler(const char **path, const char **version)
{
    struct slri_cpu_compiler compiler;
    SLRI_TRY(slri_cpu_find_compiler(&compiler));
    *path = compiler.path;
    *version = compiler.version;
    return SLR_OK;
}

// ---- kernels and handlers ------------------------------------------------------------------------------------------

static slr_status find_kernel(const struct loaded *code, struct slri_kernel *out)
{
    slri_function found = NULL;
    out->native = code->interp;
    if (code->interp)
        return SLR_OK;
    SLRI_TRY(slri_dl_function(code->library, SLRI_KERNEL_SYMBOL, &found));
    out->blocks = (slri_kernel_blocks *)found;
    return SLR_OK;
}

// A handler of code that each thread has to find for itself; `self` is what slri_dl_function gave.
static uint32_t call_found(void *self, struct slri_call *call)
{
    return ((slri_handler *)slri_dl_here((slri_function)(uintptr_t)self))(NULL, call);
}

static slr_status find_handler(const struct loaded *code, const char *entry, struct slri_kernel *out)
{
    slri_text symbol = SLRI_TEXT_INIT;
    slri_function found = NULL;
    slri_text_printf(&symbol, "%s%s", SLRI_ENTRY_SYMBOL_PREFIX, entry);
    slr_status status = symbol.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to look up %s", entry)
                                             : slri_dl_function(code->library, slri_text_view(&symbol), &found);
    slri_text_free(&symbol);
    if (status != SLR_OK)
        return status;
    out->handler = SLRI_DL_IS_BY_THREAD ? call_found : (slri_handler *)found;
    out->native = SLRI_DL_IS_BY_THREAD ? (void *)(uintptr_t)found : NULL;
    return SLR_OK;
}

static void end_thread(void *device, void *native)
{
    (void)device;
    slri_interp_thread_destroy(native);
}

slr_status slri_cpu_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out)
{
    const struct loaded *code = loaded;
    (void)device;
    if (of->entry->kind == SLRI_ENTRY_KERNEL)
        return find_kernel(code, out);
    if (!code->interp)
        return find_handler(code, of->entry->name, out);
    struct slri_interp_thread *thread;
    SLRI_TRY(slri_interp_thread_create(code->interp, (uint32_t)(of->entry - of->module->entry), &thread));
    out->handler = slri_interp_handler;
    out->native = thread;
    out->release = end_thread;
    return SLR_OK;
}
