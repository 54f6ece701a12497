// SPDX-License-Identifier: Apache-2.0
// From a key to the number of its instance. A hash table of chains, through nodes that lie in the order of the
// instances, so that what is mapped becomes real as keys come. It is read without a lock by every sender and changed
// under one.
//
// Growing is linear hashing (W. Litwin, 1980): with each key beyond the number of buckets one bucket is split, so that
// no insertion pays for all. A reader who meets a split or a removal may miss its key, or walk into another chain; it
// never takes a wrong one (below), it walks a bounded way, and what it has not found is looked for again under the
// lock.
//
// A node's `pins` is a count of the messages ever meant for its instance, doubled, plus LIVE while the instance has a
// key. The shard's `done` counts those that are done with. Equal: idle. Whoever takes a key away does it with a
// compare-and-swap of exactly that value; whoever pins adds to it and sees whether LIVE was set. So of a sender and an
// eviction one comes first: an instance with a message pending, running or about to be sent is never taken.
#include "ring/keys.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/key_hash.h"
#include "base/share.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define LIVE 1u
#define PIN 2u
#define NONE UINT32_MAX
#define MOST_STEPS 64u      // of a reader; chains have one node on the average
#define SECOND_CHANCES 256u // instances passed over for having been used lately, at most, before any idle one will do
#define WAIT_NS 50000u      // between looks for an idle instance

struct node {
    uint64_t key;  // atomic: the number; of a text its hash
    uint32_t next; // atomic: in its chain, or in the list of free numbers: instance + 1; 0: none
    uint32_t pins; // atomic
};

struct slri_keys {
    struct slri_key_secret secret;
    bool text;
    uint32_t limit;
    size_t text_stride;
    struct slri_share share;                        // what holds the next four, and the shards' `done`
    struct node *node;                              // by instance
    uint32_t *head;                                 // atomic, by bucket: instance + 1; 0: none
    unsigned char *text_of;                         // by instance: a u32 length, then the text
    uint32_t *swept;                                // by instance: its pins when the clock's hand last passed
    uint32_t buckets __attribute__((aligned(128))); // atomic
    slri_mutex lock __attribute__((aligned(128)));  // for all that follows, and for writing the above
    uint32_t used, free_first, count, hand;
    uint64_t evicted;
};

// ---- description, making, freeing ---------------------------------------------------------------------------

static slr_status check_fields_keys(const slr_ring *ring, const slr_ring_desc *desc)
{
    if (desc->keys > SLR_KEYS_TEXT)
        return SLRI_FAIL(INVALID, "ring kernel '%s': keys (an slr_keys) is %u; expected 0 to %d", ring->name,
                         desc->keys, SLR_KEYS_TEXT);
    if (desc->key_limit > SLR_KEY_LIMIT_EVICT_IDLE)
        return SLRI_FAIL(INVALID, "ring kernel '%s': key_limit (an slr_key_limit) is %u; expected 1 to %d", ring->name,
                         desc->key_limit, SLR_KEY_LIMIT_EVICT_IDLE);
    if (desc->key_bytes > 4092)
        return SLRI_FAIL(INVALID, "ring kernel '%s': key_bytes is %u; expected 1 to 4092", ring->name, desc->key_bytes);
    if (desc->keys == 0 && (desc->key_limit || desc->key_bytes || desc->on_evicted))
        return SLRI_FAIL(INVALID, "ring kernel '%s': key_limit, key_bytes and on_evicted need slr_ring_desc.keys",
                         ring->name);
    if (desc->keys && ring->overflow > SLR_OVERFLOW_REJECT)
        return SLRI_FAIL(
            INVALID,
            "ring kernel '%s': with keys it cannot drop messages: use SLR_OVERFLOW_BLOCK or SLR_OVERFLOW_REJECT",
            ring->name);
    if (desc->keys && desc->main)
        return SLRI_FAIL(INVALID, "ring kernel '%s': keys need a handler; a loop has instances by number", ring->name);
    if (desc->on_evicted && desc->key_limit != SLR_KEY_LIMIT_EVICT_IDLE)
        return SLRI_FAIL(INVALID, "ring kernel '%s': on_evicted needs key_limit = SLR_KEY_LIMIT_EVICT_IDLE",
                         ring->name);
    return SLR_OK;
}

slr_status slri_keys_describe(slr_ring *ring, const slr_ring_desc *desc)
{
    SLRI_TRY(check_fields_keys(ring, desc));
    ring->key_sort = desc->keys;
    ring->key_limit = desc->key_limit ? desc->key_limit : SLR_KEY_LIMIT_REFUSE;
    ring->key_bytes = desc->key_bytes ? desc->key_bytes : 60;
    ring->on_evicted = desc->on_evicted;
    ring->evicted_user = desc->evicted_user;
    ring->addressable = desc->keys ? 0 : ring->instances;
    return SLR_OK;
}

static slr_status map_table(slr_ring *ring, struct slri_keys *keys)
{
    enum { NODE, HEAD, SWEPT, TEXT, DONE };
    uint64_t words = (uint64_t)keys->limit * 4, done = (words + 127) / 128 * 128; // a shard's on lines of its own
    const struct slri_shape shape = {.part = {[NODE] = keys->limit * sizeof *keys->node,
                                              [HEAD] = words,
                                              [SWEPT] = words,
                                              [TEXT] = keys->text ? keys->limit * keys->text_stride : 0,
                                              [DONE] = done * ring->shards}};
    if (!slri_share_take(&shape, &keys->share))
        return SLR_NO_MEMORY;
    keys->node = slri_share_part(&keys->share, NODE);
    keys->head = slri_share_part(&keys->share, HEAD);
    keys->swept = slri_share_part(&keys->share, SWEPT);
    keys->text_of = keys->text ? slri_share_part(&keys->share, TEXT) : NULL;
    for (uint32_t i = 0; i < ring->shards; ++i) {
        ring->shard[i].done = (uint32_t *)slri_share_part(&keys->share, DONE) + done / 4 * i;
        ring->shard[i].followed = true;
    }
    return SLR_OK;
}

slr_status slri_keys_create(slr_ring *ring)
{
    if (!ring->key_sort)
        return SLR_OK;
    struct slri_keys *keys = slri_alloc(ring->device->allocator, sizeof *keys);
    ring->keys = keys;
    if (!keys)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for keys", ring->name);
    slri_mutex_init(&keys->lock);
    slri_key_secret_make(&keys->secret);
    keys->text = ring->key_sort == SLR_KEYS_TEXT;
    keys->limit = ring->instances;
    keys->text_stride = ((size_t)ring->key_bytes + 4 + 7) / 8 * 8;
    keys->buckets = 1;
    if (map_table(ring, keys) == SLR_OK)
        return SLR_OK;
    return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no addresses for %u keys", ring->name, keys->limit);
}

void slri_keys_destroy(slr_ring *ring)
{
    struct slri_keys *keys = ring->keys;
    if (!keys)
        return;
    slri_share_give(&keys->share, 0);
    slri_mutex_destroy(&keys->lock);
    slri_free(ring->device->allocator, keys, sizeof *keys);
    ring->keys = NULL;
}

void slri_keys_count(slr_ring *ring, slr_ring_stats *out)
{
    struct slri_keys *keys = ring->keys;
    if (!keys)
        return;
    slri_mutex_lock(&keys->lock);
    out->keys = keys->count;
    out->evicted = keys->evicted;
    slri_mutex_unlock(&keys->lock);
}

// ---- keys ---------------------------------------------------------------------------------------------------

slr_status slri_keys_check(const slr_ring *ring, const slr_key *key, const char *call)
{
    if (!ring->key_sort)
        return SLRI_FAIL(INVALID, "ring kernel '%s' has no keys: slr_ring_desc.keys; %s needs them", ring->name, call);
    if ((ring->key_sort == SLR_KEYS_TEXT) != (key->text != NULL))
        return SLRI_FAIL(INVALID, "ring kernel '%s': its keys are %s; %s was given a %s", ring->name,
                         key->text ? "numbers" : "text", call, key->text ? "text" : "number");
    if (key->text && key->bytes > ring->key_bytes)
        return SLRI_FAIL(INVALID, "ring kernel '%s': a key of %zu B; slr_ring_desc.key_bytes is %u", ring->name,
                         key->bytes, ring->key_bytes);
    return SLR_OK;
}

// For messages; cut where it is long.
static const char *name_key(const slr_key *key, char out[80])
{
    if (key->text)
        snprintf(out, 80, "'%.*s'", (int)(key->bytes < 64 ? key->bytes : 64), key->text);
    else
        snprintf(out, 80, "%llu", (unsigned long long)key->number);
    return out;
}

static inline uint64_t hash_of(const struct slri_keys *keys, const slr_key *key)
{
    return keys->text ? slri_key_hash_bytes(&keys->secret, key->text, key->bytes)
                      : slri_key_hash_u64(&keys->secret, key->number);
}

static uint64_t hash_of_node(const struct slri_keys *keys, const struct node *node)
{
    return keys->text ? node->key : slri_key_hash_u64(&keys->secret, node->key);
}

// Of a pinned instance, or under the lock: its text does not change.
void slri_keys_key_of(const slr_ring *ring, uint32_t instance, slr_key *out)
{
    const struct slri_keys *keys = ring->keys;
    *out = slr_key_u64(__atomic_load_n(&keys->node[instance].key, __ATOMIC_RELAXED));
    if (!keys->text)
        return;
    const unsigned char *at = keys->text_of + instance * keys->text_stride;
    uint32_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    *out = slr_key_text((const char *)at + sizeof bytes, bytes);
}

static void write_key(struct slri_keys *keys, uint32_t instance, const slr_key *key, uint64_t hash)
{
    __atomic_store_n(&keys->node[instance].key, keys->text ? hash : key->number, __ATOMIC_RELAXED);
    if (!keys->text)
        return;
    unsigned char *at = keys->text_of + instance * keys->text_stride;
    uint32_t bytes = (uint32_t)key->bytes;
    memcpy(at, &bytes, sizeof bytes);
    memcpy(at + sizeof bytes, key->text, bytes);
}

// Of a pinned instance whose node's key is right.
static inline bool is_text(const struct slri_keys *keys, uint32_t instance, const slr_key *key)
{
    if (!keys->text)
        return true;
    const unsigned char *at = keys->text_of + instance * keys->text_stride;
    uint32_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes == key->bytes && memcmp(at + sizeof bytes, key->text, bytes) == 0;
}

// ---- pins and looking, without the lock ---------------------------------------------------------------------

// Acquire: the key and the state that came with LIVE; every later change of the word is of the same release sequence.
static inline bool pin(struct node *node)
{
    if (__atomic_fetch_add(&node->pins, PIN, __ATOMIC_ACQUIRE) & LIVE)
        return true;
    __atomic_fetch_sub(&node->pins, PIN, __ATOMIC_RELAXED);
    return false;
}

// Release: what was read under the pin, before an eviction changes it.
static inline void unpin(struct node *node)
{
    __atomic_fetch_sub(&node->pins, PIN, __ATOMIC_RELEASE);
}

void slri_keys_unpin(slr_ring *ring, uint32_t instance)
{
    unpin(&ring->keys->node[instance]);
}

slr_status slri_keys_pin_instance(slr_ring *ring, uint32_t instance)
{
    if (pin(&ring->keys->node[instance]))
        return SLR_OK;
    return SLRI_FAIL(NOT_FOUND, "ring kernel '%s': instance %u has no key", ring->name, instance);
}

// With n buckets, the hash's low bits modulo the power of two above n, or where that bucket is not there yet, the one
// from which it will be split.
static inline uint32_t bucket_of(uint64_t hash, uint32_t buckets)
{
    uint32_t mask = UINT32_MAX >> __builtin_clz(buckets);
    uint32_t bucket = (uint32_t)hash & mask;
    return bucket < buckets ? bucket : bucket & mask >> 1;
}

static inline uint32_t *head_of(const struct slri_keys *keys, uint64_t hash)
{
    return &keys->head[bucket_of(hash, __atomic_load_n(&keys->buckets, __ATOMIC_RELAXED))];
}

// The key is compared again behind the pin: until then the node may be given to another. All loads but the pin's are
// relaxed: they only lead to a node, and a node is believed only behind its pin.
static inline bool find_and_pin(const struct slri_keys *keys, const slr_key *key, uint64_t hash, uint32_t *instance)
{
    uint64_t want = keys->text ? hash : key->number;
    uint32_t at = __atomic_load_n(head_of(keys, hash), __ATOMIC_RELAXED);
    for (uint32_t steps = 0; at != 0 && steps < MOST_STEPS; ++steps) {
        struct node *node = &keys->node[at - 1];
        if (__atomic_load_n(&node->key, __ATOMIC_RELAXED) == want && pin(node)) {
            if (__atomic_load_n(&node->key, __ATOMIC_RELAXED) == want && is_text(keys, at - 1, key)) {
                *instance = at - 1;
                return true;
            }
            unpin(node);
        }
        at = __atomic_load_n(&node->next, __ATOMIC_RELAXED);
    }
    return false;
}

// ---- changing, under the lock -------------------------------------------------------------------------------

// The same with all of the chain, which does not change now.
static uint32_t find_in_chain(const struct slri_keys *keys, const slr_key *key, uint64_t hash)
{
    for (uint32_t at = *head_of(keys, hash); at != 0; at = keys->node[at - 1].next)
        if (keys->node[at - 1].key == (keys->text ? hash : key->number) && is_text(keys, at - 1, key))
            return at - 1;
    return NONE;
}

static void link_node(struct slri_keys *keys, uint32_t *head, uint32_t instance)
{
    __atomic_store_n(&keys->node[instance].next, *head, __ATOMIC_RELAXED);
    __atomic_store_n(head, instance + 1, __ATOMIC_RELAXED);
}

static void unlink_node(struct slri_keys *keys, uint32_t instance)
{
    uint32_t *at = head_of(keys, hash_of_node(keys, &keys->node[instance]));
    while (*at != instance + 1)
        at = &keys->node[*at - 1].next;
    __atomic_store_n(at, keys->node[instance].next, __ATOMIC_RELAXED);
}

// Adds a bucket, and moves to it what is its own from the bucket that stood for it.
static void split_one(struct slri_keys *keys)
{
    uint32_t added = keys->buckets;
    uint32_t *from = &keys->head[bucket_of(added, added)];
    __atomic_store_n(&keys->buckets, added + 1, __ATOMIC_RELAXED);
    while (*from != 0) {
        uint32_t instance = *from - 1;
        struct node *node = &keys->node[instance];
        if (bucket_of(hash_of_node(keys, node), added + 1) == added) {
            __atomic_store_n(from, node->next, __ATOMIC_RELAXED);
            link_node(keys, &keys->head[added], instance);
        } else {
            from = &node->next;
        }
    }
}

static uint32_t take_number(struct slri_keys *keys)
{
    if (keys->free_first == 0)
        return keys->used < keys->limit ? keys->used++ : NONE;
    uint32_t instance = keys->free_first - 1;
    keys->free_first = keys->node[instance].next;
    return instance;
}

static void give_number(struct slri_keys *keys, uint32_t instance)
{
    __atomic_store_n(&keys->node[instance].next, keys->free_first, __ATOMIC_RELAXED);
    keys->free_first = instance + 1;
}

static struct slri_shard *shard_of(const slr_ring *ring, uint32_t instance)
{
    return &ring->shard[instance % ring->shards];
}

// Gives a key the instance, pinned once, in the state given or the initial one. Nobody else knows the instance. False:
// its device could not set the state; the number is free again.
static bool begin_key(slr_ring *ring, uint32_t instance, const slr_key *key, uint64_t hash, const void *state)
{
    struct slri_keys *keys = ring->keys;
    const struct slri_shard *shard = shard_of(ring, instance);
    if (shard->states && slri_shard_store(shard, slri_shard_state(shard, instance), state) != SLR_OK) {
        give_number(keys, instance);
        return false;
    }
    write_key(keys, instance, key, hash);
    // Release: key, text and state. Added, not stored: a reader who came too late may hold a pin for a moment.
    __atomic_fetch_add(&keys->node[instance].pins, LIVE + PIN, __ATOMIC_RELEASE);
    link_node(keys, head_of(keys, hash), instance);
    if (++keys->count > keys->buckets)
        split_one(keys);
    return true;
}

// Takes the key from an instance that is idle. True: from here on nobody but the caller knows the instance.
static bool end_key(slr_ring *ring, uint32_t instance)
{
    struct slri_keys *keys = ring->keys;
    // Acquire: what the owner wrote to the state, and what was read under a pin that is gone.
    uint32_t done = __atomic_load_n(slri_shard_done_word(shard_of(ring, instance), instance), __ATOMIC_ACQUIRE);
    uint32_t idle = done * PIN + LIVE;
    if (!__atomic_compare_exchange_n(&keys->node[instance].pins, &idle, done * PIN, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    unlink_node(keys, instance);
    --keys->count;
    return true;
}

// ---- the limit ----------------------------------------------------------------------------------------------

// The clock: an instance that was used since the hand last passed gets a second chance, but no more than SECOND_CHANCES
// do. NONE: not one is idle.
static uint32_t end_some_key(slr_ring *ring)
{
    struct slri_keys *keys = ring->keys;
    uint32_t chances = keys->limit < SECOND_CHANCES ? keys->limit : SECOND_CHANCES;
    for (uint32_t n = 0; n < chances + keys->limit; ++n) {
        uint32_t instance = keys->hand;
        keys->hand = instance + 1 < keys->limit ? instance + 1 : 0;
        uint32_t pins = __atomic_load_n(&keys->node[instance].pins, __ATOMIC_RELAXED);
        bool lately = pins != keys->swept[instance];
        keys->swept[instance] = pins;
        if (pins & LIVE && !(lately && n < chances) && end_key(ring, instance))
            return instance;
    }
    return NONE;
}

// The state, where the host can address it; else a copy, to be freed; NULL where there is none, or no copy can be had.
static void *reach_state(slr_ring *ring, uint32_t instance)
{
    struct slri_shard *shard = shard_of(ring, instance);
    void *state = slri_shard_state(shard, instance);
    if (!state || !ring->relaunch)
        return state;
    void *copy = slri_alloc(ring->device->allocator, ring->state_bytes);
    if (copy && slri_shard_load(shard, state, copy) != SLR_OK) {
        slri_free(ring->device->allocator, copy, ring->state_bytes);
        copy = NULL;
    }
    return copy;
}

// Under no lock. The instance is this thread's until its number is given back.
static void hand_out(slr_ring *ring, uint32_t instance)
{
    struct slri_keys *keys = ring->keys;
    slr_key key;
    slri_keys_key_of(ring, instance, &key);
    if (ring->on_evicted) {
        void *state = reach_state(ring, instance);
        ring->on_evicted(ring->evicted_user, &key, state, ring->state_bytes);
        if (ring->relaunch)
            slri_free(ring->device->allocator, state, ring->state_bytes);
    }
    slri_mutex_lock(&keys->lock);
    give_number(keys, instance);
    slri_mutex_unlock(&keys->lock);
}

enum outcome {
    FOUND,    // pinned; it was there
    BEGUN,    // pinned; it is new
    EVICTED,  // an instance was taken from its key, which is to be handed out; then again
    AT_LIMIT, // refused
    ALL_BUSY, // no instance is idle
    BROKEN    // its device failed, and has said how
};

// One attempt to find a key under the lock, or else to begin it. `evicts`: where another must go for it. Without
// on_evicted that is done at once; else the caller is to give its credits back before it hands the instance out.
static enum outcome try_begin(slr_ring *ring, const slr_key *key, uint64_t hash, const void *state, bool may_tell,
                              uint32_t *instance)
{
    struct slri_keys *keys = ring->keys;
    bool broken = false;
    for (;;) {
        slri_mutex_lock(&keys->lock);
        *instance = find_in_chain(keys, key, hash);
        bool found = *instance != NONE;
        if (found)
            pin(&keys->node[*instance]); // LIVE: it is only taken away under the lock
        else if ((*instance = take_number(keys)) != NONE)
            broken = !begin_key(ring, *instance, key, hash, state);
        bool evicts = *instance == NONE && ring->key_limit == SLR_KEY_LIMIT_EVICT_IDLE;
        bool tells = ring->on_evicted != NULL;
        uint32_t victim = evicts && (may_tell || !tells) ? end_some_key(ring) : NONE;
        keys->evicted += victim != NONE;
        slri_mutex_unlock(&keys->lock);
        if (broken)
            return BROKEN;
        if (*instance != NONE)
            return found ? FOUND : BEGUN;
        if (victim == NONE)
            return evicts ? ALL_BUSY : AT_LIMIT;
        if (tells) {
            *instance = victim;
            return EVICTED;
        }
        hand_out(ring, victim); // then again: the number may be taken, and the key begun, by another sender
    }
}

static slr_status refuse_key(slr_ring *ring, const slr_key *key, enum outcome outcome, bool late)
{
    char name[80];
    __atomic_fetch_add(&ring->refused, 1, __ATOMIC_RELAXED);
    if (outcome == AT_LIMIT)
        return SLRI_FAIL(FULL,
                         "ring kernel '%s': key %s needs a new instance, but all %u are in use; raise "
                         "slr_ring_desc.instances, forget keys, or evict idle ones",
                         ring->name, name_key(key, name), ring->instances);
    if (late)
        return SLRI_FAIL(TIMEOUT, "ring kernel '%s': key %s: none of its %u instances became idle by the deadline",
                         ring->name, name_key(key, name), ring->instances);
    return SLRI_FAIL(FULL, "ring kernel '%s': key %s: none of its %u instances is idle", ring->name,
                     name_key(key, name), ring->instances);
}

static bool is_open(const slr_ring *ring)
{
    return (slr_ring_get_state(ring) & (SLR_RING_LAUNCHED | SLR_RING_ACTIVE | SLR_RING_PAUSED)) != 0;
}

// Whether the key is new and must be refused, with or without room in the mailbox.
static bool is_over_limit(slr_ring *ring, const slr_key *key, uint64_t hash)
{
    struct slri_keys *keys = ring->keys;
    if (ring->key_limit == SLR_KEY_LIMIT_EVICT_IDLE)
        return false;
    slri_mutex_lock(&keys->lock);
    bool over = keys->free_first == 0 && keys->used == keys->limit && find_in_chain(keys, key, hash) == NONE;
    slri_mutex_unlock(&keys->lock);
    return over;
}

// Claims up to `want` credits for messages, that of a new key first. Nobody waits for room who would then be refused.
static slr_status pay(slr_ring *ring, const slr_key *key, uint64_t hash, uint32_t want, struct slri_until *until,
                      struct slri_granted *paid)
{
    if (slri_credits_try(ring, want, paid))
        return SLR_OK;
    if (is_open(ring) && is_over_limit(ring, key, hash))
        return refuse_key(ring, key, AT_LIMIT, false);
    return slri_credits_claim(ring, want, until, paid);
}

static void pay_back(slr_ring *ring, struct slri_granted *paid, uint32_t count)
{
    if (count == 0)
        return;
    slri_credits_give_back(ring, count);
    paid->count -= count;
}

// `paid` not NULL: only with a credit for its message, and up to `want` with it. A credit is not kept while waiting for
// an idle instance: those that are busy may be so for others who wait for credits.
static slr_status begin_or_wait(slr_ring *ring, const slr_key *key, uint64_t hash, const void *state, uint32_t want,
                                struct slri_until *until, uint32_t *instance, struct slri_granted *paid,
                                enum outcome *outcome)
{
    struct slri_backoff backoff = {.until.deadline_ns = SLRI_FOREVER}; // `until` is looked at with each outcome
    SLRI_TRY(slri_ring_check_process(ring));
    for (;;) {
        if (paid)
            SLRI_TRY(pay(ring, key, hash, want, until, paid));
        *outcome = try_begin(ring, key, hash, state, true, instance);
        if (*outcome <= BEGUN)
            return SLR_OK;
        if (paid)
            pay_back(ring, paid, paid->count);
        if (*outcome == EVICTED) {
            hand_out(ring, *instance); // with no credit: on_evicted may take long, and wait for whom it likes
            continue;
        }
        if (*outcome == BROKEN)
            return SLRI_FAIL(DEVICE_LOST, "ring kernel '%s': the state of a new key: %s", ring->name,
                             slr_error_message());
        if (!is_open(ring)) { // nothing will become idle
            SLRI_TRY(slri_refuse_closed(ring));
            continue;
        }
        bool waits = *outcome == ALL_BUSY && !slri_until_now(until) && ring->overflow == SLR_OVERFLOW_BLOCK;
        bool late = waits && slri_passed(slri_until_deadline(until));
        if (!waits || late)
            return refuse_key(ring, key, *outcome, late);
        if (slri_backoff_step(&backoff) == SLRI_PARK)
            slri_sleep_ns(WAIT_NS);
    }
}

// ---- what senders call --------------------------------------------------------------------------------------

// Starts the fetches of all before it needs the first: a key is two or three misses, which take far longer one by one.
// The second node of a chain is fetched where the first is another key's: a third of the keys that there are.
static void hash_and_fetch(const struct slri_keys *keys, const slr_key *key, uint32_t count, uint64_t *hash)
{
    for (uint32_t k = 0; k < count; ++k) {
        hash[k] = hash_of(keys, &key[k]);
        __builtin_prefetch(head_of(keys, hash[k]), 0);
    }
    if (count == 1)
        return;
    uint32_t first[SLRI_KEYS_AT_ONCE];
    for (uint32_t k = 0; k < count; ++k) {
        first[k] = __atomic_load_n(head_of(keys, hash[k]), __ATOMIC_RELAXED);
        if (first[k] != 0)
            __builtin_prefetch(&keys->node[first[k] - 1], 1);
    }
    for (uint32_t k = 0; k < count; ++k) {
        const struct node *node = &keys->node[first[k] ? first[k] - 1 : 0];
        uint32_t second = __atomic_load_n(&node->next, __ATOMIC_RELAXED);
        if (second != 0 && __atomic_load_n(&node->key, __ATOMIC_RELAXED) != (keys->text ? hash[k] : key[k].number))
            __builtin_prefetch(&keys->node[second - 1], 1);
    }
}

// Pins a key behind the first of a run; never waits. False: the run ends before it.
static bool pin_next(slr_ring *ring, const slr_key *key, uint64_t hash, uint32_t k, uint32_t count,
                     struct slri_granted *paid, uint32_t *instance)
{
    if (find_and_pin(ring->keys, key, hash, instance))
        return true;
    if (paid->count == 0 && !slri_credits_try(ring, count, paid)) // the whole run's: those before it need them, too
        return false;
    return paid->count > k && try_begin(ring, key, hash, NULL, false, instance) <= BEGUN;
}

uint32_t slri_keys_pin(slr_ring *ring, const slr_key *key, uint32_t count, struct slri_until *until, uint32_t *instance,
                       struct slri_granted *paid, slr_status *status)
{
    const struct slri_keys *keys = ring->keys;
    uint64_t hash[SLRI_KEYS_AT_ONCE];
    enum outcome outcome;
    uint32_t k = 1;
    count = count < SLRI_KEYS_AT_ONCE ? count : SLRI_KEYS_AT_ONCE;
    hash_and_fetch(keys, key, count, hash);
    *status = SLR_OK;
    paid->count = 0;
    // Only the first waits: an instance that this call has pinned already will not become idle.
    if (!find_and_pin(keys, key, hash[0], instance))
        *status = begin_or_wait(ring, key, hash[0], NULL, count, until, instance, paid, &outcome);
    if (*status != SLR_OK)
        return 0;
    while (k < count && pin_next(ring, &key[k], hash[k], k, count, paid, &instance[k]))
        ++k;
    if (paid->count > k)
        pay_back(ring, paid, paid->count - k);
    return k;
}

bool slri_keys_pin_known(slr_ring *ring, const slr_key *key, uint32_t *instance)
{
    struct slri_keys *keys = ring->keys;
    uint64_t hash = hash_of(keys, key);
    if (find_and_pin(keys, key, hash, instance))
        return true;
    slri_mutex_lock(&keys->lock);
    *instance = find_in_chain(keys, key, hash);
    bool found = *instance != NONE && pin(&keys->node[*instance]);
    slri_mutex_unlock(&keys->lock);
    return found;
}

slr_status slri_keys_add(slr_ring *ring, const slr_key *key, const void *state, struct slri_until *until,
                         uint32_t *instance)
{
    enum outcome outcome;
    char name[80];
    SLRI_TRY(begin_or_wait(ring, key, hash_of(ring->keys, key), state, 0, until, instance, NULL, &outcome));
    slri_keys_unpin(ring, *instance);
    if (outcome == BEGUN)
        return SLR_OK;
    return SLRI_FAIL(WRONG_STATE, "ring kernel '%s': key %s has instance %u already", ring->name, name_key(key, name),
                     *instance);
}

// NOT_FOUND, TIMEOUT: not idle now, or OK.
static slr_status try_forget(slr_ring *ring, const slr_key *key, uint32_t *instance)
{
    struct slri_keys *keys = ring->keys;
    slri_mutex_lock(&keys->lock);
    *instance = find_in_chain(keys, key, hash_of(keys, key));
    slr_status status = *instance == NONE ? SLR_NOT_FOUND : end_key(ring, *instance) ? SLR_OK : SLR_TIMEOUT;
    slri_mutex_unlock(&keys->lock);
    return status;
}

slr_status slri_keys_forget(slr_ring *ring, const slr_key *key, void *state, uint64_t deadline_ns)
{
    struct slri_keys *keys = ring->keys;
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    char name[80];
    uint32_t instance;
    slr_status status;
    SLRI_TRY(slri_ring_check_process(ring));
    uint32_t over = __atomic_load_n(&ring->over, __ATOMIC_ACQUIRE); // before the look: what it then finds will stay
    while ((status = try_forget(ring, key, &instance)) == SLR_TIMEOUT) {
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE || over)
            return SLRI_FAIL(TIMEOUT, "ring kernel '%s': messages of key %s were still pending at the %s", ring->name,
                             name_key(key, name), wait == SLRI_TOO_LATE ? "deadline" : "end");
        if (wait == SLRI_PARK)
            slri_sleep_ns(WAIT_NS);
        over = __atomic_load_n(&ring->over, __ATOMIC_ACQUIRE);
    }
    if (status == SLR_NOT_FOUND)
        return SLRI_FAIL(NOT_FOUND, "ring kernel '%s' has no key %s", ring->name, name_key(key, name));
    if (state && ring->state_bytes)
        status = slri_shard_load(shard_of(ring, instance), slri_shard_state(shard_of(ring, instance), instance), state);
    slri_mutex_lock(&keys->lock);
    give_number(keys, instance);
    slri_mutex_unlock(&keys->lock);
    return status;
}
