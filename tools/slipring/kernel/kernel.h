// SPDX-License-Identifier: Apache-2.0
/// `slipring kernel`: what its verbs have in common. Each of them gets its own argc and argv; argv[0] is its name.
#ifndef KERNEL_H
#define KERNEL_H

#include "kernel/source_options.h"

#include <slipring/explain.h>
#include <slipring/kernel.h>
#include <slipring/suggest.h>
#include <slipring/tune.h>

#include <jansson.h>

/// Where sources are looked at and kernels run if nothing is said: it checks every access, and needs no compiler.
#define KERNEL_DEVICE "cpu?engine=interpreted"

int kernel_check(int argc, char **argv);
int kernel_emit(int argc, char **argv);
int kernel_explain(int argc, char **argv);
int kernel_fuse(int argc, char **argv);
int kernel_list(int argc, char **argv);
int kernel_run(int argc, char **argv);
int kernel_suggest(int argc, char **argv);
int kernel_tile(int argc, char **argv);
int kernel_time(int argc, char **argv);

/// The program of a file. Returns an exit code; what is not EXIT_DONE has been said.
int kernel_load(slr_device *device, const char *file, const source_options *source, slr_program **out);

/// Says that a program has no such kernel (`kernels`: a handler is none), and which it has: EXIT_USAGE. One that was
/// left out: why, and EXIT_FAILED.
int kernel_say_missing(const slr_program *program, const char *file, const char *name, bool kernels);

/// Finds a kernel and what the program says of it. Returns an exit code; what is not EXIT_DONE has been said.
int kernel_find(slr_program *program, const char *file, const char *name, slr_kernel **kernel, slr_function_info *info);

/// Says why a library call failed, whose message names the kernel. What does not exist or cannot be is a wrong command
/// line.
int kernel_say_status(slr_status status);

/// A kernel or handler as `kernel list` shows it.
void kernel_print_function(const slr_function_info *function);
json_t *kernel_function_json(const slr_function_info *function);

/// The macros of a program that its source declares tunable.
void kernel_print_tunables(const slr_program *program);
json_t *kernel_tunables_json(const slr_program *program);

/// Three numbers as an array.
json_t *kernel_three_json(const uint32_t *three);

/// An SLR_COUNTED_...: "exact", "sampled", "at most" or "not counted".
const char *kernel_counted_name(uint32_t counted);

/// What a kernel takes of an NVIDIA GPU: of its machine code, or (`resources` NULL) of its source, with `registers` (0:
/// the machine code's). Block and dynamic shared memory are the caller's.
slr_occupancy_desc kernel_occupancy_desc(const slr_function_info *function, uint32_t capability,
                                         const slr_resources *resources, uint32_t registers);

/// "given", "tuned", "source", "occupancy", "size table".
const char *kernel_rule_name(uint32_t rule);

/// X, X,Y or X,Y,Z, the value of `option`, to three numbers from 1. Returns -1, or the exit code that a mistake makes.
int kernel_take_shape(uint32_t *to, const char *option, const char *text);

/// The number that is the value of `option`. Returns -1, or the exit code that a mistake makes.
int kernel_take_number(const char *option, const char *text, slr_scalar scalar, void *to);

/// A compute capability, the value of --cc: 90 or 9.0. Returns -1, or the exit code that a mistake makes.
int kernel_take_capability(const char *text, uint32_t *to);

/// A string for JSON, also of bytes that are no UTF-8, each of which becomes U+FFFD.
json_t *kernel_text(const char *text);

/// Prints an object on standard output and lets go of it.
void kernel_print_object(json_t *object);

/// Arguments of a launch, one a parameter.
typedef struct kernel_arguments {
    slr_arg *items;
    slr_buffer **buffers; // NULL where the parameter is no buffer
    uint64_t *elements;   // of that buffer
    void **memory;        // of structs by value
    bool *is_given;
    bool *is_unset; // a buffer given as ':none'
    uint32_t count;
} kernel_arguments;

/// Makes an argument for each parameter from NAME=VALUE; those without one are an error if all are needed. Returns an
/// exit code; what is not EXIT_DONE has been said. In either case to kernel_arguments_free. `device` NULL: no buffers
/// are made, and `elements` has their sizes.
int kernel_arguments_make(kernel_arguments *arguments, slr_device *device, const slr_function_info *kernel,
                          const run_list *given, bool needs_all);

/// The same with the sides of a size for %x, %y and %z, and their product for %n: "a=float[%n]:random". All are needed.
int kernel_arguments_sized(kernel_arguments *arguments, slr_device *device, const slr_function_info *kernel,
                           const run_list *given, const uint64_t size[3]);

/// N, NxM or NxMxK, the value of --size. Returns -1, or the exit code that a mistake makes.
int kernel_take_size(const char *text, uint64_t size[3]);

/// A size as the command line has it: "1024x1024".
enum { KERNEL_SIZE_BYTES = 64 };
void kernel_spell_size(const uint64_t size[3], char to[KERNEL_SIZE_BYTES]);
void kernel_spell_sides(const uint32_t sides[3], char to[KERNEL_SIZE_BYTES]); // of a block or a grid

void kernel_arguments_free(kernel_arguments *arguments);

/// What --print NAME[:N] asks for.
typedef struct kernel_print {
    uint32_t parameter;
    uint64_t count;
} kernel_print;

/// Reads the value of --print. Returns an exit code; what is not EXIT_DONE has been said.
int kernel_take_print(const slr_function_info *kernel, const kernel_arguments *arguments, const char *text,
                      kernel_print *out);

/// Prints a buffer's first elements: to `buffers` where that is there, else as text. Returns an exit code.
int kernel_print_buffer(const slr_function_info *kernel, const kernel_arguments *arguments, kernel_print what,
                        json_t *buffers);

/// The parameter whose name is the `length` characters at `name`, or UINT32_MAX.
uint32_t kernel_find_parameter(const slr_function_info *kernel, const char *name, size_t length);

#endif
