// SPDX-License-Identifier: Apache-2.0
// Files: which one an #include means, reading it once, and the source itself.
#include "lang/text/preprocess.h"

#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT_BYTES (4u << 20)
#define SOURCE_LIMIT_BYTES (64u << 20) // of all files, each as often as it is included
#define DEPTH_LIMIT 64

// ---- files ---------------------------------------------------------------------------------------------------------

// A zero byte would end the text early: it counts as a space.
static const char *without_zeros(struct slri_pp *pp, const char *content, size_t bytes)
{
    char *text = (char *)slri_region_text(pp->front->region, content, bytes);
    for (size_t i = 0; text && i < bytes; i++)
        if (!text[i])
            text[i] = ' ';
    return text;
}

#define DEFINES "<defines>"

static struct slri_loaded *remember(struct slri_pp *pp, const char *path, const char *content, size_t bytes)
{
    struct slri_loaded *loaded = slri_pp_take(pp, sizeof *loaded);
    loaded->path = slri_region_text(pp->scratch, path, strlen(path));
    loaded->text = without_zeros(pp, content, bytes);
    loaded->bytes = bytes;
    if (!loaded->path || !loaded->text)
        return NULL;
    loaded->next = pp->loaded;
    pp->loaded = loaded;
    slri_hash_field(&pp->hash, content, bytes);
    if (strcmp(path, DEFINES) != 0) // whose part of it is in already
        slri_hash_field(&pp->own_hash, content, bytes);
    return loaded;
}

static struct slri_loaded *find_loaded(struct slri_pp *pp, const char *path)
{
    struct slri_loaded *loaded = pp->loaded;
    while (loaded && strcmp(loaded->path, path) != 0)
        loaded = loaded->next;
    return loaded;
}

static slr_status read_file(struct slri_pp *pp, const char *path, const char *canonical, struct slri_loaded **out)
{
    char *content;
    size_t bytes;
    slr_status status = slri_file_read(path, FILE_LIMIT_BYTES, &content, &bytes);
    if (status != SLR_OK)
        return status;
    *out = remember(pp, canonical, content, bytes);
    free(content);
    if (!*out)
        slri_pp_give_up(pp, SLR_NO_MEMORY);
    return SLR_OK;
}

static slr_status load(struct slri_pp *pp, const char *path, struct slri_loaded **out)
{
    char *canonical;
    SLRI_TRY(slri_path_canonical(path, &canonical));
    *out = find_loaded(pp, canonical);
    slr_status status = *out ? SLR_OK : read_file(pp, path, canonical, out);
    free(canonical);
    return status;
}

// Enters the file into the front end's list and reads its lexemes.
static struct slri_lexeme *enter(struct slri_pp *pp, const char *name, const struct slri_loaded *loaded,
                                 struct slri_where where)
{
    struct slri_front *front = pp->front;
    pp->source_bytes += loaded->bytes;
    if (front->files == SLRI_FILES_LIMIT || pp->source_bytes > SOURCE_LIMIT_BYTES) {
        slri_pp_error(pp, where, SLRI_K_SOURCE_TOO_LARGE, "more than %d files or %u bytes are included",
                      SLRI_FILES_LIMIT, SOURCE_LIMIT_BYTES);
        slri_pp_give_up(pp, SLR_OK);
    }
    uint32_t file = front->files++;
    front->file[file] = slri_region_text(front->region, name, strlen(name));
    front->file_text[file] = loaded->text;
    if (!front->file[file])
        slri_pp_give_up(pp, SLR_NO_MEMORY);
    if (where.line) {
        slri_report_included(front, file, where);
        pp->include_depth[file] = pp->include_depth[where.file] + 1;
    }
    return slri_lex(pp, loaded->text, file);
}

static struct slri_lexeme *enter_text(struct slri_pp *pp, const char *name, const char *text, struct slri_where where)
{
    struct slri_loaded *loaded = find_loaded(pp, name);
    if (!loaded)
        loaded = remember(pp, name, text, strlen(text));
    if (!loaded)
        slri_pp_give_up(pp, SLR_NO_MEMORY);
    return loaded->once ? NULL : enter(pp, name, loaded, where);
}

struct slri_lexeme *slri_include_source(struct slri_pp *pp)
{
    const struct slri_source *source = pp->front->source;
    const struct slri_where nowhere = {0};
    const char *name = source->path ? source->path : "<source>";
    if (source->text) {
        if (strlen(source->text) > FILE_LIMIT_BYTES) {
            slri_pp_error(pp, nowhere, SLRI_K_SOURCE_TOO_LARGE, "more than %u bytes", FILE_LIMIT_BYTES);
            slri_pp_give_up(pp, SLR_OK);
        }
        return enter_text(pp, name, source->text, nowhere);
    }
    struct slri_loaded *loaded;
    slr_status status = load(pp, name, &loaded);
    if (status != SLR_OK)
        slri_pp_give_up(pp, status);
    return enter(pp, name, loaded, nowhere);
}

bool slri_source_defines(const struct slri_source *source, const char *name)
{
    size_t bytes = strlen(name);
    for (uint32_t i = 0; i < source->defines; i++)
        if (strncmp(source->define[i], name, bytes) == 0 && strchr("=(", source->define[i][bytes]))
            return true; // strchr finds the end, too
    return false;
}

// "NAME" and "NAME=VALUE" as lines of #define, so that there is one way to define a macro.
struct slri_lexeme *slri_include_defines(struct slri_pp *pp)
{
    const struct slri_source *source = pp->front->source;
    slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, "#define __SLIPRING__ 1\n#define __STDC__ 1\n#define __STDC_VERSION__ 201710L\n");
    for (uint32_t i = 0; i < source->defines; i++) {
        const char *define = source->define[i], *equals = strchr(define, '=');
        size_t name_bytes = equals ? (size_t)(equals - define) : strlen(define);
        slri_text_puts(&text, "#define ");
        for (const char *at = define; *at; at++)
            slri_text_append(&text, at == equals || *at == '\n' || *at == '\r' ? " " : at, 1);
        slri_text_puts(&text, define[name_bytes] ? "\n" : " 1\n");
    }
    slri_hash_field(&pp->own_hash, slri_text_view(&text), text.length);
    if (!source->is_emitted && !slri_source_defines(source, "__CUDA_ARCH__"))
        slri_text_printf(&text, "#define __CUDA_ARCH__ %u\n", source->cuda_arch ? source->cuda_arch : SLRI_CUDA_ARCH);
    const char *kept = text.out_of_memory ? NULL : slri_region_text(pp->scratch, slri_text_view(&text), text.length);
    slri_text_free(&text);
    if (!kept)
        slri_pp_give_up(pp, SLR_NO_MEMORY);
    return enter_text(pp, DEFINES, kept, (struct slri_where){0});
}

void slri_include_once(struct slri_pp *pp, uint32_t file)
{
    for (struct slri_loaded *loaded = pp->loaded; loaded; loaded = loaded->next)
        if (loaded->text == pp->front->file_text[file])
            loaded->once = true;
}

// ---- names ---------------------------------------------------------------------------------------------------------

struct header {
    const char *name; // NULL: the line names none
    bool is_angled;
};

// The lexemes' text up to `>`, for a name that macros made.
static const char *joined_name(struct slri_pp *pp, const struct slri_lexeme *less)
{
    slri_text text = SLRI_TEXT_INIT;
    const struct slri_lexeme *at = less->next;
    for (; at && !slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.greater) && text.length < FILE_LIMIT_BYTES;
         at = at->next) {
        if (at->space_before && at != less->next)
            slri_text_puts(&text, " ");
        slri_text_append(&text, at->text, at->length);
    }
    bool is_closed = at && !text.out_of_memory;
    const char *name = is_closed ? slri_intern(pp, slri_text_view(&text), text.length) : NULL;
    slri_text_free(&text);
    return name;
}

static struct header read_header(struct slri_pp *pp, struct slri_lexeme *line)
{
    struct header none = {NULL, false};
    if (line && line->kind == SLRI_LEXEME_NAME)
        line = slri_expand_all(pp, line, 0);
    if (!line)
        return none;
    if (slri_lexeme_is(line, SLRI_LEXEME_PUNCT, pp->word.less))
        return (struct header){joined_name(pp, line), true};
    if (line->kind != SLRI_LEXEME_STRING && line->kind != SLRI_LEXEME_HEADER)
        return none;
    const char *name = slri_intern(pp, line->text + 1, line->length - 2);
    return line->next || !*name ? none : (struct header){name, line->kind == SLRI_LEXEME_HEADER};
}

// "folder/name", or the name alone where there is no folder or the name is absolute.
static const char *path_in(struct slri_pp *pp, const char *folder, size_t folder_bytes, const char *name)
{
    if (!folder_bytes || name[0] == '/')
        return name;
    size_t name_bytes = strlen(name);
    bool has_slash = folder[folder_bytes - 1] == '/';
    char *path = slri_pp_take(pp, folder_bytes + name_bytes + 2);
    memcpy(path, folder, folder_bytes);
    path[folder_bytes] = '/';
    memcpy(path + folder_bytes + !has_slash, name, name_bytes + 1);
    return path;
}

static const char *beside(struct slri_pp *pp, uint32_t file, const char *name)
{
    const char *including = pp->front->file[file], *slash = strrchr(including, '/');
    return path_in(pp, including, slash ? (size_t)(slash - including) + 1 : 0, name);
}

// Whether the search ends here: the file was read (*loaded), or there is one that cannot be.
static bool try_path(struct slri_pp *pp, const char *path, struct slri_loaded **loaded, struct slri_where where)
{
    *loaded = NULL;
    slr_status status = load(pp, path, loaded);
    if (status == SLR_NO_MEMORY)
        slri_pp_give_up(pp, status);
    if (status == SLR_OK || status == SLR_NOT_FOUND)
        return status == SLR_OK;
    slri_pp_error(pp, where, SLRI_K_INCLUDE_UNREADABLE, "%s", slr_error_message());
    return true;
}

static bool find_file(struct slri_pp *pp, struct header header, const char **path, struct slri_loaded **loaded,
                      struct slri_where where)
{
    const struct slri_source *source = pp->front->source;
    *path = beside(pp, where.file, header.name);
    if (!header.is_angled && try_path(pp, *path, loaded, where))
        return true;
    for (uint32_t i = 0; i < source->includes; i++) {
        *path = path_in(pp, source->include[i], strlen(source->include[i]), header.name);
        if (try_path(pp, *path, loaded, where))
            return true;
    }
    return false;
}

static struct slri_lexeme *enter_builtin(struct slri_pp *pp, const char *name, const char *text,
                                         struct slri_where where)
{
    size_t bytes = strlen(name);
    char *bracketed = slri_pp_take(pp, bytes + 3); // no file has this name
    bracketed[0] = '<';
    memcpy(bracketed + 1, name, bytes);
    bracketed[bytes + 1] = '>';
    return enter_text(pp, bracketed, text, where);
}

struct slri_lexeme *slri_include(struct slri_pp *pp, struct slri_lexeme *line, struct slri_where where)
{
    struct header header = read_header(pp, line);
    if (!header.name) {
        slri_pp_error(pp, where, SLRI_K_BAD_INCLUDE, "#include without the name of a file, or with more than that");
        return NULL;
    }
    if (pp->include_depth[where.file] == DEPTH_LIMIT) {
        slri_pp_error(pp, where, SLRI_K_INCLUDE_DEPTH, "files include one another more than %d deep", DEPTH_LIMIT);
        return NULL;
    }
    const char *path, *builtin = slri_builtin_header(header.name);
    struct slri_loaded *loaded;
    if (builtin && header.is_angled)
        return enter_builtin(pp, header.name, builtin, where);
    if (find_file(pp, header, &path, &loaded, where))
        return !loaded || loaded->once ? NULL : enter(pp, path, loaded, where);
    if (builtin)
        return enter_builtin(pp, header.name, builtin, where);
    slri_pp_error(pp, where, SLRI_K_INCLUDE_NOT_FOUND, "there is no file '%s'", header.name);
    return NULL;
}
