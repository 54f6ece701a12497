// SPDX-License-Identifier: Apache-2.0
// `slipring cluster`: finds the verb behind it, and what the verbs have in common.
#include "cluster/cluster_verb.h"

#include "device_option.h"
#include "number.h"
#include "say.h"
#include "subverb.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static const struct subverb verbs[] = {
    {"split", "cluster split", "divide items between devices, without a launch", cluster_split},
    {"show", "cluster show", "what the servers store for a name that machines share", cluster_show},
    {"ls", "cluster ls", "the names that machines share on some servers", cluster_ls},
    {"outputs", "cluster outputs", "the stored outputs of a name", cluster_outputs},
    {"call", "cluster call", "send a message to a name and wait for its reply", cluster_call},
    {"dead", "cluster dead", "the messages of a name that faulted, with the reason", cluster_dead},
    {"drain", "cluster drain", "let a worker hand its partitions over and end", cluster_drain},
    {"snapshot", "cluster snapshot", "copy what the servers store for a name into a folder", cluster_snapshot},
    {"restore", "cluster restore", "make a name from the folder of a snapshot", cluster_restore},
    {"peers", "cluster peers", "how bytes get from each device to each other device", cluster_peers},
    {"reduce", "cluster reduce", "reduce, broadcast or gather buffers of all devices", cluster_reduce},
    {"ring", "cluster ring", "spread a handler over devices, by instance or key", cluster_ring},
    {"run", "cluster run", "launch a kernel over several devices at once", cluster_run},
};

int verb_cluster(int argc, char **argv)
{
    static const char usage[] = "Usage: slipring cluster VERB --devices A,B [OPTION]...\n"
                                "       slipring cluster ls --cluster URL [OPTION]...\n"
                                "       slipring cluster VERB --cluster URL --name NAME [OPTION]...\n"
                                "Shares one job between several devices of this machine, or between machines.\n";
    static const char more[] = "\nExample:\n"
                               "  slipring cluster split --devices cpu,cpu --items 10 --weights 3,1\n"
                               "\n'slipring cluster VERB --help' describes a verb and its options.";
    return subverb_run(verbs, sizeof verbs / sizeof *verbs, usage, more, argc, argv);
}

int cluster_say_status(slr_status status, const char *what)
{
    if (status == SLR_INVALID || status == SLR_NOT_FOUND)
        return say_usage("%s", slr_error_message());
    return say_failure(status, what);
}

// Each name by itself: they are no alternatives, of which the first that opens is taken.
static int check_each(const char *names)
{
    for (const char *at = names; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (device_option_check("--devices", name) != EXIT_DONE)
            return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int cluster_open(const char *names, slr_cluster **out)
{
    if (names == NULL)
        return say_usage("--devices is missing: the devices, with commas between them");
    slr_status status = slr_cluster_create_named(names, NULL, out);
    if (status == SLR_OK)
        return EXIT_DONE;
    char why[1024]; // the check asks the library, too
    snprintf(why, sizeof why, "%s", slr_error_message());
    if (status == SLR_NO_DEVICE && check_each(names) != EXIT_DONE)
        return EXIT_USAGE;
    if (status != SLR_NO_DEVICE)
        return cluster_say_status(status, "--devices");
    say("--devices: %s", why);
    return EXIT_NO_DEVICE;
}

const char *cluster_device_name(const slr_cluster *cluster, uint32_t index, slr_device_info *room)
{
    slr_device *device;
    if (slr_cluster_get_device(cluster, index, &device) != SLR_OK || slr_device_get_info(device, room) != SLR_OK)
        return "";
    return room->name;
}

static const char *const balances[] = {[SLR_BALANCE_THROUGHPUT] = "throughput",
                                       [SLR_BALANCE_MEMORY] = "memory",
                                       [SLR_BALANCE_ROUND_ROBIN] = "round-robin",
                                       [SLR_BALANCE_LEAST_LOADED] = "least-loaded",
                                       [SLR_BALANCE_GIVEN] = "given"};

int cluster_take_balance(const char *option, const char *text, void *to)
{
    (void)option;
    for (size_t i = 1; i < sizeof balances / sizeof *balances; i++) {
        if (strcmp(text, balances[i]) == 0) {
            *(slr_balance *)to = (slr_balance)i;
            return -1;
        }
    }
    return say_unknown("balance", text, &balances[1], sizeof *balances, sizeof balances / sizeof *balances - 1);
}

const char *cluster_balance_name(slr_balance balance)
{
    return balances[balance];
}

int cluster_take_items(const char *option, const char *text, void *to)
{
    cluster_items *items = to;
    items->is_given = true;
    return option_take_u64(option, text, &items->count);
}

int cluster_take_numbers(const char *option, const char *text, void *to)
{
    cluster_numbers *numbers = to;
    const char *at = text;
    for (numbers->count = 0; numbers->count < SLR_CLUSTER_MOST_DEVICES;) {
        char part[NUMBER_TEXT_MAX];
        size_t length = strcspn(at, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, at);
        if (length >= sizeof part || !number_parse(SLR_U64, part, &numbers->values[numbers->count]))
            return say_usage("%s: '%s' is not %s", option, part, number_takes(SLR_U64));
        ++numbers->count;
        if (at[length] == '\0')
            return -1;
        at += length + 1;
    }
    return say_usage("%s: '%s' has more than %d numbers", option, text, SLR_CLUSTER_MOST_DEVICES);
}

int cluster_check_weights(const cluster_numbers *weights, slr_balance balance)
{
    bool any = false;
    for (uint32_t i = 0; i < weights->count; i++)
        any |= weights->values[i] != 0;
    if ((balance == SLR_BALANCE_GIVEN) != (weights->count != 0))
        return say_usage("--balance given and --weights need each other");
    return any || weights->count == 0 ? -1 : say_usage("--weights: all weights are 0");
}

int cluster_check_count(const char *option, uint32_t numbers, const slr_cluster *cluster)
{
    if (numbers == 0 || numbers == slr_cluster_size(cluster))
        return -1;
    return say_usage("%s: %u numbers for %u devices", option, numbers, slr_cluster_size(cluster));
}

json_t *cluster_parts_json(const slr_cluster *cluster, const slr_part *parts)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < slr_cluster_size(cluster); i++) {
        slr_device_info info;
        json_array_append_new(array,
                              json_pack("{s:s, s:I, s:I}", "device", cluster_device_name(cluster, i, &info), "offset",
                                        (json_int_t)parts[i].offset, "items", (json_int_t)parts[i].items));
    }
    return array;
}
