// SPDX-License-Identifier: Apache-2.0
// `slipring cluster show` and `slipring cluster outputs`: names that machines share.
#include "cluster/cluster_verb.h"

#include "cluster/remote.h"
#include "interrupt.h"
#include "json_out.h"
#include "kernel/kernel.h"
#include "number.h"
#include "say.h"
#include "utf8.h"
#include "verbs.h"

#include <slipring/operate.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char show_help[] = "Usage: slipring cluster show --cluster URL --name NAME [OPTION]...\n"
                                "Shows what the servers store for a name, and which workers serve it.\n"
                                "\n" REMOTE_HELP "  --json               prints one JSON object\n"
                                "\n"
                                "Example:\n"
                                "  slipring cluster show --cluster nats://127.0.0.1:4222 --name ward\n"
                                "\n"
                                "Exit code: 1 if nobody has served the name, or no server answers.\n";

static const char outputs_help[] =
    "Usage: slipring cluster outputs --cluster URL --name NAME [OPTION]...\n"
    "Writes the stored outputs of a name as JSON lines: partition, sequence, message,\n"
    "key, instance, and the reply's bytes as hexadecimal digits. The key is a number\n"
    "or a text, as the senders gave it; without keys the line has none. The instance\n"
    "is a number within its partition.\n"
    "\n" REMOTE_HELP "  --raw                writes the replies' bytes alone, one after the other\n"
    "  --follow             waits for more outputs, until SIGINT\n"
    "  --release            removes the written outputs from the servers\n"
    "\n"
    "Example:\n"
    "  slipring cluster outputs --cluster nats://127.0.0.1:4222 --name ward\n"
    "\n"
    "Exit code: 1 if nobody has served the name, or no server answers.\n";

static int take_timeout(uint64_t *to, const char *text)
{
    if (number_parse_duration(text, to) && *to > 0)
        return -1;
    return say_usage("--timeout: '%s' is not a time such as 500ms or 10s", text);
}

static int take_remote(int option, char **argv, remote_options *out)
{
    switch (option) {
    case REMOTE_JSON:
        out->json = true;
        return -1;
    case REMOTE_RAW:
        out->raw = true;
        return -1;
    case REMOTE_FOLLOW:
        out->follow = true;
        return -1;
    case REMOTE_RELEASE:
        out->release = true;
        return -1;
    case REMOTE_WORKER:
        out->worker = optarg;
        return -1;
    case REMOTE_TIMEOUT:
        return take_timeout(&out->timeout_ns, optarg);
    case REMOTE_FOLDER:
        out->folder = optarg;
        return -1;
    case REMOTE_KEY:
        out->key = optarg;
        return -1;
    case REMOTE_MESSAGE:
        out->message = optarg;
        return -1;
    case REMOTE_REPLICAS:
        return kernel_take_number("--replicas", optarg, SLR_U32, &out->where.replicas);
    default:
        return remote_option_take(&out->where, option, optarg) ? -1 : say_refused_option(option, argv);
    }
}

int remote_parse(int argc, char **argv, const char *help, const struct option *known, bool needs_name,
                 remote_options *out)
{
    *out = (remote_options){.where = SLR_REMOTE_DESC_INIT, .timeout_ns = 30000000000};
    for (int option; (option = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        int end = take_remote(option, argv, out);
        if (end != -1)
            return end;
    }
    if (argc != optind)
        return say_usage("unexpected argument '%s'", argv[optind]);
    if (needs_name || out->where.servers == NULL)
        return remote_option_check(&out->where);
    return -1;
}

static void add_worker(void *user, const slr_remote_worker *worker)
{
    json_out *out = user;
    json_out_object(out, NULL);
    json_out_text(out, "worker", worker->id);
    json_out_text(out, "host", worker->host);
    json_out_integer(out, "process", worker->process);
    json_out_integer(out, "partitions", worker->partitions);
    json_out_bool(out, "draining", worker->draining != 0);
    json_out_bool(out, "lost", worker->is_lost != 0);
    json_out_integer(out, "silent_ns", worker->silent_ns);
    json_out_end_object(out);
}

static void print_worker(void *user, const slr_remote_worker *worker)
{
    (void)user;
    if (worker->is_lost) {
        say_out("lost        %s, silent for %.0f s; process %" PRIu64 " on %s\n", worker->id,
                (double)worker->silent_ns / 1e9, worker->process, worker->host);
        return;
    }
    say_out("worker      %s has %u partitions; process %" PRIu64 " on %s%s\n", worker->id, worker->partitions,
            worker->process, worker->host, worker->draining ? "; it is asked to end" : "");
}

static slr_status print_json(const slr_remote_info *info, const slr_remote_desc *where)
{
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_text(&out, "name", where->name);
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
    json_out_array(&out, "served_by");
    slr_status status = slr_remote_visit_workers(where, add_worker, &out);
    json_out_end_array(&out);
    json_out_end_object(&out);
    return status;
}

static slr_status print_text(const slr_remote_info *info, const slr_remote_desc *where)
{
    say_out("handler     %s (layout %016" PRIx64 ")\n", info->handler, info->layout);
    say_out("bytes       message %u, state %u, reply %u\n", info->message_bytes, info->state_bytes, info->reply_bytes);
    say_out("workers     %u, for %u of %u partitions\n", info->workers, info->owned, info->partitions);
    say_out("messages    %" PRIu64 " in snapshots; %" PRIu64 " frames after them\n", info->messages, info->waiting);
    say_out("states      %" PRIu64 "\n", info->states);
    say_out("outputs     %" PRIu64 " in snapshots\n", info->outputs);
    say_out("faulted     %" PRIu64 "\n", info->faulted);
    say_out("stored      %" PRIu64 " B\n", info->bytes);
    return slr_remote_visit_workers(where, print_worker, NULL);
}

int cluster_show(int argc, char **argv)
{
    static const struct option known[] = {
        REMOTE_LONG, {"json", no_argument, NULL, REMOTE_JSON}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    remote_options options;
    slr_remote_info info;
    int end = remote_parse(argc, argv, show_help, known, true, &options);
    if (end != -1)
        return end;
    slr_status status = slr_remote_get_info(&options.where, &info);
    if (status == SLR_OK)
        status = options.json ? print_json(&info, &options.where) : print_text(&info, &options.where);
    return status == SLR_OK ? EXIT_DONE : remote_option_say(status, options.where.name);
}

// ---- outputs -------------------------------------------------------------------------------------------------------

enum { PAYLOAD = 1 << 16 };
#define PATIENCE_NS 500000000ull

static void write_key(const slr_key *key)
{
    if (key->text == NULL) {
        printf("\"key\": %" PRIu64 ", ", key->number);
        return;
    }
    fputs("\"key\": \"", stdout);
    for (size_t at = 0, wide; at < key->bytes; at += wide) {
        char text[UTF8_JSON_MOST];
        fwrite(text, 1, utf8_json((const unsigned char *)key->text + at, key->bytes - at, text, &wide), stdout);
    }
    fputs("\", ", stdout);
}

static void write_output(const slr_output *output, uint32_t partition, const unsigned char *payload,
                         const remote_options *options)
{
    if (options->raw) {
        fwrite(payload, 1, output->bytes, stdout);
        return;
    }
    printf("{\"partition\": %u, \"sequence\": %" PRIu64 ", \"message\": %" PRIu64 ", ", partition, output->sequence,
           output->message);
    if (options->has_keys)
        write_key(&output->key);
    printf("\"instance\": %u, \"reply\": \"", output->instance);
    for (uint32_t i = 0; i < output->bytes; i++)
        printf("%02x", payload[i]);
    puts("\"}");
}

static slr_status write_outputs(slr_receiver *receiver, const remote_options *options, unsigned char *payload)
{
    slr_status status = SLR_OK;
    while (!interrupted()) {
        slr_output output;
        uint32_t partition;
        status = slr_receiver_receive(receiver, &output, &partition, payload, PAYLOAD, PATIENCE_NS);
        if (status == SLR_OK)
            write_output(&output, partition, payload, options);
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
                                          {"raw", no_argument, NULL, REMOTE_RAW},
                                          {"follow", no_argument, NULL, REMOTE_FOLLOW},
                                          {"release", no_argument, NULL, REMOTE_RELEASE},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    remote_options options;
    slr_receiver *receiver;
    int end = remote_parse(argc, argv, outputs_help, known, true, &options);
    if (end != -1)
        return end;
    interrupt_note();
    slr_remote_info info;
    slr_status status = slr_remote_get_info(&options.where, &info);
    if (status == SLR_OK)
        status = slr_receiver_open(&options.where, &receiver);
    interrupt_deliver();
    if (status != SLR_OK)
        return remote_option_say(status, options.where.name);
    options.has_keys = info.keys != 0;
    unsigned char *payload = malloc(PAYLOAD);
    status = payload != NULL ? write_outputs(receiver, &options, payload) : SLR_NO_MEMORY;
    free(payload);
    slr_receiver_close(receiver);
    if (status != SLR_OK)
        return remote_option_say(status, options.where.name);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}
