// SPDX-License-Identifier: Apache-2.0
// `slipring ops`: finds the verb behind it.
#include "ops/ops.h"

#include "subverb.h"
#include "verbs.h"

static const struct subverb verbs[] = {
    {"list", "ops list", "operations, and the libraries that they may use", ops_list},
    {"bench", "ops bench", "time the algorithms of an operation side by side", ops_bench},
    {"autocast", "ops autocast", "which operation runs in which type", ops_autocast},
    {"plan", "ops plan", "plan the memory of a sequence of layers", ops_plan},
    {"source", "ops source", "print the kernel source of operations", ops_source},
};

int verb_ops(int argc, char **argv)
{
    static const char usage[] = "Usage: slipring ops VERB [OPTION]...\n"
                                "Lists operations of networks on tensors, and finds their fastest algorithms.\n";
    static const char more[] = "\nExample:\n  slipring ops bench matmul --shape 512,512,512\n\n"
                               "'slipring ops VERB --help' describes a verb and its options.";
    return subverb_run(verbs, sizeof verbs / sizeof *verbs, usage, more, argc, argv);
}
