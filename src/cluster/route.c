// SPDX-License-Identifier: Apache-2.0
// A route between devices: a port collects the replies of the one, another sends them to the other, and a thread
// carries them. It takes no reply before the last one was accepted: what is full there fills up here, and so on to the
// source.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/thread.h"
#include "ring/ring.h"

#include <slipring/cluster_route.h>
#include <slipring/keys.h>

#include <string.h>

#define LOOK_NS UINT64_C(20000000) // between two looks at whether it shall end
#define TRY_NS UINT64_C(1000000)   // of one attempt to send; then replies are discarded, for which `to` may wait

struct slr_cluster_route {
    slr_cluster_route_desc desc;
    slr_ring *from, *to;
    slr_address address;
    slr_port *in, *out;
    slri_thread thread;
    uint64_t deadline_ns;              // atomic: 0 until it shall end
    uint64_t received, sent, unrouted; // atomic; written by the thread alone
    uint32_t reply_bytes;
    unsigned char *reply, *discarded; // behind this
    size_t bytes;
};

static void count(uint64_t *counter)
{
    __atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED); // a count alone
}

static uint64_t ends_at(const slr_cluster_route *route)
{
    return __atomic_load_n(&route->deadline_ns, __ATOMIC_ACQUIRE);
}

// ---- the thread ----------------------------------------------------------------------------------------------------

// What `to` replies to these messages, and that it has failed or ended, concerns nobody here.
static void discard(slr_cluster_route *route)
{
    slr_reply reply;
    for (int i = 0; i < 64; ++i)
        if (slr_receive(route->out, &reply, route->discarded, route->to->reply_bytes, 0) != SLR_OK)
            return;
}

static slr_status send_once(slr_cluster_route *route, const slr_reply *reply)
{
    slr_send_options options = {.priority = SLR_PRIORITY(reply->priority), .correlation = reply->correlation};
    slr_address to = route->address;
    if (route->desc.key_at) {
        uint64_t key;
        memcpy(&key, route->reply + route->desc.key_at - 1, sizeof key);
        return slr_send_key(route->out, to, slr_key_u64(key), route->reply, reply->bytes, &options, TRY_NS);
    }
    to.instance = route->to->instances > 1 ? reply->from.instance : 0;
    if (route->desc.instance_at)
        memcpy(&to.instance, route->reply + route->desc.instance_at - 1, sizeof to.instance);
    return slr_send_with(route->out, to, route->reply, reply->bytes, &options, TRY_NS);
}

// Until it is accepted, or cannot be. A ring kernel that has failed may be restarted.
static void pass_on(slr_cluster_route *route, const slr_reply *reply)
{
    for (;;) {
        slr_status status = send_once(route, reply);
        discard(route);
        if (status == SLR_OK) {
            count(&route->sent);
            return;
        }
        bool may_come = status == SLR_TIMEOUT || status == SLR_FULL || status == SLR_RING_FAILED;
        uint64_t deadline_ns = ends_at(route);
        if (!may_come || (deadline_ns != 0 && slri_passed(deadline_ns))) {
            count(&route->unrouted);
            return;
        }
        if (status != SLR_TIMEOUT)
            slri_sleep_ns(TRY_NS);
    }
}

static void carry(void *arg)
{
    slr_cluster_route *route = arg;
    for (;;) {
        slr_reply reply;
        bool ends = ends_at(route) != 0; // before the look that finds nothing
        slr_status status = slr_receive(route->in, &reply, route->reply, route->reply_bytes, ends ? 0 : LOOK_NS);
        if (status == SLR_OK && reply.status == SLR_OK) {
            count(&route->received);
            pass_on(route, &reply);
        } else if (status == SLR_END) {
            break;
        } else if (status == SLR_TIMEOUT) {
            discard(route);
            if (ends)
                return;
        }
    }
    if (route->desc.close_with_source)
        (void)slr_ring_close_input(route->to); // or it has ended by itself
}

// ---- its life ------------------------------------------------------------------------------------------------------

static slr_status check_key(const slr_cluster_route_desc *desc, const slr_ring *from, const slr_ring *to)
{
    if ((desc->key_at != 0) != (to->key_sort == SLR_KEYS_U64))
        return SLRI_FAIL(INVALID,
                         "route from '%s' to '%s': key_at is for destinations with 64-bit keys, and needed there",
                         from->name, to->name);
    uint64_t instance_end = desc->instance_at ? (uint64_t)desc->instance_at + 3 : 0;
    uint64_t key_end = desc->key_at ? (uint64_t)desc->key_at + 7 : 0;
    if (instance_end > from->reply_bytes || key_end > from->reply_bytes)
        return SLRI_FAIL(INVALID, "route from '%s' to '%s': %s lies outside the reply of %u bytes", from->name,
                         to->name, key_end > from->reply_bytes ? "key_at" : "instance_at", from->reply_bytes);
    return SLR_OK;
}

static slr_status check(const slr_cluster_route_desc *desc, const slr_ring *from, const slr_ring *to)
{
    if (to->key_sort == SLR_KEYS_TEXT)
        return SLRI_FAIL(INVALID, "route from '%s' to '%s': the destination's keys are texts", from->name, to->name);
    if (desc->close_with_source > 1)
        return SLRI_FAIL(INVALID, "slr_cluster_route_desc.close_with_source is %u; expected 0 or 1",
                         desc->close_with_source);
    SLRI_TRY(check_key(desc, from, to));
    if (from->reply_bytes == to->message_bytes || from->reply_bytes == 0) // the latter is refused with the port
        return SLR_OK;
    return SLRI_FAIL(LAYOUT, "a reply of '%s' has %u B, a message of '%s' has %u B", from->name, from->reply_bytes,
                     to->name, to->message_bytes);
}

static void take_route_apart(slr_cluster_route *route)
{
    slr_port_close(route->in);
    slr_port_close(route->out);
    slri_free(NULL, route, route->bytes);
}

static slr_status open_ports(slr_cluster_route *route)
{
    SLRI_TRY(slr_ring_get_address(route->to, 0, &route->address));
    SLRI_TRY(slr_port_open(route->from->device, &route->in));
    SLRI_TRY(slr_port_open(route->to->device, &route->out));
    SLRI_TRY(slr_route_to_port(route->from, route->in, NULL));
    return slri_thread_start(&route->thread, "slr-route", carry, route);
}

slr_status slr_cluster_route_create(slr_ring *from, slr_ring *to, const slr_cluster_route_desc *desc,
                                    slr_cluster_route **out)
{
    slr_cluster_route_desc whole;
    if (!from || !to || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_route_create: %s is NULL", !from ? "from" : !to ? "to" : "out");
    SLRI_TRY(SLRI_TAKE_DESC(slr_cluster_route_desc, &whole, desc));
    SLRI_TRY(check(&whole, from, to));
    size_t head = (sizeof(slr_cluster_route) + 15) / 16 * 16, in = (from->reply_bytes + 15) / 16 * 16;
    size_t bytes = head + in + to->reply_bytes;
    slr_cluster_route *route = slri_alloc(NULL, bytes);
    if (!route)
        return SLRI_FAIL(NO_MEMORY, "no memory for a route between devices");
    *route = (slr_cluster_route){.desc = whole, .from = from, .to = to, .bytes = bytes};
    route->reply_bytes = from->reply_bytes;
    route->reply = (unsigned char *)route + head;
    route->discarded = route->reply + in;
    slr_status status = open_ports(route);
    if (status == SLR_OK)
        *out = route;
    else
        take_route_apart(route);
    return status;
}

slr_status slr_cluster_route_get_stats_sized(const slr_cluster_route *route, slr_cluster_route_stats *out, size_t bytes)
{
    if (!route || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_route_get_stats: %s is NULL", route ? "out" : "route");
    slr_cluster_route_stats whole = {.sent = __atomic_load_n(&route->sent, __ATOMIC_RELAXED),
                                     .unrouted = __atomic_load_n(&route->unrouted, __ATOMIC_RELAXED),
                                     .received = __atomic_load_n(&route->received, __ATOMIC_RELAXED)};
    return SLRI_GIVE_REPORT(slr_cluster_route_stats, out, bytes, &whole);
}

slr_status(slr_cluster_route_get_stats)(const slr_cluster_route *route, slr_cluster_route_stats *out)
{
    return slr_cluster_route_get_stats_sized(route, out, SLRI_FIRST_slr_cluster_route_stats);
}

void slr_cluster_route_destroy(slr_cluster_route *route, uint64_t timeout_ns, slr_cluster_route_stats *stats)
{
    if (!route)
        return;
    uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    __atomic_store_n(&route->deadline_ns, deadline_ns ? deadline_ns : 1, __ATOMIC_RELEASE);
    slri_thread_join(&route->thread);
    if (stats)
        (void)slr_cluster_route_get_stats(route, stats);
    take_route_apart(route);
}
