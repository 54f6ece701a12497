// SPDX-License-Identifier: Apache-2.0
/// The verbs of the command line, and how each one may end. A verb gets its own argc and argv; argv[0] is its name.
#ifndef VERBS_H
#define VERBS_H

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,     // the work failed: a source that does not compile, a bad row, a device that was lost
    EXIT_USAGE = 2,      // the command line asks for something that does not exist
    EXIT_NO_DEVICE = 3,  // the device cannot run that here
    EXIT_NO_BASELINE = 4 // of `bench compare`: the comparison is incomplete
};

// By a signal: interrupt_exit_code().

int verb_bench(int argc, char **argv);
int verb_build(int argc, char **argv);
int verb_cache(int argc, char **argv);
int verb_cluster(int argc, char **argv);
int verb_decide(int argc, char **argv);
int verb_demo(int argc, char **argv);
int verb_devices(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_kernel(int argc, char **argv);
int verb_ops(int argc, char **argv);
int verb_profile(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_serve(int argc, char **argv);
int verb_state(int argc, char **argv);
int verb_trace(int argc, char **argv);
int verb_tune(int argc, char **argv);

#endif
