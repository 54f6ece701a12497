// SPDX-License-Identifier: Apache-2.0
// `slipring ops autocast`: which operation runs in which type.
#include "ops/ops.h"

#include "device_option.h"
#include "json_out.h"
#include "say.h"
#include "verbs.h"

#include <slipring/slipring.h>

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: slipring ops autocast [OPTION]...\n"
                           "Prints the types in which operations run in mixed precision, and why.\n"
                           "\n"
                           "  --low TYPE           type of products and convolutions: f16 (default), bf16 or\n"
                           "                       f32\n"
                           "  --set OPERATION=TYPE another type for this operation; 'any': the type of its\n"
                           "                       operands\n"
                           "  --device D           default: cpu\n"
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring ops autocast --low bf16 --set softmax=any\n";

enum { MOST_SETS = 16 };

typedef struct options {
    const char *device, *low;
    const char *sets[MOST_SETS];
    int set_count;
    bool json;
} options;

static bool type_of(const char *name, slr_scalar *out)
{
    static const struct {
        const char *name;
        slr_scalar type;
    } types[] = {{"f32", SLR_F32}, {"f16", SLR_F16}, {"bf16", SLR_BF16}, {"any", SLR_TYPE_AS_IT_COMES}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = types[i].type;
            return true;
        }
    }
    return false;
}

// ---- showing -------------------------------------------------------------------------------------------------------

static void show_text(void *user, slr_operation operation, const char *name, const char *type, const char *why)
{
    (void)user;
    (void)operation;
    say_out("%-14s %-5s %s\n", name, *type != '\0' ? type : "any", why);
}

static void show_json(void *user, slr_operation operation, const char *name, const char *type, const char *why)
{
    json_out *out = user;
    (void)operation;
    json_out_object(out, NULL);
    json_out_text(out, "operation", name);
    json_out_text(out, "type", *type != '\0' ? type : "any");
    json_out_text(out, "why", why);
    json_out_end_object(out);
}

// ---- the policy ----------------------------------------------------------------------------------------------------

typedef struct sought {
    const char *name;
    size_t length;
    slr_operation found;
} sought;

static void find(void *user, slr_operation operation, const char *name, const char *type, const char *why)
{
    sought *sought = user;
    (void)type;
    (void)why;
    if (strlen(name) == sought->length && strncmp(name, sought->name, sought->length) == 0)
        sought->found = operation;
}

// "softmax=f16"
static int set_one(slr_autocast *autocast, const char *text)
{
    size_t length = strcspn(text, "=");
    sought sought = {text, length, (slr_operation)0};
    slr_scalar type;
    if (text[length] == '\0' || !type_of(text + length + 1, &type))
        return say_usage("--set: '%s' is not OPERATION=TYPE with f32, f16, bf16 or any", text);
    slr_status status = slr_autocast_visit(autocast, find, &sought);
    if (status == SLR_OK && sought.found == 0)
        return say_usage("--set: there is no operation '%.*s'; 'slipring ops autocast' lists them", (int)length, text);
    if (status == SLR_OK)
        status = slr_autocast_set(autocast, sought.found, type);
    return status == SLR_OK ? EXIT_DONE : say_failure(status, text);
}

static slr_status show(const options *given, const slr_autocast *autocast)
{
    json_out out = {.to = stdout};
    if (!given->json)
        return slr_autocast_visit(autocast, show_text, NULL);
    json_out_object(&out, NULL);
    json_out_array(&out, "operations");
    slr_status status = slr_autocast_visit(autocast, show_json, &out);
    json_out_end_array(&out);
    json_out_end_object(&out);
    return status;
}

static int run(const options *given)
{
    slr_device *device = NULL;
    slr_ops *ops = NULL;
    slr_autocast *autocast = NULL;
    slr_scalar low;
    if (!type_of(given->low, &low) || low == SLR_TYPE_AS_IT_COMES)
        return say_usage("--low: '%s' is not f16, bf16 or f32", given->low);
    int end = device_option_open(given->device, NULL, &device, NULL);
    if (end != EXIT_DONE)
        return end;
    slr_status status = slr_ops_create(device, NULL, &ops);
    if (status == SLR_OK)
        status = slr_autocast_create(ops, low, &autocast);
    for (int i = 0; status == SLR_OK && end == EXIT_DONE && i < given->set_count; i++)
        end = set_one(autocast, given->sets[i]);
    if (status == SLR_OK && end == EXIT_DONE)
        status = show(given, autocast);
    if (status != SLR_OK)
        end = say_failure(status, "autocast");
    slr_autocast_destroy(autocast);
    slr_ops_destroy(ops);
    slr_device_close(device);
    return end;
}

int ops_autocast(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"low", required_argument, NULL, 'l'},    {"set", required_argument, NULL, 's'},
        {"device", required_argument, NULL, 'd'}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    options given = {.device = "cpu", .low = "f16"};
    for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        switch (option) {
        case 'l':
            given.low = optarg;
            break;
        case 's':
            if (given.set_count == MOST_SETS)
                return say_usage("--set: more than %d times", MOST_SETS);
            given.sets[given.set_count++] = optarg;
            break;
        case 'd':
            given.device = optarg;
            break;
        case 'j':
            given.json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        default:
            return say_refused_option(option, argv);
        }
    }
    if (optind != argc)
        return say_usage("'ops autocast' takes no argument; got '%s'", argv[optind]);
    return run(&given);
}
