// SPDX-License-Identifier: Apache-2.0
/// Publish and subscribe: routes by name. Contract: docs/contract/routes.md.
///
/// A topic is a list of parts separated by dots: "ward.7.alarms". In a pattern `*` matches one part, and a final `#`
/// matches all parts that follow, or none: "ward.*.alarms", "ward.#". Names are resolved at slr_subscribe and
/// slr_advertise, never while a message is sent.
#ifndef SLIPRING_TOPIC_H
#define SLIPRING_TOPIC_H

#include <slipring/route.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A topic under which a host thread publishes.
typedef struct slr_topic slr_topic;

/// Publishes the replies of `from` under `topic`: makes a route to every present and future subscriber on its device.
/// Lasts until `from` is destroyed. One ring kernel may have several topics.
///
/// Threads: any; not from a handler of the same device.  Blocks: as slr_route.
/// Errors: INVALID (not a topic: the message gives the defect), WRONG_STATE (not launched, or has ended). Errors of
///   slr_route: a subscriber does not fit, and nothing has changed. After NO_MEMORY and TIMEOUT some routes may exist.
SLR_API slr_status slr_advertise(slr_ring *from, const char *topic);

/// Sends `to` everything published under a matching topic on its device from now on: by ring kernels, along a route
/// from each, and by slr_publish. A ring kernel with two matches receives each message once. Lasts until `to` is
/// destroyed, also during a failure: after its restart it receives later messages. If it was paused and
/// full, and a ring kernel advertised during the failure, slr_ring_reactivate makes that route.
///
/// Threads, Blocks, Errors: as slr_advertise.
SLR_API slr_status slr_subscribe(slr_ring *to, const char *pattern);

/// Makes a topic for slr_publish.
/// Threads: any.  Blocks: no.  Owns: the caller gets the topic: slr_topic_close.  Errors: INVALID, NO_MEMORY.
SLR_API slr_status slr_topic_open(slr_device *device, const char *topic, slr_topic **out);

/// NULL does nothing.  Threads: any, once.  Blocks: no.
SLR_API void slr_topic_close(slr_topic *topic);

/// Sends a message to instance 0 of every subscriber of the topic, through `port`. `accepted` (may be NULL) is always
/// set: the number of subscribers that accepted it. Ended subscribers are skipped; to have no subscriber is not an
/// error.
///
/// Threads: the port's owner; no other thread may use the topic during the call.
/// Blocks: until `timeout_ns`, for all of them together.
/// Errors: as slr_send (the first error; the message is still sent to the others), NO_MEMORY.
SLR_API slr_status slr_publish(slr_port *port, slr_topic *topic, const void *message, size_t bytes, uint64_t timeout_ns,
                               uint32_t *accepted);

#ifdef __cplusplus
}
#endif
#endif
