// SPDX-License-Identifier: Apache-2.0
// `slipring doctor` and `slipring devices`: what was tried, what opens, and why the rest does not.
#include "say.h"
#include "verbs.h"

#include <slipring/metrics.h>

#include <jansson.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// Takes --help and --json. -1 where the verb shall go on, else its exit code.
static int parse(int argc, char **argv, const char *help, bool *json)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    int option;
    opterr = 0;
    *json = false;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option != 'j')
            return say_refused_option(option, argv);
        *json = true;
    }
    return optind < argc ? say_usage("nothing but options, not '%s'", argv[optind]) : -1;
}

typedef struct seen {
    slr_device_info info;
    slr_metrics metrics;
    char no_metrics[300]; // why not, where a device of its kind is measured
} seen;

static void measure(const slr_device *device, seen *out)
{
    slr_status status = slr_device_get_metrics(device, &out->metrics);
    if (status != SLR_OK && status != SLR_UNSUPPORTED)
        snprintf(out->no_metrics, sizeof out->no_metrics, "%s", slr_error_message());
}

// The `index`th device of a backend, opened for a look. False where it does not open; why is slr_error_message().
static bool look_at(const slr_backend_info *backend, uint32_t index, seen *out)
{
    char spec[32];
    slr_device *device;
    snprintf(spec, sizeof spec, backend->devices > 1 ? "%s:%u" : "%s", backend->name, index);
    if (slr_device_open(spec, NULL, &device) != SLR_OK)
        return false;
    slr_status status = slr_device_get_info(device, &out->info);
    measure(device, out);
    slr_device_close(device);
    return status == SLR_OK;
}

static bool runs_handlers(const slr_device_info *device)
{
    return device->ring_kernels != 0 && device->workers > 0;
}

// "fp64 memory=fine" is {"fp64": true, "memory": "fine"}.
static json_t *features_json(const char *features)
{
    json_t *object = json_object();
    for (const char *at = features; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length);
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - at : (ptrdiff_t)length), at);
        json_object_set_new(object, name,
                            equals ? json_stringn(equals + 1, (size_t)(at + length - equals - 1)) : json_true());
        at += length;
    }
    return object;
}

static json_t *metrics_json(const slr_metrics *metrics)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < metrics->count; i++)
        json_object_set_new(object, metrics->metric[i].name, json_integer((json_int_t)metrics->metric[i].value));
    return object;
}

static json_t *device_json(const seen *seen)
{
    const slr_device_info *device = &seen->info;
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:b, s:b, s:I, s:o, s:s}", "name", device->name, "backend",
                  device->backend, "description", device->description, "engine", device->engine, "cache", device->cache,
                  "workers", (int)device->workers, "compute_units", (int)device->compute_units, "runs_handlers",
                  runs_handlers(device), "runs_kernels", (int)device->kernels, "unified_memory",
                  (int)device->unified_memory, "memory_bytes", (json_int_t)device->memory_bytes, "features",
                  features_json(device->features), "note", device->notes);
    if (*device->relaunch_reason)
        json_object_set_new(object, "relaunch_reason", json_string(device->relaunch_reason));
    if (seen->metrics.count > 0)
        json_object_set_new(object, "metrics", metrics_json(&seen->metrics));
    if (*seen->no_metrics)
        json_object_set_new(object, "no_metrics", json_string(seen->no_metrics));
    return object;
}

static void print_metrics(const seen *seen)
{
    if (*seen->no_metrics)
        printf("         now       not measured: %s\n", seen->no_metrics);
    for (uint32_t i = 0; i < seen->metrics.count; i++)
        printf("%s%s=%" PRIu64 "%s", i == 0 ? "         now       " : " ", seen->metrics.metric[i].name,
               seen->metrics.metric[i].value, i + 1 == seen->metrics.count ? "\n" : "");
}

static void print_device(const seen *seen)
{
    const slr_device_info *device = &seen->info;
    printf("%-8s opens: %s\n", device->name, device->description);
    printf("         handlers  %s", device->engine);
    if (device->workers > 0)
        printf(", %u worker%s", device->workers, device->workers > 1 ? "s" : "");
    printf("\n         cache     %s\n", *device->cache ? device->cache : "none");
    if (*device->features)
        printf("         features  %s\n", device->features);
    if (*device->relaunch_reason)
        printf("         rings     are relaunched: %s\n", device->relaunch_reason);
    if (*device->notes)
        printf("         note      %s\n", device->notes);
    print_metrics(seen);
}

static void print_object(json_t *object)
{
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

// A walk over every device of every backend. `devices` collects them; `backends` says what did not open as well.
typedef struct findings {
    json_t *backends, *devices;
    bool print;  // as text, while walking
    bool closed; // with the backends that do not open
    bool usable; // a device runs handlers
} findings;

static void note_closed(findings *findings, const slr_backend_info *backend, const char *reason)
{
    if (findings->print && findings->closed)
        printf("%-8s cannot run here: %s\n", backend->name, reason);
    json_array_append_new(findings->backends,
                          json_pack("{s:s, s:b, s:s}", "name", backend->name, "opens", 0, "reason", reason));
}

static void note_backend(findings *findings, const slr_backend_info *backend)
{
    if (backend->status != SLR_OK) {
        note_closed(findings, backend, backend->reason);
        return;
    }
    for (uint32_t i = 0; i < backend->devices; i++) {
        seen device = {0};
        if (!look_at(backend, i, &device)) {
            note_closed(findings, backend, slr_error_message());
            continue;
        }
        if (findings->print)
            print_device(&device);
        findings->usable = findings->usable || runs_handlers(&device.info);
        json_t *entry = device_json(&device);
        json_array_append_new(findings->backends,
                              json_pack("{s:s, s:b, s:O}", "name", backend->name, "opens", 1, "device", entry));
        json_array_append_new(findings->devices, entry);
    }
}

static findings walk(bool print, bool closed)
{
    findings findings = {json_array(), json_array(), print, closed, false};
    slr_backend_info backend;
    for (uint32_t i = 0; slr_backend_get_info(i, &backend) == SLR_OK; i++)
        note_backend(&findings, &backend);
    return findings;
}

int verb_doctor(int argc, char **argv)
{
    static const char help[] =
        "Usage: slipring doctor [--json]\n"
        "Tries each backend: what opens, how it runs handlers, where compiled ones are kept; and\n"
        "why the others cannot run here. Exit code 0 where a device runs handlers, else 3.\n";
    bool json;
    int end = parse(argc, argv, help, &json);
    if (end != -1)
        return end;
    if (!json)
        puts("slipring " SLR_VERSION);
    findings findings = walk(!json, true);
    json_t *object = json_pack("{s:s, s:b, s:o, s:o}", "version", SLR_VERSION, "runs_handlers", findings.usable,
                               "backends", findings.backends, "devices", findings.devices);
    if (json)
        print_object(object);
    else
        json_decref(object);
    return findings.usable ? EXIT_DONE : EXIT_NO_DEVICE;
}

int verb_devices(int argc, char **argv)
{
    static const char help[] = "Usage: slipring devices [--json]\n"
                               "Lists the devices that open here, by the name that --device takes.\n";
    bool json;
    int end = parse(argc, argv, help, &json);
    if (end != -1)
        return end;
    findings findings = walk(!json, false);
    json_decref(findings.backends);
    json_t *object = json_pack("{s:s, s:o}", "version", SLR_VERSION, "devices", findings.devices);
    if (json)
        print_object(object);
    else
        json_decref(object);
    return findings.usable ? EXIT_DONE : EXIT_NO_DEVICE;
}
