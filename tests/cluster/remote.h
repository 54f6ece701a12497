// SPDX-License-Identifier: Apache-2.0
/// Names that machines share, in a test: one NATS server, a handler that counts, workers that take their turns in the
/// test's own thread.
#ifndef CLUSTER_REMOTE_H
#define CLUSTER_REMOTE_H

#include "nats_server.h"

#include "cluster/name.h"

#include <slipring/devices.h>
#include <slipring/remote.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define LONG 60000000000u
enum { KEYS = 40, PARTITIONS = 3, MARK = 777 };

struct message {
    uint64_t key, value;
};
struct total {
    uint64_t key, count, sum;
#ifdef LONG_REPLIES // that are sent beside the server's word that they are stored
    unsigned char rest[SLRI_TOLD_ANSWER];
#endif
};

static nats_servers servers;
static slr_device *device;
static unsigned names; // each test has a name of its own
static char name[SLR_REMOTE_NAME_BYTES];

static inline slr_status count(const slr_delivery *delivery)
{
    struct total *total = delivery->state;
    struct message message;
    memcpy(&message, delivery->message, sizeof message);
    total->key = message.key;
    total->count++;
    total->sum = total->sum * 31 + message.value;
    return slr_reply_to(delivery, total, sizeof *total);
}

static inline slr_status add(void *user, const slr_delivery *delivery)
{
    (void)user;
    return count(delivery);
}

static inline slr_status add_but_one(void *user, const slr_delivery *delivery)
{
    struct message message;
    (void)user;
    memcpy(&message, delivery->message, sizeof message);
    return message.value == MARK ? SLR_INVALID : count(delivery);
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

static inline int set_up(void **state)
{
    (void)state;
    snprintf(name, sizeof name, "test%u", names++);
    return slr_device_open("cpu?threads=1", NULL, &device) == SLR_OK ? 0 : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    slr_device_close(device);
    return 0;
}

static inline slr_remote_desc where(void)
{
    slr_remote_desc desc = SLR_REMOTE_DESC_INIT;
    desc.servers = servers.list;
    desc.name = name;
    desc.timeout_ns = LONG; // a loaded machine is no failure
    return desc;
}

static inline slr_ring_desc describe(slr_on_message *handler)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "totals";
    desc.on_message = handler;
    desc.message_bytes = sizeof(struct message);
    desc.state_bytes = desc.reply_bytes = sizeof(struct total);
    desc.keys = SLR_KEYS_U64;
    desc.instances = 100;
    desc.queue_size = 64;
    return desc;
}

static inline slr_status try_work(slr_device *on, const slr_ring_desc *ring, uint64_t capacity, slr_worker **worker)
{
    slr_remote_desc remote = where();
    slr_worker_desc desc = SLR_WORKER_DESC_INIT;
    desc.partitions = PARTITIONS;
    desc.capacity = capacity;
    desc.lease_ns = LONG; // likewise
    desc.snapshot_ns = 20000000;
    return slr_worker_open(on, ring, &remote, &desc, worker);
}

static inline slr_worker *work(slr_device *on, uint64_t capacity)
{
    slr_worker *worker = NULL;
    slr_ring_desc ring = describe(add);
    must(try_work(on, &ring, capacity, &worker));
    return worker;
}

static inline slr_worker_stats stats_of(slr_worker *worker)
{
    slr_worker_stats stats;
    must(slr_worker_get_stats(worker, &stats));
    return stats;
}

static inline slr_sender *open_sender(uint64_t producer)
{
    slr_sender *sender = NULL;
    slr_remote_desc remote = where();
    slr_sender_desc desc = SLR_SENDER_DESC_INIT;
    desc.producer = producer;
    desc.frame_bytes = 400;
    must(slr_sender_open(&remote, &desc, &sender));
    return sender;
}

static inline void send_range(slr_sender *sender, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; ++i) {
        struct message message = {i % KEYS, i};
        must(slr_sender_send(sender, slr_key_u64(message.key), &message, sizeof message, LONG));
    }
    must(slr_sender_flush(sender, LONG));
}

static inline void turn_until(slr_worker *worker, uint64_t handled)
{
    while (stats_of(worker).handled + stats_of(worker).faulted < handled)
        must(slr_worker_turn(worker, 1000000));
}

// A worker that takes its turns on a thread while this one waits for replies.
typedef struct turning {
    slr_worker *worker;
    pthread_t thread;
    uint32_t stop; // atomic
} turning;

static inline void *keep_turning(void *user)
{
    turning *turning = user;
    while (__atomic_load_n(&turning->stop, __ATOMIC_ACQUIRE) == 0)
        must(slr_worker_turn(turning->worker, 5000000));
    return NULL;
}

static inline void begin_turning(turning *turning, slr_worker *worker)
{
    *turning = (struct turning){.worker = worker};
    assert_int_equal(pthread_create(&turning->thread, NULL, keep_turning, turning), 0);
}

static inline void stop_turning(turning *turning)
{
    __atomic_store_n(&turning->stop, 1, __ATOMIC_RELEASE);
    pthread_join(turning->thread, NULL);
}

static inline void end_turning(turning *turning)
{
    stop_turning(turning);
    must(slr_worker_close(turning->worker, LONG));
}

static inline slr_status call(slr_sender *sender, uint64_t key, uint64_t value, struct total *total,
                              uint64_t timeout_ns)
{
    struct message message = {key, value};
    memset(total, 0xab, sizeof *total);
    return slr_sender_call(sender, slr_key_u64(key), &message, sizeof message, total, sizeof *total, timeout_ns);
}

// A call of the value 1, by a thread of its own.
typedef struct waiting_call {
    slr_sender *sender;
    uint64_t key;
    struct total total;
    slr_status status;
} waiting_call;

static inline void *call_once(void *user)
{
    waiting_call *waiting = user;
    waiting->status = call(waiting->sender, waiting->key, 1, &waiting->total, LONG);
    return NULL;
}

// Each key has counted to its end, once.
static inline void expect_outputs(uint64_t messages)
{
    slr_receiver *receiver;
    slr_remote_desc remote = where();
    slr_output output;
    struct total total;
    uint64_t counts[KEYS] = {0}, all = 0;
    must(slr_receiver_open(&remote, &receiver));
    while (all < messages) {
        must(slr_receiver_receive(receiver, &output, NULL, &total, sizeof total, LONG));
        assert_int_equal(total.count, ++counts[total.key]);
        assert_null(output.key.text);
        assert_int_equal(output.key.number, total.key);
        all++;
    }
    refuses(slr_receiver_receive(receiver, &output, NULL, &total, sizeof total, 50000000), SLR_TIMEOUT, "no output");
    refuses(slr_receiver_receive(receiver, &output, NULL, &total, 3, 0), SLR_INVALID, "room for 3 B");
    slr_receiver_close(receiver);
}

// The last record.
static inline uint64_t last_output(slri_nats *nats, uint32_t partition)
{
    char stream[SLRI_NATS_SUBJECT];
    uint64_t first, last, bytes;
    slri_nats_stream_name(nats, SLRI_LOG_OUT, partition, stream);
    must(slri_nats_stream_state(nats, stream, &first, &last, &bytes));
    return last;
}

// Another worker takes all partitions, and is not alive: who had them loses them, and takes them again.
static inline void give_to_a_stranger(void)
{
    slri_nats *nats;
    slr_remote_desc remote = where();
    must(slri_nats_open(&remote, &nats));
    for (uint32_t i = 0; i < PARTITIONS; ++i) {
        char key[32];
        slri_owner owner;
        size_t bytes;
        uint64_t revision;
        snprintf(key, sizeof key, "owner.%u", i);
        must(slri_nats_get(nats, key, &owner, sizeof owner, &bytes, &revision));
        must(slri_nats_cas(nats, key, &revision, &(slri_owner){"a stranger"}, sizeof owner));
    }
    slri_nats_close(nats);
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// The pair is that of NATS' own documentation.
#define NKEY_PUBLIC "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
#define NKEY_SEED "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"

// What main returns: 77 where there is no server, or no libnats.
#define RUN_WITH_SERVER(tests)                                                                                         \
    do {                                                                                                               \
        const slri_nats_api *api;                                                                                      \
        if (slri_nats_api_get(&api) != SLR_OK) {                                                                       \
            printf("skipped: %s\n", slr_error_message());                                                              \
            return 77;                                                                                                 \
        }                                                                                                              \
        bool is_here = nats_open(&servers, 1, NULL);                                                                   \
        int bad = is_here ? cmocka_run_group_tests(tests, NULL, NULL) : 77;                                            \
        nats_close(&servers);                                                                                          \
        return bad;                                                                                                    \
    } while (0)

#endif
