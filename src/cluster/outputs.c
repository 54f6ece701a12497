// SPDX-License-Identifier: Apache-2.0
// The way out: replies to the log, and then to whoever receives them. An output is known by the message that caused it
// and its number among that message's, so that one that is stored is not stored again.
#include "base/clock.h"
#include "base/status.h"
#include "cluster/server.h"

#include <slipring/dead_letter.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 64, SETTLE_NS = 200 * 1000 };

// Messages are counted by 31 bits of a correlation (port.h), and none is 2^31 messages ago.
static uint64_t message_of(const slr_server *server, uint32_t correlation)
{
    uint64_t next = server->sent - server->first_correlation + 2; // the port's number of the next message
    return server->sent + 1 - ((next - correlation) & 0x7fffffff);
}

slri_mark *slri_server_mark(slr_server *server, uint64_t message)
{
    if (message <= server->head.messages)
        return NULL;
    uint64_t at = message - server->head.messages - 1;
    while (at >= server->mark_capacity) {
        uint64_t capacity = server->mark_capacity ? 2 * server->mark_capacity : 4096;
        slri_mark *grown = realloc(server->marks, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + server->mark_capacity, 0, (capacity - server->mark_capacity) * sizeof *grown);
        server->marks = grown;
        server->mark_capacity = capacity;
    }
    if (at >= server->mark_count)
        server->mark_count = at + 1;
    return &server->marks[at];
}

uint32_t slri_output_sum(uint32_t index, const void *payload, size_t bytes)
{
    return (uint32_t)slri_sum_of(index, payload, bytes);
}

// ---- outputs that wait to be received ------------------------------------------------------------------------------

static slr_status grow_unread(slr_server *server, uint32_t least)
{
    uint32_t capacity = server->unread_capacity ? server->unread_capacity : 1024;
    while (capacity < least)
        capacity *= 2;
    slri_unread *heads = calloc(capacity, sizeof *heads);
    unsigned char *payloads = calloc(capacity, server->reply_step);
    if (!heads || !payloads) {
        free(heads);
        free(payloads);
        return SLRI_FAIL(NO_MEMORY, "no memory for %u outputs that wait to be received", capacity);
    }
    for (uint32_t i = 0; i < server->unread_count; ++i) {
        uint32_t from = (server->unread_at + i) & (server->unread_capacity - 1);
        heads[i] = server->unread[from];
        memcpy(payloads + i * server->reply_step, server->unread_payloads + from * server->reply_step,
               server->reply_step);
    }
    free(server->unread);
    free(server->unread_payloads);
    server->unread = heads;
    server->unread_payloads = payloads;
    server->unread_capacity = capacity;
    server->unread_at = 0;
    return SLR_OK;
}

static void add_unread(slr_server *server, const slri_unread *head, const void *payload)
{
    uint32_t at = (server->unread_at + server->unread_count++) & (server->unread_capacity - 1);
    server->unread[at] = *head;
    if (payload)
        memcpy(server->unread_payloads + at * server->reply_step, payload, server->shape.reply_bytes);
}

void slri_server_note_output(slr_server *server, const slri_frame_output *output, uint64_t sequence,
                             const void *payload)
{
    slri_unread head = {sequence, output->message, output->instance, output->index, SLR_OK, NULL};
    if (sequence > server->released.outputs && !server->follows)
        add_unread(server, &head, payload);
}

slr_status slri_server_reserve(slr_server *server, uint32_t outputs)
{
    if (server->unread_capacity - server->unread_count < outputs)
        SLRI_TRY(grow_unread(server, server->unread_count + outputs));
    if (server->out_record_count == server->out_record_capacity) {
        uint32_t capacity = server->out_record_capacity ? 2 * server->out_record_capacity : 256;
        uint64_t *grown = realloc(server->out_records, capacity * sizeof *grown);
        if (!grown)
            return SLRI_FAIL(NO_MEMORY, "no memory for %u records of outputs", capacity);
        server->out_records = grown;
        server->out_record_capacity = capacity;
    }
    return SLR_OK;
}

void slri_server_note_record(slr_server *server, uint64_t record, uint64_t first)
{
    if (server->follows) // its outputs are received from the log
        return;
    if (server->out_record_count == 0)
        server->out_first = record;
    server->out_records[server->out_record_count++] = first;
}

// ---- storing -------------------------------------------------------------------------------------------------------

// Whoever receives from the server has its table of keys; whoever receives from the log has none.
static uint32_t keys_of_outputs(const slr_server *server)
{
    return server->follows ? server->head.keys : 0;
}

slr_status slri_server_store(slr_server *server)
{
    if (server->out_count == 0)
        return SLR_OK;
    slri_frame_head head = slri_frame_head_of(&server->shape, SLRI_FRAME_OUT);
    head.producer = server->writer;
    head.number = server->out_id;
    head.first = server->outputs + 1;
    head.count = server->out_count;
    head.extra = keys_of_outputs(server);
    slri_append_part parts[] = {{&head, sizeof head}, {server->out, server->out_bytes}};
    const slri_log_engine *engine = server->log->engine;
    SLRI_TRY(slri_server_reserve(server, server->out_count)); // nothing may fail behind the append
    slri_told told = {0};
    SLRI_TRY(slri_server_tells(server, &told) ? engine->append_told(server->log, server->out_last, parts, 2, &told)
                                              : engine->append(server->log, SLRI_LOG_OUT, server->out_last, parts, 2));
    slri_server_note_record(server, ++server->out_last, head.first);
    server->out_id = slri_output_id(server->writer, server->out_last);
    const slri_frame frame = {.head = head, .entries = server->out, .bytes = server->out_bytes};
    slri_frame_output output;
    const void *payload;
    for (size_t at = 0; slri_frame_next_output(&server->shape, &frame, &at, &output, &payload);)
        slri_server_note_output(server, &output, ++server->outputs, payload);
    server->out_bytes = server->out_count = server->calls.fresh = 0;
    if (told.log)
        slri_server_answer_early(server, &told);
    return server->desc.sync == SLR_SYNC_ALWAYS ? engine->sync(server->log, SLRI_LOG_OUT) : SLR_OK;
}

// Stored before the restart: the log's counts, and whether this one is the same is noted.
static void compare_stored(slr_server *server, slri_mark *mark, const void *payload)
{
    mark->sum -= slri_output_sum(mark->seen, payload, server->shape.reply_bytes);
    if (++mark->seen == mark->stored && mark->sum != 0)
        server->stats.differing++;
}

// There is room for it.
static void add_output(slr_server *server, slri_frame_output output, const char *key, const unsigned char *payload)
{
    unsigned char *to = server->out + server->out_bytes;
    const size_t bytes = sizeof output + slri_pad(output.key_bytes) + server->reply_step;
    memset(to, 0, bytes);
    memcpy(to, &output, sizeof output);
    if (output.key_bytes)
        memcpy(to + sizeof output, key, output.key_bytes);
    memcpy(to + sizeof output + slri_pad(output.key_bytes), payload, server->shape.reply_bytes);
    server->out_bytes += bytes;
    server->out_count++;
}

static slr_status take_reply(slr_server *server, const slr_reply *reply, const unsigned char *payload)
{
    uint64_t message = message_of(server, reply->correlation);
    slri_mark *mark = slri_server_mark(server, message);
    if (!mark)
        return SLRI_FAIL(INTERNAL, "'%s': a reply to message %" PRIu64 ", which a snapshot has", server->head.handler,
                         message);
    if (mark->seen < mark->stored) {
        compare_stored(server, mark, payload);
        return slri_server_take_answer(server, message, SLR_OK, payload);
    }
    size_t key_bytes = 0;
    const char *key = NULL;
    if (keys_of_outputs(server))
        key = slri_keytable_bytes(&server->keys, &server->keys.keys[reply->from.instance], &key_bytes);
    if (server->out_bytes + sizeof(slri_frame_output) + slri_pad(key_bytes) + server->reply_step > server->out_capacity)
        SLRI_TRY(slri_server_store(server)); // where it fails, the reply is taken again
    if (server->trial.is_on)                 // another handler may have to make the same again
        mark->sum += slri_output_sum(mark->seen, payload, server->shape.reply_bytes);
    add_output(server, (slri_frame_output){message, reply->from.instance, mark->seen++, (uint16_t)key_bytes}, key,
               payload);
    const uint32_t answers = server->calls.answer_count;
    SLRI_TRY(slri_server_take_answer(server, message, SLR_OK, payload));
    server->calls.fresh += server->calls.answer_count - answers;
    return SLR_OK;
}

// ---- messages that faulted -----------------------------------------------------------------------------------------

// A notice of it waits to be received. Nothing may fail behind the append.
static slr_status append_letter(slr_server *server, const slri_append_part parts[], size_t count,
                                const slri_frame_letter *entry, const char *reason)
{
    char *fault = malloc(entry->reason_bytes + 1);
    if (!fault)
        return SLRI_FAIL(NO_MEMORY, "no memory for the reason of a dead letter");
    memcpy(fault, reason, entry->reason_bytes + 1);
    slr_status status = slri_server_reserve(server, 1);
    if (status == SLR_OK)
        status = server->log->engine->append(server->log, SLRI_LOG_DEAD, server->dead_last, parts, count);
    slri_unread notice = {0, entry->message, entry->instance, 0, SLR_HANDLER_FAULT, fault};
    if (status == SLR_OK && !server->follows)
        add_unread(server, &notice, NULL);
    else
        free(fault);
    if (status == SLR_OK && !server->first_fault[0])
        memcpy(server->first_fault, reason, entry->reason_bytes + 1);
    server->dead_last += status == SLR_OK;
    return status;
}

static slr_status store_letter(slr_server *server, const slr_dead_letter *letter, const unsigned char *message)
{
    uint64_t number = message_of(server, letter->correlation);
    slri_mark *mark = slri_server_mark(server, number);
    SLRI_TRY(slri_server_take_answer(server, number, SLR_HANDLER_FAULT, NULL));
    if (!mark || mark->is_dead)
        return SLR_OK; // stored before the restart
    slri_frame_head head = slri_frame_head_of(&server->shape, SLRI_FRAME_DEAD);
    slri_frame_letter entry = {number, letter->instance, (uint32_t)strlen(letter->fault)};
    char reason[sizeof letter->fault] = ""; // padded with zeros
    memcpy(reason, letter->fault, entry.reason_bytes);
    head.first = server->dead_last + 1;
    head.count = 1;
    slri_append_part parts[] = {{&head, sizeof head},
                                {&entry, sizeof entry},
                                {reason, slri_pad(entry.reason_bytes)},
                                {message, slri_pad(server->step)}};
    SLRI_TRY(append_letter(server, parts, sizeof parts / sizeof *parts, &entry, reason));
    mark->is_dead = 1;
    return SLR_OK;
}

static slr_status store_letters(slr_server *server)
{
    const size_t step = slri_pad(server->step);
    for (; server->letters_at < server->letters_count; server->letters_at++)
        SLRI_TRY(store_letter(server, &server->letter_heads[server->letters_at],
                              server->letters + server->letters_at * step));
    return SLR_OK;
}

static slr_status take_letters(slr_server *server)
{
    slr_ring_stats stats;
    SLRI_TRY(slr_ring_get_stats(server->ring, &stats));
    if (server->trial.is_on && stats.faulted > 0) { // the handler before it may do better
        server->letters_due = false;
        return slri_server_go_back(server);
    }
    SLRI_TRY(store_letters(server)); // for which there was no room
    do {
        server->letters_at = 0;
        SLRI_TRY(slr_ring_take_dead_letters(server->ring, server->letter_heads, server->letters, slri_pad(server->step),
                                            LETTERS, &server->letters_count));
        SLRI_TRY(store_letters(server));
    } while (server->letters_count == LETTERS);
    server->letters_due = false;
    return SLR_OK;
}

// ---- taking --------------------------------------------------------------------------------------------------------

// What slr_receive_many gave. Where the log has no room, the rest stays for the next call.
static slr_status take_replies(slr_server *server)
{
    for (; server->replies_at < server->replies_count; server->replies_at++) {
        const slr_reply *reply = &server->replies[server->replies_at];
        if (reply->status != SLR_OK && server->trial.is_on) // replies after it may have missed what it does
            return slri_server_go_back(server);
        if (reply->status != SLR_OK)
            server->letters_due = true;
        else
            SLRI_TRY(take_reply(server, reply, server->received + server->replies_at * server->reply_step));
    }
    return SLR_OK;
}

static slr_status take_once(slr_server *server, uint64_t timeout_ns, uint32_t *count)
{
    *count = server->came = 0;
    SLRI_TRY(take_replies(server));
    slr_status status = slr_receive_many(server->port, server->replies, server->received, server->reply_step,
                                         SLRI_REPLIES, timeout_ns, count);
    if (status == SLR_TIMEOUT || status == SLR_END)
        return SLR_OK;
    SLRI_TRY(status);
    server->came = server->replies_count = *count;
    server->replies_at = 0;
    return take_replies(server);
}

slr_status slri_server_pump(slr_server *server, uint64_t timeout_ns)
{
    uint32_t count;
    do {
        SLRI_TRY(take_once(server, timeout_ns, &count));
        timeout_ns = 0;
    } while (count == SLRI_REPLIES);
    SLRI_TRY(slri_server_store(server));
    return server->letters_due ? take_letters(server) : SLR_OK;
}

// Messages that were handled again, and then had fewer outputs than the first time: no reply came that shows it.
static void count_missing(slr_server *server)
{
    for (uint64_t i = 0; server->compare_is_due && i < server->mark_count; ++i)
        server->stats.differing += server->marks[i].seen < server->marks[i].stored;
    server->compare_is_due = false;
}

slr_status slri_server_settle(slr_server *server, uint64_t deadline_ns)
{
    SLRI_TRY(slri_server_accept(server, deadline_ns));
    SLRI_TRY(slri_server_hand_over(server, 0, deadline_ns));
    for (;;) {
        slr_ring_stats stats;
        SLRI_TRY(slr_ring_get_stats(server->ring, &stats));
        // Replies are published before their message leaves `pending`: once that is 0, none comes after these.
        SLRI_TRY(slri_server_pump(server, stats.pending > 0 ? SETTLE_NS : 0));
        if (stats.state == SLR_RING_IN_FAILURE)
            return SLRI_FAIL(RING_FAILED, "'%s' has failed: %s", server->head.handler, stats.last_failure);
        if (stats.pending == 0) {
            const slr_ring *ring = server->ring;
            SLRI_TRY(take_letters(server));
            if (ring == server->ring) {
                count_missing(server);
                return SLR_OK;
            }
        }
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT, "'%s': %" PRIu64 " messages are not handled yet", server->head.handler,
                             stats.pending);
    }
}

// ---- the calls -----------------------------------------------------------------------------------------------------

static void fill_key(const slr_server *server, uint32_t instance, slr_key *out)
{
    *out = server->head.keys ? server->keys.keys[instance] : slr_key_u64(instance);
}

// Frames that wait go on meanwhile. Replies may be outputs that are stored already.
static slr_status await_output(slr_server *server, uint64_t timeout_ns)
{
    const uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    while (server->unread_count == 0 && server->waiting > 0) {
        slr_status status = slri_server_hand_over(server, server->waiting - 1, slri_deadline_after(SETTLE_NS));
        if (status != SLR_OK && status != SLR_TIMEOUT)
            return status;
        if (slri_passed(deadline_ns))
            break;
    }
    for (server->came = 1; server->unread_count == 0 && server->came > 0; timeout_ns = 0)
        SLRI_TRY(slri_server_pump(server, timeout_ns));
    return SLR_OK;
}

slr_status slr_server_receive(slr_server *server, slr_output *out, void *payload, size_t capacity, uint64_t timeout_ns)
{
    if (!server || !out)
        return SLRI_FAIL(INVALID, "slr_server_receive: %s is NULL", server ? "out" : "server");
    SLRI_TRY(await_output(server, timeout_ns));
    if (server->unread_count == 0)
        return SLRI_FAIL(TIMEOUT, "'%s' has no output for slr_server_receive", server->head.handler);
    const uint32_t at = server->unread_at;
    const slri_unread *head = &server->unread[at];
    uint32_t bytes = head->status == SLR_OK ? server->shape.reply_bytes : 0;
    if (bytes > capacity || (bytes && !payload))
        return SLRI_FAIL(INVALID, "'%s' has outputs of %u B; slr_server_receive was given room for %zu B",
                         server->head.handler, bytes, payload ? capacity : 0);
    *out = (slr_output){.sequence = head->sequence,
                        .message = head->message,
                        .instance = head->instance,
                        .index = head->index,
                        .status = (slr_status)head->status,
                        .bytes = bytes};
    fill_key(server, head->instance, &out->key);
    if (bytes)
        memcpy(payload, server->unread_payloads + at * server->reply_step, bytes);
    if (head->sequence)
        server->received_last = head->sequence;
    free(server->fault);
    server->fault = head->fault;
    server->unread_at = (at + 1) & (server->unread_capacity - 1);
    server->unread_count--;
    return SLR_OK;
}

const char *slr_server_get_fault(const slr_server *server)
{
    return server && server->fault ? server->fault : "";
}

slr_status slr_server_get_fd(slr_server *server, int *out)
{
    if (!server)
        return SLRI_FAIL(INVALID, "slr_server_get_fd: server is NULL");
    return slr_port_get_fd(server->port, out);
}

slr_status slr_server_settle(slr_server *server, uint64_t timeout_ns)
{
    if (!server)
        return SLRI_FAIL(INVALID, "slr_server_settle: server is NULL");
    return slri_server_settle(server, slri_deadline_after(timeout_ns));
}

static slr_status purge_outputs(slr_server *server)
{
    uint32_t gone = 0;
    while (gone + 1 < server->out_record_count && server->out_records[gone + 1] <= server->released.outputs + 1)
        ++gone;
    if (gone == 0)
        return SLR_OK;
    server->out_record_count -= gone;
    memmove(server->out_records, server->out_records + gone, server->out_record_count * sizeof *server->out_records);
    server->out_first += gone;
    // Those since the snapshot are still needed: they say what is stored.
    uint64_t up_to = server->out_first - 1 < server->head.out_last ? server->out_first - 1 : server->head.out_last;
    return server->log->engine->purge(server->log, SLRI_LOG_OUT, up_to);
}

slr_status slr_server_release(slr_server *server, uint64_t sequence, const void *note, size_t bytes)
{
    if (!server || bytes > SLRI_NOTE_BYTES || (bytes && !note))
        return SLRI_FAIL(INVALID, "slr_server_release: server is NULL, or a note of %zu B is not one of at most %u B",
                         bytes, SLRI_NOTE_BYTES);
    if (sequence < server->released.outputs || sequence > server->received_last)
        return SLRI_FAIL(INVALID, "slr_server_release: output %" PRIu64 " is not between %" PRIu64 " and %" PRIu64,
                         sequence, server->released.outputs, server->received_last);
    slri_released next = {.outputs = sequence};
    if (bytes)
        memcpy(next.note, note, bytes);
    const slri_log_engine *engine = server->log->engine;
    SLRI_TRY(engine->sync(server->log, SLRI_LOG_IN)); // what is released was stored, and its messages
    SLRI_TRY(engine->sync(server->log, SLRI_LOG_OUT));
    SLRI_TRY(engine->cas(server->log, SLRI_RELEASED_KEY, &server->released_revision, &next, sizeof next));
    server->released = next;
    return purge_outputs(server);
}

slr_status slr_server_get_note(const slr_server *server, void *note, size_t bytes)
{
    if (!server || !note || bytes > SLRI_NOTE_BYTES)
        return SLRI_FAIL(INVALID, "slr_server_get_note: NULL, or more than %u B", SLRI_NOTE_BYTES);
    memcpy(note, server->released.note, bytes);
    return SLR_OK;
}

slr_status slr_server_get_key(const slr_server *server, uint32_t instance, slr_key *out)
{
    if (!server || !out)
        return SLRI_FAIL(INVALID, "slr_server_get_key: %s is NULL", server ? "out" : "server");
    if (instance >= (server->head.keys ? server->keys.count : server->shape.instances))
        return SLRI_FAIL(NOT_FOUND, "'%s' has no key for instance %u", server->head.handler, instance);
    fill_key(server, instance, out);
    return SLR_OK;
}
