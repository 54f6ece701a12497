// SPDX-License-Identifier: Apache-2.0
/// The verbs of `slipring ops`.
#ifndef OPS_OPS_H
#define OPS_OPS_H

int ops_autocast(int argc, char **argv);
int ops_bench(int argc, char **argv);
int ops_list(int argc, char **argv);
int ops_plan(int argc, char **argv);
int ops_source(int argc, char **argv);

#endif
