// SPDX-License-Identifier: Apache-2.0
// `slipring cluster show` and `slipring cluster outputs`: names that machines share.
#include "cluster/cluster_verb.h"

#include "interrupt.h"
#include "json_out.h"
#include "remote_option.h"
#include "say.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char show_help[] = "Usage: slipring cluster show --cluster URL --name NAME [OPTION]...\n"
                                "What the servers hold of a name, and who serves it.\n"
                                "\n" REMOTE_HELP "  --json               prints one JSON object\n"
                                "\n"
                                "Example:\n"
                                "  slipring cluster show --cluster nats://127.0.0.1:4222 --name ward\n"
                                "\n"
                                "Exit code: 1 if nobody has served the name, or no server answers.\n";

static const char outputs_help[] =
    "Usage: slipring cluster outputs --cluster URL --name NAME [OPTION]...\n"
    "Writes the stored outputs of a name as JSON lines: partition, sequence, message,\n"
    "instance, and the reply's bytes as hexadecimal digits.\n"
    "\n" REMOTE_HELP "  --raw                writes the replies' bytes alone, one after the other\n"
    "  --follow             waits for more, until SIGINT\n"
    "  --release            removes from the servers what was written\n"
    "\n"
    "Example:\n"
    "  slipring cluster outputs --cluster nats://127.0.0.1:4222 --name ward\n"
    "\n"
    "Exit code: 1 if nobody has served the name, or no server answers.\n";

typedef struct options {
    slr_remote_desc where;
    bool json, raw, follow, release;
} options;

enum { JSON = 256, RAW, FOLLOW, RELEASE };

static int parse(int argc, char **argv, const char *help, const struct option *known, options *out)
{
    *out = (options){.where = SLR_REMOTE_DESC_INIT};
    for (int option; (option = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (remote_option_take(&out->where, option, optarg))
            continue;
        if (option != JSON && option != RAW && option != FOLLOW && option != RELEASE)
            return say_refused_option(option, argv);
        out->json = out->json || option == JSON;
        out->raw = out->raw || option == RAW;
        out->follow = out->follow || option == FOLLOW;
        out->release = out->release || option == RELEASE;
    }
    if (argc != optind)
        return say_usage("unexpected argument '%s'", argv[optind]);
    return remote_option_check(&out->where);
}

static void print_json(const slr_remote_info *info, const char *name)
{
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_text(&out, "name", name);
    json_out_text(&out, "handler", info->handler);
    json_out_integer(&out, "message_bytes", info->message_bytes);
    json_out_integer(&out, "state_bytes", info->state_bytes);
    json_out_integer(&out, "reply_bytes", info->reply_bytes);
    json_out_integer(&out, "partitions", info->partitions);
    json_out_integer(&out, "owned", info->owned);
    json_out_integer(&out, "workers", info->workers);
    json_out_integer(&out, "capacity", info->capacity);
    json_out_integer(&out, "lease_ns", info->lease_ns);
    json_out_integer(&out, "messages", info->messages);
    json_out_integer(&out, "waiting_frames", info->waiting);
    json_out_integer(&out, "states", info->states);
    json_out_integer(&out, "outputs", info->outputs);
    json_out_integer(&out, "handled", info->handled);
    json_out_integer(&out, "faulted", info->faulted);
    json_out_integer(&out, "bytes", info->bytes);
    json_out_end_object(&out);
}

static void print_text(const slr_remote_info *info)
{
    say_out("handler     %s (layout %016" PRIx64 ")\n", info->handler, info->layout);
    say_out("bytes       message %u, state %u, reply %u\n", info->message_bytes, info->state_bytes, info->reply_bytes);
    say_out("workers     %u, for %u of %u partitions\n", info->workers, info->owned, info->partitions);
    say_out("messages    %" PRIu64 " in snapshots; %" PRIu64 " frames after them\n", info->messages, info->waiting);
    say_out("states      %" PRIu64 "\n", info->states);
    say_out("outputs     %" PRIu64 " in snapshots\n", info->outputs);
    say_out("faulted     %" PRIu64 "\n", info->faulted);
    say_out("stored      %" PRIu64 " B\n", info->bytes);
}

int cluster_show(int argc, char **argv)
{
    static const struct option known[] = {
        REMOTE_LONG, {"json", no_argument, NULL, JSON}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    options options;
    slr_remote_info info;
    int end = parse(argc, argv, show_help, known, &options);
    if (end != -1)
        return end;
    slr_status status = slr_remote_get_info(&options.where, &info);
    if (status != SLR_OK)
        return remote_option_say(status, options.where.name);
    if (options.json)
        print_json(&info, options.where.name);
    else
        print_text(&info);
    return EXIT_DONE;
}

// ---- outputs -------------------------------------------------------------------------------------------------------

enum { PAYLOAD = 1 << 16 };
#define PATIENCE_NS 500000000ull

static void write_output(const slr_output *output, uint32_t partition, const unsigned char *payload, bool raw)
{
    if (raw) {
        fwrite(payload, 1, output->bytes, stdout);
        return;
    }
    printf("{\"partition\": %u, \"sequence\": %" PRIu64 ", \"message\": %" PRIu64 ", \"instance\": %u, \"reply\": \"",
           partition, output->sequence, output->message, output->instance);
    for (uint32_t i = 0; i < output->bytes; i++)
        printf("%02x", payload[i]);
    puts("\"}");
}

static slr_status write_outputs(slr_receiver *receiver, const options *options, unsigned char *payload)
{
    slr_status status = SLR_OK;
    while (!interrupted()) {
        slr_output output;
        uint32_t partition;
        status = slr_receiver_receive(receiver, &output, &partition, payload, PAYLOAD, PATIENCE_NS);
        if (status == SLR_OK)
            write_output(&output, partition, payload, options->raw);
        else if (status != SLR_TIMEOUT)
            return status;
        else if (fflush(stdout) != 0 || !options->follow)
            break;
    }
    return options->release ? slr_receiver_release(receiver) : SLR_OK;
}

int cluster_outputs(int argc, char **argv)
{
    static const struct option known[] = {REMOTE_LONG,
                                          {"raw", no_argument, NULL, RAW},
                                          {"follow", no_argument, NULL, FOLLOW},
                                          {"release", no_argument, NULL, RELEASE},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    options options;
    slr_receiver *receiver;
    int end = parse(argc, argv, outputs_help, known, &options);
    if (end != -1)
        return end;
    interrupt_note();
    slr_status status = slr_receiver_open(&options.where, &receiver);
    interrupt_deliver();
    if (status != SLR_OK)
        return remote_option_say(status, options.where.name);
    unsigned char *payload = malloc(PAYLOAD);
    status = payload != NULL ? write_outputs(receiver, &options, payload) : SLR_NO_MEMORY;
    free(payload);
    slr_receiver_close(receiver);
    if (status != SLR_OK)
        return remote_option_say(status, options.where.name);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}
