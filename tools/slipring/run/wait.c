// SPDX-License-Identifier: Apache-2.0
#include "run/wait.h"

#include <poll.h>
#include <stddef.h>

bool wait_for_any(int input, int interrupt, int port, int patience_ms)
{
    struct pollfd ready[] = {{.fd = input, .events = POLLIN},
                             {.fd = interrupt, .events = POLLIN},
                             {.fd = port, .events = POLLIN}}; // poll() looks over what is below 0
    return poll(ready, sizeof ready / sizeof *ready, patience_ms) > 0 && ready[0].revents != 0;
}
