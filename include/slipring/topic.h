// SPDX-License-Identifier: Apache-2.0
/// Publish and subscribe by name: routes that find their ends. Contract: docs/contract/routes.md.
///
/// A topic is parts joined by dots: "ward.7.alarms". In a pattern `*` stands for one part, `#`, as the last, for all
/// that follow, even none: "ward.*.alarms", "ward.#". Names are resolved when somebody subscribes or advertises, never
/// on the way of a message.
#ifndef SLIPRING_TOPIC_H
#define SLIPRING_TOPIC_H

#include <slipring/route.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a host thread publishes under.
typedef struct slr_topic slr_topic;

/// Publishes the replies of `from` as `topic`: it gets a route to every ring kernel of its device that has subscribed
/// to that, or will. Lasts until `from` is destroyed; one ring kernel may have several.
///
/// Threads: any; not from a handler of the same device.  Blocks: as slr_route.
/// Errors: INVALID (no topic: says what is wrong with it), WRONG_STATE (not launched, or has ended), and those of
/// slr_route: of a subscriber that does not fit, then nothing has changed; NO_MEMORY and TIMEOUT, then some routes may
/// have been made.
SLR_API slr_status slr_advertise(slr_ring *from, const char *topic);

/// Sends `to` all that is published under a matching topic on its device, from now on: by ring kernels, along a route
/// from each, and by slr_publish. A ring kernel that matches twice is sent each message once. Lasts until `to` is
/// destroyed, also while it has failed: after its restart it is sent what comes then.
///
/// Threads, Blocks, Errors: as slr_advertise.
SLR_API slr_status slr_subscribe(slr_ring *to, const char *pattern);

/// Makes a topic to publish under.
/// Threads: any.  Blocks: no.  Owns: the caller gets the topic: slr_topic_close.  Errors: INVALID, NO_MEMORY.
SLR_API slr_status slr_topic_open(slr_device *device, const char *topic, slr_topic **out);

/// NULL is fine.  Threads: any, once.  Blocks: no.
SLR_API void slr_topic_close(slr_topic *topic);

/// Sends a message to instance 0 of every subscriber of the topic, through `port`. `accepted` (may be NULL) is always
/// set: how many accepted it. Those that have ended are passed over; none at all is no error.
///
/// Threads: the owner of the port, who is the only one to use the topic meanwhile.  Blocks: until `timeout_ns`, for all
/// of them together.  Errors: as slr_send (the first; the others are sent the message all the same), NO_MEMORY.
SLR_API slr_status slr_publish(slr_port *port, slr_topic *topic, const void *message, size_t bytes, uint64_t timeout_ns,
                               uint32_t *accepted);

#ifdef __cplusplus
}
#endif
#endif
