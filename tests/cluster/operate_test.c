// SPDX-License-Identifier: Apache-2.0
// What an operator does with names that machines share: lists, drains, reads dead letters, copies, asks what an
// accepted message survives.
#define _GNU_SOURCE

#include "base/thread.h"
#include "tests/cluster/remote.h"

#include <slipring/operate.h>

#include <dirent.h>
#include <pthread.h>

// ---- lists ---------------------------------------------------------------------------------------------------------

typedef struct seen {
    uint32_t count;
    slr_remote_worker last;
    bool is_ours;
} seen;

static void see_name(void *user, const char *text)
{
    seen *seen = user;
    seen->count++;
    seen->is_ours = seen->is_ours || strcmp(text, name) == 0;
}

static void see_worker(void *user, const slr_remote_worker *worker)
{
    seen *seen = user;
    seen->count++;
    seen->last = *worker;
}

static seen list_workers(void)
{
    seen seen = {0};
    slr_remote_desc remote = where();
    must(slr_remote_visit_workers(&remote, see_worker, &seen));
    return seen;
}

static void names_and_their_workers_are_listed(void **state)
{
    (void)state;
    seen before = {0}, after = {0};
    slr_remote_desc remote = where(), servers_only = where();
    servers_only.name = NULL;
    must(slr_remote_visit_names(&servers_only, see_name, &before));
    assert_false(before.is_ours);
    refuses(slr_remote_visit_workers(&remote, see_worker, &before), SLR_NOT_FOUND, "nobody has served");
    slr_worker *worker = work(device, 0);
    must(slr_remote_visit_names(&servers_only, see_name, &after));
    assert_true(after.is_ours);
    assert_int_equal(after.count, before.count + 1);
    while (stats_of(worker).owned < PARTITIONS)
        must(slr_worker_turn(worker, 1000000));
    seen workers = list_workers();
    assert_int_equal(workers.count, 1);
    assert_int_equal(strlen(workers.last.id), 16);
    assert_int_equal(workers.last.process, getpid());
    assert_int_equal(workers.last.partitions, PARTITIONS);
    assert_int_equal(workers.last.draining, 0);
    assert_int_equal(workers.last.is_lost, 0);
    assert_in_range(workers.last.silent_ns, 0, LONG - 1);
    char host[sizeof workers.last.host] = "";
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_string_equal(workers.last.host, host);
    must(slr_worker_close(worker, LONG));
    assert_int_equal(list_workers().count, 0);
}

// ---- draining ------------------------------------------------------------------------------------------------------

static void turn_both_until(slr_worker *one, slr_worker *other, uint64_t handled)
{
    while (stats_of(one).handled + stats_of(other).handled < handled) {
        must(slr_worker_turn(one, 0));
        must(slr_worker_turn(other, 0));
    }
}

static void a_drained_worker_hands_over_and_nothing_is_handled_again(void **state)
{
    (void)state;
    slr_device *second;
    slr_remote_desc remote = where();
    must(slr_device_open("cpu?threads=1", NULL, &second));
    slr_worker *one = work(device, 0);
    char id[24];
    snprintf(id, sizeof id, "%s", list_workers().last.id);
    slr_worker *other = work(second, 0);
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, 200);
    turn_both_until(one, other, 200);
    refuses(slr_remote_drain(&remote, "nobody", 0), SLR_NOT_FOUND, "no worker 'nobody'");
    refuses(slr_remote_drain(&remote, id, 0), SLR_TIMEOUT, "has not ended");
    refuses(slr_remote_drain(&remote, id, 0), SLR_TIMEOUT, "has not ended"); // asking again asks for no more
    send_range(sender, 200, 400);
    while (stats_of(one).draining == 0 || stats_of(one).owned > 0)
        must(slr_worker_turn(one, 1000000));
    refuses(slr_remote_drain(&remote, id, 0), SLR_NOT_FOUND, "its 1 workers"); // it has gone
    turn_both_until(one, other, 400);
    send_range(sender, 400, 600);
    turn_both_until(one, other, 600);
    must(slr_sender_close(sender, LONG));
    assert_int_equal(stats_of(other).draining, 0);
    assert_int_equal(stats_of(other).owned, PARTITIONS);
    assert_int_equal(stats_of(one).lost + stats_of(other).lost, 0);
    assert_int_equal(stats_of(one).handled + stats_of(other).handled, 600);
    must(slr_worker_close(one, LONG));
    must(slr_worker_close(other, LONG));
    expect_outputs(600);
    slr_device_close(second);
}

// A worker whose snapshots come only with its end.
static slr_worker *work_without_snapshots(slr_on_message *handler, uint64_t lease_ns)
{
    slr_worker_desc desc = SLR_WORKER_DESC_INIT;
    slr_remote_desc remote = where();
    slr_ring_desc ring = describe(handler);
    slr_worker *worker = NULL;
    desc.partitions = PARTITIONS;
    desc.lease_ns = lease_ns;
    desc.snapshot_ns = 100 * LONG;
    must(slr_worker_open(device, &ring, &remote, &desc, &worker));
    return worker;
}

static void turn_until_it_owns(slr_worker *worker, uint32_t partitions)
{
    while (stats_of(worker).owned != partitions)
        must(slr_worker_turn(worker, 1000000));
}

static void expect_snapshots(uint64_t messages, uint64_t waiting)
{
    slr_remote_info info;
    slr_remote_desc remote = where();
    must(slr_remote_get_info(&remote, &info));
    assert_int_equal(info.messages, messages);
    assert_int_equal(info.waiting, waiting);
}

static void ask_to_end(slr_worker *worker)
{
    slr_remote_desc remote = where();
    refuses(slr_remote_drain(&remote, NULL, 0), SLR_TIMEOUT, "has not ended");
    while (stats_of(worker).draining == 0)
        must(slr_worker_turn(worker, 1000000));
    turn_until_it_owns(worker, 0);
}

// Another one writes to the streams of snapshots: who has them open cannot.
static void spoil_snapshots(void)
{
    slr_remote_desc remote = where();
    slri_nats *nats;
    must(slri_nats_open(&remote, &nats));
    for (uint32_t i = 0; i < PARTITIONS; ++i) {
        char subject[SLRI_NATS_SUBJECT];
        natsMsg *reply;
        slri_nats_stream_subject(nats, SLRI_LOG_SNAP, i, subject);
        must(slri_nats_request(nats, subject, NULL, NULL, "junk", 4, &reply));
        nats->api->natsMsg_Destroy(reply);
    }
    slri_nats_close(nats);
}

static void a_drained_worker_repeats_a_snapshot_that_fails(void **state)
{
    (void)state;
    slr_worker *worker = work_without_snapshots(add, LONG);
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, 200);
    turn_until(worker, 200);
    must(slr_worker_close(worker, LONG));
    expect_snapshots(200, 0);
    worker = work_without_snapshots(add, LONG);
    turn_until_it_owns(worker, PARTITIONS);
    send_range(sender, 200, 300);
    turn_until(worker, 100);
    must(slr_sender_close(sender, LONG));
    spoil_snapshots();
    ask_to_end(worker);
    assert_int_equal(stats_of(worker).lost, PARTITIONS); // with their logs, and taken again
    must(slr_worker_close(worker, LONG));
    expect_snapshots(300, 0);
    expect_outputs(300);
}

static uint32_t is_held; // atomic: the handler does not return

static slr_status add_when_released(void *user, const slr_delivery *delivery)
{
    while (__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
        slri_sleep_ns(1000000);
    return add(user, delivery);
}

static void release_late(void *arg)
{
    (void)arg;
    slri_sleep_ns(5000000000); // longer than two tries of a last snapshot
    __atomic_store_n(&is_held, 0, __ATOMIC_RELEASE);
}

// A worker that ends has no share, and gives away what is more than that: not before its last snapshot.
static void a_drained_worker_waits_for_its_handlers(void **state)
{
    (void)state;
    slri_thread thread;
    slr_worker *worker = work_without_snapshots(add_when_released, LONG);
    slr_sender *sender = open_sender(0);
    turn_until_it_owns(worker, PARTITIONS);
    __atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
    send_range(sender, 0, 20);
    must(slr_sender_close(sender, LONG));
    for (uint32_t i = 0; i < 100; ++i) // it takes in all of them
        must(slr_worker_turn(worker, 10000000));
    must(slri_thread_start(&thread, "release", release_late, NULL));
    ask_to_end(worker);
    slri_thread_join(&thread);
    must(slr_worker_close(worker, LONG));
    expect_snapshots(20, 0);
    expect_outputs(20);
}

static void delete_snapshots(void)
{
    slr_remote_desc remote = where();
    slri_nats *nats;
    must(slri_nats_open(&remote, &nats));
    for (uint32_t i = 0; i < PARTITIONS; ++i) {
        char stream[SLRI_NATS_SUBJECT], request[SLRI_NATS_SUBJECT + 16];
        slri_nats_stream_name(nats, SLRI_LOG_SNAP, i, stream);
        snprintf(request, sizeof request, "STREAM.DELETE.%s", stream);
        must(slri_nats_ask(nats, request, "", NULL, 0));
    }
    slri_nats_close(nats);
}

static void a_drain_without_its_snapshots_is_no_success(void **state)
{
    (void)state;
    const uint64_t lease_ns = 100000000; // a drain waits for ten
    slr_worker *worker = work_without_snapshots(add, lease_ns);
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, 200);
    turn_until(worker, 200);
    must(slr_worker_close(worker, LONG));
    worker = work_without_snapshots(add, lease_ns);
    turn_until_it_owns(worker, PARTITIONS);
    send_range(sender, 200, 300);
    turn_until(worker, 100);
    must(slr_sender_close(sender, LONG));
    delete_snapshots();
    ask_to_end(worker);
    refuses(slr_worker_close(worker, LONG), SLR_INVALID, "snapshot");
    slr_remote_info info;
    slr_remote_desc remote = where();
    must(slr_remote_get_info(&remote, &info));
    assert_int_equal(info.messages, 200);
    assert_in_range(info.waiting, PARTITIONS, 100);
}

// What the worker has stored without a snapshot is read again before its partitions are given away.
static void a_worker_that_took_over_ends_with_all_that_was_handled(void **state)
{
    (void)state;
    enum { MESSAGES = 2000 };
    slr_worker *worker = work_without_snapshots(add, LONG);
    slr_sender *sender = open_sender(0);
    for (uint64_t i = 0; i < MESSAGES; i += 10)
        send_range(sender, i, i + 10); // a frame for each partition
    turn_until(worker, MESSAGES);
    must(slr_sender_close(sender, LONG));
    give_to_a_stranger();
    while (stats_of(worker).lost < PARTITIONS || stats_of(worker).owned < PARTITIONS)
        must(slr_worker_turn(worker, 1000000));
    must(slr_worker_close(worker, LONG));
    expect_snapshots(MESSAGES, 0);
    expect_outputs(MESSAGES);
}

static void draining_a_name_without_workers_is_done_at_once(void **state)
{
    (void)state;
    slr_remote_desc remote = where();
    refuses(slr_remote_drain(&remote, NULL, 0), SLR_NOT_FOUND, "nobody has served");
    must(slr_worker_close(work(device, 0), LONG));
    must(slr_remote_drain(&remote, NULL, 0));
}

static void set_value(slri_nats *nats, const char *key, const void *value, size_t bytes)
{
    uint64_t revision = 0, old;
    unsigned char text[256];
    size_t had;
    if (slri_nats_get(nats, key, text, sizeof text, &had, &old) == SLR_OK)
        revision = old;
    must(slri_nats_cas(nats, key, &revision, value, bytes));
}

// What a worker that was killed leaves: it serves a partition, and removes nothing.
static void leave_a_killed_worker(const char *id)
{
    slr_remote_desc remote = where();
    slri_nats *nats;
    slri_worker_card card = {.process = 7, .host = "elsewhere"};
    slri_owner owner = {""};
    char key[SLRI_WORKER_KEY_BYTES];
    snprintf(owner.worker, sizeof owner.worker, "%s", id);
    slri_worker_key(key, SLRI_WORKER_KEY, id);
    must(slri_nats_open(&remote, &nats));
    set_value(nats, "owner.1", &owner, sizeof owner);
    set_value(nats, key, &card, sizeof card);
    slri_nats_close(nats);
}

static void a_killed_worker_is_lost_after_a_lease_and_holds_up_no_drain(void **state)
{
    (void)state;
    const uint64_t lease_ns = 500000000;
    slr_remote_desc remote = where();
    slr_remote_info info;
    must(slr_worker_close(work_without_snapshots(add, lease_ns), LONG));
    leave_a_killed_worker("00c0ffee00c0ffee");
    must(slr_remote_drain(&remote, NULL, LONG));
    must(slr_remote_drain(&remote, "00c0ffee00c0ffee", 0)); // it has not to be waited for again
    seen workers = list_workers();
    assert_int_equal(workers.count, 1);
    assert_string_equal(workers.last.id, "00c0ffee00c0ffee");
    assert_string_equal(workers.last.host, "elsewhere");
    assert_int_equal(workers.last.is_lost, 1);
    assert_int_equal(workers.last.partitions, 0);
    assert_in_range(workers.last.silent_ns, lease_ns, 10 * lease_ns);
    must(slr_remote_get_info(&remote, &info));
    assert_int_equal(info.workers, 0);
    assert_int_equal(info.owned, 0);
    while (list_workers().count > 0) // without another worker that removes it
        usleep(50000);
}

// ---- dead letters --------------------------------------------------------------------------------------------------

static void dead_letters_hold_the_message_and_the_reason(void **state)
{
    (void)state;
    slr_worker *worker = NULL;
    slr_ring_desc ring = describe(add_but_one);
    slr_remote_desc remote = where();
    slr_remote_letter letter;
    slr_receiver *receiver;
    struct message message = {0};
    uint32_t partition = UINT32_MAX;
    must(try_work(device, &ring, 0, &worker));
    slr_sender *sender = open_sender(0);
    send_range(sender, MARK - 100, MARK + 100);
    turn_until(worker, 200);
    must(slr_sender_close(sender, LONG));
    must(slr_worker_close(worker, LONG));
    must(slr_receiver_open_letters(&remote, &receiver));
    refuses(slr_receiver_receive_letter(receiver, &letter, NULL, &message, 3, 0), SLR_INVALID, "room for 3 B");
    refuses(slr_receiver_receive(receiver, &(slr_output){0}, NULL, &message, sizeof message, 0), SLR_INVALID,
            "was opened for dead letters");
    must(slr_receiver_receive_letter(receiver, &letter, &partition, &message, sizeof message, LONG));
    assert_int_equal(message.value, MARK);
    assert_int_equal(message.key, MARK % KEYS);
    assert_int_equal(letter.bytes, sizeof message);
    assert_int_equal(letter.sequence, 1);
    assert_in_range(partition, 0, PARTITIONS - 1);
    assert_non_null(strstr(letter.reason, "INVALID"));
    refuses(slr_receiver_receive_letter(receiver, &letter, NULL, &message, sizeof message, 0), SLR_TIMEOUT,
            "no dead letter");
    must(slr_receiver_release(receiver));
    slr_receiver_close(receiver);
    must(slr_receiver_open_letters(&remote, &receiver));
    refuses(slr_receiver_receive_letter(receiver, &letter, NULL, &message, sizeof message, 0), SLR_TIMEOUT,
            "no dead letter");
    slr_receiver_close(receiver);
    must(slr_receiver_open(&remote, &receiver));
    refuses(slr_receiver_receive_letter(receiver, &letter, NULL, &message, sizeof message, 0), SLR_INVALID,
            "was opened for outputs");
    slr_receiver_close(receiver);
}

// ---- copies --------------------------------------------------------------------------------------------------------

static char copy_folder[96];

static const char *new_folder(void)
{
    static unsigned number;
    snprintf(copy_folder, sizeof copy_folder, "%s/copy-%u", servers.folder, number++);
    return copy_folder;
}

static void a_copy_goes_on_where_it_was_made(void **state)
{
    (void)state;
    char other[] = "restored0";
    slr_remote_desc remote = where(), renamed = where();
    slr_remote_copy made, restored;
    const char *folder = new_folder();
    slr_worker *worker = work(device, 0);
    slr_sender *sender = open_sender(7);
    send_range(sender, 0, 200);
    turn_until(worker, 200);
    must(slr_worker_close(worker, LONG));
    send_range(sender, 200, 300); // which no snapshot has
    must(slr_sender_close(sender, LONG));
    must(slr_remote_snapshot(&remote, folder, &made));
    assert_int_equal(made.partitions, PARTITIONS);
    assert_int_equal(made.states, KEYS);
    assert_int_equal(made.messages, 200);
    assert_in_range(made.waiting, 1, 100);
    refuses(slr_remote_snapshot(&remote, folder, &made), SLR_INVALID, "holds a copy already");
    refuses(slr_remote_restore(&remote, folder, &restored), SLR_WRONG_STATE, "is in use");
    renamed.name = other;
    must(slr_remote_restore(&renamed, folder, &restored));
    assert_memory_equal(&made, &restored, sizeof made);
    memcpy(name, other, sizeof other);
    worker = work(device, 0);
    turn_until(worker, 100); // those 100
    sender = open_sender(7); // whose first 300 messages are known there as well
    send_range(sender, 0, 400);
    turn_until(worker, 200);
    must(slr_sender_close(sender, LONG));
    must(slr_worker_close(worker, LONG));
    expect_outputs(400);
}

typedef struct busy {
    slr_worker *worker;
    uint32_t stop; // atomic
} busy;

static void *keep_busy(void *user)
{
    busy *busy = user;
    slr_sender *sender = open_sender(0);
    for (uint64_t i = 0; __atomic_load_n(&busy->stop, __ATOMIC_ACQUIRE) == 0; i += 20) {
        send_range(sender, i, i + 20);
        must(slr_worker_turn(busy->worker, 0));
    }
    must(slr_sender_close(sender, LONG));
    return NULL;
}

static void a_name_is_copied_while_it_is_served(void **state)
{
    (void)state;
    char other[] = "restored1";
    slr_remote_desc remote = where(), renamed = where();
    slr_remote_copy copy;
    slr_remote_info info;
    busy busy = {.worker = work(device, 0)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, keep_busy, &busy), 0);
    do // there is something to copy
        must(slr_remote_get_info(&remote, &info));
    while (info.messages < 500);
    slr_status status = slr_remote_snapshot(&remote, new_folder(), &copy);
    __atomic_store_n(&busy.stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    must(status);
    must(slr_worker_close(busy.worker, LONG));
    renamed.name = other;
    must(slr_remote_restore(&renamed, copy_folder, &copy));
    memcpy(name, other, sizeof other);
    slr_worker *worker = work(device, 0);
    must(slr_remote_get_info(&renamed, &info));
    while (info.waiting > 0) {
        must(slr_worker_turn(worker, 10000000));
        must(slr_remote_get_info(&renamed, &info));
    }
    assert_int_equal(stats_of(worker).lost, 0);
    assert_string_equal(stats_of(worker).problem, "");
    must(slr_worker_close(worker, LONG));
    must(slr_remote_get_info(&renamed, &info));
    assert_in_range(info.messages, 500, UINT64_MAX);
    expect_outputs(info.messages); // each key's count from 1 without a gap, up to where its partition was copied
}

// The first file of a partition that is no value.
static void damage_a_record(const char *folder)
{
    char path[512];
    struct dirent *item;
    snprintf(path, sizeof path, "%s/0", folder);
    DIR *open = opendir(path);
    assert_non_null(open);
    while ((item = readdir(open)) && !strstr(item->d_name, ".log"))
        continue;
    assert_non_null(item);
    snprintf(path, sizeof path, "%s/0/%.200s", folder, item->d_name);
    closedir(open);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -9, SEEK_END), 0);
    assert_int_equal(fputs("damage", file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void a_damaged_copy_is_refused(void **state)
{
    (void)state;
    char other[] = "restored2", path[160];
    slr_remote_desc remote = where(), renamed = where();
    slr_remote_copy copy;
    const char *folder = new_folder();
    slr_worker *worker = work(device, 0);
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, 100);
    turn_until(worker, 100);
    must(slr_worker_close(worker, LONG));
    must(slr_sender_close(sender, LONG));
    renamed.name = other;
    refuses(slr_remote_restore(&renamed, folder, &copy), SLR_NOT_FOUND, "no whole copy");
    must(slr_remote_snapshot(&remote, folder, &copy));
    damage_a_record(folder);
    refuses(slr_remote_restore(&renamed, folder, &copy), SLR_INVALID, "is damaged");
    snprintf(path, sizeof path, "rm %s/0/*.log", folder);
    assert_int_equal(system(path), 0);
    refuses(slr_remote_restore(&renamed, folder, &copy), SLR_INVALID, ".log is missing");
    snprintf(path, sizeof path, "rm %s/0/newest", folder);
    assert_int_equal(system(path), 0);
    refuses(slr_remote_restore(&renamed, folder, &copy), SLR_INVALID, "is not whole");
    slr_remote_info info;
    refuses(slr_remote_get_info(&renamed, &info), SLR_NOT_FOUND, "nobody has served");
}

// ---- what is survived ----------------------------------------------------------------------------------------------

static void what_a_message_survives_is_said(void **state)
{
    (void)state;
    slr_remote_desc remote = where();
    slr_remote_safety safety;
    must(slr_remote_get_safety(&remote, NULL, &safety));
    assert_in_range(safety.version[0], '2', '9');
    assert_int_equal(safety.replicas, 1);
    assert_int_equal(safety.current, 1);
    assert_int_equal(safety.sync, SLR_REMOTE_SYNC_UNKNOWN);
    assert_in_range(safety.answer_ns, 1000, LONG);
    assert_non_null(strstr(safety.words, "a kill of the server, but a power cut"));
    assert_non_null(strstr(safety.words, "not known here"));
    remote.name = NULL;
    remote.replicas = 3; // one server cannot do that
    refuses(slr_remote_get_safety(&remote, NULL, &safety), SLR_SYSTEM, "replicas");
}

// A server whose system account lets that NKey in.
static void expect_sync(const char *interval, uint32_t sync, uint64_t interval_ns, const char *says)
{
    char configuration[96], key[96], text[512];
    slr_remote_desc remote = where(), system = SLR_REMOTE_DESC_INIT;
    slr_remote_safety safety;
    nats_servers guarded;
    snprintf(configuration, sizeof configuration, "%s/system.conf", servers.folder);
    snprintf(key, sizeof key, "%s/system-nkey", servers.folder);
    snprintf(text, sizeof text,
             "jetstream { sync_interval: %s }\n"
             "accounts { SYS: { users: [ { nkey: %s } ] }, APP: { jetstream: enabled, users: [ { user: app } ] } }\n"
             "system_account: SYS\nno_auth_user: app\n",
             interval, NKEY_PUBLIC);
    write_file(configuration, text);
    write_file(key, NKEY_PUBLIC "\n" NKEY_SEED "\n");
    assert_true(nats_open(&guarded, 1, configuration));
    remote.servers = guarded.list;
    refuses(slr_remote_get_safety(&remote, &system, &safety), SLR_SYSTEM, "system account");
    system.nkey = key;
    must(slr_remote_get_safety(&remote, &system, &safety));
    nats_close(&guarded);
    assert_int_equal(safety.sync, sync);
    assert_int_equal(safety.servers, 1);
    assert_int_equal(safety.interval_ns, interval_ns);
    if (!strstr(safety.words, says))
        fail_msg("'%s' is not in: %s", says, safety.words);
}

static void the_system_account_tells_how_servers_write(void **state)
{
    (void)state;
    expect_sync("always", SLR_REMOTE_SYNC_ALWAYS, 0, "and a power cut of the server");
    expect_sync("\"7s\"", SLR_REMOTE_SYNC_INTERVAL, 7000000000, "loses up to the last 7 s");
}

// ---- who may serve what --------------------------------------------------------------------------------------------

// Two accounts of one server, as docs/contract/remote.md says: a worker of one neither sees nor touches names of the
// other.
static void a_worker_is_limited_to_the_names_of_its_account(void **state)
{
    (void)state;
    char configuration[96], key[96], text[512];
    slr_remote_desc ours = where(), theirs = where(), any;
    slr_ring_desc ring = describe(add);
    slr_worker *worker, *stranger;
    seen seen = {0};
    slr_remote_info info;
    nats_servers guarded;
    snprintf(configuration, sizeof configuration, "%s/accounts.conf", servers.folder);
    snprintf(key, sizeof key, "%s/account-nkey", servers.folder);
    snprintf(text, sizeof text,
             "accounts { A: { jetstream: enabled, users: [ { nkey: %s } ] }, "
             "B: { jetstream: enabled, users: [ { user: b } ] } }\n"
             "no_auth_user: b\n",
             NKEY_PUBLIC);
    write_file(configuration, text);
    write_file(key, NKEY_PUBLIC "\n" NKEY_SEED "\n");
    assert_true(nats_open(&guarded, 1, configuration));
    ours.servers = theirs.servers = guarded.list;
    ours.nkey = key;
    must(slr_worker_open(device, &ring, &ours, NULL, &worker));
    must(slr_remote_get_info(&ours, &info));
    refuses(slr_remote_get_info(&theirs, &info), SLR_NOT_FOUND, "nobody has served");
    refuses(slr_remote_drain(&theirs, NULL, 0), SLR_NOT_FOUND, "nobody has served");
    any = theirs;
    any.name = NULL;
    must(slr_remote_visit_names(&any, see_name, &seen));
    assert_int_equal(seen.count, 0);
    // A name of that text in the other account is another name.
    ring.message_bytes = 32;
    must(slr_worker_open(device, &ring, &theirs, NULL, &stranger));
    must(slr_remote_get_info(&theirs, &info));
    assert_int_equal(info.message_bytes, 32);
    must(slr_remote_get_info(&ours, &info));
    assert_int_equal(info.message_bytes, sizeof(struct message));
    assert_int_equal(info.workers, 1);
    must(slr_worker_close(stranger, LONG));
    must(slr_worker_close(worker, LONG));
    nats_close(&guarded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_and_their_workers_are_listed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_drained_worker_hands_over_and_nothing_is_handled_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_drained_worker_repeats_a_snapshot_that_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_drained_worker_waits_for_its_handlers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_drain_without_its_snapshots_is_no_success, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_that_took_over_ends_with_all_that_was_handled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(draining_a_name_without_workers_is_done_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_killed_worker_is_lost_after_a_lease_and_holds_up_no_drain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dead_letters_hold_the_message_and_the_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_copy_goes_on_where_it_was_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_is_copied_while_it_is_served, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_copy_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_message_survives_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_system_account_tells_how_servers_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_is_limited_to_the_names_of_its_account, set_up, tear_down),
    };
    RUN_WITH_SERVER(tests);
}
