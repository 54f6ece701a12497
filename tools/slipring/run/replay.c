// SPDX-License-Identifier: Apache-2.0
// `slipring run --replay`: sends a recording's messages again, a block at a time, and compares the replies.
#include "clock.h"
#include "interrupt.h"
#include "kernel/kernel.h"
#include "run/layout.h"
#include "memory.h"
#include "number.h"
#include "run/run.h"
#include "say.h"
#include "system.h"
#include "verbs.h"
#include "kernel/kernel.h"

#include <jansson.h>
#include <slipring/api.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the recording -------------------------------------------------------------------------------------------------

static int refuse(const run *run, const char *why)
{
    say("--replay: '%s': %s", run->options.replay, why);
    return EXIT_FAILED;
}

// Asks until the player has what it wants. PLAY_BAD: that has been said, unless the file is cut off.
static play_result play(run *run, play_result (*ask)(player *player))
{
    play_result result;
    while ((result = ask(&run->player)) == PLAY_MORE) {
        size_t space = 0;
        char *to = intake_space(&run->player.bytes, &space);
        ssize_t got = to != NULL ? read(run->input, to, space) : -1;
        if (got < 0 && to != NULL && errno == EINTR)
            continue;
        if (got < 0) {
            refuse(run, to == NULL ? "a block is too large" : strerror(errno));
            return PLAY_BAD;
        }
        intake_put(&run->player.bytes, (size_t)got);
    }
    if (result == PLAY_BAD && !run->player.is_cut)
        refuse(run, run->player.problem);
    return result;
}

int run_open_replay(run *run)
{
    run->input = system_open_to_read(run->options.replay);
    if (run->input < 0)
        return refuse(run, strerror(errno));
    player_open(&run->player);
    if (play(run, player_header) != PLAY_READY)
        return run->player.is_cut ? refuse(run, run->player.problem) : EXIT_FAILED;
    run->options.instances = run->player.header.instances;
    run->options.replies = run->player.header.max_replies;
    return EXIT_DONE;
}

int run_check_replay(run *run)
{
    const recording_header *there = &run->player.header;
    recording_header here = recording_header_of(&run->handler, there->instances, there->max_replies);
    char why[512];
    slr_status status = bindings_checksum(&run->bindings, &here.bindings);
    if (status != SLR_OK)
        return say_failure(status, "--replay");
    if (strcmp(here.handler, there->handler) != 0) {
        snprintf(why, sizeof why, "it was recorded from the handler '%s', not '%s'", there->handler, here.handler);
    } else if (here.message_bytes != there->message_bytes || here.reply_bytes != there->reply_bytes) {
        snprintf(why, sizeof why, "its messages have %u bytes and its replies %u; those of %s have %u and %u",
                 there->message_bytes, there->reply_bytes, here.handler, here.message_bytes, here.reply_bytes);
    } else if (here.layouts != there->layouts) {
        snprintf(why, sizeof why, "the fields of %s's message or reply differ from the recorded ones", here.handler);
    } else if (here.bindings != there->bindings) {
        snprintf(why, sizeof why, "the values of --bind differ from the recorded ones");
    } else {
        return tolerances_check(&run->options.tolerances, &run->handler.reply);
    }
    return refuse(run, why);
}

// ---- comparing -----------------------------------------------------------------------------------------------------

typedef struct difference {
    uint64_t message; // from 1
    uint32_t instance, reply;
    char field[300], recorded[96], now[96]; // field "": the reply as a whole
} difference;

typedef struct replay {
    run *run;
    window replies;      // status and payload
    unsigned char *slot; // one of them
    uint64_t messages, compared;
    bool differs;
    difference difference;
} replay;

static bool gives_up(void *user)
{
    (void)user;
    return interrupted();
}

static void note_reply(void *user, const slr_reply *reply, const unsigned char *payload, uint64_t number, uint64_t line)
{
    (void)line;
    replay *replay = user;
    memcpy(replay->slot, &reply->status, sizeof reply->status);
    if (reply->status == SLR_OK)
        memcpy(replay->slot + sizeof reply->status, payload, replay->run->handler.reply.bytes);
    window_add(&replay->replies, number, reply->from.instance, replay->slot);
}

// The same bits; of two NANs, any (docs/contract/kernels.md).
static bool same_value(slr_scalar scalar, const unsigned char *a, const unsigned char *b)
{
    double double_a, double_b;
    float float_a, float_b;
    if (memcmp(a, b, number_bytes(scalar)) == 0)
        return true;
    if (scalar == SLR_F32) {
        memcpy(&float_a, a, sizeof float_a);
        memcpy(&float_b, b, sizeof float_b);
        return isnan(float_a) && isnan(float_b);
    }
    if (scalar != SLR_F64)
        return false;
    memcpy(&double_a, a, sizeof double_a);
    memcpy(&double_b, b, sizeof double_b);
    return isnan(double_a) && isnan(double_b);
}

static bool differ(replay *replay, const char *field, const char *recorded, const char *now)
{
    difference *out = &replay->difference;
    snprintf(out->field, sizeof out->field, "%s", field);
    snprintf(out->recorded, sizeof out->recorded, "%s", recorded);
    snprintf(out->now, sizeof out->now, "%s", now);
    replay->differs = true;
    return false;
}

static bool compare_text(replay *replay, const slr_field *field, const unsigned char *recorded,
                         const unsigned char *now)
{
    char text_a[96], text_b[96];
    size_t bytes = layout_text_bytes(field, recorded), bytes_now = layout_text_bytes(field, now);
    if (bytes == bytes_now && memcmp(recorded, now, bytes) == 0)
        return true;
    snprintf(text_a, sizeof text_a, "'%.*s'", (int)(bytes < 90 ? bytes : 90), (const char *)recorded);
    snprintf(text_b, sizeof text_b, "'%.*s'", (int)(bytes_now < 90 ? bytes_now : 90), (const char *)now);
    return differ(replay, field->name, text_a, text_b);
}

static bool compare_field(replay *replay, const slr_field *field, const unsigned char *recorded,
                          const unsigned char *now)
{
    if (field->is_text)
        return compare_text(replay, field, recorded + field->offset, now + field->offset);
    size_t bytes = number_bytes(field->scalar);
    for (uint32_t k = 0; k < field->count; k++) {
        const unsigned char *a = recorded + field->offset + k * bytes, *b = now + field->offset + k * bytes;
        char name[300], text_a[NUMBER_TEXT_MAX], text_b[NUMBER_TEXT_MAX];
        if (same_value(field->scalar, a, b) ||
            tolerances_allow(&replay->run->options.tolerances, field, a, b, replay->difference.message))
            continue;
        snprintf(name, sizeof name, field->is_array ? "%.250s[%u]" : "%.250s", field->name, k);
        number_print(field->scalar, a, text_a);
        number_print(field->scalar, b, text_b);
        return differ(replay, name, text_a, text_b);
    }
    return true;
}

static const char *kind_of(slr_status status)
{
    return status == SLR_OK ? "a reply" : slr_status_name(status);
}

static bool compare_reply(replay *replay, slr_status recorded, const unsigned char *payload, const unsigned char *now)
{
    const slr_layout *layout = &replay->run->handler.reply;
    slr_status status;
    memcpy(&status, now, sizeof status);
    replay->compared++;
    if (status != recorded)
        return differ(replay, "", kind_of(recorded), kind_of(status));
    for (uint32_t i = 0; status == SLR_OK && i < layout->field_count; i++) {
        if (!compare_field(replay, &layout->fields[i], payload, now + sizeof status))
            return false;
    }
    return true;
}

// `at`: the first reply held that has not been compared; goes on to that of the next message.
static bool compare_message(replay *replay, play_message *message, uint32_t *at)
{
    const window *held = &replay->replies;
    uint32_t recorded = message->replies, first = *at;
    slr_status status;
    const unsigned char *payload;
    replay->difference.message = message->number + 1;
    replay->difference.instance = message->instance;
    while (*at < held->count && window_number(held, *at) == message->number) {
        replay->difference.reply = *at - first + 1;
        if (!player_reply(&replay->run->player, message, &status, &payload))
            break;
        if (!compare_reply(replay, status, payload, window_payload(held, (*at)++)))
            return false;
    }
    uint32_t now = *at - first;
    bool more = *at < held->count && window_number(held, *at) == message->number;
    if (now == recorded && !more)
        return true;
    replay->difference.reply = now + 1;
    return differ(replay, "", more ? "none" : "a reply", more ? "a reply" : "none");
}

static void compare_block(replay *replay)
{
    play_message message;
    uint32_t at = 0;
    window_sort(&replay->replies);
    player_rewind(&replay->run->player);
    while (player_message(&replay->run->player, &message) && compare_message(replay, &message, &at))
        ;
    window_clear(&replay->replies);
}

// ---- replaying -----------------------------------------------------------------------------------------------------

static slr_status send_block(replay *replay)
{
    run *run = replay->run;
    play_message message;
    slr_status status = SLR_OK;
    while (status == SLR_OK && player_message(&run->player, &message)) {
        memcpy(feed_slot(&run->feed), message.bytes, run->feed.message_bytes);
        status = feed_commit(&run->feed, message.instance, message.number + 1);
        replay->messages++;
    }
    return status == SLR_OK ? feed_settle(&run->feed) : status;
}

// A recording whose writer was killed holds all up to the last whole block, and is good for as much. Where that is
// nothing, nothing was compared. An exit code.
static int end_at_cut(const replay *replay)
{
    if (replay->messages == 0)
        return refuse(replay->run, replay->run->player.problem);
    say("--replay: '%s': %s and were sent again", replay->run->options.replay, replay->run->player.problem);
    return EXIT_DONE;
}

// An exit code. Ends at the first block that has a difference.
static int play_all(replay *replay)
{
    run *run = replay->run;
    play_result result = PLAY_READY;
    slr_status status = SLR_OK;
    while (status == SLR_OK && !replay->differs && (result = play(run, player_next)) == PLAY_READY) {
        status = send_block(replay);
        if (status == SLR_OK)
            compare_block(replay);
    }
    if (interrupted()) {
        say("interrupted: %" PRIu64 " messages sent again", replay->messages);
        return interrupt_exit_code();
    }
    if (status != SLR_OK)
        return say_failure(status, run->handler.name);
    if (result == PLAY_BAD && run->player.is_cut)
        return end_at_cut(replay);
    return result == PLAY_BAD || replay->differs ? EXIT_FAILED : EXIT_DONE;
}

static void print_text(const replay *replay)
{
    const difference *difference = &replay->difference;
    const tolerances *within = &replay->run->options.tolerances;
    if (replay->differs)
        say_out("message %" PRIu64 ", instance %u: reply %u%s%s: recorded %s, now %s\n", difference->message,
                difference->instance, difference->reply, *difference->field ? ", field " : "", difference->field,
                difference->recorded, difference->now);
    else
        say_out("%" PRIu64 " messages, %" PRIu64 " replies, all %s; on %s, %s\n", replay->messages, replay->compared,
                within->values > 0 ? "within the tolerance" : "as recorded", replay->run->device_info.name,
                replay->run->device_info.engine);
    if (within->values > 0)
        say_out("%" PRIu64 " values differ within the tolerance, by at most %.3g of the larger: message %" PRIu64
                ", field %s\n",
                within->values, within->most, within->most_message, within->most_field);
}

static json_t *within_json(const tolerances *within)
{
    if (within->count == 0)
        return json_null();
    return json_pack("{s:I, s:f, s:I, s:o}", "values", (json_int_t)within->values, "most_relative", within->most,
                     "message", (json_int_t)within->most_message, "field", kernel_text(within->most_field));
}

static void print_json(const replay *replay)
{
    const difference *difference = &replay->difference;
    json_t *found = json_null();
    if (replay->differs)
        found = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "message", (json_int_t)difference->message, "instance",
                          (json_int_t)difference->instance, "reply", (json_int_t)difference->reply, "field",
                          kernel_text(difference->field), "recorded", kernel_text(difference->recorded), "now",
                          kernel_text(difference->now));
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "version", SLR_VERSION, "device",
        kernel_text(replay->run->device_info.name), "engine", kernel_text(replay->run->device_info.engine), "handler",
        kernel_text(replay->run->handler.name), "recording", kernel_text(replay->run->options.replay), "messages",
        (json_int_t)replay->messages, "replies", (json_int_t)replay->compared, "difference", found);
    json_object_set_new(object, "within_tolerance", within_json(&replay->run->options.tolerances));
    json_object_set_new(object, "cut_off", json_boolean(replay->run->player.is_cut));
    json_dumpf(object, stdout, 0); // one line, as --json always
    putchar('\n');
    json_decref(object);
}

int run_replay(run *run)
{
    replay replay = {.run = run};
    size_t bytes = sizeof(slr_status) + run->handler.reply.bytes;
    replay.slot = memory_take(bytes, 1);
    window_open(&replay.replies, bytes);
    run->feed.on_reply = note_reply;
    run->feed.user = &replay;
    run->feed.give_up = gives_up;
    run->counts.start_ns = clock_ns();
    int end = play_all(&replay);
    feed_finish(&run->feed, false, &run->counts.ring);
    run->counts.end_ns = clock_ns();
    run->counts.rows = replay.messages;
    run->counts.replies = replay.compared;
    if (end == EXIT_DONE || replay.differs)
        (run->options.json ? print_json : print_text)(&replay);
    run_stop(run, interrupted() ? RUN_INTERRUPTED : end == EXIT_DONE ? RUN_INPUT_ENDED : RUN_STOPPED);
    if (run->options.stats)
        run_report_stats(run);
    window_close(&replay.replies);
    free(replay.slot);
    return end;
}
