// SPDX-License-Identifier: Apache-2.0
// `slipring decide`: candidates, the work, the answer.
#include "decide/parts.h"

#include "device_option.h"
#include "kernel/kernel.h"
#include "memory.h"
#include "say.h"
#include "system.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = SLR_MOST_CANDIDATES, LARGEST = 1 << 28, MOST_CONTENTS_BYTES = 256 << 20 };

typedef struct deciding {
    decide_options options;
    slr_device *counting; // on which the source is read, counted and interpreted
    slr_program *program;
    slr_kernel *kernel;
    slr_function_info function;
    slr_device *devices[MOST_PLACES];
    slr_device_model models[MOST_PLACES]; // of the candidates that are no open device
    slr_candidate candidates[MOST_PLACES];
    uint32_t device_count, count;
    kernel_arguments resized; // of the size that was asked about last
    uint64_t *resized_bytes;
    void *library; // of --call
    void (*plain_call)(void);
    decide_answer answer;
} deciding;

// ---- candidates ----------------------------------------------------------------------------------------------------

static int add_model(deciding *d, const slr_device_model *model)
{
    if (d->count == MOST_PLACES)
        return say_usage("more than %d candidates", MOST_PLACES);
    d->models[d->count] = *model;
    d->candidates[d->count] = (slr_candidate){.model = &d->models[d->count], .model_bytes = sizeof *model};
    d->count++;
    return EXIT_DONE;
}

// One core without a launch. `device`: that of `cpu`, or NULL.
static int add_plain_call(deciding *d, const slr_device_model *cpu, slr_device *device)
{
    slr_device_model one = *cpu;
    char name[sizeof one.name];
    memcpy(name, cpu->name, sizeof name);
    snprintf(one.name, sizeof one.name, "plain call (%.40s)", name);
    one.bytes_per_second /= cpu->units;
    one.flops_per_second /= cpu->units;
    one.flops64_per_second /= cpu->units;
    one.instructions_per_second /= cpu->units;
    one.branch_per_second /= cpu->units;
    one.units = one.unit_threads = 1;
    one.launch_ns = one.round_trip_ns = 0;
    int end = add_model(d, &one);
    if (end == EXIT_DONE)
        d->candidates[d->count - 1].same_processor = device;
    return end;
}

// What is predicted of it would stand beside what is measured of others.
static bool predicts_plain_call(const deciding *d)
{
    return d->options.call == NULL && d->options.work.measure != SLR_MEASURE_ALWAYS;
}

static slr_status make_plain_call(void *user)
{
    deciding *d = user;
    d->plain_call();
    return SLR_OK;
}

// LIBRARY:FUNCTION
static int add_given_call(deciding *d)
{
    const char *given = d->options.call, *colon = strrchr(given, ':');
    char path[4096];
    if (colon == NULL || colon == given || colon[1] == '\0')
        return say_usage("--call: '%s' is not LIBRARY.so:FUNCTION", given);
    if (d->count == MOST_PLACES)
        return say_usage("more than %d candidates", MOST_PLACES);
    // A name without a slash would be looked for among the system's libraries.
    snprintf(path, sizeof path, "%s%.*s", strchr(given, '/') != NULL ? "" : "./", (int)(colon - given), given);
    const char *why;
    void *symbol = system_load(path, colon + 1, &d->library, &why);
    if (symbol == NULL)
        return say_usage("--call: %s", why);
    memcpy(&d->plain_call, &symbol, sizeof symbol); // ISO C has no such cast
    d->candidates[d->count++] = (slr_candidate){.call = make_plain_call, .user = d};
    return EXIT_DONE;
}

static int add_device(deciding *d, const char *spec)
{
    slr_device_model model;
    if (d->count == MOST_PLACES)
        return say_usage("more than %d candidates", MOST_PLACES);
    int end = device_option_open(spec, NULL, &d->devices[d->device_count], NULL);
    if (end != EXIT_DONE)
        return end;
    slr_device *device = d->devices[d->device_count++];
    slr_status status = slr_device_get_model(device, &model);
    if (status != SLR_OK)
        return say_failure(status, spec);
    d->candidates[d->count++] = (slr_candidate){.device = device};
    return model.device_class == SLR_DEVICE_CPU && predicts_plain_call(d) ? add_plain_call(d, &model, device)
                                                                          : EXIT_DONE;
}

static int add_all_devices(deciding *d)
{
    int end = EXIT_DONE;
    slr_backend_info info;
    for (uint32_t i = 0; end == EXIT_DONE && slr_backend_get_info(i, &info) == SLR_OK; i++) {
        if (info.status != SLR_OK || strcmp(info.name, "null") == 0)
            continue;
        for (uint32_t k = 0; end == EXIT_DONE && k < info.devices; k++) {
            char spec[40];
            snprintf(spec, sizeof spec, strcmp(info.name, "cpu") == 0 ? "%s" : "%s:%u", info.name, k);
            end = add_device(d, spec);
        }
    }
    return end;
}

static int add_candidates(deciding *d)
{
    const decide_options *options = &d->options;
    bool has_cpu = options->devices.count > 0;
    int end = options->call != NULL ? add_given_call(d) : EXIT_DONE;
    for (uint32_t i = 0; end == EXIT_DONE && i < options->devices.count; i++)
        end = add_device(d, options->devices.items[i]);
    for (uint32_t i = 0; end == EXIT_DONE && i < options->models.count; i++) {
        slr_device_model model;
        end = decide_read_model(options->models.items[i], &model);
        if (end == EXIT_DONE)
            end = add_model(d, &model);
        if (end == EXIT_DONE && model.device_class == SLR_DEVICE_CPU) {
            has_cpu = true;
            end = predicts_plain_call(d) ? add_plain_call(d, &model, NULL) : EXIT_DONE;
        }
    }
    if (end != EXIT_DONE || has_cpu)
        return end;
    return options->models.count > 0 ? add_device(d, "cpu") : add_all_devices(d);
}

// ---- the work ------------------------------------------------------------------------------------------------------

static uint64_t *bytes_of(const deciding *d, const kernel_arguments *arguments)
{
    uint64_t *bytes = memory_take(arguments->count + 1, sizeof *bytes);
    for (uint32_t i = 0; i < arguments->count; i++)
        bytes[i] = arguments->elements[i] * d->function.parameters[i].element_bytes;
    return bytes;
}

static void set_work(deciding *d, const kernel_arguments *arguments, const uint64_t *bytes, const uint64_t size[3],
                     slr_work *work)
{
    work->kernel = d->kernel;
    work->args = arguments->items;
    work->arg_count = arguments->count;
    work->buffer_bytes = bytes;
    memcpy(work->shape.threads, size, sizeof work->shape.threads);
}

static void free_resized(deciding *d)
{
    kernel_arguments_free(&d->resized);
    free(d->resized_bytes);
    d->resized = (kernel_arguments){0};
    d->resized_bytes = NULL;
}

// All sides that are more than 1 grow and shrink alike.
static slr_status resize(void *user, uint64_t threads, slr_work *work)
{
    deciding *d = user;
    const uint64_t *now = d->options.size;
    uint64_t size[3];
    int sides = (now[0] > 1) + (now[1] > 1) + (now[2] > 1);
    double by = pow((double)threads / (double)(now[0] * now[1] * now[2]), 1.0 / (sides > 0 ? sides : 1));
    if (threads > LARGEST)
        return SLR_NOT_FOUND;
    for (int i = 0; i < 3; i++) {
        double side = now[i] > 1 || (sides == 0 && i == 0) ? floor((double)now[i] * by + 0.5) : 1;
        size[i] = side < 1 ? 1 : (uint64_t)side;
    }
    free_resized(d);
    if (kernel_arguments_sized(&d->resized, NULL, &d->function, &d->options.arguments, size) != EXIT_DONE)
        return SLR_INVALID;
    d->resized_bytes = bytes_of(d, &d->resized);
    set_work(d, &d->resized, d->resized_bytes, size, work);
    return SLR_OK;
}

// Contents are needed to measure, and to count work that depends on them. No memory is taken for large work that is
// only predicted.
static bool needs_contents(const deciding *d, const kernel_arguments *arguments, const uint64_t *bytes)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < arguments->count; i++)
        all += bytes[i];
    return d->options.work.measure == SLR_MEASURE_ALWAYS || all <= MOST_CONTENTS_BYTES;
}

static int make_arguments(deciding *d, kernel_arguments *arguments, uint64_t **bytes)
{
    const run_list *given = &d->options.arguments;
    int end = kernel_arguments_sized(arguments, NULL, &d->function, given, d->options.size);
    if (end != EXIT_DONE)
        return end;
    *bytes = bytes_of(d, arguments);
    if (!needs_contents(d, arguments, *bytes))
        return EXIT_DONE;
    kernel_arguments_free(arguments);
    *arguments = (kernel_arguments){0};
    return kernel_arguments_sized(arguments, d->counting, &d->function, given, d->options.size);
}

static int decide_work(deciding *d)
{
    kernel_arguments arguments = {0};
    uint64_t *bytes = NULL;
    slr_work work = d->options.work;
    int end = make_arguments(d, &arguments, &bytes);
    if (end == EXIT_DONE) {
        set_work(d, &arguments, bytes, d->options.size, &work);
        work.resize = resize;
        work.user = d;
        slr_status status = slr_decide(&work, d->candidates, d->count, d->answer.estimates, &d->answer.decision);
        d->answer.count = d->count;
        end = status == SLR_OK ? EXIT_DONE : kernel_say_status(status);
    }
    free_resized(d);
    kernel_arguments_free(&arguments);
    free(bytes);
    return end;
}

// ---- the verb ------------------------------------------------------------------------------------------------------

static int load(deciding *d)
{
    const decide_options *options = &d->options;
    int end = device_option_open(KERNEL_DEVICE, NULL, &d->counting, NULL);
    if (end == EXIT_DONE && options->workload != NULL) {
        slr_program_desc desc = source_options_desc(&options->source);
        slr_status status =
            slr_program_from_text(d->counting, options->file, options->workload->text, &desc, &d->program);
        end = status == SLR_OK ? EXIT_DONE : say_failure(status, options->file);
    } else if (end == EXIT_DONE)
        end = kernel_load(d->counting, options->file, &options->source, &d->program);
    if (end == EXIT_DONE)
        end = source_options_require(&options->source, d->program, options->file);
    if (end == EXIT_DONE)
        end = kernel_find(d->program, options->file, options->name, &d->kernel, &d->function);
    return end;
}

static int print_models(deciding *d)
{
    int end = EXIT_DONE;
    for (uint32_t i = 0; end == EXIT_DONE && i < d->options.devices.count; i++) {
        slr_device *device;
        slr_device_model model;
        end = device_option_open(d->options.devices.items[i], NULL, &device, NULL);
        if (end != EXIT_DONE)
            break;
        slr_status status = slr_device_get_model(device, &model);
        slr_device_close(device);
        if (status != SLR_OK)
            return say_failure(status, d->options.devices.items[i]);
        kernel_print_object(decide_model_json(&model));
    }
    return end;
}

static int decide_all(deciding *d)
{
    if (d->options.prints_model)
        return print_models(d);
    int end = load(d);
    if (end == EXIT_DONE)
        end = add_candidates(d);
    if (end == EXIT_DONE)
        end = decide_work(d);
    if (end == EXIT_DONE && d->options.json)
        kernel_print_object(decide_json(&d->options, &d->answer));
    else if (end == EXIT_DONE)
        decide_print(&d->options, &d->answer);
    return end;
}

int verb_decide(int argc, char **argv)
{
    deciding *d = memory_take(1, sizeof *d);
    int end = decide_options_parse(argc, argv, &d->options);
    if (end == -1)
        end = decide_all(d);
    for (uint32_t i = 0; i < d->device_count; i++)
        slr_device_close(d->devices[i]);
    slr_kernel_destroy(d->kernel);
    slr_program_destroy(d->program);
    slr_device_close(d->counting);
    system_close(d->library);
    decide_options_free(&d->options);
    free(d);
    return end;
}
