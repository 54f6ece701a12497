// SPDX-License-Identifier: Apache-2.0
// `slipring serve`: a worker of a name that machines share.
#include "device_option.h"
#include "interrupt.h"
#include "json_out.h"
#include "kernel/kernel.h"
#include "notify.h"
#include "number.h"
#include "remote_option.h"
#include "say.h"
#include "verbs.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: slipring serve FILE.cu --cluster URL --name NAME [OPTION]...\n"
                           "Handles the messages of a name, together with workers on other machines. The\n"
                           "keys of the name are divided into partitions. The workers share the partitions,\n"
                           "and take over the partitions of a worker that ends. After SIGTERM or 'slipring\n"
                           "cluster drain' a worker hands its partitions over and exits with 0. Notifies\n"
                           "systemd when it is ready (Type=notify).\n"
                           "\n" REMOTE_HELP "  --ring HANDLER       the handler, if the file has several\n"
                           "  --device NAME        the device that runs the handler (default auto)\n"
                           "  --keys text|number|none\n"
                           "                       what a key is (default text)\n"
                           "  --key-bytes N        maximum bytes of a text (default 60)\n"
                           "  --instances N        maximum keys of a partition (default 65536)\n"
                           "  --partitions N       partitions of the name (default 64). Only a name's first\n"
                           "                       worker sets this, --capacity and --lease\n"
                           "  --capacity N         maximum frames (groups of messages) that a partition\n"
                           "                       stores (default 65536)\n"
                           "  --lease T            silence after which a worker counts as lost (default 3s)\n"
                           "  --replicas N         copies that the servers keep: 1 (default), 3 or 5\n"
                           "  --snapshot T         time between snapshots of a partition (default 1s)\n" SOURCE_HELP
                           "  --json               prints one JSON object at the end\n"
                           "\n"
                           "Example:\n"
                           "  slipring serve examples/ward/ward.cu --cluster nats://127.0.0.1:4222 \\\n"
                           "    --name ward --partitions 8\n"
                           "\n"
                           "SIGHUP: reads the file again, and replaces the handler between two messages.\n"
                           "Refuses a handler that does not compile or has another layout. If the new\n"
                           "handler faults, the previous handler continues.\n"
                           "\n"
                           "Exit code: 0 if all partitions were handed over after SIGTERM or a drain; 1 if\n"
                           "the source does not compile, the servers cannot be reached at the start, or\n"
                           "a partition was handed over without a snapshot.\n";

#define CLOSE_NS 30000000000ull
#define TURN_NS 100000000ull

typedef struct options {
    const char *file, *handler, *device;
    slr_remote_desc where;
    slr_worker_desc worker;
    slr_ring_desc ring;
    source_options source;
    bool json;
} options;

enum { RING = 256, DEVICE, KEYS, KEY_BYTES, INSTANCES, PARTITIONS, CAPACITY, LEASE, REPLICAS, SNAPSHOT, JSON };

static const struct option long_options[] = {
    SOURCE_LONG,
    REMOTE_LONG,
    {"ring", required_argument, NULL, RING},
    {"device", required_argument, NULL, DEVICE},
    {"keys", required_argument, NULL, KEYS},
    {"key-bytes", required_argument, NULL, KEY_BYTES},
    {"instances", required_argument, NULL, INSTANCES},
    {"partitions", required_argument, NULL, PARTITIONS},
    {"capacity", required_argument, NULL, CAPACITY},
    {"lease", required_argument, NULL, LEASE},
    {"replicas", required_argument, NULL, REPLICAS},
    {"snapshot", required_argument, NULL, SNAPSHOT},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int take_keys(uint32_t *to, const char *text)
{
    static const char *const kinds[] = {"none", "number", "text"}; // as slr_keys counts
    for (uint32_t i = 0; i < 3; i++) {
        if (strcmp(text, kinds[i]) == 0) {
            *to = i;
            return -1;
        }
    }
    return say_usage("--keys: '%s' is not text, number or none", text);
}

static int take_time(const char *option, uint64_t *to, const char *text)
{
    if (number_parse_duration(text, to) && *to > 0)
        return -1;
    return say_usage("%s: '%s' is not a time such as 500ms or 10s", option, text);
}

// Not 0, which stands for the default where it was not given.
static int take_count(const char *option, const char *text, slr_scalar scalar, void *to)
{
    static const unsigned char zero[8];
    int end = kernel_take_number(option, text, scalar, to);
    if (end == -1 && memcmp(to, zero, scalar == SLR_U64 ? 8 : 4) == 0)
        return say_usage("%s: '%s' is not a number from 1", option, text);
    return end;
}

static int take_option(int option, char **argv, options *out)
{
    switch (option) {
    case RING:
        out->handler = optarg;
        return -1;
    case DEVICE:
        out->device = optarg;
        return -1;
    case KEYS:
        return take_keys(&out->ring.keys, optarg);
    case KEY_BYTES:
        return take_count("--key-bytes", optarg, SLR_U32, &out->ring.key_bytes);
    case INSTANCES:
        return take_count("--instances", optarg, SLR_U32, &out->ring.instances);
    case PARTITIONS:
        return take_count("--partitions", optarg, SLR_U32, &out->worker.partitions);
    case CAPACITY:
        return take_count("--capacity", optarg, SLR_U64, &out->worker.capacity);
    case LEASE:
        return take_time("--lease", &out->worker.lease_ns, optarg);
    case REPLICAS:
        return take_count("--replicas", optarg, SLR_U32, &out->where.replicas);
    case SNAPSHOT:
        return take_time("--snapshot", &out->worker.snapshot_ns, optarg);
    case JSON:
        out->json = true;
        return -1;
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    default:
        return remote_option_take(&out->where, option, optarg) || source_options_take(&out->source, option, optarg)
                   ? -1
                   : say_refused_option(option, argv);
    }
}

static int parse(int argc, char **argv, options *out)
{
    *out = (options){.where = SLR_REMOTE_DESC_INIT, .worker = SLR_WORKER_DESC_INIT, .ring = SLR_RING_DESC_INIT};
    out->ring.keys = SLR_KEYS_TEXT;
    for (int option; (option = getopt_long(argc, argv, ":h" SOURCE_SHORT, long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    if (argc - optind != 1)
        return say_usage(argc == optind ? "FILE.cu is missing" : "one FILE.cu, not several");
    out->file = argv[optind];
    if (out->ring.keys != SLR_KEYS_TEXT && out->ring.key_bytes != 0)
        return say_usage("--key-bytes needs --keys text");
    if (out->ring.keys != 0 && out->ring.instances == 0)
        out->ring.instances = 65536;
    return remote_option_check(&out->where);
}

// Each problem once, as it comes: a worker goes on.
static void say_problem(const slr_worker_stats *stats, char *said, size_t bytes)
{
    if (strcmp(said, stats->problem) == 0)
        return;
    snprintf(said, bytes, "%s", stats->problem);
    say("%s", said);
}

static void print_stats(const slr_worker_stats *stats, bool json)
{
    if (!json) {
        say_out("handled %" PRIu64 ", faulted %" PRIu64 ", outputs %" PRIu64 ", partitions taken %" PRIu64
                ", lost %" PRIu64 ", handed over %" PRIu64 "\n",
                stats->handled, stats->faulted, stats->outputs, stats->taken, stats->lost, stats->drained);
        return;
    }
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_integer(&out, "handled", stats->handled);
    json_out_integer(&out, "faulted", stats->faulted);
    json_out_integer(&out, "outputs", stats->outputs);
    json_out_integer(&out, "repeated", stats->repeated);
    json_out_integer(&out, "gaps", stats->gaps);
    json_out_integer(&out, "refused", stats->refused);
    json_out_integer(&out, "records", stats->records);
    json_out_integer(&out, "taken", stats->taken);
    json_out_integer(&out, "lost", stats->lost);
    json_out_integer(&out, "drained", stats->drained);
    json_out_integer(&out, "snapshots", stats->snapshots);
    json_out_integer(&out, "replaced", stats->replaced);
    json_out_integer(&out, "rolled_back", stats->rolled_back);
    json_out_text(&out, "problem", stats->problem);
    json_out_end_object(&out);
}

// ---- SIGHUP --------------------------------------------------------------------------------------------------------

static volatile sig_atomic_t reload_is_due;

static void on_reload(int number)
{
    (void)number;
    reload_is_due = 1;
}

// programs[0] is the one that is served, programs[1] the one that the worker may go back to.
static void reload(slr_device *device, const options *options, slr_worker *worker, slr_program *programs[2])
{
    slr_program *next;
    slr_ring_desc ring = options->ring;
    reload_is_due = 0;
    notify_reloading();
    if (kernel_load(device, options->file, &options->source, &next) != EXIT_DONE)
        return; // which has been said; the old one goes on
    ring.program = next;
    ring.handler = options->handler;
    if (slr_worker_replace(worker, &ring, CLOSE_NS) != SLR_OK) {
        say("%s: the handler was not replaced: %s", options->file, slr_error_message());
        slr_program_destroy(next);
        return;
    }
    say("%s: the handler was replaced", options->file);
    slr_program_destroy(programs[1]);
    programs[1] = programs[0];
    programs[0] = next;
}

static int serve(slr_device *device, const options *options, slr_worker *worker, slr_program *programs[2])
{
    slr_worker_stats stats;
    char said[sizeof stats.problem] = "";
    bool is_drained = false;
    notify_say("READY=1\nSTATUS=serving");
    while (!interrupted() && !is_drained) {
        slr_worker_turn(worker, TURN_NS);
        notify_alive();
        if (reload_is_due) {
            reload(device, options, worker, programs);
            notify_say("READY=1\nSTATUS=serving"); // with the new handler, or the old one: that is on stderr
        }
        if (slr_worker_get_stats(worker, &stats) == SLR_OK)
            say_problem(&stats, said, sizeof said);
        is_drained = stats.draining != 0 && stats.owned == 0;
    }
    notify_say("STOPPING=1\nSTATUS=handing over");
    slr_worker_get_stats(worker, &stats);
    slr_status status = slr_worker_close(worker, CLOSE_NS);
    if (status != SLR_OK)
        say_failure(status, "handing over"); // messages since the last snapshot are handled again elsewhere
    stats.drained += status == SLR_OK ? stats.owned : 0;
    print_stats(&stats, options->json);
    if (is_drained && !interrupted())
        return status == SLR_OK ? EXIT_DONE : EXIT_FAILED;
    return status == SLR_OK && interrupt_is_orderly() ? EXIT_DONE : interrupt_exit_code();
}

int verb_serve(int argc, char **argv)
{
    options options;
    slr_device *device;
    slr_program *programs[2] = {NULL, NULL};
    slr_worker *worker;
    int end = parse(argc, argv, &options);
    if (end != -1) {
        source_options_free(&options.source);
        return end;
    }
    interrupt_note();
    end = device_option_open(options.device, NULL, &device, NULL);
    if (end == EXIT_DONE) {
        end = kernel_load(device, options.file, &options.source, &programs[0]);
        options.ring.program = programs[0];
        options.ring.handler = options.handler;
        slr_status status = end == EXIT_DONE
                                ? slr_worker_open(device, &options.ring, &options.where, &options.worker, &worker)
                                : SLR_OK;
        if (status != SLR_OK)
            end = remote_option_say(status, options.where.name);
        interrupt_on_hangup(on_reload);
        interrupt_deliver();
        if (end == EXIT_DONE)
            end = serve(device, &options, worker, programs);
        slr_program_destroy(programs[0]);
        slr_program_destroy(programs[1]);
        slr_device_close(device);
    }
    source_options_free(&options.source);
    return end;
}
