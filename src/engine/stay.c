// SPDX-License-Identifier: Apache-2.0
#include "engine/stay.h"

#include "base/status.h"
#include "engine/mailbox_text.h"
#include "ir/pass/handler_kernel.h"

extern const char slri_embedded_relaunch_h[], slri_embedded_resident_layout_h[], slri_embedded_stay_h[];

static const struct {
    const char *name;
    uint32_t at;
} constant[] = {
#define NAMED(name)                                                                                                    \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
    NAMED(MB_CAPACITY),         NAMED(MB_EVICT),        NAMED(MB_KEEP),           NAMED(MB_LANES_AT),
    NAMED(MB_LANES_STRIDE),     NAMED(MB_LANE_MASK),    NAMED(MB_LANE_STRIDE),    NAMED(MB_LANE_TIMES_AT),
    NAMED(MB_LETTERS),          NAMED(MB_LETTERS_AT),   NAMED(MB_LETTER_MASK),    NAMED(MB_MAX_REPLIES),
    NAMED(MB_NODE_TIMES_AT),    NAMED(MB_OWNERS_AT),    NAMED(MB_OWNER_STRIDE),   NAMED(MB_POOL_AT),
    NAMED(MB_PORT_WORDS),       NAMED(MB_REPLIES_AT),   NAMED(MB_REPLIES_STRIDE), NAMED(MB_REPLY_MASK),
    NAMED(MB_REPLY_SLOT_WORDS), NAMED(MB_REPLY_STRIDE), NAMED(MB_SHARDS),         NAMED(MB_SLOT_WORDS),
    NAMED(MB_STAMPED),          NAMED(MB_TICKET),       NAMED(MB_TIMED_BELOW),    NAMED(MB_TIMES_MASK),
    NAMED(MB_TIMES_SHIFT)
#undef NAMED
};

static void put_mailbox_constants(const struct slri_shard *shard, slri_text *out)
{
    for (size_t i = 0; i < sizeof constant / sizeof *constant; ++i)
        slri_text_printf(out, "#define SLR_%s %uu\n", constant[i].name, shard->shared[constant[i].at]);
    slri_text_puts(out, "#define MB_SIZE(name) SLR_##name\n"
                        "#define MB_HEARD(at) MB_ACQUIRE(at)\n"
                        "#define MB_MARK(lane) MB_LOAD((lane) + MB_MIXED)\n"
                        "#define MB_TAKEN(at, word) S[(at) + (word)]\n"
                        "#define MB_PUBLISH(at, value) MB_RELEASE(at, value)\n"
                        "#define MB_MAY_END(S, P) mb_drained(S)\n"
                        "#define MB_PORT_OF(P, port) MBP_PORT(port)\n");
}

void slri_stay_text(const struct slri_shard *shard, slri_text *out)
{
    if (shard->entry->kind == SLRI_ENTRY_BLOCK)
        slri_text_puts(out, "#define SLR_BLOCK\n");
    put_mailbox_constants(shard, out);
    slri_text_puts(out, "#define SLRI_WORD unsigned\n#define SLRI_ADDRESS unsigned long long\n");
    slri_text_puts(out, slri_embedded_resident_layout_h);
    slri_text_puts(out, slri_embedded_relaunch_h);
    slri_mailbox_text(out);
    slri_text_puts(out, slri_embedded_stay_h);
}

slr_status slri_stay_lay_out(const struct slri_shard *shard, struct slri_relaunch *out)
{
    *out = (struct slri_relaunch){.desc = {.name = shard->entry->name,
                                           .entry = shard->entry,
                                           .bound = shard->bound,
                                           .initial_state = shard->initial_state,
                                           .state_bytes = shard->state_bytes,
                                           .state_stride = shard->state_stride,
                                           .states_bytes = shard->states_bytes,
                                           .fuel = shard->fuel,
                                           .reply_bytes = shard->reply_bytes,
                                           .max_replies = shard->shared[MB_MAX_REPLIES],
                                           .shards = 1,
                                           .max_batch = 1}};
    SLRI_TRY(slri_relaunch_lay_out(out));
    out->reply_stride = 4 * shard->shared[MB_REPLY_SLOT_WORDS];
    return SLR_OK;
}

uint64_t slri_stay_record_bytes(const struct slri_relaunch *layout)
{
    return SLRI_STAY_RECORD_AT + layout->result_stride;
}

void slri_stay_constants(const struct slri_shard *shard, const struct slri_relaunch *layout, unsigned char *to)
{
    slri_relaunch_constants(layout, to);
    memcpy(to + 4 * RL_REPLY_MASK, &shard->shared[MB_REPLY_MASK], sizeof(uint32_t));
}
