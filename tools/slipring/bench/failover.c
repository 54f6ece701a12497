// SPDX-License-Identifier: Apache-2.0
// `slipring bench cluster`, workers that come and go: how long partitions stand still while one is killed, ends in
// order, or comes. Workers are processes of this program, `slipring serve`; the load comes from here, and each output
// is checked.
#define _GNU_SOURCE
#include "bench/bench.h"

#include "bench/nats_here.h"
#include "clock.h"
#include "say.h"

#include <slipring/operate.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTITIONS = 8, KEYS = 64, WORKERS = 3, LEASE_MS = 1000, ROUND_MS = 5, PATIENCE_S = 60 };
#define NAME "failover"

static const char handler[] = "struct message { unsigned key, round; };\n"
                              "struct seen { unsigned count; };\n"
                              "struct reply { unsigned key, round, count; };\n"
                              "__ring__ void seen(struct seen *self, const struct message *in)\n"
                              "{\n"
                              "    struct reply reply;\n"
                              "    self->count += 1;\n"
                              "    reply.key = in->key;\n"
                              "    reply.round = in->round;\n"
                              "    reply.count = self->count;\n"
                              "    ring_reply(&reply);\n"
                              "}\n";

typedef struct message {
    uint32_t key, round;
} message;

typedef struct reply {
    uint32_t key, round, count;
} reply;

typedef struct failover {
    nats_here server;
    pid_t workers[WORKERS]; // 0: none
    slr_sender *sender;
    slr_receiver *receiver;
    uint32_t round; // each sends a message to each key
    uint64_t round_ns;
    uint32_t counts[KEYS];                    // outputs of each key
    uint32_t rounds[PARTITIONS];              // of the last output of each partition
    uint64_t last_ns[PARTITIONS], longest_ns; // when that came; the longest time without one
    uint64_t outputs;
} failover;

static slr_remote_desc where(const failover *failover)
{
    slr_remote_desc where = SLR_REMOTE_DESC_INIT;
    where.servers = failover->server.url;
    where.name = NAME;
    return where;
}

static bool start_worker(failover *failover, uint32_t which)
{
    char file[96], lease[16], partitions[16];
    snprintf(file, sizeof file, "%s/seen.cu", failover->server.folder);
    snprintf(lease, sizeof lease, "%dms", LEASE_MS);
    snprintf(partitions, sizeof partitions, "%d", PARTITIONS);
    pid_t process = failover->workers[which] = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        execl("/proc/self/exe", "slipring", "serve", file, "--cluster", failover->server.url, "--name", NAME, "--keys",
              "number", "--instances", "1000", "--partitions", partitions, "--lease", lease, "--device",
              "cpu?threads=1", (char *)NULL);
        _exit(127);
    }
    return process > 0;
}

static bool failed_because(const char *why)
{
    say("cluster: workers that come and go: %s", why);
    return false;
}

// ---- the load ------------------------------------------------------------------------------------------------------

static bool send_round(failover *failover)
{
    slr_status status = SLR_OK;
    failover->round++;
    failover->round_ns = clock_ns();
    for (uint32_t key = 0; key < KEYS && status == SLR_OK; key++) {
        message message = {key, failover->round};
        status = slr_sender_send(failover->sender, slr_key_u64(key), &message, sizeof message, BENCH_TIMEOUT_NS);
    }
    if (status == SLR_OK)
        status = slr_sender_flush(failover->sender, 2 * BENCH_TIMEOUT_NS);
    return status == SLR_OK || failed_because(slr_error_message());
}

static void note_output(failover *failover, uint32_t partition, const reply *reply)
{
    uint64_t now_ns = clock_ns(), last_ns = failover->last_ns[partition];
    if (last_ns != 0 && now_ns - last_ns > failover->longest_ns)
        failover->longest_ns = now_ns - last_ns;
    failover->last_ns[partition] = now_ns;
    failover->rounds[partition] = reply->round;
    failover->outputs++;
}

// What has come. Each key's outputs are those of its rounds, in order and once.
static bool take_outputs(failover *failover, uint64_t timeout_ns)
{
    for (;;) {
        slr_output output;
        reply reply;
        uint32_t partition;
        slr_status status =
            slr_receiver_receive(failover->receiver, &output, &partition, &reply, sizeof reply, timeout_ns);
        if (status == SLR_TIMEOUT)
            return true;
        if (status != SLR_OK)
            return failed_because(slr_error_message());
        if (reply.key >= KEYS || reply.count != ++failover->counts[reply.key] || reply.round != reply.count)
            return failed_because("a message was lost, doubled, or came out of order");
        note_output(failover, partition, &reply);
        timeout_ns = 0;
    }
}

static bool step(failover *failover)
{
    if (clock_ns() - failover->round_ns > ROUND_MS * 1000000ull && !send_round(failover))
        return false;
    return take_outputs(failover, 1000000);
}

// ---- waiting -------------------------------------------------------------------------------------------------------

typedef struct shares {
    uint32_t workers, owned, least;
} shares;

static void see_share(void *user, const slr_remote_worker *worker)
{
    shares *shares = user;
    if (worker->is_lost)
        return;
    shares->workers++;
    shares->owned += worker->partitions;
    shares->least = worker->partitions < shares->least ? worker->partitions : shares->least;
}

// The load goes on until so many workers have all partitions among them.
static bool await_workers(failover *failover, uint32_t workers, bool is_loaded)
{
    uint64_t begin_ns = clock_ns();
    slr_remote_desc remote = where(failover);
    while (clock_ns() - begin_ns < PATIENCE_S * 1000000000ull) {
        shares shares = {.least = PARTITIONS};
        if (slr_remote_visit_workers(&remote, see_share, &shares) == SLR_OK && shares.workers == workers &&
            shares.owned == PARTITIONS && shares.least >= PARTITIONS / workers - (workers == WORKERS))
            return true;
        for (uint32_t i = 0; i < 10 && is_loaded; i++)
            if (!step(failover))
                return false;
        if (!is_loaded)
            usleep(20000);
    }
    return failed_because("they do not share the partitions within a minute");
}

// From now on until each partition has given an output to a message that was sent after this: in ms.
static bool time_until_all_go_on(failover *failover, double *ms)
{
    const uint32_t from = failover->round + 1;
    uint64_t begin_ns = clock_ns();
    while (clock_ns() - begin_ns < PATIENCE_S * 1000000000ull) {
        uint32_t going = 0;
        if (!step(failover))
            return false;
        for (uint32_t i = 0; i < PARTITIONS; i++)
            going += failover->rounds[i] >= from;
        *ms = (double)(clock_ns() - begin_ns) / 1e6;
        if (going == PARTITIONS)
            return true;
    }
    return failed_because("a partition does not go on within a minute");
}

static bool end_worker(failover *failover, uint32_t which, int signal, double *ms)
{
    int status;
    if (kill(failover->workers[which], signal) != 0 || !time_until_all_go_on(failover, ms))
        return false;
    if (waitpid(failover->workers[which], &status, 0) != failover->workers[which])
        return false;
    failover->workers[which] = 0;
    return signal == SIGKILL || (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           failed_because("a worker has not ended with 0");
}

// ---- the rows ------------------------------------------------------------------------------------------------------

static void add_row(bench *bench, const char *name, double ms, double floor_ms, const char *method)
{
    if (!bench_wants(bench, name))
        return;
    bench_row row = {.name = name, .stat = "once", .unit = "ms", .value = ms, .floor = floor_ms};
    bench_add(bench, &row, method);
}

static bool measure_failover(bench *bench, failover *failover)
{
    double drained = 0, killed = 0, ignored = 0;
    if (!time_until_all_go_on(failover, &ignored)) // kernels are compiled, streams are there
        return false;
    failover->longest_ns = 0;
    if (!start_worker(failover, 1) || !start_worker(failover, 2) || !await_workers(failover, WORKERS, true) ||
        !end_worker(failover, 2, SIGTERM, &drained) || !await_workers(failover, 2, true))
        return false;
    double idle = (double)failover->longest_ns / 1e6;
    if (!end_worker(failover, 1, SIGKILL, &killed))
        return false;
    uint64_t all = (uint64_t)failover->round * KEYS, begin_ns = clock_ns();
    while (failover->outputs < all && clock_ns() - begin_ns < PATIENCE_S * 1000000000ull)
        if (!take_outputs(failover, 10000000))
            return false;
    if (failover->outputs != all)
        return failed_because("outputs are missing");
    add_row(bench, "remote_drain", drained, 0,
            "64 keys in 8 partitions, a message to each key every 5 ms, 3 workers: the time from SIGTERM to one worker "
            "until each partition has given an output for a message that was sent after SIGTERM. Each output came "
            "once, in order.");
    add_row(bench, "remote_failover", killed, LEASE_MS,
            "The same as remote_drain, with kill -9 of one of 2 workers. Floor: the lease, for whose end the other "
            "worker waits.");
    add_row(bench, "remote_rebalance_idle", idle, LEASE_MS,
            "The messages of remote_drain, while 1 worker becomes 3 and then 2 workers: the longest time in which a "
            "partition "
            "gave no output. Floor: the lease.");
    return true;
}

static bool write_handler(const failover *failover)
{
    char path[96];
    snprintf(path, sizeof path, "%s/seen.cu", failover->server.folder);
    FILE *file = fopen(path, "w");
    return file != NULL && (fputs(handler, file) >= 0) + (fclose(file) == 0) == 2;
}

static bool open_failover(failover *failover)
{
    if (!write_handler(failover) || !start_worker(failover, 0) || !await_workers(failover, 1, false))
        return false;
    slr_remote_desc remote = where(failover);
    slr_status status = slr_sender_open(&remote, NULL, &failover->sender);
    if (status == SLR_OK)
        status = slr_receiver_open(&remote, &failover->receiver);
    return status == SLR_OK || failed_because(slr_error_message());
}

bool bench_failover(bench *bench)
{
    static const char *const names[] = {"remote_drain", "remote_failover", "remote_rebalance_idle"};
    failover failover = {0};
    const char *program = nats_here_program();
    bool is_wanted = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_wanted = is_wanted || bench_wants(bench, names[i]);
    if (!is_wanted || program == NULL) // of which bench_remote tells
        return true;
    bool fine = nats_here_start(&failover.server, program) || failed_because("nats-server does not start");
    fine = fine && open_failover(&failover) && measure_failover(bench, &failover);
    slr_sender_close(failover.sender, 0);
    slr_receiver_close(failover.receiver);
    for (uint32_t i = 0; i < WORKERS; i++) {
        if (failover.workers[i] > 0) {
            kill(failover.workers[i], SIGKILL);
            waitpid(failover.workers[i], NULL, 0);
        }
    }
    nats_here_end(&failover.server);
    return fine;
}
