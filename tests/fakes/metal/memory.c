// SPDX-License-Identifier: Apache-2.0
// Buffers: each at two addresses, the host's and the device's, so that who confuses them is found out.
#define _GNU_SOURCE
#include "tests/fakes/metal/inside.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_BYTES (UINT64_C(1) << 32)
#define PAGE UINT64_C(4096)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the next two
static struct buffer *first;
static uint64_t bytes_taken;

static bool map(struct buffer *buffer)
{
    const int file = memfd_create("fake_metal", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)buffer->mapped) != 0)
        return false;
    void *host = mmap(NULL, buffer->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void *device = mmap(NULL, buffer->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    buffer->host = host;
    buffer->device = device;
    return host != MAP_FAILED && device != MAP_FAILED;
}

static void end_buffer(struct object *object)
{
    struct buffer *buffer = (struct buffer *)object, **place = &first;
    pthread_mutex_lock(&lock);
    while (*place != buffer)
        place = &(*place)->next;
    *place = buffer->next;
    bytes_taken -= buffer->bytes;
    pthread_mutex_unlock(&lock);
    munmap(buffer->host, buffer->mapped);
    munmap(buffer->device, buffer->mapped);
}

struct object *new_buffer(struct object *device, sel selector, uint64_t bytes, uint64_t options)
{
    (void)device, (void)selector;
    if (fails("newBuffer") || bytes == 0 || bytes > MOST_BYTES)
        return NULL;
    struct buffer *buffer = made(&class_MTLBuffer);
    buffer->bytes = bytes;
    buffer->mapped = (bytes + PAGE - 1) / PAGE * PAGE;
    buffer->is_private = options == 2 << 4;
    if (!map(buffer))
        abort();
    pthread_mutex_lock(&lock);
    buffer->next = first;
    first = buffer;
    bytes_taken += bytes;
    pthread_mutex_unlock(&lock);
    return &buffer->object;
}

uint64_t allocated_bytes(void)
{
    pthread_mutex_lock(&lock);
    const uint64_t bytes = bytes_taken;
    pthread_mutex_unlock(&lock);
    return bytes;
}

struct buffer *buffer_at(uint64_t address, bool is_host)
{
    pthread_mutex_lock(&lock);
    struct buffer *each = first;
    while (each && address - (uintptr_t)(is_host ? each->host : each->device) >= each->mapped)
        each = each->next;
    pthread_mutex_unlock(&lock);
    return each;
}

static void *contents(const struct buffer *buffer, sel selector)
{
    (void)selector;
    return buffer->is_private ? NULL : buffer->host;
}

static uint64_t gpu_address(const struct buffer *buffer, sel selector)
{
    (void)selector;
    return (uintptr_t)buffer->device;
}

struct class class_MTLBuffer = {
    .name = "MTLBuffer",
    .bytes = sizeof(struct buffer),
    .of_object = (struct method[]){METHOD("contents", contents), METHOD("gpuAddress", gpu_address), {0}},
    .end = end_buffer};
