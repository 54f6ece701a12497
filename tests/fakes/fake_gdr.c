// SPDX-License-Identifier: Apache-2.0
// The device's memory is the process's here. What is pinned of it is put into a file without a name, and a window is
// another mapping of that.
#define _GNU_SOURCE
#include "fake_gdr.h"

#include "hal/cuda/gdr.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CANARY 0x5ca1ab1eu // at the end of a window: gone where something else was mapped over it

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_gdr words;

static struct {
    const unsigned char *ready; // memory that may be pinned
    size_t bytes;
    unsigned char *page;   // pinned; NULL: none
    unsigned char *mapped; // where the host has it; NULL: nowhere
    int file;
} window;

struct slri_gdr_object {
    int is_open;
} the_only;

#define SEEN __attribute__((visibility("default")))
#define PROTOTYPE(result, name, parameters) SEEN result gdr_##name parameters;
SLRI_GDR_FUNCTIONS(PROTOTYPE)

SEEN struct fake_gdr *fake_gdr_words(void);
struct fake_gdr *fake_gdr_words(void)
{
    return &words;
}

static bool fails(const char *name)
{
    return words.fails && strcmp(words.fails, name) == 0;
}

static int32_t refuse(void)
{
    ++words.wrong;
    return EINVAL;
}

static uint32_t *canary(void)
{
    return (uint32_t *)(void *)(window.mapped + SLRI_GDR_PAGE) - 1;
}

const uint32_t *fake_gdr_seen(const uint32_t *flag)
{
    return (const uint32_t *)(const void *)(window.mapped + ((uintptr_t)flag - (uintptr_t)window.page));
}

// Puts the pinned page into a file, and takes it out again.
static void share_page(void)
{
    window.file = memfd_create("window", 0);
    if (window.file < 0 || write(window.file, window.page, SLRI_GDR_PAGE) != (ssize_t)SLRI_GDR_PAGE ||
        mmap(window.page, SLRI_GDR_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, window.file, 0) != window.page)
        abort();
}

static void take_page_back(void)
{
    if (mmap(window.page, SLRI_GDR_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        window.page)
        abort();
    close(window.file);
    window.page = NULL;
}

void fake_gdr_is_ready(const void *memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    window.ready = memory;
    window.bytes = bytes;
    pthread_mutex_unlock(&lock);
}

void fake_gdr_goes(const void *memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    if (window.page && (uintptr_t)window.page - (uintptr_t)memory < bytes)
        refuse(); // who writes now is killed
    pthread_mutex_unlock(&lock);
}

slri_gdr gdr_open(void)
{
    pthread_mutex_lock(&lock);
    slri_gdr opened = fails("open") ? NULL : &the_only;
    words.live += opened != NULL;
    pthread_mutex_unlock(&lock);
    return opened;
}

int32_t gdr_close(slri_gdr gdr)
{
    pthread_mutex_lock(&lock);
    int32_t error = gdr == &the_only && words.live == 1 ? 0 : refuse();
    words.live -= error == 0;
    pthread_mutex_unlock(&lock);
    return error;
}

int32_t gdr_pin_buffer(slri_gdr gdr, unsigned long address, size_t bytes, uint64_t token, uint32_t space,
                       slri_gdr_handle *handle)
{
    pthread_mutex_lock(&lock);
    size_t at = address - (uintptr_t)window.ready;
    bool fits = gdr == &the_only && bytes == SLRI_GDR_PAGE && address % SLRI_GDR_PAGE == 0 && token == 0 &&
                space == 0 && window.ready && at < window.bytes && bytes <= window.bytes - at && !window.page;
    int32_t error = fails("pin_buffer") ? EPERM : fits ? 0 : refuse();
    if (error == 0) {
        window.page = (unsigned char *)address; // NOLINT: the device's addresses are the process's
        share_page();
        handle->h = 77;
        ++words.live;
        ++words.pinned;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

// Also of a window that is open, which ends it: nobody may write to it any more.
int32_t gdr_unpin_buffer(slri_gdr gdr, slri_gdr_handle handle)
{
    pthread_mutex_lock(&lock);
    int32_t error = gdr == &the_only && handle.h == 77 && window.page ? 0 : refuse();
    if (error == 0) {
        if (window.mapped && *canary() == CANARY)
            refuse();
        words.live -= window.mapped ? 2 : 1;
        window.mapped = NULL;
        take_page_back();
    }
    pthread_mutex_unlock(&lock);
    return error;
}

int32_t gdr_map(slri_gdr gdr, slri_gdr_handle handle, void **memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    bool fits = gdr == &the_only && handle.h == 77 && window.page && !window.mapped && bytes == SLRI_GDR_PAGE;
    int32_t error = fails("map") ? ENOMEM : fits ? 0 : refuse();
    if (error == 0) {
        window.mapped = mmap(NULL, SLRI_GDR_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, window.file, 0);
        if (window.mapped == MAP_FAILED)
            abort();
        *memory = window.mapped;
        *canary() = CANARY;
        ++words.live;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

int32_t gdr_unmap(slri_gdr gdr, slri_gdr_handle handle, void *memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    bool fits =
        gdr == &the_only && handle.h == 77 && window.mapped && memory == window.mapped && bytes == SLRI_GDR_PAGE;
    int32_t error = fits ? 0 : refuse();
    if (error == 0) {
        munmap(window.mapped, SLRI_GDR_PAGE);
        window.mapped = NULL;
        --words.live;
    }
    pthread_mutex_unlock(&lock);
    return error;
}
