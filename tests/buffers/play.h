// SPDX-License-Identifier: Apache-2.0
// Plays a program against the library and the reference, step by step. The first difference ends it.
#ifndef TESTS_BUFFERS_PLAY_H
#define TESTS_BUFFERS_PLAY_H

#include "tests/buffers/program.h"
#include "tests/buffers/reference.h"

#include <slipring/slipring.h>

#include <stdio.h>

enum { HANDLES = 8, STREAMS = 3, READS = 64, WHY_BYTES = 400 };
#define LONG 60000000000ull

struct pending_read { // that a stream has been asked for
    unsigned char got[MOST_BYTES], want[MOST_BYTES];
    uint64_t bytes;
};

struct play {
    slr_device *device;
    slr_stream *stream[STREAMS];
    slr_kernel *mix;
    slr_pool *pool;
    struct ref_handle handle[HANDLES];
    slr_buffer *buffer[HANDLES];
    struct pending_read read[READS];
    unsigned char written[STEPS + 1][MOST_BYTES]; // what streams read from: one of each step
    uint32_t reads, at, released, imports;
    uint64_t acquired;
    bool two_places;
    char why[WHY_BYTES]; // empty: nothing differs yet
};

static inline bool differs(struct play *p, const char *what, long long got, long long want)
{
    if (got == want)
        return false;
    if (!*p->why)
        snprintf(p->why, sizeof p->why, "step %u: %s: %lld, not %lld", p->at, what, got, want);
    return true;
}

static inline void is_status(struct play *p, slr_status got, slr_status want)
{
    if (got != want && !*p->why)
        snprintf(p->why, sizeof p->why, "step %u: %s, not %s: %.200s", p->at, slr_status_name(got),
                 slr_status_name(want), got == SLR_OK ? "" : slr_error_message());
}

static inline void same_bytes(struct play *p, const char *what, const unsigned char *got, const unsigned char *want,
                              uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes && !*p->why; ++i)
        if (got[i] != want[i])
            snprintf(p->why, sizeof p->why, "step %u: %s: byte %llu of %llu is %u, not %u", p->at, what,
                     (unsigned long long)i, (unsigned long long)bytes, got[i], want[i]);
}

static inline slr_status or_refused(bool refused)
{
    return refused ? SLR_WRONG_STATE : SLR_OK;
}

// ---- choosing ------------------------------------------------------------------------------------------------------

// A handle that there is, or that is free: its index; HANDLES: none.
static inline uint32_t pick(const struct play *p, uint32_t number, bool free)
{
    for (uint32_t i = 0; i < HANDLES; ++i) {
        uint32_t at = (number + i) % HANDLES;
        if ((p->handle[at].root == NULL) == free)
            return at;
    }
    return HANDLES;
}

struct range {
    uint32_t handle; // HANDLES: none
    uint64_t offset, bytes;
};

static inline struct range pick_range(const struct play *p, const uint32_t *n, uint32_t multiple)
{
    struct range r = {pick(p, n[0], false), 0, 0};
    if (r.handle == HANDLES)
        return r;
    uint64_t all = p->handle[r.handle].bytes;
    r.offset = n[1] % all;
    r.bytes = n[2] % 8 == 0 ? all - r.offset : n[2] % (all - r.offset + 1);
    r.bytes -= r.bytes % multiple;
    return r;
}

// Something to write, as long as it may take to be read.
static inline unsigned char *contents(struct play *p, uint32_t number)
{
    unsigned char *bytes = p->written[p->at];
    for (uint32_t i = 0; i < MOST_BYTES; ++i)
        bytes[i] = (unsigned char)(number + i * 7 + i / 64);
    return bytes;
}

// ---- buffers come and go -------------------------------------------------------------------------------------------

static inline void count_release(void *user)
{
    free(((void **)user)[1]);
    ++*(uint32_t *)((void **)user)[0];
    free(user);
}

static inline void import_memory(struct play *p, slr_buffer_desc *desc)
{
    void **user = malloc(2 * sizeof *user);
    desc->import = aligned_alloc(64, MOST_BYTES);
    memcpy(desc->import, contents(p, 5), MOST_BYTES);
    user[0] = &p->released;
    user[1] = desc->import;
    desc->user = user;
    desc->release = count_release;
}

static inline void create(struct play *p, const struct step *step)
{
    uint32_t at = pick(p, step->n[0], true);
    if (at == HANDLES)
        return;
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    struct ref_root *root = calloc(1, sizeof *root);
    desc.bytes = root->bytes = step->n[1] % MOST_BYTES + 1;
    root->is_explicit = step->n[2] % 3 == 0;
    root->two_places = p->two_places;
    desc.mode = root->is_explicit ? SLR_BUFFER_EXPLICIT : SLR_BUFFER_AUTOMATIC;
    root->imported = step->n[3] % 6 == 0;
    desc.pinned = step->n[3] % 6 == 1;
    if (root->imported) {
        import_memory(p, &desc);
        memcpy(root->now, desc.import, MOST_BYTES);
        memcpy(root->host, desc.import, MOST_BYTES);
        if (ref_is_users(root))
            memset(root->now, 0, MOST_BYTES); // the device's are zeros until the first sync
        ++p->imports;
    }
    is_status(p, slr_buffer_create_with(p->device, &desc, &p->buffer[at]), SLR_OK);
    root->holds = 1;
    p->handle[at] = (struct ref_handle){root, 0, root->bytes};
}

static inline void slice(struct play *p, const struct step *step)
{
    uint32_t of = pick(p, step->n[0], false), at = pick(p, step->n[1], true);
    if (of == HANDLES || at == HANDLES)
        return;
    struct ref_handle *whole = &p->handle[of];
    uint64_t offset = 64 * (step->n[2] % ((whole->bytes + 63) / 64)), bytes = step->n[3] % (whole->bytes - offset) + 1;
    is_status(p, slr_buffer_slice(p->buffer[of], offset, bytes, &p->buffer[at]), SLR_OK);
    p->handle[at] = (struct ref_handle){whole->root, whole->offset + offset, bytes};
    ++whole->root->holds;
}

// It holds what its last user left: whatever that is, from here on it is this user's alone.
static inline void acquire(struct play *p, const struct step *step)
{
    uint32_t at = pick(p, step->n[0], true);
    if (at == HANDLES)
        return;
    struct ref_root *root = calloc(1, sizeof *root);
    root->bytes = step->n[1] % MOST_BYTES + 1;
    root->two_places = p->two_places;
    root->of_pool = true;
    root->holds = 1;
    is_status(p, slr_pool_acquire(p->pool, root->bytes, SLR_U8, &p->buffer[at]), SLR_OK);
    is_status(p, slr_buffer_read(p->buffer[at], 0, root->now, root->bytes), SLR_OK);
    p->handle[at] = (struct ref_handle){root, 0, root->bytes};
    ++p->acquired;
}

static inline void destroy(struct play *p, uint32_t at)
{
    if (at == HANDLES || ref_is_mapped(p->handle[at].root))
        return;
    slr_buffer_destroy(p->buffer[at]);
    ref_let_go(&p->handle[at]);
}

// ---- the host ------------------------------------------------------------------------------------------------------

static inline void host_copy(struct play *p, const struct step *step, bool in)
{
    struct range r = pick_range(p, step->n, 1);
    if (r.handle == HANDLES)
        return;
    const struct ref_handle *handle = &p->handle[r.handle];
    bool refused = ref_refused(handle, r.offset, r.bytes, in);
    unsigned char got[MOST_BYTES], *from = contents(p, step->n[3]);
    if (in) {
        is_status(p, slr_buffer_write(p->buffer[r.handle], r.offset, from, r.bytes), or_refused(refused));
        if (!refused)
            memcpy(ref_at(handle, r.offset), from, r.bytes);
        return;
    }
    is_status(p, slr_buffer_read(p->buffer[r.handle], r.offset, got, r.bytes), or_refused(refused));
    if (!refused)
        same_bytes(p, "read by the host", got, ref_at(handle, r.offset), r.bytes);
}

static inline void map(struct play *p, const struct step *step)
{
    static const uint32_t accesses[] = {SLR_MAP_READ, SLR_MAP_WRITE, SLR_MAP_READ | SLR_MAP_WRITE, SLR_MAP_DISCARD};
    struct range r = pick_range(p, step->n, 1);
    if (r.handle == HANDLES || r.bytes == 0)
        return;
    struct ref_handle *handle = &p->handle[r.handle];
    struct ref_mapping *m = ref_free_mapping(handle->root);
    if (!m)
        return;
    uint32_t access = accesses[step->n[3] % 4];
    bool writes = access != SLR_MAP_READ, refused = ref_refused(handle, r.offset, r.bytes, writes);
    unsigned char *want = ref_mapped_at(handle, r.offset), *from = contents(p, step->n[4]);
    void *at;
    slr_status status = slr_buffer_map(p->buffer[r.handle], r.offset, r.bytes, access, LONG, &at);
    is_status(p, status, or_refused(refused));
    if (status != SLR_OK || refused)
        return;
    if (access != SLR_MAP_DISCARD)
        same_bytes(p, "mapped", at, want, r.bytes);
    uint64_t first = access == SLR_MAP_DISCARD ? 0 : step->n[5] % r.bytes;
    if (writes) {
        memcpy((unsigned char *)at + first, from, r.bytes - first);
        memcpy(want + first, from, r.bytes - first);
    }
    *m = (struct ref_mapping){handle->offset + r.offset, handle->offset + r.offset + r.bytes, writes, at};
}

static inline void unmap(struct play *p, const struct step *step)
{
    for (uint32_t i = 0; i < HANDLES; ++i) {
        uint32_t at = (step->n[0] + i) % HANDLES;
        struct ref_root *root = p->handle[at].root;
        for (uint32_t k = 0; root && k < MAPPINGS; ++k) {
            unsigned char *mapped = root->mapping[(step->n[1] + k) % MAPPINGS].at;
            if (!mapped)
                continue;
            is_status(p, slr_buffer_unmap(p->buffer[at], mapped), SLR_OK);
            ref_unmap(root, mapped);
            return;
        }
    }
}

static inline void sync_range(struct play *p, const struct step *step)
{
    struct range r = pick_range(p, step->n, 1);
    if (r.handle == HANDLES)
        return;
    const struct ref_handle *handle = &p->handle[r.handle];
    struct ref_root *root = handle->root;
    uint64_t begin = handle->offset + r.offset;
    bool to_host = step->n[3] % 2;
    is_status(p, slr_buffer_sync(p->buffer[r.handle], r.offset, r.bytes, to_host ? SLR_AT_HOST : SLR_AT_DEVICE, LONG),
              or_refused(!root->is_explicit));
    if (!ref_is_users(root))
        return;
    if (to_host)
        memcpy(root->host + begin, root->now + begin, r.bytes);
    else
        memcpy(root->now + begin, root->host + begin, r.bytes);
}

// ---- streams -------------------------------------------------------------------------------------------------------

static inline slr_stream *stream_of(const struct play *p, uint32_t number)
{
    return p->stream[number % STREAMS];
}

static inline void finish(struct play *p)
{
    is_status(p, slr_device_finish(p->device, LONG), SLR_OK);
    for (uint32_t i = 0; i < p->reads; ++i)
        same_bytes(p, "read by a stream", p->read[i].got, p->read[i].want, p->read[i].bytes);
    p->reads = 0;
}

static inline void stream_write(struct play *p, const struct step *step)
{
    struct range r = pick_range(p, step->n, 1);
    if (r.handle == HANDLES)
        return;
    const struct ref_handle *handle = &p->handle[r.handle];
    bool refused = ref_refused(handle, r.offset, r.bytes, true);
    unsigned char *from = contents(p, step->n[3]);
    is_status(p, slr_stream_write(stream_of(p, step->n[4]), p->buffer[r.handle], r.offset, from, r.bytes, NULL),
              or_refused(refused));
    if (!refused)
        memcpy(ref_at(handle, r.offset), from, r.bytes);
}

static inline void stream_read(struct play *p, const struct step *step)
{
    struct range r = pick_range(p, step->n, 1);
    if (r.handle == HANDLES)
        return;
    if (p->reads == READS)
        finish(p);
    const struct ref_handle *handle = &p->handle[r.handle];
    struct pending_read *read = &p->read[p->reads];
    bool refused = ref_refused(handle, r.offset, r.bytes, false);
    is_status(p, slr_stream_read(stream_of(p, step->n[4]), p->buffer[r.handle], r.offset, read->got, r.bytes, NULL),
              or_refused(refused));
    if (refused)
        return;
    memcpy(read->want, ref_at(handle, r.offset), r.bytes);
    read->bytes = r.bytes;
    ++p->reads;
}

static inline void fill_reference(unsigned char *to, uint64_t bytes, const unsigned char *pattern, uint32_t length)
{
    for (uint64_t i = 0; i < bytes; ++i)
        to[i] = pattern[i % length];
}

static inline void stream_fill(struct play *p, const struct step *step)
{
    uint32_t length = 1u << step->n[5] % 5;
    struct range r = pick_range(p, step->n, length);
    if (r.handle == HANDLES)
        return;
    const struct ref_handle *handle = &p->handle[r.handle];
    bool refused = ref_refused(handle, r.offset, r.bytes, true);
    const unsigned char *pattern = contents(p, step->n[3]);
    is_status(p,
              slr_stream_fill(stream_of(p, step->n[4]), p->buffer[r.handle], r.offset, r.bytes, pattern, length, NULL),
              or_refused(refused));
    if (!refused)
        fill_reference(ref_at(handle, r.offset), r.bytes, pattern, length);
}

static inline void stream_copy(struct play *p, const struct step *step)
{
    struct range to = pick_range(p, step->n, 1), from = pick_range(p, step->n + 3, 1);
    if (to.handle == HANDLES)
        return;
    const struct ref_handle *target = &p->handle[to.handle], *source = &p->handle[from.handle];
    uint64_t bytes = to.bytes < from.bytes ? to.bytes : from.bytes;
    bool refused = ref_refused(target, to.offset, bytes, true) || ref_refused(source, from.offset, bytes, false);
    is_status(p,
              slr_stream_copy(stream_of(p, step->n[6]), p->buffer[to.handle], to.offset, p->buffer[from.handle],
                              from.offset, bytes, NULL),
              or_refused(refused));
    if (!refused)
        memmove(ref_at(target, to.offset), ref_at(source, from.offset), bytes);
}

// To the host it counts as writing where something has to be moved, which the reference does not know.
static inline void prefetch(struct play *p, const struct step *step)
{
    struct range r = pick_range(p, step->n, 1);
    if (r.handle == HANDLES)
        return;
    const struct ref_handle *handle = &p->handle[r.handle];
    bool to_host = step->n[3] % 2;
    slr_status status = slr_stream_prefetch(stream_of(p, step->n[4]), p->buffer[r.handle], r.offset, r.bytes,
                                            to_host ? SLR_AT_HOST : SLR_AT_DEVICE, NULL);
    bool refused = handle->root->is_explicit || ref_refused(handle, r.offset, r.bytes, false);
    if (!refused && to_host && ref_refused(handle, r.offset, r.bytes, true))
        refused = status == SLR_WRONG_STATE;
    is_status(p, status, or_refused(refused));
}

static inline int shorter(const struct ref_handle *a, const struct ref_handle *b)
{
    uint64_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes;
    return bytes < 48 ? (int)bytes : 48; // it is interpreted
}

static inline void launch(struct play *p, const struct step *step)
{
    uint32_t from = pick(p, step->n[0], false), to = pick(p, step->n[1], false);
    if (from == HANDLES)
        return;
    const struct ref_handle *source = &p->handle[from], *target = &p->handle[to];
    bool refused = ref_refused(source, 0, source->bytes, false) || ref_refused(target, 0, target->bytes, true);
    int n = shorter(source, target);
    is_status(p, SLR_LAUNCH(stream_of(p, step->n[2]), p->mix, SLR_GRID(1, 1, 0), p->buffer[from], p->buffer[to], n),
              or_refused(refused));
    if (!refused)
        ref_mix(ref_at(source, 0), ref_at(target, 0), n);
}

// ---- graphs --------------------------------------------------------------------------------------------------------

// A fill of all of `a`, a kernel from `a` to `b`, a copy from `b` to `a`; launched as recorded, then with another
// buffer for `a`, or with both in each other's place.
static inline bool graph_refused(const struct ref_handle *a, const struct ref_handle *b, uint64_t filled,
                                 uint64_t copied)
{
    return ref_refused(a, 0, filled, true) || ref_refused(a, 0, copied, true) || ref_refused(b, 0, b->bytes, true);
}

static inline void graph_reference(const struct ref_handle *a, const struct ref_handle *b, uint64_t filled, int mixed,
                                   uint64_t copied, unsigned char value)
{
    memset(ref_at(a, 0), value, filled);
    ref_mix(ref_at(a, 0), ref_at(b, 0), mixed);
    memmove(ref_at(a, 0), ref_at(b, 0), copied);
}

static inline void graph(struct play *p, const struct step *step)
{
    uint32_t at[3] = {pick(p, step->n[0], false), pick(p, step->n[1], false), pick(p, step->n[2], false)};
    if (at[0] == HANDLES)
        return;
    const struct ref_handle *a = &p->handle[at[0]], *b = &p->handle[at[1]], *c = &p->handle[at[2]];
    slr_buffer *x = p->buffer[at[0]], *y = p->buffer[at[1]], *z = p->buffer[at[2]];
    int mixed = shorter(a, b);
    uint64_t filled = a->bytes, copied = a->bytes < b->bytes ? a->bytes : b->bytes;
    unsigned char value = (unsigned char)step->n[3];
    slr_stream *stream = stream_of(p, step->n[4]);
    slr_graph *made;
    is_status(p, slr_graph_create(p->device, &made), SLR_OK);
    is_status(p, slr_graph_begin(made, stream), SLR_OK);
    is_status(p, slr_stream_fill(stream, x, 0, filled, &value, 1, NULL), SLR_OK);
    is_status(p, SLR_LAUNCH(stream, p->mix, SLR_GRID(1, 1, 0), x, y, mixed), SLR_OK);
    is_status(p, slr_stream_copy(stream, x, 0, y, 0, copied, NULL), SLR_OK);
    is_status(p, slr_graph_end(made), SLR_OK);
    bool refused = graph_refused(a, b, filled, copied);
    is_status(p, slr_graph_launch(made, stream, NULL, 0, NULL), or_refused(refused));
    if (!refused)
        graph_reference(a, b, filled, mixed, copied, value);
    slr_rebinding swapped[] = {{x, y}, {y, x}}, other = {x, z};
    slr_status status;
    stream = stream_of(p, step->n[5]);
    if (step->n[6] % 2 && x != y && a->bytes == b->bytes) {
        status = slr_graph_launch(made, stream, swapped, 2, NULL);
        refused = graph_refused(b, a, filled, copied);
        is_status(p, status, or_refused(refused));
        if (!refused)
            graph_reference(b, a, filled, mixed, copied, value);
    } else if (x != y) {
        bool fits = c->bytes >= a->bytes;
        status = slr_graph_launch(made, stream, &other, 1, NULL);
        refused = graph_refused(c, b, filled, copied);
        is_status(p, status, fits ? or_refused(refused) : SLR_INVALID);
        if (fits && !refused)
            graph_reference(c, b, filled, mixed, copied, value);
    }
    slr_graph_destroy(made); // in flight
}

// ---- the rest ------------------------------------------------------------------------------------------------------

static inline void wait_for(struct play *p, const struct step *step)
{
    slr_point point;
    is_status(p, slr_stream_signal(stream_of(p, step->n[0]), &point), SLR_OK);
    if (step->n[2] % 4 == 0)
        is_status(p, slr_point_wait(point, LONG), SLR_OK);
    else
        is_status(p, slr_stream_wait(stream_of(p, step->n[1]), point), SLR_OK);
}

static inline void renew_stream(struct play *p, const struct step *step)
{
    slr_stream **at = &p->stream[step->n[0] % STREAMS];
    slr_stream_destroy(*at); // busy, maybe
    is_status(p, slr_stream_create(p->device, NULL, at), SLR_OK);
}

// With nothing in flight each buffer is used or waits.
static inline void check_pool(struct play *p)
{
    slr_pool_stats stats;
    const struct ref_root *seen[HANDLES];
    long long live = 0, roots = 0;
    finish(p);
    is_status(p, slr_pool_get_stats(p->pool, &stats), SLR_OK);
    for (uint32_t i = 0; i < HANDLES; ++i) {
        const struct ref_root *root = p->handle[i].root;
        bool known = !root;
        for (long long k = 0; k < roots; ++k)
            known = known || seen[k] == root;
        if (known)
            continue;
        seen[roots++] = root;
        live += root->of_pool;
    }
    differs(p, "buffers of the pool in use", (long long)stats.live, live);
    differs(p, "hits and misses", (long long)(stats.hits + stats.misses), (long long)p->acquired);
}

static inline void trim(struct play *p, const struct step *step)
{
    check_pool(p);
    slr_pool_trim(p->pool, step->n[0] % 4096);
}

static inline void play_step(struct play *p, const struct step *step)
{
    switch (step->kind) {
    case CREATE:
        create(p, step);
        break;
    case SLICE:
        slice(p, step);
        break;
    case ACQUIRE:
        acquire(p, step);
        break;
    case DESTROY:
        destroy(p, pick(p, step->n[0], false));
        break;
    case HOST_WRITE:
    case HOST_READ:
        host_copy(p, step, step->kind == HOST_WRITE);
        break;
    case MAP:
        map(p, step);
        break;
    case UNMAP:
        unmap(p, step);
        break;
    case SYNC:
        sync_range(p, step);
        break;
    case WRITE:
        stream_write(p, step);
        break;
    case READ:
        stream_read(p, step);
        break;
    case COPY:
        stream_copy(p, step);
        break;
    case FILL:
        stream_fill(p, step);
        break;
    case PREFETCH:
        prefetch(p, step);
        break;
    case LAUNCH:
        launch(p, step);
        break;
    case GRAPH:
        graph(p, step);
        break;
    case WAIT:
        wait_for(p, step);
        break;
    case RENEW_STREAM:
        renew_stream(p, step);
        break;
    case FINISH:
        finish(p);
        break;
    case TRIM:
        trim(p, step);
        break;
    case KINDS:
        break;
    }
}

// ---- a whole program -----------------------------------------------------------------------------------------------

static inline void begin(struct play *p, const char *spec)
{
    static const char source[] = "__global__ void mix(const unsigned char *from, unsigned char *to, int n)\n"
                                 "{ for (int i = 0; i < n; i++) to[i] = 3 * to[i] + from[i]; }\n";
    slr_program *program = NULL;
    slr_device_info info;
    is_status(p, slr_device_open(spec, NULL, &p->device), SLR_OK);
    is_status(p, slr_device_get_info(p->device, &info), SLR_OK);
    p->two_places = !info.unified_memory;
    is_status(p, slr_program_from_text(p->device, "mix.cu", source, NULL, &program), SLR_OK);
    is_status(p, slr_program_get_kernel(program, NULL, &p->mix), SLR_OK);
    slr_program_destroy(program);
    is_status(p, slr_device_get_pool(p->device, &p->pool), SLR_OK);
    for (int i = 0; i < STREAMS; ++i)
        is_status(p, slr_stream_create(p->device, NULL, &p->stream[i]), SLR_OK);
}

static inline void look_at_all(struct play *p)
{
    unsigned char got[MOST_BYTES];
    for (uint32_t i = 0; i < HANDLES && !*p->why; ++i) {
        if (!p->handle[i].root)
            continue;
        is_status(p, slr_buffer_read(p->buffer[i], 0, got, p->handle[i].bytes), SLR_OK);
        same_bytes(p, "at the end", got, ref_at(&p->handle[i], 0), p->handle[i].bytes);
    }
}

// Of a program that has failed nothing is freed: its process ends.
static inline void end(struct play *p)
{
    const struct step first = {.kind = UNMAP};
    for (int i = 0; i < HANDLES * MAPPINGS; ++i)
        unmap(p, &first);
    check_pool(p);
    look_at_all(p);
    for (uint32_t i = 0; i < HANDLES && !*p->why; ++i)
        if (p->handle[i].root)
            destroy(p, i);
    finish(p);
    slr_heap *heap;
    slr_heap_stats stats;
    slr_pool_trim(p->pool, 0);
    is_status(p, slr_device_get_heap(p->device, &heap), SLR_OK);
    is_status(p, slr_heap_get_stats(heap, &stats), SLR_OK);
    differs(p, "bytes left in the heap", (long long)stats.live_bytes, 0);
    differs(p, "releases of imported memory", p->released, p->imports);
    if (*p->why)
        return;
    for (int i = 0; i < STREAMS; ++i)
        slr_stream_destroy(p->stream[i]);
    slr_kernel_destroy(p->mix);
    slr_device_close(p->device);
}

static inline void play(struct play *p, const char *spec, const struct step *step, uint32_t steps)
{
    memset(p, 0, sizeof *p);
    begin(p, spec);
    for (; p->at < steps && !*p->why; ++p->at)
        play_step(p, &step[p->at]);
    if (!*p->why)
        end(p);
}

#endif
