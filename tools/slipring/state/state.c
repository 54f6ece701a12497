// SPDX-License-Identifier: Apache-2.0
// `slipring state show`, `verify` and `dead`: what a folder of `run --state` holds, whether all of it is whole, and
// which of its messages faulted.
#include "json_out.h"
#include "letter.h"
#include "say.h"
#include "subverb.h"
#include "verbs.h"

#include <slipring/serve.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char show_help[] = "Usage: slipring state show DIR [--json]\n"
                                "Shows what a folder of 'slipring run --state DIR' holds: the handler, how many\n"
                                "messages were accepted, how many of them are part of the last snapshot (the\n"
                                "others are handled again at the next start), states, outputs, and bytes.\n"
                                "Nothing is changed. A folder in use may be shown in the middle of a change.\n"
                                "\n"
                                "  --json   prints one JSON object\n"
                                "\n"
                                "Example:\n"
                                "  slipring state show counts/\n"
                                "\n"
                                "Exit code: 1 if damage makes a start refuse the folder.\n";

static const char verify_help[] = "Usage: slipring state verify DIR [--json]\n"
                                  "Reads all of a folder of 'slipring run --state DIR' and checks it: checksums,\n"
                                  "lengths, numbers, layout, missing files. A write that was cut off at the end\n"
                                  "of a file is damage that the next start removes; any other damage makes the\n"
                                  "start refuse the folder. Nothing is changed, and DIR may be read-only, but it\n"
                                  "must belong to the user, and no other user may write to it.\n"
                                  "\n"
                                  "  --json   prints one JSON object\n"
                                  "\n"
                                  "Example:\n"
                                  "  slipring state verify counts/\n"
                                  "\n"
                                  "Exit code: 1 if anything is damaged.\n";

static const char dead_help[] = "Usage: slipring state dead DIR [--json]\n"
                                "Prints the dead letters of a folder of 'slipring run --state DIR', which are the\n"
                                "messages whose handler faulted: the number of the dead letter, the number of the\n"
                                "message, the instance, the reason, and the message's bytes as hexadecimal\n"
                                "digits. Nothing is changed, and DIR may be in use.\n"
                                "\n"
                                "  --json   prints each dead letter as one line of JSON, as 'slipring cluster\n"
                                "           dead' does\n"
                                "\n"
                                "Example:\n"
                                "  slipring state dead counts/\n"
                                "\n"
                                "Exit code: 0 also if there is no dead letter; 1 if the folder is damaged.\n";

// Damage may keep even the head from being read: then nothing else is known.
static bool is_read(const slr_place_info *info)
{
    return info->handler[0] != '\0';
}

static void put_contents(json_out *out, const slr_place_info *info)
{
    char layout[32];
    snprintf(layout, sizeof layout, "%016" PRIx64, info->layout);
    json_out_text(out, "handler", info->handler);
    json_out_text(out, "layout", layout);
    json_out_integer(out, "message_bytes", info->message_bytes);
    json_out_integer(out, "state_bytes", info->state_bytes);
    json_out_integer(out, "reply_bytes", info->reply_bytes);
    json_out_integer(out, "accepted", info->accepted);
    json_out_integer(out, "position", info->position);
    json_out_integer(out, "pending", info->accepted - info->position);
    json_out_integer(out, "states", info->states);
    json_out_integer(out, "outputs", info->outputs);
    json_out_integer(out, "released", info->released);
    json_out_integer(out, "dead", info->dead);
    json_out_integer(out, "in_bytes", info->in_bytes);
    json_out_integer(out, "out_bytes", info->out_bytes);
    json_out_integer(out, "state_log_bytes", info->state_log_bytes);
}

static void print_json(const slr_place_info *info, const char *folder)
{
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_text(&out, "folder", folder);
    if (is_read(info))
        put_contents(&out, info);
    json_out_integer(&out, "damages", info->damages);
    json_out_bool(&out, "usable", info->is_usable != 0);
    json_out_text(&out, "damage", info->damage);
    json_out_end_object(&out);
}
static void print_damage(const slr_place_info *info)
{
    if (info->damages == 0)
        say_out("damage      none\n");
    else
        say_out("damage      %s%s\n", info->damage,
                info->is_usable ? " (the next start removes it)" : " (a start refuses the folder)");
}

static void print_text(const slr_place_info *info, bool verify)
{
    if (!verify && is_read(info)) {
        say_out("handler     %s (layout %016" PRIx64 ")\n", info->handler, info->layout);
        say_out("bytes       message %u, state %u, reply %u\n", info->message_bytes, info->state_bytes,
                info->reply_bytes);
        say_out("accepted    %" PRIu64 " messages\n", info->accepted);
        say_out("position    %" PRIu64 "; %" PRIu64 " are handled again at the next start\n", info->position,
                info->accepted - info->position);
        say_out("states      %" PRIu64 "\n", info->states);
        say_out("outputs     %" PRIu64 ", of which %" PRIu64 " are released\n", info->outputs, info->released);
        say_out("faulted     %" PRIu64 "\n", info->dead);
        say_out("on disk     %" PRIu64 " B of messages, %" PRIu64 " B of outputs, %" PRIu64 " B of states\n",
                info->in_bytes, info->out_bytes, info->state_log_bytes);
    }
    print_damage(info);
}

enum { PLACE_BYTES = 4096 };

// Reads the options and DIR, which `place` then names. -1, or an exit code.
static int parse(int argc, char **argv, const char *help, bool *json, const char **folder, char place[PLACE_BYTES])
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    *json = false;
    for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option != 'j')
            return say_refused_option(option, argv);
        *json = true;
    }
    if (argc - optind != 1)
        return say_usage("%s", argc == optind ? "DIR is missing" : "one DIR, not several");
    *folder = argv[optind];
    if (**folder == '\0')
        return say_usage("DIR is empty: ''");
    snprintf(place, PLACE_BYTES, "%s%s", strncmp(*folder, "local:", 6) == 0 ? "" : "local:", *folder);
    return -1;
}

static int say_place(slr_status status, const char *folder)
{
    if (status != SLR_NOT_FOUND)
        return say_failure(status, folder);
    say("%s; DIR is a folder that 'slipring run --state DIR' has made", slr_error_message());
    return EXIT_FAILED;
}

static int look(int argc, char **argv, const char *help, bool verify)
{
    bool json;
    slr_place_info info;
    const char *folder;
    char place[PLACE_BYTES];
    int end = parse(argc, argv, help, &json, &folder, place);
    if (end != -1)
        return end;
    slr_status status = slr_place_get_info(place, &info);
    if (status != SLR_OK)
        return say_place(status, folder);
    if (json)
        print_json(&info, folder);
    else
        print_text(&info, verify);
    if (info.damages == 0 || (!verify && info.is_usable))
        return EXIT_DONE;
    say("%s: %s; %s", folder, info.damage, info.is_usable ? "the next start removes it" : "a start refuses the folder");
    return EXIT_FAILED;
}

static void print_letter(void *user, const slr_place_letter *found)
{
    const letter letter = {.partition = LETTER_IN_FOLDER,
                           .sequence = found->sequence,
                           .message = found->message,
                           .instance = found->instance,
                           .bytes = found->bytes,
                           .reason = found->reason,
                           .payload = found->payload};
    const bool *json = user;
    if (*json) {
        letter_print_json(&letter);
        return;
    }
    say_out("%" PRIu64 ": message %" PRIu64 ", instance %u: %s\n   ", letter.sequence, letter.message, letter.instance,
            letter.reason);
    for (uint32_t i = 0; i < letter.bytes; i++)
        say_out("%s%02x", i % 4 == 0 ? " " : "", letter.payload[i]);
    say_out("\n");
}

static int dead(int argc, char **argv)
{
    bool json;
    const char *folder;
    char place[PLACE_BYTES];
    int end = parse(argc, argv, dead_help, &json, &folder, place);
    if (end != -1)
        return end;
    slr_place_info info;
    slr_status status = slr_place_visit_letters(place, 0, print_letter, &json);
    if (status == SLR_OK)
        status = slr_place_get_info(place, &info);
    if (status != SLR_OK)
        return say_place(status, folder);
    if (info.damages > 0) // of which letters may be missing
        say("%s: %s", folder, info.damage);
    return info.damages > 0 ? EXIT_FAILED : EXIT_DONE;
}

static int show(int argc, char **argv)
{
    return look(argc, argv, show_help, false);
}

static int verify(int argc, char **argv)
{
    return look(argc, argv, verify_help, true);
}

static const struct subverb verbs[] = {
    {"show", "state show", "what a folder of --state holds: position, states, outputs, damage", show},
    {"verify", "state verify", "read and check the whole folder", verify},
    {"dead", "state dead", "the messages that faulted, with the reason", dead},
};

int verb_state(int argc, char **argv)
{
    static const char usage[] = "Usage: slipring state VERB DIR [OPTION]...\n"
                                "Shows and checks folders of 'slipring run --state DIR'.\n";
    static const char more[] = "\nExample:\n  slipring state show counts/\n\n"
                               "'slipring state VERB --help' describes a verb and its options.";
    return subverb_run(verbs, sizeof verbs / sizeof *verbs, usage, more, argc, argv);
}
