// SPDX-License-Identifier: Apache-2.0
#include "demo/demo.h"

#include "memory.h"

#include <stdlib.h>

void demo_hearts_open(demo_hearts *hearts, uint32_t patients)
{
    *hearts = (demo_hearts){.rr_s = memory_take(patients, sizeof *hearts->rr_s),
                            .intervals = memory_take(patients, sizeof *hearts->intervals)};
}

void demo_hearts_close(demo_hearts *hearts)
{
    free(hearts->rr_s);
    free(hearts->intervals);
}

static float rate(const float *rr_s)
{
    float sum = 0.0f;
    for (int i = 0; i < DEMO_RATE_BEATS; i++)
        sum += rr_s[i];
    return 60.0f * DEMO_RATE_BEATS / sum;
}

void demo_hearts_take(demo_hearts *hearts, uint32_t patient, const struct beat *beat)
{
    hearts->beats++;
    hearts->alarms += beat->alarm;
    if (beat->rr_s <= 0.0f)
        return;
    float *rr_s = hearts->rr_s[patient];
    rr_s[hearts->intervals[patient]++ % DEMO_RATE_BEATS] = beat->rr_s;
    if (hearts->intervals[patient] < DEMO_RATE_BEATS)
        return;
    float now = rate(rr_s);
    if (hearts->slowest == 0.0f || now < hearts->slowest)
        hearts->slowest = now;
    if (now > hearts->fastest)
        hearts->fastest = now;
}
