// SPDX-License-Identifier: Apache-2.0
// A handler that sends: measurements go on to whom they concern. `ring_to(struct message)` is an outlet; which ring kernel it
// leads to, the host says by slr_route.
#include <slipring/device.h>

struct measurement { unsigned patient; float pulse, pressure; };
struct seen { float pulse; };
struct finding { unsigned patient; float value; };
struct tally { unsigned count; float highest; };

__device__ int leaps(float before, float now)
{
    return before > 0.0f && (now > before * 1.5f || now < before * 0.5f);
}

__ring__ void triage(struct seen *self, const struct measurement *in, ring_to(struct finding) urgent,
                     ring_to(struct finding) routine)
{
    struct finding out;
    out.patient = in->patient;
    if (in->pulse > 150.0f || leaps(self->pulse, in->pulse)) {
        out.value = in->pulse;
        ring_send(urgent, &out);
    }
    if (in->pressure > 140.0f) {
        out.value = in->pressure;
        ring_send_at(routine, in->patient % 4u, &out); // one of four nurses
    }
    self->pulse = in->pulse;
}

// Whoever it comes from: what was found so far.
__ring__ void note(struct tally *self, const struct finding *in)
{
    self->count += 1u;
    if (in->value > self->highest) { self->highest = in->value; }
    ring_reply(self);
}
