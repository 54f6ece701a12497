// SPDX-License-Identifier: Apache-2.0
// What is no place at all. Time is simulated: what waits takes some, and the same each time.
#include "base/clock.h"
#include "base/sim.h"

#include <slipring/serve.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// A folder in use is read again later. Nothing comes of that here, so nobody waits for it.
static void what_is_no_place_is_refused_at_once(void **state)
{
    char folder[] = "/tmp/slipring-place-XXXXXX", place[64], why[96];
    slr_place_info info;
    (void)state;
    assert_non_null(mkdtemp(folder));
    const struct {
        const char *below, *why;
        slr_status status;
    } cases[] = {{"", "holds no durable ring kernel", SLR_NOT_FOUND}, {"/none", "there is no folder", SLR_NOT_FOUND}};
    assert_int_equal(slri_sim_begin(1), SLR_OK);
    const uint64_t begun_ns = slri_now_ns();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        snprintf(place, sizeof place, "local:%s%s", folder, cases[i].below);
        assert_int_equal(slr_place_get_info(place, &info), cases[i].status);
        snprintf(why, sizeof why, "%s", slr_error_message());
        assert_non_null(strstr(why, cases[i].why));
        assert_non_null(strstr(why, folder));
    }
    assert_int_equal(slr_place_get_info("local:", &info), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "'local:' is not local:FOLDER"));
    const uint64_t ended_ns = slri_now_ns();
    assert_int_equal(slri_sim_end(), 0);
    assert_in_range(ended_ns - begun_ns, 0, 999999); // the first pause has 1 ms
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_no_place_is_refused_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
