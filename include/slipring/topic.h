// SPDX-License-Identifier: Apache-2.0
/// Publish and subscribe: ring kernels (message handlers) and threads that send messages find each other by the name of
/// a topic. Contract: docs/contract/routes.md.
///
/// A topic is a list of parts separated by dots, such as "ward.7.alarms". In a pattern `*` matches one part, and a
/// final `#` matches all parts that follow, or none: "ward.*.alarms", "ward.#". slipring compares topics with patterns
/// in slr_subscribe, in slr_advertise, and in the first slr_publish after one of these calls, but not for each message.
#ifndef SLIPRING_TOPIC_H
#define SLIPRING_TOPIC_H

#include <slipring/route.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An slr_topic is a topic under which a thread of the host publishes messages.
typedef struct slr_topic slr_topic;

/// Publishes the replies of the ring kernel `from` under `topic`: each present and future subscriber on the same device
/// gets the replies by a route (a connection between two ring kernels, <slipring/route.h>). Ring kernel `from`
/// publishes under the topic until `from` is destroyed. One ring kernel may publish under several topics.
///
/// Threads: any, but not a handler of the same device.  Blocks: as slr_route.
/// Errors: INVALID (`topic` is not a topic: the error message says what is wrong), WRONG_STATE (the ring kernel is not
///   launched, or has ended). If slr_advertise returns an error of slr_route, a route to one of the subscribers is
///   impossible, and slr_advertise has made no route. If slr_advertise fails with NO_MEMORY or TIMEOUT, it may have
///   made some of the routes to subscribers.
SLR_API slr_status slr_advertise(slr_ring *from, const char *topic);

/// Subscribes the ring kernel `to` to all topics on its device that match the pattern. After the subscription, the
/// subscriber `to` gets the messages that slr_publish sends under matching topics. Each ring kernel that publishes
/// under a matching topic (slr_advertise) gets a route to the subscriber. A ring kernel that has subscribed with two
/// matching patterns receives each message once. The subscription lasts until the subscriber is destroyed. The
/// subscription survives a failure of the subscriber, which receives later messages after its restart. If a program
/// calls slr_advertise for a ring kernel while `to` has failed, this ring kernel gets its route to `to` when `to`
/// restarts. If `to` is paused and its mailbox is full at the restart, slr_ring_reactivate makes the route later.
///
/// Threads, Blocks, Errors: as for slr_advertise.
SLR_API slr_status slr_subscribe(slr_ring *to, const char *pattern);

/// Makes a topic for slr_publish.
/// Threads: any.  Blocks: no.  Owns: the caller gets the topic, and frees it by slr_topic_close.  Errors: INVALID,
/// NO_MEMORY.
SLR_API slr_status slr_topic_open(slr_device *device, const char *topic, slr_topic **out);

/// Closes a topic that slr_topic_open made. If `topic` is NULL, slr_topic_close does nothing.  Threads: any, once.
/// Blocks: no.
SLR_API void slr_topic_close(slr_topic *topic);

/// Sends a message to instance 0 (the first state) of every subscriber of the topic, through `port`. `accepted` always
/// gets the number of subscribers that accepted the message; `accepted` may be NULL. slr_publish skips subscribers that
/// have ended. slr_publish succeeds also if the topic has no subscribers.
///
/// Threads: the port's owner; no other thread may use the topic during the call.
/// Blocks: while mailboxes of subscribers are full, for at most `timeout_ns` for all subscribers together.
/// Errors: those of slr_send (the first error; the call still sends the message to the other subscribers), NO_MEMORY.
SLR_API slr_status slr_publish(slr_port *port, slr_topic *topic, const void *message, size_t bytes, uint64_t timeout_ns,
                               uint32_t *accepted);

#ifdef __cplusplus
}
#endif
#endif
