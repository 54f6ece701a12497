// SPDX-License-Identifier: Apache-2.0
// There is no fork() in a web page.
#include "base/forks.h"

uint32_t slri_forks;

uint32_t slri_forks_count(void)
{
    return 0;
}

void slri_forks_renew(struct slri_renewal *renewal)
{
    (void)renewal; // there are no children
}
