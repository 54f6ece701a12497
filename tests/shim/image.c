// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "tests/shim/image.h"
#include "tests/shim/lanes.h"
#include "tests/shim/metal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/process.h"
#include "engine/cache.h"
#include "ir/math/functions.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DYNAMIC 232448 // bytes of shared memory; elements here, of whatever type

struct shim_image {
    void *library;
    ElfW(Addr) base;
};

bool shim_is_on(void)
{
    const char *how = getenv("SLIPRING_FAKE_CUDA_BY");
    return how && strcmp(how, "text") == 0;
}

unsigned shim_hip_wave(void)
{
    const char *lanes = getenv("SLIPRING_FAKE_HIP_WAVE");
    return lanes && strcmp(lanes, "32") == 0 ? 32 : 64;
}

// ---- a text --------------------------------------------------------------------------------------------------------

static const char *skip_blank(const char *at)
{
    while (isspace((unsigned char)*at) || (at[0] == '\\' && at[1] == '\n'))
        ++at;
    return at;
}

static const char *skip_string(const char *at)
{
    while (*++at && *at != '"')
        at += at[0] == '\\' && at[1];
    return *at ? at + 1 : at;
}

// Behind the parenthesis that closes the one at `at`.
static const char *skip_parenthesis(const char *at)
{
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += (*at == '(') - (*at == ')');
        ++at;
    } while (depth != 0 && *at);
    return at;
}

// From behind `asm`, and what may stand there, to behind its statement's parenthesis. The template comes first, then
// the operands without their constraints; what it clobbers goes.
static const char *put_asm(const char *at, slri_text *out)
{
    const char *end = skip_parenthesis(at), *colon = at + 1;
    while (colon < end && *colon != ':')
        colon = *colon == '"' ? skip_string(colon) : colon + 1;
    bool has_operands = colon < end;
    slri_text_puts(out, "shim_ptx(");
    slri_text_append(out, at + 1, (size_t)(has_operands ? colon - at - 1 : end - at - 2));
    for (at = colon; at < end - 1;) {
        if (*at == '"')
            at = skip_string(at); // a constraint, or what is clobbered
        else if (*at == '(') {
            const char *behind = skip_parenthesis(at);
            slri_text_puts(out, ", ");
            slri_text_append(out, at, (size_t)(behind - at));
            at = behind;
        } else
            ++at;
    }
    slri_text_puts(out, ")");
    return end;
}

static bool is_word(const char *begin, const char *at, const char *word)
{
    size_t length = strlen(word);
    return strncmp(at, word, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_' &&
           (at == begin || (!isalnum((unsigned char)at[-1]) && at[-1] != '_'));
}

// `extern __shared__ float tile[]` in a function: behind the text stands a definition of it.
static void note_dynamic(const char *at, slri_text *definitions)
{
    const char *bracket = strpbrk(at, "[;{");
    const char *shared = strstr(at, "__shared__");
    if (!bracket || *bracket != '[' || !shared || shared > bracket)
        return;
    slri_text_append(definitions, at, (size_t)(bracket - at));
    slri_text_printf(definitions, "[%d];\n", MOST_DYNAMIC);
}

void shim_rewrite(const char *text, slri_text *out)
{
    slri_text definitions = SLRI_TEXT_INIT;
    const char *line = text;
    for (const char *at = text; *at;) {
        line = at == text || at[-1] == '\n' ? at : line;
        if (is_word(text, at, "asm")) {
            const char *open = skip_blank(at + 3);
            if (is_word(text, open, "volatile"))
                open = skip_blank(open + 8);
            if (*open == '(') {
                at = put_asm(open, out);
                continue;
            }
        }
        if (*line != '#' && is_word(text, at, "extern"))
            note_dynamic(at + 6, &definitions);
        slri_text_append(out, at++, 1);
    }
    if (strstr(text, "    SLRI_DYNAMIC;"))
        slri_text_printf(&definitions, "__shared__ SLRI_ALIGNED_16 unsigned char slri_dynamic[%d];", MOST_DYNAMIC);
    slri_text_puts(out, "\n");
    slri_text_puts(out, slri_text_view(&definitions));
    slri_text_puts(out, "\n");
    slri_text_free(&definitions);
}

// ---- math.h --------------------------------------------------------------------------------------------------------

static const char *const types[] = {
    [SLRI_MATH_F32] = "float",    [SLRI_MATH_F64] = "double",    [SLRI_MATH_I32] = "int",
    [SLRI_MATH_U32] = "unsigned", [SLRI_MATH_I64] = "long long", [SLRI_MATH_U64] = "unsigned long long"};

static void put_math(unsigned id, slri_text *out)
{
    const struct slri_math_function *f = &slri_math_functions[id];
    if (strncmp(f->name, "__slri_", 7) == 0) // the text's own
        return;
    slri_text_printf(out, "inline %s %s(", types[f->result], f->name);
    for (unsigned i = 0; i < f->arity; ++i)
        slri_text_printf(out, "%s%s a%u", i ? ", " : "", types[f->args[i]], i);
    slri_text_puts(out, ")\n{\n    const shim_word argument[] = {");
    for (unsigned i = 0; i < f->arity; ++i)
        slri_text_printf(out, "shim_bits(a%u), ", i);
    slri_text_printf(out,
                     "0, 0};\n    shim_word result;\n    shim->math(%u, argument, &result);\n"
                     "    return shim_from<%s>(result);\n}\n",
                     id, types[f->result]);
}

static void put_source(const struct shim_text *text, slri_text *out)
{
    if (shim_is_metal(text->text)) {
        slri_text_puts(out, "#line 1 \"text\"\n");
        shim_rewrite_metal(text->text, out);
        return;
    }
    if (strstr(text->text, "#define SLRI_HIP 1"))
        slri_text_printf(out, "#define SHIM_HIP %u\n", shim_hip_wave());
    slri_text_puts(out, "#include \"tests/shim/device.h\"\n");
    for (unsigned id = 0; id < SLRI_MATH_COUNT; ++id)
        put_math(id, out);
    slri_text_puts(out, "#line 1 \"text\"\n");
    shim_rewrite(text->text, out);
    for (size_t i = 0; i < text->kernels; ++i)
        slri_text_printf(out, "SHIM_KERNEL(%s)\n", text->kernel[i]);
}

// ---- compiling -----------------------------------------------------------------------------------------------------

#define COMPILER_S 120
#define MOST_OUTPUT 65536
#define MOST_OBJECT (64u << 20)

static const struct slri_cache_limits limits = {256u << 20, 30 * 86400};

// A call before each plain store (late.h), by what a kernel's sanitizer asks a compiler for.
#ifdef SHIM_CXX_IS_CLANG
#define TELLS_STORES                                                                                                   \
    "-mllvm", "-asan-instrumentation-with-call-threshold=0", "-mllvm", "-asan-instrument-reads=0", "-mllvm",           \
        "-asan-instrument-byval=0", "-mllvm", "-asan-stack=0", "-mllvm", "-asan-globals=0"
#else
#define TELLS_STORES                                                                                                   \
    "--param=asan-instrumentation-with-call-threshold=0", "--param=asan-instrument-reads=0", "--param=asan-stack=0",   \
        "--param=asan-globals=0"
#endif
#define OPTIONS                                                                                                        \
    "-std=c++17", "-fPIC", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-fno-exceptions",                       \
        "-fsanitize=kernel-address", TELLS_STORES

// SHIM_CXX, and a word more where a test wants one: -fsanitize=..., or another level.
static const char *more_option(void)
{
    const char *more = getenv("SLIPRING_SHIM_OPTION");
    return more ? more : "-O1";
}

static void put_file(slri_hash *hash, const char *path)
{
    char *content = NULL;
    size_t bytes = 0;
    if (slri_file_read(path, MOST_OBJECT, &content, &bytes) == SLR_OK)
        slri_hash_field(hash, content, bytes);
    free(content);
}

// All that an object is made of.
static void make_key(const slri_text *source, char name[SLRI_CACHE_NAME_BYTES])
{
    slri_hash hash;
    slri_file_identity compiler = {0};
    slri_file_identify(SHIM_CXX, &compiler);
    slri_hash_init(&hash);
    put_file(&hash, SHIM_SOURCE "/tests/shim/words.h");
    put_file(&hash, SHIM_SOURCE "/tests/shim/metal/metal_stdlib");
    put_file(&hash, SHIM_SOURCE "/tests/shim/device.h");
    put_file(&hash, SHIM_SOURCE "/tests/shim/device_hip.h");
    put_file(&hash, SHIM_SOURCE "/tests/shim/calls.h");
    slri_hash_field(&hash, &compiler, sizeof compiler);
    slri_hash_field(&hash, SHIM_CXX, sizeof SHIM_CXX);
    static const char *const options[] = {OPTIONS};
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i)
        slri_hash_field(&hash, options[i], strlen(options[i]));
    slri_hash_field(&hash, more_option(), strlen(more_option()));
    slri_hash_field(&hash, source->data, source->length);
    slri_hash_hex(&hash, name);
    strcat(name, ".o");
}

static slri_folder *open_folder(void)
{
    const char *where = getenv("SLIPRING_SHIM_CACHE");
    slri_folder *folder = NULL;
    if (slri_folder_open(where ? where : SHIM_CACHE, &folder) != SLR_OK) {
        fprintf(stderr, "shim: %s\n", slr_error_message());
        abort();
    }
    return folder;
}

static char *path_in(const slri_folder *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", slri_folder_path(folder), name) < 0)
        abort();
    return path;
}

// Runs a compiler that writes to `to`, by way of a temporary name. NULL, or what it said, to free().
static char *make_file(const slri_folder *folder, const char *const *argument, const char *to)
{
    char *temporary = NULL, *path = path_in(folder, to), *complaint = NULL;
    const char *all[40] = {SHIM_CXX, OPTIONS, more_option(), "-o"};
    size_t count = 0;
    slri_process_result result = {0};
    if (slri_file_temporary_name(slri_folder_path(folder), ".tmp", &temporary) != SLR_OK)
        abort();
    while (all[count])
        ++count;
    all[count++] = temporary;
    while (*argument)
        all[count++] = *argument++;
    slr_status status =
        slri_process_run(all, slri_deadline_after((uint64_t)COMPILER_S * 1000000000u), NULL, MOST_OUTPUT, &result);
    if (status != SLR_OK)
        complaint = strdup(slr_error_message());
    else if (result.exit_code != 0)
        complaint = strdup(result.output);
    else if (slri_file_rename(temporary, path) != SLR_OK)
        complaint = strdup(slr_error_message());
    if (complaint)
        slri_file_remove(temporary);
    else
        slri_cache_prune(folder, &limits, to, NULL);
    free(result.output);
    free(temporary);
    free(path);
    return complaint;
}

bool shim_checks_spaces(void)
{
    return *SHIM_CLANG;
}

// Of MSL: no pointer becomes one into another address space. NULL, or what the compiler said, to free().
static char *check_spaces(const slri_text *source, const char *path)
{
    static const char *const argument[] = {"-fsyntax-only", "-std=c++14",     "-w",
                                           "-DSHIM_SPACES", "-I" SHIM_SOURCE, "-I" SHIM_SOURCE "/tests/shim/metal"};
    const char *all[10] = {SHIM_CLANG};
    slri_process_result result = {0};
    if (!shim_checks_spaces() || !shim_is_metal(slri_text_view(source)))
        return NULL;
    memcpy(all + 1, argument, sizeof argument);
    all[1 + sizeof argument / sizeof *argument] = path;
    slr_status status =
        slri_process_run(all, slri_deadline_after((uint64_t)COMPILER_S * 1000000000u), NULL, MOST_OUTPUT, &result);
    char *complaint = status != SLR_OK        ? strdup(slr_error_message())
                      : result.exit_code != 0 ? strdup(result.output)
                                              : NULL;
    free(result.output);
    return complaint;
}

static char *compile(const slri_folder *folder, const slri_text *source, const char *name)
{
    char *path = NULL;
    if (slri_file_temporary_name(slri_folder_path(folder), ".cpp", &path) != SLR_OK)
        abort();
    const char *const argument[] = {"-I" SHIM_SOURCE, "-I" SHIM_SOURCE "/tests/shim/metal", "-c", path, NULL};
    slr_status status = slri_file_write_atomic(path, source->data, source->length);
    char *complaint = status == SLR_OK ? check_spaces(source, path) : strdup(slr_error_message());
    complaint = complaint ? complaint : make_file(folder, argument, name);
    if (!getenv("SLIPRING_SHIM_KEEP"))
        slri_file_remove(path);
    free(path);
    return complaint;
}

// The object's name in the folder.
static bool compile_in(const slri_folder *folder, const struct shim_text *text, char name[SLRI_CACHE_NAME_BYTES],
                       char **complaint)
{
    slri_text source = SLRI_TEXT_INIT;
    put_source(text, &source);
    make_key(&source, name);
    char *path = path_in(folder, name);
    *complaint = slri_file_is_there(path) ? NULL : compile(folder, &source, name);
    free(path);
    slri_text_free(&source);
    return !*complaint;
}

bool shim_compile(const struct shim_text *text, char **complaint)
{
    char name[SLRI_CACHE_NAME_BYTES];
    slri_folder *folder = open_folder();
    bool done = compile_in(folder, text, name, complaint);
    slri_folder_close(folder);
    return done;
}

// ---- loading -------------------------------------------------------------------------------------------------------

#define MOST_TEXTS 2

// The linked texts' content, to free().
static char *link_in(const slri_folder *folder, const struct shim_text *text, size_t texts, size_t *bytes)
{
    char name[MOST_TEXTS][SLRI_CACHE_NAME_BYTES], linked[SLRI_CACHE_NAME_BYTES], *content = NULL, *complaint = NULL;
    const char *argument[MOST_TEXTS + 4] = {"-shared", "-Wl,-Bsymbolic"};
    slri_hash hash;
    slri_hash_init(&hash);
    for (size_t i = 0; i < texts && !complaint; ++i) {
        compile_in(folder, &text[i], name[i], &complaint);
        slri_hash_field(&hash, name[i], strlen(name[i]));
        argument[2 + i] = path_in(folder, name[i]);
    }
    argument[2 + texts] = "-lm";
    slri_hash_hex(&hash, linked);
    strcat(linked, ".so");
    if (!complaint && slri_folder_read(folder, linked, MOST_OBJECT, true, &content, bytes) != SLR_OK) {
        complaint = make_file(folder, argument, linked);
        if (!complaint && slri_folder_read(folder, linked, MOST_OBJECT, true, &content, bytes) != SLR_OK)
            complaint = strdup(slr_error_message());
    }
    if (complaint)
        fprintf(stderr, "shim: %s\n", complaint);
    for (size_t i = 0; i < texts; ++i)
        free((char *)argument[2 + i]);
    free(complaint);
    return content;
}

// The loader takes two files of one name, or two names of one file, for one library: so each image is a file of its
// own, whose name lives as long as this takes.
static void *load(const slri_folder *folder, const void *content, size_t bytes)
{
    char *path = NULL;
    if (slri_file_temporary_name(slri_folder_path(folder), ".so", &path) != SLR_OK ||
        slri_file_write_atomic(path, content, bytes) != SLR_OK)
        abort();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "shim: %s\n", dlerror());
    slri_file_remove(path);
    free(path);
    return library;
}

struct shim_image *shim_image_load(const struct shim_text *text, size_t texts)
{
    slri_folder *folder = open_folder();
    size_t bytes = 0;
    char *content = link_in(folder, text, texts, &bytes);
    void *library = content ? load(folder, content, bytes) : NULL;
    slri_folder_close(folder);
    free(content);
    if (!library)
        return NULL;
    struct shim_image *made = calloc(1, sizeof *made);
    struct link_map *map = NULL;
    made->library = library;
    *(const struct shim_calls **)dlsym(library, "shim") = &shim_calls;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        made->base = map->l_addr;
    return made;
}

void shim_image_unload(struct shim_image *image)
{
    if (!image)
        return;
    dlclose(image->library);
    free(image);
}

shim_kernel *shim_image_kernel(const struct shim_image *image, const char *name)
{
    char symbol[256];
    snprintf(symbol, sizeof symbol, "shim_kernel_%s", name);
    union { // what POSIX asks for, and ISO C has no words for
        void *object;
        shim_kernel *kernel;
    } found = {dlsym(image->library, symbol)};
    return found.kernel;
}

struct part {
    const struct shim_image *image;
    unsigned char *at;
    size_t bytes;
};

static int find_part(struct dl_phdr_info *info, size_t size, void *user)
{
    struct part *part = user;
    (void)size;
    if (info->dlpi_addr != part->image->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data) {
            part->at = info->dlpi_tls_data;
            part->bytes = info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

unsigned char *shim_image_spoil_shared(const struct shim_image *image, size_t *bytes)
{
    struct part part = {.image = image};
    union {
        void *object;
        void *(*function)(void);
    } touch = {dlsym(image->library, "shim_touch_shared")};
    touch.function(); // a thread has it only then
    dl_iterate_phdr(find_part, &part);
    memset(part.at, 0xa5, part.bytes);
    *bytes = part.bytes;
    return part.at;
}
