// SPDX-License-Identifier: Apache-2.0
// Batched launches over a backend that keeps what it is given: a launch is a copy, a dispatch and a copy, or, where the
// host works in the same memory, a dispatch.
#include "engine/relaunch.h"

#include "base/status.h"
#include "engine/code.h"
#include "engine/loss.h"
#include "ir/pass/handler_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---- a backend -----------------------------------------------------------------------------------------------------

enum { MOST = 8, SHARDS = 2, BATCH = 20 };

static struct {
    struct slri_command command[MOST];
    struct slri_extras extras[MOST];
    uint32_t commands, calls, waits, memories, queues;
    uint32_t views;    // memories that the host works in, too
    uint32_t fails_at; // 1 + the command that fails; 0: none
    bool is_lost;      // by that
} seen;

static slr_status memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    (void)device;
    assert_true(kind == SLRI_MEMORY_DEVICE || kind == SLRI_MEMORY_SEEN);
    ++seen.memories;
    seen.views += kind == SLRI_MEMORY_SEEN;
    *memory = calloc(1, bytes);
    return SLR_OK;
}

static void memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    (void)device, (void)bytes;
    --seen.memories;
    seen.views -= kind == SLRI_MEMORY_SEEN;
    free(memory);
}

static slr_status queue_create(void *device, uint32_t priority, void **queue)
{
    (void)device, (void)priority;
    ++seen.queues;
    *queue = &seen;
    return SLR_OK;
}

static void queue_destroy(void *device, void *queue)
{
    (void)device, (void)queue;
    --seen.queues;
}

static slr_status encode_one(const struct slri_command *command, const struct slri_extras *extras)
{
    assert_true(seen.commands < MOST);
    if (seen.fails_at == seen.commands + 1 && seen.is_lost)
        return SLRI_FAIL(DEVICE_LOST, "command %u has hung", seen.commands);
    if (seen.fails_at == seen.commands + 1)
        return SLRI_FAIL(SYSTEM, "command %u is refused", seen.commands);
    seen.command[seen.commands] = *command;
    seen.extras[seen.commands++] = *extras;
    if (command->op == SLRI_COPY_IN)
        memcpy(command->copy.device, command->copy.host, command->copy.bytes);
    if (command->op == SLRI_COPY_OUT)
        memcpy(command->copy.host, command->copy.device, command->copy.bytes);
    if (command->op == SLRI_FILL)
        memset(command->fill.device, command->fill.pattern[0], command->fill.bytes);
    return SLR_OK;
}

static slr_status encode(void *device, void *queue, const struct slri_command *command,
                         const struct slri_extras *extras, uint32_t commands)
{
    (void)device;
    assert_ptr_equal(queue, &seen);
    ++seen.calls;
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(encode_one(&command[i], &extras[i]));
    return SLR_OK;
}

static slr_status await(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    (void)device, (void)queue, (void)deadline_ns;
    ++seen.waits;
    if (times)
        *times = (struct slri_times){.from_ns = 1000, .to_ns = 1700};
    return SLR_OK;
}

static struct slri_loss loss;

static slr_status facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    (void)device, (void)index, (void)info;
    *out = (struct slri_facts){.loss = &loss, .queue = {.moves_over = true}};
    return SLR_OK;
}

static slr_status write_text(void *device, struct slri_code_text *text)
{
    (void)device;
    assert_true(text->is_batched);
    return SLR_OK; // without text nothing is compiled
}

static slr_status build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded)
{
    (void)device, (void)text, (void)blob;
    *loaded = &seen;
    return SLR_OK;
}

static void unload(void *device, void *loaded)
{
    (void)device, (void)loaded;
}

static slr_status find_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out)
{
    (void)device, (void)loaded, (void)of;
    out->native = &seen;
    return SLR_OK;
}

static const struct slri_backend backend = {.name = "keeping",
                                            .facts = facts,
                                            .memory_create = memory_create,
                                            .memory_destroy = memory_destroy,
                                            .encode = encode,
                                            .wait = await,
                                            .queue_create = queue_create,
                                            .queue_destroy = queue_destroy,
                                            .code_write = write_text,
                                            .code_build = build,
                                            .code_unload = unload,
                                            .code_kernel = find_kernel};

// The same, with memory that the host works in: `sees` of them.
static uint32_t sees;

static void locate(void *device, const void *memory, struct slri_memory_place *out)
{
    (void)device;
    *out = (struct slri_memory_place){.host = sees != 0 && sees-- ? (void *)(uintptr_t)memory : NULL};
}

static struct slri_backend viewing(void)
{
    struct slri_backend with = backend;
    with.shares_seen = true;
    with.locate = locate;
    return with;
}

// ---- a ring kernel -------------------------------------------------------------------------------------------------

static uint32_t opened;
static struct slri_block nothing;
static struct slri_function plain = {.name = "plain", .body = &nothing};
static struct slri_function *functions[] = {&plain};
static const struct slri_type word = {.kind = SLRI_U32, .bytes = 4};
static struct slri_binding_info binding[] = {{.name = "table", .is_buffer = true, .type = &word, .reg = SLRI_NO_REG},
                                             {.name = "scale", .type = &word, .reg = SLRI_NO_REG},
                                             {.name = "next", .is_outlet = true, .type = &word}};
static struct slri_entry entries[] = {
    {.name = "adds", .kind = SLRI_ENTRY_RING, .function = &plain, .binding = binding, .bindings = 3},
    {.name = "meets",
     .kind = SLRI_ENTRY_BLOCK,
     .function = &plain,
     .binding = binding,
     .bindings = 3,
     .max_threads = 8}};
static struct slri_module module = {
    .name = "some.cu", .entry = entries, .entries = 2, .function = functions, .functions = 1};
static uint32_t table[6], scale = 7;
static const struct slri_bound bound[] = {{table, sizeof table}, {&scale, sizeof scale}, {0}};

struct world {
    struct slri_queue_device queues;
    struct slri_code *code;
    struct slri_relaunch *relaunch;
    uint32_t entry;  // of the module
    uint32_t shards; // 0: SHARDS
    struct slri_backend of;
};

static void open_world(struct world *w)
{
    memset(&seen, 0, sizeof seen);
    slri_loss_init(&loss, "keeping:0");
    if (!w->of.name)
        w->of = backend;
    assert_int_equal(slri_queue_device_open(&w->queues, &w->of, NULL, NULL), SLR_OK);
    const struct slri_code_desc code = {.backend = &w->of, .module = &module, .opened = &opened, .queues = &w->queues};
    assert_int_equal(slri_code_create(&code, &w->code), SLR_OK);
}

static struct slri_relaunch_desc describe(const struct world *w)
{
    return (struct slri_relaunch_desc){.name = "sum",
                                       .program = w->code,
                                       .entry = &entries[w->entry],
                                       .bound = bound,
                                       .state_bytes = 8,
                                       .state_stride = 16,
                                       .states_bytes = 48,
                                       .message_bytes = 4,
                                       .reply_bytes = 4,
                                       .max_replies = 1,
                                       .max_sends = 1,
                                       .shards = w->shards ? w->shards : SHARDS,
                                       .max_batch = BATCH};
}

static void create(struct world *w)
{
    const struct slri_relaunch_desc desc = describe(w);
    assert_int_equal(slri_relaunch_create(&w->queues, &desc, &w->relaunch), SLR_OK);
    seen.commands = seen.calls = seen.waits = 0;
}

static void close_world(struct world *w)
{
    slri_relaunch_destroy(w->relaunch);
    slri_code_destroy(w->code);
    slri_queue_device_close(&w->queues);
    slri_loss_destroy(&loss);
    assert_int_equal(seen.memories, 0);
    assert_int_equal(seen.views, 0);
    assert_int_equal(seen.queues, 0);
}

// Messages of as many instances, as slri_relaunch_pack would leave them.
enum { PACKED = 40 };
static void pack(struct slri_relaunch *relaunch)
{
    relaunch->messages = PACKED;
    relaunch->chains = PACKED;
    relaunch->packed_bytes = (uint64_t)PACKED * relaunch->message_stride;
}

// ---- tests ---------------------------------------------------------------------------------------------------------

static void launch_is_a_copy_a_dispatch_and_a_copy(void **state)
{
    struct world w = {0};
    (void)state;
    open_world(&w);
    create(&w);
    pack(w.relaunch);
    slri_relaunch_begin(w.relaunch);
    assert_int_equal(seen.waits, 0);
    assert_int_equal(slri_relaunch_end(w.relaunch), SLR_OK);
    assert_int_equal(seen.waits, 1);
    assert_int_equal(seen.commands, 3);
    assert_int_equal(seen.calls, 1); // all at once
    assert_int_equal(seen.command[0].op, SLRI_COPY_IN);
    assert_ptr_equal(seen.command[0].copy.device, w.relaunch->in);
    assert_int_equal(seen.command[0].copy.bytes, w.relaunch->messages_at + PACKED * w.relaunch->message_stride);
    assert_int_equal(seen.command[1].op, SLRI_DISPATCH);
    assert_int_equal(seen.command[1].dispatch.grid[0], 2); // of 32 chains each
    assert_int_equal(seen.command[1].dispatch.block[0], 32);
    assert_int_equal(seen.command[2].op, SLRI_COPY_OUT);
    assert_ptr_equal(seen.command[2].copy.host, w.relaunch->host_results);
    assert_int_equal(seen.command[2].copy.bytes, PACKED * w.relaunch->result_stride);
    assert_false(seen.extras[0].is_last || seen.extras[1].is_last);
    assert_true(seen.extras[2].is_last);
    close_world(&w);
}

static void launch_is_a_dispatch_where_the_host_works_in_the_same_memory(void **state)
{
    struct world w = {.of = viewing()};
    (void)state;
    sees = 2;
    open_world(&w);
    create(&w);
    assert_int_equal(seen.views, 2);
    assert_ptr_equal(w.relaunch->host_in, w.relaunch->in);
    assert_ptr_equal(w.relaunch->host_results, w.relaunch->results);
    pack(w.relaunch);
    slri_relaunch_begin(w.relaunch);
    assert_int_equal(slri_relaunch_end(w.relaunch), SLR_OK);
    assert_int_equal(seen.commands, 1);
    assert_int_equal(seen.command[0].op, SLRI_DISPATCH);
    assert_true(seen.extras[0].is_last);
    close_world(&w);
}

static void launch_copies_both_ways_where_the_host_sees_one_of_two(void **state)
{
    struct world w = {.of = viewing()};
    (void)state;
    sees = 1;
    open_world(&w);
    create(&w);
    assert_ptr_not_equal(w.relaunch->host_in, w.relaunch->in);
    pack(w.relaunch);
    slri_relaunch_begin(w.relaunch);
    assert_int_equal(slri_relaunch_end(w.relaunch), SLR_OK);
    assert_int_equal(seen.commands, 3);
    assert_int_equal(seen.command[2].op, SLRI_COPY_OUT);
    close_world(&w);
}

static void launch_without_messages_copies_nothing_back(void **state)
{
    struct world w = {0};
    (void)state;
    open_world(&w);
    create(&w);
    slri_relaunch_begin(w.relaunch);
    assert_int_equal(slri_relaunch_end(w.relaunch), SLR_OK);
    assert_int_equal(seen.commands, 2);
    assert_int_equal(seen.command[1].dispatch.grid[0], 1);
    assert_true(seen.extras[1].is_last);
    close_world(&w);
}

// Those that every kernel of batches has.
static const struct slri_bound *launch_and_see(struct world *w)
{
    open_world(w);
    create(w);
    pack(w->relaunch);
    slri_relaunch_begin(w->relaunch);
    assert_int_equal(slri_relaunch_end(w->relaunch), SLR_OK);
    const struct slri_bound *given = seen.command[1].dispatch.bound;
    assert_ptr_equal(given[0].data, w->relaunch->in);
    assert_ptr_equal(given[1].data, w->relaunch->results);
    assert_ptr_equal(given[2].data, w->relaunch->states);
    assert_ptr_equal(given[3].data, w->relaunch->constants);
    assert_int_equal(*(uint32_t *)given[4].data, PACKED);
    assert_false(seen.command[1].dispatch.entry->binding[4].is_buffer);
    return given;
}

static void kernel_gets_records_and_buffers_as_parameters(void **state)
{
    struct world w = {0};
    (void)state;
    const struct slri_bound *given = launch_and_see(&w);
    const struct slri_entry *kernel = seen.command[1].dispatch.ready->entry;
    assert_int_equal(kernel->kind, SLRI_ENTRY_KERNEL);
    assert_string_equal(kernel->name, "adds");
    assert_int_equal(kernel->bindings, SLRI_BATCH_BUFFERS + 1); // of three bindings one is a buffer
    assert_true(kernel->binding[5].is_buffer);
    assert_ptr_equal(given[5].data, table);
    const unsigned char *constants = w.relaunch->constants;
    uint64_t bytes;
    uint32_t scalar;
    memcpy(&bytes, constants + RL_BINDING(0), sizeof bytes);
    memcpy(&scalar, constants + RL_BINDING(1), sizeof scalar);
    assert_int_equal(bytes, sizeof table);
    assert_int_equal(scalar, scale);
    close_world(&w);
}

static void kernel_of_a_blocks_handler_gets_a_block_a_chain(void **state)
{
    struct world w = {.entry = 1};
    (void)state;
    const struct slri_bound *given = launch_and_see(&w);
    const struct slri_entry *kernel = seen.command[1].dispatch.ready->entry;
    assert_int_equal(kernel->bindings, SLRI_BATCH_BUFFERS + 1);
    assert_ptr_equal(given[5].data, table);
    assert_int_equal(seen.command[1].dispatch.grid[0], PACKED); // of a chain each
    assert_int_equal(seen.command[1].dispatch.block[0], 8);
    close_world(&w);
}

static void failure_of_a_command_is_the_launch_s(void **state)
{
    struct world w = {0};
    (void)state;
    open_world(&w);
    create(&w);
    pack(w.relaunch);
    seen.fails_at = 2;
    slri_relaunch_begin(w.relaunch);
    assert_int_equal(slri_relaunch_end(w.relaunch), SLR_SYSTEM);
    assert_int_equal(seen.waits, 1); // what was begun before is waited for
    assert_string_equal(w.relaunch->why, "command 1 is refused");
    assert_false(slri_is_lost(&loss)); // a failure is no loss
    seen.fails_at = seen.commands = 0;
    slri_relaunch_begin(w.relaunch);
    assert_int_equal(slri_relaunch_end(w.relaunch), SLR_OK);
    close_world(&w);
}

static void kernel_is_timed_where_somebody_watches(void **state)
{
    struct world w = {0};
    uint64_t ns;
    (void)state;
    open_world(&w);
    create(&w);
    pack(w.relaunch);
    for (uint32_t watched = 0; watched < 2; ++watched) {
        seen.commands = 0;
        w.relaunch->begin = watched;
        assert_int_equal(slri_batch_kernel_launch(w.relaunch), SLR_OK);
        assert_int_equal(slri_batch_kernel_await(w.relaunch, &ns), SLR_OK);
        assert_int_equal(ns, watched ? 700 : 0);
        assert_int_equal(seen.extras[1].wants_times, watched);
        assert_false(seen.extras[0].wants_times || seen.extras[2].wants_times); // copies are not the kernel's
    }
    close_world(&w);
}

static void loss_that_a_slot_reports_is_the_device_s(void **state)
{
    struct world w = {0};
    (void)state;
    open_world(&w);
    create(&w);
    pack(w.relaunch);
    seen.fails_at = 1;
    seen.is_lost = true;
    slri_relaunch_begin(w.relaunch);
    assert_int_equal(slri_relaunch_end(w.relaunch), SLR_DEVICE_LOST);
    assert_true(slri_is_lost(&loss));
    assert_non_null(strstr(loss.why, "command 0 has hung"));
    close_world(&w);
}

static void dropped_states_are_refused_until_they_are_made_anew(void **state)
{
    struct world w = {0};
    uint32_t value[2] = {5, 6}, got[2];
    (void)state;
    open_world(&w);
    create(&w);
    assert_int_equal(slri_relaunch_store(w.relaunch, w.relaunch->states, value, sizeof value), SLR_OK);
    assert_int_equal(slri_relaunch_load(w.relaunch, w.relaunch->states, got, sizeof got), SLR_OK);
    assert_memory_equal(got, value, sizeof value);
    assert_int_equal(slri_relaunch_clear(w.relaunch, w.relaunch->states, 4), SLR_OK);
    assert_int_equal(slri_relaunch_load(w.relaunch, w.relaunch->states, got, sizeof got), SLR_OK);
    assert_int_equal(got[0], 0);
    assert_int_equal(got[1], 6);
    slri_relaunch_drop(w.relaunch);
    assert_int_equal(seen.memories, 0);
    assert_int_equal(slri_relaunch_load(w.relaunch, NULL, got, sizeof got), SLR_WRONG_STATE);
    assert_int_equal(slri_relaunch_clear(w.relaunch, NULL, sizeof got), SLR_WRONG_STATE);
    seen.commands = 0;
    assert_int_equal(slri_relaunch_make(w.relaunch), SLR_OK);
    assert_int_equal(slri_relaunch_load(w.relaunch, w.relaunch->states, got, sizeof got), SLR_OK);
    assert_int_equal(got[1], 0);
    close_world(&w);
}

// With as many chains as a launch has at most.
static uint32_t threads_of_a_block(bool fits_blocks, uint32_t entry, uint32_t instances)
{
    const uint32_t shards = slri_relaunch_shards(instances);
    struct world w = {.entry = entry, .shards = shards, .of = backend};
    w.of.fits_blocks = fits_blocks;
    open_world(&w);
    create(&w);
    w.relaunch->messages = w.relaunch->chains = instances;
    slri_relaunch_begin(w.relaunch);
    const struct slri_command dispatch = seen.command[1];
    const uint32_t threads = dispatch.dispatch.block[0], handled = entry ? 1 : threads; // chains of a block
    assert_int_equal(dispatch.op, SLRI_DISPATCH);
    assert_int_equal(dispatch.dispatch.grid[0], (instances + handled - 1) / handled);
    assert_int_equal(slri_relaunch_end(w.relaunch), SLR_OK);
    close_world(&w);
    return threads;
}

static void few_instances_have_a_small_block_where_the_backend_wants_it(void **state)
{
    static const uint32_t fitting[][2] = {{1, 4}, {4, 4}, {5, 8}, {8, 8}, {9, 16}, {17, 32}, {32, 32}, {40, 32}};
    (void)state;
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; ++i) {
        assert_int_equal(threads_of_a_block(true, 0, fitting[i][0]), fitting[i][1]);
        assert_int_equal(threads_of_a_block(false, 0, fitting[i][0]), SLRI_BATCH_THREADS);
    }
    assert_int_equal(threads_of_a_block(true, 1, 1), 8); // of a __ring_block__ handler, its own
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch_is_a_copy_a_dispatch_and_a_copy),
        cmocka_unit_test(few_instances_have_a_small_block_where_the_backend_wants_it),
        cmocka_unit_test(launch_is_a_dispatch_where_the_host_works_in_the_same_memory),
        cmocka_unit_test(launch_copies_both_ways_where_the_host_sees_one_of_two),
        cmocka_unit_test(launch_without_messages_copies_nothing_back),
        cmocka_unit_test(kernel_gets_records_and_buffers_as_parameters),
        cmocka_unit_test(kernel_of_a_blocks_handler_gets_a_block_a_chain),
        cmocka_unit_test(failure_of_a_command_is_the_launch_s),
        cmocka_unit_test(kernel_is_timed_where_somebody_watches),
        cmocka_unit_test(loss_that_a_slot_reports_is_the_device_s),
        cmocka_unit_test(dropped_states_are_refused_until_they_are_made_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
