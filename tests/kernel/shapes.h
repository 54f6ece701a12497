// SPDX-License-Identifier: Apache-2.0
// What the handlers of portable.cu and defined.cu are given and give. Every handler has the same parameters, so that
// one loop can run them all: state, message, a buffer to write, a buffer to read, and the length of the first.
#ifndef SHAPES_H
#define SHAPES_H

#define LANES 8

struct in {
    int a, b;
    unsigned u, v;
    long long l, m;
    unsigned long long x, y;
    float f, g;
    double d, e;
    signed char c;
    unsigned char k;
    short s;
    unsigned short t;
    _Bool flag;
};

struct out {
    int i[LANES];
    unsigned u[LANES];
    long long l[LANES];
    float f[LANES];
    double d[LANES];
};

struct state {
    struct out last;
    unsigned calls;
    short history[5];
};

#define HANDLER(name)                                                                                                  \
    __ring__ void name(struct state *self, const struct in *in, int *data, const float *weights, int count)

#endif
