// SPDX-License-Identifier: Apache-2.0
// `slipring doctor` and `slipring devices`: what was tried, what opens, and why the rest does not.
#include "apart.h"
#include "doctor.h"
#include "json_out.h"
#include "memory.h"
#include "say.h"
#include "system.h"
#include "verbs.h"

#include <slipring/metrics.h>
#include <slipring/ops.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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
    return optind < argc ? say_usage("only options are allowed, not '%s'", argv[optind]) : -1;
}

// A device that opens, or a backend that does not.
typedef struct seen {
    char backend[16];
    bool opens;
    char reason[256]; // why not
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
    if (strcmp(backend->name, "cpu") == 0)
        snprintf(spec, sizeof spec, "cpu?compiler=tried"); // whether it works, not only that it is there
    else
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

static const char *class_of(const slr_device_info *device)
{
    static const char *const name[] = {
        [SLR_DEVICE_GPU] = "gpu",           [SLR_DEVICE_INTEGRATED_GPU] = "integrated_gpu",
        [SLR_DEVICE_CPU] = "cpu",           [SLR_DEVICE_OTHER] = "other",
        [SLR_DEVICE_SOFTWARE] = "software", [SLR_DEVICE_NOTHING] = "nothing"};
    bool known = device->device_class < sizeof name / sizeof *name && name[device->device_class];
    return known ? name[device->device_class] : "unknown";
}

// "fp64 memory=fine" is {"fp64": true, "memory": "fine"}.
static void put_features(json_out *out, const char *features)
{
    json_out_object(out, "features");
    for (const char *at = features; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length);
        char name[64], value[128];
        snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - at : (ptrdiff_t)length), at);
        if (equals) {
            snprintf(value, sizeof value, "%.*s", (int)(at + length - equals - 1), equals + 1);
            json_out_text(out, name, value);
        } else {
            json_out_bool(out, name, true);
        }
        at += length;
    }
    json_out_end_object(out);
}

static void put_metrics(json_out *out, const seen *seen)
{
    if (seen->metrics.count > 0) {
        json_out_object(out, "metrics");
        for (uint32_t i = 0; i < seen->metrics.count; i++)
            json_out_integer(out, seen->metrics.metric[i].name, seen->metrics.metric[i].value);
        json_out_end_object(out);
    }
    if (*seen->no_metrics)
        json_out_text(out, "no_metrics", seen->no_metrics);
}

static void put_device(json_out *out, const char *key, const seen *seen)
{
    const slr_device_info *device = &seen->info;
    json_out_object(out, key);
    json_out_text(out, "name", device->name);
    json_out_text(out, "backend", device->backend);
    json_out_text(out, "class", class_of(device));
    json_out_text(out, "description", device->description);
    json_out_text(out, "engine", device->engine);
    if (*device->engine_reason)
        json_out_text(out, "engine_reason", device->engine_reason);
    json_out_text(out, "cache", device->cache);
    json_out_integer(out, "workers", device->workers);
    json_out_integer(out, "compute_units", device->compute_units);
    json_out_bool(out, "runs_handlers", runs_handlers(device));
    json_out_bool(out, "runs_kernels", device->kernels != 0);
    json_out_bool(out, "unified_memory", device->unified_memory != 0);
    json_out_integer(out, "memory_bytes", device->memory_bytes);
    put_features(out, device->features);
    json_out_text(out, "note", device->notes);
    if (*device->relaunch_reason)
        json_out_text(out, "relaunch_reason", device->relaunch_reason);
    put_metrics(out, seen);
    json_out_end_object(out);
}

enum { NAMED = 9, LABELLED = 19, ANY = 1 << 20 };

// `head` and words, which go on below it from column `indent` on. They are as wide as the terminal, and `else_columns`
// where there is none. A word is never cut.
static void print_wrapped(const char *head, const char *words, size_t indent, size_t else_columns)
{
    const size_t terminal = system_columns(), columns = terminal > 0 ? terminal : else_columns;
    size_t used = strlen(head);
    say_out("%s", head);
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        const bool breaks = used > indent && used + 1 + length > columns;
        if (breaks)
            say_out("\n%*s%.*s", (int)indent, "", (int)length, words);
        else
            say_out(" %.*s", (int)length, words);
        used = breaks ? indent + length : used + 1 + length;
        words += length + strspn(words + length, " ");
    }
    say_out("\n");
}

// A line of a device: "label words". A program that reads it finds all in one line.
static void print_line(const char *label, const char *words)
{
    char head[32];
    snprintf(head, sizeof head, "         %-9s", label);
    print_wrapped(head, words, LABELLED, ANY);
}

// A text of many words.
static void print_words(const char *label, const char *words)
{
    char head[32];
    snprintf(head, sizeof head, "         %-9s", label);
    print_wrapped(head, words, LABELLED, 80);
}

// The line of a device or backend: "name does: words".
static void print_named(const char *name, const char *does, const char *words)
{
    char head[256];
    snprintf(head, sizeof head, "%-8s %s:", name, does);
    print_wrapped(head, words, NAMED, ANY);
}

static void print_metrics(const seen *seen)
{
    char text[sizeof seen->metrics.metric / sizeof *seen->metrics.metric * 64 + sizeof seen->no_metrics + 32] = "";
    if (*seen->no_metrics)
        snprintf(text, sizeof text, "not measured: %s", seen->no_metrics);
    for (uint32_t i = 0; i < seen->metrics.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%" PRIu64, *text ? " " : "",
                 seen->metrics.metric[i].name, seen->metrics.metric[i].value);
    if (*text)
        print_line("now", text);
}

static void print_device(const seen *seen)
{
    const slr_device_info *device = &seen->info;
    char handlers[sizeof device->engine + 32];
    snprintf(handlers, sizeof handlers, "%s", device->engine);
    if (device->workers > 0)
        snprintf(handlers, sizeof handlers, "%s, %u worker%s", device->engine, device->workers,
                 device->workers > 1 ? "s" : "");
    print_named(device->name, "opens", device->description);
    print_line("class", class_of(device));
    print_line("handlers", handlers);
    if (*device->engine_reason)
        print_line("because", device->engine_reason);
    print_line("cache", *device->cache ? device->cache : "none");
    if (*device->features)
        print_words("features", device->features);
    if (*device->relaunch_reason) {
        char reason[sizeof device->relaunch_reason + 32];
        snprintf(reason, sizeof reason, "batched launches: %s", device->relaunch_reason);
        print_words("rings", reason);
    }
    if (*device->notes)
        print_words("note", device->notes);
    print_metrics(seen);
}

// A walk over every device of every backend.
typedef struct findings {
    seen *all;
    unsigned count;
    bool usable; // a device runs handlers
} findings;

static seen *add(findings *findings, const slr_backend_info *backend)
{
    findings->all = memory_grow(findings->all, findings->count + 1, sizeof *findings->all);
    seen *added = &findings->all[findings->count++];
    *added = (seen){0};
    snprintf(added->backend, sizeof added->backend, "%s", backend->name);
    return added;
}

static void note_closed(seen *seen, const char *reason)
{
    snprintf(seen->reason, sizeof seen->reason, "%s", reason);
}

static void note_backend(findings *findings, const slr_backend_info *backend)
{
    if (backend->status != SLR_OK)
        note_closed(add(findings, backend), backend->reason);
    for (uint32_t i = 0; backend->status == SLR_OK && i < backend->devices; i++) {
        seen *device = add(findings, backend);
        device->opens = look_at(backend, i, device);
        if (!device->opens)
            note_closed(device, slr_error_message());
        findings->usable = findings->usable || (device->opens && runs_handlers(&device->info));
    }
}

#define BACKEND_SECONDS 60 // the first start of a driver may compile for some

// In the child: what is known of the backend, as an array.
static void look_apart(FILE *to, void *context)
{
    const uint32_t *index = context;
    slr_backend_info backend;
    findings found = {NULL, 0, false};
    if (slr_backend_get_info(*index, &backend) == SLR_OK)
        note_backend(&found, &backend);
    fwrite(found.all, sizeof *found.all, found.count, to);
    free(found.all);
}

// A backend in a process of its own: a driver that crashes or hangs is reported, and the others are still tested.
static void walk_backend(findings *findings, uint32_t index)
{
    slr_backend_info backend = {0};
    snprintf(backend.name, sizeof backend.name, "%s", slr_backend_name(index));
    apart found;
    apart_run(look_apart, &index, BACKEND_SECONDS, &found);
    const seen *all = (const void *)found.data;
    for (size_t i = 0; i < found.bytes / sizeof *all; i++) {
        seen *device = add(findings, &backend);
        *device = all[i];
        findings->usable = findings->usable || (device->opens && runs_handlers(&device->info));
    }
    if (*found.ended) {
        seen *device = add(findings, &backend);
        snprintf(device->reason, sizeof device->reason, "its driver %s", found.ended);
    }
    free(found.data);
}

static findings walk(void)
{
    findings findings = {NULL, 0, false};
    for (uint32_t i = 0; slr_backend_name(i); i++)
        walk_backend(&findings, i);
    return findings;
}

// `closed`: with the backends that do not open.
static void print_text(const findings *findings, bool closed)
{
    for (unsigned i = 0; i < findings->count; i++) {
        const seen *seen = &findings->all[i];
        if (seen->opens)
            print_device(seen);
        else if (closed)
            print_named(seen->backend, "cannot run here", seen->reason);
    }
}

static void put_backends(json_out *out, const findings *findings)
{
    json_out_array(out, "backends");
    for (unsigned i = 0; i < findings->count; i++) {
        const seen *seen = &findings->all[i];
        json_out_object(out, NULL);
        json_out_text(out, "name", seen->backend);
        json_out_bool(out, "opens", seen->opens);
        if (seen->opens)
            put_device(out, "device", seen);
        else
            json_out_text(out, "reason", seen->reason);
        json_out_end_object(out);
    }
    json_out_end_array(out);
}

static void print_provider(void *user, const slr_provider *provider)
{
    (void)user;
    if (*provider->why_not)
        print_named(provider->name, "not used by operations", provider->why_not);
    else
        print_named(provider->name, "for operations", provider->path);
}

static void put_provider(void *user, const slr_provider *provider)
{
    json_out *out = user;
    json_out_object(out, NULL);
    json_out_text(out, "name", provider->name);
    json_out_bool(out, "usable", *provider->why_not == '\0');
    json_out_text(out, "path", provider->path);
    json_out_text(out, "reason", provider->why_not);
    json_out_end_object(out);
}

// Once the caller looks for all that may be missing. They are never required.
static void tell_providers(json_out *out)
{
    slr_status status;
    if (out == NULL) {
        status = slr_ops_visit_providers(print_provider, NULL);
    } else {
        json_out_array(out, "providers");
        status = slr_ops_visit_providers(put_provider, out);
        json_out_end_array(out);
    }
    if (status != SLR_OK)
        say_failure(status, "providers");
}

static void print_json(const findings *findings, bool closed)
{
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_text(&out, "version", SLR_VERSION);
    json_out_text(&out, "library", slr_version());
    if (closed) {
        json_out_bool(&out, "runs_handlers", findings->usable);
        put_backends(&out, findings);
    }
    json_out_array(&out, "devices");
    for (unsigned i = 0; i < findings->count; i++)
        if (findings->all[i].opens)
            put_device(&out, NULL, &findings->all[i]);
    json_out_end_array(&out);
    if (closed)
        tell_providers(&out);
    json_out_end_object(&out);
}

static int tell(bool json, bool closed)
{
    if (!json && closed)
        say_version();
    findings findings = walk();
    if (json)
        print_json(&findings, closed);
    else
        print_text(&findings, closed);
    if (!json && closed)
        tell_providers(NULL);
    free(findings.all);
    return findings.usable ? EXIT_DONE : EXIT_NO_DEVICE;
}

int verb_doctor(int argc, char **argv)
{
    static const char help[] = "Usage: slipring doctor [--json]\n"
                               "       slipring doctor --cluster URL [OPTION]...\n"
                               "Tests each backend. For each device it shows how handlers run, and where\n"
                               "compiled handlers are cached. For each backend that fails it shows the reason.\n"
                               "\n"
                               "  --json   prints one JSON object\n"
                               "  --cluster URL   which failures a message survives after these NATS servers\n"
                               "           have accepted it: see 'slipring doctor --cluster URL --help'\n"
                               "\n"
                               "Example:\n"
                               "  slipring doctor\n"
                               "\n"
                               "Exit code: 0 if a device runs handlers, else 3.\n";
    bool json;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--cluster", strlen("--cluster")) == 0)
#if SLIPRING_HAS_JANSSON
            return doctor_cluster(argc, argv);
#else
            return say_usage("--cluster needs jansson, and this slipring was built without it");
#endif
    int end = parse(argc, argv, help, &json);
    return end != -1 ? end : tell(json, true);
}

int verb_devices(int argc, char **argv)
{
    static const char help[] = "Usage: slipring devices [--json]\n"
                               "Lists the devices that work here, by their names for --device. For NVIDIA GPUs\n"
                               "it also shows load, memory and temperature.\n"
                               "\n"
                               "  --json   prints one JSON object\n"
                               "\n"
                               "Example:\n"
                               "  slipring devices\n"
                               "\n"
                               "Exit code: 0, even if there is no device.\n";
    bool json;
    int end = parse(argc, argv, help, &json);
    return end != -1 ? end : tell(json, false);
}
