// SPDX-License-Identifier: Apache-2.0
// For the tests of emitters: a file, or a text under that name, to a module.
#ifndef SLRI_LANG_COMPILE_FILE_TEST_H
#define SLRI_LANG_COMPILE_FILE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/kernel.h"

static inline struct slri_module *compile(const char *path, const char *text)
{
    static const char *const folders[] = {SLIPRING_SOURCE_DIR "/src", SLIPRING_SOURCE_DIR "/include"};
    struct slri_source source = {.path = path, .text = text, .include = folders, .includes = 2};
    struct slri_module *module = NULL;
    if (slri_kernel_compile(&source, &module) != SLR_OK)
        print_error("%s\n", slr_error_message());
    assert_non_null(module);
    return module;
}

#endif
