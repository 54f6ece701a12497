// SPDX-License-Identifier: Apache-2.0
// Kernel source of anybody's making. What the front end takes must pass the verifier, be emitted as C where it holds
// handlers only, and run in the interpreter; nothing that it does may leave its memory.
#include "fuzz.h"

#include "base/status.h"
#include "emit/c/emit_c.h"
#include "run/grid.h"
#include "run/interpreter.h"
#include "lang/kernel.h"

#include <string.h>

enum { STEPS = 20000, FUEL = 50, BOUND_BYTES = 64, BINDINGS_MAX = 64, REPLIES = 2 };
#define BYTES_MAX (1u << 20) // of a state, message or reply

static void emit(const struct slri_module *module)
{
    struct slri_text text = SLRI_TEXT_INIT;
    slr_status status = slri_emit_c(module, &text);
    FUZZ_CHECK(status == SLR_OK || status == SLR_UNSUPPORTED);
    slri_text_free(&text);
}

// Gives each binding some memory of its own, zeroed. False: too many.
static bool bind(const struct slri_entry *entry, struct slri_bound *bound)
{
    if (entry->bindings > BINDINGS_MAX)
        return false;
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_binding_info *binding = &entry->binding[i];
        bound[i].bytes = binding->is_buffer ? BOUND_BYTES : binding->type->bytes;
        bound[i].data = calloc(1, bound[i].bytes);
    }
    return true;
}

static void unbind(const struct slri_entry *entry, struct slri_bound *bound)
{
    for (uint32_t i = 0; i < entry->bindings; i++)
        free(bound[i].data);
}

static uint32_t bytes_of(const struct slri_type *type)
{
    return type != NULL && type->bytes <= BYTES_MAX ? (uint32_t)type->bytes : 0;
}

static void run_handler(const struct slri_interp *interp, const struct slri_entry *entry, uint32_t index,
                        const struct slri_bound *bound)
{
    struct slri_interp_thread *thread;
    uint32_t reply_bytes = bytes_of(entry->reply), stride = (reply_bytes + 7) / 8 * 8;
    if (bytes_of(entry->message) == 0 || (entry->state != NULL && bytes_of(entry->state) == 0))
        return;
    struct slri_call call = {.state = calloc(1, bytes_of(entry->state) + 1),
                             .message = calloc(1, bytes_of(entry->message)),
                             .bound = bound,
                             .reply_base = calloc(REPLIES, stride + 1),
                             .reply_mask = REPLIES - 1,
                             .reply_stride = stride,
                             .reply_bytes = reply_bytes,
                             .max_replies = REPLIES,
                             .fuel = FUEL};
    if (slri_interp_thread_create(interp, index, &thread) == SLR_OK) {
        slri_interp_thread_start(thread, &call);
        enum slri_progress progress = slri_interp_step(thread, STEPS, NULL);
        FUZZ_CHECK((slri_interp_fault(thread) != SLRI_FAULT_NONE) == (progress == SLRI_FAULTED));
        slri_interp_thread_destroy(thread);
    }
    free(call.state);
    free((void *)call.message);
    free(call.reply_base);
}

static void run_grid(const struct slri_interp *interp, const struct slri_entry *entry, uint32_t index,
                     const struct slri_bound *bound)
{
    struct slri_grid_end end;
    struct slri_grid grid = {
        .entry = index, .grid = {2, 1, 1}, .block = {3, 1, 1}, .arg = bound, .args = entry->bindings, .fuel = FUEL};
    if (slri_interpret_grid(interp, &grid, &end) != SLR_OK)
        FUZZ_CHECK(slr_error_message()[0] != '\0');
}

static void run(const struct slri_module *module)
{
    struct slri_interp *interp;
    if (slri_interp_create(module, &interp) != SLR_OK)
        return;
    for (uint32_t i = 0; i < module->entries; i++) {
        struct slri_bound bound[BINDINGS_MAX];
        if (!bind(&module->entry[i], bound))
            continue;
        (module->entry[i].kind == SLRI_ENTRY_RING ? run_handler : run_grid)(interp, &module->entry[i], i, bound);
        unbind(&module->entry[i], bound);
    }
    slri_interp_destroy(interp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct slri_source source = {.path = "fuzz.cu", .text = text};
    struct slri_module *module = NULL;
    slr_status status = slri_kernel_compile(&source, &module);
    FUZZ_CHECK(status == SLR_OK || status == SLR_COMPILE);
    if (status == SLR_OK) {
        FUZZ_CHECK(slri_module_verify(module) == NULL);
        emit(module);
        run(module);
        slri_module_destroy(module);
    } else {
        FUZZ_CHECK(strstr(slr_error_message(), "SLR-K") != NULL);
    }
    free(text);
    return 0;
}
