// SPDX-License-Identifier: Apache-2.0
#include "base/forks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef _WIN32
static void nothing_forks_on_windows(void **state)
{
    (void)state;
    assert_false(slri_has_forked(slri_forks_count()));
}
#else
#include <sys/wait.h>
#include <unistd.h>

// 0: a child, and a child of it, know that they are none of those that noted `mine`.
static int look_in_children(uint32_t mine)
{
    const uint32_t own = slri_forks_count();
    if (!slri_has_forked(mine) || slri_has_forked(own))
        return 1;
    const pid_t child = fork();
    if (child == 0)
        _exit(slri_has_forked(mine) && slri_has_forked(own) ? 0 : 2);
    int how;
    return waitpid(child, &how, 0) == child && WIFEXITED(how) ? WEXITSTATUS(how) : 3;
}

static void a_child_knows_that_it_is_another_process(void **state)
{
    (void)state;
    const uint32_t mine = slri_forks_count();
    const pid_t child = fork();
    if (child == 0)
        _exit(look_in_children(mine));
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    assert_false(slri_has_forked(mine)); // the parent is what it was
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef _WIN32
        cmocka_unit_test(nothing_forks_on_windows),
#else
        cmocka_unit_test(a_child_knows_that_it_is_another_process),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
