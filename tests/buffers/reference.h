// SPDX-License-Identifier: Apache-2.0
// The reference: what docs/contract/memory.md says of buffers, on plain arrays, done at once. It knows nothing of the
// library.
#ifndef TESTS_BUFFERS_REFERENCE_H
#define TESTS_BUFFERS_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1024, MAPPINGS = 6 };

struct ref_mapping {
    uint64_t begin, end; // in the root
    bool writes;
    unsigned char *at; // NULL: no mapping
};

// A buffer that is no slice. `host` counts where the user moves bytes between two memories; elsewhere `now` is all.
struct ref_root {
    unsigned char now[MOST_BYTES], host[MOST_BYTES];
    uint64_t bytes;
    bool is_explicit, two_places, of_pool, imported;
    uint32_t holds; // handles
    struct ref_mapping mapping[MAPPINGS];
};

// What the user has: a buffer or a slice of one.
struct ref_handle {
    struct ref_root *root; // NULL: none
    uint64_t offset, bytes;
};

static inline unsigned char *ref_at(const struct ref_handle *handle, uint64_t offset)
{
    return handle->root->now + handle->offset + offset;
}

// The user's own view: nothing stands against a mapping of it.
static inline bool ref_is_users(const struct ref_root *root)
{
    return root->is_explicit && root->two_places;
}

static inline unsigned char *ref_mapped_at(const struct ref_handle *handle, uint64_t offset)
{
    return (ref_is_users(handle->root) ? handle->root->host : handle->root->now) + handle->offset + offset;
}

// Whether a use of the bytes is refused because of what is mapped.
static inline bool ref_refused(const struct ref_handle *handle, uint64_t offset, uint64_t bytes, bool writing)
{
    uint64_t begin = handle->offset + offset, end = begin + bytes;
    for (int i = 0; i < MAPPINGS && !ref_is_users(handle->root); ++i) {
        const struct ref_mapping *m = &handle->root->mapping[i];
        if (m->at && bytes != 0 && m->begin < end && begin < m->end && (m->writes || writing))
            return true;
    }
    return false;
}

static inline bool ref_is_mapped(const struct ref_root *root)
{
    for (int i = 0; i < MAPPINGS; ++i)
        if (root->mapping[i].at)
            return true;
    return false;
}

static inline struct ref_mapping *ref_free_mapping(struct ref_root *root)
{
    for (int i = 0; i < MAPPINGS; ++i)
        if (!root->mapping[i].at)
            return &root->mapping[i];
    return NULL;
}

// Of several that begin there the shortest is ended.
static inline void ref_unmap(struct ref_root *root, const unsigned char *at)
{
    struct ref_mapping *shortest = NULL;
    for (int i = 0; i < MAPPINGS; ++i) {
        struct ref_mapping *m = &root->mapping[i];
        if (m->at == at && (!shortest || m->end < shortest->end))
            shortest = m;
    }
    shortest->at = NULL;
}

static inline void ref_let_go(struct ref_handle *handle)
{
    if (--handle->root->holds == 0)
        free(handle->root);
    handle->root = NULL;
}

// The test's kernel, one thread.
static inline void ref_mix(const unsigned char *from, unsigned char *to, int n)
{
    for (int i = 0; i < n; ++i)
        to[i] = (unsigned char)(3 * to[i] + from[i]);
}

#endif
