// SPDX-License-Identifier: Apache-2.0
// Who publishes and who has subscribed to what. Slow path only: a name is turned into routes, or into the addresses
// that an slr_topic keeps, when one of the two sides changes.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/forks.h"
#include "base/status.h"
#include "ring/ring.h"

#include <slipring/topic.h>

#include <string.h>

#define LONGEST 255u

struct slri_topic_entry { // one advertised topic, or one subscription
    struct slri_link in_all;
    struct slri_topic_entry *next_of_ring;
    slr_ring *ring; // forgotten before it goes
    bool subscribes;
    char text[LONGEST + 1];
};

struct slr_topic {
    slr_device *device;
    uint32_t version; // of what follows
    slr_address *to;
    uint32_t count, room;
    char text[LONGEST + 1];
};

static slri_mutex lock = SLRI_MUTEX_INIT;               // taken before those of routes; no owner of a shard takes it
static struct slri_link entries = {&entries, &entries}; // the newest first
static uint64_t resolves;
static uint32_t version = 1; // raised at every change; atomic, changed under the lock

// All of them are of the parent's ring kernels. The new version makes each topic of the parent ask for the lock.
static void forget_entries(void)
{
    slri_links_init(&entries);
    __atomic_fetch_add(&version, 1, __ATOMIC_RELAXED); // the child has one thread
}

SLRI_RENEW_IN_CHILD(renew_lock, &lock, forget_entries)

// ---- names ---------------------------------------------------------------------------------------------------------

static size_t part_length(const char *text)
{
    return strcspn(text, ".");
}

static bool is_part(const char *part, size_t length, bool pattern, bool last)
{
    if (length == 1 && (*part == '*' || *part == '#'))
        return pattern && (*part == '*' || last);
    return length > 0 && !memchr(part, '*', length) && !memchr(part, '#', length);
}

static slr_status check(const char *text, bool pattern)
{
    const char *what = pattern ? "pattern" : "topic";
    if (!text || strlen(text) > LONGEST)
        return SLRI_FAIL(INVALID, "a %s has 1 to %u characters", what, LONGEST);
    for (const char *part = text;;) {
        size_t length = part_length(part);
        bool last = part[length] == '\0';
        if (!is_part(part, length, pattern, last))
            return SLRI_FAIL(INVALID,
                             pattern ? "pattern '%s': parts joined by dots; `*` is a whole part, `#` the last one"
                                     : "topic '%s': parts joined by dots, none of them empty, without `*` and `#`",
                             text);
        if (last)
            return SLR_OK;
        part += length + 1;
    }
}

static bool matches(const char *pattern, const char *topic)
{
    for (;;) {
        size_t p = part_length(pattern), t = part_length(topic);
        if (strcmp(pattern, "#") == 0)
            return true;
        if (*topic == '\0' || (strncmp(pattern, "*", p) != 0 && (p != t || memcmp(pattern, topic, p) != 0)))
            return false;
        pattern += p;
        topic += t;
        if (*pattern == '\0')
            return *topic == '\0';
        ++pattern;
        topic += *topic == '.';
    }
}

// ---- ring kernels, under the lock ----------------------------------------------------------------------------------

static bool takes_part(const slr_ring *ring)
{
    return slr_ring_get_state(ring) & (SLR_RING_LAUNCHED | SLR_RING_ACTIVE | SLR_RING_PAUSED);
}

// One that has failed keeps its subscriptions: it may be restarted, at any time, and whoever publishes is told that it
// has failed, as by slr_send.
static bool is_subscribed(const slr_ring *ring)
{
    return takes_part(ring) || slr_ring_get_state(ring) == SLR_RING_IN_FAILURE;
}

// Calls `visit` for each pair of an advertiser and a subscriber that an entry brings together, until one fails.
static slr_status for_pairs(const struct slri_topic_entry *entry, slr_status (*visit)(slr_ring *from, slr_ring *to))
{
    for (struct slri_link *link = slri_links_first(&entries); link; link = slri_links_next(&entries, link)) {
        const struct slri_topic_entry *other = SLRI_LINKED(struct slri_topic_entry, in_all, link);
        const struct slri_topic_entry *a = entry->subscribes ? other : entry, *s = entry->subscribes ? entry : other;
        if (!a->subscribes && s->subscribes && a->ring->device == s->ring->device && takes_part(other->ring) &&
            matches(s->text, a->text))
            SLRI_TRY(visit(a->ring, s->ring));
    }
    return SLR_OK;
}

static slr_status join(slr_ring *from, slr_ring *to)
{
    bool full;
    return slri_route_once(from, to, true, &full);
}

static slr_status enter_topic(slr_ring *ring, const char *text, bool subscribes)
{
    if (!takes_part(ring))
        return SLRI_FAIL(WRONG_STATE, "ring kernel '%s' is %s; '%s' needs it launched, active or paused", ring->name,
                         slr_ring_state_name(slr_ring_get_state(ring)), text);
    if (subscribes && ring->key_sort)
        return SLRI_FAIL(INVALID, "ring kernel '%s' is keyed, and published messages have no keys", ring->name);
    struct slri_topic_entry *entry = slri_alloc(ring->device->allocator, sizeof *entry);
    if (!entry)
        return SLRI_FAIL(NO_MEMORY, "no memory for '%s'", text);
    entry->ring = ring;
    entry->subscribes = subscribes;
    memcpy(entry->text, text, strlen(text) + 1);
    slr_status status = for_pairs(entry, slri_route_check);
    if (status == SLR_OK)
        status = for_pairs(entry, join);
    if (status != SLR_OK) {
        slri_free(ring->device->allocator, entry, sizeof *entry);
        return status;
    }
    slri_link_first(&entries, &entry->in_all);
    entry->next_of_ring = ring->topics.first;
    ring->topics.first = entry;
    __atomic_fetch_add(&version, 1, __ATOMIC_RELEASE); // the list is read under the lock all the same
    return SLR_OK;
}

static slr_status enter_checked(slr_ring *ring, const char *text, bool subscribes, const char *call)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "%s: the ring kernel is NULL", call);
    SLRI_TRY(slri_ring_check_process(ring));
    SLRI_TRY(check(text, subscribes));
    slri_mutex_lock(&lock);
    slr_status status = enter_topic(ring, text, subscribes);
    slri_mutex_unlock(&lock);
    return status;
}

slr_status slr_advertise(slr_ring *from, const char *topic)
{
    return enter_checked(from, topic, false, "slr_advertise");
}

slr_status slr_subscribe(slr_ring *to, const char *pattern)
{
    return enter_checked(to, pattern, true, "slr_subscribe");
}

// Leaves the routes that there was no room for to the next reactivation. False: it is not paused, so there may be none.
static bool owe(slr_ring *to)
{
    slri_mutex_lock(&to->lock);
    bool paused = slr_ring_get_state(to) == SLR_RING_PAUSED;
    to->topics.owed = true;
    slri_mutex_unlock(&to->lock);
    return paused;
}

// A paused one may get no room until it is reactivated, for which nobody waits here: who restarts it may be the one to
// do that, and meanwhile nobody could change a route.
static slr_status join_later(slr_ring *from, slr_ring *to)
{
    SLRI_TRY(slri_route_check(from, to)); // nobody has looked at this pair yet
    for (;;) {
        bool full, waits = slr_ring_get_state(to) != SLR_RING_PAUSED;
        slr_status status = slri_route_once(from, to, waits, &full);
        if (!full)
            return status;
        if (owe(to))
            return SLR_OK;
        if (waits)
            return status;
    }
}

slr_status slri_topics_rejoin(const slr_ring *ring)
{
    slr_status first = SLR_OK;
    slri_mutex_lock(&lock);
    for (const struct slri_topic_entry *entry = ring->topics.first; entry && takes_part(ring);
         entry = entry->next_of_ring) {
        slr_status status = for_pairs(entry, join_later);
        first = first == SLR_OK ? status : first;
    }
    slri_mutex_unlock(&lock);
    return first;
}

slr_status slri_topics_pay(slr_ring *ring)
{
    slri_mutex_lock(&ring->lock);
    bool pays = ring->topics.owed && slr_ring_get_state(ring) == SLR_RING_ACTIVE; // else it stays owed
    if (pays)
        ring->topics.owed = false;
    slri_mutex_unlock(&ring->lock);
    return pays ? slri_topics_rejoin(ring) : SLR_OK;
}

void slri_topics_forget(slr_ring *ring)
{
    slri_mutex_lock(&lock);
    for (struct slri_topic_entry *entry; (entry = ring->topics.first) != NULL;) {
        ring->topics.first = entry->next_of_ring;
        slri_unlink(&entry->in_all);
        slri_free(ring->device->allocator, entry, sizeof *entry);
        __atomic_fetch_add(&version, 1, __ATOMIC_RELEASE);
    }
    slri_mutex_unlock(&lock);
}

// ---- host threads --------------------------------------------------------------------------------------------------

slr_status slr_topic_open(slr_device *device, const char *topic, slr_topic **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_topic_open: %s is NULL", device ? "out" : "device");
    SLRI_TRY(slri_device_check_process(device));
    SLRI_TRY(check(topic, false));
    slr_topic *made = slri_alloc(device->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for topic '%s'", topic);
    memcpy(made->text, topic, strlen(topic) + 1);
    slri_device_hold(device);
    made->device = device;
    *out = made;
    return SLR_OK;
}

void slr_topic_close(slr_topic *topic)
{
    if (!topic || slri_device_is_anothers(topic->device))
        return;
    slr_device *device = topic->device;
    slri_free(device->allocator, topic->to, topic->room * sizeof *topic->to);
    slri_free(device->allocator, topic, sizeof *topic);
    slri_device_release(device);
}

static slr_status make_room(slr_topic *topic)
{
    if (topic->count < topic->room)
        return SLR_OK;
    uint32_t room = topic->room ? topic->room * 2 : 8;
    slr_address *to = slri_alloc(topic->device->allocator, room * sizeof *to);
    if (!to)
        return SLRI_FAIL(NO_MEMORY, "no memory for %u subscribers of '%s'", room, topic->text);
    if (topic->count)
        memcpy(to, topic->to, topic->count * sizeof *to);
    slri_free(topic->device->allocator, topic->to, topic->room * sizeof *to);
    topic->to = to;
    topic->room = room;
    return SLR_OK;
}

// Under the lock: the addresses of all subscribers now.
static slr_status resolve_topic(slr_topic *topic)
{
    topic->count = 0;
    ++resolves;
    for (struct slri_link *link = slri_links_first(&entries); link; link = slri_links_next(&entries, link)) {
        const struct slri_topic_entry *e = SLRI_LINKED(struct slri_topic_entry, in_all, link);
        slr_address address;
        if (!e->subscribes || e->ring->device != topic->device || !is_subscribed(e->ring) ||
            !matches(e->text, topic->text) || slr_ring_get_address(e->ring, 0, &address) != SLR_OK ||
            e->ring->topics.listed == resolves) // by another of its patterns
            continue;
        SLRI_TRY(make_room(topic));
        e->ring->topics.listed = resolves;
        topic->to[topic->count++] = address;
    }
    topic->version = __atomic_load_n(&version, __ATOMIC_RELAXED); // changed under the lock alone
    return SLR_OK;
}

slr_status slr_publish(slr_port *port, slr_topic *topic, const void *message, size_t bytes, uint64_t timeout_ns,
                       uint32_t *accepted)
{
    uint32_t none, *count = accepted ? accepted : &none;
    *count = 0;
    if (!port || !topic)
        return SLRI_FAIL(INVALID, "slr_publish: %s is NULL", port ? "topic" : "port");
    // Relaxed: who subscribed before this call, in this thread or in one that told it, is seen.
    if (topic->version != __atomic_load_n(&version, __ATOMIC_RELAXED)) {
        SLRI_TRY(slri_device_check_process(topic->device));
        slri_mutex_lock(&lock);
        slr_status status = resolve_topic(topic);
        slri_mutex_unlock(&lock);
        SLRI_TRY(status);
    }
    struct slri_until until = {.timeout_ns = timeout_ns};
    slr_status first = SLR_OK;
    for (uint32_t i = 0; i < topic->count; ++i) {
        slr_status status =
            slri_send(port, topic->to[i], message, bytes, 0, ++port->correlation & ~SLRI_CALL_BIT, NULL, &until);
        *count += status == SLR_OK;
        if (first == SLR_OK && status != SLR_RING_DEAD && status != SLR_CLOSED)
            first = status;
    }
    return first;
}
