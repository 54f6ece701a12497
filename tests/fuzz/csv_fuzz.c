// SPDX-License-Identifier: Apache-2.0
#include "fuzz.h"
#include "records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_records(format_named("csv", 3), data, size);
}
