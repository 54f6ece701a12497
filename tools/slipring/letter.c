// SPDX-License-Identifier: Apache-2.0
#include "letter.h"

#include "json_out.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

void letter_print_json(const letter *letter)
{
    json_out out = {.to = stdout};
    char *digits = memory_take(2 * (size_t)letter->bytes + 1, 1); // else it ends: a letter left out would not be missed
    for (uint32_t i = 0; i < letter->bytes; i++)
        snprintf(digits + 2 * (size_t)i, 3, "%02x", letter->payload[i]);
    json_out_line(&out, NULL);
    if (letter->partition != LETTER_IN_FOLDER)
        json_out_integer(&out, "partition", (uint64_t)letter->partition);
    json_out_integer(&out, "sequence", letter->sequence);
    json_out_integer(&out, "message", letter->message);
    json_out_integer(&out, "instance", letter->instance);
    json_out_text(&out, "reason", letter->reason);
    json_out_text(&out, "bytes", digits);
    json_out_end_object(&out);
    free(digits);
}
