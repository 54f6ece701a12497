// SPDX-License-Identifier: Apache-2.0
// The calls that name instances by key. A key is pinned before its message is sent; the owner's count of messages that
// are done with is what ends the pin.
#include "base/clock.h"
#include "base/status.h"
#include "ring/keys.h"

#include <slipring/keys.h>

#include <string.h>

// ---- sending ------------------------------------------------------------------------------------------------

// Finds the ring kernel of a message to a key, and checks both: what is refused makes no key.
static slr_status find_keyed(slr_port *port, slr_address to, const slr_key *key, const void *message, size_t bytes,
                             struct slri_until *until, const char *call, slr_ring **out)
{
    struct slri_connection *c;
    if (!port)
        return SLRI_FAIL(INVALID, "%s: port is NULL", call);
    SLRI_TRY(slri_connection_get(port, to, until, &c));
    SLRI_TRY(slri_keys_check(c->ring, key, call));
    *out = c->ring;
    return slri_check_sendable(c->ring, message, bytes);
}

// `to` becomes the instance's address. `paid`: a credit that goes with the pin, or none.
static slr_status pin_one(slr_ring *ring, slr_address *to, const slr_key *key, struct slri_until *until,
                          struct slri_granted *paid)
{
    slr_status status;
    slri_keys_pin(ring, key, 1, until, &to->instance, paid, &status);
    return status;
}

// The message was refused all the same.
static void unpin_one(slr_ring *ring, uint32_t instance, const struct slri_granted *paid)
{
    if (paid->count != 0)
        slri_credits_give_back(ring, paid->count);
    slri_keys_unpin(ring, instance);
}

slr_status slr_send_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                        const slr_send_options *options, uint64_t timeout_ns)
{
    slr_ring *ring;
    struct slri_granted paid;
    struct slri_until until = {.timeout_ns = timeout_ns};
    SLRI_TRY(find_keyed(port, to, &key, message, bytes, &until, "slr_send_key", &ring));
    if (options)
        SLRI_TRY(slri_check_options(options));
    SLRI_TRY(pin_one(ring, &to, &key, &until, &paid));
    slr_status status = slri_send_with(port, to, message, bytes, options, &paid, &until);
    if (status != SLR_OK)
        unpin_one(ring, to.instance, &paid);
    return status;
}

slr_status slr_call_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes, void *reply,
                        size_t reply_bytes, uint64_t timeout_ns)
{
    slr_ring *ring;
    struct slri_granted paid;
    struct slri_until until = {.timeout_ns = timeout_ns};
    SLRI_TRY(find_keyed(port, to, &key, message, bytes, &until, "slr_call_key", &ring));
    SLRI_TRY(slri_check_reply(ring, reply, reply_bytes));
    SLRI_TRY(pin_one(ring, &to, &key, &until, &paid));
    bool sent = false;
    slr_status status = slri_call(port, to, message, bytes, reply, reply_bytes, timeout_ns, &paid, &until, &sent);
    if (!sent)
        unpin_one(ring, to.instance, &paid);
    return status;
}

static slr_status check_keys(const slr_ring *ring, const slr_key *keys, uint32_t count)
{
    for (uint32_t k = 0; k < count; ++k)
        SLRI_TRY(slri_keys_check(ring, &keys[k], "slr_send_many_keys"));
    return SLR_OK;
}

// The next ones of slr_send_many_keys. Messages that are looked into go one at a time: one may be refused for what it
// refers to, and then those behind it make no keys.
static slr_status send_some_keys(slr_port *port, const struct slri_connection *c, const slr_key *keys,
                                 const void *messages, uint32_t count, struct slri_until *until, uint32_t *done)
{
    slr_ring *ring = c->ring;
    const char *message = (const char *)messages + (size_t)*done * ring->message_bytes;
    uint32_t instances[SLRI_KEYS_AT_ONCE], sent = 0;
    bool looks = ring->plain_bytes != ring->message_bytes;
    struct slri_granted paid;
    slr_status status;
    if (looks)
        SLRI_TRY(slri_check_sendable(ring, message, ring->message_bytes));
    uint32_t pinned = slri_keys_pin(ring, keys + *done, looks ? 1 : count - *done, until, instances, &paid, &status);
    if (pinned != 0)
        status = slri_send_run(port, c, 0, instances, message, pinned, &paid, until, &sent);
    if (paid.count != 0)
        slri_credits_give_back(ring, paid.count);
    for (uint32_t k = sent; k < pinned; ++k)
        slri_keys_unpin(ring, instances[k]);
    *done += sent;
    return status;
}

slr_status slr_send_many_keys(slr_port *port, slr_address to, const slr_key *keys, const void *messages, size_t bytes,
                              uint32_t count, uint64_t timeout_ns, uint32_t *accepted)
{
    uint32_t none, *done = accepted ? accepted : &none;
    *done = 0;
    if (!port || !keys)
        return SLRI_FAIL(INVALID, "slr_send_many_keys: %s is NULL", port ? "keys" : "port");
    if (count == 0)
        return SLR_OK;
    struct slri_connection *c;
    struct slri_until until = {.timeout_ns = timeout_ns};
    SLRI_TRY(slri_connection_get(port, to, &until, &c));
    SLRI_TRY(slri_check_message(c->ring, messages, bytes));
    SLRI_TRY(check_keys(c->ring, keys, count));
    while (*done < count)
        SLRI_TRY(send_some_keys(port, c, keys, messages, count, &until, done));
    return SLR_OK;
}

// ---- asking -------------------------------------------------------------------------------------------------

static slr_status check_keys_launched(const slr_ring *ring, const char *call)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "%s: ring is NULL", call);
    SLRI_TRY(slri_ring_check_process(ring));
    if (!ring->key_sort)
        return SLRI_FAIL(INVALID, "ring kernel '%s' has no keys: slr_ring_desc.keys; %s needs them", ring->name, call);
    if (slr_ring_get_state(ring) == SLR_RING_CREATED || !ring->keys)
        return SLRI_FAIL(WRONG_STATE, "ring kernel '%s' is %s; %s needs it launched", ring->name,
                         slr_ring_state_name(slr_ring_get_state(ring)), call);
    return SLR_OK;
}

static slr_status check_call(const slr_ring *ring, const slr_key *key, const char *call)
{
    SLRI_TRY(check_keys_launched(ring, call));
    return slri_keys_check(ring, key, call);
}

static slr_status check_state_size(const slr_ring *ring, const void *state, size_t bytes, const char *call)
{
    if (bytes == ring->state_bytes || (!state && bytes == 0))
        return SLR_OK;
    return SLRI_FAIL(INVALID, "ring kernel '%s': its states have %u B, %s was given %zu B", ring->name,
                     ring->state_bytes, call, bytes);
}

slr_status slr_ring_add_key(slr_ring *ring, slr_key key, const void *state, size_t bytes, uint64_t timeout_ns,
                            uint32_t *instance)
{
    uint32_t found;
    SLRI_TRY(check_call(ring, &key, "slr_ring_add_key"));
    SLRI_TRY(check_state_size(ring, state, bytes, "slr_ring_add_key"));
    struct slri_until until = {.timeout_ns = timeout_ns};
    SLRI_TRY(slri_keys_add(ring, &key, state, &until, &found));
    if (instance)
        *instance = found;
    return SLR_OK;
}

slr_status slr_ring_find_key(slr_ring *ring, slr_key key, uint32_t *instance)
{
    uint32_t found;
    if (!instance)
        return SLRI_FAIL(INVALID, "slr_ring_find_key: instance is NULL");
    SLRI_TRY(check_call(ring, &key, "slr_ring_find_key"));
    if (!slri_keys_pin_known(ring, &key, &found))
        return SLRI_FAIL(NOT_FOUND, "ring kernel '%s' has no such key", ring->name);
    slri_keys_unpin(ring, found);
    *instance = found;
    return SLR_OK;
}

static slr_status copy_key(const slr_ring *ring, uint32_t instance, slr_key *out, char *text, size_t capacity)
{
    slr_key key;
    slri_keys_key_of(ring, instance, &key);
    if (key.text && (key.bytes > capacity || !text))
        return SLRI_FAIL(INVALID, "ring kernel '%s': the key of instance %u has %zu B; the buffer has %zu B",
                         ring->name, instance, key.bytes, text ? capacity : 0);
    if (key.text) {
        memcpy(text, key.text, key.bytes);
        key.text = text;
    }
    *out = key;
    return SLR_OK;
}

slr_status slr_ring_get_key(slr_ring *ring, uint32_t instance, slr_key *out, char *text, size_t capacity)
{
    if (!out)
        return SLRI_FAIL(INVALID, "slr_ring_get_key: out is NULL");
    SLRI_TRY(check_keys_launched(ring, "slr_ring_get_key"));
    if (instance >= ring->instances)
        return SLRI_FAIL(INVALID, "ring kernel '%s' has instances 0 to %u; %u was asked for", ring->name,
                         ring->instances - 1, instance);
    SLRI_TRY(slri_keys_pin_instance(ring, instance));
    slr_status status = copy_key(ring, instance, out, text, capacity);
    slri_keys_unpin(ring, instance);
    return status;
}

slr_status slr_ring_forget_key(slr_ring *ring, slr_key key, void *state, size_t bytes, uint64_t timeout_ns)
{
    SLRI_TRY(check_call(ring, &key, "slr_ring_forget_key"));
    SLRI_TRY(check_state_size(ring, state, bytes, "slr_ring_forget_key"));
    return slri_keys_forget(ring, &key, state, slri_deadline_after(timeout_ns));
}
