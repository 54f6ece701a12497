// SPDX-License-Identifier: Apache-2.0
#include "run/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct seen {
    uint32_t count, instances[4096];
    unsigned char payloads[4096];
} seen;

static void note(void *user, uint64_t number, uint32_t instance, const unsigned char *payload)
{
    (void)number;
    seen *seen = user;
    seen->instances[seen->count] = instance;
    seen->payloads[seen->count++] = *payload;
}

static void replies_come_out_by_message_and_those_of_one_as_they_came(void **state)
{
    (void)state;
    static seen seen;
    window window;
    window_open(&window, 1);
    const unsigned char payloads[] = "abcd";
    window_add(&window, 9, 1, &payloads[0]);
    window_add(&window, 5, 2, &payloads[1]);
    window_add(&window, 9, 1, &payloads[2]);
    window_add(&window, 7, 3, &payloads[3]);
    window_empty(&window, note, &seen);
    assert_int_equal(seen.count, 4);
    assert_memory_equal(seen.payloads, "bdac", 4);
    assert_int_equal(seen.instances[1], 3);
    window_empty(&window, note, &seen);
    assert_int_equal(seen.count, 4);
    window_close(&window);
}

static void a_window_grows_with_what_it_must_hold(void **state)
{
    (void)state;
    static seen seen;
    memset(&seen, 0, sizeof seen);
    window window;
    window_open(&window, 1);
    for (uint32_t i = 0; i < 4096; i++) {
        unsigned char payload = (unsigned char)i;
        window_add(&window, 4095 - i, i, &payload);
    }
    window_empty(&window, note, &seen);
    for (uint32_t i = 0; i < 4096; i++) {
        assert_int_equal(seen.instances[i], 4095 - i);
        assert_int_equal(seen.payloads[i], (unsigned char)(4095 - i));
    }
    window_close(&window);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_come_out_by_message_and_those_of_one_as_they_came),
        cmocka_unit_test(a_window_grows_with_what_it_must_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
