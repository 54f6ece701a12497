// SPDX-License-Identifier: Apache-2.0
// For the tests of durable ring kernels: a folder for each test, and a ring kernel that adds up what it is sent.
// Crashes are copies of the folder at some moment, which is what a kill leaves.
#ifndef SLRI_CLUSTER_SERVE_TEST_H
#define SLRI_CLUSTER_SERVE_TEST_H

#include <slipring/devices.h>
#include <slipring/serve.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LONG 60000000000u
enum { KEYS = 7, PRODUCER = 5, FAULT = 666 };

struct message {
    uint64_t value;
    uint32_t fault, pad;
};
struct total {
    uint64_t count, sum;
};

static char base[64];
static slr_device *device, *second_device; // names are unique in one device
static uint32_t times;                     // what the handler multiplies with: other code, the same layouts

static inline slr_status add(void *user, const slr_delivery *delivery)
{
    struct total *total = delivery->state;
    struct message message;
    (void)user;
    memcpy(&message, delivery->message, sizeof message);
    if (message.fault == FAULT)
        return SLR_INVALID;
    total->count++;
    total->sum += message.value * times;
    return slr_reply_to(delivery, total, sizeof *total);
}

static inline int set_up(void **state)
{
    (void)state;
    times = 1;
    snprintf(base, sizeof base, "/tmp/slipring-serve-XXXXXX");
    return mkdtemp(base) && slr_device_open("cpu?threads=2", NULL, &device) == SLR_OK &&
                   slr_device_open("cpu?threads=1", NULL, &second_device) == SLR_OK
               ? 0
               : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    char command[128];
    slr_device_close(device);
    slr_device_close(second_device);
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return system(command);
}

static inline void must(slr_status status)
{
    if (status != SLR_OK)
        fail_msg("%s: %s", slr_status_name(status), slr_error_message());
}

static inline void refuses(slr_status status, slr_status expected, const char *says)
{
    assert_int_equal(status, expected);
    if (!strstr(slr_error_message(), says))
        fail_msg("'%s' is not in: %s", says, slr_error_message());
}

static inline slr_ring_desc describe(void)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "totals";
    desc.on_message = add;
    desc.message_bytes = sizeof(struct message);
    desc.state_bytes = sizeof(struct total);
    desc.reply_bytes = sizeof(struct total);
    desc.keys = SLR_KEYS_U64;
    desc.instances = 100;
    desc.queue_size = 64;
    return desc;
}

static inline const char *place_of(const char *name)
{
    static char place[128];
    snprintf(place, sizeof place, "local:%s/%s", base, name);
    return place;
}

static inline slr_status try_serve(slr_device *on, const char *name, const slr_ring_desc *ring, slr_server **server)
{
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    desc.place = place_of(name);
    desc.sync = SLR_SYNC_NEVER;
    desc.snapshot_ns = UINT64_MAX; // when a test says so
    desc.frame_messages = 5;
    desc.full_every = 3;
    return slr_serve(on, ring, &desc, server);
}

static inline slr_server *serve_on(slr_device *on, const char *name)
{
    slr_server *server = NULL;
    slr_ring_desc ring = describe();
    must(try_serve(on, name, &ring, &server));
    return server;
}

static inline slr_server *serve(const char *name)
{
    return serve_on(device, name);
}

// What a kill leaves: all that was written.
static inline void copy_folder(const char *from, const char *to)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s/%s' && cp -rp '%s/%s' '%s/%s'", base, to, base, from, base, to);
    assert_int_equal(system(command), 0);
}

static inline slr_status send_number(slr_server *server, uint64_t number)
{
    struct message message = {.value = number * 3};
    return slr_server_send(server, PRODUCER, number, slr_key_u64(number % KEYS), &message, sizeof message, LONG);
}

static inline slr_server_stats stats_of(slr_server *server)
{
    slr_server_stats stats;
    must(slr_server_get_stats(server, &stats));
    assert_int_equal(stats.accepted, stats.handled + stats.faulted + stats.pending);
    return stats;
}

// Outputs so far: of each key 1, 2, 3... in order.
struct outputs {
    uint64_t count[KEYS], all, last;
};

static inline void take_outputs(slr_server *server, struct outputs *outputs)
{
    slr_output output;
    struct total total;
    while (slr_server_receive(server, &output, &total, sizeof total, 0) == SLR_OK) {
        assert_int_equal(output.sequence, outputs->last + 1);
        assert_int_equal(total.count, outputs->count[output.key.number] + 1);
        outputs->count[output.key.number]++;
        outputs->last = output.sequence;
        outputs->all++;
    }
}

static inline void check_states(slr_server *server, uint64_t messages)
{
    struct total total, expected[KEYS] = {{0}};
    for (uint64_t n = 1; n <= messages; ++n) {
        expected[n % KEYS].count++;
        expected[n % KEYS].sum += n * 3;
    }
    for (uint64_t key = 0; key < KEYS; ++key) {
        must(slr_server_get_state(server, slr_key_u64(key), &total, sizeof total, LONG));
        assert_int_equal(total.count, expected[key].count);
        assert_int_equal(total.sum, expected[key].sum);
    }
}

typedef struct letters {
    uint32_t count;
    uint64_t sequence, message, value;
    char reason[192];
} letters;

static inline void keep_letter(void *user, const slr_place_letter *letter)
{
    letters *letters = user;
    struct message message;
    assert_int_equal(letter->bytes, sizeof message);
    memcpy(&message, letter->payload, sizeof message);
    letters->count++;
    letters->sequence = letter->sequence;
    letters->message = letter->message;
    letters->value = message.value;
    snprintf(letters->reason, sizeof letters->reason, "%s", letter->reason);
}

#endif
