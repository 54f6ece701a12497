// SPDX-License-Identifier: Apache-2.0
// Findings: taken from where they are made, and printed.
#include "kernel/finding.h"

#include "kernel/kernel.h"
#include "line.h"
#include "memory.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- taking --------------------------------------------------------------------------------------------------------

static char *copy(const char *text, size_t length)
{
    char *made = memory_take(length + 1, 1);
    memcpy(made, text, length);
    return made;
}

static char *copy_text(const char *text)
{
    return text != NULL ? copy(text, strlen(text)) : NULL;
}

static finding *append(findings *all)
{
    all->items = memory_grow(all->items, all->count + 1, sizeof *all->items);
    finding *made = &all->items[all->count++];
    *made = (finding){.level = SLR_CHECK_ERROR, .count = 1};
    return made;
}

static finding_place take_place(const slr_check_place *from)
{
    finding_place place = {.file = copy_text(from->file), .line = from->line, .column = from->column};
    memcpy(place.block, from->block, sizeof place.block);
    memcpy(place.thread, from->thread, sizeof place.thread);
    place.has_thread = from->file != NULL;
    return place;
}

void findings_take(findings *all, const slr_check *check)
{
    slr_check_finding from;
    slr_check_info info;
    slr_check_get_info(check, &info);
    for (uint32_t i = 0; slr_check_get_finding(check, i, &from) == SLR_OK; i++) {
        finding *to = append(all);
        snprintf(to->code, sizeof to->code, "SLR-C%03u", from.code);
        to->level = (slr_check_level)from.level;
        to->name = copy_text(from.name);
        to->message = copy_text(from.message);
        to->advice = copy_text(from.advice);
        to->kernel = copy_text(info.kernel);
        to->give = from.give ? copy_text(from.give) : NULL;
        to->at = take_place(&from.at);
        to->other = take_place(&from.other);
        to->count = from.count;
    }
}

// "FILE:12:9: error SLR-K012: TEXT". A file's name may hold colons: the words behind the numbers are looked for.
static bool take_error_line(findings *all, const char *line, size_t length)
{
    static const char words[] = ": error SLR-";
    char text[1024];
    snprintf(text, sizeof text, "%.*s", (int)length, line);
    char *error = strstr(text, words), *colon = error;
    unsigned number[2] = {0, 0}; // column, line
    if (error == NULL || strlen(error) < sizeof words + 4)
        return false;
    *error = '\0';
    for (int i = 0; i < 2; i++) {
        colon = strrchr(text, ':');
        if (colon == NULL || sscanf(colon, ":%u", &number[i]) != 1)
            break;
        *colon = '\0';
    }
    finding *made = append(all);
    const char *code = error + strlen(": error ");
    snprintf(made->code, sizeof made->code, "%.*s", (int)strcspn(code, ":"), code);
    code += strcspn(code, ":");
    made->message = copy_text(*code ? code + 2 : "");
    made->at = (finding_place){.file = copy_text(text), .line = number[1], .column = number[0]};
    return true;
}

void findings_take_errors(findings *all, const char *file, const char *message)
{
    size_t before = all->count;
    for (const char *line = message; *line;) {
        size_t length = strcspn(line, "\n");
        if (!take_error_line(all, line, length) && all->count > before && strncmp(line, "advice: ", 8) == 0)
            all->items[all->count - 1].advice = copy(line + 8, length - 8);
        line += length + (line[length] == '\n');
    }
    if (all->count > before)
        return;
    finding *made = append(all);
    snprintf(made->code, sizeof made->code, "SLR-K000");
    made->message = copy_text(message);
    made->at = (finding_place){.file = copy_text(file), .line = 1, .column = 1};
}

const finding *findings_take_left_out(findings *all, const slr_skipped_info *skipped)
{
    // "line 7: SLR-K123: TEXT"
    finding *made = append(all);
    const size_t place = strcspn(skipped->why, ":");
    const char *text = strstr(skipped->why, ": SLR-K");
    text = text != NULL ? strchr(text + 1, ':') : NULL;
    text = text != NULL ? text + 2 : skipped->why;
    const size_t bytes = strlen(skipped->what) + strlen(skipped->name) + strlen(skipped->why) + sizeof " '', : ";
    made->message = memory_take(bytes, 1);
    snprintf(made->message, bytes, "%s '%s', %.*s: %s", skipped->what, skipped->name, (int)place, skipped->why, text);
    snprintf(made->code, sizeof made->code, "SLR-K%03u", skipped->code);
    made->kernel = copy_text(skipped->name);
    made->at = (finding_place){.file = copy_text(skipped->file), .line = skipped->line, .column = 1};
    return made;
}

void findings_free(findings *all)
{
    for (size_t i = 0; i < all->count; i++) {
        finding *one = &all->items[i];
        free(one->name), free(one->message), free(one->advice), free(one->kernel), free(one->give);
        free(one->at.file), free(one->other.file);
    }
    free(all->items);
    *all = (findings){0};
}

size_t findings_count(const findings *all, slr_check_level level)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += all->items[i].level == level;
    return count;
}

const char *finding_level_name(slr_check_level level)
{
    return level == SLR_CHECK_ERROR ? "error" : level == SLR_CHECK_WARNING ? "warning" : "note";
}

// ---- for people ----------------------------------------------------------------------------------------------------

// A line of a file, without its end; NULL where there is none. To free().
static char *read_line(const char *path, unsigned number)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    long length = -1;
    for (unsigned i = 0; file != NULL && i < number; i++)
        if ((length = line_read(&line, &room, file)) < 0)
            break;
    if (file != NULL)
        fclose(file);
    if (length < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

static void print_source(const finding_place *place, const char *indent)
{
    char *line = read_line(place->file, place->line);
    if (line == NULL)
        return;
    say_out("%s%s\n%s", indent, line, indent);
    size_t length = strlen(line), before = place->column ? place->column - 1 : 0;
    before = before < length ? before : length;
    char *shown = memory_take(4 * before + 1, 1);
    slr_text_printable(line, before, shown, 4 * before + 1);
    for (const char *at = shown; *at; at++)
        if (((unsigned char)*at & 0xC0) != 0x80) // a character's later bytes take no room
            putchar(*at == '\t' ? '\t' : ' ');
    puts("^");
    free(shown);
    free(line);
}

void finding_print(const finding *one)
{
    say_out("%s:%u:%u: %s %s: %s\n", one->at.file, one->at.line, one->at.column, finding_level_name(one->level),
            one->code, one->message);
    print_source(&one->at, "");
    if (one->advice != NULL)
        say_out("advice: %s\n", one->advice);
    if (one->other.file != NULL) {
        say_out("note: the other place is %s:%u:%u\n", one->other.file, one->other.line, one->other.column);
        if (one->other.line != one->at.line || strcmp(one->other.file, one->at.file) != 0)
            print_source(&one->other, "    ");
    }
    if (one->count > 1)
        say_out("note: %llu more like this on %s\n", one->count - 1, one->other.file ? "these lines" : "this line");
}

// ---- as JSON -------------------------------------------------------------------------------------------------------

static json_t *place_json(const finding_place *place)
{
    json_t *object = json_pack("{s:o, s:i, s:i}", "file", kernel_text(place->file), "line", (int)place->line, "column",
                               (int)place->column);
    if (place->has_thread) {
        json_object_set_new(object, "block", json_pack("[i,i,i]", place->block[0], place->block[1], place->block[2]));
        json_object_set_new(object, "thread",
                            json_pack("[i,i,i]", place->thread[0], place->thread[1], place->thread[2]));
    }
    return object;
}

json_t *finding_json(const finding *one)
{
    json_t *object =
        json_pack("{s:s, s:s, s:o, s:o, s:I}", "code", one->code, "level", finding_level_name(one->level), "message",
                  kernel_text(one->message), "at", place_json(&one->at), "count", (json_int_t)one->count);
    if (one->name != NULL)
        json_object_set_new(object, "name", kernel_text(one->name));
    if (one->kernel != NULL)
        json_object_set_new(object, "kernel", kernel_text(one->kernel));
    if (one->advice != NULL)
        json_object_set_new(object, "advice", kernel_text(one->advice));
    if (one->give != NULL)
        json_object_set_new(object, "give", kernel_text(one->give));
    if (one->other.file != NULL)
        json_object_set_new(object, "other", place_json(&one->other));
    return object;
}
