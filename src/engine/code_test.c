// SPDX-License-Identifier: Apache-2.0
// Programs on a backend that counts: what is compiled, loaded, shared and let go of, and when.
#include "engine/code.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"
#include "engine/stream.h"
#include "ir/pass/handler_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

// ---- the backend ---------------------------------------------------------------------------------------------------

static struct {
    uint32_t written, built, loaded, unloaded, kernels, released, filled, freed, wrong; // atomic: built
    uint32_t holds; // atomic: the compiler, until it is 0
    uint32_t build_ms;
    slr_status build;       // OK, or how the next one ends
    uint32_t refused_until; // so many were built nothing is loaded
    uint32_t unfit;         // variants
    bool without_text, loads;
    uint32_t batched; // texts
    char content[16]; // of the text
} seen;

static slr_status write_text(void *device, struct slri_code_text *text)
{
    (void)device;
    __atomic_fetch_add(&seen.written, 1, __ATOMIC_RELAXED);
    seen.batched += text->is_batched;
    if (!seen.without_text)
        slri_text_printf(&text->text, "%s of %s, %u, for %u", seen.content, text->name, text->variant,
                         text->shape.block[0]);
    return SLR_OK;
}

static slr_status build_text(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded)
{
    (void)device;
    __atomic_fetch_add(&seen.built, 1, __ATOMIC_RELAXED);
    slri_sleep_ns(seen.build_ms * UINT64_C(1000000));
    while (__atomic_load_n(&seen.holds, __ATOMIC_ACQUIRE))
        slri_sleep_ns(100000);
    if (seen.build != SLR_OK)
        return seen.build = SLR_OK, SLRI_FAIL(COMPILE, "%s is refused", text->name);
    if (text->text.length == 0 || seen.loads)
        *loaded = malloc(1);
    if (text->text.length != 0) {
        blob->bytes = malloc(text->text.length);
        blob->count = text->text.length;
        memcpy(blob->bytes, text->text.data, blob->count);
    }
    return SLR_OK;
}

static slr_status load_blob(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                            void **loaded)
{
    (void)device;
    ++seen.loaded;
    assert_int_equal(blob->count, text->text.length);
    assert_memory_equal(blob->bytes, text->text.data, blob->count);
    if (seen.built < seen.refused_until)
        return SLRI_FAIL(UNSUPPORTED, "not for this device");
    *loaded = malloc(1);
    return SLR_OK;
}

static void unload(void *device, void *loaded)
{
    (void)device;
    ++seen.unloaded;
    free(loaded);
}

static void release(void *device, void *native)
{
    (void)device;
    ++seen.released;
    free(native);
}

static uint32_t handle(void *self, struct slri_call *call)
{
    (void)self, (void)call;
    return 0;
}

static slr_status find_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out)
{
    (void)device;
    ++seen.kernels;
    seen.wrong += loaded == NULL;
    *out = (struct slri_kernel){.native = malloc(1), .release = release, .most_threads = 64};
    out->is_unfit = of->variant < seen.unfit;
    out->batch.has_ticks = of->is_batched;
    if (of->entry->kind == SLRI_ENTRY_RING)
        out->handler = handle;
    return SLR_OK;
}

static slr_status memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    (void)device;
    assert_int_equal(kind, SLRI_MEMORY_DEVICE);
    ++seen.filled;
    *memory = calloc(1, bytes);
    return SLR_OK;
}

static void memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    (void)device, (void)bytes;
    assert_int_equal(kind, SLRI_MEMORY_DEVICE);
    ++seen.freed;
    free(memory);
}

static slr_status encode(void *device, void *queue, const struct slri_command *command,
                         const struct slri_extras *extras, uint32_t commands)
{
    (void)device, (void)extras;
    assert_null(queue);
    assert_int_equal(commands, 1);
    assert_int_equal(command->op, SLRI_COPY_IN);
    memcpy(command->copy.device, command->copy.host, command->copy.bytes);
    return SLR_OK;
}

static const struct slri_backend usual = {.name = "counting",
                                          .blob_suffix = ".test",
                                          .kernel_per = SLRI_KERNEL_PER_BLOCK,
                                          .memory_create = memory_create,
                                          .memory_destroy = memory_destroy,
                                          .encode = encode,
                                          .code_write = write_text,
                                          .code_build = build_text,
                                          .code_load = load_blob,
                                          .code_unload = unload,
                                          .code_kernel = find_kernel};

// ---- the program ---------------------------------------------------------------------------------------------------

static struct slri_backend backend;
static uint32_t opened;
static struct slri_queue_device queues = {.backend = &backend, .own = {.of = &queues}};
static struct slri_block nothing;
static struct slri_function plain = {.name = "plain", .body = &nothing}, counts = {.uses = SLRI_USES_GLOBAL};
static struct slri_function *functions[] = {&plain};
static struct slri_entry entries[] = {{.name = "adds", .kind = SLRI_ENTRY_KERNEL, .function = &plain},
                                      {.name = "counts", .kind = SLRI_ENTRY_KERNEL, .function = &counts},
                                      {.name = "hears", .kind = SLRI_ENTRY_RING, .function = &plain},
                                      {.name = "meets", .kind = SLRI_ENTRY_BLOCK, .function = &plain}};
#define ADDS (&entries[0])
#define COUNTS (&entries[1])
#define HEARS (&entries[2])
#define MEETS (&entries[3])
static const unsigned char three[4] = {3};
static const struct slri_type word = {.kind = SLRI_U32, .bytes = 4};
static struct slri_global variable = {.name = "variable", .type = &word, .data = three};
static struct slri_module module = {.name = "some.cu",
                                    .entry = entries,
                                    .entries = sizeof entries / sizeof *entries,
                                    .function = functions,
                                    .functions = 1,
                                    .global = &variable,
                                    .globals = 1,
                                    .global_bytes = 4};
static char folder[256];

static int set_up(void **state)
{
    (void)state;
    static uint32_t tests;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/slipring-code-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    setenv("SLIPRING_CACHE_DIR", folder, 1);
    memset(&seen, 0, sizeof seen);
    snprintf(seen.content, sizeof seen.content, "test %u", tests++);
    backend = usual;
    opened = 0;
    return 0;
}

static int tear_down(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static struct slri_code *create(void)
{
    const struct slri_code_desc desc = {.backend = &backend, .module = &module, .opened = &opened, .queues = &queues};
    struct slri_code *code = NULL;
    assert_int_equal(slri_code_create(&desc, &code), SLR_OK);
    return code;
}

static const struct slri_ready_kernel *prepare(struct slri_code *code, const struct slri_entry *entry, uint32_t threads)
{
    const struct slri_kernel_shape shape = {.block = {threads, 1, 1}, .level = 2};
    const struct slri_ready_kernel *ready = NULL;
    if (slri_code_prepare(code, entry, &shape, NULL, &ready) != SLR_OK)
        fail_msg("%s", slr_error_message());
    assert_ptr_equal(ready->entry, entry);
    return ready;
}

static slr_status refused(struct slri_code *code, const uint32_t *cancel, uint32_t threads)
{
    const struct slri_kernel_shape shape = {.block = {threads, 1, 1}, .level = 2};
    const struct slri_ready_kernel *ready = NULL;
    slr_status status = slri_code_prepare(code, ADDS, &shape, cancel, &ready);
    assert_null(ready);
    return status;
}

// All that was made has gone.
static void destroy(struct slri_code *code)
{
    slri_code_destroy(code);
    assert_int_equal(seen.released, seen.kernels);
    assert_int_equal(seen.wrong, 0);
}

// ---- kernels -------------------------------------------------------------------------------------------------------

static void kernel_is_made_once_per_what_tells_kernels_apart(void **state)
{
    static const uint32_t built[] = {1, 1, 2}, kernels[] = {1, 2, 2};
    (void)state;
    for (uint32_t per = SLRI_KERNEL_PER_ENTRY; per <= SLRI_KERNEL_PER_SHAPE; ++per) {
        assert_int_equal(set_up(NULL), 0);
        backend.kernel_per = per;
        struct slri_code *code = create();
        const struct slri_ready_kernel *first = prepare(code, ADDS, 32);
        assert_ptr_equal(prepare(code, ADDS, 32), first);
        assert_int_equal(prepare(code, ADDS, 64) == first, per == SLRI_KERNEL_PER_ENTRY);
        assert_int_equal(seen.built, built[per]);
        assert_int_equal(seen.kernels, kernels[per]);
        destroy(code);
        assert_int_equal(seen.unloaded, built[per]);
        assert_int_equal(tear_down(NULL), 0);
    }
}

static void next_program_finds_the_code_in_the_cache(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; ++i) {
        struct slri_code *code = create();
        prepare(code, ADDS, 32);
        assert_int_equal(seen.built, 1);
        assert_int_equal(seen.loaded, i + 1);
        destroy(code);
    }
}

static void stored_code_that_is_refused_is_compiled_anew(void **state)
{
    (void)state;
    struct slri_code *code = create();
    prepare(code, ADDS, 32);
    destroy(code);
    seen.refused_until = 2;
    code = create();
    prepare(code, ADDS, 32);
    assert_int_equal(seen.built, 2);
    destroy(code);
    assert_int_equal(seen.unloaded, 2);
}

static void what_the_compiler_has_loaded_is_not_loaded_again(void **state)
{
    (void)state;
    seen.loads = true;
    struct slri_code *code = create();
    prepare(code, ADDS, 32);
    assert_int_equal(seen.loaded, 0);
    destroy(code);
    code = create();
    prepare(code, ADDS, 32); // it was stored all the same
    assert_int_equal(seen.built, 1);
    assert_int_equal(seen.loaded, 1);
    destroy(code);
    assert_int_equal(seen.unloaded, 2);
}

static void variant_that_does_not_fit_a_block_gives_way_to_the_next(void **state)
{
    (void)state;
    struct slri_code *code = create();
    const struct slri_ready_kernel *fits = prepare(code, ADDS, 32);
    seen.unfit = 1;
    assert_true(prepare(code, ADDS, 33) != fits);
    assert_int_equal(seen.built, 2);
    prepare(code, ADDS, 34); // both are loaded by now
    assert_int_equal(seen.built, 2);
    assert_int_equal(seen.kernels, 5);
    assert_ptr_equal(prepare(code, ADDS, 32), fits);
    destroy(code);
    assert_int_equal(seen.unloaded, 2);
}

static void failure_is_told_and_the_next_call_tries_again(void **state)
{
    (void)state;
    struct slri_code *code = create();
    seen.build = SLR_COMPILE; // once
    assert_int_equal(refused(code, NULL, 32), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "adds is refused"));
    prepare(code, ADDS, 32);
    destroy(code);
}

static void cancelled_kernel_is_not_made(void **state)
{
    const uint32_t cancel = 1;
    (void)state;
    struct slri_code *code = create();
    assert_int_equal(refused(code, &cancel, 32), SLR_WRONG_STATE);
    assert_int_equal(seen.written, 0);
    destroy(code);
}

static void block_with_more_threads_than_registers_allow_is_refused(void **state)
{
    (void)state;
    backend.kernel_per = SLRI_KERNEL_PER_ENTRY;
    struct slri_code *code = create();
    prepare(code, ADDS, 64);
    assert_int_equal(refused(code, NULL, 65), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "kernel adds: a block of 65 threads"));
    destroy(code);
}

// ---- threads -------------------------------------------------------------------------------------------------------

struct racer {
    slri_thread thread;
    struct slri_code *code;
    const struct slri_entry *entry;
    const struct slri_ready_kernel *ready;
};

static void race(void *user)
{
    struct racer *racer = user;
    racer->ready = prepare(racer->code, racer->entry, 32);
}

static void threads_that_want_one_kernel_compile_it_once(void **state)
{
    enum { RACERS = 4 };
    struct racer racer[RACERS];
    (void)state;
    seen.build_ms = 50;
    struct slri_code *code = create();
    for (uint32_t i = 0; i < RACERS; ++i) {
        racer[i] = (struct racer){.code = code, .entry = ADDS};
        assert_int_equal(slri_thread_start(&racer[i].thread, "racer", race, &racer[i]), SLR_OK);
    }
    for (uint32_t i = 0; i < RACERS; ++i) {
        slri_thread_join(&racer[i].thread);
        assert_ptr_equal(racer[i].ready, racer[0].ready);
    }
    assert_int_equal(seen.built, 1);
    assert_int_equal(seen.kernels, 1);
    destroy(code);
}

static void kernel_that_is_ready_is_found_while_another_is_compiled(void **state)
{
    (void)state;
    struct slri_code *code = create();
    struct racer racer = {.code = code, .entry = COUNTS};
    prepare(code, ADDS, 32);
    __atomic_store_n(&seen.holds, 1, __ATOMIC_RELEASE);
    assert_int_equal(slri_thread_start(&racer.thread, "racer", race, &racer), SLR_OK);
    while (__atomic_load_n(&seen.built, __ATOMIC_RELAXED) != 2)
        slri_sleep_ns(100000);
    prepare(code, ADDS, 32);
    assert_int_equal(seen.kernels, 1); // the other is not ready yet
    __atomic_store_n(&seen.holds, 0, __ATOMIC_RELEASE);
    slri_thread_join(&racer.thread);
    destroy(code);
}

// ---- variables and other lives of the device ------------------------------------------------------------------------

static void variables_begin_anew_behind_a_reopening(void **state)
{
    (void)state;
    for (uint32_t keeps = 0; keeps < 2; ++keeps) {
        void *memory;
        assert_int_equal(set_up(NULL), 0);
        backend.keeps_context = keeps != 0;
        struct slri_code *code = create();
        const struct slri_ready_kernel *before = prepare(code, COUNTS, 32);
        assert_memory_equal(before->globals, three, 4);
        assert_int_equal(slri_code_globals(code, &memory), SLR_OK);
        assert_ptr_equal(before->globals, memory);
        ((unsigned char *)memory)[0] = 9;
        assert_null(prepare(code, ADDS, 32)->globals);
        ++opened;
        const struct slri_ready_kernel *after = prepare(code, COUNTS, 32);
        assert_true(after != before);
        assert_memory_equal(after->globals, three, 4);
        assert_int_equal(slri_code_globals(code, &memory), SLR_OK);
        assert_ptr_equal(after->globals, memory);
        assert_int_equal(seen.filled, 2);
        assert_int_equal(seen.freed, keeps); // else it went with what it lay in
        assert_int_equal(seen.built, 2);     // the cache has it
        assert_int_equal(seen.loaded, keeps ? 2 : 3);
        if (!keeps)
            free(before->globals);
        destroy(code);
        assert_int_equal(seen.freed, keeps + 1);
        assert_int_equal(seen.unloaded, seen.loaded);
        assert_int_equal(tear_down(NULL), 0);
    }
}

// ---- handlers ------------------------------------------------------------------------------------------------------

static void handlers_of_the_host_are_compiled_with_the_program_in_one(void **state)
{
    slri_handler *handler;
    void *first, *second;
    (void)state;
    backend.is_host = true;
    struct slri_code *code = create();
    assert_int_equal(seen.built, 1);
    assert_int_equal(slri_code_handler(code, HEARS, &handler, &first), SLR_OK);
    assert_int_equal(slri_code_handler(code, HEARS, &handler, &second), SLR_OK);
    assert_true(handler == handle && first != second);
    assert_int_equal(seen.built, 1);
    slri_code_handler_end(code, first);
    slri_code_handler_end(code, second);
    destroy(code);
}

static void code_without_text_is_shared_by_the_program(void **state)
{
    (void)state;
    seen.without_text = true;
    backend.is_host = true;
    backend.kernel_per = SLRI_KERNEL_PER_SHAPE;
    struct slri_code *code = create();
    prepare(code, ADDS, 32);
    prepare(code, ADDS, 64);
    assert_int_equal(seen.built, 1);
    destroy(code);
    assert_int_equal(seen.unloaded, 1);
}

static uint32_t ends;
static void note_end(void *user, const struct slri_code *code)
{
    *(uint32_t *)user += seen.unloaded == 0 && slri_code_module(code) == &module;
}

static void each_ring_kernel_has_a_kernel_of_batches_from_one_code(void **state)
{
    struct slri_ready_kernel first = {0}, second = {0}, third = {0};
    struct slri_kernel none = {0};
    (void)state;
    struct slri_code *code = create();
    slri_code_on_end(code, note_end, &ends);
    prepare(code, ADDS, 32);
    assert_int_equal(seen.batched, 0); // a kernel of a grid is none
    assert_int_equal(slri_code_batched(code, HEARS, SLRI_BATCH_THREADS, &first), SLR_OK);
    assert_int_equal(slri_code_batched(code, HEARS, SLRI_BATCH_THREADS, &second), SLR_OK);
    assert_int_equal(seen.batched, 1);
    assert_int_equal(seen.built, 2);
    assert_true(first.kernel.batch.has_ticks);
    assert_ptr_not_equal(first.kernel.native, second.kernel.native);
    assert_int_equal(first.entry->kind, SLRI_ENTRY_KERNEL); // that the pass has made
    assert_string_equal(first.entry->name, "hears");
    assert_ptr_equal(first.entry, second.entry);
    assert_int_equal(slri_code_batched(code, MEETS, SLRI_BATCH_THREADS, &third), SLR_OK);
    assert_int_equal(third.entry->kind, SLRI_ENTRY_KERNEL);
    assert_string_equal(third.entry->name, "meets");
    assert_int_equal(seen.batched, 2);
    slri_code_batched_end(code, &first.kernel);
    slri_code_batched_end(code, &second.kernel);
    slri_code_batched_end(code, &third.kernel);
    slri_code_batched_end(code, &none);
    assert_null(first.kernel.native);
    assert_int_equal(seen.released, 3);
    destroy(code);
    assert_int_equal(ends, 1); // before the code goes
    assert_int_equal(seen.unloaded, 3);
}

static void code_of_batches_that_is_refused_gives_no_kernel(void **state)
{
    struct slri_ready_kernel ready = {0};
    (void)state;
    struct slri_code *code = create();
    seen.build = SLR_COMPILE;
    assert_int_equal(slri_code_batched(code, HEARS, SLRI_BATCH_THREADS, &ready), SLR_COMPILE);
    assert_null(ready.kernel.native);
    assert_int_equal(slri_code_batched(code, HEARS, SLRI_BATCH_THREADS, &ready), SLR_OK); // another try
    slri_code_batched_end(code, &ready.kernel);
    destroy(code);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_is_made_once_per_what_tells_kernels_apart),
        TEST(next_program_finds_the_code_in_the_cache),
        TEST(stored_code_that_is_refused_is_compiled_anew),
        TEST(what_the_compiler_has_loaded_is_not_loaded_again),
        TEST(variant_that_does_not_fit_a_block_gives_way_to_the_next),
        TEST(failure_is_told_and_the_next_call_tries_again),
        TEST(cancelled_kernel_is_not_made),
        TEST(block_with_more_threads_than_registers_allow_is_refused),
        TEST(threads_that_want_one_kernel_compile_it_once),
        TEST(kernel_that_is_ready_is_found_while_another_is_compiled),
        cmocka_unit_test(variables_begin_anew_behind_a_reopening),
        TEST(handlers_of_the_host_are_compiled_with_the_program_in_one),
        TEST(code_without_text_is_shared_by_the_program),
        TEST(each_ring_kernel_has_a_kernel_of_batches_from_one_code),
        TEST(code_of_batches_that_is_refused_gives_no_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
