// SPDX-License-Identifier: Apache-2.0
// An event a processor, which threads and processes that the child starts inherit. A thread of ours empties their
// rings.
#define _GNU_SOURCE
#include "profile/sampling.h"

#include "memory.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING_PAGES = 32, EMPTY_EACH_MS = 20 };

typedef struct ring {
    int file;
    struct perf_event_mmap_page *head;
    const unsigned char *data;
} ring;

struct sampling_reader {
    sampling *to;
    ring *rings;
    size_t ring_count, ring_bytes;
    pthread_t thread;
    bool is_over; // atomic
};

// ---- records -------------------------------------------------------------------------------------------------------

typedef struct mapped {
    struct perf_event_header header;
    uint32_t process, thread;
    uint64_t address, bytes, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
    char path[];
} mapped;

typedef struct sampled {
    struct perf_event_header header;
    uint64_t address;
    uint32_t process, thread;
    uint64_t at_ns;
} sampled;

static void take_map(sampling *to, const mapped *record)
{
    const char *end = (const char *)record + record->header.size;
    sampling_map map = {.address = record->address,
                        .bytes = record->bytes,
                        .offset = record->offset,
                        .inode = record->inode,
                        .process = record->process,
                        .path = strdup(record->path)};
    memcpy(&map.at_ns, end - sizeof map.at_ns, sizeof map.at_ns); // behind it: process, thread, time
    to->maps = memory_grow(to->maps, to->map_count + 1, sizeof *to->maps);
    to->maps[to->map_count++] = map;
}

static void take_sample(sampling *to, const sampled *record)
{
    if (to->sample_count % 4096 == 0)
        to->samples = memory_grow(to->samples, to->sample_count + 4096, sizeof *to->samples);
    to->samples[to->sample_count++] = (sampling_sample){record->at_ns, record->address, record->process};
}

static void take_record(sampling *to, const struct perf_event_header *record)
{
    uint64_t lost[2];
    if (record->type == PERF_RECORD_SAMPLE) {
        take_sample(to, (const void *)record);
    } else if (record->type == PERF_RECORD_MMAP2) {
        take_map(to, (const void *)record);
    } else if (record->type == PERF_RECORD_LOST) {
        memcpy(lost, record + 1, sizeof lost);
        to->lost += lost[1];
    }
}

static void copy_out(const ring *from, size_t ring_bytes, uint64_t at, void *to, size_t bytes)
{
    size_t place = at % ring_bytes, first = bytes < ring_bytes - place ? bytes : ring_bytes - place;
    memcpy(to, from->data + place, first);
    memcpy((char *)to + first, from->data, bytes - first);
}

static void empty_ring(struct sampling_reader *reader, ring *from)
{
    uint64_t record[8192]; // a record has at most 65,535 bytes
    uint64_t end = __atomic_load_n(&from->head->data_head, __ATOMIC_ACQUIRE), at = from->head->data_tail;
    while (at < end) {
        struct perf_event_header header;
        copy_out(from, reader->ring_bytes, at, &header, sizeof header);
        copy_out(from, reader->ring_bytes, at, record, header.size);
        take_record(reader->to, (const void *)record);
        at += header.size;
    }
    __atomic_store_n(&from->head->data_tail, at, __ATOMIC_RELEASE);
}

static void *empty_rings(void *user)
{
    struct sampling_reader *reader = user;
    const struct timespec pause = {.tv_nsec = EMPTY_EACH_MS * 1000000};
    bool is_over;
    do {
        is_over = __atomic_load_n(&reader->is_over, __ATOMIC_ACQUIRE);
        for (size_t i = 0; i < reader->ring_count; i++)
            empty_ring(reader, &reader->rings[i]);
        if (!is_over)
            nanosleep(&pause, NULL);
    } while (!is_over);
    return NULL;
}

// ---- events --------------------------------------------------------------------------------------------------------

static bool open_ring(struct sampling_reader *reader, pid_t child, int processor)
{
    struct perf_event_attr wish = {.size = sizeof wish,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = SAMPLING_PERIOD_US * UINT64_C(1000),
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                   .sample_id_all = 1,
                                   .disabled = 1,
                                   .enable_on_exec = 1,
                                   .inherit = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .mmap = 1,
                                   .mmap2 = 1};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ring *to = &reader->rings[reader->ring_count];
    to->file = (int)syscall(SYS_perf_event_open, &wish, child, processor, -1, PERF_FLAG_FD_CLOEXEC);
    if (to->file < 0)
        return false;
    void *at = mmap(NULL, page + reader->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, to->file, 0);
    if (at == MAP_FAILED) {
        int why = errno;
        close(to->file);
        errno = why;
        return false;
    }
    to->head = at;
    to->data = (const unsigned char *)at + page;
    reader->ring_count++;
    return true;
}

static void close_rings(struct sampling_reader *reader)
{
    for (size_t i = 0; i < reader->ring_count; i++) {
        munmap(reader->rings[i].head, (size_t)sysconf(_SC_PAGESIZE) + reader->ring_bytes);
        close(reader->rings[i].file);
    }
    free(reader->rings);
    free(reader);
}

void sampling_begin(sampling *to, pid_t child)
{
    struct sampling_reader *reader = memory_take(1, sizeof *reader);
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    int why = 0;
    *to = (sampling){.reader = reader};
    reader->to = to;
    reader->ring_bytes = RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
    reader->rings = memory_take((size_t)processors, sizeof *reader->rings);
    for (long i = 0; i < processors; i++)
        if (!open_ring(reader, child, (int)i) && errno != ENODEV) // a processor that is switched off
            why = errno;
    if (why == 0 && reader->ring_count > 0)
        why = pthread_create(&reader->thread, NULL, empty_rings, reader);
    if (why != 0 || reader->ring_count == 0) {
        bool is_refused = why == EACCES || why == EPERM;
        snprintf(to->why_not, sizeof to->why_not, "the system allows no perf events: %s%s", strerror(why),
                 is_refused ? "; 2 or less in /proc/sys/kernel/perf_event_paranoid allows them" : "");
        close_rings(reader);
        to->reader = NULL;
    }
}

static int map_by_time(const void *a, const void *b)
{
    const sampling_map *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int sample_by_time(const void *a, const void *b)
{
    const sampling_sample *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

void sampling_end(sampling *to)
{
    if (to->reader == NULL)
        return;
    __atomic_store_n(&to->reader->is_over, true, __ATOMIC_RELEASE);
    pthread_join(to->reader->thread, NULL);
    close_rings(to->reader);
    to->reader = NULL;
    if (to->map_count > 0)
        qsort(to->maps, to->map_count, sizeof *to->maps, map_by_time);
    if (to->sample_count > 0)
        qsort(to->samples, to->sample_count, sizeof *to->samples, sample_by_time);
}

void sampling_free(sampling *of)
{
    for (size_t i = 0; i < of->map_count; i++)
        free(of->maps[i].path);
    free(of->maps);
    free(of->samples);
}
