// SPDX-License-Identifier: Apache-2.0
// Findings as SARIF 2.1.0 (OASIS, 2020): what code hosts and editors read.
#include "kernel/finding.h"

#include "kernel/kernel.h"
#include "say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A path as a URI reference: all but what RFC 3986 leaves unreserved, and '/', is escaped.
static json_t *uri(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    char text[4096];
    size_t length = 0;
    if (path[0] == '/')
        length = (size_t)snprintf(text, sizeof text, "file://");
    for (; *path && length + 4 < sizeof text; path++) {
        if (strchr(plain, *path) != NULL)
            text[length++] = *path;
        else
            length += (size_t)snprintf(text + length, 4, "%%%02X", (unsigned char)*path);
    }
    text[length] = '\0';
    return json_string(text);
}

static json_t *location(const finding_place *place, const char *message)
{
    json_t *region = json_pack("{s:i}", "startLine", place->line ? (int)place->line : 1);
    if (place->column > 0)
        json_object_set_new(region, "startColumn", json_integer(place->column));
    json_t *made = json_pack("{s:{s:{s:o}, s:o}}", "physicalLocation", "artifactLocation", "uri", uri(place->file),
                             "region", region);
    if (message != NULL)
        json_object_set_new(made, "message", json_pack("{s:s}", "text", message));
    return made;
}

// The rules that are used, each once. Returns this one's index.
static size_t rule(json_t *rules, const finding *one)
{
    size_t index;
    json_t *known;
    json_array_foreach(rules, index, known)
    {
        if (strcmp(json_string_value(json_object_get(known, "id")), one->code) == 0)
            return index;
    }
    json_t *made = json_pack("{s:s}", "id", one->code);
    if (one->name != NULL)
        json_object_set_new(made, "name", kernel_text(one->name));
    if (one->advice != NULL)
        json_object_set_new(made, "help", json_pack("{s:o}", "text", kernel_text(one->advice)));
    json_array_append_new(rules, made);
    return json_array_size(rules) - 1;
}

static json_t *result(json_t *rules, const finding *one)
{
    json_t *made = json_pack("{s:s, s:I, s:s, s:{s:o}, s:[o], s:I}", "ruleId", one->code, "ruleIndex",
                             (json_int_t)rule(rules, one), "level", finding_level_name(one->level), "message", "text",
                             kernel_text(one->message), "locations", location(&one->at, NULL), "occurrenceCount",
                             (json_int_t)one->count);
    if (one->other.file != NULL)
        json_object_set_new(made, "relatedLocations", json_pack("[o]", location(&one->other, "the other place")));
    return made;
}

bool findings_write_sarif(const findings *all, const char *path)
{
    json_t *rules = json_array(), *results = json_array();
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(results, result(rules, &all->items[i]));
    json_t *log = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:s, s:o}]}", "$schema",
                            "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
                            "driver", "name", "slipring", "semanticVersion", SLR_VERSION, "rules", rules, "columnKind",
                            "utf16CodeUnits", "results", results);
    FILE *file = fopen(path, "w");
    bool is_written = file != NULL && json_dumpf(log, file, JSON_INDENT(1)) == 0;
    if (file != NULL && fclose(file) != 0)
        is_written = false;
    if (!is_written)
        say("cannot write '%s': %s", path, strerror(errno));
    json_decref(log);
    return is_written;
}
