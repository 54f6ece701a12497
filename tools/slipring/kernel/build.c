// SPDX-License-Identifier: Apache-2.0
// `slipring build`: a file's handlers and kernels compiled ahead, for a place that has no compiler.
#include "kernel/kernel.h"

#include "memory.h"
#include "say.h"
#include "child.h"
#include "verbs.h"

#include <slipring/device.h>
#include <slipring/emit.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: slipring build FILE.cu --target wasm [OPTION]...\n"
    "Compiles the handlers and kernels of FILE.cu to WebAssembly with SIMD, by\n"
    "Emscripten. In a web page, slipring.mjs runs the compiled code (addBuilt) and\n"
    "not its interpreter, if a program has the same source.\n"
    "\n"
    "  --target wasm        the target\n"
    "  -o, --output FILE    the output file (default: FILE.wasm)\n"
    "  --block B            threads per block of kernels: X, X,Y or X,Y,Z; may be\n"
    "                       repeated (default: 256)\n"
    "  --json               prints one JSON object: file, output, bytes, built\n" SOURCE_HELP "\n"
    "Example:\n"
    "  slipring build examples/ward/ward.cu --target wasm -o ward.wasm\n"
    "\n"
    "Exit code: 1 if the source or its text does not compile, 3 if there is no emcc\n"
    "(Debian: emscripten).\n";

enum { MOST_BLOCKS = 8, MOST_FILES = 256 };

typedef struct build {
    const char *file;
    char *output;
    uint32_t block[MOST_BLOCKS][3], blocks;
    bool json, has_target;
    source_options source;
    char *text_file[MOST_FILES]; // emitted
    json_t *built;               // of what
    unsigned files;
} build;

// ---- texts
// -----------------------------------------------------------------------------------------------------------

static char *name_text(const build *of)
{
    const size_t bytes = strlen(of->output) + 16;
    char *name = memory_take(bytes, 1);
    snprintf(name, bytes, "%s.%u.c", of->output, of->files);
    return name;
}

static int write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    const bool is_whole = file && fputs(text, file) >= 0;
    if (file && fclose(file) == 0 && is_whole)
        return EXIT_DONE;
    say("cannot write '%s': %s", path, strerror(errno));
    return EXIT_FAILED;
}

static int emit_one(build *of, const slr_program *program, const slr_emit_desc *desc)
{
    size_t bytes = 0;
    if (of->files == MOST_FILES)
        return say_usage("more than %d kernels and blocks of threads", MOST_FILES);
    slr_status status = slr_program_emit(program, desc, NULL, 0, &bytes);
    if (status != SLR_OK)
        return say_failure(status, of->file);
    char *text = memory_take(bytes, 1), *name = name_text(of);
    status = slr_program_emit(program, desc, text, bytes, &bytes);
    int end = status == SLR_OK ? write_text(name, text) : say_failure(status, of->file);
    of->text_file[of->files++] = name;
    free(text);
    return end;
}

static int emit_function(build *of, const slr_program *program, const slr_function_info *function, bool *has_handlers)
{
    slr_emit_desc desc = SLR_EMIT_DESC_INIT;
    int end = EXIT_DONE;
    desc.language = SLR_LANGUAGE_C;
    desc.name = function->name;
    desc.linked = 1;
    json_array_append_new(of->built, kernel_text(function->name));
    if (function->kind != SLR_FUNCTION_KERNEL) { // all of them are one text
        end = *has_handlers ? EXIT_DONE : emit_one(of, program, &desc);
        *has_handlers = true;
        return end;
    }
    for (uint32_t i = 0; end == EXIT_DONE && i < of->blocks; i++) {
        memcpy(desc.block, of->block[i], sizeof desc.block);
        end = emit_one(of, program, &desc);
    }
    return end;
}

static int emit_all(build *of, const slr_program *program)
{
    slr_function_info function;
    bool has_handlers = false;
    int end = EXIT_DONE;
    for (uint32_t i = 0; end == EXIT_DONE && slr_program_get_function(program, i, &function) == SLR_OK; i++)
        end = emit_function(of, program, &function, &has_handlers);
    return end;
}

// ---- compiling
// -------------------------------------------------------------------------------------------------------

static int compile(const build *of)
{
    // -mllvm ...: as for any clang (src/hal/cpu/code.c)
    static const char *const flags[] = {"emcc",
                                        "-sSIDE_MODULE=1",
                                        "-sWASM_BIGINT=1",
                                        "-O3",
                                        "-msimd128",
                                        "-fwrapv",
                                        "-fno-strict-aliasing",
                                        "-ffp-contract=off",
                                        "-mllvm",
                                        "-enable-interleaved-mem-accesses=false",
                                        "-w",
                                        "-o"};
    enum { FLAGS = sizeof flags / sizeof *flags };
    const char *argv[FLAGS + 2 + MOST_FILES];
    size_t count = FLAGS;
    memcpy(argv, flags, sizeof flags);
    argv[count++] = of->output;
    for (unsigned i = 0; i < of->files; i++)
        argv[count++] = of->text_file[i];
    argv[count] = NULL;
    const int code = spawn_and_wait((char *const *)(uintptr_t)argv);
    if (code == 0)
        return EXIT_DONE;
    if (code > 0 && code != 127)
        say("emcc did not compile '%s': its exit code is %d", of->file, code);
    else
        say("cannot run emcc (Debian: emscripten): %s", strerror(code < 0 ? errno : ENOENT));
    return code > 0 && code != 127 ? EXIT_FAILED : EXIT_NO_DEVICE;
}

static int tell(build *of)
{
    FILE *file = fopen(of->output, "rb");
    long bytes = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        bytes = ftell(file);
    if (file)
        fclose(file);
    if (bytes < 0) {
        say("cannot read '%s': %s", of->output, strerror(errno));
        return EXIT_FAILED;
    }
    if (of->json)
        kernel_print_object(json_pack("{s:o, s:o, s:I, s:O}", "file", kernel_text(of->file), "output",
                                      kernel_text(of->output), "bytes", (json_int_t)bytes, "built", of->built));
    else
        printf("%s: %zu handlers and kernels, %ld B\n", of->output, json_array_size(of->built), bytes);
    return EXIT_DONE;
}

static int build_program(build *of, const slr_program *program)
{
    int end = emit_all(of, program);
    if (end == EXIT_DONE && of->files == 0) {
        say("'%s' has neither handlers nor kernels", of->file);
        end = EXIT_FAILED;
    }
    if (end == EXIT_DONE)
        end = compile(of);
    for (unsigned i = 0; i < of->files; i++) {
        remove(of->text_file[i]);
        free(of->text_file[i]);
    }
    return end == EXIT_DONE ? tell(of) : end;
}

static int build_file(build *of)
{
    slr_device *device;
    slr_program *program;
    slr_status status = slr_device_open(KERNEL_DEVICE, NULL, &device);
    if (status != SLR_OK)
        return say_failure(status, KERNEL_DEVICE);
    int end = kernel_load(device, of->file, &of->source, &program);
    if (end == EXIT_DONE) {
        end = build_program(of, program);
        if (end == EXIT_DONE)
            end = source_options_require(&of->source, program, of->file);
        slr_program_destroy(program);
    }
    slr_device_close(device);
    return end;
}

// ---- the command line
// ------------------------------------------------------------------------------------------------

static char *name_output(const char *file)
{
    const char *dot = strrchr(file, '.');
    const size_t stem = dot ? (size_t)(dot - file) : strlen(file);
    char *name = memory_take(stem + sizeof ".wasm", 1);
    memcpy(name, file, stem);
    strcpy(name + stem, ".wasm");
    return name;
}

static int take_option(build *of, int option, char **argv)
{
    if (option == 't') {
        of->has_target = strcmp(optarg, "wasm") == 0;
        return of->has_target ? -1 : say_usage("--target: '%s'; expected wasm", optarg);
    }
    if (option == 'o') {
        free(of->output);
        of->output = memory_take(strlen(optarg) + 1, 1);
        strcpy(of->output, optarg);
    } else if (option == 'b') {
        if (of->blocks == MOST_BLOCKS)
            return say_usage("--block: more than %d", MOST_BLOCKS);
        return kernel_take_shape(of->block[of->blocks++], "--block", optarg);
    } else if (option == 'j') {
        of->json = true;
    } else if (!source_options_take(&of->source, option, optarg)) {
        return say_refused_option(option, argv);
    }
    return -1;
}

static int parse_build(int argc, char **argv, build *of)
{
    static const struct option options[] = {SOURCE_LONG,
                                            {"target", required_argument, NULL, 't'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"block", required_argument, NULL, 'b'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int option, end; (option = getopt_long(argc, argv, ":ho:" SOURCE_SHORT, options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        end = take_option(of, option, argv);
        if (end != -1)
            return end;
    }
    if (optind == argc)
        return say_usage("FILE.cu is missing");
    if (argc - optind > 1)
        return say_usage("only one FILE.cu is allowed, not also '%s'", argv[optind + 1]);
    if (!of->has_target)
        return say_usage("--target is missing; expected --target wasm");
    of->file = argv[optind];
    if (!of->output)
        of->output = name_output(of->file);
    if (of->blocks == 0)
        of->block[of->blocks++][0] = 256;
    return -1;
}

int verb_build(int argc, char **argv)
{
    build of = {.built = json_array()};
    int end = parse_build(argc, argv, &of);
    if (end == -1)
        end = build_file(&of);
    json_decref(of.built);
    free(of.output);
    source_options_free(&of.source);
    return end;
}
