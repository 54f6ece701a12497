// SPDX-License-Identifier: Apache-2.0
// What the tests of clusters share: a cluster by names, a program on each of its devices, buffers of numbers.
#ifndef TESTS_CLUSTER_CLUSTER_H
#define TESTS_CLUSTER_CLUSTER_H

#include "device/device_test.h"

#define MOST 4

struct fixture {
    slr_cluster *cluster;
    slr_device *device[MOST];
    slr_program *program[MOST];
    uint32_t count;
};

static inline struct fixture fixture_of(const char *names, const char *source)
{
    struct fixture f = {0};
    must(slr_cluster_create_named(names, NULL, &f.cluster));
    f.count = slr_cluster_size(f.cluster);
    for (uint32_t i = 0; i < f.count; ++i) {
        must(slr_cluster_get_device(f.cluster, i, &f.device[i]));
        if (source)
            must(slr_program_from_text(f.device[i], "cluster.cu", source, NULL, &f.program[i]));
    }
    return f;
}

static inline void fixture_end(struct fixture *f)
{
    for (uint32_t i = 0; i < f->count; ++i)
        slr_program_destroy(f->program[i]);
    slr_cluster_destroy(f->cluster);
}

static inline void kernels_of(const struct fixture *f, const char *name, slr_kernel **out)
{
    for (uint32_t i = 0; i < f->count; ++i)
        must(slr_program_get_kernel(f->program[i], name, &out[i]));
}

static inline void kernels_end(const struct fixture *f, slr_kernel **kernels)
{
    for (uint32_t i = 0; i < f->count; ++i)
        slr_kernel_destroy(kernels[i]);
}

// Element i is `a` i + `b`.
static inline slr_buffer *floats(slr_device *device, uint32_t count, float a, float b)
{
    slr_buffer *buffer;
    float *values;
    must(slr_buffer_create(device, count * sizeof *values, &buffer));
    must(slr_buffer_map(buffer, 0, count * sizeof *values, SLR_MAP_DISCARD, LONG, (void **)&values));
    for (uint32_t i = 0; i < count; ++i)
        values[i] = a * (float)i + b;
    must(slr_buffer_unmap(buffer, values));
    return buffer;
}

static inline void has_floats(slr_buffer *buffer, uint32_t count, float a, float b)
{
    float *values;
    must(slr_buffer_map(buffer, 0, count * sizeof *values, SLR_MAP_READ, LONG, (void **)&values));
    for (uint32_t i = 0; i < count; ++i)
        if (values[i] != a * (float)i + b)
            fail_msg("element %u is %g, not %g", i, (double)values[i], (double)(a * (float)i + b));
    must(slr_buffer_unmap(buffer, values));
}

static inline void shares(slr_cluster *cluster, uint64_t items, slr_balance balance, const slr_balance_desc *desc,
                          const uint64_t *want)
{
    slr_part parts[MOST];
    must(slr_cluster_balance(cluster, items, balance, desc, parts));
    for (uint32_t i = 0; i < slr_cluster_size(cluster); ++i)
        assert_int_equal(parts[i].items, want[i]);
}

#define LIST(...)                                                                                                      \
    (const uint64_t[])                                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

#endif
