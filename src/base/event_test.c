// SPDX-License-Identifier: Apache-2.0
// The pollable event.
#include "base/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>

static int readable(const slri_event *event)
{
    struct pollfd waited = {.fd = event->fd, .events = POLLIN};
    return poll(&waited, 1, 0);
}

static void event_is_readable_from_signal_to_clear(void **state)
{
    (void)state;
    slri_event event;
    assert_int_equal(slri_event_create(&event), SLR_OK);
    assert_int_equal(readable(&event), 0);
    slri_event_signal(&event);
    slri_event_signal(&event);
    assert_int_equal(readable(&event), 1);
    assert_int_equal(readable(&event), 1); // looking does not clear it
    slri_event_clear(&event);
    assert_int_equal(readable(&event), 0);
    slri_event_clear(&event); // does not block
    slri_event_signal(&event);
    assert_int_equal(readable(&event), 1);
    slri_event_close(&event);
    slri_event_close(&event);
    assert_int_equal(event.fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_is_readable_from_signal_to_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
