// SPDX-License-Identifier: Apache-2.0
// Frames: their heads, and the checks of those that are read.
#include "cluster/frame.h"

#include "base/round.h"
#include "base/status.h"

#include <inttypes.h>
#include <string.h>

enum { FRAME_MAGIC = 0x66726c73 };

_Static_assert(sizeof(slri_frame_head) == 48 && sizeof(slri_frame_key) == 8 && sizeof(slri_frame_output) == 16 &&
                   sizeof(slri_frame_letter) == 16 && sizeof(slri_frame_state) == 8,
               "no padding: they are files' bytes");

slri_frame_head slri_frame_head_of(const slri_frame_shape *shape, enum slri_frame_kind kind)
{
    return (slri_frame_head){
        .magic = FRAME_MAGIC, .version = SLRI_FRAME_VERSION, .kind = (uint16_t)kind, .layout = shape->layout};
}

static size_t padded(size_t bytes)
{
    return (size_t)slri_round_up(bytes, 8);
}

static slr_status refuse(const char *why)
{
    return SLRI_FAIL(INVALID, "a record is no frame of this ring kernel: %s", why);
}

// A key has its own instance, counted from 0.
static slr_status refuse_instance(uint32_t instance, const slri_frame_shape *shape)
{
    return SLRI_FAIL(INVALID,
                     "a record is for instance %u, counted from 0, and slr_ring_desc.instances (--instances) allows "
                     "%u: allow at least as many instances or keys as are stored",
                     instance, shape->instances);
}

// Takes `want` bytes at *at; false where there are fewer.
static bool take(size_t *at, size_t bytes, size_t want)
{
    if (want > bytes - *at)
        return false;
    *at += want;
    return true;
}

static slr_status check_keys(const slri_frame *frame, const slri_frame_shape *shape, size_t bytes, size_t *used)
{
    size_t at = 0;
    for (uint32_t i = 0; i < frame->head.extra; ++i) {
        slri_frame_key key;
        const size_t begin = at;
        if (!take(&at, bytes, sizeof key))
            return refuse("its keys are cut off");
        memcpy(&key, frame->keys + begin, sizeof key);
        if (key.bytes > SLRI_FRAME_KEY_MAX)
            return refuse("a key is too long");
        if (key.instance >= shape->instances)
            return refuse_instance(key.instance, shape);
        if (!take(&at, bytes, padded(key.bytes)))
            return refuse("a key is cut off");
    }
    *used = at;
    return SLR_OK;
}

static slr_status read_in(const slri_frame_shape *shape, const unsigned char *data, size_t bytes, slri_frame *frame)
{
    size_t at = 0, keys = 0;
    frame->instances = (const uint32_t *)(const void *)data;
    if (!take(&at, bytes, padded((size_t)frame->head.count * sizeof(uint32_t))))
        return refuse("its instances are cut off");
    for (uint32_t i = 0; i < frame->head.count; ++i) {
        if (frame->instances[i] >= shape->instances)
            return refuse_instance(frame->instances[i], shape);
    }
    frame->keys = data + at;
    SLRI_TRY(check_keys(frame, shape, bytes - at, &keys));
    at += keys;
    frame->entries = data + at;
    frame->bytes = bytes - at;
    return frame->bytes == padded((size_t)frame->head.count * shape->message_bytes)
               ? SLR_OK
               : refuse("it has another length than its count");
}

// The lengths of texts are bounded one by one, so that their sum cannot overflow.
static slr_status take_texts(const slri_frame *frame, size_t *at, size_t bytes)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < frame->head.count; ++i) {
        uint32_t length;
        memcpy(&length, frame->keys + i * sizeof length, sizeof length);
        if (length > SLRI_FRAME_KEY_MAX)
            return refuse("a key is too long");
        sum += length;
    }
    return take(at, bytes, padded(sum)) ? SLR_OK : refuse("its keys are cut off");
}

static slr_status read_sent(const slri_frame_shape *shape, const unsigned char *data, size_t bytes, slri_frame *frame)
{
    frame->calls = (frame->head.extra & SLRI_FRAME_CALLS) != 0;
    frame->head.extra &= ~SLRI_FRAME_CALLS;
    const bool is_text = frame->head.extra == SLR_KEYS_TEXT;
    size_t at = 0;
    if (frame->head.extra > SLR_KEYS_TEXT || frame->head.number == 0 || frame->head.first > frame->head.number ||
        frame->head.number > UINT64_MAX - frame->head.count)
        return refuse("its kind of key or its number is out of range");
    frame->keys = data;
    if (!take(&at, bytes, padded(frame->head.count * (is_text ? sizeof(uint32_t) : sizeof(uint64_t)))))
        return refuse("its keys are cut off");
    frame->texts = (const char *)data + at;
    if (is_text)
        SLRI_TRY(take_texts(frame, &at, bytes));
    frame->entries = data + at;
    frame->bytes = bytes - at;
    return frame->bytes == padded((size_t)frame->head.count * shape->message_bytes)
               ? SLR_OK
               : refuse("it has another length than its count");
}

slr_key slri_frame_sent_key(const slri_frame *frame, uint32_t index, size_t *text)
{
    uint64_t number;
    uint32_t length;
    if (frame->head.extra != SLR_KEYS_TEXT) {
        memcpy(&number, frame->keys + index * sizeof number, sizeof number);
        return slr_key_u64(number);
    }
    memcpy(&length, frame->keys + index * sizeof length, sizeof length);
    slr_key key = slr_key_text(frame->texts + *text, length);
    *text += length;
    return key;
}

static bool is_key_length(uint32_t keys, uint32_t bytes)
{
    return keys == SLR_KEYS_TEXT ? bytes <= SLRI_FRAME_KEY_MAX : bytes == (keys ? sizeof(uint64_t) : 0);
}

// Bytes of the entry at `data`, of which `bytes` are there; 0: it is not whole or says nonsense. `keys`: of outputs.
static size_t entry_bytes(const slri_frame_shape *shape, enum slri_frame_kind kind, uint32_t keys,
                          const unsigned char *data, size_t bytes, uint32_t *instance)
{
    union {
        slri_frame_output output;
        slri_frame_letter letter;
        slri_frame_state state;
    } head;
    size_t head_bytes = kind == SLRI_FRAME_SNAP ? sizeof head.state : sizeof head.output;
    if (bytes < head_bytes)
        return 0;
    memcpy(&head, data, head_bytes);
    *instance = kind == SLRI_FRAME_OUT    ? head.output.instance
                : kind == SLRI_FRAME_DEAD ? head.letter.instance
                                          : head.state.instance;
    switch (kind) {
    case SLRI_FRAME_OUT:
        return head.output.message > 0 && is_key_length(keys, head.output.key_bytes)
                   ? head_bytes + padded(head.output.key_bytes) + padded(shape->reply_bytes)
                   : 0;
    case SLRI_FRAME_DEAD:
        return head.letter.reason_bytes <= SLRI_FRAME_KEY_MAX
                   ? head_bytes + padded(head.letter.reason_bytes) + padded(shape->message_bytes)
                   : 0;
    case SLRI_FRAME_SNAP:
        return head.state.key_bytes <= SLRI_FRAME_KEY_MAX
                   ? head_bytes + padded(head.state.key_bytes) + padded(shape->state_bytes)
                   : 0;
    default:
        return 0;
    }
}

static slr_status read_entries(const slri_frame_shape *shape, enum slri_frame_kind kind, const unsigned char *data,
                               size_t bytes, slri_frame *frame)
{
    size_t at = 0;
    if (kind == SLRI_FRAME_OUT && frame->head.extra > SLR_KEYS_TEXT)
        return refuse("its kind of key is out of range");
    frame->entries = data;
    frame->bytes = bytes;
    for (uint32_t i = 0; i < frame->head.count; ++i) {
        uint32_t instance = 0;
        size_t here = entry_bytes(shape, kind, frame->head.extra, data + at, bytes - at, &instance);
        if (here == 0 || !take(&at, bytes, here))
            return refuse("an entry is cut off or out of range");
        if (instance >= shape->instances)
            return refuse_instance(instance, shape);
    }
    return at == bytes ? SLR_OK : refuse("it has another length than its count");
}

slr_status slri_frame_read(const slri_frame_shape *shape, enum slri_frame_kind kind, const void *data, size_t bytes,
                           slri_frame *out)
{
    *out = (slri_frame){0};
    if (bytes < sizeof out->head)
        return refuse("its head is cut off");
    memcpy(&out->head, data, sizeof out->head);
    slri_frame_head right = slri_frame_head_of(shape, kind);
    if (out->head.magic != right.magic || out->head.kind != right.kind)
        return refuse("its head is that of something else");
    if (out->head.version != right.version)
        return refuse("another version wrote it");
    if (out->head.layout != right.layout)
        return SLRI_FAIL(LAYOUT, "a record was written with other messages, states or replies: their layouts differ");
    if (out->head.count > SLRI_FRAME_MAX || out->head.first == 0)
        return refuse("its count or its number is out of range");
    const unsigned char *rest = (const unsigned char *)data + sizeof out->head;
    bytes -= sizeof out->head;
    return kind == SLRI_FRAME_IN     ? read_in(shape, rest, bytes, out)
           : kind == SLRI_FRAME_SENT ? read_sent(shape, rest, bytes, out)
                                     : read_entries(shape, kind, rest, bytes, out);
}

bool slri_frame_next_key(const slri_frame *frame, size_t *at, slri_frame_key *key, const char **text)
{
    const unsigned char *here = frame->keys + *at;
    if (here == frame->entries)
        return false;
    memcpy(key, here, sizeof *key);
    *text = (const char *)here + sizeof *key;
    *at += sizeof *key + padded(key->bytes);
    return true;
}

bool slri_frame_next_state(const slri_frame_shape *shape, const slri_frame *frame, size_t *at, slri_frame_state *state,
                           const char **key, const void **bytes)
{
    if (*at == frame->bytes)
        return false;
    const unsigned char *here = frame->entries + *at;
    memcpy(state, here, sizeof *state);
    *key = (const char *)here + sizeof *state;
    *bytes = here + sizeof *state + padded(state->key_bytes);
    *at += sizeof *state + padded(state->key_bytes) + padded(shape->state_bytes);
    return true;
}

bool slri_frame_next_output(const slri_frame_shape *shape, const slri_frame *frame, size_t *at,
                            slri_frame_output *output, const void **bytes)
{
    if (*at == frame->bytes)
        return false;
    const unsigned char *here = frame->entries + *at;
    memcpy(output, here, sizeof *output);
    *bytes = here + sizeof *output + padded(output->key_bytes);
    *at += sizeof *output + padded(output->key_bytes) + padded(shape->reply_bytes);
    return true;
}

slr_key slri_frame_output_key(const slri_frame *frame, size_t at)
{
    const unsigned char *here = frame->entries + at;
    slri_frame_output output;
    uint64_t number = 0;
    memcpy(&output, here, sizeof output);
    here += sizeof output;
    if (frame->head.extra == SLR_KEYS_TEXT)
        return slr_key_text((const char *)here, output.key_bytes);
    if (frame->head.extra == SLR_KEYS_U64)
        memcpy(&number, here, sizeof number);
    return slr_key_u64(number);
}

bool slri_frame_next_letter(const slri_frame_shape *shape, const slri_frame *frame, size_t *at,
                            slri_frame_letter *letter, const char **reason, const void **message)
{
    if (*at == frame->bytes)
        return false;
    const unsigned char *here = frame->entries + *at;
    memcpy(letter, here, sizeof *letter);
    *reason = (const char *)here + sizeof *letter;
    *message = here + sizeof *letter + padded(letter->reason_bytes);
    *at += sizeof *letter + padded(letter->reason_bytes) + padded(shape->message_bytes);
    return true;
}
