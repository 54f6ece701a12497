// SPDX-License-Identifier: Apache-2.0
// A port with credits of its own (abi/passage.h) beside one without, each a thread, and the owners: what is sent is
// handled once and in order, credits go back to whom they belong, and the end waits for what was granted.
#include "abi/passage.h"
#include "base/thread.h"
#include "tests/mailbox/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORLDS = 12, GRANTED = 2000, COMMON = 1000, LANE = 30, COMMON_LANE = 1 };

#define holds(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition);                                      \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct scene {
    struct world w;
    uint32_t O[MBO_WORDS(SHARDS)], first, grant, level;
    uint32_t *lanes, *retired;
    uint32_t none;     // sent to instances that there are not
    uint32_t given_up; // atomic: the common sender shall not wait for credits any more
    uint32_t common;   // messages that it has sent
    struct part {
        struct scene *scene;
        uint32_t shard, granted, common; // handled
        uint32_t next[INSTANCES];
    } part[SHARDS];
};

// ---- making one ----------------------------------------------------------------------------------------------------

// Ports before on the granted lane have sent so many, soon past 2^32.
static void age_grants(struct scene *scene)
{
    struct world *w = &scene->w;
    uint32_t *S = w->S;
    for (uint32_t s = 0; s < w->shards; ++s) {
        uint32_t *P = w->owner[s].P, done = 0u - pick(w, 100), at = mb_reply_lane(S, s, LANE);
        P[MBP_PORT(LANE) + MBQ_RETIRED] = S[at + MB_PORT_RETIRED] = done;
        P[MBP_GRANTED_RETIRED] = P[MBP_GRANTED_TOLD] = S[mb_owner(S, s) + MB_GRANTED_RETIRED] = done;
        P[MBP_HANDLED] += done;
        S[MB_GRANTS_SENT] += done;
    }
}

static void make_scene(struct scene *scene, uint32_t seed)
{
    memset(scene, 0, sizeof *scene);
    struct world *w = &scene->w;
    make_world(w, seed);
    publish_ports(w, LANE, true);
    publish_ports(w, COMMON_LANE, true);
    age_grants(scene);
    uint32_t *O = scene->O, *S = w->S;
    scene->level = levels[pick(w, LEVELS)];
    scene->grant = w->capacity > 1 ? w->capacity / 2 : 1;
    scene->lanes = &S[mb_lane(S, 0, LANE)];
    scene->retired = &S[mb_reply_lane(S, 0, LANE) + MB_PORT_RETIRED];
    O[MBO_OPEN] = O[MBO_EACH] = 1;
    O[MBO_GRANT] = O[MBO_MOST] = scene->grant;
    O[MBO_INSTANCES] = INSTANCES;
    O[MBO_SHARDS] = w->shards;
    O[MBO_SLOT_WORDS] = S[MB_SLOT_WORDS];
    O[MBO_LANE_MASK] = S[MB_LANE_MASK];
    O[MBO_MESSAGE_WORDS] = 2;
    O[MBO_LANES_STRIDE] = S[MB_LANES_STRIDE];
    O[MBO_RETIRED_STRIDE] = S[MB_REPLIES_STRIDE];
    scene->first = mbo_retired(O, scene->retired);
    O[MBO_SENT] = O[MBO_SEEN] = O[MBO_TOLD_SENT] = scene->first;
    for (uint32_t s = 0; s < w->shards; ++s) {
        O[MBO_CURSOR(s) + MBO_NEXT] = w->sender[1].cursor[s].sent;
        scene->part[s] = (struct part){.scene = scene, .shard = s};
    }
    holds(mb_claim(S, scene->grant) == scene->grant);
}

// ---- who sends and who handles -------------------------------------------------------------------------------------

// Message n is for instance n % (INSTANCES + 1): the last of those there is not.
static void send_granted(void *arg)
{
    struct scene *scene = arg;
    uint32_t *O = scene->O, source[8] = {0};
    for (uint32_t n = 0; n < GRANTED;) {
        uint32_t room = mbo_room(O, scene->retired);
        if (room == 0)
            slri_yield();
        for (; room != 0 && n < GRANTED; --room, ++n) {
            const uint32_t reply[2] = {n / (INSTANCES + 1), n % (INSTANCES + 1)};
            source[MB_HEAD] = scene->level;
            source[MB_CORRELATION] = ~n;
            O[MBO_INSTANCE_AT] = 5; // the second word
            mbo_give(source, O, scene->lanes, 0, mbo_instance(O, 0, reply), reply);
            scene->none += reply[1] == INSTANCES;
        }
        mbo_publish(O, O, scene->lanes);
    }
}

static void send_common(void *arg)
{
    struct scene *scene = arg;
    struct world *w = &scene->w;
    struct cursor *cursor = w->sender[0].cursor;
    uint32_t *S = w->S;
    while (scene->common < COMMON) {
        if (mb_claim(S, 1) == 0) {
            if (__atomic_load_n(&scene->given_up, __ATOMIC_ACQUIRE))
                return;
            slri_yield();
            continue;
        }
        uint32_t shard = scene->common % w->shards, lane = mb_lane(S, shard, COMMON_LANE);
        uint32_t slot = mb_lane_slot(S, lane, cursor[shard].sent), priority = levels[scene->common % LEVELS];
        mb_write_header(S, slot, priority, shard, 0);
        cursor[shard].mark = mb_mark_priority(S, lane, cursor[shard].mark, priority);
        mb_publish(S, slot, cursor[shard].sent++);
        ++scene->common;
    }
}

static void take(struct part *part, uint32_t port, const uint32_t *slot)
{
    if (port == COMMON_LANE) {
        holds((slot[MB_HEAD] & MB_FLAG_GRANTED) == 0);
        ++part->common;
        return;
    }
    uint32_t instance = slot[MB_INSTANCE];
    holds(port == LANE && instance < INSTANCES && instance % part->scene->w.shards == part->shard);
    holds(slot[MB_HEAD] & MB_FLAG_GRANTED && (slot[MB_HEAD] & 255u) == part->scene->level);
    holds(slot[MB_PAYLOAD] == part->next[instance]++); // in the order sent, each once
    holds(slot[MB_CORRELATION] == ~(slot[MB_PAYLOAD] * (INSTANCES + 1) + instance));
    ++part->granted;
}

static void own(void *arg)
{
    struct part *part = arg;
    uint32_t *S = part->scene->w.S, *P = part->scene->w.owner[part->shard].P;
    while (P[MBP_STATE] != MB_ENDED) {
        uint32_t batch = mb_begin(S, P);
        for (uint32_t k = 0; k < batch; ++k) {
            take(part, P[MBP_BATCH(k)], &S[P[MBP_BATCH(k) + 1]]);
            mb_handled(S, P, k, 0, 0);
        }
        holds(P[MBP_USED] <= part->scene->w.capacity); // of nodes there are no more
        if (batch != 0)
            mb_finish(S, P);
        else
            slri_yield();
    }
}

// ---- the host ------------------------------------------------------------------------------------------------------

// As ring/grant.c does, with the source at rest: credits of messages that are not retired follow as they are.
static void give_up_grant(struct scene *scene)
{
    uint32_t *S = scene->w.S, kept = scene->grant;
    scene->O[MBO_OPEN] = 0;
    __atomic_fetch_add(&S[MB_GRANTS_SENT], scene->O[MBO_SENT] - scene->first, __ATOMIC_RELAXED);
    while (kept != 0) {
        uint32_t open = scene->O[MBO_SENT] - mbo_retired(scene->O, scene->retired);
        if (open < kept) {
            mb_give_back(S, kept - open);
            kept = open;
        }
        slri_yield();
    }
}

static void command_close(struct scene *scene)
{
    uint32_t *S = scene->w.S;
    mb_close(S);
    MB_RELEASE(MB_CONTROL, 1u << 2 | MB_CLOSE);
}

// No count of what is done with may be ahead of what was said to be sent.
static void watch(struct scene *scene, uint32_t before)
{
    uint32_t *S = scene->w.S, done;
    do {
        done = mb_granted_retired(S) - before;
        holds(done <= MBO_SEE(scene->O[MBO_TOLD_SENT]) - scene->first);
        uint32_t retired = mb_retired(S);                                     // first: more is accepted meanwhile
        holds(((MB_LOAD(MB_ACCEPTED) - retired) & MB_COUNT) >= scene->grant); // no grant is given to others
        slri_yield();
    } while (done < GRANTED / 2);
}

static void play(uint32_t seed)
{
    struct scene *scene = malloc(sizeof *scene);
    slri_thread granted, common, owner[SHARDS];
    make_scene(scene, seed);
    uint32_t *S = scene->w.S, shards = scene->w.shards, before = S[MB_GRANTS_SENT], handled = 0, others = 0;
    for (uint32_t s = 0; s < shards; ++s)
        assert_int_equal(slri_thread_start(&owner[s], "owner", own, &scene->part[s]), SLR_OK);
    assert_int_equal(slri_thread_start(&granted, "granted", send_granted, scene), SLR_OK);
    assert_int_equal(slri_thread_start(&common, "common", send_common, scene), SLR_OK);
    watch(scene, before);
    slri_thread_join(&granted);
    if (seed % 2 != 0)
        give_up_grant(scene);
    __atomic_store_n(&scene->given_up, 1, __ATOMIC_RELEASE);
    slri_thread_join(&common);
    command_close(scene);
    if (seed % 2 == 0) {
        for (uint32_t s = 0; s < shards; ++s) // the grant keeps it from ending
            assert_int_not_equal(MB_ACQUIRE(mb_owner(S, s) + MB_ANSWER) & 7, MB_ENDED);
        give_up_grant(scene);
    }
    for (uint32_t s = 0; s < shards; ++s) {
        slri_thread_join(&owner[s]);
        handled += scene->part[s].granted;
        others += scene->part[s].common;
    }
    assert_int_equal(handled, GRANTED - scene->none);
    assert_int_equal(scene->none, GRANTED / (INSTANCES + 1));
    assert_int_equal(scene->O[MBO_TOLD_ROUTED], GRANTED - scene->none);
    assert_int_equal(scene->O[MBO_TOLD_UNROUTED], scene->none);
    assert_int_equal(others, scene->common);
    assert_int_equal(S[MB_GRANTS_SENT] - before, handled);
    assert_int_equal(mb_retired(S), S[MB_ACCEPTED] & MB_COUNT);
    assert_int_equal(mb_granted_retired(S), S[MB_GRANTS_SENT]);
    free(scene);
}

static void granted_messages_are_handled_once_in_order_beside_others(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= WORLDS; ++seed)
        play(seed);
}

// What a message's header says decides whose its credit is, not who has the lane now.
static void message_in_doubt_gives_its_credit_back_to_its_port(void **state)
{
    (void)state;
    struct scene *scene = malloc(sizeof *scene);
    make_scene(scene, 5);
    struct world *w = &scene->w;
    uint32_t *S = w->S, *P = w->owner[0].P, *O = scene->O, source[8] = {[MB_HEAD] = 7};
    uint32_t before = mb_retired(S), handled = P[MBP_HANDLED];
    mbo_give(source, O, scene->lanes, 0, 0, (const uint32_t[2]){1, 2});
    mbo_publish(O, O, scene->lanes);
    assert_int_equal(mb_begin(S, P), 1);
    mb_doubt(S, P, 0);
    mb_finish(S, P);
    assert_int_equal(mb_retired(S), before);
    assert_int_equal(mbo_retired(O, scene->retired) - scene->first, 1);
    assert_int_equal(P[MBP_IN_DOUBT], 1);
    assert_int_equal(P[MBP_HANDLED], handled);
    free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(granted_messages_are_handled_once_in_order_beside_others),
        cmocka_unit_test(message_in_doubt_gives_its_credit_back_to_its_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
