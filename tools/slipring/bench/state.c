// SPDX-License-Identifier: Apache-2.0
// `slipring bench state`: what a durable ring kernel costs beside plain appends to a file of the same folder.
#define _GNU_SOURCE
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/message.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/serve.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MESSAGES = 1 << 17, // of a slice
    KEYS = 100000,      // whose states a snapshot has
    SMALL_KEYS = 1000,
    STATE_BYTES = 64,
    FRAME_BYTES = 64 << 10,                                  // of a write of the floor, and about those of a frame
    LOGGED_BYTES = sizeof(bench_message) + sizeof(uint32_t), // what the log has of a message: with its instance
    FRAME_MESSAGES = FRAME_BYTES / LOGGED_BYTES,
    KEEP_BYTES = 64 << 20 // after which the floor's file begins again, as the log does
};
#define NEVER_NS UINT64_MAX

typedef struct state_bench {
    bench *bench;
    slr_device *device;
    slr_server *server;
    char folder[64];
    int file; // the floor's
    uint64_t written;
    unsigned char *frame, *frame_read;
    uint64_t slice_at;       // where the floor's slice begins in the file
    uint32_t slice_messages; // of a slice
    uint32_t slice_written;  // atomic: of them, those that are in the file; UINT32_MAX: a write has failed
    uint32_t slice_sum;      // of its words, as they were read
    uint32_t keys, number, expected, summed; // summed: messages that are in `expected`
    slr_ring *plain;                         // the same ring kernel, without a folder
    slr_port *port;
    slr_address to;
    uint32_t plain_number;
    bench_message *batch;
} state_bench;

static slr_status add(void *user, const slr_delivery *delivery)
{
    uint32_t *sum = delivery->state;
    (void)user;
    *sum += bench_sum(delivery->message);
    return SLR_OK;
}

static slr_ring_desc describe(const char *name, uint32_t keys)
{
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    ring.name = name;
    ring.on_message = add;
    ring.message_bytes = sizeof(bench_message);
    ring.state_bytes = STATE_BYTES;
    ring.keys = keys > 1 ? SLR_KEYS_U64 : 0;
    ring.instances = keys;
    return ring;
}

static slr_status serve(state_bench *state, const char *name, uint32_t keys)
{
    char place[96];
    slr_ring_desc ring = describe(name, keys);
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    snprintf(place, sizeof place, "local:%s/%s", state->folder, name);
    desc.place = place;
    desc.sync = SLR_SYNC_NEVER;
    desc.snapshot_ns = NEVER_NS;
    state->keys = keys;
    return slr_serve(state->device, &ring, &desc, &state->server);
}

static slr_status send_all(state_bench *state, uint32_t messages, bool handled)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < messages && status == SLR_OK; i++, state->number++) {
        bench_message message;
        bench_fill(&message, state->number);
        status = slr_server_send(state->server, 1, 0, slr_key_u64(state->number % state->keys), &message,
                                 sizeof message, BENCH_TIMEOUT_NS);
    }
    if (status == SLR_OK && handled)
        return slr_server_settle(state->server, BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_server_flush(state->server, 0);
    return status == SLR_TIMEOUT ? SLR_OK : status; // all is written, and some of it waits for the mailbox
}

// Not while the clock runs: the floor has no such sum either.
static void expect(state_bench *state)
{
    for (; state->summed < state->number; state->summed++)
        state->expected += bench_sum_of(state->summed);
}

// The log is cut where the floor's file begins again, and in neither is that timed.
static bool slice(state_bench *state, double *figures, bool handled)
{
    uint32_t messages = bench_size(state->bench, MESSAGES);
    uint64_t begin = clock_ns();
    slr_status status = send_all(state, messages, handled);
    figures[0] = bench_per_second(messages, begin);
    expect(state);
    if (status == SLR_OK)
        status = slr_server_snapshot(state->server, BENCH_TIMEOUT_NS);
    return status == SLR_OK || bench_failed(status, "state");
}

static bool handled_slice(void *context, double *figures)
{
    return slice(context, figures, true);
}

static bool accepted_slice(void *context, double *figures)
{
    return slice(context, figures, false);
}

// ---- the same ring kernel without a folder -------------------------------------------------------------------------

static slr_status start_plain(state_bench *state)
{
    slr_ring_desc ring = describe("plain", 1);
    slr_status status = slr_ring_create(state->device, &ring, &state->plain);
    if (status == SLR_OK)
        status = slr_ring_launch(state->plain);
    if (status == SLR_OK)
        status = slr_ring_activate(state->plain, BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_ring_get_address(state->plain, 0, &state->to);
    return status == SLR_OK ? slr_port_open(state->device, &state->port) : status;
}

static slr_status await_plain(const state_bench *state)
{
    slr_ring_stats stats = {.pending = 1};
    slr_status status = SLR_OK;
    uint64_t begin = clock_ns();
    while (status == SLR_OK && stats.pending > 0 && clock_ns() - begin < BENCH_TIMEOUT_NS)
        status = slr_ring_get_stats(state->plain, &stats);
    return stats.pending > 0 && status == SLR_OK ? SLR_TIMEOUT : status;
}

static bool plain_slice(void *context, double *figures)
{
    state_bench *state = context;
    uint32_t messages = bench_size(state->bench, MESSAGES);
    slr_status status = SLR_OK;
    uint64_t begin = clock_ns();
    for (uint32_t i = 0; i < messages && status == SLR_OK; i += FRAME_MESSAGES) {
        for (uint32_t k = 0; k < FRAME_MESSAGES; k++)
            bench_fill(&state->batch[k], state->plain_number++);
        status = slr_send_many(state->port, state->to, NULL, state->batch, sizeof *state->batch, FRAME_MESSAGES,
                               BENCH_TIMEOUT_NS, NULL);
    }
    if (status == SLR_OK)
        status = await_plain(state);
    figures[0] = bench_per_second(messages, begin);
    return status == SLR_OK || bench_failed(status, "state");
}

static bool write_bytes(state_bench *state, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t most = bytes - done < FRAME_BYTES ? bytes - done : FRAME_BYTES;
        ssize_t put = write(state->file, state->frame, most);
        if (put <= 0) {
            say("state: cannot write the floor's file");
            return false;
        }
        done += (size_t)put;
    }
    state->written += bytes;
    return true;
}

static bool begin_again(state_bench *state)
{
    if (state->written < KEEP_BYTES)
        return true;
    state->written = 0;
    return ftruncate(state->file, 0) == 0 && lseek(state->file, 0, SEEK_SET) == 0;
}

// Release: what was written, for the reader.
static bool append_frames(state_bench *state)
{
    for (uint32_t i = 0; i < state->slice_messages; i += FRAME_MESSAGES) {
        for (uint32_t k = 0; k < FRAME_MESSAGES; k++) // somebody has to write the messages here, too
            bench_fill((bench_message *)(void *)(state->frame + k * sizeof(bench_message)), i + k);
        if (!write_bytes(state, FRAME_BYTES)) {
            __atomic_store_n(&state->slice_written, UINT32_MAX, __ATOMIC_RELEASE);
            return false;
        }
        __atomic_store_n(&state->slice_written, i + FRAME_MESSAGES, __ATOMIC_RELEASE);
    }
    return true;
}

// Whole frames: a write that does not begin at a multiple of 64 KiB in the file makes those behind it a quarter slower.
static void begin_append(state_bench *state)
{
    uint32_t frames = (bench_size(state->bench, MESSAGES) + FRAME_MESSAGES - 1) / FRAME_MESSAGES;
    state->slice_messages = frames * FRAME_MESSAGES;
    state->slice_at = state->written;
    state->slice_written = state->slice_sum = 0;
}

static bool append_slice(void *context, double *figures)
{
    state_bench *state = context;
    begin_append(state);
    uint64_t begin = clock_ns();
    bool fine = append_frames(state);
    figures[0] = bench_per_second(state->slice_messages, begin);
    return begin_again(state) && fine;
}

// On the other core: reads each frame once it is in the file, and adds up its messages, as the handler does.
static void read_frames(void *context)
{
    state_bench *state = context;
    uint64_t at = state->slice_at;
    for (uint32_t i = 0; i < state->slice_messages; i += FRAME_MESSAGES, at += FRAME_BYTES) {
        uint32_t written;
        do // acquire: the bytes of the file
            written = __atomic_load_n(&state->slice_written, __ATOMIC_ACQUIRE);
        while (written < i + FRAME_MESSAGES);
        if (written == UINT32_MAX || pread(state->file, state->frame_read, FRAME_BYTES, (off_t)at) != FRAME_BYTES)
            return; // the sum says so
        for (uint32_t k = 0; k < FRAME_MESSAGES; k++)
            state->slice_sum += bench_sum((bench_message *)(void *)(state->frame_read + k * sizeof(bench_message)));
    }
}

static bool append_and_read_slice(void *context, double *figures)
{
    state_bench *state = context;
    uint32_t right = 0;
    begin_append(state);
    partner_run(state->bench->partner, read_frames, state);
    uint64_t begin = clock_ns();
    bool fine = append_frames(state);
    partner_join(state->bench->partner);
    figures[0] = bench_per_second(state->slice_messages, begin);
    for (uint32_t i = 0; i < state->slice_messages; i++)
        right += bench_sum_of(i);
    if (fine && state->slice_sum != right)
        say("state: the floor's reader has read other messages than were written");
    return begin_again(state) && fine && state->slice_sum == right;
}

// ---- snapshots -----------------------------------------------------------------------------------------------------

static bool snapshot_slice(void *context, double *figures)
{
    state_bench *state = context;
    slr_status status = send_all(state, state->keys, true); // each state is another one now
    uint64_t begin = clock_ns();
    if (status == SLR_OK)
        status = slr_server_snapshot(state->server, BENCH_TIMEOUT_NS);
    figures[0] = (double)(clock_ns() - begin) / 1e6;
    return status == SLR_OK || bench_failed(status, "state_snapshot");
}

static bool copy_slice(void *context, double *figures)
{
    state_bench *state = context;
    uint64_t begin = clock_ns();
    bool fine = write_bytes(state, (size_t)state->keys * (STATE_BYTES + 2 * sizeof(uint64_t)));
    figures[0] = (double)(clock_ns() - begin) / 1e6;
    return begin_again(state) && fine;
}

// What the states sum up to, all together: nothing was lost or doubled.
static bool check(state_bench *state)
{
    uint32_t sum = 0, of_one[STATE_BYTES / sizeof(uint32_t)];
    expect(state);
    for (uint32_t key = 0; key < state->keys; key++) {
        if (slr_server_get_state(state->server, slr_key_u64(key), of_one, sizeof of_one, BENCH_TIMEOUT_NS) == SLR_OK)
            sum += of_one[0];
    }
    if (sum == state->expected)
        return true;
    say("state: the states sum up to %u, not to %u", sum, state->expected);
    return false;
}

static bool end_server(state_bench *state, bool fine)
{
    if (state->server == NULL)
        return fine;
    fine = check(state) && fine;
    fine = slr_server_close(state->server, BENCH_TIMEOUT_NS) == SLR_OK && fine;
    state->server = NULL;
    state->number = state->expected = state->summed = 0;
    return fine;
}

static bool measure(state_bench *state, const char *server, uint32_t keys, const bench_case *what)
{
    if (!bench_wants(state->bench, what->name))
        return true;
    partner_move_caller(state->bench->partner, true); // as does what is started here
    slr_status status = serve(state, server, keys);
    partner_move_caller(state->bench->partner, false);
    if (status != SLR_OK)
        return bench_failed(status, what->name);
    return end_server(state, bench_measure(state->bench, what));
}

static bool measure_all(state_bench *state)
{
    bench_case one_way = {.name = "state_oneway_64B",
                          .unit = "msg/s",
                          .stats = {"median"},
                          .pair = {.value = handled_slice,
                                   .floor = append_and_read_slice,
                                   .value_context = state,
                                   .floor_context = state,
                                   .figures = 1}};
    bench_case accepted = one_way, snapshot = one_way, beside = one_way;
    one_way.method = "Messages of 64 B a second to a durable ring kernel in a folder (local:DIR), without fsync, until "
                     "all are handled, on the other core. Floor: the same messages are written to a file of the same "
                     "folder, 64 KiB at a time, until a thread on the other core has read them from the file and "
                     "added them up, as the handler does.";
    accepted.name = "state_accept_64B";
    accepted.method = "The same as state_oneway_64B, but until all messages are accepted, that is, written to the log. "
                      "The handler works meanwhile, on the other core; messages for which the mailbox has no room wait "
                      "in memory. Floor: the same messages are written to a file of the same folder, 64 KiB at a time. "
                      "Nobody reads them.";
    accepted.pair.value = accepted_slice;
    accepted.pair.floor = append_slice;
    beside.name = "state_vs_ring_64B";
    beside.method = "The same as state_oneway_64B. Floor: the same handler and messages, without storage; each call of "
                    "slr_send_many sends as many messages as a frame has.";
    beside.pair.floor = plain_slice;
    snapshot.name = "state_snapshot_100k";
    snapshot.unit = "ms";
    snapshot.method = "The time of a snapshot of 100,000 keys whose states of 64 B have all changed, while no message "
                      "is handled. With one snapshot in each second, each ms is a thousandth of the time. Floor: a "
                      "write of as many bytes to a file.";
    snapshot.pair.value = snapshot_slice;
    snapshot.pair.floor = copy_slice;
    uint32_t keys = state->bench->small ? SMALL_KEYS : KEYS;
    return measure(state, "oneway", 1, &one_way) && measure(state, "accept", 1, &accepted) &&
           measure(state, "beside", 1, &beside) && measure(state, "snapshot", keys, &snapshot);
}

static bool open_all(state_bench *state)
{
    const char *parent = getenv("TMPDIR");
    char path[96];
    snprintf(state->folder, sizeof state->folder, "%.32s/slipring-state-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(state->folder) == NULL) {
        say("state: cannot make the folder %s", state->folder);
        return false;
    }
    snprintf(path, sizeof path, "%s/floor", state->folder);
    state->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    state->frame = memory_take(FRAME_BYTES + sizeof(bench_message), 1);
    state->frame_read = memory_take(FRAME_BYTES, 1);
    state->batch = memory_take(FRAME_MESSAGES, sizeof *state->batch);
    partner_move_caller(state->bench->partner, true); // the handler's thread inherits the other core
    slr_status status = slr_device_open("cpu?threads=1", NULL, &state->device);
    if (status == SLR_OK)
        status = start_plain(state);
    partner_move_caller(state->bench->partner, false);
    return state->file >= 0 && (status == SLR_OK || bench_failed(status, "state"));
}

bool bench_state(bench *bench)
{
    state_bench state = {.bench = bench, .file = -1};
    char command[96];
    bool fine = open_all(&state) && measure_all(&state);
    slr_port_close(state.port);
    slr_ring_destroy(state.plain);
    slr_device_close(state.device);
    if (state.file >= 0)
        close(state.file);
    free(state.frame);
    free(state.frame_read);
    free(state.batch);
    snprintf(command, sizeof command, "rm -rf '%s'", state.folder);
    return system(command) == 0 && fine;
}
