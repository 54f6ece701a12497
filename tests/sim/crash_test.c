// SPDX-License-Identifier: Apache-2.0
// Crashes of a durable ring kernel, from seeds: its process ends between two calls, at whatever point its tasks then
// are, with messages on their way and outputs that nobody has received. The next one goes on in the same folder. Or its
// machine loses its power, and the disk what it had not synced; or the disk is full for a while.
#include "tests/ring/ring_test.h"

#include "base/sim.h"
#include "cluster/server.h"
#include "memory_log.h"

enum { SEEDS = 60, KEYS = 5, MESSAGES = 400, STEPS_MOST = 4000 };

struct sent {
    uint64_t key, number;
};

struct counted {
    uint64_t key, count, sum;
};

typedef struct play {
    uint64_t random;
    bool has_disk; // in this process, instead of a folder
    char folder[64];
    slr_device *device;
    slr_server *server;
    uint64_t sent, accepted;    // accepted: of those, known to be stored
    uint64_t crashes, lost;     // lost: messages that no call had accepted
    uint64_t full;              // crashes because the disk was full
    uint64_t received;          // outputs in a row from the first on
    uint8_t seen[MESSAGES + 1]; // by message
    struct counted last[KEYS];
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

static void open_play(play *play)
{
    char place[96];
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    snprintf(place, sizeof place, "local:%s", play->folder);
    ring.name = "count";
    ring.on_message = count;
    ring.message_bytes = sizeof(struct sent);
    ring.state_bytes = ring.reply_bytes = sizeof(struct counted);
    ring.keys = SLR_KEYS_U64;
    ring.instances = KEYS;
    ring.queue_size = 16; // so that messages wait for places
    desc.place = place;
    desc.sync = play->has_disk ? SLR_SYNC_ALWAYS : SLR_SYNC_NEVER;
    desc.snapshot_ns = 200000;
    slri_log_desc log = {.place = place};
    must(slri_serve(play->device, &ring, &desc, play->has_disk ? &memory_log_disk : NULL, &log, &play->server));
}

static void crash(play *play)
{
    slri_server_abandon(play->server);
    play->crashes++;
    if (play->has_disk && random_below(play, 2))
        memory_log_cut_power();
    memory_log_fill(false);
    open_play(play);
    uint64_t known;
    must(slr_server_get_producer(play->server, 1, &known));
    assert_in_range(known, play->accepted, play->sent);
    play->lost += play->sent - known;
    play->sent = known;
}

// A full disk ends the process, and somebody makes room.
static bool has_ended(play *play, slr_status status)
{
    if (!play->has_disk || status != SLR_SYSTEM)
        return false;
    play->full++;
    crash(play);
    return true;
}

static void receive(play *play, uint64_t most, uint64_t timeout_ns)
{
    for (uint64_t i = 0; i < most; ++i) {
        slr_output output;
        struct counted reply;
        slr_status status = slr_server_receive(play->server, &output, &reply, sizeof reply, timeout_ns);
        if (status == SLR_TIMEOUT || has_ended(play, status))
            return;
        must(status);
        if (output.sequence <= play->received)
            continue; // received before the crash, and not released
        assert_int_equal(output.sequence, ++play->received);
        assert_in_range(output.message, 1, MESSAGES);
        assert_int_equal(play->seen[output.message]++, 0);
        struct counted *last = &play->last[key_of(output.message)];
        assert_int_equal(reply.count, last->count + 1);
        assert_int_equal(reply.sum, last->sum * 31 + output.message);
        *last = reply;
    }
}

static void send_some(play *play)
{
    for (uint64_t left = 1 + random_below(play, 40); left > 0 && play->sent < MESSAGES; --left) {
        struct sent message = {key_of(play->sent + 1), play->sent + 1};
        slr_status status =
            slr_server_send(play->server, 1, message.number, slr_key_u64(message.key), &message, sizeof message, 1000);
        if (status == SLR_TIMEOUT || has_ended(play, status))
            return;
        must(status);
        play->sent++;
    }
}

static void step(play *play)
{
    slr_status status = SLR_OK;
    if (play->has_disk && random_below(play, 20) == 0)
        memory_log_fill(true);
    switch (random_below(play, 12)) {
    case 0:
        crash(play);
        break;
    case 1:
        status = slr_server_snapshot(play->server, 1 + random_below(play, 100000));
        break;
    case 2:
        if (play->received > 0) // perhaps those of an earlier process: then they are released already, or come again
            (void)slr_server_release(play->server, play->received, NULL, 0);
        break;
    case 3:
        status = slr_server_flush(play->server, random_below(play, 1000));
        play->accepted = status == SLR_OK ? play->sent : play->accepted;
        break;
    case 4:
    case 5:
    case 6:
        receive(play, random_below(play, 60), random_below(play, 2000));
        break;
    default:
        send_some(play);
    }
    if (status != SLR_TIMEOUT && !has_ended(play, status))
        must(status);
}

static void play_seed(uint64_t seed, play *play, bool has_disk)
{
    *play = (struct play){.random = seed * 2 + 1, .has_disk = has_disk};
    memory_log_begin(seed);
    snprintf(play->folder, sizeof play->folder, "/tmp/slipring-crash-XXXXXX");
    assert_non_null(mkdtemp(play->folder));
    must(slri_sim_begin(seed));
    play->device = open_device("cpu");
    open_play(play);
    for (uint32_t i = 0; i < STEPS_MOST && play->sent < MESSAGES; ++i)
        step(play);
    assert_int_equal(play->sent, MESSAGES);
    memory_log_fill(false);
    must(slr_server_settle(play->server, LONG));
    receive(play, MESSAGES + 1, 0);
}

static void end_play(play *play)
{
    char command[128];
    must(slr_server_close(play->server, LONG));
    slr_device_close(play->device);
    memory_log_end();
    assert_int_equal(slri_sim_end(), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", play->folder);
    assert_int_equal(system(command), 0);
}

static void expect_exact(bool has_disk, uint64_t *full)
{
    static play play;
    uint64_t crashes = 0, lost = 0;
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        play_seed(seed, &play, has_disk);
        assert_int_equal(play.received, MESSAGES);
        for (uint64_t key = 0; key < KEYS; ++key) {
            struct counted kept;
            must(slr_server_get_state(play.server, slr_key_u64(key), &kept, sizeof kept, LONG));
            assert_memory_equal(&kept, &play.last[key], sizeof kept);
        }
        crashes += play.crashes;
        lost += play.lost;
        *full += play.full;
        end_play(&play);
    }
    assert_true(crashes > SEEDS); // and some of them found messages that were not accepted
    assert_true(lost > 0);
}

static void crashes_lose_and_double_nothing(void **state)
{
    (void)state;
    uint64_t full = 0;
    expect_exact(false, &full);
    assert_int_equal(full, 0);
}

static void power_cuts_and_full_disks_lose_and_double_nothing(void **state)
{
    (void)state;
    uint64_t full = 0;
    expect_exact(true, &full);
    assert_true(full > 0);
}

// Negative twin: what the checks above would see, if the folder did not have what was accepted.
static void a_folder_that_was_emptied_has_lost_messages(void **state)
{
    (void)state;
    static play play;
    char command[128];
    uint64_t known;
    struct counted kept;
    play_seed(1, &play, false);
    slri_server_abandon(play.server);
    snprintf(command, sizeof command, "rm -f '%s'/*", play.folder);
    assert_int_equal(system(command), 0);
    open_play(&play);
    must(slr_server_get_producer(play.server, 1, &known));
    assert_int_equal(known, 0);
    assert_int_equal(slr_server_get_state(play.server, slr_key_u64(0), &kept, sizeof kept, LONG), SLR_NOT_FOUND);
    end_play(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes_lose_and_double_nothing),
        cmocka_unit_test(power_cuts_and_full_disks_lose_and_double_nothing),
        cmocka_unit_test(a_folder_that_was_emptied_has_lost_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
