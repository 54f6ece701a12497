// SPDX-License-Identifier: Apache-2.0
// Windows has no systemd.
#include "notify.h"

void notify_say(const char *text)
{
    (void)text;
}

void notify_reloading(void)
{
}

void notify_alive(void)
{
}
