// SPDX-License-Identifier: Apache-2.0
// Snapshots of many states, over a log that is slow: one takes as long as its states need.
#define _GNU_SOURCE

#include "cluster/server.h"

#include <slipring/devices.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG 60000000000u
enum { STATE_BYTES = 128 << 10, STATES = 120, PART_US = 40000 }; // 30 parts or more: longer than a snapshot may wait

static slri_log_engine slow;

static void must(slr_status status)
{
    if (status != SLR_OK)
        fail_msg("%s: %s", slr_status_name(status), slr_error_message());
}

static slr_status append_slowly(slri_log *log, enum slri_log_stream stream, uint64_t expected,
                                const slri_append_part *parts, uint32_t count)
{
    if (stream == SLRI_LOG_SNAP)
        usleep(PART_US);
    return slri_log_local.append(log, stream, expected, parts, count);
}

static slr_status open_slow(const slri_log_desc *desc, slri_log **out)
{
    slr_status status = slri_log_local.open(desc, out);
    if (status == SLR_OK)
        (*out)->engine = &slow;
    return status;
}

static slr_status add(void *user, const slr_delivery *delivery)
{
    (void)user;
    *(uint64_t *)delivery->state += *(const uint64_t *)delivery->message;
    return SLR_OK;
}

static slr_server *serve(slr_device *device, const char *folder)
{
    slr_server *server = NULL;
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    const slri_log_desc log = {.place = folder, .sync = SLRI_LOG_SYNC_NEVER};
    ring.name = "sums";
    ring.on_message = add;
    ring.message_bytes = sizeof(uint64_t);
    ring.state_bytes = STATE_BYTES;
    ring.instances = STATES;
    desc.place = folder;
    desc.sync = SLR_SYNC_NEVER;
    desc.snapshot_ns = UINT64_MAX;
    desc.snapshot_messages = STATES;
    must(slri_serve(device, &ring, &desc, &slow, &log, &server));
    return server;
}

static void a_snapshot_that_is_due_takes_as_long_as_its_states_need(void **state)
{
    (void)state;
    char folder[] = "/tmp/slipring-snapshot-XXXXXX", command[64];
    slr_device *device;
    slr_server_stats stats;
    uint64_t sum[STATE_BYTES / sizeof(uint64_t)];
    slow = slri_log_local;
    slow.open = open_slow;
    slow.append = append_slowly;
    assert_non_null(mkdtemp(folder));
    must(slr_device_open("cpu?threads=1", NULL, &device));
    slr_server *server = serve(device, folder);
    for (uint64_t i = 0; i < STATES; ++i)
        must(slr_server_send(server, 1, 0, slr_key_u64(i), &i, sizeof i, LONG));
    must(slr_server_flush(server, LONG)); // and the snapshot, which is due
    must(slr_server_get_stats(server, &stats));
    assert_int_equal(stats.snapshots, 1);
    slri_server_abandon(server); // as a kill
    server = serve(device, folder);
    must(slr_server_get_stats(server, &stats));
    assert_int_equal(stats.replayed, 0);
    for (uint64_t i = 0; i < STATES; ++i) {
        must(slr_server_get_state(server, slr_key_u64(i), sum, sizeof sum, LONG));
        assert_int_equal(sum[0], i);
    }
    slri_server_abandon(server);
    slr_device_close(device);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_snapshot_that_is_due_takes_as_long_as_its_states_need)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
