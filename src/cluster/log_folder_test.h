// SPDX-License-Identifier: Apache-2.0
// For the tests of the log on files: a folder for each test, and what the log reports as damaged.
#ifndef SLRI_CLUSTER_LOG_FOLDER_TEST_H
#define SLRI_CLUSTER_LOG_FOLDER_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char folder[64], damage[512];
static uint32_t damages;

static inline int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/slipring-log-XXXXXX");
    damages = 0;
    damage[0] = '\0';
    return mkdtemp(folder) ? 0 : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static inline void note(void *user, const char *what)
{
    (void)user;
    damages++;
    snprintf(damage, sizeof damage, "%s", what);
}

#endif
