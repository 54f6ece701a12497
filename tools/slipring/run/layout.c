// SPDX-License-Identifier: Apache-2.0
#include "run/layout.h"

#include "number.h"

#include <string.h>

void layout_copy(const slr_layout *layout, unsigned char *to, const unsigned char *from)
{
    memset(to, 0, layout->bytes);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const slr_field *field = &layout->fields[i];
        memcpy(to + field->offset, from + field->offset, field->count * number_bytes(field->scalar));
    }
}
