// SPDX-License-Identifier: Apache-2.0
// Handlers that do what C leaves undefined and a kernel defines: wrapping, shift counts beyond the width, saturating
// conversions, faults; and what C does not have. Compiled kernel and interpreter must agree.
#include <math.h>
#include <slipring/device.h>
#include "shapes.h"

HANDLER(wrapping)
{
    struct out o = {0};
    o.i[0] = in->a + in->b;
    o.i[1] = in->a - in->b;
    o.i[2] = in->a * in->b;
    o.i[3] = -in->a;
    o.i[4] = in->a + 1 > in->a;
    o.i[5] = in->s * in->t * in->t;
    o.i[6] = in->a;
    o.i[6]++;
    o.i[7] = abs(in->a);
    o.l[0] = in->l + in->m;
    o.l[1] = in->l * in->m;
    o.l[2] = -in->l;
    o.l[3] = in->l - 1 < in->l;
    self->last.i[0] += in->a;
    o.l[4] = self->last.i[0];
    ring_reply(&o);
}

HANDLER(division)
{
    struct out o = {0};
    if (in->b) {
        o.i[0] = in->a / in->b; // the least integer by -1
        o.i[1] = in->a % in->b;
    }
    if (in->m) {
        o.l[0] = in->l / in->m;
        o.l[1] = in->l % in->m;
    }
    o.i[2] = in->a / -1;
    o.i[3] = in->a % -1;
    o.i[4] = in->a / 7 + in->a % 8;
    o.u[0] = in->u / 10 + in->u % 1000;
    o.u[1] = in->u / (in->v | 1);
    o.l[2] = in->x / (in->y | 1);
    o.l[3] = in->x % 1000000007;
    ring_reply(&o);
}

HANDLER(shifts)
{
    struct out o = {0};
    o.i[0] = in->a << in->b;
    o.i[1] = in->a >> in->b;
    o.u[0] = in->u << in->v;
    o.u[1] = in->u >> in->v;
    o.l[0] = in->l << in->m;
    o.l[1] = in->l >> in->m;
    o.l[2] = in->x << in->b;
    o.l[3] = in->x >> in->k;
    o.i[2] = in->c << in->k;
    o.i[3] = in->s >> in->l;
    o.i[4] = in->a << (in->k | 32);
    o.i[5] = 1 << in->c;
    o.u[2] = in->k << 24 | in->k << 16;
    o.u[3] = in->u;
    o.u[3] <<= in->x;
    ring_reply(&o);
}

HANDLER(saturation)
{
    struct out o = {0};
    o.i[0] = in->f;
    o.i[1] = in->d;
    o.u[0] = in->f;
    o.u[1] = in->d;
    o.l[0] = in->f;
    o.l[1] = in->d;
    o.l[2] = (unsigned long long)in->f;
    o.l[3] = (unsigned long long)in->e;
    o.i[2] = (signed char)in->f;
    o.i[3] = (unsigned char)in->d;
    o.i[4] = (short)in->g;
    o.i[5] = (unsigned short)in->e;
    o.i[6] = (int)1e30f;
    o.i[7] = (int)NAN;
    o.u[2] = (unsigned)-5.5;
    o.u[3] = (signed char)200.0f;
    o.f[0] = in->d;
    signed char c = in->c;
    c += in->f;
    o.i[7] = c;
    ring_reply(&o);
}

HANDLER(float_math)
{
    struct out o = {0};
    o.f[0] = expf(in->f) + exp2f(in->g);
    o.f[1] = logf(in->f) - log10f(in->g);
    o.f[2] = sinf(in->f) * cosf(in->g);
    o.f[3] = tanf(in->f);
    o.f[4] = powf(in->f, in->g);
    o.f[5] = atan2f(in->f, in->g);
    o.f[6] = fmodf(in->f, in->g);
    o.f[7] = hypotf(in->f, in->g);
    o.d[0] = tanhf(in->f) + erff(in->g);
    o.d[1] = fminf(in->f, in->g) + fmaxf(in->f, in->g);
    o.d[2] = cbrtf(in->f) + rsqrtf(in->g);
    o.d[3] = roundf(in->f) - floorf(in->g);
    o.d[4] = log1pf(in->f) + expm1f(in->g);
    o.d[5] = asinf(in->f) + acosf(in->g) + atanf(in->f);
    o.d[6] = fmaf(in->f, in->g, in->f);
    o.d[7] = sinhf(in->f) + coshf(in->g);
    o.i[0] = signbit(in->f);
    o.i[1] = isfinite(in->g);
    self->last.f[0] = 0.9f * self->last.f[0] + 0.1f * (isfinite(in->f) ? in->f : 0.0f);
    o.i[2] = __float_as_int(self->last.f[0]);
    ring_reply(&o);
}

HANDLER(double_math)
{
    struct out o = {0};
    o.d[0] = exp(in->d);
    o.d[1] = log(in->e);
    o.d[2] = sin(in->d);
    o.d[3] = cos(in->e);
    o.d[4] = pow(in->d, in->e);
    o.d[5] = atan2(in->d, in->e);
    o.d[6] = sqrt(in->d) + fmin(in->d, in->e);
    o.d[7] = floor(in->d) + trunc(in->e);
    o.i[0] = min(in->a, in->b);
    o.i[1] = max(in->a, in->b);
    o.u[0] = min(in->u, in->v);
    o.l[0] = max(in->l, in->m);
    o.f[0] = max(in->f, in->g);
    o.i[2] = __clz(in->a);
    o.i[3] = __popc(in->u);
    o.i[4] = __ffs(in->a);
    o.u[1] = __brev(in->u);
    o.i[5] = __clzll(in->l);
    o.i[6] = __mulhi(in->a, in->b);
    o.u[2] = __umulhi(in->u, in->v);
    o.f[1] = __int_as_float(in->a & 0x7fffff);
    o.l[1] = __double_as_longlong(in->k * 0.1);
    ring_reply(&o);
}

__device__ float smoothed(float *history, int n, float next)
{
    float total = next;
    for (int i = n - 1; i > 0; i--) {
        history[i] = history[i - 1];
        total += history[i] * (1.0f / (i + 1));
    }
    history[0] = next;
    return total;
}

HANDLER(zero_at_start)
{
    struct out o;
    float untouched[4];
    int never;
    o.i[3] = never;
    untouched[in->k & 3] = in->k;
    for (int i = 0; i < 4; i++)
        o.f[i] = untouched[i];
    o.d[0] = smoothed(self->last.f, LANES, in->k);
    ring_reply(&o);
}

HANDLER(atomics)
{
    struct out o = {0};
    o.i[0] = atomicAdd(&data[0], in->a);
    o.i[1] = atomicMax(&data[1], in->a);
    o.i[2] = atomicMin(data + 2, in->b);
    o.i[3] = atomicExch(&data[3], in->b);
    o.i[4] = atomicCAS(&data[4], 0, in->a);
    o.i[5] = atomicOr(&data[5], in->a) ^ atomicXor(&data[6], in->b) ^ atomicAnd(&data[5], ~in->b);
    o.u[0] = __nv_atomic_fetch_add(&self->calls, 3u, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
    o.u[1] = __nv_atomic_load_n(&self->calls, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_store_n(&data[7], 11, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    o.l[0] = __nv_atomic_fetch_max(&self->last.l[0], in->l, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    o.i[6] = data[7] + ring_instance();
    ring_reply(&o);
}

HANDLER(divides_by_what_it_gets)
{
    struct out o = {0};
    self->calls++;
    o.i[0] = 100 / (in->a % 3);
    o.l[0] = in->l % (in->k & 3);
    data[0] = 1000 + o.i[0];
    o.u[0] = in->u / (in->v & 1);
    ring_reply(&o);
}

HANDLER(indexes_where_it_is_told)
{
    struct out o = {0};
    int local[5] = {5, 4, 3, 2, 1};
    o.i[0] = local[in->k % 6];
    self->history[in->c % 6] = 9;
    data[in->s % 40] += 1;
    o.f[0] = weights[in->t % 17];
    local[in->u % 6]++;
    ring_reply(&o);
}

HANDLER(loops_as_often_as_it_is_told)
{
    struct out o = {0};
    for (int i = 0; i < in->k; i++)
        o.i[0] += i;
    for (int i = 0; i < in->k; i += 3)
        self->last.i[1] += i;
    for (int i = in->k; i > 10; i--)
        data[i & 15] ^= i;
    int i = in->c;
    while (i > 0) {
        i -= 1 + (in->k & 1);
        if (i == 50)
            break;
    }
    for (unsigned char b = 1; b != 0; b += in->k)
        if (++o.u[0] > 300)
            break;
    ring_reply(&o);
}

HANDLER(replies_as_often_as_it_is_told)
{
    struct out o = {0};
    for (int i = 0; i < in->k % 5; i++) {
        o.i[0] = i * in->a;
        ring_reply(&o);
    }
}
