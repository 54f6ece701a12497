// SPDX-License-Identifier: Apache-2.0
// Names of exported symbols that several emitted files may have in one library.
#include "base/status.h"
#include "emit/c/emit_c.h"
#include "emit/c/kernel.h"

#include <string.h>

void slri_emit_c_key(const struct slri_text *text, char key[SLRI_HASH_HEX_BYTES])
{
    static const char line_mark[] = "#line ";
    slri_hash hash;
    slri_hash_init(&hash);
    for (const char *at = slri_text_view(text); *at;) {
        const size_t length = strcspn(at, "\n");
        if (strncmp(at, line_mark, sizeof line_mark - 1) != 0)
            slri_hash_field(&hash, at, length);
        at += at[length] ? length + 1 : length;
    }
    slri_hash_hex(&hash, key);
}

slr_status slri_emit_c_link(const struct slri_module *module, const struct slri_entry *entry, struct slri_text *text)
{
    char key[SLRI_HASH_HEX_BYTES];
    struct slri_text whole = SLRI_TEXT_INIT;
    slri_emit_c_key(text, key);
    if (entry && entry->kind == SLRI_ENTRY_KERNEL)
        slri_text_printf(&whole, "#define " SLRI_KERNEL_SYMBOL " " SLRI_KERNEL_SYMBOL "_%s\n", key);
    else
        for (uint32_t i = 0; i < module->entries; i++)
            if (module->entry[i].kind != SLRI_ENTRY_KERNEL)
                slri_text_printf(&whole, "#define " SLRI_ENTRY_SYMBOL_PREFIX "%s " SLRI_ENTRY_SYMBOL_PREFIX "%s_%s\n",
                                 module->entry[i].name, module->entry[i].name, key);
    slri_text_append(&whole, slri_text_view(text), text->length);
    slri_text_free(text);
    *text = whole;
    return text->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to emit '%s'", module->name) : SLR_OK;
}
