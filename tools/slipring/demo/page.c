// SPDX-License-Identifier: Apache-2.0
// `slipring demo ward --report`: fills in demo_page.html, whose {{PATH|FORMAT}} are values of the object that --json
// prints, so that the page cannot say anything else. {{data}} is all that the page's script draws.
#include "demo/demo.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const char demo_embedded_page[]; // from the build: cmake/SlipringTools.cmake

static void put_escaped(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *entity = *text == '<'   ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '&' ? "&amp;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity != NULL)
            fputs(entity, file);
        else
            fputc(*text, file);
    }
}

// ---- the values ----------------------------------------------------------------------------------------------------

// "ways.2.p99_ns": names, and numbers where there is an array.
static const json_t *find(const json_t *at, const char *path)
{
    char name[64];
    while (at != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10)) : json_object_get(at, name);
        path += length + (path[length] == '.');
    }
    return at;
}

static const struct format {
    const char *name;
    double scale;
    int decimals; // -1: none, in groups of three digits
    const char *unit;
} formats[] = {
    {"count", 1.0, -1, ""}, {"us", 1e-3, 1, " &micro;s"}, {"seconds", 1.0, 1, " s"},
    {"ratio", 1.0, 3, ""},  {"rate", 1.0, 0, ""},         {"million", 1e-6, 1, " M"},
};

static const struct format milliseconds = {"ms", 1e-6, 1, " ms"};

static void put_number(FILE *file, const char *path, const char *name, double value)
{
    const struct format *format = formats;
    while (strcmp(format->name, name) != 0)
        format++;
    if (strcmp(name, "us") == 0 && value >= 999950)
        format = &milliseconds;
    char text[48];
    if (value == 0.0 && strcmp(name, "rate") == 0) // too few beats to know one
        strcpy(text, "-");
    else if (format->decimals >= 0)
        snprintf(text, sizeof text, "%.*f", format->decimals, value * format->scale);
    else
        snprintf(text, sizeof text, "%s", grouped(value * format->scale));
    fprintf(file, "<data data-path=\"%s\" value=\"%.9g\">%s%s</data>", path, value, text, format->unit);
}

static void put_value(FILE *file, const json_t *object, const char *path, const char *format)
{
    const json_t *value = find(object, path);
    if (json_is_string(value))
        put_escaped(file, json_string_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "yes" : "no", file);
    else
        put_number(file, path, format, json_number_value(value));
}

// ---- what the script draws
// ---------------------------------------------------------------------------------------------

// As differences: a third shorter.
static json_t *trace_json(const demo_record *record)
{
    json_t *all = json_array();
    for (int i = 0; i < DEMO_SAMPLES; i++)
        json_array_append_new(all, json_integer(record->adc[i] - (i > 0 ? record->adc[i - 1] : 0)));
    return all;
}

static json_t *beats_json(const demo_beats *beats)
{
    json_t *all = json_array();
    for (size_t i = 0; i < beats->count; i++)
        json_array_append_new(all, json_pack("[I, f, b]", (json_int_t)beats->all[i].at, (double)beats->all[i].rr_s,
                                             (int)beats->all[i].alarm));
    return all;
}

static json_t *reference_json(const demo_record *record)
{
    json_t *all = json_array();
    for (size_t i = 0; i < record->reference_count; i++)
        json_array_append_new(all, json_integer(record->reference[i]));
    return all;
}

static json_t *bins_json(const demo_way *way)
{
    json_t *all = json_array();
    for (size_t i = 0; i < DEMO_BINS; i++)
        json_array_append_new(all, json_integer((json_int_t)way->bins[i]));
    return all;
}

static json_t *drawn_json(const demo *demo, const json_t *figures)
{
    return json_pack("{s:O, s:i, s:i, s:o, s:o, s:o, s:{s:i, s:i, s:[o, o, o]}}", "figures", figures, "rate_hz",
                     WARD_RATE_HZ, "tolerance", WARD_TOLERANCE_SAMPLES, "trace", trace_json(demo->record), "beats",
                     beats_json(&demo->fast.first_beats), "reference", reference_json(demo->record), "histogram",
                     "first_ns", DEMO_BIN_NS, "per_octave", DEMO_BINS_PER_OCTAVE, "ways", bins_json(&demo->plain),
                     bins_json(&demo->handoff), bins_json(&demo->ring));
}

// Within <script> a "<" could end it; in JSON it stands in strings alone, where it may be written otherwise.
static void put_data(FILE *file, const demo *demo, const json_t *figures)
{
    json_t *drawn = drawn_json(demo, figures);
    char *text = json_dumps(drawn, JSON_COMPACT | JSON_REAL_PRECISION(9));
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '<')
            fputs("\\u003c", file);
        else
            fputc(*at, file);
    }
    free(text);
    json_decref(drawn);
}

// ---- the page
// --------------------------------------------------------------------------------------------------------

static void put_now(FILE *file)
{
    char text[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    fputs(text, file);
}

static void put_place(FILE *file, const demo *demo, const json_t *figures, const char *place, size_t length)
{
    char path[64];
    snprintf(path, sizeof path, "%.*s", (int)length, place);
    char *format = strchr(path, '|');
    if (format != NULL)
        *format++ = '\0';
    if (strcmp(path, "data") == 0)
        put_data(file, demo, figures);
    else if (strcmp(path, "now") == 0)
        put_now(file);
    else
        put_value(file, figures, path, format != NULL ? format : "count");
}

bool demo_page_write(const demo *demo, FILE *file)
{
    json_t *figures = demo_report_object(demo);
    const char *at = demo_embedded_page, *place;
    while ((place = strstr(at, "{{")) != NULL) {
        const char *end = strstr(place, "}}");
        fwrite(at, 1, (size_t)(place - at), file);
        put_place(file, demo, figures, place + 2, (size_t)(end - place - 2));
        at = end + 2;
    }
    fputs(at, file);
    json_decref(figures);
    return fflush(file) == 0 && !ferror(file);
}
