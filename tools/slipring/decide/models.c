// SPDX-License-Identifier: Apache-2.0
// Devices as files of figures: JSON, one object a device.
#include "decide/parts.h"

#include "kernel/kernel.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

extern const char decide_embedded_h100_json[], decide_embedded_cpu2_json[];

static const struct model {
    const char *name, *text;
} models[] = {{"h100", decide_embedded_h100_json}, {"cpu2", decide_embedded_cpu2_json}};

static const char *const classes[] = {[SLR_DEVICE_GPU] = "gpu",
                                      [SLR_DEVICE_INTEGRATED_GPU] = "integrated gpu",
                                      [SLR_DEVICE_CPU] = "cpu",
                                      [SLR_DEVICE_OTHER] = "other",
                                      [SLR_DEVICE_SOFTWARE] = "software"};
enum { CLASSES = sizeof classes / sizeof *classes };

const char *decide_class_name(uint32_t device_class)
{
    return device_class >= 1 && device_class < CLASSES ? classes[device_class] : "other";
}

// Where each number of the file goes.
static const struct figure {
    const char *name;
    size_t at;
    bool is_count, may_be_zero;
} figures[] = {{"units", offsetof(slr_device_model, units), true, false},
               {"unit_threads", offsetof(slr_device_model, unit_threads), true, false},
               {"bytes_per_s", offsetof(slr_device_model, bytes_per_second), false, false},
               {"flops_per_s", offsetof(slr_device_model, flops_per_second), false, false},
               {"flops64_per_s", offsetof(slr_device_model, flops64_per_second), false, false},
               {"instructions_per_s", offsetof(slr_device_model, instructions_per_second), false, false},
               {"branch_per_s", offsetof(slr_device_model, branch_per_second), false, false},
               {"instruction_ns", offsetof(slr_device_model, instruction_ns), false, true},
               {"launch_ns", offsetof(slr_device_model, launch_ns), false, true},
               {"round_trip_ns", offsetof(slr_device_model, round_trip_ns), false, true},
               {"upload_ns", offsetof(slr_device_model, upload_ns), false, true},
               {"upload_bytes_per_s", offsetof(slr_device_model, upload_bytes_per_second), false, false},
               {"download_ns", offsetof(slr_device_model, download_ns), false, true},
               {"download_bytes_per_s", offsetof(slr_device_model, download_bytes_per_second), false, false}};
enum { FIGURES = sizeof figures / sizeof *figures };

static int take_figure(const json_t *object, const char *path, const struct figure *figure, slr_device_model *out)
{
    const json_t *value = json_object_get(object, figure->name);
    double number = json_number_value(value);
    bool fine = json_is_number(value) && number >= 0 && (number > 0 || figure->may_be_zero);
    if (!fine || (figure->is_count && (!json_is_integer(value) || number > UINT32_MAX)))
        return say_usage("--model '%s': \"%s\" must be a %s %s", path, figure->name,
                         figure->is_count ? "whole number" : "number", figure->may_be_zero ? "from 0" : "above 0");
    if (figure->is_count)
        *(uint32_t *)(void *)((char *)out + figure->at) = (uint32_t)number;
    else
        *(double *)(void *)((char *)out + figure->at) = number;
    return EXIT_DONE;
}

static int take_class(const json_t *object, const char *path, slr_device_model *out)
{
    const char *name = json_string_value(json_object_get(object, "class"));
    for (uint32_t i = 1; name != NULL && i < CLASSES; i++)
        if (strcmp(classes[i], name) == 0)
            out->device_class = i;
    return out->device_class != 0 ? EXIT_DONE
                                  : say_usage("--model '%s': \"class\" must be one of gpu, integrated gpu, cpu, other, "
                                              "software",
                                              path);
}

// Without a name, the file's; without "unified", false.
static int take_name(const json_t *object, const char *path, slr_device_model *out)
{
    const json_t *name = json_object_get(object, "name"), *unified = json_object_get(object, "unified");
    if (name != NULL && !json_is_string(name))
        return say_usage("--model '%s': \"name\" must be a string", path);
    if (unified != NULL && !json_is_boolean(unified))
        return say_usage("--model '%s': \"unified\" must be true or false", path);
    snprintf(out->name, sizeof out->name, "%s", name != NULL ? json_string_value(name) : path);
    out->unified = json_is_true(unified);
    return EXIT_DONE;
}

static int take_model(const json_t *object, const char *path, slr_device_model *out)
{
    *out = (slr_device_model){0};
    if (!json_is_object(object))
        return say_usage("--model '%s': must be one JSON object", path);
    int end = take_name(object, path, out);
    if (end == EXIT_DONE)
        end = take_class(object, path, out);
    for (size_t i = 0; i < FIGURES && end == EXIT_DONE; i++)
        end = take_figure(object, path, &figures[i], out);
    return end;
}

int decide_read_model(const char *path, slr_device_model *out)
{
    json_error_t error;
    json_t *object = NULL;
    bool is_ours = false;
    for (size_t i = 0; i < sizeof models / sizeof *models && !is_ours; i++) {
        is_ours = strcmp(models[i].name, path) == 0;
        object = is_ours ? json_loads(models[i].text, 0, &error) : NULL;
    }
    if (!is_ours)
        object = json_load_file(path, 0, &error);
    if (object == NULL)
        return error.line > 0 ? say_usage("--model '%s': %s (line %d); it is a file, or h100, or cpu2", path,
                                          error.text, error.line)
                              : say_usage("--model '%s': %s; it is a file, or h100, or cpu2", path, error.text);
    int end = take_model(object, path, out);
    json_decref(object);
    return end;
}

json_t *decide_model_json(const slr_device_model *model)
{
    json_t *object = json_pack("{s:o, s:s, s:b}", "name", kernel_text(model->name), "class",
                               decide_class_name(model->device_class), "unified", (int)model->unified);
    for (size_t i = 0; i < FIGURES; i++) {
        const char *at = (const char *)model + figures[i].at;
        json_object_set_new(object, figures[i].name,
                            figures[i].is_count ? json_integer((json_int_t) * (const uint32_t *)(const void *)at)
                                                : json_real(*(const double *)(const void *)at));
    }
    return object;
}
