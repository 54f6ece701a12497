// SPDX-License-Identifier: Apache-2.0
// CUDA C++ of anybody's making, of which only kernels' parameters are read: each that is found is one that the front
// end takes, or refuses with a reason.
#include "fuzz.h"

#include "base/status.h"
#include "lang/raw.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct slri_source source = {.path = "fuzz.cu", .text = text};
    struct slri_module *module;
    for (int is_table = 0; is_table < 2; is_table++) {
        slr_status status = slri_raw_compile(&source, is_table ? text : NULL, &module);
        FUZZ_CHECK(status == SLR_OK || (status == SLR_COMPILE && slr_error_message()[0] != '\0'));
        if (status == SLR_OK) {
            FUZZ_CHECK(module->entries != 0 && strcmp(module->raw, text) == 0);
            slri_module_destroy(module);
        }
    }
    free(text);
    return 0;
}
