// SPDX-License-Identifier: Apache-2.0
// A letter that cannot be printed ends the command: who reads the others would not miss it. The two files are compiled
// here once more, under other names and without memory.
#include "say.h"
#include "verbs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void *take_nothing(size_t count, size_t bytes)
{
    (void)count;
    (void)bytes;
    return NULL;
}

#define letter_print_json print_without_memory
#define memory_take take_or_end
#define memory_grow grow_or_end
#define malloc(bytes) take_nothing(bytes, 1)
#define calloc take_nothing
#include "letter.c"
#include "memory.c"

static void a_letter_without_memory_ends_the_command(void **state)
{
    (void)state;
    pid_t process = fork();
    if (process == 0) {
        letter_print_json(
            &(letter){.message = 1, .bytes = 3, .reason = "none", .payload = (const unsigned char *)"abc"});
        _exit(EXIT_DONE);
    }
    int how = 0;
    assert_int_equal(waitpid(process, &how, 0), process);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), EXIT_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_letter_without_memory_ends_the_command)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
