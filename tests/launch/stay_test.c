// SPDX-License-Identifier: Apache-2.0
// The kernel that stays (engine/stay.h), run by the interpreter: where its shard is over, it ends and touches the
// shard's memory no more, which the host may have freed. A read of that memory would be outside a buffer here.
#include "device/device_test.h"

#include "abi/mailbox_layout.h"
#include "engine/resident.h"
#include "engine/stay.h"
#include "lang/compile_test.h"

static const char handlers[] = "struct in { unsigned value; };\n"
                               "__ring__ void one(const struct in *in) { ring_reply(in); }\n"
                               "__ring_block__ void __launch_bounds__(64) block(const struct in *in) {}\n";

static slr_buffer *buffer_of(slr_device *device, const void *content, uint64_t bytes)
{
    slr_buffer *buffer;
    must(slr_buffer_create(device, bytes, &buffer));
    must(slr_buffer_write(buffer, 0, content, bytes));
    return buffer;
}

static void ends_at_once(slr_device *device, const struct slri_entry *handler)
{
    enum { LAUNCH = 3 };
    static const uint32_t zeros[1024];
    struct slri_resident_table table = {.launch = LAUNCH, .most_idle = UINT32_MAX, .entries = 1};
    uint32_t shared[128] = {[MB_SHARDS] = 1, [MB_CAPACITY] = 4, [MB_MAX_REPLIES] = 1};
    const struct slri_shard shard = {.shared = shared, .entry = handler};
    slri_text text = SLRI_TEXT_INIT;
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    table.entry[0].used = SLRI_RESIDENT_ORDERED;
    table.entry[0].left = 1;
    slri_stay_text(&shard, &text);
    must(slr_program_from_text(device, "stay.cu", slri_text_view(&text), NULL, &program));
    must(slr_program_get_kernel(program, "slr_stay", &kernel));
    must(slr_stream_default(device, &stream));
    slr_buffer *S = buffer_of(device, zeros, 4), *R = buffer_of(device, zeros, sizeof zeros),
               *P = buffer_of(device, zeros, (MBP_OWNER + 1) * 4), *T = buffer_of(device, &table, sizeof table);
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 1, 0), S, R, R, R, 0u, P, T));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(T, 0, &table, sizeof table));
    assert_int_equal(table.gone, LAUNCH);
    slr_buffer *all[] = {S, R, P, T};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        slr_buffer_destroy(all[i]);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slri_text_free(&text);
}

static void memory_of_a_shard_that_is_over_is_touched_no_more(void **state)
{
    static const char *const names[] = {"one", "block"};
    slr_device *device;
    (void)state;
    struct slri_module *module = compile_text(handlers);
    must(slr_device_open("cpu?engine=interpreted", NULL, &device));
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        ends_at_once(device, slri_module_entry(module, names[i]));
    slr_device_close(device);
    slri_module_destroy(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_of_a_shard_that_is_over_is_touched_no_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
