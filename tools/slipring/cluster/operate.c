// SPDX-License-Identifier: Apache-2.0
// `slipring cluster ls`, `drain`, `dead`, `snapshot` and `restore`: what an operator does with names that machines
// share.
#include "cluster/cluster_verb.h"

#include "cluster/remote.h"
#include "interrupt.h"
#include "json_out.h"
#include "letter.h"
#include "say.h"
#include "verbs.h"

#include <slipring/operate.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define REMOTE_JSON_OPTION                                                                                             \
    {                                                                                                                  \
        "json", no_argument, NULL, REMOTE_JSON                                                                         \
    }
#define REMOTE_HELP_OPTION                                                                                             \
    {                                                                                                                  \
        "help", no_argument, NULL, 'h'                                                                                 \
    }

// ---- ls ------------------------------------------------------------------------------------------------------------

typedef struct listing {
    remote_options options;
    json_out out;
    slr_status status; // of the last name that could not be read
    bool has_begun;
} listing;

static void begin_listing(listing *listing)
{
    if (listing->options.json && !listing->has_begun) {
        json_out_object(&listing->out, NULL);
        json_out_array(&listing->out, "names");
    }
    listing->has_begun = true;
}

static void list_name(void *user, const char *name)
{
    listing *listing = user;
    slr_remote_desc where = listing->options.where;
    slr_remote_info info;
    begin_listing(listing);
    where.name = name;
    slr_status status = slr_remote_get_info(&where, &info);
    if (status != SLR_OK) { // one that is damaged, or forbidden, hides no other
        say("%s: %s", name, slr_error_message());
        listing->status = status;
        return;
    }
    if (!listing->options.json) {
        say_out("%-32s %-24s %4u workers %4u/%u partitions %12" PRIu64 " messages\n", name, info.handler, info.workers,
                info.owned, info.partitions, info.messages);
        return;
    }
    json_out_object(&listing->out, NULL);
    json_out_text(&listing->out, "name", name);
    json_out_text(&listing->out, "handler", info.handler);
    json_out_integer(&listing->out, "workers", info.workers);
    json_out_integer(&listing->out, "partitions", info.partitions);
    json_out_integer(&listing->out, "owned", info.owned);
    json_out_integer(&listing->out, "messages", info.messages);
    json_out_integer(&listing->out, "waiting_frames", info.waiting);
    json_out_integer(&listing->out, "faulted", info.faulted);
    json_out_integer(&listing->out, "bytes", info.bytes);
    json_out_end_object(&listing->out);
}

int cluster_ls(int argc, char **argv)
{
    static const char help[] = "Usage: slipring cluster ls --cluster URL [OPTION]...\n"
                               "Lists the names that workers have served on these servers: handler, workers,\n"
                               "partitions that have a worker, messages in snapshots.\n"
                               "\n" REMOTE_HELP "  --json               prints one JSON object\n"
                               "\n"
                               "Example:\n"
                               "  slipring cluster ls --cluster nats://127.0.0.1:4222\n"
                               "\n"
                               "Exit code: 1 if no server answers, or a name cannot be read.\n";
    static const struct option known[] = {REMOTE_LONG, REMOTE_JSON_OPTION, REMOTE_HELP_OPTION, {NULL, 0, NULL, 0}};
    listing listing = {.out = {.to = stdout}};
    int end = remote_parse(argc, argv, help, known, false, &listing.options);
    if (end != -1)
        return end;
    slr_status status = slr_remote_visit_names(&listing.options.where, list_name, &listing);
    if (status != SLR_OK)
        return remote_option_say(status, listing.options.where.servers);
    begin_listing(&listing);
    if (listing.options.json) {
        json_out_end_array(&listing.out);
        json_out_end_object(&listing.out);
    }
    return listing.status == SLR_OK ? EXIT_DONE : EXIT_FAILED;
}

// ---- drain ---------------------------------------------------------------------------------------------------------

int cluster_drain(int argc, char **argv)
{
    static const char help[] =
        "Usage: slipring cluster drain --cluster URL --name NAME [OPTION]...\n"
        "Asks a worker of a name to write snapshots, hand its partitions over and end, as\n"
        "SIGTERM does on its machine. Waits until the worker has ended. A drain makes no\n"
        "worker handle a message a second time.\n"
        "\n" REMOTE_HELP "  --worker ID          this worker, as 'slipring cluster show' prints it\n"
        "                       (default: all workers; then accepted messages wait until\n"
        "                       a worker starts)\n"
        "  --timeout T          how long to wait (default 30s)\n"
        "\n"
        "Example:\n"
        "  slipring cluster drain --cluster nats://127.0.0.1:4222 --name ward\n"
        "\n"
        "Exit code: 1 if the worker has not ended in this time, or there is none.\n";
    static const struct option known[] = {REMOTE_LONG,
                                          {"worker", required_argument, NULL, REMOTE_WORKER},
                                          {"timeout", required_argument, NULL, REMOTE_TIMEOUT},
                                          REMOTE_HELP_OPTION,
                                          {NULL, 0, NULL, 0}};
    remote_options options;
    int end = remote_parse(argc, argv, help, known, true, &options);
    if (end != -1)
        return end;
    slr_status status = slr_remote_drain(&options.where, options.worker, options.timeout_ns);
    return status == SLR_OK ? EXIT_DONE : remote_option_say(status, options.where.name);
}

// ---- dead ----------------------------------------------------------------------------------------------------------

enum { LETTER_MESSAGE = 1 << 16 };
#define LETTER_PATIENCE_NS 500000000ull

static slr_status write_letters(slr_receiver *receiver, unsigned char *message)
{
    while (!interrupted()) {
        slr_remote_letter letter;
        uint32_t partition;
        slr_status status =
            slr_receiver_receive_letter(receiver, &letter, &partition, message, LETTER_MESSAGE, LETTER_PATIENCE_NS);
        if (status != SLR_OK)
            return status == SLR_TIMEOUT ? SLR_OK : status;
        letter_print_json(&(struct letter){.partition = partition,
                                           .sequence = letter.sequence,
                                           .message = letter.message,
                                           .instance = letter.instance,
                                           .bytes = letter.bytes,
                                           .reason = letter.reason,
                                           .payload = message});
    }
    return SLR_OK;
}

int cluster_dead(int argc, char **argv)
{
    static const char help[] = "Usage: slipring cluster dead --cluster URL --name NAME [OPTION]...\n"
                               "Writes the messages of a name that faulted as JSON lines: partition, sequence,\n"
                               "message, instance, the reason, and the message's bytes as hexadecimal digits.\n"
                               "\n" REMOTE_HELP "  --release            removes the written messages from the servers\n"
                               "\n"
                               "Example:\n"
                               "  slipring cluster dead --cluster nats://127.0.0.1:4222 --name ward\n"
                               "\n"
                               "Exit code: 1 if nobody has served the name, or no server answers.\n";
    static const struct option known[] = {
        REMOTE_LONG, {"release", no_argument, NULL, REMOTE_RELEASE}, REMOTE_HELP_OPTION, {NULL, 0, NULL, 0}};
    remote_options options;
    slr_receiver *receiver;
    int end = remote_parse(argc, argv, help, known, true, &options);
    if (end != -1)
        return end;
    interrupt_note();
    slr_status status = slr_receiver_open_letters(&options.where, &receiver);
    interrupt_deliver();
    if (status != SLR_OK)
        return remote_option_say(status, options.where.name);
    unsigned char *message = malloc(LETTER_MESSAGE);
    status = message != NULL ? write_letters(receiver, message) : SLR_NO_MEMORY;
    if (status == SLR_OK && fflush(stdout) == 0 && options.release)
        status = slr_receiver_release(receiver);
    free(message);
    slr_receiver_close(receiver);
    return status == SLR_OK ? EXIT_DONE : remote_option_say(status, options.where.name);
}

// ---- copies --------------------------------------------------------------------------------------------------------

static void print_copy(const slr_remote_copy *copy, const remote_options *options)
{
    if (!options->json) {
        say_out("%u partitions: %" PRIu64 " states of %" PRIu64 " messages, %" PRIu64 " frames after them, %" PRIu64
                " records of outputs, %" PRIu64 " dead letters, %" PRIu64 " B\n",
                copy->partitions, copy->states, copy->messages, copy->waiting, copy->outputs, copy->letters,
                copy->bytes);
        return;
    }
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_text(&out, "name", options->where.name);
    json_out_text(&out, "folder", options->folder);
    json_out_integer(&out, "partitions", copy->partitions);
    json_out_integer(&out, "states", copy->states);
    json_out_integer(&out, "messages", copy->messages);
    json_out_integer(&out, "waiting_frames", copy->waiting);
    json_out_integer(&out, "output_records", copy->outputs);
    json_out_integer(&out, "dead_letters", copy->letters);
    json_out_integer(&out, "bytes", copy->bytes);
    json_out_end_object(&out);
}

static int end_copy(slr_status status, const slr_remote_copy *copy, const remote_options *options)
{
    if (status == SLR_OK)
        print_copy(copy, options);
    return status == SLR_OK ? EXIT_DONE : remote_option_say(status, options->where.name);
}

int cluster_snapshot(int argc, char **argv)
{
    static const char help[] = "Usage: slipring cluster snapshot --cluster URL --name NAME --to DIR [OPTION]...\n"
                               "Copies what the servers store for a name into a new folder: states, messages\n"
                               "after the last snapshot, outputs that were not released, dead letters. Workers\n"
                               "and senders continue meanwhile. The copy of a partition shows one moment.\n"
                               "\n" REMOTE_HELP "  --to DIR             the new folder\n"
                               "  --json               prints one JSON object\n"
                               "\n"
                               "Example:\n"
                               "  slipring cluster snapshot --cluster nats://127.0.0.1:4222 --name ward \\\n"
                               "    --to ward-monday\n"
                               "\n"
                               "Exit code: 1 if nobody has served the name, or no server answers.\n";
    static const struct option known[] = {REMOTE_LONG,
                                          {"to", required_argument, NULL, REMOTE_FOLDER},
                                          REMOTE_JSON_OPTION,
                                          REMOTE_HELP_OPTION,
                                          {NULL, 0, NULL, 0}};
    remote_options options;
    slr_remote_copy copy;
    int end = remote_parse(argc, argv, help, known, true, &options);
    if (end != -1)
        return end;
    if (options.folder == NULL)
        return say_usage("--to is missing: a folder for the copy");
    return end_copy(slr_remote_snapshot(&options.where, options.folder, &copy), &copy, &options);
}

int cluster_restore(int argc, char **argv)
{
    static const char help[] = "Usage: slipring cluster restore --cluster URL --name NAME --from DIR [OPTION]...\n"
                               "Makes a name from a copy of 'slipring cluster snapshot'. Workers continue from\n"
                               "the copy. The name must not yet exist on these servers. It may differ from the\n"
                               "copied name.\n"
                               "\n" REMOTE_HELP "  --from DIR           the folder of the copy\n"
                               "  --replicas N         copies that the servers keep: 1 (default), 3 or 5\n"
                               "  --json               prints one JSON object\n"
                               "\n"
                               "Example:\n"
                               "  slipring cluster restore --cluster nats://127.0.0.1:4222 --name ward2 \\\n"
                               "    --from ward-monday\n"
                               "\n"
                               "Exit code: 1 if the name exists, the copy is incomplete, or no server answers.\n";
    static const struct option known[] = {REMOTE_LONG,
                                          {"from", required_argument, NULL, REMOTE_FOLDER},
                                          {"replicas", required_argument, NULL, REMOTE_REPLICAS},
                                          REMOTE_JSON_OPTION,
                                          REMOTE_HELP_OPTION,
                                          {NULL, 0, NULL, 0}};
    remote_options options;
    slr_remote_copy copy;
    int end = remote_parse(argc, argv, help, known, true, &options);
    if (end != -1)
        return end;
    if (options.folder == NULL)
        return say_usage("--from is missing: the folder of a copy");
    return end_copy(slr_remote_restore(&options.where, options.folder, &copy), &copy, &options);
}
