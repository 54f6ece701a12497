// SPDX-License-Identifier: Apache-2.0
// Structs of earlier and later versions. `today` and `later` are one struct in two versions of the headers.
#include "base/sized.h"

#include <slipring/slipring.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

typedef struct today {
    uint32_t struct_size, edge;
    uint64_t count;
} today;

typedef struct later {
    uint32_t struct_size, edge;
    uint64_t count;
    uint64_t appended;
} later;

enum { SLRI_FIRST_today = sizeof(today), SLRI_FIRST_later = sizeof(today) };

static void says(const char *part)
{
    if (!strstr(slr_error_message(), part))
        fail_msg("\"%s\" does not say \"%s\"", slr_error_message(), part);
}

static void description_of_an_earlier_version_has_the_default_in_later_fields(void **state)
{
    (void)state;
    // What lies past the program's struct is not the library's to read.
    struct {
        today desc;
        uint64_t other;
    } program = {{sizeof(today), 3, 7}, UINT64_MAX};
    later whole;
    memset(&whole, 0xab, sizeof whole);
    assert_int_equal(SLRI_TAKE_DESC(later, &whole, (const later *)(const void *)&program.desc), SLR_OK);
    assert_int_equal(whole.struct_size, sizeof(later));
    assert_int_equal(whole.edge, 3);
    assert_int_equal(whole.count, 7);
    assert_int_equal(whole.appended, 0);
}

static void no_description_is_the_default(void **state)
{
    (void)state;
    later whole;
    memset(&whole, 0xab, sizeof whole);
    assert_int_equal(SLRI_TAKE_DESC(later, &whole, NULL), SLR_OK);
    assert_int_equal(whole.struct_size, sizeof(later));
    assert_int_equal(whole.edge, 0);
    assert_int_equal(whole.appended, 0);
}

static void description_of_a_later_version_is_refused_with_both_versions(void **state)
{
    (void)state;
    later program = {sizeof(later), 1, 2, 3};
    today whole = {0};
    assert_int_equal(SLRI_TAKE_DESC(today, &whole, (const today *)(const void *)&program), SLR_INVALID);
    says("the program's today has 24 bytes");
    says("this library's, slipring " SLR_VERSION ", has 16");
    says("a slipring later than " SLR_VERSION);
    assert_int_equal(whole.struct_size, 0);

    slri_headers_seen(98076054); // 98.76.54, once a part of the program has said so
    slri_headers_seen(1001);
    assert_int_equal(SLRI_TAKE_DESC(today, &whole, (const today *)(const void *)&program), SLR_INVALID);
    says("the headers of slipring 98.76.54");
}

static void description_without_a_size_is_refused(void **state)
{
    (void)state;
    slr_ring_desc desc = {0}, whole;
    assert_int_equal(SLRI_TAKE_DESC(slr_ring_desc, &whole, &desc), SLR_INVALID);
    says("slr_ring_desc.struct_size is 0; expected 240 to ");
    says("initialise it with SLR_RING_DESC_INIT");
}

static void report_fills_what_the_program_has_and_nothing_more(void **state)
{
    (void)state;
    later whole = {24, 5, 6, 7}, program;
    memset(&program, 0xab, sizeof program);
    assert_int_equal(SLRI_GIVE_REPORT(later, &program, sizeof(today), &whole), SLR_OK);
    assert_int_equal(program.count, 6);
    assert_true(program.appended == 0xababababababababu);
    assert_int_equal(SLRI_GIVE_REPORT(later, &program, sizeof(later), &whole), SLR_OK);
    assert_int_equal(program.appended, 7);
}

static void report_of_a_later_version_is_refused(void **state)
{
    (void)state;
    today whole = {24, 5, 6};
    later program = {0};
    assert_int_equal(SLRI_GIVE_REPORT(today, (today *)(void *)&program, sizeof program, &whole), SLR_INVALID);
    says("the program's today has 24 bytes");
    assert_int_equal(program.edge, 0);
    assert_int_equal(SLRI_CHECK_REPORT(today, 3), SLR_INVALID);
    says("a today of 3 bytes was asked for; expected 16 to 16");
}

// The table says each size of the first version; the structs have grown since, or are the same.
static void no_struct_is_shorter_than_in_its_first_version(void **state)
{
    (void)state;
#define CHECK_SIZE(type, bytes) assert_true(sizeof(type) >= (bytes));
    SLRI_SIZED_DESCS(CHECK_SIZE)
    SLRI_SIZED_REPORTS(CHECK_SIZE)
#undef CHECK_SIZE
}

// A field that is appended where a description has padding would leave its size as it was. X(type, last field).
static void no_description_ends_in_padding(void **state)
{
    (void)state;
#define CHECK_END(type, last) assert_int_equal(offsetof(type, last) + sizeof(((type *)NULL)->last), sizeof(type));
    CHECK_END(slr_baseline, reserved)
    CHECK_END(slr_buffer_desc, reserved_too)
    CHECK_END(slr_check_desc, messages)
    CHECK_END(slr_device_desc, print_user)
    CHECK_END(slr_diagnose_desc, ceilings)
    CHECK_END(slr_emit_desc, reserved_too)
    CHECK_END(slr_fusion_desc, reserved)
    CHECK_END(slr_heap_desc, memory_user)
    CHECK_END(slr_kernel_fusion_desc, reserved)
    CHECK_END(slr_occupancy_desc, dynamic_shared_thread_bytes)
    CHECK_END(slr_pool_desc, within)
    CHECK_END(slr_prefetch_desc, reserved)
    CHECK_END(slr_print_desc, reserved)
    CHECK_END(slr_program_desc, tuned)
    CHECK_END(slr_ring_desc, publish_each)
    CHECK_END(slr_route_desc, outlet)
    CHECK_END(slr_stream_desc, priority)
    CHECK_END(slr_supervisor_desc, user)
    CHECK_END(slr_tiling_desc, reserved)
    CHECK_END(slr_timeline, reserved_too)
    CHECK_END(slr_timing_desc, timeout_ns)
    CHECK_END(slr_trace_desc, events_per_thread)
    CHECK_END(slr_tune_desc, user)
    CHECK_END(slr_work, user)
#undef CHECK_END
}

static void library_says_its_version(void **state)
{
    (void)state;
    assert_string_equal(slr_version(), SLR_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(description_of_an_earlier_version_has_the_default_in_later_fields),
        cmocka_unit_test(no_description_is_the_default),
        cmocka_unit_test(description_of_a_later_version_is_refused_with_both_versions),
        cmocka_unit_test(description_without_a_size_is_refused),
        cmocka_unit_test(report_fills_what_the_program_has_and_nothing_more),
        cmocka_unit_test(report_of_a_later_version_is_refused),
        cmocka_unit_test(no_struct_is_shorter_than_in_its_first_version),
        cmocka_unit_test(no_description_ends_in_padding),
        cmocka_unit_test(library_says_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
