// SPDX-License-Identifier: Apache-2.0
// `slipring bench cluster`, over machines: durable messages through NATS JetStream beside raw JetStream, on this
// machine's loopback. The server is a process of this benchmark.
#define _GNU_SOURCE
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/message.h"
#include "bench/nats_here.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/remote.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MESSAGES = 1 << 16,                                    // of a slice
    FRAME_BYTES = 1 << 16,                                 // of the sender, and of a raw publish
    SENT_BYTES = sizeof(bench_message) + sizeof(uint64_t), // what a frame has of a message: with its key
    FRAME_MESSAGES = FRAME_BYTES / SENT_BYTES,
    IN_FLIGHT = 64 // raw publishes, as the sender has
};

// Of libnats, what the floor needs. Types are opaque here.
typedef struct raw {
    void *library, *connection, *answers;
    char inbox[64];
    int (*connect)(void **connection, const char *url);
    int (*make_options)(void **options);
    int (*set_url)(void *options, const char *url);
    int (*set_prompt)(void *options, bool is_prompt);
    int (*connect_with)(void **connection, void *options);
    void (*end_options)(void *options);
    int (*publish)(void *connection, const char *subject, const char *reply, const void *data, int bytes);
    int (*send)(void *connection, const char *subject, const void *data, int bytes);
    const char *(*reply_of)(void *message);
    const void *(*data_of)(void *message);
    int (*length_of)(void *message);
    int (*subscribe)(void **subscription, void *connection, const char *subject);
    int (*next)(void **message, void *subscription, int64_t ms);
    void (*end_message)(void *message);
    void (*end_subscription)(void *subscription);
    void (*end_connection)(void *connection);
} raw;

// A thread of the floor that gets all messages of a subject, on a connection of its own.
typedef struct listener {
    const raw *raw;
    void (*hear)(struct listener *listener, void *message);
    void *connection, *messages;
    pthread_t thread;
    bool runs;
    uint32_t stop; // atomic
} listener;

// Reads the floor's stream, and adds up the messages, as the handler does.
typedef struct reader {
    listener listener; // the first member
    uint32_t sum;
    uint64_t read; // atomic: messages
} reader;

typedef struct remote_bench {
    bench *bench;
    raw raw;
    reader reader;      // of the floor that is read
    uint64_t published; // messages to the floor's stream while it is read
    uint32_t expected;  // sum of their words
    nats_here server;
    const char *name;     // that the worker and the sender share
    uint32_t keys;        // of its messages
    uint32_t state_bytes; // of each key
    uint64_t snapshot_ns; // between snapshots
    bool answers;         // each message
    slr_device *device;
    slr_worker *worker;
    slr_sender *sender;
    pthread_t turning;
    bool turns;
    uint32_t stop;     // atomic
    uint64_t handled;  // atomic: messages that this worker has handled
    uint64_t sent;     // messages
    uint64_t finished; // of them, those that workers before this one have handled
    unsigned char *frame;
} remote_bench;

// ---- raw JetStream -------------------------------------------------------------------------------------------------

static bool find_raw(raw *raw)
{
    const char *named = getenv("SLIPRING_NATS_LIB");
    raw->library = dlopen(named != NULL ? named : "libnats.so.3.4", RTLD_NOW | RTLD_LOCAL);
    if (raw->library == NULL)
        return false;
    const struct {
        void *to;
        const char *name;
    } functions[] = {{&raw->connect, "natsConnection_ConnectTo"},
                     {&raw->make_options, "natsOptions_Create"},
                     {&raw->set_url, "natsOptions_SetURL"},
                     {&raw->set_prompt, "natsOptions_SetSendAsap"},
                     {&raw->connect_with, "natsConnection_Connect"},
                     {&raw->end_options, "natsOptions_Destroy"},
                     {&raw->publish, "natsConnection_PublishRequest"},
                     {&raw->send, "natsConnection_Publish"},
                     {&raw->reply_of, "natsMsg_GetReply"},
                     {&raw->data_of, "natsMsg_GetData"},
                     {&raw->length_of, "natsMsg_GetDataLength"},
                     {&raw->subscribe, "natsConnection_SubscribeSync"},
                     {&raw->next, "natsSubscription_NextMsg"},
                     {&raw->end_message, "natsMsg_Destroy"},
                     {&raw->end_subscription, "natsSubscription_Destroy"},
                     {&raw->end_connection, "natsConnection_Destroy"}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(raw->library, functions[i].name);
        if (found == NULL)
            return false;
        memcpy(functions[i].to, &found, sizeof found);
    }
    return true;
}

static bool await_answer(raw *raw)
{
    void *message;
    if (raw->next(&message, raw->answers, 5000) != 0)
        return false;
    raw->end_message(message);
    return true;
}

static bool ask_raw(raw *raw, const char *subject, const char *request)
{
    return raw->publish(raw->connection, subject, raw->inbox, request, (int)strlen(request)) == 0 && await_answer(raw);
}

static bool open_raw(remote_bench *remote)
{
    raw *raw = &remote->raw;
    snprintf(raw->inbox, sizeof raw->inbox, "_INBOX.bench.%d", (int)getpid());
    return raw->connect(&raw->connection, remote->server.url) == 0 &&
           raw->subscribe(&raw->answers, raw->connection, raw->inbox) == 0 &&
           ask_raw(raw, "$JS.API.STREAM.CREATE.raw",
                   "{\"name\":\"raw\",\"subjects\":[\"raw\"],\"retention\":\"limits\",\"storage\":\"file\","
                   "\"discard\":\"new\",\"max_msgs\":65536,\"num_replicas\":1,\"allow_direct\":true}");
}

static void end_raw(const raw *raw)
{
    if (raw->answers != NULL)
        raw->end_subscription(raw->answers);
    if (raw->connection != NULL)
        raw->end_connection(raw->connection);
}

static void *keep_listening(void *argument)
{
    listener *listener = argument;
    const raw *raw = listener->raw;
    while (__atomic_load_n(&listener->stop, __ATOMIC_ACQUIRE) == 0) {
        void *message;
        if (raw->next(&message, listener->messages, 100) != 0)
            continue;
        listener->hear(listener, message);
        raw->end_message(message);
    }
    return NULL;
}

// On a connection that is open.
static bool begin_listening(listener *listener, const char *subject)
{
    listener->runs = listener->raw->subscribe(&listener->messages, listener->connection, subject) == 0 &&
                     pthread_create(&listener->thread, NULL, keep_listening, listener) == 0;
    return listener->runs;
}

static void end_listening(listener *listener)
{
    __atomic_store_n(&listener->stop, 1, __ATOMIC_RELEASE);
    if (listener->runs)
        pthread_join(listener->thread, NULL);
    if (listener->messages != NULL)
        listener->raw->end_subscription(listener->messages);
    if (listener->connection != NULL)
        listener->raw->end_connection(listener->connection);
}

static void read_frame(listener *listener, void *frame)
{
    reader *reader = (struct reader *)listener;
    const raw *raw = listener->raw;
    const unsigned char *data = raw->data_of(frame);
    const uint32_t count = (uint32_t)raw->length_of(frame) / SENT_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        bench_message message; // what libnats gives is not aligned
        memcpy(&message, data + i * sizeof message, sizeof message);
        reader->sum += bench_sum(&message);
    }
    __atomic_add_fetch(&reader->read, count, __ATOMIC_RELEASE);
}

static bool open_reader(remote_bench *remote)
{
    listener *listener = &remote->reader.listener;
    remote->reader = (struct reader){.listener = {.raw = &remote->raw, .hear = read_frame}};
    partner_free_caller(remote->bench->partner);
    bool fine = remote->raw.connect(&listener->connection, remote->server.url) == 0 &&
                begin_listening(listener, "raw.read") &&
                ask_raw(&remote->raw, "$JS.API.CONSUMER.CREATE.raw.reader",
                        "{\"stream_name\":\"raw\",\"config\":{\"name\":\"reader\",\"deliver_subject\":\"raw.read\","
                        "\"deliver_policy\":\"new\",\"ack_policy\":\"none\",\"mem_storage\":true}}");
    partner_move_caller(remote->bench->partner, false);
    return fine;
}

static void end_reader(remote_bench *remote)
{
    end_listening(&remote->reader.listener);
    (void)ask_raw(&remote->raw, "$JS.API.CONSUMER.DELETE.raw.reader", "");
}

static bool await_read(const remote_bench *remote)
{
    uint64_t begin = clock_ns();
    while (__atomic_load_n(&remote->reader.read, __ATOMIC_ACQUIRE) < remote->published) {
        if (clock_ns() - begin > BENCH_TIMEOUT_NS)
            return false;
        usleep(100);
    }
    return true;
}

// Not while the clock runs.
static bool has_read_right(remote_bench *remote, uint32_t messages)
{
    for (uint32_t i = 0; i < messages; i++)
        remote->expected += bench_sum_of(i);
    if (remote->reader.sum != remote->expected)
        say("cluster: the reader of raw JetStream has read other messages");
    return remote->reader.sum == remote->expected;
}

// `read`: until the reader has all of them; else until all are acknowledged.
static bool raw_slice(remote_bench *remote, double *figures, bool read)
{
    raw *raw = &remote->raw;
    uint32_t messages = bench_size(remote->bench, MESSAGES), waiting = 0;
    bool fine = true;
    uint64_t begin = clock_ns();
    for (uint32_t i = 0, count; i < messages && fine; i += count) {
        count = messages - i < FRAME_MESSAGES ? messages - i : FRAME_MESSAGES;
        for (uint32_t k = 0; k < count; k++) // somebody has to write the messages here, too
            bench_fill((bench_message *)(void *)(remote->frame + k * sizeof(bench_message)), i + k);
        fine = raw->publish(raw->connection, "raw", raw->inbox, remote->frame, (int)(count * SENT_BYTES)) == 0;
        if (fine && ++waiting == IN_FLIGHT) {
            fine = await_answer(raw);
            waiting--;
        }
    }
    for (; waiting > 0 && fine; waiting--)
        fine = await_answer(raw);
    if (read) {
        remote->published += messages;
        fine = fine && await_read(remote);
    }
    figures[0] = bench_per_second(messages, begin);
    fine = fine && ask_raw(raw, "$JS.API.STREAM.PURGE.raw", "");
    if (!fine)
        say("cluster: raw JetStream does not answer");
    return fine && (!read || has_read_right(remote, messages));
}

static bool raw_accepted_slice(void *context, double *figures)
{
    return raw_slice(context, figures, false);
}

static bool raw_read_slice(void *context, double *figures)
{
    return raw_slice(context, figures, true);
}

// ---- slipring ------------------------------------------------------------------------------------------------------

static slr_status add(void *user, const slr_delivery *delivery)
{
    uint32_t *sum = delivery->state;
    (void)user;
    *sum += bench_sum(delivery->message);
    return SLR_OK;
}

static slr_status answer(void *user, const slr_delivery *delivery)
{
    slr_status status = add(user, delivery);
    return status == SLR_OK ? slr_reply_to(delivery, delivery->message, sizeof(bench_message)) : status;
}

static void *turn(void *argument)
{
    remote_bench *remote = argument;
    slr_worker_stats stats;
    while (__atomic_load_n(&remote->stop, __ATOMIC_ACQUIRE) == 0) {
        slr_worker_turn(remote->worker, 1000000);
        if (slr_worker_get_stats(remote->worker, &stats) == SLR_OK)
            __atomic_store_n(&remote->handled, stats.handled, __ATOMIC_RELEASE);
    }
    return NULL;
}

static slr_remote_desc describe_remote(const remote_bench *remote)
{
    slr_remote_desc where = SLR_REMOTE_DESC_INIT;
    where.servers = remote->server.url;
    where.name = remote->name;
    return where;
}

// No thread of the worker and of libnats must inherit the caller's core.
static slr_status begin_worker(remote_bench *remote)
{
    slr_remote_desc where = describe_remote(remote);
    slr_worker_desc worker = SLR_WORKER_DESC_INIT;
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    worker.partitions = 1;
    worker.snapshot_ns = remote->snapshot_ns;
    ring.name = "add";
    ring.on_message = remote->answers ? answer : add;
    ring.reply_bytes = remote->answers ? sizeof(bench_message) : 0;
    ring.message_bytes = sizeof(bench_message);
    ring.state_bytes = remote->state_bytes;
    ring.keys = SLR_KEYS_U64;
    ring.instances = remote->keys;
    remote->stop = 0;
    partner_free_caller(remote->bench->partner);
    slr_status status = slr_worker_open(remote->device, &ring, &where, &worker, &remote->worker);
    if (status == SLR_OK)
        remote->turns = pthread_create(&remote->turning, NULL, turn, remote) == 0;
    partner_move_caller(remote->bench->partner, false);
    return status;
}

static void end_worker(remote_bench *remote)
{
    __atomic_store_n(&remote->stop, 1, __ATOMIC_RELEASE);
    if (remote->turns)
        pthread_join(remote->turning, NULL);
    slr_worker_close(remote->worker, BENCH_TIMEOUT_NS);
    remote->finished += remote->handled;
    remote->handled = 0;
    remote->turns = false;
    remote->worker = NULL;
}

static slr_status open_ends(remote_bench *remote)
{
    slr_remote_desc where = describe_remote(remote);
    slr_sender_desc sender = SLR_SENDER_DESC_INIT;
    sender.frame_bytes = FRAME_BYTES;
    partner_free_caller(remote->bench->partner);
    slr_status status = slr_device_open("cpu?threads=1", NULL, &remote->device);
    if (status == SLR_OK)
        status = begin_worker(remote);
    partner_free_caller(remote->bench->partner);
    if (status == SLR_OK)
        status = slr_sender_open(&where, &sender, &remote->sender);
    partner_move_caller(remote->bench->partner, false);
    return status;
}

static slr_status send_messages(remote_bench *remote, uint32_t messages)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < messages && status == SLR_OK; i++) {
        bench_message message;
        bench_fill(&message, (uint32_t)remote->sent++);
        status = slr_sender_send(remote->sender, slr_key_u64(remote->sent % remote->keys), &message, sizeof message,
                                 BENCH_TIMEOUT_NS);
    }
    return status == SLR_OK ? slr_sender_flush(remote->sender, BENCH_TIMEOUT_NS) : status;
}

static slr_status await_handled(const remote_bench *remote)
{
    uint64_t begin = clock_ns();
    while (__atomic_load_n(&remote->handled, __ATOMIC_ACQUIRE) < remote->sent - remote->finished) {
        if (clock_ns() - begin > 4 * BENCH_TIMEOUT_NS)
            return SLR_TIMEOUT;
        usleep(100);
    }
    return SLR_OK;
}

static bool handled_remote_slice(void *context, double *figures)
{
    remote_bench *remote = context;
    uint32_t messages = bench_size(remote->bench, MESSAGES);
    uint64_t begin = clock_ns();
    slr_status status = send_messages(remote, messages);
    if (status == SLR_OK)
        status = await_handled(remote);
    figures[0] = bench_per_second(messages, begin);
    return status == SLR_OK || bench_failed(status, "cluster");
}

// Nobody reads while the clock runs, here as in the floor. Then a worker comes, handles all of them and goes.
static bool accepted_remote_slice(void *context, double *figures)
{
    remote_bench *remote = context;
    uint32_t messages = bench_size(remote->bench, MESSAGES);
    uint64_t begin = clock_ns();
    slr_status status = send_messages(remote, messages);
    figures[0] = bench_per_second(messages, begin);
    if (status == SLR_OK)
        status = begin_worker(remote);
    if (status == SLR_OK)
        status = await_handled(remote);
    end_worker(remote);
    return status == SLR_OK || bench_failed(status, "cluster");
}

static bool measure_handled(remote_bench *remote)
{
    bench_case row = {
        .name = "remote_oneway_64B",
        .unit = "msg/s",
        .stats = {"median"},
        .method = "Messages of 64 B a second to a name with one partition, through a nats-server on this machine, "
                  "until a worker in this process has handled all. Floor: libnats publishes the same messages to a "
                  "stream of the same kind, 64 KiB at a time and up to 64 times in flight, until a thread of this "
                  "process has received all from the stream, on another connection, and added them up, as the handler "
                  "does.",
        .pair = {.value = handled_remote_slice,
                 .floor = raw_read_slice,
                 .value_context = remote,
                 .floor_context = remote,
                 .figures = 1,
                 .any = true}};
    if (!bench_wants(remote->bench, row.name))
        return true;
    bool fine = (open_reader(remote) || (say("cluster: raw JetStream has no reader"), false)) &&
                bench_measure(remote->bench, &row);
    end_reader(remote);
    return fine;
}

static bool measure_accepted(remote_bench *remote)
{
    bench_case row = {
        .name = "remote_accept_64B",
        .unit = "msg/s",
        .stats = {"median"},
        .method = "The same as remote_oneway_64B, but until the server has acknowledged all messages, while no worker "
                  "serves the name; one handles them after the time has been taken. Floor: as for remote_oneway_64B, "
                  "but until all messages are acknowledged; nobody receives them.",
        .pair = {.value = accepted_remote_slice,
                 .floor = raw_accepted_slice,
                 .value_context = remote,
                 .floor_context = remote,
                 .figures = 1,
                 .any = true}};
    if (!bench_wants(remote->bench, row.name))
        return true;
    end_worker(remote);
    return bench_measure(remote->bench, &row);
}

static void end_ends(remote_bench *remote)
{
    slr_sender_close(remote->sender, 0);
    end_worker(remote);
    slr_device_close(remote->device);
}

static void end_remote(remote_bench *remote)
{
    end_ends(remote);
    end_raw(&remote->raw);
    nats_here_end(&remote->server);
    free(remote->frame);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

enum { CALLS = 200 }; // of a slice

// Answers raw requests.
static void answer_request(listener *echo, void *message)
{
    const raw *raw = echo->raw;
    raw->send(echo->connection, raw->reply_of(message), raw->data_of(message), raw->length_of(message));
}

// A connection that sends each message at once; else libnats gathers them for a while, which a call waits for.
static bool connect_promptly(const raw *raw, const char *url, void **connection)
{
    void *options;
    if (raw->make_options(&options) != 0)
        return false;
    bool fine = raw->set_url(options, url) == 0 && raw->set_prompt(options, true) == 0 &&
                raw->connect_with(connection, options) == 0;
    raw->end_options(options);
    return fine;
}

static bool open_caller(const remote_bench *base, remote_bench *caller)
{
    *caller = *base;
    raw *raw = &caller->raw;
    raw->connection = raw->answers = NULL;
    snprintf(raw->inbox, sizeof raw->inbox, "_INBOX.calls.%d", (int)getpid());
    return connect_promptly(raw, base->server.url, &raw->connection) &&
           raw->subscribe(&raw->answers, raw->connection, raw->inbox) == 0;
}

static bool open_echo(const remote_bench *remote, listener *echo)
{
    *echo = (listener){.raw = &remote->raw, .hear = answer_request};
    return connect_promptly(echo->raw, remote->server.url, &echo->connection) && begin_listening(echo, "echo");
}

static double median_us(double *times, uint32_t count)
{
    measure_sort(times, count);
    return measure_quantile(times, count, 0.5) / 1e3;
}

static bool raw_call_slice(void *context, double *figures)
{
    remote_bench *remote = context;
    raw *raw = &remote->raw;
    double times[CALLS];
    uint32_t calls = bench_size(remote->bench, CALLS);
    bench_message message;
    for (uint32_t i = 0; i < calls; i++) {
        bench_fill(&message, i);
        uint64_t begin = clock_ns();
        if (raw->publish(raw->connection, "raw", raw->inbox, &message, sizeof message) != 0 || !await_answer(raw) ||
            raw->publish(raw->connection, "echo", raw->inbox, &message, sizeof message) != 0 || !await_answer(raw)) {
            say("cluster: raw NATS does not answer");
            return false;
        }
        times[i] = (double)(clock_ns() - begin);
    }
    figures[0] = median_us(times, calls);
    return ask_raw(raw, "$JS.API.STREAM.PURGE.raw", "");
}

static bool call_slice(void *context, double *figures)
{
    remote_bench *remote = context;
    double times[CALLS];
    uint32_t calls = bench_size(remote->bench, CALLS);
    bench_message message, reply;
    for (uint32_t i = 0; i < calls; i++) {
        bench_fill(&message, i);
        uint64_t begin = clock_ns();
        slr_status status = slr_sender_call(remote->sender, slr_key_u64(i % remote->keys), &message, sizeof message,
                                            &reply, sizeof reply, BENCH_TIMEOUT_NS);
        times[i] = (double)(clock_ns() - begin);
        if (status != SLR_OK)
            return bench_failed(status, "cluster");
    }
    figures[0] = median_us(times, calls);
    return true;
}

static bool measure_calls(const remote_bench *base)
{
    listener echo = {0};
    remote_bench caller = {0};
    remote_bench calls = {.bench = base->bench,
                          .server = base->server,
                          .name = "calls",
                          .keys = 1000,
                          .state_bytes = sizeof(uint64_t),
                          .answers = true};
    if (!bench_wants(base->bench, "remote_call_64B"))
        return true;
    slr_status status = open_ends(&calls);
    partner_free_caller(base->bench->partner);
    bool fine =
        (status == SLR_OK || bench_failed(status, "cluster")) && open_echo(base, &echo) && open_caller(base, &caller);
    partner_move_caller(base->bench->partner, false);
    bench_case row = {
        .name = "remote_call_64B",
        .unit = "us",
        .stats = {"p50"},
        .method =
            "The time from sending a message of 64 B until its reply of 64 B has come. A nats-server on this machine "
            "stores both; the worker is in this process. Floor: libnats publishes the message to a stream and waits "
            "for the acknowledgement, and then sends it as a request to a thread that replies at once.",
        .pair = {.value = call_slice,
                 .floor = raw_call_slice,
                 .value_context = &calls,
                 .floor_context = &caller,
                 .figures = 1,
                 .any = true}};
    fine = fine && bench_measure(base->bench, &row);
    end_raw(&caller.raw);
    end_listening(&echo);
    end_ends(&calls);
    return fine;
}

// ---- what snapshots cost -------------------------------------------------------------------------------------------

enum { SNAPSHOT_KEYS = 100000, SNAPSHOT_STATE = 64, SNAPSHOT_TURNS = 2, SNAPSHOT_SLICES = 12 };

// Some slices in a row, so that snapshots fall among them: messages a second.
static bool handle_slices(remote_bench *remote, double *seconds, double *messages)
{
    uint64_t begin = clock_ns();
    for (uint32_t i = 0; i < SNAPSHOT_SLICES; i++) {
        double ignored[1];
        if (!handled_remote_slice(remote, ignored))
            return false;
        *messages += bench_size(remote->bench, MESSAGES);
    }
    *seconds += (double)(clock_ns() - begin) / 1e9;
    return true;
}

static bool measure_snapshots(const remote_bench *base)
{
    static const char *const names[] = {"often", "never"};
    remote_bench of[2] = {{0}};
    double seconds[2] = {0}, messages[2] = {0};
    bool fine = true;
    if (!bench_wants(base->bench, "remote_snapshot_100k_keys"))
        return true;
    for (uint32_t i = 0; i < 2 && fine; i++) {
        of[i] = (remote_bench){.bench = base->bench,
                               .server = base->server,
                               .name = names[i],
                               .keys = SNAPSHOT_KEYS,
                               .state_bytes = SNAPSHOT_STATE,
                               .snapshot_ns = i == 0 ? 1000000000ull : 3600000000000ull};
        slr_status status = open_ends(&of[i]);
        fine = (status == SLR_OK || bench_failed(status, "cluster"));
        for (uint32_t k = 0; k < 2 && fine; k++) // each key has its state
            fine = handled_remote_slice(&of[i], (double[1]){0});
    }
    for (uint32_t i = 0; i < 2 * SNAPSHOT_TURNS && fine; i++)
        fine = handle_slices(&of[i % 2], &seconds[i % 2], &messages[i % 2]);
    end_ends(&of[0]);
    end_ends(&of[1]);
    if (!fine)
        return false;
    bench_row row = {.name = "remote_snapshot_100k_keys",
                     .stat = "mean",
                     .unit = "msg/s",
                     .value = messages[0] / seconds[0],
                     .floor = messages[1] / seconds[1]};
    bench_add(base->bench, &row,
              "Messages of 64 B a second to 100,000 keys of one partition, with states of 64 B, until a worker has "
              "handled all; the worker makes a snapshot each second. Floor: the same with another name, without "
              "snapshots, measured in turn.");
    return true;
}

bool bench_remote(bench *bench)
{
    remote_bench remote = {.bench = bench, .name = "bench", .keys = 1000, .state_bytes = sizeof(uint64_t)};
    const char *program = nats_here_program();
    if (!bench_wants(bench, "remote_oneway_64B") && !bench_wants(bench, "remote_accept_64B") &&
        !bench_wants(bench, "remote_snapshot_100k_keys") && !bench_wants(bench, "remote_call_64B"))
        return true;
    if (program == NULL || !find_raw(&remote.raw)) {
        say("cluster: rows over machines are left out: %s", remote.raw.library == NULL && program != NULL
                                                                ? "libnats is not here"
                                                                : "SLIPRING_NATS_SERVER names no nats-server");
        return true;
    }
    remote.frame = memory_take(FRAME_BYTES + sizeof(bench_message), 1);
    partner_free_caller(bench->partner); // nor must the server
    bool fine = nats_here_start(&remote.server, program) && open_raw(&remote);
    partner_move_caller(bench->partner, false);
    if (!fine)
        say("cluster: %s does not start, or does not answer", program);
    slr_status status = fine ? open_ends(&remote) : SLR_OK;
    fine = fine && (status == SLR_OK || bench_failed(status, "cluster")) && measure_handled(&remote) &&
           measure_accepted(&remote) && measure_calls(&remote) && measure_snapshots(&remote);
    end_remote(&remote);
    return fine;
}
