// SPDX-License-Identifier: Apache-2.0
// Pinned buffers: their pages stay in memory, up to what the process may lock.
#include "device/device_test.h"

#include "base/memory_map.h"
#include "device/stream.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const specs[] = {"cpu?threads=1", "cpu?threads=1&unified=0", "null"};
enum { SPECS = sizeof specs / sizeof *specs };

static slr_buffer_desc pinned(uint64_t bytes)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    desc.bytes = bytes;
    desc.pinned = 1;
    return desc;
}

// As /proc says it, in bytes.
static uint64_t locked_bytes(void)
{
    unsigned long long kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "VmLck: %llu kB", &kib) != 1)
        continue;
    fclose(file);
    return kib * 1024;
}

// Sanitizers make mlock do nothing, so that there is nothing to see then.
static bool locking_shows(void)
{
    uint64_t before = locked_bytes();
    size_t page = slri_page_bytes();
    void *memory = slri_map_reserve(page);
    must(slri_memory_lock(memory, page));
    bool shows = locked_bytes() == before + page;
    slri_memory_unlock(memory, page);
    slri_map_release(memory, page);
    return shows;
}

static void pages_of_a_pinned_buffer_are_locked_as_long_as_it_is_there(void **state)
{
    (void)state;
    if (!locking_shows())
        skip();
    for (int i = 0; i < SPECS; ++i) {
        slr_device *device = open_device(specs[i]);
        slr_buffer_desc desc = pinned(20000);
        slr_buffer *a, *b, *plain;
        slr_buffer_info info;
        uint64_t before = locked_bytes(), page = slri_page_bytes(), each = (20000 + page - 1) / page * page;
        must(slr_buffer_create_with(device, &desc, &a));
        must(slr_buffer_create_with(device, &desc, &b));
        must(slr_buffer_create(device, 100, &plain));
        assert_int_equal(locked_bytes(), before + 2 * each);
        assert_int_equal((uintptr_t)a->locked % page, 0);
        must(slr_buffer_get_info(a, &info));
        assert_int_equal(info.pinned, 1);
        must(slr_buffer_get_info(plain, &info));
        assert_int_equal(info.pinned, 0);
        must(slr_buffer_write(a, 19990, "0123456789", 10));
        slr_buffer_destroy(a);
        assert_int_equal(locked_bytes(), before + each); // and none of the other's
        slr_buffer_destroy(b);
        assert_int_equal(locked_bytes(), before);
        slr_buffer_destroy(plain);
        slr_device_close(device);
    }
}

// In a process of its own, that may lock 64 KiB and is nobody. Its exit code: 0 where all is as it should be.
static int refuse_beyond_the_limit(const char *spec)
{
    struct rlimit limit = {65536, 65536};
    slr_device *device;
    slr_buffer *small, *large;
    slr_buffer_desc fits = pinned(40000), more = pinned(100000);
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || (geteuid() == 0 && setuid(65534) != 0))
        return 10;
    if (slr_device_open(spec, NULL, &device) != SLR_OK || slr_buffer_create_with(device, &fits, &small) != SLR_OK)
        return 11;
    slr_heap *heap;
    slr_heap_stats before, after;
    if (slr_device_get_heap(device, &heap) != SLR_OK || slr_heap_get_stats(heap, &before) != SLR_OK)
        return 12;
    if (slr_buffer_create_with(device, &more, &large) != SLR_NO_MEMORY)
        return 13;
    if (!strstr(slr_error_message(), "page-lock 100000 B") || !strstr(slr_error_message(), "may lock 65536 B"))
        return 14;
    if (slr_heap_get_stats(heap, &after) != SLR_OK || after.live_bytes != before.live_bytes)
        return 15;
    slr_buffer_destroy(small);
    slr_device_close(device);
    return 0;
}

static void more_than_the_process_may_lock_is_refused_with_the_limit(void **state)
{
    (void)state;
    if (!locking_shows())
        skip();
    for (int i = 0; i < 2; ++i) {
        pid_t child = fork();
        if (child == 0)
            _exit(refuse_beyond_the_limit(specs[i]));
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how));
        assert_int_equal(WEXITSTATUS(how), 0);
    }
}

static void imported_memory_is_its_owners_to_pin(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char memory[64];
    slr_device *device = open_device("cpu");
    slr_buffer_desc desc = pinned(64);
    slr_buffer *buffer;
    desc.import = memory;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "imported memory must be pinned by its owner");
    desc.import = NULL;
    desc.pinned = 2;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "pinned is 2");
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_a_pinned_buffer_are_locked_as_long_as_it_is_there),
        cmocka_unit_test(more_than_the_process_may_lock_is_refused_with_the_limit),
        cmocka_unit_test(imported_memory_is_its_owners_to_pin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
