// SPDX-License-Identifier: Apache-2.0
// Calls: messages whose senders wait for the reply. The log has the message before it is handled, and the output before
// its sender gets it. Who takes a partition over answers the calls that no snapshot has, again.
#include "base/status.h"
#include "cluster/server.h"

#include <stdlib.h>
#include <string.h>

slr_status slri_server_note_call(slr_server *server, uint64_t message, uint64_t producer, uint64_t number)
{
    slri_remote_calls *calls = &server->calls;
    for (uint32_t i = 0; i < calls->count; ++i) {
        if (calls->list[i].message == message)
            return SLR_OK; // it is handled again, by the handler before
    }
    if (calls->count == calls->capacity) {
        uint32_t capacity = calls->capacity ? 2 * calls->capacity : 64;
        slri_remote_call *grown = realloc(calls->list, capacity * sizeof *grown);
        if (!grown)
            return SLRI_FAIL(NO_MEMORY, "no memory for %u calls", capacity);
        calls->list = grown;
        calls->capacity = capacity;
    }
    calls->list[calls->count++] = (slri_remote_call){message, producer, number};
    return SLR_OK;
}

static size_t answer_step(const slr_server *server)
{
    return sizeof(uint64_t) + sizeof(slri_remote_answer) + slri_pad(server->shape.reply_bytes);
}

static slr_status reserve_answer(slr_server *server)
{
    slri_remote_calls *calls = &server->calls;
    if (calls->answer_count < calls->answer_capacity)
        return SLR_OK;
    uint32_t capacity = calls->answer_capacity ? 2 * calls->answer_capacity : 64;
    unsigned char *grown = realloc(calls->answers, capacity * answer_step(server));
    if (!grown)
        return SLRI_FAIL(NO_MEMORY, "no memory for %u answers", capacity);
    calls->answers = grown;
    calls->answer_capacity = capacity;
    return SLR_OK;
}

// Answers the call at `at`, which leaves the list.
static slr_status answer_call(slr_server *server, uint32_t at, slr_status status, const void *payload)
{
    slri_remote_calls *calls = &server->calls;
    SLRI_TRY(reserve_answer(server));
    const slri_remote_call call = calls->list[at];
    const slri_remote_answer answer = {
        .number = call.number, .partition = server->partition, .status = (uint32_t)status};
    unsigned char *to = calls->answers + calls->answer_count++ * answer_step(server);
    memset(to, 0, answer_step(server));
    memcpy(to, &call.producer, sizeof call.producer);
    memcpy(to + sizeof call.producer, &answer, sizeof answer);
    if (payload && server->shape.reply_bytes)
        memcpy(to + sizeof call.producer + sizeof answer, payload, server->shape.reply_bytes);
    calls->count--;
    memmove(&calls->list[at], &calls->list[at + 1], (calls->count - at) * sizeof call);
    return SLR_OK;
}

slr_status slri_server_take_answer(slr_server *server, uint64_t message, slr_status status, const void *payload)
{
    for (uint32_t i = 0; i < server->calls.count; ++i) {
        if (server->calls.list[i].message == message)
            return answer_call(server, i, status, payload);
    }
    return SLR_OK;
}

slr_status slri_server_end_calls(slr_server *server)
{
    for (uint32_t i = server->calls.count; i-- > 0;) {
        if (server->calls.list[i].message <= server->head.messages)
            SLRI_TRY(answer_call(server, i, SLR_END, NULL));
    }
    return SLR_OK;
}

bool slri_server_tells(const slr_server *server, slri_told *out)
{
    const slri_remote_calls *calls = &server->calls;
    uint64_t first, other;
    if (calls->answer_count == 0 || calls->fresh != calls->answer_count || !server->log->engine->append_told)
        return false;
    memcpy(&first, calls->answers, sizeof first);
    for (uint32_t i = 1; i < calls->answer_count; ++i) {
        memcpy(&other, calls->answers + i * answer_step(server), sizeof other);
        if (other != first)
            return false;
    }
    *out = (slri_told){.producer = first};
    const size_t bytes = answer_step(server) - sizeof first;
    if (calls->answer_count == 1 && bytes <= SLRI_TOLD_ANSWER) {
        out->answer = calls->answers + sizeof first;
        out->bytes = bytes;
    }
    return true;
}

// One that is lost is as one that is lost on its way: the output is stored.
static void send_answer(slr_server *server, uint32_t at, uint64_t log)
{
    unsigned char *from = server->calls.answers + at * answer_step(server);
    uint64_t producer;
    slri_remote_answer answer;
    memcpy(&producer, from, sizeof producer);
    memcpy(&answer, from + sizeof producer, sizeof answer);
    answer.log = log;
    answer.record = log ? server->out_last : 0;
    memcpy(from + sizeof producer, &answer, sizeof answer);
    (void)server->log->engine->answer(server->log, producer, from + sizeof producer,
                                      answer_step(server) - sizeof producer);
}

void slri_server_answer_early(slr_server *server, const slri_told *told)
{
    for (uint32_t i = 0; i < server->calls.answer_count && told->bytes == 0; ++i)
        send_answer(server, i, told->log);
    server->calls.answer_count = 0;
}

slr_status slri_server_send_answers(slr_server *server)
{
    slri_remote_calls *calls = &server->calls;
    const slri_log_engine *engine = server->log->engine;
    if (calls->answer_count == 0)
        return SLR_OK;
    SLRI_TRY(slri_server_store(server));
    SLRI_TRY(engine->sync(server->log, SLRI_LOG_OUT));
    SLRI_TRY(engine->sync(server->log, SLRI_LOG_DEAD));
    for (uint32_t i = 0; i < calls->answer_count; ++i)
        send_answer(server, i, 0);
    calls->answer_count = 0;
    return SLR_OK;
}

void slri_server_free_calls(slr_server *server)
{
    free(server->calls.list);
    free(server->calls.answers);
    server->calls = (slri_remote_calls){0};
}
