// SPDX-License-Identifier: Apache-2.0
// `slipring bench state`, back-pressure: a handler that is slower than its sender, and outputs that nobody takes. The
// sender is refused, memory stays bounded, and in the end each message was handled once and each output is there.
#define _GNU_SOURCE
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/pages.h"
#include "clock.h"
#include "say.h"

#include <slipring/serve.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SLOW_MESSAGES = 1 << 20,
    MESSAGES = 1 << 22,
    MESSAGE_BYTES = 64,
    LOOK_EACH = 512,     // messages, for the memory
    TAKE_AT_ONCE = 4096, // outputs, where no more are let in
    SLOW_NS = 1000
};
#define SEND_NS 1000000u // before a message is refused

typedef struct message {
    uint64_t number, rest[7];
} message;

typedef struct pressure {
    bench *bench;
    const char *name;
    bool answers;
    char folder[64];
    slr_device *device;
    slr_server *server;
    pages_seen pages;
    uint64_t sent, refused, received;
} pressure;

static slr_status handle(void *user, const slr_delivery *delivery)
{
    const pressure *pressure = user;
    const message *in = delivery->message;
    message *state = delivery->state;
    state->number++;
    state->rest[0] = state->rest[0] * 31 + in->number; // in order
    if (pressure->answers)
        return slr_reply_to(delivery, in, sizeof *in);
    uint64_t until = clock_ns() + SLOW_NS;
    while (clock_ns() < until)
        ;
    return SLR_OK;
}

// Takes `most` outputs: each is that of the next message.
static slr_status take(pressure *pressure, uint64_t most)
{
    slr_output output;
    message reply;
    slr_status status = SLR_OK;
    for (uint64_t i = 0; i < most && status == SLR_OK; i++) {
        status = slr_server_receive(pressure->server, &output, &reply, sizeof reply, BENCH_TIMEOUT_NS);
        if (status == SLR_OK && reply.number != ++pressure->received) {
            say("state: output %" PRIu64 " is that of message %" PRIu64, pressure->received, reply.number);
            return SLR_INTERNAL;
        }
    }
    return status;
}

static slr_status send(pressure *pressure, uint64_t messages)
{
    slr_status status = SLR_OK;
    const uint64_t begin = clock_ns();
    while (pressure->sent < messages && status == SLR_OK) {
        message next = {.number = pressure->sent + 1};
        status = slr_server_send(pressure->server, 1, next.number, slr_key_u64(0), &next, sizeof next, SEND_NS);
        pressure->sent += status == SLR_OK;
        if (pressure->sent % LOOK_EACH == 0)
            pages_look(&pressure->pages);
        if (status != SLR_TIMEOUT && status != SLR_FULL)
            continue;
        pressure->refused++;
        status = clock_ns() - begin > 24 * BENCH_TIMEOUT_NS ? status
                 : status == SLR_FULL                       ? take(pressure, TAKE_AT_ONCE)
                                                            : SLR_OK;
    }
    while (status == SLR_OK && (status = slr_server_flush(pressure->server, SEND_NS)) == SLR_TIMEOUT)
        status = clock_ns() - begin > 24 * BENCH_TIMEOUT_NS ? SLR_TIMEOUT : SLR_OK;
    if (status == SLR_OK && pressure->answers)
        status = take(pressure, messages - pressure->received);
    return status == SLR_OK ? slr_server_settle(pressure->server, BENCH_TIMEOUT_NS) : status;
}

static slr_status serve(pressure *pressure)
{
    char place[96];
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    snprintf(place, sizeof place, "local:%s/%s", pressure->folder, pressure->name);
    ring.name = "handle";
    ring.on_message = handle;
    ring.user = pressure;
    ring.message_bytes = MESSAGE_BYTES;
    ring.state_bytes = sizeof(message);
    ring.reply_bytes = pressure->answers ? MESSAGE_BYTES : 0;
    ring.instances = 1;
    desc.place = place;
    desc.sync = SLR_SYNC_NEVER;
    slr_status status = slr_device_open("cpu?threads=1", NULL, &pressure->device);
    return status == SLR_OK ? slr_serve(pressure->device, &ring, &desc, &pressure->server) : status;
}

// Nothing was dropped or doubled, and the order is that of the sender.
static bool is_exact(pressure *pressure)
{
    message state;
    uint64_t sum = 0;
    for (uint64_t number = 1; number <= pressure->sent; number++)
        sum = sum * 31 + number;
    slr_status status = slr_server_get_state(pressure->server, slr_key_u64(0), &state, sizeof state, BENCH_TIMEOUT_NS);
    if (status != SLR_OK)
        return bench_failed(status, "state");
    if (state.number == pressure->sent && state.rest[0] == sum)
        return true;
    say("state: %" PRIu64 " messages of %" PRIu64 " were handled, or not in order", state.number, pressure->sent);
    return false;
}

static bool measure(bench *bench, const char *name, bool answers, const char *what)
{
    pressure pressure = {.bench = bench, .name = name, .answers = answers};
    const char *parent = getenv("TMPDIR");
    char command[96], method[BENCH_METHOD_BYTES];
    const uint64_t messages = bench_size(bench, answers ? MESSAGES : SLOW_MESSAGES);
    if (!bench_wants(bench, name))
        return true;
    snprintf(pressure.folder, sizeof pressure.folder, "%.32s/slipring-pressure-XXXXXX", parent ? parent : "/tmp");
    if (mkdtemp(pressure.folder) == NULL) {
        say("state: cannot make the folder %s", pressure.folder);
        return false;
    }
    partner_free_caller(bench->partner); // the handler's thread must not inherit the caller's core
    slr_status status = serve(&pressure);
    pages_begin(&pressure.pages);
    if (status == SLR_OK)
        status = send(&pressure, messages);
    pages_look(&pressure.pages);
    bool fine = status == SLR_OK ? is_exact(&pressure) : bench_failed(status, name);
    if (fine && pressure.refused == 0 && !bench->small) {
        say("state: %s: the sender was never refused", name);
        fine = false;
    }
    bench_row row = {.name = name,
                     .stat = "most",
                     .unit = "MiB",
                     .value = pages_most_mib(&pressure.pages),
                     .floor = (double)messages * MESSAGE_BYTES / (1024 * 1024)};
    snprintf(method, sizeof method,
             "How much more memory this process used at most while %" PRIu64
             " messages of 64 B were sent, %s. The sender was refused %" PRIu64
             " times; each message was handled once, in order%s. Floor: the bytes of all messages.",
             pressure.sent, what, pressure.refused, answers ? ", and each output received once" : "");
    if (fine)
        bench_add(bench, &row, method);
    slr_server_close(pressure.server, BENCH_TIMEOUT_NS);
    slr_device_close(pressure.device);
    partner_move_caller(bench->partner, false);
    snprintf(command, sizeof command, "rm -rf '%s'", pressure.folder);
    return system(command) == 0 && fine;
}

bool bench_pressure(bench *bench)
{
    bool fine = measure(bench, "state_slow_handler", false,
                        "each of which takes the handler 1 us; a send waits for at most 1 ms");
    return measure(bench, "state_full_output", true,
                   "and 4,096 outputs were received each time that a send returned SLR_FULL") &&
           fine;
}
