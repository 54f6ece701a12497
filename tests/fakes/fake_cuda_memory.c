// SPDX-License-Identifier: Apache-2.0
// Memory of the device and of the host, and the commands that copy and fill it.
#include "fake_cuda_inside.h"
#include "fake_gdr.h"

#include "tests/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

// ---- memory --------------------------------------------------------------------------------------------------------

#define MOST_DIRT 65536 // sanitizers take long for more

static int32_t allocate(const char *name, enum kind kind, slri_cu_pointer *memory, size_t bytes)
{
    int32_t error = next_in_context(name);
    if (error != 0)
        return error;
    if (bytes == 0)
        return refuse(name, INVALID_VALUE);
    fake_cuda.allocations += kind == MEMORY;
    struct object *made = make(kind, current());
    made->bytes = aligned_alloc(256, (bytes + 255) / 256 * 256);
    made->size = bytes;
    memset(made->bytes, 0xa5, bytes < MOST_DIRT ? bytes : MOST_DIRT); // it is not zeroed
    if (ptx_is_on())
        ptx_shares(made->bytes, bytes);
    *memory = (slri_cu_pointer)(uintptr_t)made->bytes;
    return 0;
}

int32_t cuMemAlloc_v2(slri_cu_pointer *memory, size_t bytes)
{
    wait_for_stays("MemAlloc_v2", LONG_MS);
    LOCKED(allocate("MemAlloc_v2", MEMORY, memory, bytes));
    return error;
}

int32_t cuMemAllocManaged(slri_cu_pointer *memory, size_t bytes, uint32_t flags)
{
    wait_for_stays("MemAllocManaged", LONG_MS);
    LOCKED(flags == SLRI_CU_ATTACH_GLOBAL ? allocate("MemAllocManaged", MEMORY, memory, bytes)
                                          : refuse("MemAllocManaged", INVALID_VALUE));
    return error;
}

// With no bytes where one piece ends and another begins it is the one that begins.
struct object *piece_of(slri_cu_pointer from, size_t bytes)
{
    struct object *ends = NULL;
    for (struct object *o = current()->first; o; o = o->next) {
        const uint64_t at = from - (uintptr_t)o->bytes;
        if ((o->kind != MEMORY && o->kind != HOST && o->kind != REGISTERED) || at > o->size || bytes > o->size - at)
            continue;
        if (at < o->size)
            return o;
        ends = o;
    }
    return ends;
}

bool is_in_order(struct object *piece, struct object *stream)
{
    if (!piece || stream->waits_for_null)
        return true;
    piece->user = stream;
    return !piece->copied;
}

void forget_user(struct object *context, const struct object *stream)
{
    for (struct object *o = context->first; o; o = o->next)
        if (o->user == stream)
            o->user = NULL;
}

int32_t cuMemFree_v2(slri_cu_pointer memory)
{
    wait_for_stays("MemFree_v2", LONG_MS);
    pthread_mutex_lock(&lock);
    struct object *piece = current() ? piece_of(memory, 1) : NULL;
    bool whole = piece && (uintptr_t)piece->bytes == memory;
    int32_t error = whole ? drop_from_context("MemFree_v2", piece, MEMORY) : refuse("MemFree_v2", INVALID_VALUE);
    pthread_mutex_unlock(&lock);
    return error;
}

static int32_t set_pointer_attribute(const uint32_t *value, int32_t attribute, slri_cu_pointer memory)
{
    int32_t error = next_in_context("PointerSetAttribute");
    if (error != 0)
        return error;
    const struct object *piece = piece_of(memory, 1);
    if (!piece || attribute != SLRI_CU_POINTER_SYNC_MEMOPS || *value != 1)
        return refuse("PointerSetAttribute", INVALID_VALUE);
    fake_gdr_is_ready(piece->bytes, piece->size);
    return 0;
}

int32_t cuPointerSetAttribute(const void *value, int32_t attribute, slri_cu_pointer memory)
{
    LOCKED(set_pointer_attribute(value, attribute, memory));
    return error;
}

// ---- memory of the host --------------------------------------------------------------------------------------------

#define HOST_FLAGS (SLRI_CU_HOST_PORTABLE | SLRI_CU_HOST_MAPPED)

// What of the host's memory is pinned in the current context: the one with the byte in it, or NULL.
static struct object *pinned_at(const void *memory)
{
    for (struct object *o = current() ? current()->first : NULL; o; o = o->next)
        if ((o->kind == HOST || o->kind == REGISTERED) && (uintptr_t)memory - (uintptr_t)o->bytes < o->size)
            return o;
    return NULL;
}

int32_t cuMemHostAlloc(void **memory, size_t bytes, uint32_t flags)
{
    wait_for_stays("MemHostAlloc", LONG_MS);
    slri_cu_pointer made = 0;
    LOCKED(flags == HOST_FLAGS ? allocate("MemHostAlloc", HOST, &made, bytes) : refuse("MemHostAlloc", INVALID_VALUE));
    *memory = (void *)(uintptr_t)made;
    return error;
}

static int32_t let_go_of(const char *name, enum kind kind, void *memory)
{
    struct object *object = pinned_at(memory);
    return object && object->bytes == memory ? drop_from_context(name, object, kind) : refuse(name, INVALID_VALUE);
}

int32_t cuMemFreeHost(void *memory)
{
    wait_for_stays("MemFreeHost", LONG_MS);
    LOCKED(let_go_of("MemFreeHost", HOST, memory));
    return error;
}

#define MOST_KEPT 64
static const void *kept[MOST_KEPT]; // that a context which is gone has left registered

void keep_pin(const void *memory)
{
    for (int i = 0; i < MOST_KEPT; ++i)
        if (!kept[i]) {
            kept[i] = memory;
            return;
        }
    abort();
}

static bool is_kept(const void *memory, bool forget)
{
    for (int i = 0; i < MOST_KEPT; ++i)
        if (kept[i] == memory) {
            kept[i] = forget ? NULL : memory;
            return true;
        }
    return false;
}

static int32_t pin(void *memory, size_t bytes, uint32_t flags)
{
    int32_t error = next_in_context("MemHostRegister_v2");
    if (error != 0)
        return error;
    if (bytes == 0 || flags != HOST_FLAGS)
        return refuse("MemHostRegister_v2", INVALID_VALUE);
    if (pinned_at(memory) || is_kept(memory, false))
        return 712;
    struct object *made = make(REGISTERED, current());
    made->bytes = memory;
    made->size = bytes;
    if (ptx_is_on())
        ptx_shares(memory, bytes);
    return 0;
}

int32_t cuMemHostRegister_v2(void *memory, size_t bytes, uint32_t flags)
{
    wait_for_stays("MemHostRegister_v2", LONG_MS);
    LOCKED(pin(memory, bytes, flags));
    return error;
}

int32_t cuMemHostUnregister(void *memory)
{
    wait_for_stays("MemHostUnregister", LONG_MS);
    LOCKED(is_kept(memory, true) ? 0 : let_go_of("MemHostUnregister", REGISTERED, memory));
    return error;
}

int32_t cuMemHostGetDevicePointer_v2(slri_cu_pointer *out, void *memory, uint32_t flags)
{
    LOCKED(next_in_context("MemHostGetDevicePointer_v2"));
    (void)flags;
    *out = (slri_cu_pointer)(uintptr_t)memory + (fake_cuda.separate ? 4096 : 0);
    return error;
}

static void count_copy(const void *memory)
{
    pthread_mutex_lock(&lock);
    ++*(pinned_at(memory) ? &fake_cuda.pinned : &fake_cuda.pageable);
    pthread_mutex_unlock(&lock);
}

// What a command may do with memory: whether it is there, and whether the context is still good for it.
static int32_t check_ranges(const char *name, slri_cu_stream stream, slri_cu_pointer a, slri_cu_pointer b, size_t bytes,
                            bool *act)
{
    int32_t error = next_command(name, stream);
    if (error != 0)
        return error;
    if (bytes == 0 || !piece_of(a, bytes) || (b && !piece_of(b, bytes)))
        return refuse(name, INVALID_VALUE);
    if (b && (a > b ? a - b : b - a) < bytes)
        return refuse(name, INVALID_VALUE); // not defined
    if (!is_in_order(piece_of(a, bytes), (void *)stream) || (b && !is_in_order(piece_of(b, bytes), (void *)stream)))
        return refuse(name, INVALID_VALUE);
    *act = current()->gone == 0;
    return 0;
}

// The lock is not held while memory is read and written: who races for it is to be seen.
#define COMMAND(name, a, b, bytes)                                                                                     \
    bool act = false;                                                                                                  \
    LOCKED(check_ranges(#name, stream, a, b, bytes, &act));                                                            \
    if (error != 0 || !act)                                                                                            \
    return error

#define CAPTURE(...)                                                                                                   \
    if (capture(stream, &(struct node){__VA_ARGS__}))                                                                  \
    return 0

void *host_of(slri_cu_pointer pointer)
{
    return (void *)(uintptr_t)pointer;
}

int32_t cuMemcpyHtoDAsync_v2(slri_cu_pointer to, const void *from, size_t bytes, slri_cu_stream stream)
{
    COMMAND(MemcpyHtoDAsync_v2, to, 0, bytes);
    CAPTURE(.op = HTOD, .to = to, .from = (uintptr_t)from, .count = bytes);
    count_copy(from);
    memcpy(host_of(to), from, bytes);
    return 0;
}

int32_t cuMemcpyDtoHAsync_v2(void *to, slri_cu_pointer from, size_t bytes, slri_cu_stream stream)
{
    COMMAND(MemcpyDtoHAsync_v2, from, 0, bytes);
    CAPTURE(.op = DTOH, .to = (uintptr_t)to, .from = from, .count = bytes);
    count_copy(to);
    memcpy(to, host_of(from), bytes);
    return 0;
}

int32_t cuMemcpyDtoDAsync_v2(slri_cu_pointer to, slri_cu_pointer from, size_t bytes, slri_cu_stream stream)
{
    COMMAND(MemcpyDtoDAsync_v2, to, from, bytes);
    CAPTURE(.op = DTOD, .to = to, .from = from, .count = bytes);
    memcpy(host_of(to), host_of(from), bytes);
    return 0;
}

static int32_t enable_peer(const struct object *peer, uint32_t flags)
{
    int32_t error = next_in_context("CtxEnablePeerAccess");
    if (error != 0)
        return error;
    struct object *context = current();
    if (flags != 0 || !peer || peer->kind != CONTEXT || peer->device == context->device)
        return refuse("CtxEnablePeerAccess", INVALID_VALUE);
    if ((fake_cuda.peers >> (4 * context->device + peer->device) & 1) == 0)
        return PEER_ACCESS_UNSUPPORTED;
    bool already = (context->reaches >> peer->device & 1) != 0;
    context->reaches |= 1u << peer->device;
    return already ? PEER_ACCESS_ALREADY_ENABLED : 0;
}

int32_t cuCtxEnablePeerAccess(slri_cu_context peer, uint32_t flags)
{
    LOCKED(enable_peer((const void *)peer, flags));
    return error;
}

static struct object *piece_in(struct object *context, slri_cu_pointer from, size_t bytes)
{
    struct object *o = context->first;
    while (o && !(o->kind == MEMORY && from - (uintptr_t)o->bytes <= o->size &&
                  bytes <= o->size - (from - (uintptr_t)o->bytes)))
        o = o->next;
    return o;
}

// Without access it would be staged by the driver, in silence: to ask for that is wrong here.
static int32_t check_peer(slri_cu_stream stream, struct object *to_context, slri_cu_pointer to,
                          struct object *from_context, slri_cu_pointer from, size_t bytes, bool *act)
{
    int32_t error = next_command("MemcpyPeerAsync", stream);
    if (error != 0)
        return error;
    bool reaches = to_context == current() && (to_context->reaches >> from_context->device & 1) != 0;
    if (!reaches || bytes == 0 || !piece_in(to_context, to, bytes) || !piece_in(from_context, from, bytes))
        return refuse("MemcpyPeerAsync", INVALID_VALUE);
    *act = to_context->gone == 0 && from_context->gone == 0;
    fake_cuda.peer_copies += *act;
    return 0;
}

int32_t cuMemcpyPeerAsync(slri_cu_pointer to, slri_cu_context to_context, slri_cu_pointer from,
                          slri_cu_context from_context, size_t bytes, slri_cu_stream stream)
{
    bool act = false;
    LOCKED(check_peer(stream, (void *)to_context, to, (void *)from_context, from, bytes, &act));
    if (error == 0 && act)
        memcpy(host_of(to), host_of(from), bytes);
    return error;
}

// Those that wait: of memory that is not pinned, in the NULL stream, behind all that runs, but for streams that do not
// wait for it. A copy to the device may still be under way when the call returns.
static int32_t check_copy(const char *name, slri_cu_pointer device, size_t bytes, bool in)
{
    int32_t error = next_in_context(name);
    if (error != 0)
        return error;
    struct object *piece = piece_of(device, bytes);
    if (!piece || piece->user)
        return refuse(name, INVALID_VALUE);
    for (struct object *o = current()->first; o && !in; o = o->next)
        o->copied = false;
    piece->copied = in;
    return 0;
}

SEEN int32_t cuMemcpyHtoD_v2(slri_cu_pointer to, const void *from, size_t bytes);
int32_t cuMemcpyHtoD_v2(slri_cu_pointer to, const void *from, size_t bytes)
{
    wait_for_stays("MemcpyHtoD_v2", LONG_MS);
    LOCKED(check_copy("MemcpyHtoD_v2", to, bytes, true));
    if (error == 0)
        memcpy(host_of(to), from, bytes);
    return error;
}

SEEN int32_t cuMemcpyDtoH_v2(void *to, slri_cu_pointer from, size_t bytes);
int32_t cuMemcpyDtoH_v2(void *to, slri_cu_pointer from, size_t bytes)
{
    wait_for_stays("MemcpyDtoH_v2", LONG_MS);
    LOCKED(check_copy("MemcpyDtoH_v2", from, bytes, false));
    if (error == 0)
        memcpy(to, host_of(from), bytes);
    return error;
}

static int32_t fill(slri_cu_pointer to, const void *pattern, size_t size, size_t count)
{
    if (to % size != 0) {
        LOCKED(refuse("MemsetAsync", INVALID_VALUE));
        return error;
    }
    if (size == 1) { // a heap's slab is zeroed so: byte by byte that takes seconds under a sanitizer
        memset(host_of(to), *(const unsigned char *)pattern, count);
        return 0;
    }
    for (size_t i = 0; i < count; ++i)
        memcpy((char *)host_of(to) + i * size, pattern, size);
    return 0;
}

int32_t cuMemsetD8Async(slri_cu_pointer to, unsigned char value, size_t count, slri_cu_stream stream)
{
    COMMAND(MemsetD8Async, to, 0, count);
    CAPTURE(.op = SET8, .to = to, .value = value, .count = count);
    return fill(to, &value, 1, count);
}

int32_t cuMemsetD16Async(slri_cu_pointer to, uint16_t value, size_t count, slri_cu_stream stream)
{
    COMMAND(MemsetD16Async, to, 0, count * 2);
    CAPTURE(.op = SET16, .to = to, .value = value, .count = count);
    return fill(to, &value, 2, count);
}

int32_t cuMemsetD32Async(slri_cu_pointer to, uint32_t value, size_t count, slri_cu_stream stream)
{
    COMMAND(MemsetD32Async, to, 0, count * 4);
    CAPTURE(.op = SET32, .to = to, .value = value, .count = count);
    return fill(to, &value, 4, count);
}
