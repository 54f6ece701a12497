// SPDX-License-Identifier: Apache-2.0
// A new handler for an old one, between two messages. The old ring kernel stays as it is until the new one has come
// through a snapshot: to go back is to send it the messages since then.
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "cluster/server.h"
#include "ring/ring.h"

#include <stdio.h>
#include <string.h>

// ---- forward -------------------------------------------------------------------------------------------------------

static slr_status make_ring(slr_server *server, const slr_ring_desc *desc, const char *name, slr_ring **out)
{
    slr_ring_desc own;
    char unique[160];
    slri_head now;
    SLRI_TRY(SLRI_TAKE_DESC(slr_ring_desc, &own, desc));
    SLRI_TRY(slri_server_check_ring(&own));
    snprintf(unique, sizeof unique, "%.120s~%u", name, server->generation + 1);
    own.name = unique;
    own.keys = own.key_bytes = 0;
    own.instances = server->shape.instances;
    own.queue_size = own.dead_letters = server->queue_size;
    SLRI_TRY(slr_ring_create(server->device, &own, out));
    (*out)->one_a_call = true;
    own.keys = server->head.keys;
    slri_head_begin(&now, *out, &own);
    if (!own.program) // of a handler in C the name is all that is known
        memcpy(now.handler, server->head.handler, sizeof now.handler);
    slr_status status = slri_head_compare(&server->head, &now, name);
    if (status == SLR_OK)
        status = slr_ring_launch(*out);
    if (status != SLR_OK)
        slr_ring_destroy(*out);
    else
        server->generation++;
    return status;
}

// The states are in the log: the new ring kernel gets them from there.
static slr_status begin_ring(slr_server *server, slr_ring *ring, slr_port **port, slr_address *to)
{
    slr_ring *before = server->ring;
    server->ring = ring;
    slr_status status = slri_server_load_snapshot(server);
    server->ring = before;
    if (status == SLR_OK)
        status = slr_ring_activate(ring, SLRI_FOREVER);
    if (status == SLR_OK)
        status = slr_ring_get_address(ring, 0, to);
    return status == SLR_OK ? slr_port_open(server->device, port) : status;
}

static slr_status boundary(slr_server *server, uint64_t deadline_ns)
{
    SLRI_TRY(slri_server_snapshot(server, deadline_ns));
    return server->in_last == server->head.in_last
               ? SLR_OK
               : SLRI_FAIL(TIMEOUT, "'%s': messages that were handled elsewhere are not read again yet",
                           server->head.handler);
}

slr_status slri_server_decide_trial(slr_server *server, uint64_t deadline_ns)
{
    if (server->trial.is_on)
        SLRI_TRY(slri_server_snapshot(server, deadline_ns)); // it may have come through
    if (server->trial.is_on && server->trial.head.in_last != server->in_last)
        return SLRI_FAIL(WRONG_STATE, "'%s': another handler is still on trial", server->head.handler);
    return SLR_OK;
}

// A handler that has had no message proves nothing: the one before it stays the one to go back to.
static void begin_trial(slr_server *server)
{
    if (server->trial.is_on) {
        slr_port_close(server->port);
        slr_ring_destroy(server->ring);
        return;
    }
    server->trial = (slri_trial){.is_on = true,
                                 .ring = server->ring,
                                 .port = server->port,
                                 .to = server->to,
                                 .first_correlation = server->first_correlation,
                                 .handled = server->handled,
                                 .faulted = server->faulted,
                                 .head = server->head};
}

slr_status slri_server_replace(slr_server *server, const slr_ring_desc *desc, const char *name, uint64_t deadline_ns)
{
    slr_ring *ring;
    slr_port *port = NULL;
    slr_address to;
    SLRI_TRY(slri_server_decide_trial(server, deadline_ns));
    SLRI_TRY(make_ring(server, desc, name, &ring));
    slr_status status = boundary(server, deadline_ns);
    if (status == SLR_OK)
        status = begin_ring(server, ring, &port, &to);
    if (status != SLR_OK) {
        char why[512];
        snprintf(why, sizeof why, "%s", slr_error_message());
        slr_port_close(port);
        slr_ring_destroy(ring);
        return slri_fail(status, "%s", why);
    }
    begin_trial(server);
    server->ring = ring;
    server->port = port;
    server->to = to;
    server->sent = server->head.messages;
    server->first_correlation = server->head.messages + 1;
    server->handled = server->head.handled;
    server->faulted = server->head.faulted;
    server->stats.replaced++;
    return SLR_OK;
}

void slri_server_end_trial(slr_server *server)
{
    slri_trial *trial = &server->trial;
    if (!trial->is_on)
        return;
    slr_port_close(trial->port);
    slr_ring_destroy(trial->ring);
    *trial = (slri_trial){.is_on = false};
}

// ---- back ----------------------------------------------------------------------------------------------------------

// Outputs that the new handler has made are stored: the old one's are compared with them, as after a restart.
static void turn_marks(slr_server *server)
{
    for (uint64_t i = 0; i < server->mark_count; ++i) {
        server->marks[i].stored = server->marks[i].seen;
        server->marks[i].seen = 0;
        if (server->marks[i].stored)
            server->stored_until = server->head.messages + i + 1;
    }
}

// Batches that wait are in the log, and so is the one that is being filled, from here on.
static slr_status drop_batches(slr_server *server)
{
    server->batch_first = (server->batch_first + server->waiting) % server->batch_slots;
    server->waiting = 0;
    if (server->batched > 0 && !server->follows)
        SLRI_TRY(slri_server_write_batch(server));
    return slri_server_open_batch(server);
}

slr_status slri_server_go_back(slr_server *server)
{
    const slri_trial trial = server->trial;
    if (!trial.is_on)
        return SLR_OK;
    SLRI_TRY(slri_server_store(server));
    SLRI_TRY(drop_batches(server));
    server->trial.is_on = false;
    slr_port_close(server->port);
    slr_ring_destroy(server->ring);
    server->ring = trial.ring;
    server->port = trial.port;
    server->to = trial.to;
    server->replies_at = server->replies_count = server->letters_at = server->letters_count = 0;
    turn_marks(server);
    server->stats.rolled_back++;
    if (server->follows) {
        server->in_last = server->head.in_last;
        server->messages = server->head.messages;
        server->head.producers = trial.head.producers;
        memcpy(server->head.producer, trial.head.producer, sizeof trial.head.producer);
    }
    server->sent = server->head.messages;
    server->first_correlation = trial.first_correlation;
    server->handled = trial.handled;
    server->faulted = trial.faulted;
    return slri_server_send_again(server);
}

slr_status slr_server_replace(slr_server *server, const slr_ring_desc *ring, uint64_t timeout_ns)
{
    if (!server || !ring)
        return SLRI_FAIL(INVALID, "slr_server_replace: %s is NULL", server ? "ring" : "server");
    return slri_server_replace(server, ring, server->head.handler, slri_deadline_after(timeout_ns));
}
