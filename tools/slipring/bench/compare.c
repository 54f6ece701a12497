// SPDX-License-Identifier: Apache-2.0
// `slipring bench compare`: whether rows have become slower.
#include "bench/compare.h"

#include "bench/bench.h"
#include "output.h"
#include "page_file.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

extern const char bench_embedded_page[]; // from the build: cmake/SlipringTools.cmake

static const char help[] = "Usage: slipring bench compare OLD.json [FILE.json]... NEW.json [OPTION]...\n"
                           "Compares each row of NEW with the same row of OLD: regressed, improved, same or\n"
                           "not decided. The files are what 'slipring bench NAME --json' prints; a file may\n"
                           "have the objects of several benchmarks and runs, one after another. Files\n"
                           "between OLD and NEW are shown as history.\n"
                           "\n"
                           "  --tolerance P     percent, above 0 and below 100 (default 10)\n"
                           "  --any-device      compares also rows of different devices\n"
                           "  --json            prints one JSON object\n"
                           "  --markdown        prints a Markdown table\n"
                           "  --html FILE       also writes a page with the history of each row\n"
                           "\n"
                           "Example:\n"
                           "  slipring bench compare before.json after.json --tolerance 5\n"
                           "\n"
                           "A row with a floor is compared by its ratio to the floor, which was measured at\n"
                           "the same time. A 95 % interval of the change is computed from the samples, by\n"
                           "bootstrap; from three runs per file on, each run is one sample. The verdict is\n"
                           "'regressed' only where the whole interval is slower than the tolerance.\n"
                           "\n"
                           "Exit code: 0 if no row has regressed; 1 if one has; 2 if a file cannot be read,\n"
                           "is of another device or of a --small run; 4 if none has regressed, and a row is\n"
                           "in OLD or NEW alone or has a sample that is not above 0, unless it has no\n"
                           "other samples in both; or no row can be compared, or a run in OLD or NEW is\n"
                           "partial (\"whole\": false).\n";

typedef struct options {
    const char *html;
    bool json, markdown;
} options;

static int take_tolerance(const char *text, double *to)
{
    char *end;
    double percent = strtod(text, &end);
    if (end == text || *end != '\0' || !(percent > 0 && percent < 100))
        return say_usage("--tolerance: '%s' is not a percentage above 0 and below 100", text);
    *to = percent / 100;
    return -1;
}

static int take_files(int argc, char **argv, compare *out)
{
    if (argc - optind < 2)
        return say_usage("%s is missing", argc == optind ? "OLD.json" : "NEW.json");
    if (argc - optind > COMPARE_FILES)
        return say_usage("%d files; at most %d are compared", argc - optind, COMPARE_FILES);
    for (int i = optind; i < argc; i++)
        out->paths[out->file_count++] = argv[i];
    return -1;
}

static int parse_compare(int argc, char **argv, options *options, compare *out)
{
    static const struct option long_options[] = {{"tolerance", required_argument, NULL, 't'},
                                                 {"any-device", no_argument, NULL, 'a'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"markdown", no_argument, NULL, 'm'},
                                                 {"html", required_argument, NULL, 'w'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    for (int option, end; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        switch (option) {
        case 't':
            end = take_tolerance(optarg, &out->tolerance);
            if (end != -1)
                return end;
            break;
        case 'a':
            out->any_device = true;
            break;
        case 'j':
            options->json = true;
            break;
        case 'm':
            options->markdown = true;
            break;
        case 'w':
            options->html = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        default:
            return say_refused_option(option, argv);
        }
    }
    if (options->json && options->markdown)
        return say_usage("--json and --markdown: give one of them");
    return take_files(argc, argv, out);
}

static bool show(const options *options, const compare *compare)
{
    json_t *object = compare_object(compare);
    if (options->json) {
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        putchar('\n');
    } else if (options->markdown) {
        compare_show_markdown(compare);
    } else {
        compare_show_table(compare);
    }
    bool fine = options->html == NULL || page_file_write(bench_embedded_page, "--html", options->html, object);
    json_decref(object);
    return fine;
}

static int try_page(const options *options, const compare *compare)
{
    int end = EXIT_DONE;
    for (unsigned i = 0; i < compare->file_count && options->html != NULL && end == EXIT_DONE; i++)
        end = output_try("--html", options->html, compare->paths[i]);
    return end;
}

int bench_compare(int argc, char **argv)
{
    options options = {0};
    compare compare = {.tolerance = 0.1};
    int end = parse_compare(argc, argv, &options, &compare);
    if (end != -1)
        return end;
    end = try_page(&options, &compare);
    if (end == EXIT_DONE)
        end = compare_read(&compare);
    if (end == EXIT_DONE)
        end = compare_decide(&compare);
    if (end == EXIT_DONE)
        end = show(&options, &compare) ? compare_exit_code(&compare) : EXIT_FAILED;
    compare_free(&compare);
    return end;
}
