// SPDX-License-Identifier: Apache-2.0
// The head of a place: which ring kernel it belongs to, and where its snapshot stands.
#include "base/status.h"
#include "cluster/server.h"
#include "ring/ring.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LOCAL "local:"
#define HEAD_MAGIC "\x89SLRPOS\n"
enum { HEAD_VERSION = 4, HEAD_ORDER = 0x01020304 };

_Static_assert(sizeof(slri_head) <= SLRI_LOG_VALUE_MAX, "the head is one value of the log");

slr_status slri_place_parse(const char *place, const slri_log_engine **engine, const char **rest)
{
    if (!place || strncmp(place, LOCAL, strlen(LOCAL)) != 0 || place[strlen(LOCAL)] == '\0')
        return place ? SLRI_FAIL(INVALID, "place '%s' is not local:FOLDER", place)
                     : SLRI_FAIL(INVALID, "place is NULL: it must be local:FOLDER");
    *engine = &slri_log_local;
    *rest = place + strlen(LOCAL);
    return SLR_OK;
}

const char *slri_place_name(const char *place)
{
    return strncmp(place, LOCAL, strlen(LOCAL)) == 0 ? place + strlen(LOCAL) : place;
}

static void add_layout(slri_sum *sum, const slr_layout *layout)
{
    slri_sum_add(sum, &layout->bytes, sizeof layout->bytes);
    for (uint32_t i = 0; i < layout->field_count; ++i) {
        const slr_field *field = &layout->fields[i];
        uint64_t numbers[] = {(uint64_t)field->scalar, field->count, field->offset,
                              slri_sum_of(field->is_array, field->name, strlen(field->name))};
        slri_sum_add(sum, numbers, sizeof numbers);
    }
}

static bool find_handler(const slr_program *program, const char *name, slr_handler_info *info)
{
    for (uint32_t i = 0; program && slr_program_get_handler(program, i, info) == SLR_OK; ++i) {
        if (!name || strcmp(name, info->name) == 0)
            return true;
    }
    return false;
}

// `info`: NULL for a handler in C.
static uint64_t hash_layout(uint32_t message_bytes, uint32_t state_bytes, uint32_t reply_bytes, uint32_t keys,
                            const slr_handler_info *info)
{
    slri_sum sum = slri_sum_begin(HEAD_VERSION);
    uint64_t sizes[] = {message_bytes, state_bytes, reply_bytes, keys};
    slri_sum_add(&sum, sizes, sizeof sizes);
    if (info) {
        add_layout(&sum, &info->message);
        add_layout(&sum, &info->state);
        add_layout(&sum, &info->reply);
    }
    return slri_sum_end(&sum);
}

slr_status slri_head_layout_of(const slr_program *program, const char *handler, uint32_t keys, uint64_t *layout)
{
    slr_handler_info info;
    if (!find_handler(program, handler, &info))
        return SLRI_FAIL(NOT_FOUND, "the program has no handler '%s'", handler ? handler : "");
    *layout =
        hash_layout((uint32_t)info.message.bytes, (uint32_t)info.state.bytes, (uint32_t)info.reply.bytes, keys, &info);
    return SLR_OK;
}

void slri_head_begin(slri_head *head, const slr_ring *ring, const slr_ring_desc *desc)
{
    slr_handler_info info;
    bool is_kernel = find_handler(desc->program, desc->handler, &info);
    *head = (slri_head){.version = HEAD_VERSION,
                        .order = HEAD_ORDER,
                        .message_bytes = ring->message_bytes,
                        .state_bytes = ring->state_bytes,
                        .reply_bytes = ring->reply_bytes,
                        .keys = desc->keys,
                        .snap_first = 1};
    memcpy(head->magic, HEAD_MAGIC, sizeof head->magic);
    snprintf(head->handler, sizeof head->handler, "%s", is_kernel ? info.name : ring->name);
    head->layout =
        hash_layout(ring->message_bytes, ring->state_bytes, ring->reply_bytes, desc->keys, is_kernel ? &info : NULL);
}

size_t slri_head_bytes(const slri_head *head)
{
    return offsetof(slri_head, producer) + head->producers * sizeof *head->producer;
}

// A value whose checksum is right may still be another version's.
slr_status slri_head_check(const slri_head *head, size_t bytes, const char *place)
{
    if (bytes < offsetof(slri_head, producer) || memcmp(head->magic, HEAD_MAGIC, sizeof head->magic) != 0 ||
        head->version != HEAD_VERSION || head->order != HEAD_ORDER)
        return SLRI_FAIL(INVALID, "%s: another version of slipring, or a machine of another byte order, wrote it",
                         slri_place_name(place));
    bool right = memchr(head->handler, '\0', sizeof head->handler) && head->producers <= SLRI_HEAD_PRODUCERS &&
                 head->keys <= SLR_KEYS_TEXT && head->voids <= SLRI_HEAD_VOIDS && bytes >= slri_head_bytes(head) &&
                 head->snap_first > 0 && head->snap_last + 1 >= head->snap_first;
    return right ? SLR_OK : SLRI_FAIL(INVALID, "%s: its head says what no program writes", slri_place_name(place));
}

uint64_t slri_output_id(uint64_t writer, uint64_t sequence)
{
    const uint64_t id = slri_sum_mix(writer ^ 0x6f75747075747320, sequence ^ 0x9e3779b185ebca87);
    return id ? id : 1;
}

bool slri_is_void(const uint64_t *voids, uint64_t count, uint64_t sequence)
{
    for (uint64_t i = 0; i < count; ++i) {
        if (voids[i] == sequence)
            return true;
    }
    return false;
}

slr_status slri_head_compare(const slri_head *head, const slri_head *now, const char *place)
{
    static const char *const kinds[] = {
        [0] = "no keys", [SLR_KEYS_U64] = "keys that are numbers", [SLR_KEYS_TEXT] = "keys that are texts"};
    const char *other = strncmp(place, LOCAL, strlen(LOCAL)) == 0 ? "folder" : "name";
    place = slri_place_name(place);
    if (strcmp(head->handler, now->handler) != 0)
        return SLRI_FAIL(LAYOUT, "%s holds the states of handler '%s', not of '%s': choose another %s", place,
                         head->handler, now->handler, other);
    if (head->keys != now->keys)
        return SLRI_FAIL(LAYOUT,
                         "%s was begun with %s, and now slr_ring_desc.keys (--key) says %s: give the same keys, or "
                         "choose another %s",
                         place, kinds[head->keys], kinds[now->keys], other);
    if (head->layout != now->layout)
        return SLRI_FAIL(LAYOUT,
                         "%s: handler '%s' had messages of %u B, states of %u B and replies of %u B there, and has %u "
                         "B, %u B and %u B now, or their fields differ. A handler may be replaced by one with the same "
                         "layouts; for others choose another %s",
                         place, head->handler, head->message_bytes, head->state_bytes, head->reply_bytes,
                         now->message_bytes, now->state_bytes, now->reply_bytes, other);
    return SLR_OK;
}
