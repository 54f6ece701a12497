// SPDX-License-Identifier: Apache-2.0
// Workers are killed, stopped and drained, and servers killed, while a sender sends to keys. Afterwards each key must
// have counted all its messages, in order, once.
//
//     remote_chaos_test [KILLS [SERVERS [MESSAGES]]]
#define _GNU_SOURCE

#include "nats_server.h"

#include <slipring/devices.h>
#include <slipring/remote.h>

#include <inttypes.h>

enum { KEYS = 500, WORKERS = 3, PARTITIONS = 6, FRAME = 256 };
#define SECOND 1000000000ull
#define LEASE (SECOND * 3 / 2)

static const char kernel[] =
    "struct msg { unsigned long long key, value; };\n"
    "struct st { unsigned long long count, sum; };\n"
    "struct out { unsigned long long key, count, sum; };\n"
    "__ring__ void add(struct st *self, const struct msg *in)\n"
    "{ self->count += 1; self->sum = self->sum * 31 + in->value;\n"
    "  struct out o; o.key = in->key; o.count = self->count; o.sum = self->sum; ring_reply(&o); }\n";

struct msg {
    uint64_t key, value;
};
struct out {
    uint64_t key, count, sum;
};

static nats_servers servers;
static char program_path[256];

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, slr_error_message());
    return 1;
}

static slr_remote_desc where(const char *list)
{
    slr_remote_desc desc = SLR_REMOTE_DESC_INIT;
    desc.servers = list;
    desc.name = "chaos";
    desc.replicas = strchr(list, ',') ? 3 : 1;
    return desc;
}

// ---- a worker, a process of its own --------------------------------------------------------------------------------

static volatile sig_atomic_t ending;

static void end_worker(int number)
{
    (void)number;
    ending = 1;
}

static int work(const char *list)
{
    slr_device *device;
    slr_program *program;
    slr_worker *worker;
    slr_worker_stats stats;
    slr_remote_desc remote = where(list);
    slr_worker_desc desc = SLR_WORKER_DESC_INIT;
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, end_worker);
    desc.partitions = PARTITIONS;
    desc.lease_ns = LEASE;
    desc.snapshot_ns = SECOND / 5;
    if (slr_device_open("cpu?threads=1", NULL, &device) != SLR_OK ||
        slr_program_from_text(device, "add.cu", kernel, NULL, &program) != SLR_OK)
        return fail("device");
    ring.program = program;
    ring.keys = SLR_KEYS_U64;
    ring.instances = 4096;
    while (slr_worker_open(device, &ring, &remote, &desc, &worker) != SLR_OK) { // the servers may be down
        fprintf(stderr, "worker: %s\n", slr_error_message());
        nats_nap(200);
    }
    char problem[sizeof stats.problem] = "";
    while (!ending) {
        (void)slr_worker_turn(worker, SECOND / 20);
        if (slr_worker_get_stats(worker, &stats) == SLR_OK && strcmp(problem, stats.problem) != 0) {
            memcpy(problem, stats.problem, sizeof problem);
            fprintf(stderr, "worker %d: %s\n", getpid(), problem);
        }
    }
    (void)slr_worker_get_stats(worker, &stats);
    fprintf(stderr, "worker %d ends: %" PRIu64 " handled, %u owned, %" PRIu64 " repeated, %" PRIu64 " gaps\n", getpid(),
            stats.handled, stats.owned, stats.repeated, stats.gaps);
    slr_status status = slr_worker_close(worker, 10 * SECOND);
    if (status != SLR_OK)
        fprintf(stderr, "worker: %s\n", slr_error_message());
    slr_program_destroy(program);
    slr_device_close(device);
    return 0;
}

static pid_t start_worker(void)
{
    pid_t process = fork();
    if (process == 0) {
        execl(program_path, program_path, "worker", servers.list, (char *)NULL);
        _exit(127);
    }
    return process;
}

// ---- what is expected ----------------------------------------------------------------------------------------------

static uint64_t sent_count[KEYS], got_count[KEYS], got_sum[KEYS], *values[KEYS];

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static int send_one(slr_sender *sender, uint64_t number)
{
    struct msg message = {mixed(number) % KEYS, mixed(number * 7 + 1)};
    slr_status status;
    do
        status = slr_sender_send(sender, slr_key_u64(message.key), &message, sizeof message, SECOND);
    while (status == SLR_TIMEOUT || status == SLR_FULL);
    if (status != SLR_OK)
        return fail("send");
    uint64_t *grown = realloc(values[message.key], (sent_count[message.key] + 1) * sizeof *grown);
    if (!grown)
        return 1;
    values[message.key] = grown;
    values[message.key][sent_count[message.key]++] = message.value;
    return 0;
}

// Counts what is wrong.
static uint64_t take(const struct out *out)
{
    if (out->key >= KEYS || out->count != got_count[out->key] + 1 || out->count > sent_count[out->key]) {
        fprintf(stderr, "key %" PRIu64 ": output %" PRIu64 " behind %" PRIu64 " of %" PRIu64 "\n", out->key, out->count,
                out->key < KEYS ? got_count[out->key] : 0, out->key < KEYS ? sent_count[out->key] : 0);
        return 1;
    }
    got_sum[out->key] = got_sum[out->key] * 31 + values[out->key][got_count[out->key]++];
    return out->sum != got_sum[out->key];
}

static int receive_all(uint64_t messages)
{
    slr_receiver *receiver;
    slr_remote_desc remote = where(servers.list);
    struct out out;
    slr_output head;
    uint64_t got = 0, wrong = 0;
    if (slr_receiver_open(&remote, &receiver) != SLR_OK)
        return fail("receiver");
    for (unsigned quiet = 0; quiet < 3;) {
        slr_status status =
            slr_receiver_receive(receiver, &head, NULL, &out, sizeof out, got < messages ? 60 * SECOND : SECOND / 2);
        if (status == SLR_TIMEOUT) {
            if (got >= messages || ++quiet == 3)
                break;
            continue;
        }
        if (status != SLR_OK) {
            fprintf(stderr, "receive: %s\n", slr_error_message());
            nats_nap(500);
            ++quiet;
            continue;
        }
        got++;
        wrong += take(&out);
    }
    slr_receiver_close(receiver);
    for (uint32_t i = 0; i < KEYS; ++i)
        wrong += got_count[i] != sent_count[i];
    printf("%" PRIu64 " messages, %" PRIu64 " outputs, %" PRIu64 " wrong\n", messages, got, wrong);
    return wrong != 0 || got != messages;
}

// ---- chaos ---------------------------------------------------------------------------------------------------------

static pid_t workers[WORKERS];

static void hurt(uint64_t turn)
{
    uint32_t which = (uint32_t)(mixed(turn) % WORKERS);
    switch (mixed(turn + 99) % 8) {
    case 0: // in peace
        kill(workers[which], SIGTERM);
        waitpid(workers[which], NULL, 0);
        workers[which] = start_worker();
        break;
    case 1: // stopped longer than a lease: it comes back and thinks that it still has its partitions
        kill(workers[which], SIGSTOP);
        nats_nap((unsigned)(LEASE / 1000000 + 700));
        kill(workers[which], SIGCONT);
        break;
    case 2: { // a server
        uint32_t server = (uint32_t)(mixed(turn + 7) % servers.count);
        nats_kill(&servers, server);
        nats_nap(300);
        if (!nats_start(&servers, server, NULL))
            fprintf(stderr, "server %u does not start again\n", server);
        if (servers.count > 1)
            nats_nap(3000); // one at a time: it catches up
        break;
    }
    default:
        kill(workers[which], SIGKILL);
        waitpid(workers[which], NULL, 0);
        workers[which] = start_worker();
    }
}

static slr_sender *open_sender(void)
{
    slr_sender *sender;
    slr_sender_desc desc = SLR_SENDER_DESC_INIT;
    slr_remote_desc remote = where(servers.list);
    desc.frame_bytes = FRAME * 24;
    for (unsigned i = 0; i < 300; ++i) {
        if (slr_sender_open(&remote, &desc, &sender) == SLR_OK)
            return sender;
        nats_nap(200);
    }
    return NULL;
}

static int play(uint64_t kills, uint64_t messages)
{
    for (uint32_t i = 0; i < WORKERS; ++i)
        workers[i] = start_worker();
    slr_sender *sender = open_sender();
    slr_sender_stats stats;
    if (!sender)
        return fail("sender");
    uint64_t sent = 0;
    for (uint64_t turn = 0; turn < kills; ++turn) {
        for (uint64_t until = messages * (turn + 1) / kills; sent < until; ++sent) {
            if (send_one(sender, sent))
                return 1;
        }
        hurt(turn);
    }
    while (slr_sender_flush(sender, SECOND) != SLR_OK)
        continue;
    (void)slr_sender_get_stats(sender, &stats);
    printf("%" PRIu64 " frames, %" PRIu64 " again\n", stats.frames, stats.again);
    if (stats.accepted != messages)
        return fail("accepted");
    slr_sender_close(sender, 0);
    int bad = receive_all(messages);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        kill(workers[i], SIGTERM);
        waitpid(workers[i], NULL, 0);
    }
    return bad;
}

int main(int argc, char **argv)
{
    ssize_t length = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
    if (length < 0)
        return 1;
    if (argc > 2 && strcmp(argv[1], "worker") == 0)
        return work(argv[2]);
    uint64_t kills = argc > 1 ? strtoull(argv[1], NULL, 10) : 8;
    uint32_t count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    uint64_t messages = argc > 3 ? strtoull(argv[3], NULL, 10) : kills * 2500;
    if (kills == 0 || (count != 1 && count != NATS_MOST)) {
        fprintf(stderr, "usage: remote_chaos_test [KILLS [1|3 [MESSAGES]]]\n");
        return 2;
    }
    if (!nats_open(&servers, count, NULL)) {
        nats_close(&servers);
        return 77;
    }
    slr_remote_info info;
    slr_remote_desc remote = where(servers.list);
    if (slr_remote_get_info(&remote, &info) == SLR_UNSUPPORTED) {
        printf("skipped: %s\n", slr_error_message());
        nats_close(&servers);
        return 77;
    }
    int bad = play(kills, messages);
    nats_close(&servers);
    for (uint32_t i = 0; i < KEYS; ++i)
        free(values[i]);
    return bad;
}
