// SPDX-License-Identifier: Apache-2.0
// `slipring demo ward`: its command line, and its parts one after the other.
#include "demo/demo.h"
#include "demo/train.h"

#include "device_option.h"
#include "interrupt.h"
#include "memory.h"
#include "number.h"
#include "output.h"
#include "say.h"
#include "verbs.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring demo ward [OPTION]...\n"
                           "       slipring demo beats [OPTION]...   (see 'slipring demo beats --help')\n"
                           "A heart monitor: one ring kernel with an instance per patient. All patients use\n"
                           "one recorded electrocardiogram, each from a different start. Part 1 plays the\n"
                           "whole recording for 100 patients as fast as possible. Part 2 plays all patients\n"
                           "in real time. For comparison the same detector also runs as a plain C call and\n"
                           "through a hand-off to a thread. This is not a medical device.\n"
                           "\n"
                           "  --patients N    1-100000, default 1000\n"
                           "  --seconds S     length of part 2, 3-300, default 10 (a detector learns for 2)\n"
                           "  --device D      default: SLIPRING_DEVICE, then auto\n"
                           "  --beats FILE    writes the beats of patient 0 in part 1, as 'slipring run\n"
                           "                  examples/ward/ward.cu' does\n"
                           "  --classify      trains the network of 'slipring demo beats'; a second ring\n"
                           "                  kernel then finds the premature beats of part 1\n"
                           "  --report FILE   writes one self-contained HTML page: recording, beats and\n"
                           "                  alarms, latencies, all figures\n"
                           "  --json          prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring demo ward --patients 100 --seconds 5 --report ward.html\n"
                           "\n"
                           "SIGINT and SIGTERM end the demo early: messages already sent are handled, the\n"
                           "results so far are printed, and the exit code is 130 or 143.\n";

// -1: go on; else the exit code.
static int take_number(uint32_t *to, const char *option, uint32_t least, uint32_t most)
{
    if (number_parse(SLR_U32, optarg, to) && *to >= least && *to <= most)
        return -1;
    return say_usage("%s: '%s' is not a number from %u to %u", option, optarg, least, most);
}

static int parse(int argc, char **argv, demo_options *out)
{
    static const struct option long_options[] = {{"patients", required_argument, NULL, 'p'},
                                                 {"seconds", required_argument, NULL, 's'},
                                                 {"device", required_argument, NULL, 'd'},
                                                 {"beats", required_argument, NULL, 'b'},
                                                 {"report", required_argument, NULL, 'r'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"classify", no_argument, NULL, 'c'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    *out = (demo_options){.patients = 1000, .seconds = 10};
    int option, end = -1;
    while (end == -1 && (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        switch (option) {
        case 'p':
            end = take_number(&out->patients, "--patients", 1, DEMO_MOST_PATIENTS);
            break;
        case 's':
            end = take_number(&out->seconds, "--seconds", 3, 300);
            break;
        case 'd':
            out->device = optarg;
            break;
        case 'b':
            out->beats = optarg;
            break;
        case 'r':
            out->report = optarg;
            break;
        case 'c':
            out->classify = true;
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
    if (end != -1)
        return end;
    if (argc == optind)
        return say_usage("a demo is missing: ward or beats");
    if (argc - optind > 1 || strcmp(argv[optind], "ward") != 0)
        return say_usage("no demo '%s'; there are: ward, beats", argv[argc - 1]);
    return -1;
}

static int open_demo(demo *demo)
{
    int end = device_option_open(demo->options.device, NULL, &demo->device, &demo->info);
    if (end != EXIT_DONE)
        return end;
    char *source = demo_source_make();
    slr_status status = slr_program_from_text(demo->device, "ward.cu", source, NULL, &demo->program);
    free(source);
    return status == SLR_OK ? -1 : say_failure(status, "ward.cu");
}

static bool write_report(const demo *demo, const char *path)
{
    FILE *file = fopen(path, "w");
    bool fine = file != NULL && demo_page_write(demo, file);
    int error = errno;
    if (file != NULL && fclose(file) != 0 && fine) {
        fine = false;
        error = errno;
    }
    if (!fine)
        say("cannot write '%s': %s", path, strerror(error));
    return fine;
}

static int run(demo *demo)
{
    const char *report = demo->options.report;
    int end = report != NULL ? output_try("--report", report, NULL) : EXIT_DONE;
    end = end == EXIT_DONE ? open_demo(demo) : end;
    if (end != -1)
        return end;
    if (!demo->options.json)
        demo_report_head(demo);
    if (!demo_fast(demo))
        return EXIT_FAILED;
    if (!demo->options.json)
        demo_report_fast(demo);
    if (!interrupted() && !demo_live(demo))
        return EXIT_FAILED;
    if (demo->options.json)
        demo_report_json(demo);
    else if (demo->live.messages > 0)
        demo_report_live(demo);
    if (report != NULL && !write_report(demo, report))
        return EXIT_FAILED;
    return interrupted() ? interrupt_exit_code() : EXIT_DONE;
}

int verb_demo(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "beats") == 0)
        return demo_beats_verb(argc - 1, argv + 1);
    demo *demo = memory_take(1, sizeof *demo);
    int end = parse(argc, argv, &demo->options);
    if (end == -1) {
        interrupt_note();
        interrupt_deliver();
        demo->record = demo_record_make();
        end = run(demo);
        demo_hearts_close(&demo->fast.hearts);
        demo_hearts_close(&demo->live.hearts);
        slr_program_destroy(demo->program);
        slr_device_close(demo->device);
        free(demo->record);
    }
    free(demo);
    return end;
}
