// SPDX-License-Identifier: Apache-2.0
// For tests: a handler's kernel (ir/pass/handler_kernel.h), interpreted over a batch, called as a handler is.
#ifndef SLRI_RUN_BATCH_TEST_H
#define SLRI_RUN_BATCH_TEST_H

#include "abi/handler.h"
#include "abi/relaunch.h"
#include "base/round.h"
#include "ir/pass/handler_kernel.h"
#include "run/grid.h"
#include "run/interpreter.h"

#include <slipring/status.h>

#include <stdlib.h>
#include <string.h>

enum { BATCH_BINDINGS = 24 };

struct batch {
    const struct slri_entry *handler;
    struct slri_module *module; // of the kernel
    struct slri_interp *interp;
    // Runs its text in place of the interpreter; NULL: the interpreter does. False: it does not end.
    bool (*run)(void *user, const struct slri_grid *grid);
    void *user;
};

// What a batch lies in: constants, messages and results, as abi/relaunch.h says.
struct batch_layout {
    uint32_t messages, chains, max_replies, max_sends, state_bytes, state_stride;
    uint64_t fuel;
    bool stops;
    const struct slri_bound *bound; // of the handler
    const void *initial;            // state, or NULL
    uint32_t message_stride, messages_at, replies_at, reply_stride, result_stride;
    unsigned char *in, *results, *constants;
};

static inline slr_status batch_open(struct batch *b, const struct slri_module *module, const struct slri_entry *handler)
{
    *b = (struct batch){.handler = handler};
    slr_status status = slri_handler_kernel(module, handler, &b->module);
    return status == SLR_OK ? slri_interp_create(b->module, &b->interp) : status;
}

static inline void batch_close(struct batch *b)
{
    slri_interp_destroy(b->interp);
    slri_module_destroy(b->module);
}

static inline uint32_t batch_sent_stride(const struct slri_binding_info *binding)
{
    return binding->is_outlet ? (uint32_t)slri_round_up(SLRI_OUT_HEAD + binding->type->bytes, 16) : 0;
}

static inline uint32_t batch_sent_at(const struct batch_layout *l, const struct slri_entry *handler, uint32_t bindings)
{
    uint32_t at = l->replies_at + l->max_replies * l->reply_stride;
    for (uint32_t i = 0; i < bindings; i++)
        at += l->max_sends * batch_sent_stride(&handler->binding[i]);
    return at;
}

static inline void batch_put_constants(struct batch_layout *l, const struct slri_entry *handler)
{
    const uint32_t initial_at = RL_BINDING(handler->bindings);
    uint32_t words[16] = {[RL_REPLIES_AT] = l->replies_at,
                          [RL_REPLY_STRIDE] = l->reply_stride,
                          [RL_MAX_REPLIES] = l->max_replies,
                          [RL_MAX_SENDS] = l->max_sends,
                          [RL_STOPS] = l->stops,
                          [RL_STATE_BYTES] = l->state_bytes,
                          [RL_INITIAL_AT] = l->initial ? initial_at : 0};
    memcpy(&words[RL_FUEL], &l->fuel, sizeof l->fuel);
    memcpy(l->constants, words, sizeof words);
    for (uint32_t i = 0; i < handler->bindings; i++) {
        const struct slri_binding_info *binding = &handler->binding[i];
        const uint32_t sent[] = {batch_sent_at(l, handler, i), batch_sent_stride(binding)};
        if (binding->is_outlet)
            memcpy(l->constants + RL_BINDING(i), sent, sizeof sent);
        else if (binding->is_buffer)
            memcpy(l->constants + RL_BINDING(i), &l->bound[i].bytes, sizeof l->bound[i].bytes);
        else
            memcpy(l->constants + RL_BINDING(i), l->bound[i].data, l->bound[i].bytes);
    }
    if (l->initial)
        memcpy(l->constants + initial_at, l->initial, l->state_bytes);
}

static inline void batch_lay_out(struct batch_layout *l, const struct slri_entry *handler)
{
    l->state_bytes = handler->state ? (uint32_t)handler->state->bytes : 0;
    l->state_stride = (uint32_t)slri_round_up(l->state_bytes, 16);
    l->message_stride = (uint32_t)slri_round_up(RL_PAYLOAD + handler->message->bytes, 16);
    l->messages_at = (uint32_t)slri_round_up(4 * (l->messages + 1), 16);
    l->replies_at = (uint32_t)slri_round_up(4 * RL_SENT(handler->bindings), 16);
    l->reply_stride = handler->reply ? (uint32_t)slri_round_up(handler->reply->bytes, 16) : 0;
    l->result_stride = batch_sent_at(l, handler, handler->bindings);
    l->in = calloc(1, l->messages_at + (size_t)l->messages * l->message_stride);
    l->results = calloc(l->messages, l->result_stride);
    l->constants = calloc(1, RL_BINDING(handler->bindings) + l->state_bytes + 16);
    batch_put_constants(l, handler);
}

static inline void batch_free(struct batch_layout *l)
{
    free(l->in);
    free(l->results);
    free(l->constants);
}

static inline uint32_t batch_place(const struct batch_layout *l, uint32_t number)
{
    return l->messages_at + number * l->message_stride;
}

static inline uint32_t *batch_message(const struct batch_layout *l, uint32_t number)
{
    return (uint32_t *)(void *)(l->in + batch_place(l, number));
}

static inline uint32_t *batch_result(const struct batch_layout *l, uint32_t number)
{
    return (uint32_t *)(void *)(l->results + (size_t)number * l->result_stride);
}

// How the grid ended: a kernel made of a handler has no fault of its own.
static inline uint32_t batch_run(const struct batch *b, struct batch_layout *l, void *states, uint64_t state_bytes)
{
    static unsigned long long nothing[2];
    struct slri_bound arg[SLRI_BATCH_BUFFERS + BATCH_BINDINGS] = {
        [SLRI_BATCH_IN] = {l->in, l->messages_at + (uint64_t)l->messages * l->message_stride},
        [SLRI_BATCH_RESULTS] = {l->results, (uint64_t)l->messages * l->result_stride},
        [SLRI_BATCH_STATES] = {states ? states : nothing, states ? state_bytes : sizeof nothing},
        [SLRI_BATCH_CONSTANTS] = {l->constants, RL_BINDING(b->handler->bindings) + l->state_bytes + 16},
        [SLRI_BATCH_CHAINS] = {&l->chains, sizeof l->chains}};
    uint32_t args = SLRI_BATCH_BUFFERS;
    for (uint32_t i = 0; i < b->handler->bindings; i++)
        if (b->handler->binding[i].is_buffer && !b->handler->binding[i].is_outlet)
            arg[args++] = l->bound[i];
    const struct slri_grid grid = {
        .grid = {slri_batch_blocks(b->handler, slri_batch_threads(b->handler), l->chains), 1, 1},
        .block = {slri_batch_threads(b->handler), 1, 1},
        .arg = arg,
        .args = args,
        .fuel = UINT64_MAX};
    struct slri_grid_end end = {.fault = SLRI_FAULT_OVERRUN};
    if (b->run)
        return b->run(b->user, &grid) ? SLRI_FAULT_NONE : UINT32_MAX;
    return slri_interpret_grid(b->interp, &grid, &end) == SLR_OK ? end.fault : UINT32_MAX;
}

// A slri_handler whose `self` is a batch: one of this one message.
static inline uint32_t batch_handle(void *self, struct slri_call *call)
{
    const struct batch *b = self;
    struct batch_layout l = {.messages = 1,
                             .chains = 1,
                             .max_replies = call->max_replies,
                             .max_sends = call->out ? call->out->most : 0,
                             .fuel = call->fuel,
                             .bound = call->bound};
    batch_lay_out(&l, b->handler);
    uint32_t *message = batch_message(&l, 0), *result = batch_result(&l, 0);
    message[RL_INSTANCE] = call->instance;
    message[RL_NEXT] = RL_END;
    memcpy(l.in, &(uint32_t){batch_place(&l, 0)}, 4);
    memcpy((unsigned char *)message + RL_PAYLOAD, call->message, b->handler->message->bytes);
    uint32_t fault = batch_run(b, &l, call->state, l.state_bytes);
    call->replies = result[RL_REPLIES];
    call->fault_file = result[RL_FILE];
    call->fault_line = result[RL_LINE];
    for (uint32_t n = 0; n < call->replies; n++)
        memcpy(call->reply_base + ((call->reply_at + n) & call->reply_mask) * call->reply_stride,
               l.results + l.replies_at + (size_t)n * l.reply_stride, call->reply_bytes);
    fault = fault ? UINT32_MAX : result[RL_FAULT];
    batch_free(&l);
    return fault;
}

#endif
