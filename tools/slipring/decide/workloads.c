// SPDX-License-Identifier: Apache-2.0
// The six lines of the table by which guides choose between GPU and CPU, as work: kernels with their sizes, and how
// they are called.
#include "decide/parts.h"

#include "say.h"

#include <string.h>

extern const char decide_embedded_matrix_cu[], decide_embedded_sequence_cu[], decide_embedded_tensor_cu[],
    decide_embedded_io_cu[], decide_embedded_deep_cu[], decide_embedded_control_cu[];

static const decide_workload workloads[] = {
    {.name = "matrix",
     .help = "a product of matrices of 10,000 by 10,000",
     .text = decide_embedded_matrix_cu,
     .size = {10000, 10000, 1},
     .arguments = {"a=float[%n]:random", "b=float[%n]:random", "c=float[%n]:zero", "side=%x"}},
    {.name = "sequence",
     .help = "a message of 4 KB, 1,000 times a second",
     .text = decide_embedded_sequence_cu,
     .size = {1024, 1, 1},
     .arguments = {"in=float[%n]:random", "out=float[%n]:zero", "n=%n"},
     .rate = 1000},
    {.name = "tensor",
     .help = "16 operations over a million elements that stay on the device",
     .text = decide_embedded_tensor_cu,
     .size = {1000000, 1, 1},
     .arguments = {"x=float[%n]:random", "y=float[%n]:random", "a=0.5", "b=0.25", "n=%n"},
     .launches = 16,
     .resident = true},
    {.name = "io",
     .help = "checksums of 4 MB from a disk, which takes nine tenths of the time",
     .text = decide_embedded_io_cu,
     .size = {65536, 1, 1},
     .arguments = {"record=unsigned[1048576]:random", "sums=unsigned[%n]:zero", "n=%n"},
     .wait_share = 0.9},
    {.name = "deep",
     .help = "a convolution over a batch of 64 images that stay on the device",
     .text = decide_embedded_deep_cu,
     .size = {56, 56, 4096},
     .arguments = {"in=float[13778944]:random", "weight=float[36864]:random", "out=float[%n]:zero", "side=%x",
                   "images=64"},
     .resident = true},
    {.name = "control",
     .help = "64 documents, read character by character",
     .text = decide_embedded_control_cu,
     .size = {64, 1, 1},
     .arguments = {"text=unsigned char[256000]:random", "more=unsigned char[%n]:random", "out=unsigned[%n]:zero",
                   "documents=%n"}},
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

const decide_workload *decide_workload_at(size_t index)
{
    return index < WORKLOADS ? &workloads[index] : NULL;
}

const decide_workload *decide_find_workload(const char *name)
{
    for (size_t i = 0; i < WORKLOADS; i++)
        if (strcmp(workloads[i].name, name) == 0)
            return &workloads[i];
    say_unknown("workload", name, &workloads[0].name, sizeof *workloads, WORKLOADS);
    return NULL;
}
