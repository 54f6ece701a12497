// SPDX-License-Identifier: Apache-2.0
// Times as NATS writes them, against `date -u -d TIME +%s`. What asks a server is tested by tests/cluster.
#include "cluster/nats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void is_time(const char *text, uint64_t want_ns)
{
    uint64_t ns = 0;
    assert_true(slri_nats_parse_time(text, &ns));
    assert_int_equal(ns, want_ns);
}

static void a_time_is_read_to_the_nanosecond(void **state)
{
    (void)state;
    is_time("1970-01-01T00:00:00Z", 0);
    is_time("2000-02-29T23:59:59.9Z", 951868799900000000);
    is_time("2000-03-01T00:00:00Z", 951868800000000000);
    is_time("2026-11-27T17:01:36.123456789Z", 1795798896123456789);
    is_time("2100-03-01T00:00:00.000000001Z", 4107542400000000001);
}

static void what_is_no_time_is_refused(void **state)
{
    static const char *const texts[] = {
        "", "now", "2026-11-27", "2026-13-01T00:00:00Z", "2026-11-27T17:01:36+01:00", "2026-11-27T17:01:36"};
    uint64_t ns;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        assert_false(slri_nats_parse_time(texts[i], &ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_read_to_the_nanosecond),
        cmocka_unit_test(what_is_no_time_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
