// SPDX-License-Identifier: Apache-2.0
// The mailbox protocol alone: senders, owners and the host's control are interleaved a call at a time by a seed, and a
// reference model says after each call what must be true. SLIPRING_TEST_SEED=n runs one seed.
#include "tests/mailbox/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 2000, STEPS = 1000, DRAIN = 20000 };

static uint32_t seed_now;
static uint64_t timed; // messages, of all seeds

#define check(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fail_msg("seed %u, line %d: %s", seed_now, __LINE__, #condition);                                          \
    } while (0)

// ---- senders ------------------------------------------------------------------------------------------------------

static void claim(struct world *w, struct sender *sender)
{
    uint32_t want = 1 + pick(w, 3), free = w->capacity - (w->accepted - w->retired);
    uint32_t granted = mb_claim(w->S, want);
    check(granted == (w->closed ? 0 : want < free ? want : free)); // exactly the capacity, no less and no more
    check(!!(w->S[MB_ACCEPTED] & MB_CLOSED) == w->closed);
    sender->credits += granted;
    w->accepted += granted;
    check(((w->S[MB_ACCEPTED] - w->first_count) & MB_COUNT) == w->accepted);
}

// Whether the owner has finished with the slot at `position`: it has taken what was there, and holds none of it.
static bool is_free(struct world *w, const struct sender *sender, uint32_t shard, uint32_t position)
{
    const struct owner *owner = &w->owner[shard];
    uint32_t next = owner->P[MBP_PORT(sender->lane) + MBQ_NEXT_IN];
    uint32_t slot = mb_lane_slot(w->S, mb_lane(w->S, shard, sender->lane), position);
    for (uint32_t k = 0; k < owner->P[MBP_BATCH_COUNT]; ++k)
        if (owner->P[MBP_BATCH(k) + 1] == slot)
            return false;
    return position - next < w->slots;
}

static void write_message(struct world *w, struct sender *sender)
{
    uint32_t id = w->messages++, instance = pick(w, INSTANCES), shard = instance % w->shards;
    uint32_t level = sender->only_level < LEVELS ? sender->only_level : pick(w, LEVELS);
    struct cursor *cursor = &sender->cursor[shard];
    uint32_t *S = w->S, lane = mb_lane(S, shard, sender->lane), slot = mb_lane_slot(S, lane, cursor->sent);
    check(is_free(w, sender, shard, cursor->sent)); // which the credit implies
    w->message[id] = (struct model_message){.lane = sender->lane,
                                            .shard = shard,
                                            .instance = instance,
                                            .level = level,
                                            .order = w->order[sender->lane][instance][level]++};
    S[slot + MB_PAYLOAD] = ~id;
    mb_write_header(S, slot, levels[level], instance, id);
    if (mb_is_timed(S, cursor->sent))
        mb_write_time(S, lane, slot, cursor->sent, id, ~id);
    cursor->mark = mb_mark_priority(S, lane, cursor->mark, levels[level]);
    sender->writing = id + 1;
}

static void publish_message(struct world *w, struct sender *sender)
{
    struct model_message *message = &w->message[sender->writing - 1];
    struct cursor *cursor = &sender->cursor[message->shard];
    uint32_t lane = mb_lane(w->S, message->shard, sender->lane);
    mb_publish(w->S, mb_lane_slot(w->S, lane, cursor->sent), cursor->sent);
    ++cursor->sent;
    message->state = POSTED;
    sender->writing = 0;
    --sender->credits;
}

static void receive(struct world *w, struct sender *sender)
{
    uint32_t *S = w->S, shard = pick(w, w->shards);
    struct cursor *cursor = &sender->cursor[shard];
    struct model_replies *replies = &sender->replies[shard];
    uint32_t slot = mb_reply_slot(S, mb_reply_lane(S, shard, sender->lane), cursor->received);
    bool there = mb_has_reply(S, slot, cursor->received);
    check(there == (replies->received != replies->published));
    if (!there)
        return;
    uint32_t id = replies->id[replies->received++];
    check(S[slot + MB_CORRELATION] == id);
    check(S[slot + MB_INSTANCE] == w->message[id].instance);
    check((S[slot + MB_HEAD] & 255u) == levels[w->message[id].level]);
    check((S[slot + MB_HEAD] & MB_FLAG_FAULT) || S[slot + MB_PAYLOAD] == id * 3);
    mb_return_replies(S, mb_lane(S, shard, sender->lane), ++cursor->received);
}

// ---- ports that come and go ---------------------------------------------------------------------------------------

static void close_port(struct world *w, struct sender *sender)
{
    sender->open = false;
    publish_ports(w, sender->lane, true);
    sender->gone_epoch = w->port_epoch;
}

static bool is_acknowledged(struct world *w, const struct sender *sender)
{
    for (uint32_t s = 0; s < w->shards; ++s) {
        uint32_t at = mb_reply_lane(w->S, s, sender->lane);
        if ((int32_t)(w->S[at + MB_GONE_EPOCH] - sender->gone_epoch) < 0)
            return false;
    }
    return true;
}

static void adopt_lane(struct world *w, struct sender *sender)
{
    uint32_t *S = w->S;
    for (uint32_t id = 0; id < w->messages; ++id) // all that the closed port sent has been handled
        check(w->message[id].lane != sender->lane || w->message[id].state >= HANDLED);
    for (uint32_t s = 0; s < w->shards; ++s) {
        struct cursor *cursor = &sender->cursor[s];
        uint32_t lane = mb_lane(S, s, sender->lane);
        cursor->received = S[mb_reply_lane(S, s, sender->lane) + MB_GONE_AT];
        cursor->mark = 0;
        MB_STORE(lane + MB_MIXED, 0);
        mb_return_replies(S, lane, cursor->received);
        sender->replies[s].received = sender->replies[s].written; // those are nobody's
        check(sender->replies[s].written == sender->replies[s].published);
    }
    sender->open = true;
    sender->only_level = pick(w, 2) ? pick(w, LEVELS) : LEVELS;
    publish_ports(w, sender->lane, false);
}

static void step_sender(struct world *w, struct sender *sender)
{
    if (!sender->open) {
        if (!w->closed && is_acknowledged(w, sender))
            adopt_lane(w, sender);
    } else if (sender->writing) {
        publish_message(w, sender);
    } else if (sender->credits && pick(w, 3)) {
        write_message(w, sender);
    } else if (pick(w, 2)) {
        receive(w, sender);
    } else if (w->messages + sender->credits + 20 < MESSAGES && sender->credits < 5) {
        claim(w, sender);
        if (!sender->credits && pick(w, 40) == 0)
            close_port(w, sender);
    }
}

// ---- owners -------------------------------------------------------------------------------------------------------

static struct sender *sender_of(struct world *w, uint32_t lane)
{
    for (uint32_t i = 0; i < PORTS; ++i)
        if (w->sender[i].lane == lane)
            return &w->sender[i];
    fail_msg("seed %u: a message of lane %u", seed_now, lane);
    return NULL;
}

// Whether one more message's replies fit, given what this batch may still write.
static bool has_room(struct world *w, uint32_t shard, uint32_t lane)
{
    const struct owner *owner = &w->owner[shard];
    const struct sender *sender = sender_of(w, lane);
    const struct model_replies *replies = &sender->replies[shard];
    uint32_t reserved = 0;
    for (uint32_t k = 0; k < owner->P[MBP_BATCH_COUNT]; ++k)
        reserved += owner->P[MBP_BATCH(k)] == lane ? w->max_replies : 0;
    return !sender->open || replies->written - replies->received + reserved + w->max_replies <= w->reply_slots;
}

// Notes what a look has added to the batch; gives the lowest level of it.
static uint32_t note_claims(struct world *w, uint32_t shard, uint32_t from)
{
    struct owner *owner = &w->owner[shard];
    uint32_t lowest = LEVELS;
    for (uint32_t k = from; k < owner->P[MBP_BATCH_COUNT]; ++k) {
        uint32_t at = owner->P[MBP_BATCH(k) + 1], id = w->S[at + MB_CORRELATION];
        check(id < w->messages);
        struct model_message *message = &w->message[id];
        check(message->state == POSTED && message->shard == shard && message->lane == owner->P[MBP_BATCH(k)]);
        check(w->S[at + MB_PAYLOAD] == ~id && w->S[at + MB_INSTANCE] == message->instance);
        check((w->S[at + MB_HEAD] & 255u) == levels[message->level]);
        check(message->order == w->claimed_order[message->lane][message->instance][message->level]++); // as sent
        message->state = CLAIMED;
        owner->id[k] = id;
        lowest = message->level < lowest ? message->level : lowest;
    }
    return lowest;
}

// Strict: no message that could have been taken is left with a higher priority; none at all in a batch with space.
static void check_left(struct world *w, uint32_t shard, uint32_t lowest)
{
    bool space = w->owner[shard].P[MBP_BATCH_COUNT] < MB_BATCH;
    for (uint32_t id = 0; id < w->messages; ++id) {
        const struct model_message *m = &w->message[id];
        if (m->state == POSTED && m->shard == shard && (space || m->level > lowest))
            check(!has_room(w, shard, m->lane));
    }
}

static bool is_waiting(const struct world *w, uint32_t shard)
{
    for (uint32_t id = 0; id < w->messages; ++id)
        if (w->message[id].state == POSTED && w->message[id].shard == shard)
            return true;
    return false;
}

static void begin(struct world *w, uint32_t shard)
{
    struct owner *owner = &w->owner[shard];
    uint32_t before = owner->P[MBP_BATCH_COUNT], control = w->S[MB_CONTROL];
    uint32_t batch = mb_begin(w->S, owner->P);
    uint32_t state = owner->P[MBP_STATE], answer = w->S[mb_owner(w->S, shard) + MB_ANSWER];
    check(answer == ((control >> 2) << 3 | state)); // the number that it answers
    check(owner->P[MBP_USED] <= w->capacity);       // nodes of the pool
    if (state == MB_PAUSED) {
        check(batch == 0 && w->paused && owner->P[MBP_BATCH_COUNT] == before);
        return;
    }
    check(batch == owner->P[MBP_BATCH_COUNT]);
    uint32_t lowest = note_claims(w, shard, before);
    if (before == 0)
        check_left(w, shard, lowest);
    owner->ended = state == MB_ENDED;
    if (owner->ended)
        check(w->closed && w->retired == w->accepted); // at the final count, not before
    if (batch == 0 && !w->closed)
        check(mb_idle(w->S, owner->P) == !is_waiting(w, shard));
    owner->batch = pick(w, 8) ? batch : 0; // 0: as in the look before a sleep, which the next pass goes on from
    owner->next = 0;
}

static void handle(struct world *w, uint32_t shard, uint32_t k)
{
    struct owner *owner = &w->owner[shard];
    uint32_t *S = w->S, *P = owner->P, at = P[MBP_BATCH(k) + 1], lane = P[MBP_BATCH(k)];
    uint32_t id = owner->id[k], replies = pick(w, w->max_replies + 1);
    struct sender *sender = sender_of(w, lane);
    struct model_replies *model = &sender->replies[shard];
    bool fault = pick(w, 5) == 0, known_gone = P[MBP_GONE(lane >> 5)] & (1u << (lane & 31));
    check(w->message[id].state == CLAIMED);
    check(S[at + MB_PAYLOAD] == ~id && S[at + MB_CORRELATION] == id); // nobody has touched it
    check(!sender->open || !known_gone || !w->max_replies);           // no live port's reply is dropped
    w->message[id].state = HANDLED;
    replies = !fault ? replies : w->max_replies ? 1 : 0;
    for (uint32_t n = 0; n < replies && !known_gone; ++n) {
        uint32_t slot = mb_reply_slot(S, mb_reply_lane_of(S, P, lane), P[MBP_PORT(lane) + MBQ_REPLIES] + n);
        S[slot + MB_PAYLOAD] = id * 3;
        check(!sender->open || model->written - model->received < w->reply_slots); // none unread is overwritten
        model->id[model->written++] = id;
    }
    mb_handled(S, P, k, replies, fault ? MB_FLAG_FAULT : 0);
}

// Until it is retired a message's time is its own, wherever it lies.
static void check_time(const struct world *w, const struct owner *owner, uint32_t k)
{
    const uint32_t *S = w->S, *P = owner->P, *entry = &P[MBP_BATCH(k)];
    if (!(S[entry[1] + MB_HEAD] & MB_FLAG_TIMED))
        return;
    uint32_t at = mb_time_at(S, P, entry[0], S[entry[1] + MB_SEQUENCE], entry[2]);
    check(S[at] == owner->id[k] && S[at + 1] == ~owner->id[k]);
    check(P[MBP_TIMED] & MB_FLAG_TIMED);
    ++timed;
}

static void finish(struct world *w, uint32_t shard)
{
    struct owner *owner = &w->owner[shard];
    for (uint32_t k = 0; k < owner->batch; ++k)
        check_time(w, owner, k);
    mb_finish(w->S, owner->P);
    for (uint32_t k = 0; k < owner->batch; ++k)
        w->message[owner->id[k]].state = RETIRED;
    w->retired += owner->batch;
    for (uint32_t i = 0; i < PORTS; ++i)
        w->sender[i].replies[shard].published = w->sender[i].replies[shard].written;
    check(((mb_retired(w->S) - w->first_count) & MB_COUNT) == w->retired);
    owner->batch = 0;
}

static void step_owner(struct world *w, uint32_t shard)
{
    struct owner *owner = &w->owner[shard];
    if (owner->ended)
        return;
    if (owner->batch == 0)
        begin(w, shard);
    else if (owner->next < owner->batch)
        handle(w, shard, owner->next++);
    else
        finish(w, shard);
}

// ---- control, and a world's run -----------------------------------------------------------------------------------

static void command(struct world *w, uint32_t what)
{
    w->paused = what == MB_PAUSE;
    uint32_t *S = w->S;
    MB_RELEASE(MB_CONTROL, ++w->control_number << 2 | what);
}

static void step(struct world *w)
{
    uint32_t what = pick(w, 200);
    if (what == 0 && !w->closed)
        command(w, w->paused ? MB_RUN : MB_PAUSE);
    else if (what % 2)
        step_owner(w, pick(w, w->shards));
    else
        step_sender(w, &w->sender[pick(w, PORTS)]);
}

static void close_input(struct world *w)
{
    mb_word final = mb_close(w->S);
    check(((final - w->first_count) & MB_COUNT) == w->accepted);
    check(mb_close(w->S) == final); // any number of times
    w->closed = true;
    command(w, MB_CLOSE);
}

static bool all_ended(const struct world *w)
{
    for (uint32_t s = 0; s < w->shards; ++s)
        if (!w->owner[s].ended)
            return false;
    return true;
}

static void run(struct world *w, uint32_t seed)
{
    seed_now = seed;
    make_world(w, seed);
    for (uint32_t i = 0; i < STEPS; ++i)
        step(w);
    close_input(w);
    for (uint32_t i = 0; i < DRAIN && !all_ended(w); ++i)
        step(w);
    check(all_ended(w));
    check(w->retired == w->accepted && w->messages == w->accepted);
    for (uint32_t id = 0; id < w->messages; ++id)
        check(w->message[id].state == RETIRED); // none lost; twice would not have been POSTED
    for (uint32_t i = 0; i < 2000; ++i)         // what was replied before the end is there behind it
        for (uint32_t p = 0; p < PORTS; ++p)
            if (w->sender[p].open && i < 4 * w->messages)
                receive(w, &w->sender[p]);
}

static struct world world;

static void every_interleaving_keeps_what_the_protocol_promises(void **state)
{
    const char *wish = getenv("SLIPRING_TEST_SEED");
    uint64_t messages = 0;
    (void)state;
    if (wish) {
        run(&world, (uint32_t)strtoul(wish, NULL, 10));
        return;
    }
    for (uint32_t seed = 1; seed <= SEEDS; ++seed) {
        run(&world, seed);
        check(world.words <= sizeof world.S / 4);
        messages += world.messages;
    }
    assert_true(timed > 0);
    print_message("%u seeds, %llu messages, %llu timed\n", SEEDS, (unsigned long long)messages,
                  (unsigned long long)timed);
}

// Of a lane's timed messages two may be written and not taken when less than the lane's length lies between them. From
// before positions pass 2^32 until behind it.
static void check_times(uint32_t slots, uint32_t power)
{
    static uint32_t S[128], last[1 << 18];
    static bool used[1 << 18];
    uint32_t span = 4 * slots + (8u << power), cells = lay_out_times(S, slots, power) / 2, count = 0;
    check(cells <= sizeof last / sizeof last[0]);
    memset(used, 0, sizeof used);
    for (uint32_t position = 0u - span / 2; position != span / 2; ++position) {
        if (!mb_is_timed(S, position))
            continue;
        uint32_t cell = mb_lane_time(S, 0, position) / 2;
        check(cell < cells);
        check(!used[cell] || position - last[cell] >= slots);
        used[cell] = true;
        last[cell] = position;
        ++count;
    }
    check(count >= (span >> power) - 1 && count <= (span >> power) + 2);
}

static void a_time_is_not_written_again_while_its_message_may_wait(void **state)
{
    (void)state;
    for (uint32_t power = 0; power <= 16; ++power)
        for (uint32_t slots = 1; slots <= 65536; slots *= 4)
            check_times(slots, power);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_interleaving_keeps_what_the_protocol_promises),
                                       cmocka_unit_test(a_time_is_not_written_again_while_its_message_may_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
