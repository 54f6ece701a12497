// SPDX-License-Identifier: Apache-2.0
// `slipring doctor --cluster`: what a message survives that some servers have accepted.
#include "doctor.h"

#include "json_out.h"
#include "kernel/kernel.h"
#include "remote_option.h"
#include "say.h"
#include "verbs.h"

#include <slipring/operate.h>

#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: slipring doctor --cluster URL [OPTION]...\n"
                           "Reports which failures an accepted message survives on these servers. Checks\n"
                           "their version, the replicas of the name's streams, and sync_interval: the time\n"
                           "until a server writes to its disk. Stores a few records, and removes them.\n"
                           "\n" REMOTE_HELP "  --replicas N         replicas of a name not yet served (default 1)\n"
                           "  --system-credentials FILE, --system-nkey FILE\n"
                           "                       credentials of the servers' system account: only this\n"
                           "                       account may read sync_interval\n"
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring doctor --cluster nats://127.0.0.1:4222\n"
                           "\n"
                           "Exit code: 1 if no server answers, is too old, or has no JetStream.\n";

enum { JSON = 256, REPLICAS, SYSTEM_CREDENTIALS, SYSTEM_NKEY };

typedef struct options {
    slr_remote_desc where, system;
    bool json;
} options;

static int take(int option, char **argv, options *out)
{
    switch (option) {
    case JSON:
        out->json = true;
        return -1;
    case REPLICAS:
        return kernel_take_number("--replicas", optarg, SLR_U32, &out->where.replicas);
    case SYSTEM_CREDENTIALS:
        out->system.credentials = optarg;
        return -1;
    case SYSTEM_NKEY:
        out->system.nkey = optarg;
        return -1;
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    default:
        return remote_option_take(&out->where, option, optarg) ? -1 : say_refused_option(option, argv);
    }
}

static int parse(int argc, char **argv, options *out)
{
    static const struct option known[] = {REMOTE_LONG,
                                          {"replicas", required_argument, NULL, REPLICAS},
                                          {"system-credentials", required_argument, NULL, SYSTEM_CREDENTIALS},
                                          {"system-nkey", required_argument, NULL, SYSTEM_NKEY},
                                          {"json", no_argument, NULL, JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    *out = (options){.where = SLR_REMOTE_DESC_INIT, .system = SLR_REMOTE_DESC_INIT};
    for (int option; (option = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        int end = take(option, argv, out);
        if (end != -1)
            return end;
    }
    if (argc != optind)
        return say_usage("only options are allowed, not '%s'", argv[optind]);
    out->system.tls_ca = out->where.tls_ca;
    out->system.allow_anonymous = out->where.allow_anonymous;
    return -1;
}

static const char *const syncs[] = {"unknown", "always", "interval"};

static void print_json(const slr_remote_safety *safety)
{
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_text(&out, "server_version", safety->version);
    json_out_integer(&out, "replicas", safety->replicas);
    json_out_integer(&out, "current_replicas", safety->current);
    json_out_text(&out, "sync", syncs[safety->sync]);
    if (safety->sync == SLR_REMOTE_SYNC_INTERVAL)
        json_out_integer(&out, "sync_interval_ns", safety->interval_ns);
    json_out_integer(&out, "servers_asked", safety->servers);
    json_out_integer(&out, "answer_ns", safety->answer_ns);
    json_out_text(&out, "survives", safety->words);
    json_out_end_object(&out);
}

static void print_text(const slr_remote_safety *safety)
{
    say_out("server      nats-server %s\n", *safety->version ? safety->version : "of an unknown version");
    say_out("replicas    %u, %u of them up to date\n", safety->replicas, safety->current);
    say_out("sync        %s", syncs[safety->sync]);
    if (safety->sync == SLR_REMOTE_SYNC_INTERVAL)
        say_out(" of %.4g s", (double)safety->interval_ns / 1e9);
    if (safety->sync == SLR_REMOTE_SYNC_UNKNOWN)
        say_out(": only the system account may ask (--system-credentials, --system-nkey)");
    say_out("\naccepted    in %.3f ms, at the median\n", (double)safety->answer_ns / 1e6);
    say_out("survives    %s\n", safety->words);
}

int doctor_cluster(int argc, char **argv)
{
    options options;
    slr_remote_safety safety;
    int end = parse(argc, argv, &options);
    if (end != -1)
        return end;
    bool has_system = options.system.credentials != NULL || options.system.nkey != NULL;
    slr_status status = slr_remote_get_safety(&options.where, has_system ? &options.system : NULL, &safety);
    if (status != SLR_OK)
        return remote_option_say(status, options.where.servers);
    if (options.json)
        print_json(&safety);
    else
        print_text(&safety);
    return EXIT_DONE;
}
