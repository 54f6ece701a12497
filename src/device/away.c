// SPDX-License-Identifier: Apache-2.0
// Copies of buffers on other devices: made, brought up to date, dropped.
#include "device/away.h"

#include "base/alloc.h"
#include "base/status.h"
#include "device/kernel.h"

#include <string.h>

static bool overlaps(struct slri_range a, struct slri_range b)
{
    return a.begin < b.end && b.begin < a.end;
}

static struct slri_range within(struct slri_range range, const struct slri_away *away)
{
    uint64_t begin = range.begin > away->range.begin ? range.begin : away->range.begin;
    uint64_t end = range.end < away->range.end ? range.end : away->range.end;
    return (struct slri_range){begin - away->range.begin, end - away->range.begin};
}

// ---- their life ----------------------------------------------------------------------------------------------------

// Under the lock: what changes the record can not fail then. No memory for it: the whole copy counts as old.
static void note_away(struct slri_away *away, struct slri_range range, uint32_t place, bool moved)
{
    if (slri_validity_reserve(&away->valid, NULL, 1) != SLR_OK)
        slri_validity_all(&away->valid, SLRI_AT_HOST);
    else if (moved)
        slri_validity_moved(&away->valid, range, place);
    else
        slri_validity_written(&away->valid, range, place);
}

void slri_away_written(slr_buffer *root, struct slri_range range)
{
    ++root->writes;
    for (struct slri_away *away = root->away; away; away = away->next)
        if (overlaps(range, away->range))
            note_away(away, within(range, away), SLRI_AT_HOST, false);
}

// Under the lock.
static void unlink_away(struct slri_away *away)
{
    struct slri_away **at = &away->root->away;
    while (*at != away)
        at = &(*at)->next;
    *at = away->next;
    slri_unlink(&away->of_device);
}

static void free_away(struct slri_away *away)
{
    slr_buffer_destroy(away->copy);
    slri_validity_free(&away->valid, NULL);
    slri_free(NULL, away, sizeof *away);
}

static void free_all(struct slri_away *away)
{
    while (away) {
        struct slri_away *next = away->next;
        free_away(away);
        away = next;
    }
}

void slri_away_drop_of(slr_buffer *root)
{
    slri_queues_lock();
    struct slri_away *all = root->away;
    for (struct slri_away *away = all; away; away = away->next)
        slri_unlink(&away->of_device);
    root->away = NULL;
    slri_queues_unlock();
    free_all(all);
}

// Those of a device for which `all` or nothing but the record holds the copy.
static bool drop_on(slr_device *device, bool all)
{
    struct slri_away *gone = NULL;
    slri_queues_lock();
    for (struct slri_link *link = slri_links_first(&device->aways), *next; link; link = next) {
        struct slri_away *away = SLRI_LINKED(struct slri_away, of_device, link);
        next = slri_links_next(&device->aways, link);
        if (!all && __atomic_load_n(&away->copy->holds, __ATOMIC_ACQUIRE) != 1)
            continue;
        unlink_away(away);
        away->next = gone;
        gone = away;
    }
    slri_queues_unlock();
    free_all(gone);
    return gone != NULL;
}

void slri_away_drop_on(slr_device *device)
{
    drop_on(device, true);
}

// Where the device has no room, copies that nothing uses make some.
static slr_status make_copy(slr_device *device, uint64_t bytes, slr_buffer **out)
{
    slr_status status = slr_buffer_create(device, bytes, out);
    if (status == SLR_NO_MEMORY && drop_on(device, false))
        status = slr_buffer_create(device, bytes, out);
    return status;
}

static slr_status make_away(slr_device *device, slr_buffer *root, struct slri_range range, struct slri_away **out)
{
    struct slri_away *away = slri_alloc(NULL, sizeof *away);
    if (!away)
        return SLRI_FAIL(NO_MEMORY, "no memory for the record of a buffer on another device");
    *away = (struct slri_away){.root = root, .range = range, .valid = {.bytes = range.end - range.begin}};
    slr_status status = slri_validity_reserve(&away->valid, NULL, 1);
    if (status == SLR_OK)
        status = make_copy(device, range.end - range.begin, &away->copy);
    if (status != SLR_OK) {
        slri_validity_free(&away->valid, NULL);
        slri_free(NULL, away, sizeof *away);
        return status;
    }
    slri_validity_all(&away->valid, SLRI_AT_HOST);
    *out = away;
    return SLR_OK;
}

// Under the lock: one that has the whole range.
static struct slri_away *find_away(const slr_device *device, const slr_buffer *root, struct slri_range range)
{
    struct slri_away *away = root->away;
    while (away && (away->copy->device != device || range.begin < away->range.begin || range.end > away->range.end ||
                    !slri_is_aligned_for(device, range.begin - away->range.begin)))
        away = away->next;
    return away;
}

// Under the lock: takes out those of the device that the new one replaces.
static struct slri_away *take_replaced(const struct slri_away *by)
{
    struct slri_away *gone = NULL;
    for (struct slri_away *away = by->root->away, *next; away; away = next) {
        next = away->next;
        if (away->copy->device != by->copy->device || !overlaps(away->range, by->range))
            continue;
        unlink_away(away);
        away->next = gone;
        gone = away;
    }
    return gone;
}

// ---- bringing ------------------------------------------------------------------------------------------------------

// A use of a far buffer in a launch. The record of its copy may be dropped at any time but under the lock.
struct far_use {
    slr_buffer *root, *copy, *part; // the last two held
    const struct slri_away *away;
    struct slri_range range; // of the root
    uint64_t offset;         // where that begins in the copy
    bool writes;
};

// Under the lock: the record, where it is still there.
static struct slri_away *record_of(const struct far_use *use)
{
    struct slri_away *away = use->root->away;
    while (away && (away != use->away || away->copy != use->copy))
        away = away->next;
    return away;
}

// Under the lock.
static void use_it(struct far_use *use, const struct slri_away *away)
{
    slri_buffer_hold(use->copy = away->copy);
    use->away = away;
    use->offset = use->range.begin - away->range.begin;
}

static slr_status take_away(slr_device *device, struct far_use *use)
{
    slri_queues_lock();
    struct slri_away *away = find_away(device, use->root, use->range), *gone = NULL;
    if (away)
        use_it(use, away);
    slri_queues_unlock();
    if (away)
        return SLR_OK;
    SLRI_TRY(make_away(device, use->root, use->range, &away));
    slri_queues_lock();
    gone = take_replaced(away);
    away->next = use->root->away;
    use->root->away = away;
    slri_link_last(&device->aways, &away->of_device);
    use_it(use, away);
    slri_queues_unlock();
    free_all(gone);
    return SLR_OK;
}

// Takes the next run that is old here, and notes it as brought: what is written at home from now on makes it old again.
static bool take_old(const struct far_use *use, struct slri_range *rest, struct slri_range *run)
{
    bool found = rest->begin < rest->end;
    slri_queues_lock();
    struct slri_away *away = record_of(use);
    *run = *rest; // where the record is gone, or a ring kernel may write the buffer at any time
    if (found && away && use->root->bound == 0) {
        found = slri_validity_missing(&away->valid, within(*rest, away), SLRI_AT_DEVICE, run);
        if (found) {
            note_away(away, *run, SLRI_AT_DEVICE, true);
            run->begin += away->range.begin;
            run->end += away->range.begin;
        }
    }
    slri_queues_unlock();
    rest->begin = found ? run->end : rest->end;
    return found;
}

static void note_use(const struct far_use *use, struct slri_range range, uint32_t place, bool moved)
{
    struct slri_away *away = record_of(use);
    if (away)
        note_away(away, within(range, away), place, moved);
}

static void forget_run(const struct far_use *use, struct slri_range run)
{
    slri_queues_lock();
    note_use(use, run, SLRI_AT_HOST, false);
    slri_queues_unlock();
}

static uint64_t writes_of(const slr_buffer *root)
{
    slri_queues_lock();
    uint64_t writes = root->writes;
    slri_queues_unlock();
    return writes;
}

static uint64_t at_copy(const struct far_use *use, uint64_t at)
{
    return at - use->range.begin + use->offset;
}

static slr_status bring(slr_stream *stream, const struct far_use *use)
{
    struct slri_range rest = use->range, run;
    while (take_old(use, &rest, &run)) {
        struct slri_peer_copy copy = {.to = use->copy,
                                      .from = use->root,
                                      .to_offset = at_copy(use, run.begin),
                                      .from_offset = run.begin,
                                      .bytes = run.end - run.begin,
                                      .way = SLR_PEER_ANY,
                                      .is_move = true};
        slr_status status = slri_peer_copy(stream, &copy, NULL);
        if (status == SLR_OK)
            continue;
        forget_run(use, run);
        return status;
    }
    return SLR_OK;
}

// A device that may be lost brings all bytes to the host before the first goes home: what a launch has written arrives
// whole, or not at all.
static slr_status bring_home(slr_stream *stream, const struct far_use *use)
{
    bool may_be_lost = stream->device->facts.loss != NULL && stream->device != use->root->device;
    struct slri_peer_copy copy = {.to = use->root,
                                  .from = use->copy,
                                  .to_offset = use->range.begin,
                                  .from_offset = at_copy(use, use->range.begin),
                                  .bytes = use->range.end - use->range.begin,
                                  .way = may_be_lost ? SLR_PEER_STAGED : SLR_PEER_ANY,
                                  .chunk_bytes = may_be_lost ? use->range.end - use->range.begin : 0,
                                  .is_move = true};
    uint64_t before = writes_of(use->root);
    slr_status status = slri_peer_copy(stream, &copy, NULL);
    if (status != SLR_OK) {
        forget_run(use, use->range); // it has what home will never get
        return status;
    }
    slri_queues_lock();
    if (use->root->writes == before + copy.pieces) // nobody else has written there meanwhile
        note_use(use, use->range, SLRI_AT_DEVICE, true);
    slri_queues_unlock();
    return SLR_OK;
}

// ---- the launch ----------------------------------------------------------------------------------------------------

static bool is_far(const slr_kernel *kernel, const slr_arg *arg)
{
    return arg->kind == SLR_ARG_BUFFER && arg->value.buffer &&
           !slri_buffer_is_near(arg->value.buffer, kernel->program->device);
}

bool slri_away_has_far(const slr_kernel *kernel, const slr_arg *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (is_far(kernel, &args[i]))
            return true;
    return false;
}

static slr_status check_far(const slr_kernel *kernel, const struct far_use *use, uint32_t uses)
{
    const struct far_use *last = &use[uses - 1];
    if (last->root->mode == SLR_BUFFER_EXPLICIT)
        return SLRI_FAIL(INVALID,
                         "kernel %s: a buffer belongs to another device than the program, and is explicit: copy "
                         "it by slr_peer_copy",
                         kernel->info.name);
    for (uint32_t i = 0; i + 1 < uses; ++i) {
        bool same = use[i].range.begin == last->range.begin && use[i].range.end == last->range.end;
        if (use[i].root == last->root && !same && overlaps(use[i].range, last->range) &&
            (use[i].writes || last->writes))
            return SLRI_FAIL(INVALID,
                             "kernel %s writes a part of a buffer of another device, and uses an overlapping "
                             "part as well: pass the same part to both",
                             kernel->info.name);
    }
    return SLR_OK;
}

static slr_status take_use(slr_stream *stream, const slr_buffer *buffer, struct far_use *use)
{
    SLRI_TRY(take_away(stream->device, use));
    SLRI_TRY(slri_buffer_part(use->copy, use->offset, buffer->bytes, &use->part));
    use->part->dtype = buffer->dtype; // what the parameter is checked against
    return bring(stream, use);
}

// The same bytes, used before in this launch.
static struct far_use *find_same(struct far_use *use, uint32_t uses)
{
    const struct far_use *last = &use[uses];
    for (uint32_t i = 0; i < uses; ++i)
        if (use[i].root == last->root && use[i].range.begin == last->range.begin && use[i].range.end == last->range.end)
            return &use[i];
    return NULL;
}

static slr_status launch_near(slr_stream *stream, slr_kernel *kernel, const slr_shape *shape, slr_arg *args,
                              uint32_t count, struct far_use *use, uint32_t *uses)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (!is_far(kernel, &args[i]))
            continue;
        const slr_buffer *buffer = args[i].value.buffer;
        struct far_use *mine = &use[*uses];
        *mine = (struct far_use){.root = slri_buffer_root(args[i].value.buffer),
                                 .range = {buffer->offset, buffer->offset + buffer->bytes},
                                 .writes = !kernel->info.parameters[i].is_const};
        struct far_use *same = find_same(use, *uses);
        if (same)
            same->writes |= mine->writes;
        SLRI_TRY(check_far(kernel, use, *uses + 1));
        if (!same) {
            ++*uses;
            SLRI_TRY(take_use(stream, buffer, mine));
        }
        args[i].value.buffer = same ? same->part : mine->part;
    }
    return slr_launch(stream, kernel, *shape, args, count, NULL);
}

static slr_status launch_and_bring_home(slr_stream *stream, slr_kernel *kernel, const slr_shape *shape, slr_arg *args,
                                        uint32_t count, struct far_use *use)
{
    uint32_t uses = 0;
    slr_status status = launch_near(stream, kernel, shape, args, count, use, &uses);
    for (uint32_t i = 0; i < uses; ++i) {
        if (status == SLR_OK && use[i].writes)
            status = bring_home(stream, &use[i]);
        slr_buffer_destroy(use[i].part);
        slr_buffer_destroy(use[i].copy);
    }
    return status;
}

slr_status slri_away_launch(slr_stream *stream, slr_kernel *kernel, const slr_shape *shape, const slr_arg *args,
                            uint32_t count, slr_point *out)
{
    size_t arg_bytes = count * sizeof *args, bytes = arg_bytes + count * sizeof(struct far_use);
    slr_arg *near = slri_alloc(NULL, bytes);
    if (!near)
        return SLRI_FAIL(NO_MEMORY, "no memory to launch %s", kernel->info.name);
    memcpy(near, args, arg_bytes);
    struct far_use *use = (struct far_use *)(void *)((char *)near + arg_bytes);
    slr_status status = launch_and_bring_home(stream, kernel, shape, near, count, use);
    slri_free(NULL, near, bytes);
    SLRI_TRY(status);
    return out ? slr_stream_signal(stream, out) : SLR_OK;
}
