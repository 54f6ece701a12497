// SPDX-License-Identifier: Apache-2.0
// Nothing interrupts the code of a page: whoever runs it has a limit of their own. The page is told of the end.
#include "cts.h"

#include <emscripten.h>
#include <stdio.h>

void cts_alarm(unsigned seconds, void (*then)(void))
{
    (void)seconds, (void)then;
}

EM_JS(void, cts_tell_end, (int status), { Module["onEnd"](status); })

int cts_end(int status)
{
    fflush(NULL);
    cts_tell_end(status);
    return status;
}

void cts_exec(char **argv)
{
    (void)argv; // there is no exec
}
