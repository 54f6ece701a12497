// SPDX-License-Identifier: Apache-2.0
// A runtime for -fsanitize=thread that passes on what touches the pages of `watch`, and does the rest as it stands.
#include "tests/watch/watch.h"

#include <stddef.h>
#include <string.h>

#define SEEN __attribute__((visibility("default")))
#define BY __builtin_return_address(0)

SEEN struct watch slri_watch;

static bool is_watched(uintptr_t at)
{
    uintptr_t page = (at >> 12) & ((1u << WATCH_PAGES) - 1);
    return (__atomic_load_n(&slri_watch.page[page / 8], __ATOMIC_RELAXED) >> page % 8 & 1) != 0;
}

// What is longer than this is a buffer's content, which is copied in a stream's order.
#define MOST 4096

static void pass_on(const volatile void *memory, size_t bytes, bool writes, const void *by)
{
    uintptr_t at = (uintptr_t)memory;
    if (bytes > MOST || !is_watched(at))
        return;
    while (bytes != 0) {
        unsigned part = 8 - (unsigned)(at % 8);
        part = part < bytes ? part : (unsigned)bytes;
        slri_watch.plain(at, part, writes, by);
        at += part;
        bytes -= part;
    }
}

// ---- plain accesses -------------------------------------------------------------------------------------------------

#define PLAIN(name, bytes, writes)                                                                                     \
    SEEN void __tsan_##name(void *at);                                                                                 \
    void __tsan_##name(void *at)                                                                                       \
    {                                                                                                                  \
        pass_on(at, bytes, writes, BY);                                                                                \
    }
PLAIN(read1, 1, false)
PLAIN(read2, 2, false)
PLAIN(read4, 4, false)
PLAIN(read8, 8, false)
PLAIN(read16, 16, false)
PLAIN(write1, 1, true)
PLAIN(write2, 2, true)
PLAIN(write4, 4, true)
PLAIN(write8, 8, true)
PLAIN(write16, 16, true)
PLAIN(unaligned_read2, 2, false)
PLAIN(unaligned_read4, 4, false)
PLAIN(unaligned_read8, 8, false)
PLAIN(unaligned_read16, 16, false)
PLAIN(unaligned_write2, 2, true)
PLAIN(unaligned_write4, 4, true)
PLAIN(unaligned_write8, 8, true)
PLAIN(unaligned_write16, 16, true)

SEEN void __tsan_read_range(void *at, size_t bytes);
void __tsan_read_range(void *at, size_t bytes)
{
    pass_on(at, bytes, false, BY);
}

SEEN void __tsan_write_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes)
{
    pass_on(at, bytes, true, BY);
}

SEEN void __tsan_init(void);
void __tsan_init(void)
{
}

SEEN void __tsan_func_entry(void *by);
void __tsan_func_entry(void *by)
{
    (void)by;
}

SEEN void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

// The library is compiled with the first name of each in the place of the C library's; clang calls the other by itself.
#define COPY(name)                                                                                                     \
    SEEN void *slri_watched_##name(void *to, const void *from, size_t bytes);                                          \
    void *slri_watched_##name(void *to, const void *from, size_t bytes)                                                \
    {                                                                                                                  \
        pass_on(from, bytes, false, BY);                                                                               \
        pass_on(to, bytes, true, BY);                                                                                  \
        return name(to, from, bytes);                                                                                  \
    }                                                                                                                  \
    SEEN void *__tsan_##name(void *to, const void *from, size_t bytes);                                                \
    void *__tsan_##name(void *to, const void *from, size_t bytes)                                                      \
    {                                                                                                                  \
        return slri_watched_##name(to, from, bytes);                                                                   \
    }
COPY(memcpy)
COPY(memmove)

SEEN void *slri_watched_memset(void *to, int value, size_t bytes);
void *slri_watched_memset(void *to, int value, size_t bytes)
{
    pass_on(to, bytes, true, BY);
    return memset(to, value, bytes);
}

SEEN void *__tsan_memset(void *to, int value, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes)
{
    return slri_watched_memset(to, value, bytes);
}

// ---- atomic ones ----------------------------------------------------------------------------------------------------
// They are sequentially consistent here whatever was asked for: what is told and learned has the order asked for.

static void tell(const volatile void *at, unsigned bytes, int order, bool adds, const void *by)
{
    if (is_watched((uintptr_t)at))
        slri_watch.told((uintptr_t)at, bytes, order, adds, by);
}

static void learn(const volatile void *at, unsigned bytes, int order, bool looks, const void *by)
{
    if (is_watched((uintptr_t)at))
        slri_watch.learned((uintptr_t)at, bytes, order, looks, by);
}

#define CHANGE(type, bits, name)                                                                                       \
    SEEN type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order);                            \
    type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order)                                  \
    {                                                                                                                  \
        tell(at, sizeof *at, order, true, BY);                                                                         \
        type was = __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                                                 \
        learn(at, sizeof *at, order, false, BY);                                                                       \
        return was;                                                                                                    \
    }

#define SWAP(type, bits, name)                                                                                         \
    SEEN int __tsan_atomic##bits##_compare_exchange_##name(volatile type *at, type *was, type value, int order,        \
                                                           int else_order);                                            \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *at, type *was, type value, int order,             \
                                                      int else_order)                                                  \
    {                                                                                                                  \
        tell(at, sizeof *at, order, true, BY);                                                                         \
        int done = __atomic_compare_exchange_n(at, was, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
        learn(at, sizeof *at, done ? order : else_order, false, BY);                                                   \
        return done;                                                                                                   \
    }

// clang's, which gives what was there.
#define SWAP_VALUE(type, bits)                                                                                         \
    SEEN type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type was, type value, int order,           \
                                                         int else_order);                                              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type was, type value, int order,                \
                                                    int else_order)                                                    \
    {                                                                                                                  \
        __tsan_atomic##bits##_compare_exchange_strong(at, &was, value, order, else_order);                             \
        return was;                                                                                                    \
    }

#define ATOMICS(type, bits)                                                                                            \
    SEEN type __tsan_atomic##bits##_load(const volatile type *at, int order);                                          \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                                                \
    {                                                                                                                  \
        type is = __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                               \
        learn(at, sizeof *at, order, true, BY);                                                                        \
        return is;                                                                                                     \
    }                                                                                                                  \
    SEEN void __tsan_atomic##bits##_store(volatile type *at, type value, int order);                                   \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                                         \
    {                                                                                                                  \
        tell(at, sizeof *at, order, false, BY);                                                                        \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                 \
    }                                                                                                                  \
    SEEN type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order);                                \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)                                      \
    {                                                                                                                  \
        tell(at, sizeof *at, order, true, BY);                                                                         \
        type was = __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                   \
        learn(at, sizeof *at, order, false, BY);                                                                       \
        return was;                                                                                                    \
    }                                                                                                                  \
    CHANGE(type, bits, add)                                                                                            \
    CHANGE(type, bits, sub)                                                                                            \
    CHANGE(type, bits, and)                                                                                            \
    CHANGE(type, bits, or)                                                                                             \
    CHANGE(type, bits, xor)                                                                                            \
    SWAP(type, bits, strong)                                                                                           \
    SWAP(type, bits, weak)                                                                                             \
    SWAP_VALUE(type, bits)
ATOMICS(uint8_t, 8)
ATOMICS(uint16_t, 16)
ATOMICS(uint32_t, 32)
ATOMICS(uint64_t, 64)

SEEN void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (slri_watch.fence)
        slri_watch.fence(order);
}

SEEN void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
