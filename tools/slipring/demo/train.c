// SPDX-License-Identifier: Apache-2.0
// `slipring demo beats`: trains the network of examples/beats in float and in half precision, and shows what came of
// it.
#include "demo/train.h"

#include "device_option.h"
#include "interrupt.h"
#include "kernel/kernel.h"
#include "memory.h"
#include "number.h"
#include "output.h"
#include "page_file.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

extern const char beats_embedded_page[]; // from the build: cmake/SlipringTools.cmake

static const char help[] = "Usage: slipring demo beats [OPTION]...\n"
                           "Trains a small network that distinguishes normal and premature heart beats. The\n"
                           "first 70 % of the recording of 'slipring demo ward' are for training, the rest\n"
                           "for the test. Trains in float, in half precision with a scaled loss, in\n"
                           "bfloat16, and with a loss so small that its gradients are 0 in half precision,\n"
                           "with scaling and without. This is not a medical device.\n"
                           "\n"
                           "  --epochs N      passes over all training beats: 1-200, default 5\n"
                           "  --seed N        seed of the first weights and of the order, default 1\n"
                           "  --device D      default: SLIPRING_DEVICE, then auto\n"
                           "  --report FILE   writes one self-contained HTML page: accuracy, losses, memory\n"
                           "  --json          prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring demo beats --device cpu --report beats.html\n"
                           "\n"
                           "SIGINT and SIGTERM end the demo after the current network: exit code 130 or 143.\n";

// What is trained. Its name is the key of --json.
static const struct way {
    const char *name, *text;
    slr_scalar type;
    bool scaled;
    float faint;
} ways[BEATS_WAYS] = {
    {"f32", "float", SLR_F32, false, 1.0f},
    {"f16", "half, loss scaled", SLR_F16, true, 1.0f},
    {"bf16", "bfloat16", SLR_BF16, false, 1.0f},
    {"f16_faint_scaled", "half, faint loss, scaled", SLR_F16, true, 0x1p-20f},
    {"f16_faint_unscaled", "half, faint loss, not scaled", SLR_F16, false, 0x1p-20f},
};

struct options {
    const char *device, *report;
    uint32_t epochs, seed;
    bool json;
};

static int parse(int argc, char **argv, struct options *out)
{
    static const struct option long_options[] = {{"epochs", required_argument, NULL, 'e'},
                                                 {"seed", required_argument, NULL, 's'},
                                                 {"device", required_argument, NULL, 'd'},
                                                 {"report", required_argument, NULL, 'r'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    *out = (struct options){.epochs = 5, .seed = 1};
    int option;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        switch (option) {
        case 'e':
            if (!number_parse(SLR_U32, optarg, &out->epochs) || out->epochs < 1 || out->epochs > BEATS_MOST_EPOCHS)
                return say_usage("--epochs: '%s' is not a number from 1 to %d", optarg, BEATS_MOST_EPOCHS);
            break;
        case 's':
            if (!number_parse(SLR_U32, optarg, &out->seed))
                return say_usage("--seed: '%s' is not a number from 0 to 4294967295", optarg);
            break;
        case 'd':
            out->device = optarg;
            break;
        case 'r':
            out->report = optarg;
            break;
        case 'j':
            out->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        default:
            return say_refused_option(option, argv);
        }
    }
    return argc > optind ? say_usage("'%s' is one argument too many", argv[optind]) : -1;
}

void demo_sets_make(const demo_record *record, demo_sets *out)
{
    size_t cut = DEMO_SAMPLES / 10 * 7;
    beats_set_make(record->reference, record->reference_count, DEMO_SAMPLES, 0, cut, &out->train);
    beats_set_make(record->reference, record->reference_count, DEMO_SAMPLES, cut, DEMO_SAMPLES, &out->test);
}

slr_status demo_train(slr_device *device, const demo_record *record, const demo_sets *sets, int way, uint32_t epochs,
                      uint32_t seed, beats_result *out)
{
    beats_options options = {
        .type = ways[way].type, .scaled = ways[way].scaled, .faint = ways[way].faint, .epochs = epochs, .seed = seed};
    return beats_train(device, record->adc, &sets->train, &sets->test, &options, out);
}

// ---- what is said
// ----------------------------------------------------------------------------------------------------

static double part(uint32_t few, uint32_t all)
{
    return all > 0 ? (double)few / all : 0.0;
}

// Of the last steps, as many as an epoch has.
static double last_loss(const beats_result *result)
{
    uint32_t count = result->epochs > 0 ? result->steps / result->epochs : 0;
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)result->loss[result->steps - 1 - i];
    return count > 0 ? sum / count : 0.0;
}

static void print_head(const slr_device_info *info, const demo_sets *sets, const beats_score *score)
{
    printf("A network that tells normal from premature heart beats, on %s.\n"
           "This is not a medical device, and it was not tested as one.\n\n"
           "  %zu beats to learn from, %zu later ones to test with, each at %d places\n"
           "  'all beats are normal' would be right for %.1f %% of the test\n\n",
           info->name, sets->train.count, sets->test.count, (int)(sizeof beats_shifts / sizeof *beats_shifts),
           100.0 * part(score->normal, score->normal + score->premature));
    printf("  %-29s %7s %9s %7s %7s %8s %9s %7s\n", "", "loss", "accuracy", "missed", "alarms", "skipped", "memory",
           "time");
}

static void print_way(const struct way *way, const beats_result *result)
{
    const beats_score *score = &result->tested;
    printf("  %-29s %7.4f %7.1f %% %5.1f %% %5.1f %% %8llu %6.0f KiB %5.1f s\n", way->text, last_loss(result),
           100.0 * score->accuracy, 100.0 * part(score->missed, score->premature),
           100.0 * part(score->alarms, score->normal), (unsigned long long)result->skipped,
           (double)result->tensor_bytes / 1024.0, result->seconds);
    if (*result->advice != '\0')
        printf("    %s\n", result->advice);
    fflush(stdout);
}

static json_t *score_json(const beats_score *score)
{
    return json_pack("{s:f, s:I, s:I, s:I, s:I}", "accuracy", score->accuracy, "premature",
                     (json_int_t)score->premature, "missed", (json_int_t)score->missed, "normal",
                     (json_int_t)score->normal, "alarms", (json_int_t)score->alarms);
}

static json_t *way_json(const struct way *way, const beats_result *result)
{
    json_t *losses = json_array(), *accuracies = json_array();
    for (uint32_t i = 0; i < result->steps; i++)
        json_array_append_new(losses, json_real((double)result->loss[i]));
    for (uint32_t i = 0; i < result->epochs; i++)
        json_array_append_new(accuracies, json_real(result->accuracy[i]));
    return json_pack("{s:s, s:s, s:f, s:o, s:o, s:I, s:I, s:f, s:I, s:f, s:o, s:o, s:I, s:I, s:s}", "name", way->name,
                     "text", way->text, "loss", last_loss(result), "trained", score_json(&result->trained), "tested",
                     score_json(&result->tested), "steps", (json_int_t)result->steps, "skipped",
                     (json_int_t)result->skipped, "scale", (double)result->scale, "tensor_bytes",
                     (json_int_t)result->tensor_bytes, "seconds", result->seconds, "losses", losses, "accuracies",
                     accuracies, "half_gradients", (json_int_t)result->halves, "zero_gradients",
                     (json_int_t)result->zeros, "advice", result->advice);
}

// ---- the verb
// --------------------------------------------------------------------------------------------------------

static int train_all(const struct options *options, slr_device *device, const slr_device_info *info)
{
    demo_record *record = demo_record_make();
    demo_sets *sets = memory_take(1, sizeof *sets);
    beats_result *result = memory_take(1, sizeof *result);
    json_t *trained = json_array();
    int end = EXIT_DONE;
    demo_sets_make(record, sets);
    for (int i = 0; i < BEATS_WAYS && end == EXIT_DONE && !interrupted(); i++) {
        slr_status status = demo_train(device, record, sets, i, options->epochs, options->seed, result);
        if (status != SLR_OK)
            end = say_failure(status, ways[i].text);
        if (status == SLR_OK && !options->json && i == 0)
            print_head(info, sets, &result->tested);
        if (status == SLR_OK && !options->json)
            print_way(&ways[i], result);
        if (status == SLR_OK)
            json_array_append_new(trained, way_json(&ways[i], result));
        beats_result_free(result);
    }
    json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "device", info->name, "train_beats",
                               (json_int_t)sets->train.count, "test_beats", (json_int_t)sets->test.count, "epochs",
                               (json_int_t)options->epochs, "seed", (json_int_t)options->seed, "ways", trained);
    if (end == EXIT_DONE && options->report != NULL &&
        !page_file_write(beats_embedded_page, "--report", options->report, object))
        end = EXIT_FAILED;
    if (end == EXIT_DONE && options->json)
        kernel_print_object(object);
    else
        json_decref(object);
    free(result);
    free(sets);
    free(record);
    return end == EXIT_DONE && interrupted() ? interrupt_exit_code() : end;
}

int demo_beats_verb(int argc, char **argv)
{
    struct options options;
    slr_device *device = NULL;
    slr_device_info info;
    int end = parse(argc, argv, &options);
    if (end != -1)
        return end;
    if (options.report != NULL && (end = output_try("--report", options.report, NULL)) != EXIT_DONE)
        return end;
    interrupt_note();
    interrupt_deliver();
    end = device_option_open(options.device, NULL, &device, &info);
    if (end == EXIT_DONE)
        end = train_all(&options, device, &info);
    slr_device_close(device);
    return end;
}
