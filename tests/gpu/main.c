// SPDX-License-Identifier: Apache-2.0
#include "gpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: slipring-gpu deadlocks [DEVICE [MS]]\n"
    "       slipring-gpu soak [DEVICE [SECONDS]]\n"
    "       slipring-gpu operations [DEVICE [SECONDS [KIND]]]\n"
    "\n"
    "  deadlocks  makes every call that may wait for a kernel that never returns while one runs and answers; through "
    "the\n"
    "             driver, which may wait: then the kernel is parked after MS milliseconds (300); and through "
    "slipring,\n"
    "             which must not\n"
    "  soak       launches, pauses, fails and ends ring kernels under load for so long (60 s)\n"
    "  operations random cases of operations beside references in double, for so long (30 s), or of one kind "
    "(matmul, convolution ...) alone\n"
    "\n"
    "Exit code: 0 all as it should be, 1 or by a signal: it was not, 2 usage, 3 the device does not open, or keeps no "
    "kernels resident.\n";

_Noreturn void gpu_stop(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s does not hold: %s\n", file, line, what, slr_error_message());
    fflush(NULL);
    abort();
}

int main(int argc, char **argv)
{
    const char *device = argc > 2 ? argv[2] : "cuda:0";
    uint64_t number = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    bool is_operations = argc > 1 && strcmp(argv[1], "operations") == 0;
    if (argc > 4 + is_operations || argc < 2 || (argc >= 4 && number == 0)) {
        fputs(help, stderr);
        return GPU_USAGE;
    }
    if (strcmp(argv[1], "deadlocks") == 0)
        return gpu_deadlocks(device, (number ? number : 300) * MS);
    if (strcmp(argv[1], "soak") == 0)
        return gpu_soak(device, number ? number : 60);
    if (is_operations)
        return gpu_operations(device, number ? number : 30, argc > 4 ? argv[4] : NULL);
    fputs(help, strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return strcmp(argv[1], "--help") == 0 ? GPU_DONE : GPU_USAGE;
}
