// SPDX-License-Identifier: Apache-2.0
// The one mailbox source as text for device compilers: its files in one, because there they cannot be included.
#include "engine/mailbox_text.h"

#include <string.h>

extern const char slri_embedded_mailbox_h[], slri_embedded_mailbox_layout_h[], slri_embedded_overflow_h[],
    slri_embedded_passage_h[], slri_embedded_pending_h[], slri_embedded_sender_h[];

// What a line that includes is replaced by; subset.h is host C's alone.
static const struct {
    const char *line, *text;
} included[] = {{"#include \"abi/mailbox.h\"", slri_embedded_mailbox_h},
                {"#include \"abi/mailbox_layout.h\"", slri_embedded_mailbox_layout_h},
                {"#include \"abi/overflow.h\"", slri_embedded_overflow_h},
                {"#include \"abi/pending.h\"", slri_embedded_pending_h},
                {"#include \"abi/sender.h\"", slri_embedded_sender_h},
                {"#include \"abi/subset.h\"", ""}};

static const char *text_for(const char *line, size_t bytes)
{
    for (size_t i = 0; i < sizeof included / sizeof *included; ++i)
        if (strlen(included[i].line) == bytes && memcmp(included[i].line, line, bytes) == 0)
            return included[i].text;
    return NULL;
}

static void put_header(slri_text *out, const char *line)
{
    while (*line) {
        size_t bytes = strcspn(line, "\n");
        const char *text = text_for(line, bytes);
        if (text)
            put_header(out, text);
        else
            slri_text_append(out, line, bytes);
        slri_text_puts(out, "\n");
        line += bytes + (line[bytes] == '\n');
    }
}

void slri_mailbox_text(slri_text *out)
{
    put_header(out, slri_embedded_passage_h);
}
