// SPDX-License-Identifier: Apache-2.0
// What is inside the program, so that the demo runs wherever the program lies: the detector's source, the recording and
// its reference beats.
#include "demo/demo.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

// From the build: cmake/SlipringExamples.cmake.
extern const char ward_embedded_ward_cu[], ward_embedded_ward_h[];
extern const char beats_embedded_beats_cu[], beats_embedded_beats_h[];
extern const char ward_embedded_mitdb_208_excerpt_csv[], ward_embedded_reference_beats_csv[];

// A handler's source with its header in place of the line that includes it: text has no folder beside it.
static char *joined(const char *text, const char *include, const char *header)
{
    size_t bytes = strlen(text) + strlen(header) + 1;
    char *source = memory_take(bytes, 1);
    const char *at = strstr(text, include);
    size_t before = at != NULL ? (size_t)(at - text) : 0;
    const char *after = at != NULL ? at + strlen(include) : text;
    memcpy(source, text, before);
    strcpy(source + before, header);
    strcat(source + before, after);
    return source;
}

char *demo_source_make(void)
{
    return joined(ward_embedded_ward_cu, "#include \"ward.h\"\n", ward_embedded_ward_h);
}

char *demo_beats_source_make(void)
{
    return joined(beats_embedded_beats_cu, "#include \"beats.h\"\n", beats_embedded_beats_h);
}

// The next number of a column, behind its header or the number before.
static bool next_number(const char **at, long *out)
{
    char *end;
    const char *line = strchr(*at, '\n');
    if (line == NULL)
        return false;
    *out = strtol(line, &end, 10);
    *at = end;
    return end != line;
}

demo_record *demo_record_make(void)
{
    demo_record *record = memory_take(1, sizeof *record);
    const char *at = ward_embedded_mitdb_208_excerpt_csv;
    long number;
    for (size_t i = 0; i < DEMO_SAMPLES && next_number(&at, &number); i++)
        record->adc[i] = (short)number;
    memcpy(record->adc + DEMO_SAMPLES, record->adc, WARD_SAMPLES * sizeof *record->adc);
    at = ward_embedded_reference_beats_csv;
    while (record->reference_count < DEMO_MOST_BEATS && next_number(&at, &number))
        record->reference[record->reference_count++] = (unsigned)number;
    return record;
}

// 757 has no factor in common with the samples: no two patients begin at the same place.
uint32_t demo_offset(uint32_t patient)
{
    return (uint32_t)((uint64_t)patient * 757 % DEMO_SAMPLES);
}

const struct samples *demo_message(const demo_record *record, uint32_t patient, uint64_t number)
{
    uint64_t at = (demo_offset(patient) + number % DEMO_MESSAGES * WARD_SAMPLES) % DEMO_SAMPLES;
    return (const struct samples *)(record->adc + at); // a struct of shorts alone: aligned like one
}

struct ward_score demo_score(const demo_record *record, uint32_t patient, const demo_beats *beats)
{
    static unsigned found[DEMO_MOST_BEATS], expected[DEMO_MOST_BEATS];
    size_t count = record->reference_count, first = 0;
    unsigned offset = demo_offset(patient);
    while (first < count && record->reference[first] < offset)
        first++;
    for (size_t i = 0; i < count; i++)
        expected[i] = (record->reference[(first + i) % count] + DEMO_SAMPLES - offset) % DEMO_SAMPLES;
    for (size_t i = 0; i < beats->count; i++)
        found[i] = beats->all[i].at;
    return ward_score_beats(found, beats->count, expected, count);
}
