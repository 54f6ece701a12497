// SPDX-License-Identifier: Apache-2.0
// `slipring cluster call`: one message, and its reply.
#include "cluster/cluster_verb.h"

#include "cluster/remote.h"
#include "clock.h"
#include "json_out.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: slipring cluster call --cluster URL --name NAME --key KEY --message HEX\n"
    "         [OPTION]...\n"
    "Sends one message to a name and waits for the reply of its handler. Message and\n"
    "reply are hexadecimal digits, two a byte. The servers have stored both when the\n"
    "reply is printed.\n"
    "\n" REMOTE_HELP "  --key KEY            key: a text or a number, as in 'slipring serve --keys'\n"
    "  --message HEX        the bytes of the message\n"
    "  --timeout T          how long to wait (default 30s)\n"
    "  --json               prints one JSON object\n"
    "\n"
    "Example:\n"
    "  slipring cluster call --cluster nats://127.0.0.1:4222 --name hits --key 7 \\\n"
    "    --message 05000000\n"
    "\n"
    "Exit code: 1 if the handler faults, or no reply comes in time.\n";

static bool take_bytes(const char *text, unsigned char *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], '\0'}, *end;
        to[i] = (unsigned char)strtoul(pair, &end, 16);
        if (*end != '\0' || pair[0] == '+' || pair[0] == '-' || pair[0] == ' ')
            return false;
    }
    return true;
}

static void print_reply(const remote_options *options, const unsigned char *reply, size_t bytes, uint64_t duration_ns)
{
    char *digits = malloc(2 * bytes + 1);
    if (digits == NULL)
        return;
    digits[0] = '\0';
    for (size_t i = 0; i < bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", reply[i]);
    if (!options->json) {
        say_out("%s\n", digits);
    } else {
        json_out out = {.to = stdout};
        json_out_object(&out, NULL);
        json_out_text(&out, "name", options->where.name);
        json_out_text(&out, "key", options->key);
        json_out_text(&out, "reply", digits);
        json_out_integer(&out, "duration_ns", duration_ns);
        json_out_end_object(&out);
    }
    free(digits);
}

static int take_key(const remote_options *options, uint32_t keys, slr_key *key)
{
    uint64_t number = 0;
    if (keys == SLR_KEYS_TEXT)
        *key = slr_key_text(options->key, strlen(options->key));
    else if (number_parse(SLR_U64, options->key, &number))
        *key = slr_key_u64(number);
    else
        return say_usage("--key: '%s' is not %s", options->key, number_takes(SLR_U64));
    return -1;
}

static slr_status call_name(const remote_options *options, slr_sender *sender, const slr_key *key,
                            const unsigned char *message, size_t bytes, size_t reply_bytes)
{
    unsigned char *reply = calloc(reply_bytes + 1, 1);
    if (reply == NULL)
        return SLR_NO_MEMORY;
    uint64_t begin = clock_ns();
    slr_status status = slr_sender_call(sender, *key, message, bytes, reply, reply_bytes, options->timeout_ns);
    if (status == SLR_OK)
        print_reply(options, reply, reply_bytes, clock_ns() - begin);
    free(reply);
    return status;
}

static int call(const remote_options *options)
{
    slr_remote_info info;
    slr_sender *sender;
    slr_key key;
    size_t bytes = strlen(options->message) / 2;
    slr_status status = slr_remote_get_info(&options->where, &info);
    if (status != SLR_OK)
        return remote_option_say(status, options->where.name);
    int end = take_key(options, info.keys, &key);
    if (end != -1)
        return end;
    unsigned char *message = malloc(bytes + 1);
    if (message == NULL || strlen(options->message) % 2 != 0 || !take_bytes(options->message, message, bytes)) {
        free(message);
        return say_usage("--message: '%s' is not hexadecimal digits, two a byte", options->message);
    }
    status = slr_sender_open(&options->where, NULL, &sender);
    if (status == SLR_OK) {
        status = call_name(options, sender, &key, message, bytes, info.reply_bytes);
        end = status == SLR_OK ? EXIT_DONE : remote_option_say(status, options->where.name);
        slr_sender_close(sender, 0);
    } else
        end = remote_option_say(status, options->where.name);
    free(message);
    return end;
}

int cluster_call(int argc, char **argv)
{
    static const struct option known[] = {REMOTE_LONG,
                                          {"key", required_argument, NULL, REMOTE_KEY},
                                          {"message", required_argument, NULL, REMOTE_MESSAGE},
                                          {"timeout", required_argument, NULL, REMOTE_TIMEOUT},
                                          {"json", no_argument, NULL, REMOTE_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    remote_options options;
    int end = remote_parse(argc, argv, help, known, true, &options);
    if (end != -1)
        return end;
    if (options.key == NULL || options.message == NULL)
        return say_usage(options.key == NULL ? "--key is missing: which instance" : "--message is missing: its bytes");
    return call(&options);
}
