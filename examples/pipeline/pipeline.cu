// SPDX-License-Identifier: Apache-2.0
// Four stages between raw thermometer readings and alarms. Each replies with what the next one takes; which one that is, the
// host says once, by routes.
#include <slipring/device.h>

struct reading { unsigned sensor; int millivolts; };
struct sample { unsigned sensor; float celsius; };
struct average { float sum; float last[8]; unsigned count; };
struct trend { float before; };
struct change { unsigned sensor; float celsius, slope; };
struct alarms { unsigned count; };
struct alarm { unsigned sensor, number; float celsius; };

__ring__ void convert(const struct reading *in)
{
    struct sample out;
    out.sensor = in->sensor;
    out.celsius = (float)in->millivolts * 0.1f - 50.0f;
    ring_reply(&out);
}

// The mean of the last eight, for each sensor: an instance each.
__ring__ void smooth(struct average *self, const struct sample *in)
{
    unsigned at = self->count % 8u;
    self->sum += in->celsius - self->last[at];
    self->last[at] = in->celsius;
    self->count += 1u;
    struct sample out;
    out.sensor = in->sensor;
    out.celsius = self->sum / (float)(self->count < 8u ? self->count : 8u);
    ring_reply(&out);
}

__ring__ void differ(struct trend *self, const struct sample *in)
{
    struct change out;
    out.sensor = in->sensor;
    out.celsius = in->celsius;
    out.slope = in->celsius - self->before;
    self->before = in->celsius;
    ring_reply(&out);
}

// Replies only where there is something to say.
__ring__ void warn(struct alarms *self, const struct change *in)
{
    if (in->celsius <= 40.0f || in->slope <= 0.0f) { return; }
    struct alarm out;
    self->count += 1u;
    out.sensor = in->sensor;
    out.number = self->count;
    out.celsius = in->celsius;
    ring_reply(&out);
}
