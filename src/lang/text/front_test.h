// SPDX-License-Identifier: Apache-2.0
// For the tests of the front end's first half: one run over a text, its tokens as text, its diagnostics.
#ifndef SLRI_LANG_TEXT_FRONT_TEST_H
#define SLRI_LANG_TEXT_FRONT_TEST_H

#include "lang/text/diagnostics.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct front_run {
    struct slri_front front;
    struct slri_text spelled; // the tokens, a space between two
};

static inline void spell(struct front_run *run)
{
    for (uint32_t i = 0; i + 1 < run->front.tokens; i++) {
        const struct slri_token *token = &run->front.token[i];
        bool is_string = token->kind == SLRI_TOKEN_STRING;
        slri_text_printf(&run->spelled, is_string ? "%s\"%.*s\"" : "%s%.*s", i ? " " : "", (int)token->length,
                         token->text);
    }
}

static inline struct front_run run_source(const struct slri_source *source)
{
    struct front_run run = {.front = {.region = slri_region_create(), .source = source}};
    assert_non_null(run.front.region);
    run.front.report = slri_report_create(run.front.region);
    assert_non_null(run.front.report);
    assert_int_equal(slri_preprocess(&run.front), SLR_OK);
    assert_true(run.front.tokens > 0);
    assert_int_equal(run.front.token[run.front.tokens - 1].kind, SLRI_TOKEN_END);
    spell(&run);
    return run;
}

static inline struct front_run run_text(const char *text)
{
    static struct slri_source source;
    source = (struct slri_source){.path = "ward.cu", .text = text};
    return run_source(&source);
}

static inline void run_end(struct front_run *run)
{
    slri_text_free(&run->spelled);
    slri_region_destroy(run->front.region);
}

// `text` becomes `expected`, without a diagnostic.
static inline void assert_becomes(const char *text, const char *expected)
{
    struct front_run run = run_text(text);
    if (slri_report_errors(&run.front)) {
        slri_report_fail(&run.front);
        fail_msg("%s", slr_error_message());
    }
    assert_string_equal(slri_text_view(&run.spelled), expected);
    run_end(&run);
}

// `text` is refused with a message that starts with `expected` ("ward.cu:1:9: error SLR-K003").
static inline void assert_refused(const char *text, const char *expected)
{
    struct front_run run = run_text(text);
    assert_int_equal(slri_report_fail(&run.front), SLR_COMPILE);
    if (strncmp(slr_error_message(), expected, strlen(expected)) != 0)
        assert_string_equal(slr_error_message(), expected);
    run_end(&run);
}

#endif
