// SPDX-License-Identifier: Apache-2.0
// A worker is stopped after it has handled a call, before it stores the output. Another one takes its partition over.
// Then the first goes on: the server refuses its output, and its answer, which names that output, is no reply.
#define _GNU_SOURCE
#define LONG_REPLIES // short ones come with what the server says of the output: call_test.c

#include "tests/cluster/remote.h"

#include "cluster/worker.h"

enum { KEY = 3, LEASE_NS = 1000000000 };

// ---- stopping ------------------------------------------------------------------------------------------------------

// A place where a thread stops until the test lets it go on.
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool is_open, is_reached;
} gate;

#define GATE_CLOSED                                                                                                    \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER                                           \
    }

static gate outputs = GATE_CLOSED; // of worker one
static gate answers = GATE_CLOSED; // of worker two

static void pass(gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_reached = true;
    pthread_cond_broadcast(&gate->moved);
    while (!gate->is_open)
        pthread_cond_wait(&gate->moved, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void await_reached(gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (!gate->is_reached)
        pthread_cond_wait(&gate->moved, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static bool is_stopped(gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    const bool is = gate->is_reached && !gate->is_open;
    pthread_mutex_unlock(&gate->lock);
    return is;
}

static void open_gate(gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}

// libnats, as the library calls it: threads of worker one and two stop in it. Who is who, connections say.
static slri_nats_api libnats;
static natsConnection *of_one, *of_two; // atomic: NULL at first

static bool is_from(natsConnection *const *worker, const natsConnection *connection)
{
    return __atomic_load_n(worker, __ATOMIC_ACQUIRE) == connection;
}

static int publish_record(natsConnection *connection, natsMsg *record)
{
    if (is_from(&of_one, connection) && strstr(libnats.natsMsg_GetSubject(record), ".out."))
        pass(&outputs);
    return libnats.natsConnection_PublishMsg(connection, record);
}

static int publish(natsConnection *connection, const char *subject, const void *data, int bytes)
{
    if (is_from(&of_two, connection) && strstr(subject, ".answer"))
        pass(&answers);
    return libnats.natsConnection_Publish(connection, subject, data, bytes);
}

// Worker one is stopped as a whole: it does not say that it lives, either.
static int request(natsMsg **reply, natsConnection *connection, natsMsg *message, int64_t ms)
{
    if (is_from(&of_one, connection) && is_stopped(&outputs))
        pass(&outputs);
    return libnats.natsConnection_RequestMsg(reply, connection, message, ms);
}

// No connection is open yet.
static void stand_between(void)
{
    const slri_nats_api *api;
    must(slri_nats_api_get(&api));
    libnats = *api;
    slri_nats_api *own = (slri_nats_api *)api; // which is no constant
    own->natsConnection_PublishMsg = publish_record;
    own->natsConnection_Publish = publish;
    own->natsConnection_RequestMsg = request;
}

// ---- workers -------------------------------------------------------------------------------------------------------

// As `count`, but the sum says which worker has handled the last message.
static slr_status count_as(void *user, const slr_delivery *delivery)
{
    struct total *total = delivery->state;
    total->key = KEY;
    total->count++;
    total->sum = *(const uint64_t *)user;
    return slr_reply_to(delivery, total, sizeof *total);
}

static slr_worker *work_as(slr_device *on, uint64_t *who)
{
    slr_worker *worker = NULL;
    slr_remote_desc remote = where();
    slr_worker_desc desc = SLR_WORKER_DESC_INIT;
    slr_ring_desc ring = describe(count_as);
    ring.user = who;
    desc.partitions = 1;
    desc.lease_ns = LEASE_NS;
    desc.snapshot_ns = 1000000; // one is due wherever there may be one
    must(slr_worker_open(on, &ring, &remote, &desc, &worker));
    return worker;
}

static void *turn_until_stopped(void *user)
{
    slr_worker *worker = user;
    bool is_reached = false;
    while (!is_reached) { // the turn that is stopped ends after the append and the answer
        must(slr_worker_turn(worker, 5000000));
        pthread_mutex_lock(&outputs.lock);
        is_reached = outputs.is_reached;
        pthread_mutex_unlock(&outputs.lock);
    }
    return NULL;
}

// ---- what the caller hears -----------------------------------------------------------------------------------------

static natsSubscription *listen_as_callers_do(const slri_nats *nats)
{
    char subject[SLRI_NATS_SUBJECT];
    natsSubscription *heard;
    snprintf(subject, sizeof subject, "slr.%s.reply.>", name);
    assert_int_equal(libnats.natsConnection_SubscribeSync(&heard, nats->connection, subject), 0);
    return heard;
}

// The logs that an answer names, and that the server says it has refused or has stored an output of. 0: none.
typedef struct news {
    uint64_t answered, refused, stored;
} news;

static void take_news(news *news, const natsMsg *message)
{
    char text[512] = "";
    uint64_t record;
    slri_remote_answer answer;
    const char *last = strrchr(libnats.natsMsg_GetSubject(message), '.') + 1, *data = libnats.natsMsg_GetData(message);
    size_t bytes = (size_t)libnats.natsMsg_GetDataLength(message);
    if (strcmp(last, "answer") == 0) {
        assert_true(bytes >= sizeof answer);
        memcpy(&answer, data, sizeof answer);
        assert_int_not_equal(answer.log, 0); // it was sent before the output was known to be stored
        news->answered = answer.log;
        return;
    }
    assert_string_equal(last, "-"); // without an answer, which is too long
    const uint64_t log = strtoull(strstr(libnats.natsMsg_GetSubject(message), ".told.") + strlen(".told."), NULL, 16);
    memcpy(text, data, bytes < sizeof text ? bytes : sizeof text - 1);
    slr_status status = slri_nats_answer(text, "an output", &record);
    if (status == SLR_OK)
        news->stored = log;
    else {
        assert_int_equal(status, SLR_WRONG_STATE); // another one's output stands there
        news->refused = log;
    }
}

static void hear(natsSubscription *heard, news *news)
{
    natsMsg *message;
    assert_int_equal(libnats.natsSubscription_NextMsg(&message, heard, LONG / 1000000), 0);
    take_news(news, message);
    libnats.natsMsg_Destroy(message);
}

// ---- the test ------------------------------------------------------------------------------------------------------

static void an_answer_whose_output_the_server_refuses_is_no_reply(void **state)
{
    (void)state;
    uint64_t one = 1, two = 2;
    pthread_t turning_one, calling;
    turning turning_two;
    slr_device *other;
    slri_nats *nats;
    slr_remote_desc remote = where();
    stand_between();
    must(slri_nats_connect(&remote, &nats));
    natsSubscription *heard = listen_as_callers_do(nats);
    must(slr_device_open("cpu?threads=1", NULL, &other));

    slr_worker *first = work_as(device, &one);
    __atomic_store_n(&of_one, first->nats->connection, __ATOMIC_RELEASE);
    waiting_call caller = {.sender = open_sender(0), .key = KEY};
    assert_int_equal(pthread_create(&turning_one, NULL, turn_until_stopped, first), 0);
    assert_int_equal(pthread_create(&calling, NULL, call_once, &caller), 0);
    await_reached(&outputs); // it has handled the message

    slr_worker *second = work_as(other, &two);
    __atomic_store_n(&of_two, second->nats->connection, __ATOMIC_RELEASE);
    begin_turning(&turning_two, second);
    await_reached(&answers); // it has handled the message, too, and its output is on its way
    news news = {0};
    while (!news.stored)
        hear(heard, &news);
    assert_true(is_stopped(&outputs));
    open_gate(&outputs);
    while (!news.answered || !news.refused)
        hear(heard, &news);
    assert_int_equal(news.answered, news.refused);
    assert_int_not_equal(news.stored, news.refused);
    open_gate(&answers);
    pthread_join(calling, NULL);
    must(caller.status);
    assert_int_equal(caller.total.sum, two);
    assert_int_equal(caller.total.count, 1);
    assert_int_equal(last_output(nats, 0), 1);

    // The first one sees that it has lost the partition, and what it has handled counts nowhere. It has not begun a
    // snapshot either, which would stand in the way of the second one's.
    pthread_join(turning_one, NULL);
    while (stats_of(first).lost == 0)
        must(slr_worker_turn(first, 1000000));
    must(slr_worker_close(first, LONG));
    must(call(caller.sender, KEY, 1, &caller.total, LONG));
    assert_int_equal(caller.total.count, 2);
    assert_int_equal(last_output(nats, 0), 2);
    must(slr_sender_close(caller.sender, LONG));
    stop_turning(&turning_two);
    assert_int_equal(stats_of(second).lost, 0);
    assert_string_equal(stats_of(second).problem, "");
    must(slr_worker_close(second, LONG));
    slr_device_close(other);
    expect_outputs(2);
    libnats.natsSubscription_Destroy(heard);
    slri_nats_close(nats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_whose_output_the_server_refuses_is_no_reply, set_up, tear_down),
    };
    RUN_WITH_SERVER(tests);
}
