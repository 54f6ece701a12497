// SPDX-License-Identifier: Apache-2.0
/// `slipring cache`: its verbs. Each of them gets its own argc and argv; argv[0] is its name.
#ifndef CACHE_H
#define CACHE_H

int cache_list(int argc, char **argv);
int cache_verify(int argc, char **argv);
int cache_warm(int argc, char **argv);
int cache_clear(int argc, char **argv);
int cache_prune(int argc, char **argv);

#endif
