// SPDX-License-Identifier: Apache-2.0
// `slipring kernel fuse`: kernels of files as one kernel, in source.
#include "kernel/fuse.h"
#include "kernel/kernel.h"

#include "memory.h"
#include "output.h"
#include "say.h"
#include "verbs.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring kernel fuse A.cu:f B.cu:g... [OPTION]...\n"
                           "  or:  slipring kernel fuse --ops add,multiply,relu [OPTION]...\n"
                           "Makes one kernel of element-wise kernels that are launched one after the other,\n"
                           "and prints its source: CUDA C for nvcc and for slipring. Its results equal those\n"
                           "of the kernels bit for bit. Parameters with the same name and type become one\n"
                           "parameter. If a kernel writes a buffer and a later kernel reads it, the fused\n"
                           "kernel keeps the values in variables and does not write the buffer. It writes\n"
                           "a buffer that it also reads, as where the first kernel changes it in place.\n"
                           "\n"
                           "  --ops LIST           instead of kernels: operations. Each takes the previous\n"
                           "                       result and the next inputs. add subtract multiply divide\n"
                           "                       minimum maximum fma scale scale_bias clamp negate abs\n"
                           "                       sqrt exp log relu sigmoid tanh gelu silu leaky_relu\n"
                           "                       select equal not_equal less less_equal greater\n"
                           "                       greater_equal, and at the end sum largest smallest\n"
                           "                       softmax\n"
                           "  --dtype TYPE         input type of --ops: float (default), double, int,\n"
                           "                       uint, long or ulong\n"
                           "  --join f.y=g.x       the parameter y of f is the parameter x of g; may be\n"
                           "                       repeated. Instead of the name of f or g, its number\n"
                           "                       is accepted, from 0\n"
                           "  --keep y             writes the intermediate buffer y, too; may be repeated\n"
                           "  --name NAME          name of the result (default: f_g)\n"
                           "  --always             fuses even if a model predicts a slower result\n"
                           "  -o, --output FILE    writes the source to FILE\n"
                           "  --json               prints one JSON object: name, parts, inputs, outputs,\n"
                           "                       launches, launches_apart, bytes_an_element,\n"
                           "                       bytes_apart, bound, source\n" SOURCE_HELP "\n"
                           "Example:\n"
                           "  slipring kernel fuse examples/kernels/chain.cu:scale_bias \\\n"
                           "    examples/kernels/chain.cu:relu\n"
                           "\n"
                           "Exit code: 1 if a source does not compile, or the result would be wrong or\n"
                           "slower: the message gives the reason.\n";

typedef struct fuse_options {
    source_options source;
    slr_kernel_fusion_desc desc;
    run_list joins, keep;
    const char *output;
    bool json;
    slr_fusion_step *steps; // of --ops
    uint32_t step_count;
    slr_scalar dtype;
} fuse_options;

// One part as the command line names it. The texts are its own.
typedef struct fuse_part {
    char *file, *kernel; // kernel NULL: the only one
    slr_program *program;
} fuse_part;

static fuse_part split_part(const char *text)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    fuse_part part = {.file = memory_take(length + 1, 1)};
    memcpy(part.file, text, length);
    if (colon != NULL) {
        part.kernel = memory_take(strlen(colon), 1);
        memcpy(part.kernel, colon + 1, strlen(colon));
    }
    return part;
}

static int load_part(slr_device *device, fuse_part *parts, size_t index, const source_options *source,
                     slr_fusion_part *out)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(parts[i].file, parts[index].file) == 0) {
            *out = (slr_fusion_part){out[-(ptrdiff_t)(index - i)].program, parts[index].kernel};
            return EXIT_DONE;
        }
    }
    int end = kernel_load(device, parts[index].file, source, &parts[index].program);
    *out = (slr_fusion_part){parts[index].program, parts[index].kernel};
    return end == EXIT_DONE ? source_options_require(source, parts[index].program, parts[index].file) : end;
}

// ---- joins ---------------------------------------------------------------------------------------------------------

// "f.y" to a part and a parameter, which begins at the result. NULL: there is no such part.
static const char *take_side(const fuse_part *parts, uint32_t count, const char *text, size_t length, uint32_t *part)
{
    const char *dot = memchr(text, '.', length);
    for (uint32_t i = 0; dot != NULL && i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i);
        size_t name = (size_t)(dot - text);
        bool by_name = parts[i].kernel != NULL && strlen(parts[i].kernel) == name;
        if ((by_name && memcmp(parts[i].kernel, text, name) == 0) ||
            (strlen(number) == name && memcmp(number, text, name) == 0)) {
            *part = i;
            return dot + 1;
        }
    }
    return NULL;
}

static char *copy_text(const char *from, size_t length)
{
    char *made = memory_take(length + 1, 1);
    memcpy(made, from, length);
    return made;
}

static int take_join(const fuse_part *parts, uint32_t count, const char *text, slr_fusion_join *out)
{
    const char *equal = strchr(text, '=');
    const char *one = equal != NULL ? take_side(parts, count, text, (size_t)(equal - text), &out->part) : NULL;
    const char *other = one != NULL ? take_side(parts, count, equal + 1, strlen(equal + 1), &out->other_part) : NULL;
    if (other == NULL)
        return say_usage("--join: '%s' is not KERNEL.PARAMETER=KERNEL.PARAMETER of the kernels given", text);
    out->parameter = copy_text(one, (size_t)(equal - one));
    out->other = copy_text(other, strlen(other));
    return EXIT_DONE;
}

// ---- the result ----------------------------------------------------------------------------------------------------

static int write_source(const char *path, const char *source)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        say("cannot write '%s': %s", path, strerror(errno));
        return EXIT_FAILED;
    }
    fputs(source, file);
    return output_close_stream(file, "--output", path);
}

static json_t *parts_json(const fuse_part *parts, uint32_t count)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array, json_pack("{s:o, s:o?}", "file", kernel_text(parts[i].file), "kernel",
                                               parts[i].kernel != NULL ? kernel_text(parts[i].kernel) : NULL));
    return array;
}

static int print_result(const fuse_options *options, const fuse_part *parts, const slr_kernel *kernel,
                        const slr_fusion_info *info)
{
    slr_kernel_info is;
    slr_status status = slr_kernel_get_info(kernel, &is);
    if (status != SLR_OK)
        return say_failure(status, "fused kernel");
    if (options->json)
        kernel_print_object(json_pack("{s:s, s:o?, s:i, s:i, s:i, s:i, s:I, s:I, s:f, s:o}", "name", is.name, "parts",
                                      parts != NULL ? parts_json(parts, options->desc.part_count) : NULL, "inputs",
                                      (int)info->inputs, "outputs", (int)info->outputs, "launches", (int)info->launches,
                                      "launches_apart", (int)info->launches_apart, "bytes_an_element",
                                      (json_int_t)info->bytes_an_element, "bytes_apart", (json_int_t)info->bytes_apart,
                                      "bound", info->bound, "source", kernel_text(info->source)));
    else if (options->output == NULL)
        fputs(info->source, stdout);
    return options->output != NULL ? write_source(options->output, info->source) : EXIT_DONE;
}

static slr_status fuse_steps(const fuse_options *options, slr_device *device, slr_kernel **out, slr_fusion_info *info)
{
    slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
    desc.steps = options->steps;
    desc.op_count = options->step_count;
    desc.dtype = options->dtype;
    desc.name = options->desc.name;
    return slr_fuse(device, &desc, out, info);
}

// Of kernels, or (`parts` NULL) of --ops.
static int fuse_loaded(fuse_options *options, slr_device *device, const fuse_part *parts)
{
    slr_kernel *kernel;
    slr_fusion_info info;
    slr_status status =
        parts != NULL ? slr_fuse_kernels(&options->desc, &kernel, &info) : fuse_steps(options, device, &kernel, &info);
    if (status == SLR_NOT_FOUND || status == SLR_INVALID)
        return say_usage("%s", slr_error_message());
    if (status != SLR_OK) {
        say("not fused: %s", slr_error_message());
        return EXIT_FAILED;
    }
    int end = print_result(options, parts, kernel, &info);
    slr_kernel_destroy(kernel);
    return end;
}

static int fuse_parts(fuse_options *options, slr_device *device, fuse_part *parts)
{
    uint32_t count = options->desc.part_count, joins = 0;
    slr_fusion_part *given = memory_take(count, sizeof *given);
    slr_fusion_join *join = memory_take(options->joins.count + 1, sizeof *join);
    int end = EXIT_DONE;
    for (uint32_t i = 0; i < count && end == EXIT_DONE; i++)
        end = load_part(device, parts, i, &options->source, &given[i]);
    for (; joins < options->joins.count && end == EXIT_DONE; joins++)
        end = take_join(parts, count, options->joins.items[joins], &join[joins]);
    options->desc.parts = given;
    options->desc.joins = join;
    options->desc.join_count = joins;
    options->desc.keep = options->keep.items;
    options->desc.keep_count = (uint32_t)options->keep.count;
    if (end == EXIT_DONE)
        end = fuse_loaded(options, device, parts);
    for (uint32_t i = 0; i < joins; i++) {
        free((void *)join[i].parameter);
        free((void *)join[i].other);
    }
    free(given);
    free(join);
    return end;
}

static int fuse_files(fuse_options *options, char **texts)
{
    slr_device *device;
    slr_status status = slr_device_open(KERNEL_DEVICE, NULL, &device);
    if (status != SLR_OK)
        return say_failure(status, KERNEL_DEVICE);
    uint32_t count = options->desc.part_count;
    if (count == 0) {
        int made = fuse_loaded(options, device, NULL);
        slr_device_close(device);
        return made;
    }
    fuse_part *parts = memory_take(count, sizeof *parts);
    for (uint32_t i = 0; i < count; i++)
        parts[i] = split_part(texts[i]);
    int end = EXIT_DONE;
    for (uint32_t i = 0; i < count && options->output != NULL && end == EXIT_DONE; i++)
        if (output_same_file(options->output, parts[i].file))
            end = say_usage("--output: '%s' is also an input", options->output);
    if (end == EXIT_DONE)
        end = fuse_parts(options, device, parts);
    for (uint32_t i = 0; i < count; i++) {
        slr_program_destroy(parts[i].program);
        free(parts[i].file);
        free(parts[i].kernel);
    }
    free(parts);
    slr_device_close(device);
    return end;
}

// ---- the command line ----------------------------------------------------------------------------------------------

static int parse(int argc, char **argv, fuse_options *out)
{
    static const struct option options[] = {SOURCE_LONG,
                                            {"ops", required_argument, NULL, 'O'},
                                            {"dtype", required_argument, NULL, 'd'},
                                            {"join", required_argument, NULL, 'J'},
                                            {"keep", required_argument, NULL, 'k'},
                                            {"name", required_argument, NULL, 'n'},
                                            {"always", no_argument, NULL, 'a'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int option; (option = getopt_long(argc, argv, ":ho:" SOURCE_SHORT, options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        int end = -1;
        if (option == 'O' && out->steps == NULL)
            end = fuse_take_operations(optarg, &out->steps, &out->step_count);
        else if (option == 'd')
            end = fuse_take_dtype(optarg, &out->dtype);
        else if (option == 'J')
            run_list_add(&out->joins, optarg);
        else if (option == 'k')
            run_list_add(&out->keep, optarg);
        else if (option == 'n')
            out->desc.name = optarg;
        else if (option == 'a')
            out->desc.always = 1;
        else if (option == 'o')
            out->output = optarg;
        else if (option == 'j')
            out->json = true;
        else if (!source_options_take(&out->source, option, optarg))
            return say_refused_option(option, argv);
        if (end != -1)
            return end;
    }
    if (out->steps == NULL && out->dtype != 0)
        return say_usage("--dtype is for --ops: kernels have types of their own");
    if (out->steps != NULL && out->joins.count + out->keep.count > 0)
        return say_usage("%s is for kernels of files, not for --ops", out->keep.count > 0 ? "--keep" : "--join");
    if (out->steps != NULL)
        return optind == argc ? -1 : say_usage("--ops takes no kernels, as '%s' is", argv[optind]);
    if (argc - optind < 2)
        return say_usage("at least two kernels are needed: A.cu:f B.cu:g");
    out->desc.part_count = (uint32_t)(argc - optind);
    return -1;
}

int kernel_fuse(int argc, char **argv)
{
    fuse_options options = {.desc = SLR_KERNEL_FUSION_DESC_INIT};
    int end = parse(argc, argv, &options);
    if (end == -1)
        end = fuse_files(&options, argv + optind);
    source_options_free(&options.source);
    free(options.joins.items);
    free(options.keep.items);
    free(options.steps);
    return end;
}
