// SPDX-License-Identifier: Apache-2.0
// Things that share mappings: apart from each other, zero whenever they are taken, and gone with the last.
#define _GNU_SOURCE // fork, and mappings
#include "base/share.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

enum { THINGS = 20000 };

static const struct slri_shape small = {.part = {100, 0, 384}, .each = {200, 128}, .copies = 3};

static unsigned lines_of_maps(void)
{
    unsigned lines = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    for (int c; (c = getc(maps)) != EOF;)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

static void must_take(const struct slri_shape *shape, struct slri_share *out)
{
    assert_true(slri_share_take(shape, out));
}

static void expect_bytes(const unsigned char *at, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; ++i)
        assert_int_equal(at[i], value);
}

static void many_things_take_few_mappings_and_do_not_overlap(void **state)
{
    (void)state;
    static struct slri_share thing[THINGS];
    struct slri_share_count before = slri_share_counted();
    unsigned lines = lines_of_maps();
    for (uint32_t i = 0; i < THINGS; ++i) {
        must_take(&small, &thing[i]);
        assert_true(slri_share_open(&thing[i], 0));
        unsigned char *part[] = {slri_share_part(&thing[i], 0), slri_share_part(&thing[i], 2),
                                 slri_share_copy(&thing[i], 0, 0), slri_share_copy(&thing[i], 1, 0)};
        const size_t bytes[] = {100, 384, 200, 128};
        for (uint32_t k = 0; k < 4; ++k) {
            assert_int_equal((uintptr_t)part[k] % 128, 0);
            expect_bytes(part[k], bytes[k], 0);
            memset(part[k], (int)(1 + (i * 4 + k) % 251), bytes[k]);
        }
    }
    assert_int_equal(slri_share_counted().things - before.things, THINGS);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_in_range(slri_share_counted().mappings - before.mappings, 1, 8); // 4 MiB, then 8, and so on
#ifndef _WIN32                                                              // where there is no /proc
    assert_in_range(lines_of_maps() - lines, 1, 24);
#endif
#endif
    (void)lines;
    for (uint32_t i = 0; i < THINGS; ++i) {
        expect_bytes(slri_share_part(&thing[i], 0), 100, (unsigned char)(1 + i * 4 % 251));
        expect_bytes(slri_share_part(&thing[i], 2), 384, (unsigned char)(1 + (i * 4 + 1) % 251));
        expect_bytes(slri_share_copy(&thing[i], 0, 0), 200, (unsigned char)(1 + (i * 4 + 2) % 251));
        expect_bytes(slri_share_copy(&thing[i], 1, 0), 128, (unsigned char)(1 + (i * 4 + 3) % 251));
        slri_share_give(&thing[i], 1);
        assert_null(thing[i].slab);
    }
    struct slri_share_count after = slri_share_counted();
    assert_int_equal(after.mappings, before.mappings);
    assert_int_equal(after.things, before.things);
    assert_int_equal(after.bytes, before.bytes);
}

static void copies_follow_at_a_constant_stride(void **state)
{
    (void)state;
    struct slri_share thing;
    must_take(&small, &thing);
    for (uint32_t copy = 0; copy < 3; ++copy) {
        assert_true(slri_share_open(&thing, copy));
        for (uint32_t each = 0; each < 2; ++each) {
            unsigned char *at = slri_share_copy(&thing, each, copy);
            assert_ptr_equal(at, (unsigned char *)slri_share_copy(&thing, each, 0) + slri_share_stride(&thing) * copy);
            *at = 1;
        }
    }
    slri_share_give(&thing, 3);
}

// Small parts are zeroed where they lie, large ones go back to the system.
static void thing_is_zero_when_it_is_taken_again(void **state)
{
    (void)state;
    const struct slri_shape shape = {.part = {300, 70001}, .each = {40, 20000}, .copies = 2};
    struct slri_share keeper, thing;
    must_take(&shape, &keeper); // so that the mapping stays
    for (uint32_t turn = 0; turn < 50; ++turn) {
        must_take(&shape, &thing);
        uint32_t copies = 1 + turn % 2;
        expect_bytes(slri_share_part(&thing, 0), 300, 0);
        expect_bytes(slri_share_part(&thing, 1), 70001, 0);
        memset(slri_share_part(&thing, 0), 255, 300);
        memset(slri_share_part(&thing, 1), 255, 70001);
        for (uint32_t copy = 0; copy < copies; ++copy) {
            assert_true(slri_share_open(&thing, copy));
            expect_bytes(slri_share_copy(&thing, 0, copy), 40, 0);
            expect_bytes(slri_share_copy(&thing, 1, copy), 20000, 0);
            memset(slri_share_copy(&thing, 0, copy), 255, 40);
            memset(slri_share_copy(&thing, 1, copy), 255, 20000);
        }
        slri_share_give(&thing, copies);
    }
    slri_share_give(&keeper, 0);
}

static int signal_of_writing_to(unsigned char *at)
{
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); // a sanitizer's would make an exit of it
        *(volatile unsigned char *)at = 1;
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void large_copies_are_addresses_alone_until_they_are_opened(void **state)
{
    (void)state;
    const struct slri_shape shape = {.part = {128}, .each = {(uint64_t)1 << 26, 4096}, .copies = 64}; // 4 GiB
    struct slri_share thing;
    must_take(&shape, &thing);
    assert_int_equal(signal_of_writing_to(slri_share_copy(&thing, 0, 0)), SIGSEGV);
    assert_true(slri_share_open(&thing, 0));
    assert_true(slri_share_open(&thing, 1));
    *(unsigned char *)slri_share_copy(&thing, 0, 0) = 1;
    ((unsigned char *)slri_share_copy(&thing, 1, 1))[4095] = 1;
    assert_int_equal(signal_of_writing_to(slri_share_copy(&thing, 0, 2)), SIGSEGV);
    slri_share_give(&thing, 2);
}

static void more_than_the_address_space_is_refused(void **state)
{
    (void)state;
    struct slri_share_count before = slri_share_counted();
    struct slri_share thing;
    assert_null(slri_share_bytes((uint64_t)1 << 60, &thing));
    struct slri_share_count after = slri_share_counted();
    assert_memory_equal(&before, &after, sizeof after);
}

// Where there is no room for a large mapping, one thing has its own.
static void scarce_addresses_are_asked_for_in_smaller_pieces(void **state)
{
    (void)state;
#if !defined(__SANITIZE_ADDRESS__) &&                                                                                  \
    !defined(__SANITIZE_THREAD__) // they have taken their addresses, and are limited, too
    struct rlimit was;
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_int_equal(fscanf(statm, "%lu", &pages), 1);
    fclose(statm);
    assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
    const struct rlimit scarce = {(rlim_t)pages * 4096 + (1 << 20), was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &scarce), 0);
    struct slri_share thing, none = {0};
    void *memory = slri_share_bytes(300000, &thing), *large = slri_share_bytes(4 << 20, &none);
    assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
    assert_non_null(memory);
    assert_null(large);
    memset(memory, 1, 300000);
    slri_share_give(&thing, 0);
#endif
}

static void *take_and_give(void *argument)
{
    uint32_t seed = *(uint32_t *)argument;
    struct slri_share thing[32] = {0};
    for (uint32_t turn = 0; turn < 20000; ++turn) {
        seed = seed * 1664525u + 1013904223u;
        struct slri_share *one = &thing[seed >> 27];
        if (one->slab) {
            uint32_t *word = slri_share_part(one, 2);
            if (*word != (uint32_t)(one - thing) + 1)
                return argument;
            slri_share_give(one, 0);
            continue;
        }
        if (!slri_share_take(&small, one))
            return argument;
        uint32_t *word = slri_share_part(one, 2);
        if (*word != 0)
            return argument;
        *word = (uint32_t)(one - thing) + 1;
    }
    for (uint32_t i = 0; i < 32; ++i)
        slri_share_give(&thing[i], 0); // none is fine
    return NULL;
}

static void threads_take_and_give_at_once(void **state)
{
    (void)state;
    pthread_t thread[4];
    uint32_t seed[4] = {1, 2, 3, 4};
    for (uint32_t i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&thread[i], NULL, take_and_give, &seed[i]), 0);
    for (uint32_t i = 0; i < 4; ++i) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
}

static void look_at_what_was_given_back_is_found_by_the_sanitizer(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    struct slri_share keeper, thing;
    must_take(&small, &keeper);
    must_take(&small, &thing);
    assert_true(slri_share_open(&thing, 0));
    unsigned char *part = slri_share_part(&thing, 2), *copy = slri_share_copy(&thing, 1, 0);
    assert_false(__asan_address_is_poisoned(part) || __asan_address_is_poisoned(copy));
    assert_true(__asan_address_is_poisoned(slri_share_copy(&thing, 1, 1))); // not opened
    slri_share_give(&thing, 1);
    assert_true(__asan_address_is_poisoned(part) && __asan_address_is_poisoned(copy));
    slri_share_give(&keeper, 0);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_things_take_few_mappings_and_do_not_overlap),
        cmocka_unit_test(copies_follow_at_a_constant_stride),
        cmocka_unit_test(thing_is_zero_when_it_is_taken_again),
        cmocka_unit_test(large_copies_are_addresses_alone_until_they_are_opened),
        cmocka_unit_test(more_than_the_address_space_is_refused),
        cmocka_unit_test(scarce_addresses_are_asked_for_in_smaller_pieces),
        cmocka_unit_test(threads_take_and_give_at_once),
        cmocka_unit_test(look_at_what_was_given_back_is_found_by_the_sanitizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
