// SPDX-License-Identifier: Apache-2.0
// `slipring kernel emit`: a file's kernels and handlers in another language.
#include "kernel/kernel.h"

#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <slipring/emit.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: slipring kernel emit FILE.cu [NAME] [OPTION]...\n"
    "Translates a kernel or handler and prints the text that the device's compiler\n"
    "gets. #line in the text refers to the lines of FILE.cu.\n"
    "\n"
    "  --lang c             C17, as for the CPU: one kernel for one block shape, or\n"
    "                       all handlers (default)\n"
    "  --lang cuda          CUDA C for NVRTC (--fmad=false) or nvcc; without NAME all\n"
    "                       kernels and handlers\n"
    "  --lang hip           HIP C++ for HIPRTC (-ffp-contract=off); without NAME all\n"
    "                       kernels and handlers\n"
    "  --lang opencl        OpenCL C 1.2; without NAME all kernels and handlers\n"
    "  --lang spirv         SPIR-V for Vulkan 1.2 as assembly: one kernel\n"
    "  --binary             with --lang spirv: binary SPIR-V instead of assembly\n"
    "  --lang wgsl          WGSL for WebGPU: one kernel\n"
    "  --lang msl           Metal Shading Language: one kernel\n"
    "  --block B            threads per block: X, X,Y or X,Y,Z (default: C 256,\n"
    "                       OpenCL, WGSL and MSL any)\n"
    "  --batched            prints the kernel of the batched launches of the handler\n"
    "                       NAME, instead of the handler\n"
    "  --json               prints one JSON object: file, name, language, text\n" SOURCE_HELP "\n"
    "Example:\n"
    "  slipring kernel emit examples/kernels/saxpy.cu saxpy --lang opencl\n"
    "  slipring kernel emit examples/send/triage.cu triage --batched --lang cuda\n"
    "  slipring kernel emit examples/kernels/scan.cu --lang spirv --binary > scan.spv\n"
    "\n"
    "Exit code: 1 if the source does not compile, or the language cannot express the\n"
    "kernel.\n";

static const struct {
    const char *name;
    slr_language language;
} languages[] = {{"c", SLR_LANGUAGE_C},           {"cuda", SLR_LANGUAGE_CUDA},   {"hip", SLR_LANGUAGE_HIP},
                 {"opencl", SLR_LANGUAGE_OPENCL}, {"spirv", SLR_LANGUAGE_SPIRV}, {"wgsl", SLR_LANGUAGE_WGSL},
                 {"msl", SLR_LANGUAGE_MSL}};

static int take_language(const char *text, slr_language *out)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (strcmp(text, languages[i].name) == 0) {
            *out = languages[i].language;
            return -1;
        }
    }
    return say_usage("--lang: unknown language '%s'; expected c, cuda, hip, opencl, spirv, wgsl or msl", text);
}

static const char *language_name(slr_language language)
{
    size_t at = 0;
    while (languages[at].language != language)
        at++;
    return languages[at].name;
}

static int print_text(const slr_program *program, const slr_emit_desc *desc, const char *file, bool json)
{
    size_t bytes = 0;
    slr_status status = slr_program_emit(program, desc, NULL, 0, &bytes);
    char *text = memory_take(bytes + 1, 1);
    if (status == SLR_OK)
        status = slr_program_emit(program, desc, text, bytes, &bytes);
    if (status == SLR_OK && json)
        kernel_print_object(json_pack("{s:o, s:o?, s:s, s:o}", "file", kernel_text(file), "name",
                                      desc->name != NULL ? kernel_text(desc->name) : NULL, "language",
                                      language_name(desc->language), "text", kernel_text(text)));
    else if (status == SLR_OK && desc->binary)
        fwrite(text, 1, bytes, stdout);
    else if (status == SLR_OK)
        fputs(text, stdout);
    free(text);
    if (status == SLR_NOT_FOUND && desc->name != NULL)
        return kernel_say_missing(program, file, desc->name, false);
    if (status == SLR_NOT_FOUND || status == SLR_INVALID)
        return say_usage("%s", slr_error_message());
    return status == SLR_OK ? EXIT_DONE : say_failure(status, file);
}

static int emit_file(const slr_emit_desc *desc, const char *file, const source_options *source, bool json)
{
    slr_device *device;
    slr_status status = slr_device_open(KERNEL_DEVICE, NULL, &device);
    if (status != SLR_OK)
        return say_failure(status, KERNEL_DEVICE);
    slr_program *program;
    int end = kernel_load(device, file, source, &program);
    if (end == EXIT_DONE) {
        end = print_text(program, desc, file, json);
        if (end == EXIT_DONE)
            end = source_options_require(source, program, file);
        slr_program_destroy(program);
    }
    slr_device_close(device);
    return end;
}

static int parse(int argc, char **argv, slr_emit_desc *desc, source_options *source, bool *json)
{
    static const struct option options[] = {SOURCE_LONG,
                                            {"lang", required_argument, NULL, 'l'},
                                            {"block", required_argument, NULL, 'b'},
                                            {"batched", no_argument, NULL, 'B'},
                                            {"binary", no_argument, NULL, 'w'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int option; (option = getopt_long(argc, argv, ":h" SOURCE_SHORT, options, NULL)) != -1;) {
        int end = -1;
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option == 'l')
            end = take_language(optarg, &desc->language);
        else if (option == 'b')
            end = kernel_take_shape(desc->block, "--block", optarg);
        else if (option == 'B')
            desc->batched = 1;
        else if (option == 'w')
            desc->binary = 1;
        else if (option == 'j')
            *json = true;
        else if (!source_options_take(source, option, optarg))
            return say_refused_option(option, argv);
        if (end != -1)
            return end;
    }
    if (optind == argc)
        return say_usage("FILE.cu is missing");
    if (argc - optind > 2)
        return say_usage("only one FILE.cu and one NAME are allowed, not also '%s'", argv[optind + 2]);
    desc->name = argc - optind == 2 ? argv[optind + 1] : NULL;
    if (desc->binary && (*json || desc->language != SLR_LANGUAGE_SPIRV))
        return say_usage("--binary is for --lang spirv, without --json");
    if (desc->batched && !desc->name)
        return say_usage("--batched needs NAME, a handler of %s", argv[optind]);
    return -1;
}

int kernel_emit(int argc, char **argv)
{
    slr_emit_desc desc = SLR_EMIT_DESC_INIT;
    source_options source = {0};
    bool json = false;
    desc.language = SLR_LANGUAGE_C;
    int end = parse(argc, argv, &desc, &source, &json);
    if (end == -1)
        end = emit_file(&desc, argv[optind], &source, json);
    source_options_free(&source);
    return end;
}
