// SPDX-License-Identifier: Apache-2.0
// Counts and measurements of pairs of devices. A record is made with a pair's first copy, and goes with either device.
#include "device/peer_record.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/forks.h"
#include "base/status.h"

#include <string.h>

#define MEASURED_BYTES (UINT64_C(16) << 20)
#define MEASUREMENTS 5

struct record {
    struct record *next;
    uint64_t from, to; // serial numbers of devices
    slr_peer_info info;
};

static slri_mutex lock = SLRI_MUTEX_INIT;
static struct record *records;
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)

// Under the lock. NULL: there is none, or no memory for one.
static struct record *find_pair(const slr_device *from, const slr_device *to, bool make)
{
    struct record *record = records;
    while (record && (record->from != from->serial || record->to != to->serial))
        record = record->next;
    if (record || !make || !(record = slri_alloc(NULL, sizeof *record)))
        return record;
    *record = (struct record){.next = records, .from = from->serial, .to = to->serial};
    records = record;
    return record;
}

void slri_peer_counts(const slr_device *from, const slr_device *to, slr_peer_info *out)
{
    slri_mutex_lock(&lock);
    const struct record *record = find_pair(from, to, false);
    if (record)
        *out = record->info;
    slri_mutex_unlock(&lock);
}

void slri_peer_count(const struct slri_peer_copy *copy, uint64_t chunks)
{
    slri_mutex_lock(&lock);
    struct record *record = find_pair(copy->from->device, copy->to->device, true);
    if (record) {
        slr_peer_info *info = &record->info;
        *(chunks ? &info->staged_copies : &info->direct_copies) += 1;
        *(chunks ? &info->staged_bytes : &info->direct_bytes) += copy->bytes;
        info->staged_chunks += chunks;
        info->moves += copy->is_move;
        info->moved_bytes += copy->is_move ? copy->bytes : 0;
    }
    slri_mutex_unlock(&lock);
}

void slri_peer_forget(slr_device *device)
{
    slri_mutex_lock(&lock);
    for (struct record **at = &records; *at;) {
        struct record *record = *at;
        bool goes = record->from == device->serial || record->to == device->serial;
        if (!goes) {
            at = &record->next;
            continue;
        }
        *at = record->next;
        slri_free(NULL, record, sizeof *record);
    }
    slri_mutex_unlock(&lock);
}

// ---- measuring -----------------------------------------------------------------------------------------------------

struct pair {
    slr_stream *stream;
    slr_buffer *from, *to;
};

static void drop_pair(struct pair *pair)
{
    slr_buffer_destroy(pair->from);
    slr_buffer_destroy(pair->to);
    slr_stream_destroy(pair->stream);
}

static slr_status make_pair(slr_device *from, slr_device *to, uint64_t bytes, struct pair *out)
{
    slr_status status = slr_stream_create(to, NULL, &out->stream);
    if (status == SLR_OK)
        status = slr_buffer_create(from, bytes, &out->from);
    if (status == SLR_OK)
        status = slr_buffer_create(to, bytes, &out->to);
    return status;
}

static slr_status measure(const struct pair *pair, slr_peer_way way, uint64_t bytes, uint64_t deadline_ns, double *out)
{
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < MEASUREMENTS; ++i) {
        slr_point done;
        uint64_t begin_ns = slri_now_ns();
        SLRI_TRY(slr_peer_copy(pair->stream, pair->to, 0, pair->from, 0, bytes, way, &done));
        SLRI_TRY(slri_queue_wait(&pair->stream->queue, done.value, deadline_ns));
        uint64_t took_ns = slri_now_ns() - begin_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    *out = (double)bytes * 1e9 / (double)(best_ns ? best_ns : 1);
    return SLR_OK;
}

slr_status slr_peer_measure(slr_device *from, slr_device *to, slr_peer_way way, uint64_t bytes, uint64_t timeout_ns,
                            double *out)
{
    slr_peer_info info;
    struct pair pair = {0};
    double rate = 0;
    SLRI_TRY(slr_peer_get_info(from, to, &info));
    bytes = bytes ? bytes : MEASURED_BYTES;
    slr_status status = make_pair(from, to, bytes, &pair);
    if (status == SLR_OK)
        status = measure(&pair, way, bytes, slri_deadline_after(timeout_ns), &rate);
    drop_pair(&pair);
    SLRI_TRY(status);
    slri_mutex_lock(&lock);
    struct record *record = find_pair(from, to, true);
    if (record && (way == SLR_PEER_ANY || (way == SLR_PEER_STAGED) == (info.staged != 0)))
        record->info.bytes_per_second = rate;
    slri_mutex_unlock(&lock);
    if (out)
        *out = rate;
    return SLR_OK;
}
