// SPDX-License-Identifier: Apache-2.0
// Valid C17 and C++17: says what it was compiled with and that the library answers.
#include <slipring/slipring.h>

#include <stdio.h>

int main(void)
{
    printf("slipring %s: %s\n", SLR_VERSION, slr_status_name(SLR_FULL));
    return 0;
}
