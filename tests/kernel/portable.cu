// SPDX-License-Identifier: Apache-2.0
// Handlers whose every step is defined by C itself, for any message: the same file is compiled as plain C, and all
// three (compiled kernel, interpreter, plain C) must agree. Integers are brought into a range in which nothing
// overflows.
#include <slipring/device.h>
#include "shapes.h"

#define SMALL(x) ((int)((x) & 1023) - 512)

HANDLER(promotions)
{
    struct out o = {0};
    o.i[0] = in->c + in->k;
    o.i[1] = in->s * in->c;
    o.i[2] = in->t - in->k;
    o.i[3] = -in->k;
    o.i[4] = ~in->t;
    o.i[5] = !in->c + !in->s;
    o.i[6] = in->flag + in->flag;
    o.i[7] = (signed char)in->u == in->c ? sizeof(in->c + in->c) : sizeof in->c;
    o.u[0] = in->u + in->c; // c becomes unsigned
    o.u[1] = in->u * in->t;
    o.u[2] = in->c < in->u; // compared as unsigned
    o.u[3] = -1 < (int)in->k;
    o.u[4] = in->s < in->u;
    o.u[5] = (in->k << 4) | (in->t >> 3);
    o.u[6] = (unsigned char)(in->k + 200);
    o.u[7] = (unsigned short)(in->s - 1);
    o.l[0] = in->u + SMALL(in->l);
    o.l[1] = in->x + in->c;
    o.l[2] = in->c < in->x;
    o.l[3] = (long long)in->c * in->u;
    o.l[4] = in->u - 1;
    o.l[5] = (long long)(in->u - 1u) - 1;
    o.l[6] = in->flag ? in->c : in->u; // the common type is unsigned
    o.l[7] = 'a' + '\n' - '\x7f' + 0777 + 0x1fu;
    self->calls++;
    self->last = o;
    ring_reply(&o);
}

HANDLER(compound_assignment)
{
    struct out o = {0};
    signed char c = in->c;
    unsigned char k = in->k;
    short s = in->s;
    unsigned short t = in->t;
    c += 100;
    k -= 77;
    s *= 3;
    t <<= 5;
    o.i[0] = c;
    o.i[1] = k;
    o.i[2] = s;
    o.i[3] = t;
    k = k & 127;
    k *= 1.5f;
    t |= 0x8001;
    s = (short)(s / 7) % 5;
    o.i[4] = k++;
    o.i[4] += ++k;
    o.i[5] = t-- - 1;
    o.i[6] = --s;
    o.i[7] = t ^ s;
    o.u[0] = in->u;
    o.u[0] >>= in->k & 31;
    o.u[1] = in->v;
    o.u[1] ^= o.u[0] += 9;
    o.u[2] = (o.u[3] = 7, o.u[3] + 1);
    o.f[0] = in->k;
    o.f[0] /= 3;
    o.f[1] = 1;
    o.f[1] += in->k * 0.1;
    o.d[0] = in->t;
    o.d[0] -= 0.1f;
    self->history[in->k % 5] += in->c;
    self->history[(in->k + 1) % 5] -= 1;
    for (int i = 0; i < 5; i++)
        o.l[i] = self->history[i]++;
    ring_reply(&o);
}

HANDLER(logic)
{
    struct out o = {0};
    int a = SMALL(in->a), b = SMALL(in->b), calls = 0;
    if (a > 0 && ++calls && b / a > 2)
        o.i[0] = 1;
    if (a == 0 || b % a == 0 || calls++ > 10)
        o.i[1] = calls;
    o.i[2] = a > b ? a : b;
    o.i[3] = a > b ? b > 0 ? 1 : 2 : a == b ? 3 : 4;
    o.i[4] = !!a + !b + !(a && b);
    o.i[5] = (a && in->f > 0) + (in->d || b);
    o.i[6] = (a, b, calls);
    o.i[7] = in->flag == (a > 0);
    o.u[0] = (a & b) | (a ^ b);
    o.u[1] = a & b == 0;
    o.u[2] = in->u + in->v << 2 & 0xff;
    o.u[3] = -(unsigned)a;
    o.l[0] = (a < b) - (a > b);
    o.l[1] = in->l > in->m;
    o.l[2] = in->x > in->y;
    o.l[3] = in->l != in->m;
    ring_reply(&o);
}

HANDLER(floats)
{
    struct out o = {0};
    float f = in->f, g = in->g;
    double d = in->d, e = in->e;
    o.f[0] = f + g;
    o.f[1] = f - g;
    o.f[2] = f * g;
    o.f[3] = f / g;
    o.f[4] = -f;
    o.f[5] = f * g + f; // rounded twice
    o.f[6] = (float)(d * e);
    o.f[7] = f * 0.1;
    o.d[0] = d + e;
    o.d[1] = d - e;
    o.d[2] = d * e;
    o.d[3] = d / e;
    o.d[4] = -d;
    o.d[5] = d * e - d;
    o.d[6] = f * d;
    o.d[7] = f * g;
    o.i[0] = f < g;
    o.i[1] = f <= g;
    o.i[2] = f == g;
    o.i[3] = f != g;
    o.i[4] = d > e;
    o.i[5] = d >= e;
    o.i[6] = !f;
    o.i[7] = d ? 1 : 2;
    o.u[0] = f == f;
    o.u[1] = (_Bool)d;
    o.u[2] = (_Bool)0.5f;
    if (f)
        o.u[3] = 1;
    while (d > 1e10 && o.u[4] < 20) {
        d *= 0.125;
        o.u[4]++;
    }
    o.l[0] = 1.9999f * 3;
    o.l[1] = (long long)-2.5;
    o.u[5] = 3.99;
    ring_reply(&o);
}

HANDLER(integers_to_floats)
{
    struct out o = {0};
    o.f[0] = in->a;
    o.f[1] = in->u;
    o.f[2] = in->l;
    o.f[3] = in->x;
    o.f[4] = in->c;
    o.f[5] = in->t;
    o.f[6] = in->flag;
    o.f[7] = in->a + 0.5f;
    o.d[0] = in->a;
    o.d[1] = in->u;
    o.d[2] = in->l;
    o.d[3] = in->x;
    o.d[4] = in->s;
    o.d[5] = in->l * 1.0f;
    o.d[6] = 1 / 2 + 1 / 2.0;
    o.d[7] = in->x + 0.5;
    ring_reply(&o);
}

struct point {
    short x, y;
};

struct box {
    struct point corner[2];
    double weight;
    unsigned char tag[3];
};

static const struct point origin = {3, -4};
static const short wave[3][4] = {{1, 2, 3, 4}, {5, 6}, {[2] = 9, 10}};
static const float taps[] = {0.5f, -1.25f, 2, 1e-3f};

__device__ int area(struct box b)
{
    b.corner[1].x -= b.corner[0].x; // of the copy
    return b.corner[1].x * (b.corner[1].y - b.corner[0].y);
}

__device__ void grow(struct box *b, int by)
{
    b->corner[1].x += by;
    b->corner[1].y += by;
    b->tag[2]++;
}

__device__ struct point middle(const struct box *b)
{
    struct point p;
    p.x = (b->corner[0].x + b->corner[1].x) / 2;
    p.y = (b->corner[0].y + b->corner[1].y) / 2;
    return p;
}

HANDLER(structs)
{
    struct out o = {0};
    struct box b = {{{1, 2}, {.y = 20, .x = 10}}, .tag = {1, [2] = 7}};
    struct box copy;
    b.corner[0].x = in->c;
    b.weight = in->k * 0.25;
    copy = b;
    grow(&b, in->k);
    o.i[0] = area(b);
    o.i[1] = area(copy);
    o.i[2] = middle(&b).x;
    o.i[3] = middle(&copy).y;
    o.i[4] = b.tag[2] * 16 + b.tag[1];
    o.i[5] = origin.x * origin.y;
    o.i[6] = (in->flag ? b : copy).corner[1].x;
    o.i[7] = sizeof(struct box) + sizeof b.tag;
    o.d[0] = b.weight + copy.weight;
    struct box row[3] = {b, copy};
    row[2] = row[in->k & 1];
    row[2].corner[0] = middle(&row[0]);
    o.l[0] = row[2].corner[0].x;
    o.l[1] = area(row[2]);
    o.l[2] = ((struct point){in->c, 5}).x;
    self->last.i[0] += row[2].corner[1].y;
    o.l[3] = self->last.i[0];
    ring_reply(&o);
}

__device__ void fill(int *to, int n, int from)
{
    for (int i = 0; i < n; i++)
        to[i] = from + i * i;
}

__device__ int sum(const int *from, const int *end)
{
    int total = 0;
    while (from != end)
        total += *from++;
    return total;
}

HANDLER(pointers)
{
    struct out o = {0};
    int local[6], grid[3][4];
    fill(local, 6, in->c);
    for (int i = 0; i < 3; i++)
        fill(grid[i], 4, i * 10);
    o.i[0] = sum(local, local + 6);
    o.i[1] = sum(&grid[1][1], &grid[1][1] + 3);
    o.i[2] = sum(local + 1, &local[in->k % 5 + 1]);
    int *p = local + 2;
    p[-1] = 77;
    *(p + 1) += p[-1];
    *p++ = -8;
    *++p -= 5;
    o.i[3] = p - local;
    o.i[4] = p > local && p <= &local[5];
    o.i[5] = local[3] + 1 [local];
    const struct in *copy = in;
    o.i[6] = copy->c + (*copy).s;
    fill(o.i + 7, 1, in->k);
    fill(data, 4, in->k);
    data[count - 1] = sum(data, data + 4);
    o.l[0] = data[5] + data[count - 2];
    const short *w = wave[in->k % 3];
    o.l[1] = w[0] + w[2] * wave[2][3];
    for (int i = 0; i < 4; i++)
        o.f[0] += taps[i] * weights[i];
    short *h = self->history;
    for (short *at = h; at < h + 5; at++)
        *at ^= at - h;
    o.l[2] = self->history[4];
    o.l[3] = sizeof local / sizeof *local;
    o.l[4] = sizeof grid[0];
    ring_reply(&o);
}

enum mode { OFF, SLOW = 5, FAST, WORST = -3 };

__device__ int by_mode(enum mode mode, int x)
{
    switch (mode) {
    case OFF:
        return 0;
    case SLOW:
        x += 1;
    case FAST:
        x *= 2;
        break;
    case WORST: {
        int y = x - 1;
        if (y > 3)
            break;
        return -y;
    }
    default:
        x = 99;
    }
    return x;
}

HANDLER(switches)
{
    static const int modes[] = {OFF, SLOW, FAST, WORST, 8, -1};
    struct out o = {0};
    for (int i = 0; i < 6; i++)
        o.i[i] = by_mode(modes[i], in->c);
    switch (in->k) {
    case 0:
    case 3:
        o.u[0] = 1;
        break;
    default:
        o.u[0] = 2;
        break;
    case 255:
    case 128:
        o.u[0] = 3;
    }
    switch (in->x) {
    case 0x8000000000000000:
        o.u[1] = 1;
    case 0xffffffffffffffff:
        o.u[1] += 2;
    }
    for (int i = 0; i < 10; i++) {
        switch (i % 4) {
        case 1:
            continue;
        case 2:
            if (i > in->k % 8)
                break;
            o.u[2] += 100;
        }
        o.u[2] += i;
    }
    ring_reply(&o);
}

HANDLER(loops)
{
    struct out o = {0};
    int n = in->k % 20, i, j;
    for (i = 0, j = n; i < j; i++, j--)
        o.i[0] += i * j;
    o.i[1] = i;
    do {
        if (--n == 7)
            continue;
        if (n == 3)
            break;
        o.i[2] += n;
    } while (n > 0);
    while (1) {
        if (n++ > 12)
            break;
    }
    o.i[3] = n;
    for (;;)
        if (++o.i[4] >= 5)
            break;
    for (unsigned u = in->t; u; u >>= 1)
        o.u[0] += u & 1;
    for (long long k = 40; k >= -40; k -= 7)
        o.l[0] = o.l[0] * 3 + k;
    for (short s = 0; s < 100; s += 9)
        for (signed char c = 10; c > 0; --c) {
            if ((s + c) % 3 == 0)
                continue;
            o.l[1] += s * c;
            if (o.l[1] > 5000)
                break;
        }
    for (i = 0; i < count; i++)
        data[i] = data[i] / 2 + i;
    for (i = 0; i < count; i++)
        o.f[0] += weights[i % 8] * data[i];
    for (i = count - 1; i >= 0; i--)
        o.l[2] = o.l[2] / 3 + data[i];
    for (unsigned char b = 250; b != 3; b++)
        o.u[1]++;
    ring_reply(&o);
}

#define TWICE(x) ((x) + (x))
#define JOIN(a, b) a##b
#if defined(TWICE) && (1 << 4) / 3 == 5 && !0
#define CHOSEN 41
#else
#error "the condition holds"
#endif

typedef unsigned long long word;
typedef struct {
    word lo, hi;
} wide;

__device__ wide wide_add(wide a, wide b)
{
    wide r = {a.lo + b.lo, a.hi + b.hi};
    r.hi += r.lo < a.lo;
    return r;
}

HANDLER(macros_and_typedefs)
{
    struct out o = {0};
    int JOIN(val, ue) = TWICE(SMALL(in->a));
    o.i[0] = value;
    o.i[1] = CHOSEN + __LINE__ * 0;
    wide a = {in->x, in->y}, b = {.hi = in->y, .lo = in->x};
    wide c = wide_add(a, wide_add(b, a));
    o.l[0] = c.lo / 2;
    o.l[1] = c.hi >> 1;
    {
        int value = 3; // shadows
        o.i[3] = value;
    }
    o.i[4] = value;
    const int fixed = 6;
    int sized[fixed > 5 ? 4 : 2];
    o.i[5] = sizeof sized;
    o.u[0] = 0xffffffff + 1u;
    o.u[1] = 2147483648 > 0;
    o.u[2] = 1 ? 1u - 2 : 0;
    o.l[2] = -1 < 0u;
    o.l[3] = 1ll << 40;
    o.d[0] = 1e3 + .5e-1 + 0x1.8p1;
    o.f[0] = 0.1f + 0.2f;
    o.d[1] = 0.1f;
    ring_reply(&o);
}

HANDLER(exact_math)
{
    struct out o = {0};
    o.f[0] = sqrtf(in->f);
    o.f[1] = fabsf(in->g);
    o.f[2] = floorf(in->f);
    o.f[3] = ceilf(in->f);
    o.f[4] = truncf(in->g);
    o.f[5] = fmaf(in->f, in->g, 1.0f);
    o.f[6] = copysignf(3.0f, in->g);
    o.f[7] = rintf(in->f);
    o.d[0] = sqrt(in->d);
    o.d[1] = fabs(in->e);
    o.d[2] = floor(in->d);
    o.d[3] = ceil(in->e);
    o.i[0] = isnan(in->f) != 0;
    o.i[1] = isinf(in->d) != 0;
    ring_reply(&o);
}

HANDLER(evaluation)
{
    struct out o = {0};
    int at = in->k & 3, list[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    list[at++] += 10; // its index is taken once
    list[at++] <<= 2;
    o.i[0] = at;
    o.i[1] = list[0] + list[1] * 3 + list[2] * 5 + list[3] * 7 + list[4] * 11;
    unsigned char narrow;
    short wider;
    o.i[2] = wider = narrow = in->t; // narrowed on its way
    o.i[3] = sizeof(at++) + at;
    o.i[4] = (at > 2 ? list : list + 4)[1];
    o.i[5] = +in->c - -in->c;
    o.i[6] = at-- > 0 ? at-- : at++;
    o.i[7] = at;
    _Bool any = in->f * 0.25f;
    o.u[0] = any;
    any += 2;
    o.u[1] = any;
    any = in->k & 2;
    o.u[2] = any--;
    o.u[3] = any ^ 1;
    do
        o.u[4]++;
    while (o.u[4] < at && o.u[4] < 5u);
    if (in->flag)
        if (in->k > 100)
            o.u[5] = 1;
        else
            o.u[5] = 2;
    for (int i = 0, n = 3; n-- > 0; i += 2, o.u[6] += i)
        ;
    if (in->k > 250) {
        ring_reply(&o);
        return;
    }
    o.u[7] = 1;
    ring_reply(&o);
}

__device__ signed char to_char(int x)
{
    return x;
}

__device__ unsigned short to_ushort(float x)
{
    return x;
}

__device__ _Bool is_large(short x)
{
    return x & 0x7f00;
}

__device__ float halved(float x)
{
    return x / 2;
}

__device__ long long widened(int x)
{
    return x;
}

__device__ int clamped(int x, int low, int high)
{
    if (x < low)
        return low;
    for (int i = 0; i < 4; i++)
        if (x > high + i * 1000)
            continue;
        else
            return x > high ? high + i : x;
    return high;
}

HANDLER(functions_convert_what_they_take_and_give)
{
    struct out o = {0};
    o.i[0] = to_char(in->a);
    o.i[1] = to_ushort(in->k * 1.75f) + to_char(in->u >> 3);
    o.i[2] = is_large(in->a) + is_large(in->t) * 2;
    o.i[3] = clamped(SMALL(in->a) * 10, -100, 100);
    o.i[4] = clamped(clamped(SMALL(in->b), 0, 9), to_char(in->k), 50);
    o.l[0] = widened(in->u); // into an int and out again
    o.l[1] = widened(to_char(in->l)) * 8 & 0xff;
    o.d[0] = halved(in->d * 1e-30); // by way of float
    o.f[0] = halved(halved(in->c));
    ring_reply(&o);
}

struct cell {
    unsigned char level;
    short slope[3];
    struct {
        float gain;
        _Bool on[2];
    } out[2];
};

static const struct cell cells[2] = {
    {7, {1, -2, 3}, {{0.5f, {1}}, {.on = {0, 1}}}},
    {.level = 255, .out[1] = {2.5f, {1, 1}}, .slope[1] = -9},
};

__device__ float weigh(const struct cell *c, int i)
{
    return c->out[i].gain * c->slope[i + 1] + c->out[!i].on[i];
}

__device__ void lift(struct cell *c, unsigned char by)
{
    c->level += by;
    c->out[by & 1].on[by >> 1 & 1] = by;
}

HANDLER(arrays_of_structs)
{
    struct out o = {0};
    struct cell grid[2][2] = {{cells[0]}, {cells[1], {.level = 1}}};
    int row = in->k & 1, column = in->k >> 1 & 1;
    struct cell *at = &grid[row][column];
    lift(at, in->t);
    lift(&grid[1 - row][0], 3);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            o.i[2 * i + j] = grid[i][j].level + grid[i][j].out[1].on[1];
            o.f[2 * i + j] = weigh(grid[i] + j, i ^ j);
        }
    at->slope[2] = in->s;
    at->out[column].gain *= in->c;
    grid[column][row] = *at;
    o.f[4] = weigh(&grid[column][row], 1) + weigh(&cells[row], 0);
    o.i[4] = at - &grid[0][0];
    o.i[5] = sizeof grid;
    struct point corner[2] = {{in->s, in->c}, origin};
    corner[0] = corner[row];
    o.i[6] = corner[0].x + corner[0].y;
    self->last.i[2 + row] = o.i[6];
    int *kept = self->last.i + 2;
    o.i[7] = kept[0] - kept[1];
    ring_reply(&o);
}
