// SPDX-License-Identifier: Apache-2.0
// `slipring serve`: a worker of a name that machines share.
#include "bind.h"
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
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring serve FILE.cu --cluster URL --name NAME [OPTION]...\n"
                           "Handles the messages of a name, together with workers on other machines. The\n"
                           "keys of the name are divided into partitions. The workers share the partitions,\n"
                           "and take over the partitions of a worker that ends. After SIGTERM or 'slipring\n"
                           "cluster drain' a worker hands its partitions over and exits with 0. Notifies\n"
                           "systemd when it is ready (Type=notify).\n"
                           "\n" REMOTE_HELP "  --ring HANDLER       the handler, if the file has several\n"
                           "  --device NAME        the device that runs the handler (default auto)\n"
                           "  --bind NAME=VALUE    a parameter of the handler: a number, a file or zeros:N\n"
                           "                       ('slipring run --help'). All workers of a name need equal\n"
                           "                       values\n"
                           "  --keys text|number|none\n"
                           "                       what a key is (default text)\n"
                           "  --key-bytes N        maximum bytes of a text (default 60)\n"
                           "  --instances N        maximum keys of a partition (default 65536)\n"
                           "  --replies N          maximum replies per message (1-64, default 1)\n"
                           "  --fuel N             maximum loop iterations per message (default 4294967296).\n"
                           "                       Give all workers of a name equal --replies and --fuel\n"
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
                           "SIGHUP: reads FILE.cu and the files of --bind again, and replaces the handler\n"
                           "between two messages.\n"
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
    run_list bindings;
    bool json;
} options;

enum {
    RING = 256,
    DEVICE,
    BIND,
    KEYS,
    KEY_BYTES,
    INSTANCES,
    PARTITIONS,
    CAPACITY,
    LEASE,
    REPLICAS,
    SNAPSHOT,
    JSON,
    REPLIES,
    FUEL
};

static const struct option long_options[] = {
    SOURCE_LONG,
    REMOTE_LONG,
    {"ring", required_argument, NULL, RING},
    {"device", required_argument, NULL, DEVICE},
    {"bind", required_argument, NULL, BIND},
    {"keys", required_argument, NULL, KEYS},
    {"key-bytes", required_argument, NULL, KEY_BYTES},
    {"instances", required_argument, NULL, INSTANCES},
    {"replies", required_argument, NULL, REPLIES},
    {"fuel", required_argument, NULL, FUEL},
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

static int take_replies(uint32_t *to, const char *text)
{
    if (number_parse(SLR_U32, text, to) && *to >= 1 && *to <= 64)
        return -1;
    return say_usage("--replies: '%s' is not a number from 1 to 64", text);
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
    case BIND:
        return run_list_add(&out->bindings, optarg);
    case KEYS:
        return take_keys(&out->ring.keys, optarg);
    case KEY_BYTES:
        return take_count("--key-bytes", optarg, SLR_U32, &out->ring.key_bytes);
    case INSTANCES:
        return take_count("--instances", optarg, SLR_U32, &out->ring.instances);
    case REPLIES:
        return take_replies(&out->ring.max_replies, optarg);
    case FUEL:
        return take_count("--fuel", optarg, SLR_U64, &out->ring.fuel);
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

static void free_options(options *options)
{
    free(options->bindings.items);
    source_options_free(&options->source);
}

typedef struct said {
    char problem[sizeof((slr_worker_stats *)NULL)->problem];
    bool is_cut_off, has_fault;
} said;

// Each problem once, as it comes: a worker goes on. So is the first dead letter, for the next ones may be many; and
// that the servers are there again.
static void say_problem(const slr_worker_stats *stats, said *said)
{
    if (strcmp(said->problem, stats->problem) != 0) {
        snprintf(said->problem, sizeof said->problem, "%s", stats->problem);
        say("%s", said->problem);
    }
    if (!said->has_fault && stats->first_fault[0] != '\0')
        say("a message became a dead letter: %s. 'slipring cluster dead' shows all dead letters", stats->first_fault);
    said->has_fault = stats->first_fault[0] != '\0';
    if (said->is_cut_off && stats->cut_off == 0)
        say("the NATS servers answer again");
    said->is_cut_off = stats->cut_off != 0;
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

// ---- the handler ---------------------------------------------------------------------------------------------------

// What a ring kernel is made of, while a worker may make one.
typedef struct handler {
    slr_program *program;
    bindings bindings;
} handler;

static void drop_handler(handler *handler)
{
    bindings_free(&handler->bindings);
    slr_program_destroy(handler->program);
    *handler = (struct handler){0};
}

// False: the file has none of that name, or several and no name was given. The library says that.
static bool find_handler(const slr_program *program, const char *name, slr_handler_info *out)
{
    slr_handler_info info;
    uint32_t count = 0, found = 0;
    for (; slr_program_get_handler(program, count, &info) == SLR_OK; count++) {
        if (name != NULL && strcmp(name, info.name) != 0)
            continue;
        *out = info;
        found++;
    }
    return found == 1;
}

// Returns an exit code; what is not EXIT_DONE has been said.
static int load_handler(slr_device *device, const options *options, handler *out, slr_ring_desc *ring)
{
    slr_handler_info info;
    *out = (handler){0};
    *ring = options->ring;
    int end = kernel_load(device, options->file, &options->source, &out->program);
    if (end == EXIT_DONE && find_handler(out->program, options->handler, &info))
        end = bindings_make(&out->bindings, device, &info, &options->bindings);
    ring->program = out->program;
    ring->handler = options->handler;
    ring->bindings = out->bindings.items;
    ring->binding_count = out->bindings.count;
    if (end != EXIT_DONE)
        drop_handler(out);
    return end;
}

// ---- SIGHUP --------------------------------------------------------------------------------------------------------

static volatile sig_atomic_t reload_is_due;

static void on_reload(int number)
{
    (void)number;
    reload_is_due = 1;
}

// The handler that is served, and the one before it, which the worker may go back to.
typedef struct handlers {
    handler now, before;
    uint64_t rolled_back; // as often it had gone back when `now` began
} handlers;

static void note_rollback(slr_worker *worker, handlers *handlers)
{
    slr_worker_stats stats;
    if (slr_worker_get_stats(worker, &stats) != SLR_OK || stats.rolled_back == handlers->rolled_back)
        return;
    handler failed = handlers->now;
    handlers->now = handlers->before;
    handlers->before = failed;
    handlers->rolled_back = stats.rolled_back;
}

static void reload(slr_device *device, const options *options, slr_worker *worker, handlers *handlers)
{
    handler next;
    slr_ring_desc ring;
    reload_is_due = 0;
    notify_reloading();
    if (load_handler(device, options, &next, &ring) != EXIT_DONE)
        return; // which has been said; the old one goes on
    note_rollback(worker, handlers);
    if (slr_worker_replace(worker, &ring, CLOSE_NS) != SLR_OK) {
        say("%s: the handler was not replaced: %s", options->file, slr_error_message());
        drop_handler(&next);
        return;
    }
    say("%s: the handler was replaced", options->file);
    drop_handler(&handlers->before);
    handlers->before = handlers->now;
    handlers->now = next;
}

static int serve(slr_device *device, const options *options, slr_worker *worker, handlers *handlers)
{
    slr_worker_stats stats;
    said said = {0};
    bool is_drained = false;
    notify_say("READY=1\nSTATUS=serving");
    while (!interrupted() && !is_drained) {
        slr_worker_turn(worker, TURN_NS);
        notify_alive();
        if (reload_is_due) {
            reload(device, options, worker, handlers);
            notify_say("READY=1\nSTATUS=serving"); // with the new handler, or the old one: that is on stderr
        }
        if (slr_worker_get_stats(worker, &stats) == SLR_OK)
            say_problem(&stats, &said);
        is_drained = stats.draining != 0 && stats.owned == 0;
    }
    notify_say("STOPPING=1\nSTATUS=handing over");
    slr_worker_get_stats(worker, &stats);
    slr_status status = slr_worker_close(worker, CLOSE_NS);
    if (status != SLR_OK)
        say_failure(status, "handing over"); // messages since the last snapshot are handled again elsewhere
    stats.drained += status == SLR_OK ? stats.owned : 0;
    if (stats.faulted > 0)
        say("%" PRIu64 " messages became dead letters", stats.faulted);
    print_stats(&stats, options->json);
    if (is_drained && !interrupted())
        return status == SLR_OK ? EXIT_DONE : EXIT_FAILED;
    return status == SLR_OK && interrupt_is_orderly() ? EXIT_DONE : interrupt_exit_code();
}

int verb_serve(int argc, char **argv)
{
    options options;
    slr_device *device;
    handlers handlers = {0};
    slr_ring_desc ring;
    slr_worker *worker;
    int end = parse(argc, argv, &options);
    if (end != -1) {
        free_options(&options);
        return end;
    }
    interrupt_note();
    end = device_option_open(options.device, NULL, &device, NULL);
    if (end == EXIT_DONE) {
        end = load_handler(device, &options, &handlers.now, &ring);
        slr_status status =
            end == EXIT_DONE ? slr_worker_open(device, &ring, &options.where, &options.worker, &worker) : SLR_OK;
        if (status != SLR_OK)
            end = remote_option_say(status, options.where.name);
        interrupt_on_hangup(on_reload);
        interrupt_deliver();
        if (end == EXIT_DONE)
            end = serve(device, &options, worker, &handlers);
        drop_handler(&handlers.now);
        drop_handler(&handlers.before);
        slr_device_close(device);
    }
    free_options(&options);
    return end;
}
