// SPDX-License-Identifier: Apache-2.0
// The page of `slipring demo ward --report`: well-formed, loading nothing, and saying what --json says. With figures
// made up here, and as the built program (SLIPRING_TOOL) writes it.
#include "demo/demo.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *read_all(FILE *file)
{
    size_t bytes = 0, capacity = 1 << 20, got;
    char *text = malloc(capacity);
    assert_non_null(text);
    while ((got = fread(text + bytes, 1, capacity - 1 - bytes, file)) > 0) {
        bytes += got;
        if (bytes == capacity - 1)
            assert_non_null(text = realloc(text, capacity *= 2));
    }
    text[bytes] = '\0';
    return text;
}

static char *page_of(const demo *demo)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(demo_page_write(demo, file));
    rewind(file);
    char *page = read_all(file);
    fclose(file);
    return page;
}

static demo *made_up_make(void)
{
    demo *demo = calloc(1, sizeof *demo);
    assert_non_null(demo);
    demo->options.patients = 1000;
    demo->record = demo_record_make();
    strcpy(demo->info.name, "cpu");
    strcpy(demo->info.engine, "a </script> & \"quoted\" <b>engine</b>");
    demo->plain = (demo_way){1294579.25, 1801, 3702, 6003, 0, {[20] = 7}};
    demo->handoff = (demo_way){68580, 20604, 37205, 9118906, 0, {[30] = 5, [31] = 2}};
    demo->ring = (demo_way){1900225.5, 13407, 30208, 53409, 3, {[32] = 6, [40] = 1}};
    demo->fast.patients = 100;
    demo->fast.messages = 300000;
    demo->fast.seconds = 1.5;
    demo->fast.all.f1 = 0.9915;
    demo->fast.first.f1 = 0.992;
    demo->fast.whole = demo->fast.same = true;
    demo->fast.first_beats = (demo_beats){.all = {{126, 0.0f, 0}, {500, 1.03889f, 1}}, .count = 2};
    demo->live.messages = 30000;
    demo->live.late = 4;
    demo->live.timed = 7;
    return demo;
}

static void made_up_free(demo *demo)
{
    free(demo->record);
    free(demo);
}

// ---- what the tests look at
// ------------------------------------------------------------------------------------------

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

// Reads the tag at `at` ('<'); its name, and what follows it. Attributes must be name="value".
static const char *read_tag(const char *at, char name[32], bool *closes)
{
    size_t length = 0;
    *closes = *++at == '/';
    at += *closes;
    while (isalnum((unsigned char)*at) && length < 31)
        name[length++] = *at++;
    name[length] = '\0';
    assert_true(length > 0);
    while (*at != '>' && *at != '/') {
        while (isspace((unsigned char)*at))
            at++;
        size_t attribute = strcspn(at, "= />\n");
        assert_true(attribute > 0 && at[attribute] == '=' && at[attribute + 1] == '"');
        const char *end = strchr(at + attribute + 2, '"');
        assert_non_null(end);
        at = end + 1;
    }
    if (*at == '/')
        return at + 1 + (strcpy(name, ""), 1);
    return at + 1;
}

// Each element that is opened is closed, in order. Void elements are not closed; a script holds no elements.
static void assert_well_formed(const char *page)
{
    static const char *const void_elements[] = {"meta", "br", "", NULL};
    static const char doctype[] = "<!DOCTYPE html>";
    char open[64][32], name[32];
    size_t depth = 0;
    bool closes;
    assert_memory_equal(page, doctype, sizeof doctype - 1);
    for (const char *at = page + sizeof doctype - 1; (at = strchr(at, '<')) != NULL;) {
        at = read_tag(at, name, &closes);
        if (is_one_of(name, void_elements))
            continue;
        if (closes) {
            assert_true(depth > 0);
            assert_string_equal(name, open[--depth]);
            continue;
        }
        assert_true(depth < 64);
        strcpy(open[depth++], name);
        if (strcmp(name, "script") == 0 || strcmp(name, "style") == 0)
            assert_non_null(at = strstr(at, strcmp(name, "script") == 0 ? "</script>" : "</style>"));
    }
    assert_int_equal(depth, 0);
}

static json_t *data_of(const char *page)
{
    static const char start[] = "<script type=\"application/json\" id=\"data\">";
    const char *from = strstr(page, start);
    assert_non_null(from);
    from += sizeof start - 1;
    json_error_t error;
    json_t *data = json_loadb(from, (size_t)(strstr(from, "</script>") - from), 0, &error);
    if (data == NULL)
        fail_msg("%s", error.text);
    return data;
}

static const json_t *find(const json_t *at, char *path)
{
    for (char *name = strtok(path, "."); name != NULL && at != NULL; name = strtok(NULL, "."))
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10)) : json_object_get(at, name);
    return at;
}

// What a reader sees ("1,234.5 &micro;s") is the value, rounded to the digits shown.
static void assert_shows(const char *text, double value)
{
    char digits[48];
    size_t count = 0;
    double last = 1.0;
    bool behind_point = false;
    if (strncmp(text, "-<", 2) == 0)
        return; // none known
    for (; (isdigit((unsigned char)*text) || *text == '.' || *text == ',') && count < sizeof digits - 1; text++) {
        last *= behind_point ? 0.1 : 1.0;
        behind_point = behind_point || *text == '.';
        if (*text != ',')
            digits[count++] = *text;
    }
    digits[count] = '\0';
    double scale = strncmp(text, " &micro;s<", 10) == 0                            ? 1e3
                   : strncmp(text, " M<", 3) == 0 || strncmp(text, " ms<", 4) == 0 ? 1e6
                                                                                   : 1.0;
    if (fabs(strtod(digits, NULL) * scale - value) > 0.51 * last * scale)
        fail_msg("'%s%.12s' is shown for %g", digits, text, value);
}

// Every figure of the page, as a program and as a reader sees it, is the one of --json. How many there are.
static size_t assert_figures_are(const char *page, const json_t *figures)
{
    size_t count = 0;
    for (const char *at = page; (at = strstr(at, "<data data-path=\"")) != NULL; count++, at++) {
        char path[64] = "", written[32] = "";
        assert_int_equal(sscanf(at, "<data data-path=\"%63[^\"]\" value=\"%31[^\"]\">", path, written), 2);
        char whole[64];
        strcpy(whole, path);
        const json_t *value = find(figures, path);
        if (value == NULL || !json_is_number(value))
            fail_msg("no number '%s' in --json", whole);
        double expected = json_number_value(value), got = strtod(written, NULL);
        if (fabs(got - expected) > 1e-8 * fabs(expected))
            fail_msg("%s is %.12g in --json and %.12g on the page", whole, expected, got);
        assert_shows(strchr(at, '>') + 1, expected);
    }
    return count;
}

static bool mentions_a_place_to_load_from(const char *page)
{
    return strstr(page, " src=") != NULL || strstr(page, "<link") != NULL || strstr(page, "@import") != NULL ||
           strstr(page, "url(http") != NULL || strstr(page, "fetch(") != NULL || strstr(page, "import(") != NULL;
}

// ---- tests
// ---------------------------------------------------------------------------------------------------------------

static void the_page_is_well_formed_and_loads_nothing(void **state)
{
    (void)state;
    demo *demo = made_up_make();
    char *page = page_of(demo);
    assert_well_formed(page);
    assert_false(mentions_a_place_to_load_from(page));
    assert_null(strstr(page, "{{"));
    assert_non_null(strstr(page, "a &lt;/script&gt; &amp; &quot;quoted&quot; &lt;b&gt;engine&lt;/b&gt;"));
    free(page);
    made_up_free(demo);
}

static void its_figures_are_those_of_the_json(void **state)
{
    (void)state;
    demo *demo = made_up_make();
    char *page = page_of(demo);
    json_t *figures = demo_report_object(demo), *data = data_of(page);
    assert_true(assert_figures_are(page, figures) >= 40);
    assert_non_null(strstr(page, "<data data-path=\"ways.1.p99_ns\" value=\"37205\">37.2 &micro;s</data>"));
    assert_non_null(strstr(page, "<data data-path=\"fast.messages\" value=\"300000\">300,000</data>"));
    assert_true(json_equal(json_object_get(data, "figures"), figures));
    json_decref(figures);
    json_decref(data);
    free(page);
    made_up_free(demo);
}

static void the_script_gets_recording_beats_and_bins(void **state)
{
    (void)state;
    demo *demo = made_up_make();
    char *page = page_of(demo);
    json_t *data = data_of(page), *trace = json_object_get(data, "trace");
    assert_int_equal(json_array_size(trace), DEMO_SAMPLES);
    long long at = 0;
    for (size_t i = 0; i < DEMO_SAMPLES; i++) {
        at += json_integer_value(json_array_get(trace, i));
        assert_int_equal(at, demo->record->adc[i]);
    }
    json_t *beats = json_object_get(data, "beats"), *last = json_array_get(beats, 1);
    assert_int_equal(json_array_size(beats), 2);
    assert_int_equal(json_integer_value(json_array_get(last, 0)), 500);
    assert_true(json_is_true(json_array_get(last, 2)));
    assert_int_equal(json_array_size(json_object_get(data, "reference")), demo->record->reference_count);
    json_t *ring = json_array_get(json_object_get(json_object_get(data, "histogram"), "ways"), 2);
    assert_int_equal(json_array_size(ring), DEMO_BINS);
    assert_int_equal(json_integer_value(json_array_get(ring, 32)), 6);
    json_decref(data);
    free(page);
    made_up_free(demo);
}

static void four_bins_make_an_octave(void **state)
{
    (void)state;
    assert_int_equal(demo_bin(0), 0);
    assert_int_equal(demo_bin(63), 0);
    assert_int_equal(demo_bin(64), 0);
    assert_int_equal(demo_bin(76), 0);
    assert_int_equal(demo_bin(77), 1);
    assert_int_equal(demo_bin(127.9), 3);
    assert_int_equal(demo_bin(128), 4);
    assert_int_equal(demo_bin(64e3 * 1.024), 40);
    assert_int_equal(demo_bin(1e12), DEMO_BINS - 1);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    demo *demo = made_up_make();
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_false(demo_page_write(demo, full));
    fclose(full);
    made_up_free(demo);
}

static void the_program_writes_the_page_beside_the_json(void **state)
{
    (void)state;
    char path[] = "/tmp/slipring-page-XXXXXX", command[512];
    const char *tool = getenv("SLIPRING_TOOL");
    assert_non_null(tool);
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    snprintf(command, sizeof command, "'%s' demo ward --patients 30 --seconds 3 --json --report '%s'", tool, path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    json_error_t error;
    json_t *figures = json_loadf(pipe, 0, &error);
    assert_int_equal(pclose(pipe), 0);
    assert_non_null(figures);
    FILE *file = fdopen(descriptor, "r");
    char *page = read_all(file);
    fclose(file);
    unlink(path);
    assert_well_formed(page);
    assert_true(assert_figures_are(page, figures) >= 40);
    json_decref(figures);
    free(page);
}

static void a_path_that_cannot_be_written_is_said_before_the_run(void **state)
{
    (void)state;
    char command[512], line[256] = "";
    snprintf(command, sizeof command, "'%s' demo ward --report /nowhere/page.html 2>&1", getenv("SLIPRING_TOOL"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    assert_string_equal(line, "slipring demo: --report: cannot open '/nowhere/page.html': No such file or directory\n");
    assert_null(fgets(line, sizeof line, pipe));
    int status = pclose(pipe);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_well_formed_and_loads_nothing),
        cmocka_unit_test(its_figures_are_those_of_the_json),
        cmocka_unit_test(the_script_gets_recording_beats_and_bins),
        cmocka_unit_test(four_bins_make_an_octave),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(the_program_writes_the_page_beside_the_json),
        cmocka_unit_test(a_path_that_cannot_be_written_is_said_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
