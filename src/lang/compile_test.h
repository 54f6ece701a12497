// SPDX-License-Identifier: Apache-2.0
// For the tests of the checker and the lowering: text in, a module or diagnostics out.
#ifndef SLRI_LANG_COMPILE_TEST_H
#define SLRI_LANG_COMPILE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/text/diagnostics.h"
#include "lang/kernel.h"

#include <stdio.h>
#include <string.h>

static inline slr_status compile_quietly(const char *text, struct slri_module **module)
{
    struct slri_source source = {.path = "t.cu", .text = text};
    *module = NULL;
    return slri_kernel_compile(&source, module);
}

static inline struct slri_module *compile_text(const char *text)
{
    struct slri_module *module;
    if (compile_quietly(text, &module) != SLR_OK)
        fail_msg("%s\n---\n%s", slr_error_message(), text);
    return module;
}

static inline void assert_accepted(const char *text)
{
    slri_module_destroy(compile_text(text));
}

// Is `text` refused with number `code` at that place, and with `errors` errors in all? Says so where it is not.
static inline bool is_rejected(const char *text, unsigned code, unsigned line, unsigned column, unsigned errors)
{
    struct slri_module *module;
    char wanted[64];
    unsigned found = 0;
    slr_status status = compile_quietly(text, &module);
    const char *message = status == SLR_COMPILE ? slr_error_message() : slr_status_name(status);
    snprintf(wanted, sizeof wanted, "t.cu:%u:%u: error SLR-K%03u:", line, column, code);
    for (const char *at = message; (at = strstr(at, "error SLR-K")) != NULL; at++)
        found++;
    bool is_right = strstr(message, wanted) && found == errors;
    if (!is_right)
        print_error("wanted %u error(s), one of them %s\n--- %s\n---\n%s\n", errors, wanted, text, message);
    slri_module_destroy(module);
    return is_right;
}

static inline void assert_rejected(const char *text, unsigned code, unsigned line, unsigned column, unsigned errors)
{
    assert_true(is_rejected(text, code, line, column, errors));
}

// The same with one error, of a text in which ^^ stands before the offending token; `words` stand in the message.
static inline bool is_marked(const char *marked, unsigned code, const char *words)
{
    char text[4096];
    const char *mark = strstr(marked, "^^");
    assert_non_null(mark);
    size_t before = (size_t)(mark - marked);
    snprintf(text, sizeof text, "%.*s%s", (int)before, marked, mark + 2);
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < before; i++) {
        column = marked[i] == '\n' ? 1 : column + 1;
        line += marked[i] == '\n';
    }
    bool is_right = is_rejected(text, code, line, column, 1);
    if (is_right && !strstr(slr_error_message(), words)) {
        print_error("wanted the words \"%s\"\n---\n%s\n", words, slr_error_message());
        is_right = false;
    }
    return is_right;
}

#endif
