// SPDX-License-Identifier: Apache-2.0
// Finds the kernels of CUDA C++, or of a table of prototypes, without understanding it: comments, strings and
// directives are passed over, braces counted.
#include "lang/raw.h"
#include "base/status.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

// ---- words ---------------------------------------------------------------------------------------------------------

// A word, a string, or a character of its own; length 0 at the end.
struct word {
    const char *at;
    size_t length;
};

struct reader {
    const char *at;
    bool line_begins; // nothing but blanks so far on this line
};

static const char *behind_line(const char *at)
{
    for (; *at && *at != '\n'; at++)
        if (*at == '\\' && at[1]) // it goes on behind a splice
            at++;
    return at;
}

static const char *behind_comment(const char *at)
{
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

static const char *behind_quote(const char *at)
{
    char quote = *at++;
    for (; *at && *at != quote && *at != '\n'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at == quote ? at + 1 : at;
}

// R"tag( ... )tag", from its quote on.
static const char *behind_raw_string(const char *at)
{
    const char *open = at + 1 + strcspn(at + 1, "(\n");
    size_t tag = (size_t)(open - at - 1);
    if (*open != '(' || tag > 16)
        return behind_quote(at);
    for (const char *end = strchr(open, ')'); end; end = strchr(end + 1, ')'))
        if (strncmp(end + 1, at + 1, tag) == 0 && end[1 + tag] == '"')
            return end + tag + 2;
    return at + strlen(at);
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void pass_blanks(struct reader *r)
{
    for (;; r->at++) {
        if (*r->at == '\n')
            r->line_begins = true;
        else if (r->at[0] == '/' && r->at[1] == '/')
            r->at = behind_line(r->at) - 1;
        else if (r->at[0] == '/' && r->at[1] == '*')
            r->at = behind_comment(r->at) - 1;
        else if (*r->at == '#' && r->line_begins)
            r->at = behind_line(r->at) - 1;
        else if (!isspace((unsigned char)*r->at))
            return;
    }
}

static struct word next_word(struct reader *r)
{
    pass_blanks(r);
    r->line_begins = false;
    struct word word = {r->at, 0};
    if (*r->at == '"' || *r->at == '\'')
        r->at = behind_quote(r->at);
    else if (in_name(*r->at))
        while (in_name(*r->at))
            r->at++;
    else if (*r->at)
        r->at++;
    word.length = (size_t)(r->at - word.at);
    if (*r->at == '"' && word.length && word.at[word.length - 1] == 'R')
        r->at = behind_raw_string(r->at);
    return word;
}

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

// ---- kernels -------------------------------------------------------------------------------------------------------

struct kernel {
    struct word name, bounds; // bounds: what is in the brackets of __launch_bounds__, if they are numbers
    const char *parameters, *parameters_end;
};

// From behind an opening bracket to behind the one that closes it. False at the end of the text.
static bool pass_brackets(struct reader *r, const char **end)
{
    for (uint32_t depth = 1; depth > 0;) {
        struct word word = next_word(r);
        if (word.length == 0)
            return false;
        depth += is(word, "(");
        depth -= is(word, ")");
        *end = word.at;
    }
    return true;
}

static bool are_numbers(struct word text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!strchr("0123456789, ", text.at[i]))
            return false;
    return true;
}

// Behind `__global__`: what is declared, up to behind its parameters.
static bool read_kernel(struct reader *r, struct kernel *out)
{
    *out = (struct kernel){0};
    for (struct word before = {0}, word = next_word(r); word.length != 0; before = word, word = next_word(r)) {
        if (is(word, ";") || is(word, "{"))
            return false;
        if (!is(word, "("))
            continue;
        const char *begin = r->at, *end = begin;
        if (!pass_brackets(r, &end))
            return false;
        struct word inside = {begin, (size_t)(end - begin)};
        if (is(before, "__launch_bounds__") && are_numbers(inside))
            out->bounds = inside;
        if (before.length > 2 && memcmp(before.at, "__", 2) == 0) // a word of CUDA's, such as that
            continue;
        out->name = before;
        out->parameters = begin;
        out->parameters_end = end;
        return before.length != 0 && in_name(*before.at);
    }
    return false;
}

static void put_kernel(const struct kernel *kernel, struct slri_text *out)
{
    slri_text_printf(out, "__global__ ");
    if (kernel->bounds.length)
        slri_text_printf(out, "__launch_bounds__(%.*s) ", (int)kernel->bounds.length, kernel->bounds.at);
    slri_text_printf(out, "void %.*s(", (int)kernel->name.length, kernel->name.at);
    struct reader r = {.at = kernel->parameters};
    for (struct word word = next_word(&r); word.at < kernel->parameters_end && word.length; word = next_word(&r))
        slri_text_printf(out, "%.*s ", (int)word.length, word.at);
    slri_text_printf(out, ") {}\n");
}

// Where in the file it is: in how many braces, and at which of them an `extern "C"` began that covers what is in it.
struct place {
    uint32_t depth, linkage_depth;
    bool is_c, is_template; // of the declaration at hand
};

static void begin_declaration(struct place *place)
{
    place->is_c = place->is_template = false;
}

static void note_word(struct place *place, struct word word, struct word before)
{
    if (is(word, "\"C\"") && is(before, "extern"))
        place->is_c = true;
    else if (is(word, "template"))
        place->is_template = true;
    else if (is(word, "{")) {
        place->depth++;
        if (place->is_c && is(before, "\"C\"") && !place->linkage_depth)
            place->linkage_depth = place->depth;
        begin_declaration(place);
    } else if (is(word, "}")) {
        if (place->depth == place->linkage_depth)
            place->linkage_depth = 0;
        place->depth -= place->depth != 0;
        begin_declaration(place);
    } else if (is(word, ";"))
        begin_declaration(place);
}

static bool has_c_name(const struct place *place)
{
    return !place->is_template && (place->is_c || place->linkage_depth != 0) && place->depth == place->linkage_depth;
}

uint32_t slri_raw_read(const char *text, bool is_table, struct slri_text *out)
{
    struct reader r = {text, true};
    struct place place = {0};
    uint32_t count = 0;
    for (struct word before = {0}, word = next_word(&r); word.length != 0; before = word, word = next_word(&r)) {
        struct kernel kernel;
        note_word(&place, word, before);
        if (!is(word, "__global__"))
            continue;
        bool is_wanted = is_table || has_c_name(&place);
        struct reader behind = r;
        if (!read_kernel(&behind, &kernel))
            continue;
        struct reader after = behind;
        if (is_wanted && (is_table || is(next_word(&after), "{"))) {
            put_kernel(&kernel, out);
            count++;
        }
        r = behind;
    }
    return count;
}

// ---- a module ------------------------------------------------------------------------------------------------------

static slr_status check_module(const char *path, const struct slri_module *module)
{
    if (module->skippeds == 0)
        return SLR_OK;
    return SLRI_FAIL(COMPILE,
                     "%s: the parameters of kernel %s cannot be read: %s; slr_program_desc.raw_table can give them",
                     path, module->skipped[0].name, module->skipped[0].why);
}

// What it is a module of, and its bytes.
struct raw {
    const char *path;
    const void *bytes;
    size_t count;
};

static slr_status compile(const struct raw *raw, const char *prototypes, struct slri_module **out)
{
    struct slri_source only = {.path = raw->path, .text = prototypes};
    struct slri_module *module;
    SLRI_TRY(slri_kernel_compile(&only, &module));
    slr_status status = check_module(raw->path, module);
    if (status == SLR_OK)
        module->raw = slri_region_text(module->region, raw->bytes, raw->count);
    if (status == SLR_OK && !module->raw)
        status = SLRI_FAIL(NO_MEMORY, "no memory for %s", raw->path);
    if (status != SLR_OK) {
        slri_module_destroy(module);
        return status;
    }
    module->raw_bytes = raw->count;
    for (uint32_t i = 0; i < module->entries; i++)
        module->entry[i].function->uses |= SLRI_USES_DYNAMIC; // they may
    *out = module;
    return SLR_OK;
}

// `table`: NULL, or where the kernels are read instead of in the text.
static slr_status read_kernels(const struct raw *raw, const char *table, struct slri_module **out)
{
    struct slri_text prototypes = SLRI_TEXT_INIT;
    uint32_t count = slri_raw_read(table ? table : raw->bytes, table != NULL, &prototypes);
    slr_status status = SLR_OK;
    if (prototypes.out_of_memory)
        status = SLRI_FAIL(NO_MEMORY, "no memory for the kernels of %s", raw->path);
    else if (count == 0)
        status = SLRI_FAIL(
            COMPILE, "%s has no kernel%s", raw->path,
            table ? " in its table: \"__global__ void k(const float *x, int n);\" is one"
                  : " that is 'extern \"C\" __global__ void' at file scope; slr_program_desc.raw_table can name "
                    "those that macros make");
    if (status == SLR_OK)
        status = compile(raw, slri_text_view(&prototypes), out);
    slri_text_free(&prototypes);
    return status;
}

slr_status slri_raw_compile(const struct slri_source *source, const char *table, struct slri_module **out)
{
    const struct raw raw = {source->path, source->text, strlen(source->text)};
    return read_kernels(&raw, table, out);
}

slr_status slri_raw_take_spirv(const char *path, const char *table, const void *words, size_t bytes,
                               struct slri_module **out)
{
    enum { MAGIC = 0x07230203, LEAST_BYTES = 20 };
    uint32_t first = 0;
    const struct raw raw = {path, words, bytes};
    if (bytes >= LEAST_BYTES && bytes % sizeof first == 0)
        memcpy(&first, words, sizeof first);
    if (first != MAGIC)
        return SLRI_FAIL(COMPILE,
                         "%s is no SPIR-V module: its %zu bytes do not begin with 0x07230203 in this machine's byte "
                         "order; spirv-as makes modules of text",
                         path, bytes);
    return read_kernels(&raw, table, out);
}
