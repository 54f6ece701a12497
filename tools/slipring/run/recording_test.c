// SPDX-License-Identifier: Apache-2.0
// Recordings, written and read back: whole, cut off and damaged.
#include "memory.h"
#include "run/player.h"
#include "run/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct message {
    int id;
};
struct reply {
    char kind;
    float value;
};

static const slr_field message_fields[] = {{.name = "id", .scalar = SLR_I32, .count = 1}};
static const slr_field reply_fields[] = {
    {.name = "kind", .scalar = SLR_I8, .count = 1},
    {.name = "value", .scalar = SLR_F32, .count = 1, .offset = offsetof(struct reply, value)},
};
static const slr_handler_info handler = {.name = "judge",
                                         .message = {"message", sizeof(struct message), message_fields, 1},
                                         .reply = {"reply", sizeof(struct reply), reply_fields, 2}};

typedef struct file {
    unsigned char *bytes;
    size_t count;
} file;

static recorder recorder_to(FILE *to)
{
    recorder recorder;
    recording_header header = recording_header_of(&handler, 3, 2);
    recorder_open(&recorder, fileno(to), &header, &handler.reply);
    return recorder;
}

static file contents(FILE *from)
{
    file file = {.bytes = memory_take(1 << 22, 1)};
    rewind(from);
    file.count = fread(file.bytes, 1, 1 << 22, from);
    fclose(from);
    return file;
}

static void answer(recorder *recorder, uint64_t number, slr_status status, char kind)
{
    struct reply reply;
    memset(&reply, 0xaa, sizeof reply); // what lies between fields is not recorded
    reply.kind = kind;
    reply.value = (float)number;
    recorder_reply(recorder, number, status, (unsigned char *)&reply);
}

// Messages 0 to `count` - 1: the third one has two replies, the fourth a fault, the fifth none. Replies come in any
// order.
static file record(uint32_t count, uint32_t settle_every)
{
    FILE *to = tmpfile();
    assert_non_null(to);
    recorder recorder = recorder_to(to);
    for (uint32_t first = 0; first < count; first += settle_every) {
        uint32_t end = first + settle_every < count ? first + settle_every : count;
        for (uint32_t i = first; i < end; i++)
            recorder_message(&recorder, i % 3, (unsigned char *)&(struct message){(int)i});
        for (uint32_t i = end; i-- > first;) {
            if (i != 4)
                answer(&recorder, i, i == 3 ? SLR_HANDLER_FAULT : SLR_OK, 'a');
            if (i == 2)
                answer(&recorder, i, SLR_OK, 'b');
        }
        recorder_settle(&recorder);
    }
    assert_int_equal(recorder_end(&recorder), 0);
    assert_int_equal(recorder.error, 0);
    recorder_close(&recorder);
    return contents(to);
}

// Gives the player all bytes, `piece` at a time, until it wants no more.
static play_result ask(player *player, play_result (*what)(struct player *player), file *file, size_t *at, size_t piece)
{
    play_result result;
    while ((result = what(player)) == PLAY_MORE) {
        size_t space, now = file->count - *at < piece ? file->count - *at : piece;
        char *to = intake_space(&player->bytes, &space);
        now = now < space ? now : space;
        memcpy(to, file->bytes + *at, now);
        intake_put(&player->bytes, now);
        *at += now;
    }
    return result;
}

// Plays all; the last result, and the messages that came in whole blocks.
static play_result play(file *file, size_t piece, player *player)
{
    size_t at = 0;
    player_open(player);
    play_result result = ask(player, player_header, file, &at, piece);
    while (result == PLAY_READY)
        result = ask(player, player_next, file, &at, piece);
    return result;
}

static void messages_come_back_in_order_each_with_its_replies(void **state)
{
    (void)state;
    file file = record(6, 6);
    player player;
    play_message message;
    slr_status status;
    const unsigned char *payload;
    size_t at = 0;
    player_open(&player);
    assert_int_equal(ask(&player, player_header, &file, &at, 7), PLAY_READY);
    assert_string_equal(player.header.handler, "judge");
    assert_int_equal(player.header.instances, 3);
    assert_int_equal(ask(&player, player_next, &file, &at, 7), PLAY_READY);
    static const uint32_t replies[] = {1, 1, 2, 1, 0, 1};
    for (uint32_t i = 0; i < 6; i++) {
        int id;
        assert_true(player_message(&player, &message));
        memcpy(&id, message.bytes, sizeof id);
        assert_int_equal(message.number, i);
        assert_int_equal(id, i);
        assert_int_equal(message.instance, i % 3);
        assert_int_equal(message.replies, replies[i]);
        for (uint32_t k = 0; player_reply(&player, &message, &status, &payload); k++) {
            assert_int_equal(status, i == 3 ? SLR_HANDLER_FAULT : SLR_OK);
            if (status != SLR_OK)
                continue;
            struct reply wanted = {0};
            wanted.kind = k == 0 ? 'a' : 'b';
            wanted.value = (float)i;
            assert_memory_equal(payload, &wanted, sizeof wanted);
        }
    }
    assert_false(player_message(&player, &message));
    player_rewind(&player);
    assert_true(player_message(&player, &message) && message.number == 0);
    assert_int_equal(ask(&player, player_next, &file, &at, 7), PLAY_END);
    assert_int_equal(player.messages, 6);
    player_close(&player);
    free(file.bytes);
}

static void the_bytes_do_not_depend_on_when_replies_came(void **state)
{
    (void)state;
    file all = record(10000, 10000), some = record(10000, 777);
    assert_int_equal(all.count, some.count);
    assert_memory_equal(all.bytes, some.bytes, all.count);
    player player;
    assert_int_equal(play(&all, 65536, &player), PLAY_END);
    assert_int_equal(player.messages, 10000);
    player_close(&player);
    free(all.bytes);
    free(some.bytes);
}

static void a_file_that_is_cut_off_anywhere_is_refused_with_the_place(void **state)
{
    (void)state;
    file file = record(6, 6), cut = file;
    for (cut.count = 0; cut.count < file.count; cut.count++) {
        player player;
        char place[64];
        assert_int_equal(play(&cut, 50, &player), PLAY_BAD);
        snprintf(place, sizeof place, "it ends at byte %zu, inside the ", cut.count);
        if (cut.count > 0 && strstr(player.problem, place) == NULL)
            fail_msg("cut at %zu: %s", cut.count, player.problem);
        player_close(&player);
    }
    free(file.bytes);
}

static void a_bit_that_is_changed_anywhere_is_noticed(void **state)
{
    (void)state;
    file file = record(6, 6);
    for (size_t bit = 0; bit < 8 * file.count; bit++) {
        player player;
        file.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (play(&file, 1000, &player) != PLAY_BAD || *player.problem == '\0')
            fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
        file.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        player_close(&player);
    }
    free(file.bytes);
}

static void a_cut_is_told_from_damage_and_leaves_the_whole_blocks(void **state)
{
    (void)state;
    file file = record(9000, 3000), cut = file; // blocks of 4,096, 4,096 and 808 messages
    for (cut.count = 8; cut.count < file.count; cut.count += 997) {
        player player;
        assert_int_equal(play(&cut, 4096, &player), PLAY_BAD);
        assert_true(player.is_cut);
        assert_true(player.messages == 0 || player.messages == 4096 || player.messages == 8192);
        player_close(&player);
    }
    cut.count = file.count - sizeof(recording_block); // all but the end
    player player;
    assert_int_equal(play(&cut, 4096, &player), PLAY_BAD);
    assert_true(player.is_cut);
    assert_int_equal(player.messages, 9000);
    player_close(&player);
    for (size_t bit = 0; bit < 8 * sizeof(recording_block); bit++) { // a damaged length may reach past the file's end
        size_t at = sizeof(recording_header) + bit / 8;
        file.bytes[at] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(play(&file, 4096, &player), PLAY_BAD);
        if (player.is_cut)
            fail_msg("bit %zu of the head: %s", bit, player.problem);
        file.bytes[at] ^= (unsigned char)(1 << bit % 8);
        player_close(&player);
    }
    free(file.bytes);
}

static void what_else_is_no_recording_is_said(void **state)
{
    (void)state;
    player player;
    file file = {(unsigned char *)"a,b\n1,2\n", 8};
    assert_int_equal(play(&file, 3, &player), PLAY_BAD);
    assert_string_equal(player.problem, "it is not a recording");
    player_close(&player);
    recording_header header = recording_header_of(&handler, 3, 2);
    header.version = 9;
    file = (struct file){(unsigned char *)&header, sizeof header};
    assert_int_equal(play(&file, 1000, &player), PLAY_BAD);
    assert_string_equal(player.problem, "its format version is 9; this program reads version 1");
    player_close(&player);
}

static void messages_that_were_not_all_answered_are_left_out(void **state)
{
    (void)state;
    FILE *to = tmpfile();
    assert_non_null(to);
    recorder recorder = recorder_to(to);
    recorder_message(&recorder, 0, (unsigned char *)&(struct message){1});
    recorder_settle(&recorder);
    recorder_message(&recorder, 0, (unsigned char *)&(struct message){2});
    assert_int_equal(recorder_end(&recorder), 1);
    recorder_close(&recorder);
    file file = contents(to);
    player player;
    assert_int_equal(play(&file, 1000, &player), PLAY_END);
    assert_int_equal(player.messages, 1);
    player_close(&player);
    free(file.bytes);
}

static void another_layout_gives_another_header(void **state)
{
    (void)state;
    recording_header first = recording_header_of(&handler, 3, 2);
    slr_field fields[2] = {reply_fields[0], reply_fields[1]};
    slr_handler_info other = handler;
    other.reply.fields = fields;
    assert_int_equal(recording_header_of(&other, 3, 2).layouts, first.layouts);
    fields[1].name = "worth";
    assert_int_not_equal(recording_header_of(&other, 3, 2).layouts, first.layouts);
    fields[1] = reply_fields[1];
    fields[0].scalar = SLR_U8;
    assert_int_not_equal(recording_header_of(&other, 3, 2).layouts, first.layouts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_back_in_order_each_with_its_replies),
        cmocka_unit_test(the_bytes_do_not_depend_on_when_replies_came),
        cmocka_unit_test(a_file_that_is_cut_off_anywhere_is_refused_with_the_place),
        cmocka_unit_test(a_bit_that_is_changed_anywhere_is_noticed),
        cmocka_unit_test(a_cut_is_told_from_damage_and_leaves_the_whole_blocks),
        cmocka_unit_test(what_else_is_no_recording_is_said),
        cmocka_unit_test(messages_that_were_not_all_answered_are_left_out),
        cmocka_unit_test(another_layout_gives_another_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
