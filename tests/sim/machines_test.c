// SPDX-License-Identifier: Apache-2.0
// Workers of a partition on two machines and the server between them, from seeds: workers are killed, both serve for a
// while, what they have sent arrives late or never, the server is killed, its disk is full. A sender sends frames again
// when it likes. In the end each message was handled once, in order, and the stream of outputs has each output once.
#include "tests/ring/ring_test.h"

#include "base/clock.h"
#include "base/sim.h"
#include "cluster/server.h"
#include "memory_log.h"

enum { SEEDS = 60, WORKERS = 2, KEYS = 5, MESSAGES = 300, FRAME = 6, BACK = 3, STEPS_MOST = 20000, KILLED = 100 };

struct sent {
    uint64_t key, number;
};

struct counted {
    uint64_t key, count, sum;
};

typedef struct frame {
    slri_frame_head head;
    uint64_t keys[FRAME];
    struct sent messages[FRAME];
} frame;

typedef struct play {
    uint64_t random;
    slr_device *devices[WORKERS];
    slr_server *workers[WORKERS]; // NULL: none
    slri_frame_shape shape;
    uint64_t sent, begins[MESSAGES], frames; // begins: the first message of each frame
    uint64_t kills, server_kills, failed, full;
    struct counted last[KEYS];
    uint64_t outputs, out_id, voids;
} play;

static uint64_t random_below(play *play, uint64_t limit)
{
    play->random ^= play->random << 13;
    play->random ^= play->random >> 7;
    play->random ^= play->random << 17;
    return play->random % limit;
}

static slr_status count(void *user, const slr_delivery *delivery)
{
    const struct sent *in = delivery->message;
    struct counted *state = delivery->state;
    (void)user;
    state->key = in->key;
    state->count++;
    state->sum = state->sum * 31 + in->number;
    return slr_reply_to(delivery, state, sizeof *state);
}

static uint64_t key_of(uint64_t number)
{
    return number * 7 % KEYS;
}

// ---- workers -------------------------------------------------------------------------------------------------------

static void end_worker(play *play, uint32_t which)
{
    slri_server_abandon(play->workers[which]);
    play->workers[which] = NULL;
}

static void expect_lost(slr_status status)
{
    if (status != SLR_WRONG_STATE && status != SLR_TIMEOUT && status != SLR_SYSTEM)
        fail_msg("%s: %s", slr_status_name(status), slr_error_message());
}

// Where the log is lost, the worker opens it again some other time.
static void note(play *play, uint32_t which, slr_status status)
{
    if (status == SLR_OK)
        return;
    expect_lost(status);
    play->failed++;
    end_worker(play, which);
}

static slr_status try_worker(play *play, uint32_t which)
{
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    slri_log_desc log = {.place = "memory"};
    ring.name = "count";
    ring.on_message = count;
    ring.message_bytes = sizeof(struct sent);
    ring.state_bytes = ring.reply_bytes = sizeof(struct counted);
    ring.keys = SLR_KEYS_U64;
    ring.instances = KEYS;
    ring.queue_size = 16; // so that messages wait for places
    desc.place = "memory";
    desc.sync = SLR_SYNC_NEVER;
    desc.snapshot_ns = 200000;
    desc.full_every = 3;
    return slri_serve(play->devices[which], &ring, &desc, &memory_log_server, &log, &play->workers[which]);
}

static void begin_worker(play *play, uint32_t which)
{
    slr_status status = try_worker(play, which);
    if (status != SLR_OK) {
        play->workers[which] = NULL;
        expect_lost(status);
        return;
    }
    play->shape = play->workers[which]->shape;
}

static void work(play *play, uint32_t which)
{
    uint32_t records;
    if (play->workers[which])
        note(play, which, slri_server_follow(play->workers[which], 0, &records));
    else if (random_below(play, 4) == 0)
        begin_worker(play, which);
}

// ---- the sender ----------------------------------------------------------------------------------------------------

static bool send_frame(play *play, uint64_t first, uint64_t oldest, uint32_t messages)
{
    unsigned char bytes[sizeof(frame)];
    slri_frame_head head = slri_frame_head_of(&play->shape, SLRI_FRAME_SENT);
    size_t at = sizeof head;
    head.producer = 9;
    head.number = first;
    head.first = oldest;
    head.count = messages;
    head.extra = SLR_KEYS_U64;
    memcpy(bytes, &head, sizeof head);
    for (uint64_t i = 0; i < messages; ++i, at += sizeof i) {
        uint64_t key = key_of(first + i);
        memcpy(bytes + at, &key, sizeof key);
    }
    for (uint64_t i = 0; i < messages; ++i, at += sizeof(struct sent)) {
        struct sent message = {key_of(first + i), first + i};
        memcpy(bytes + at, &message, sizeof message);
    }
    return memory_log_send(bytes, at);
}

static uint64_t end_of(const play *play, uint64_t which)
{
    return which + 1 < play->frames ? play->begins[which + 1] : play->sent + 1;
}

// New messages; or, as where no answer came, the last frames once more, in order.
static void send(play *play)
{
    if (play->shape.message_bytes == 0)
        return;
    if (play->frames > 0 && random_below(play, 4) == 0) {
        uint64_t back = 1 + random_below(play, BACK), from = play->frames > back ? play->frames - back : 0;
        for (uint64_t i = from; i < play->frames; ++i) {
            const uint64_t first = play->begins[i];
            if (!send_frame(play, first, play->begins[from], (uint32_t)(end_of(play, i) - first)))
                return;
        }
        return;
    }
    uint64_t many = 1 + random_below(play, FRAME), first = play->sent + 1;
    many = many < MESSAGES - play->sent ? many : MESSAGES - play->sent;
    if (many == 0 || !send_frame(play, first, first, (uint32_t)many))
        return;
    play->begins[play->frames++] = first;
    play->sent += many;
}

// ---- what happens --------------------------------------------------------------------------------------------------

static void step(play *play)
{
    const uint32_t which = (uint32_t)random_below(play, WORKERS);
    switch (random_below(play, 40)) {
    case 0:
        play->kills += play->workers[which] != NULL;
        end_worker(play, which);
        break;
    case 1:
        if (random_below(play, 4) == 0) {
            play->server_kills++;
            memory_log_kill();
        }
        break;
    case 2:
        if (random_below(play, 4) == 0) {
            play->full++;
            memory_log_fill(true);
        }
        break;
    case 3:
    case 4:
        memory_log_fill(false);
        break;
    case 5:
    case 6:
        memory_log_deliver(false);
        break;
    case 7:
    case 8:
        if (play->workers[which])
            note(play, which, slri_server_snapshot(play->workers[which], slri_deadline_after(LONG)));
        break;
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
        send(play);
        break;
    default:
        work(play, which);
    }
}

// One worker alone, in peace: its last snapshot has all.
static void finish(play *play)
{
    uint64_t first, last;
    memory_log_fill(false);
    end_worker(play, 1);
    for (uint32_t i = 0; i < STEPS_MOST; ++i) {
        memory_log_deliver(true);
        memory_log_range(SLRI_LOG_IN, &first, &last);
        work(play, 0);
        slr_server *server = play->workers[0];
        if (!server || server->in_last < last)
            continue;
        note(play, 0, slri_server_snapshot(server, slri_deadline_after(LONG)));
        if (play->workers[0] && server->head.in_last == last)
            return;
    }
    fail_msg("it does not come to its end");
}

static void read_outputs(play *play)
{
    uint64_t first, last;
    memory_log_range(SLRI_LOG_OUT, &first, &last);
    for (uint64_t i = first; i <= last; ++i) {
        slri_log_record record = memory_log_record(SLRI_LOG_OUT, i);
        slri_frame found;
        slri_frame_output output;
        const void *payload;
        size_t at = 0;
        must(slri_frame_read(&play->shape, SLRI_FRAME_OUT, record.data, record.bytes, &found));
        if (found.head.number != play->out_id) { // a record of a worker whose record before it was refused
            play->voids++;
            continue;
        }
        play->out_id = slri_output_id(found.head.producer, i);
        assert_int_equal(found.head.first, play->outputs + 1);
        while (slri_frame_next_output(&play->shape, &found, &at, &output, &payload)) {
            struct counted reply;
            memcpy(&reply, payload, sizeof reply);
            assert_in_range(reply.key, 0, KEYS - 1);
            struct counted *before = &play->last[reply.key];
            assert_int_equal(reply.count, before->count + 1);
            assert_int_equal(output.index, 0);
            *before = reply;
            play->outputs++;
        }
    }
}

static void expect_once(play *play)
{
    struct counted wanted[KEYS] = {{0}};
    for (uint64_t number = 1; number <= MESSAGES; ++number) {
        struct counted *to = &wanted[key_of(number)];
        to->key = key_of(number);
        to->count++;
        to->sum = to->sum * 31 + number;
    }
    assert_int_equal(play->outputs, MESSAGES);
    for (uint64_t key = 0; key < KEYS; ++key) {
        struct counted kept;
        must(slr_server_get_state(play->workers[0], slr_key_u64(key), &kept, sizeof kept, LONG));
        assert_memory_equal(&kept, &wanted[key], sizeof kept);
        assert_memory_equal(&play->last[key], &wanted[key], sizeof kept);
    }
}

static void play_seed(uint64_t seed, play *play)
{
    *play = (struct play){.random = seed * 2 + 1};
    memory_log_begin(seed);
    must(slri_sim_begin(seed));
    for (uint32_t i = 0; i < WORKERS; ++i)
        play->devices[i] = open_device("cpu?threads=1");
    for (uint32_t i = 0; i < STEPS_MOST && (play->sent < MESSAGES || play->kills < 3); ++i)
        step(play);
    assert_int_equal(play->sent, MESSAGES);
    finish(play);
}

static void end_play(play *play)
{
    for (uint32_t i = 0; i < WORKERS; ++i) {
        end_worker(play, i);
        slr_device_close(play->devices[i]);
    }
    memory_log_end();
    assert_int_equal(slri_sim_end(), 0);
}

static void killed_workers_and_servers_lose_and_double_nothing(void **state)
{
    (void)state;
    static play play;
    uint64_t kills = 0, server_kills = 0, failed = 0, full = 0, late = 0, voids = 0;
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        play_seed(seed, &play);
        read_outputs(&play);
        expect_once(&play);
        kills += play.kills;
        server_kills += play.server_kills;
        failed += play.failed;
        full += play.full;
        late += memory_log_late();
        voids += play.voids;
        end_play(&play);
    }
    assert_true(kills > KILLED);
    assert_true(server_kills > KILLED);
    assert_true(full > KILLED);
    assert_true(failed > SEEDS); // logs that were lost
    assert_true(late > SEEDS);   // appends of workers that had lost the partition
    assert_true(voids > 0);      // some of which were stored, and do not count
}

// Negative twin: what the checks above see, if a stranger writes an output that no worker has made.
static void an_output_too_many_is_seen(void **state)
{
    (void)state;
    static play play;
    slri_log *log;
    uint64_t first, last;
    play_seed(1, &play);
    read_outputs(&play);
    assert_int_equal(play.outputs, MESSAGES);
    memory_log_range(SLRI_LOG_OUT, &first, &last);
    slri_log_record record = memory_log_record(SLRI_LOG_OUT, last);
    slri_frame_head head;
    unsigned char *copy = malloc(record.bytes);
    memcpy(copy, record.data, record.bytes);
    memcpy(&head, copy, sizeof head);
    head.number = play.out_id; // as if it followed itself
    memcpy(copy, &head, sizeof head);
    slri_append_part part = {copy, record.bytes};
    must(memory_log_server.open(&(slri_log_desc){.place = "memory"}, &log));
    must(log->engine->append(log, SLRI_LOG_OUT, last, &part, 1));
    must(log->engine->sync(log, SLRI_LOG_OUT));
    log->engine->close(log);
    free(copy);
    end_worker(&play, 0);
    slr_status status = try_worker(&play, 0); // which reads what is stored behind its snapshot
    assert_int_equal(status, SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "does not follow the one before"));
    end_play(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_workers_and_servers_lose_and_double_nothing),
        cmocka_unit_test(an_output_too_many_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
