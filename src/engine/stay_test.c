// SPDX-License-Identifier: Apache-2.0
// The text of the kernel that stays: slipring's front end takes it, and a shard's handler goes into it. What it does is
// tested on devices (tests/vulkan/staying_test.c).
#include "engine/stay.h"

#include "abi/mailbox_layout.h"
#include "ir/pass/handler_kernel.h"
#include "lang/compile_test.h"

static const char handlers[] =
    "struct in { unsigned value; };\nstruct st { unsigned sum; };\nstruct out { unsigned value, more; };\n"
    "__ring__ void h(struct st *self, const struct in *in, const unsigned *table)\n"
    "{\n"
    "    struct out out = {self->sum + table[0], in->value};\n"
    "    ring_reply(&out);\n"
    "}\n"
    "__ring_block__ void __launch_bounds__(64) b(struct st *self, const struct in *in)\n"
    "{\n"
    "    atomicAdd(&self->sum, in->value);\n"
    "}\n";

enum { SLOT_WORDS = 8 };

struct bench {
    struct slri_module *module;
    uint32_t shared[128]; // the mailbox's own words
    struct slri_bound bound[1];
    struct slri_shard shard;
};

static void set_up(struct bench *b, const char *name)
{
    *b = (struct bench){.module = compile_text(handlers)};
    const struct slri_entry *entry = slri_module_entry(b->module, name);
    assert_non_null(entry);
    b->shared[MB_CAPACITY] = 1234;
    b->shared[MB_SHARDS] = 1;
    b->shared[MB_MAX_REPLIES] = 3;
    b->shared[MB_REPLY_SLOT_WORDS] = SLOT_WORDS;
    b->shared[MB_REPLY_MASK] = 15;
    b->bound[0].bytes = 4;
    b->shard.shared = b->shared;
    b->shard.entry = entry;
    b->shard.bound = b->bound;
    b->shard.state_bytes = 4;
    b->shard.state_stride = 16;
    b->shard.states_bytes = 32;
    b->shard.reply_bytes = 8;
    b->shard.fuel = 777;
}

static slri_text text_of(const struct bench *b)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_stay_text(&b->shard, &text);
    assert_false(text.out_of_memory);
    return text;
}

static void words_that_stay_are_numbers_in_the_text(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, "h");
    slri_text text = text_of(&b);
    assert_non_null(strstr(slri_text_view(&text), "#define SLR_MB_CAPACITY 1234u\n"));
    assert_non_null(strstr(slri_text_view(&text), "#define SLR_MB_REPLY_MASK 15u\n"));
    assert_null(strstr(slri_text_view(&text), "#define SLR_BLOCK\n"));
    slri_text_free(&text);
    slri_module_destroy(b.module);
}

static void text_is_a_kernel_that_takes_the_handler(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t buffers;
    } of[] = {{"h", 1}, {"b", 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        struct bench b;
        struct slri_module *made;
        set_up(&b, of[i].name);
        slri_text text = text_of(&b);
        struct slri_module *around = compile_text(slri_text_view(&text));
        if (slri_handler_stay(b.module, b.shard.entry, around, &made) != SLR_OK)
            fail_msg("%s", slr_error_message());
        assert_int_equal(made->entries, 1);
        assert_string_equal(made->entry->name, of[i].name);
        assert_int_equal(made->entry->bindings, SLRI_STAY_BUFFERS + of[i].buffers);
        slri_module_destroy(made);
        slri_module_destroy(around);
        slri_text_free(&text);
        slri_module_destroy(b.module);
    }
}

static void handler_is_given_the_mailboxs_reply_slots(void **state)
{
    (void)state;
    struct bench b;
    struct slri_relaunch layout;
    uint32_t words[64] = {0};
    uint64_t fuel;
    set_up(&b, "h");
    assert_int_equal(slri_stay_lay_out(&b.shard, &layout), SLR_OK);
    assert_true(slri_stay_record_bytes(&layout) > SLRI_STAY_RECORD_AT);
    assert_true(layout.constants_bytes <= sizeof words);
    slri_stay_constants(&b.shard, &layout, (unsigned char *)words);
    memcpy(&fuel, &words[RL_FUEL], sizeof fuel);
    assert_int_equal(fuel, 777);
    assert_int_equal(words[RL_MAX_REPLIES], 3);
    assert_int_equal(words[RL_REPLY_STRIDE], 4 * SLOT_WORDS);
    assert_int_equal(words[RL_REPLY_MASK], 15);
    assert_int_equal(words[RL_STATE_BYTES], 4);
    slri_module_destroy(b.module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_stay_are_numbers_in_the_text),
        cmocka_unit_test(text_is_a_kernel_that_takes_the_handler),
        cmocka_unit_test(handler_is_given_the_mailboxs_reply_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
