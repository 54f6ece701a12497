// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <stdio.h>
#include <string.h>

static const char *const result_names[CTS_RESULTS] = {[CTS_PASSED] = "passed",
                                                      [CTS_BOUNDED] = "bounded",
                                                      [CTS_FAILED] = "failed",
                                                      [CTS_UNSUPPORTED] = "unsupported",
                                                      [CTS_HUNG] = "hung"};

// What is wrong with how a case ended; NULL: nothing, it is what known.c says.
static const char *what_is_wrong(cts_result result, cts_expectation expected)
{
    bool refused = result == CTS_UNSUPPORTED, passed = result == CTS_PASSED || result == CTS_BOUNDED;
    switch (expected) {
    case CTS_MUST_REFUSE:
        return refused  ? NULL
               : passed ? "passes, but tests/cts/known.c lists it as unsupported: take the line out, and renew the "
                          "matrix in docs/support.md (slipring-cts --matrix)"
                        : "listed as unsupported, and fails instead";
    case CTS_MUST_FAIL:
        return !passed && !refused ? NULL
                                   : "does not fail, but tests/cts/known.c lists it as a known failure: take the line "
                                     "out, and renew the matrix in docs/support.md (slipring-cts --matrix)";
    case CTS_MAY_FAIL:
        return refused ? "listed as a known failure, and is refused instead" : NULL;
    case CTS_MAY_REFUSE:
        return passed || refused ? NULL : "fails";
    default:
        return passed ? NULL : refused ? "is refused, and tests/cts/known.c does not say so" : "fails";
    }
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void print_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            printf("\\%c", byte);
        else if (byte < 0x20)
            printf("\\u%04x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

static void print_member(const char *before, const char *name, const char *value)
{
    printf("%s\"%s\": ", before, name);
    print_string(value);
}

static void print_case(report *out, const cts *c, const char *wrong, const char *reason)
{
    printf("%s\n      {", out->cases++ ? "," : "");
    print_member("", "area", c->what->area);
    print_member(", ", "name", c->what->name);
    print_member(", ", "result", result_names[c->result]);
    printf(", \"as_expected\": %s", wrong ? "false" : "true");
    if (wrong)
        print_member(", ", "wrong", wrong);
    if (c->result == CTS_BOUNDED)
        printf(", \"ulp\": %llu", (unsigned long long)c->ulp);
    else if (c->result != CTS_PASSED)
        print_member(", ", "why", c->why);
    if (reason)
        print_member(", ", "known", reason);
    if (c->note[0])
        print_member(", ", "note", c->note);
    if (c->ns > 0 && out->perf)
        printf(", \"ns\": %.0f", c->ns);
    printf("}");
}

// ---- text -----------------------------------------------------------------------------------------------------------

static void say_case(const report *out, const cts *c, const char *wrong, const char *reason)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", c->what->area, c->what->name);
    if (!wrong && !out->verbose && !out->perf)
        return;
    printf("  %-44s %s", name, result_names[c->result]);
    if (wrong)
        printf("\n    WRONG: it %s", wrong);
    if (c->result == CTS_BOUNDED)
        printf(", within %llu ULP", (unsigned long long)c->ulp);
    else if (c->result != CTS_PASSED)
        printf("%s%s", wrong ? "\n    " : ": ", c->why);
    if (reason && !wrong)
        printf(" (known: %s)", reason);
    if (c->note[0])
        printf("  %s", c->note);
    if (out->perf && c->ns > 0)
        printf("  %.1f us", c->ns / 1000);
    printf("\n");
}

// ---- all ------------------------------------------------------------------------------------------------------------

void report_begin(report *out, bool json, bool verbose, bool perf, bool goes_on)
{
    if (!goes_on)
        *out = (report){0};
    out->json = json;
    out->verbose = verbose;
    out->perf = perf;
    if (json && !goes_on)
        printf("{\"suite\": \"slipring-cts\", \"version\": \"%s\", \"reference\": \"%s\", \"devices\": [", SLR_VERSION,
               CTS_REFERENCE);
}

void report_closed(report *out, const char *spec, const char *why)
{
    if (!out->json) {
        printf("%s is left out: %s\n", spec, why);
        return;
    }
    printf("%s\n  {", out->devices++ ? "," : "");
    print_member("", "device", spec);
    print_member(", ", "left_out", why);
    printf("}");
}

void report_device(report *out, const cts_device *device)
{
    memset(out->count, 0, sizeof out->count);
    out->hung = false;
    out->cases = out->known = 0;
    *out->rest = '\0';
    if (!out->json) {
        printf("%s (%s; %s)\n", device->spec, device->info.description, device->info.engine);
        return;
    }
    printf("%s\n  {", out->devices++ ? "," : "");
    print_member("", "device", device->spec);
    print_member(", ", "kind", device->kind);
    print_member(", ", "description", device->info.description);
    print_member(", ", "engine", device->info.engine);
    printf(", \"cases\": [");
}

void report_case(report *out, const cts *c, const cts_device *on)
{
    const cts_known *entry;
    const char *wrong = what_is_wrong(c->result, cts_expected(on->kind, c->what, &entry));
    const char *reason = entry ? entry->reason : NULL;
    out->count[c->result]++;
    out->wrong += wrong != NULL;
    out->known += !wrong && (c->result == CTS_FAILED || c->result == CTS_HUNG);
    out->hung |= c->result == CTS_HUNG;
    if (out->json)
        print_case(out, c, wrong, reason);
    else
        say_case(out, c, wrong, reason);
    fflush(stdout);
}

void report_rest(report *out, const char *why)
{
    snprintf(out->rest, sizeof out->rest, "%s", why);
    out->wrong++;
    if (!out->json)
        printf("    WRONG: the other cases were not run: %s\n", why);
}

void report_device_end(report *out)
{
    const unsigned *n = out->count;
    if (out->json) {
        printf("],\n   ");
        if (*out->rest)
            print_member("", "not_run", out->rest);
        printf("%s\"passed\": %u, \"bounded\": %u, \"unsupported\": %u, \"failed\": %u, \"known_failures\": %u}",
               *out->rest ? ", " : "", n[CTS_PASSED], n[CTS_BOUNDED], n[CTS_UNSUPPORTED], n[CTS_FAILED] + n[CTS_HUNG],
               out->known);
    } else {
        printf("  %u passed, %u within their bounds, %u unsupported, %u failed, %u of them known\n", n[CTS_PASSED],
               n[CTS_BOUNDED], n[CTS_UNSUPPORTED], n[CTS_FAILED] + n[CTS_HUNG], out->known);
    }
}

void report_end(report *out)
{
    if (out->json)
        printf("\n], \"wrong\": %u}\n", out->wrong);
    else
        printf("%s\n", out->wrong ? "NOT as it should be" : "all as it should be");
}
