// SPDX-License-Identifier: Apache-2.0
// Plays a program against the library, in simulation, and notes what happens. It knows nothing of what should happen.
#include "trace.h"

#include "base/clock.h"
#include "base/sim.h"
#include "base/thread.h"

#include <slipring/slipring.h>

#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ull
#define PATIENCE_NS (1000 * SECOND_NS) // of calls that are to succeed

static struct world {
    const struct program *program;
    struct trace *trace;
    slr_device *device;
    slr_supervisor *supervisor;
    struct player_ring {
        slr_ring *ring; // NULL: never launched, or destroyed
        slr_address address;
        bool launched;
        uint64_t random; // a loop's
    } ring[MOST_RINGS];
    uint32_t reached[ACTORS]; // the op that each is at
    uint32_t calls;           // of handlers
    bool over;
    struct client {
        slri_thread thread;
        slr_port *port;
        uint32_t number, ports;
    } client[MOST_CLIENTS];
} world;

static uint32_t now(void)
{
    return world.trace->time++;
}

static void broken(const char *why)
{
    if (!world.trace->broken)
        world.trace->broken = why;
}

// ---- handlers ------------------------------------------------------------------------------------------------------

static uint32_t new_message(const struct message_note *note)
{
    struct trace *t = world.trace;
    if (t->messages == MOST_MESSAGES) {
        broken("the player has no room for more messages");
        return 0;
    }
    t->message[t->messages] = *note;
    return t->messages++;
}

static void nap(const struct ring_plan *plan, uint32_t script)
{
    switch ((enum nap)SCRIPT_NAP(script)) {
    case NO_NAP:
        break;
    case YIELDS:
        for (uint32_t i = 0; i < 3; ++i)
            slri_yield();
        break;
    case SHORT_NAP:
        slri_sleep_ns(20000);
        break;
    case OVERRUN:
        slri_sleep_ns(plan->watched ? OVERRUN_NS : 200000);
        break;
    }
}

static void reply(const slr_delivery *delivery, uint32_t ring, const struct work *work)
{
    const struct ring_plan *plan = &world.program->ring[ring];
    for (uint32_t n = 0; n < SCRIPT_REPLIES(work->script) && n < plan->max_replies; ++n) {
        struct message_note note = {.parent = work->id,
                                    .ring = ring,
                                    .instance = delivery->instance,
                                    .priority = delivery->priority,
                                    .correlation = delivery->correlation,
                                    .script = SCRIPT_NEXT(work->script),
                                    .begin = now(),
                                    .sent = MAYBE};
        struct work answer = {new_message(&note), note.script};
        if (slr_reply_to(delivery, &answer, sizeof answer) != SLR_OK)
            broken("a reply within max_replies was refused");
    }
}

// One message, in a handler's call or in a loop. False: it is to fault.
static bool work_on(const slr_delivery *delivery, uint32_t ring, uint32_t call)
{
    struct trace *t = world.trace;
    const struct work work = *(const struct work *)delivery->message;
    if (work.id >= t->messages || t->handlings == MOST_NOTES) {
        broken(work.id >= t->messages ? "a handler was given bytes that nobody sent" : "too many handlings");
        return true;
    }
    uint32_t number = t->handlings++;
    struct handling *h = &t->handling[number];
    *h = (struct handling){.id = work.id,
                           .ring = ring,
                           .instance = delivery->instance,
                           .priority = delivery->priority,
                           .correlation = delivery->correlation,
                           .begin = now(),
                           .end = NONE,
                           .call = call,
                           .begun_ns = slri_now_ns()};
    struct state *state = delivery->state;
    h->before = *state;
    nap(&world.program->ring[ring], work.script);
    state->count += 1;
    state->hash = state->hash * 31 + work.id;
    reply(delivery, ring, &work);
    h->faulted = SCRIPT_FAULTS(work.script);
    h->ended_ns = slri_now_ns();
    h->end = now();
    return !h->faulted;
}

static slr_status on_message(void *user, const slr_delivery *delivery)
{
    return work_on(delivery, (uint32_t)(uintptr_t)user, world.calls++) ? SLR_OK : SLR_UNSUPPORTED;
}

static slr_status on_batch(void *user, const slr_delivery *deliveries, uint32_t count)
{
    uint32_t call = world.calls++;
    for (uint32_t k = 0; k < count; ++k)
        if (!work_on(&deliveries[k], (uint32_t)(uintptr_t)user, call))
            slr_fail(&deliveries[k], SLR_UNSUPPORTED);
    return SLR_OK;
}

enum { MOST_HELD = 4 };

static void end_one(slr_delivery *held, uint32_t *count, uint32_t at, uint32_t ring)
{
    (void)ring;
    const struct work *work = held[at].message;
    slr_status status = SCRIPT_FAULTS(work->script) ? slr_fail(&held[at], SLR_UNSUPPORTED) : slr_done(&held[at]);
    if (status != SLR_OK)
        broken("a held message could not be ended");
    held[at] = held[--*count];
}

static slr_status run_loop(void *user, slr_context *context)
{
    uint32_t ring = (uint32_t)(uintptr_t)user, held_count = 0;
    uint64_t *random = &world.ring[ring].random;
    slr_delivery held[MOST_HELD];
    for (;;) {
        uint32_t taken = 0;
        slr_status status = held_count == MOST_HELD ? SLR_TIMEOUT
                                                    : slr_take(context, &held[held_count], MOST_HELD - held_count,
                                                               program_random(random) % 3 * 1000, 50000, &taken);
        for (uint32_t k = 0; status == SLR_OK && k < taken; ++k)
            work_on(&held[held_count + k], ring, world.calls++);
        held_count += status == SLR_OK ? taken : 0;
        while (held_count != 0 && (status != SLR_OK || program_random(random) % 2))
            end_one(held, &held_count, (uint32_t)(program_random(random) % held_count), ring);
        if (status == SLR_END)
            return SLR_OK;
    }
}

// ---- clients -------------------------------------------------------------------------------------------------------

static uint32_t begin_send(const struct client *c, const struct op *op, uint32_t script)
{
    const struct ring_plan *plan = &world.program->ring[op->ring];
    struct message_note note = {.parent = NONE,
                                .script = script,
                                .client = c->number,
                                .port = c->ports,
                                .ring = op->ring,
                                .instance = op->instance % plan->instances,
                                .priority = op->priority ? op->priority : SLR_DEFAULT_PRIORITY,
                                .begin = now(),
                                .end = NONE};
    return new_message(&note);
}

static void end_send(uint32_t id, enum acceptance sent, slr_status status)
{
    struct message_note *note = &world.trace->message[id];
    note->sent = sent;
    note->status = status;
    note->end = now();
}

static void do_send(const struct client *c, const struct op *op, slr_address to)
{
    struct work work = {begin_send(c, op, op->script), op->script};
    to.instance = world.trace->message[work.id].instance;
    slr_send_options options = {.priority = op->priority ? SLR_PRIORITY(op->priority) : 0, .correlation = work.id + 1};
    world.trace->message[work.id].correlation = work.id + 1;
    slr_status status = slr_send_with(c->port, to, &work, sizeof work, &options, op->wait_ns);
    end_send(work.id, status == SLR_OK ? ACCEPTED : REFUSED, status);
}

static void do_send_many(const struct client *c, const struct op *op, slr_address to)
{
    struct work work[8];
    uint32_t accepted = 0, instances[8];
    struct op plain = *op;
    plain.priority = 0;
    for (uint32_t k = 0; k < op->count; ++k) {
        plain.instance = (uint8_t)(op->instance + k);
        work[k] = (struct work){begin_send(c, &plain, op->script + k % 2 * 8), op->script + k % 2 * 8};
        instances[k] = world.trace->message[work[k].id].instance;
    }
    slr_status status = slr_send_many(c->port, to, instances, work, sizeof work[0], op->count, op->wait_ns, &accepted);
    for (uint32_t k = 0; k < op->count; ++k)
        end_send(work[k].id, k < accepted ? ACCEPTED : REFUSED, k < accepted ? SLR_OK : status);
    if ((status == SLR_OK) != (accepted == op->count))
        broken("slr_send_many's status and its count do not agree");
}

static struct receipt *new_receipt(const struct client *c)
{
    struct trace *t = world.trace;
    if (t->receipts == MOST_NOTES - 1)
        broken("too many receipts");
    struct receipt *r = &t->receipt[t->receipts < MOST_NOTES - 1 ? t->receipts++ : t->receipts];
    *r = (struct receipt){.client = c->number, .port = c->ports, .ring = NONE, .id = NONE, .time = now()};
    return r;
}

static void do_call(const struct client *c, const struct op *op, slr_address to)
{
    struct op plain = *op;
    plain.priority = 0;
    struct work work = {begin_send(c, &plain, op->script | 1), op->script | 1}, answer = {NONE, 0};
    to.instance = world.trace->message[work.id].instance;
    world.trace->message[work.id].called = true;
    slr_status status = slr_call(c->port, to, &work, sizeof work, &answer, sizeof answer, op->wait_ns + 1000);
    bool known = status == SLR_OK || status == SLR_HANDLER_FAULT || status == SLR_DROPPED;
    bool refused = status == SLR_FULL || status == SLR_CLOSED || status == SLR_RING_DEAD || status == SLR_WRONG_STATE ||
                   status == SLR_INVALID;
    end_send(work.id, known ? ACCEPTED : refused ? REFUSED : MAYBE, status);
    if (!known)
        return;
    struct receipt *r = new_receipt(c);
    *r = (struct receipt){.client = c->number,
                          .port = c->ports,
                          .ring = op->ring,
                          .id = status == SLR_OK ? answer.id : work.id,
                          .time = r->time,
                          .status = status,
                          .called = true};
}

static uint32_t ring_of(slr_address address)
{
    for (uint32_t i = 0; i < world.program->rings; ++i) {
        slr_address a = world.ring[i].address;
        if (world.ring[i].launched && a.slot == address.slot && a.generation == address.generation)
            return i;
    }
    return NONE;
}

static slr_status receive_one(const struct client *c, uint64_t wait_ns)
{
    slr_reply reply;
    struct work work = {NONE, 0};
    slr_status status = slr_receive(c->port, &reply, &work, sizeof work, wait_ns);
    if (status == SLR_TIMEOUT || (status == SLR_END && reply.from.generation == 0))
        return SLR_TIMEOUT;
    struct receipt *r = new_receipt(c);
    r->status = status == SLR_OK ? reply.status : status;
    r->ring = ring_of(reply.from);
    r->id = r->status == SLR_OK ? work.id : NONE;
    r->correlation = reply.correlation;
    r->instance = reply.from.instance;
    r->priority = reply.priority;
    return SLR_OK;
}

static void reopen(struct client *c)
{
    slr_port_close(c->port);
    c->port = NULL;
    ++c->ports;
    if (slr_port_open(world.device, &c->port) != SLR_OK)
        broken("a port could not be opened");
    world.trace->last_port[c->number] = c->ports;
}

static void do_client_op(struct client *c, const struct op *op)
{
    const struct player_ring *ring = &world.ring[op->ring];
    if (op->verb == REOPEN)
        reopen(c);
    for (uint32_t k = 0; op->verb == RECEIVE && k < op->count; ++k)
        if (receive_one(c, op->wait_ns) != SLR_OK)
            break;
    if (!ring->launched)
        return; // there is no address yet
    if (op->verb == SEND)
        do_send(c, op, ring->address);
    if (op->verb == SEND_MANY)
        do_send_many(c, op, ring->address);
    if (op->verb == CALL && world.program->ring[op->ring].max_replies)
        do_call(c, op, ring->address);
}

static void meet(uint32_t at)
{
    for (uint32_t actor = 0; actor < ACTORS; ++actor)
        while ((actor < world.program->clients || actor == CONTROLLER) && world.reached[actor] < at)
            slri_sleep_ns(5000);
}

static void be_client(void *arg)
{
    struct client *c = arg;
    for (uint32_t i = 0; i < world.program->ops; ++i) {
        const struct op *op = &world.program->op[i];
        world.reached[c->number] = i;
        if (op->verb == MEET)
            meet(i);
        else if (op->actor == c->number)
            do_client_op(c, op);
    }
    world.reached[c->number] = world.program->ops;
    // What is still to come is received, so that no mailbox waits for this port.
    while (!world.over)
        if (receive_one(c, 1000000) != SLR_OK)
            slri_sleep_ns(1000000); // END is given at once, over and over
    while (receive_one(c, 0) == SLR_OK) {
    }
}

// ---- the controller ------------------------------------------------------------------------------------------------

static void launch(uint32_t i)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const struct ring_plan *plan = &world.program->ring[i];
    struct player_ring *ring = &world.ring[i];
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = names[i];
    desc.user = (void *)(uintptr_t)i;
    if (plan->sort == HANDLER)
        desc.on_message = on_message;
    else if (plan->sort == BATCHES)
        desc.on_batch = on_batch;
    else
        desc.main = run_loop;
    desc.message_bytes = sizeof(struct work);
    desc.state_bytes = sizeof(struct state);
    desc.reply_bytes = plan->max_replies ? sizeof(struct work) : 0;
    desc.max_replies = plan->max_replies;
    desc.instances = plan->instances;
    desc.queue_size = plan->queue_size;
    desc.max_batch = plan->sort == LOOP ? 0 : plan->max_batch;
    desc.overflow = plan->overflow;
    desc.fault_policy = plan->fault_policy == SLR_FAULT_GO_ON ? 0 : plan->fault_policy;
    desc.fault_limit = plan->fault_limit;
    desc.fault_window_ns = plan->fault_limit ? PATIENCE_NS : 0;
    desc.handler_timeout_ns = plan->watched ? HANDLER_TIMEOUT_NS : 0;
    desc.dead_letters = 2048;
    if (slr_ring_create(world.device, &desc, &ring->ring) != SLR_OK || slr_ring_launch(ring->ring) != SLR_OK ||
        slr_ring_get_address(ring->ring, 0, &ring->address) != SLR_OK) {
        broken("a ring kernel could not be launched");
        return;
    }
    ring->random = i + 1;
    ring->launched = true;
    if (world.supervisor && plan->sort != LOOP && slr_supervisor_add_ring(world.supervisor, ring->ring) != SLR_OK)
        broken("a ring kernel could not be supervised");
}

static void take_letters(uint32_t i)
{
    struct trace *t = world.trace;
    slr_dead_letter letters[32];
    struct work work[32];
    uint32_t taken;
    do {
        taken = 0;
        if (slr_ring_take_dead_letters(world.ring[i].ring, letters, work, sizeof work[0], 32, &taken) != SLR_OK)
            broken("dead letters could not be taken");
        for (uint32_t k = 0; k < taken && t->letters < MOST_MESSAGES; ++k)
            t->letter[t->letters++] = (struct letter){work[k].id, i, letters[k].reason};
    } while (taken != 0);
}

static void note_undelivered(void *user, const slr_undelivered *undelivered)
{
    struct trace *t = world.trace;
    const struct work *work = undelivered->message;
    if (t->undelivered_count < MOST_MESSAGES)
        t->undelivered[t->undelivered_count++] =
            (struct letter){work->id, (uint32_t)(uintptr_t)user, SLR_DEAD_LETTER_UNDELIVERED};
}

static slr_status terminate(uint32_t i, uint64_t wait_ns, slr_ring_stats *stats)
{
    slr_status status = slr_ring_terminate(world.ring[i].ring, wait_ns, note_undelivered, (void *)(uintptr_t)i, stats);
    if (status == SLR_OK)
        take_letters(i);
    return status;
}

// Waits until the clients have come to here, and what is active has nothing pending, if that comes.
static slr_status settle(const struct op *op, uint32_t at, slr_ring_stats *stats)
{
    for (uint32_t actor = 0; actor < world.program->clients; ++actor)
        while (world.reached[actor] < at)
            slri_sleep_ns(5000);
    slr_status status = SLR_OK;
    for (uint32_t n = 0; n < 1000; ++n) {
        status = slr_ring_get_stats(world.ring[op->ring].ring, stats);
        if (status != SLR_OK || stats->pending == 0)
            break;
        slri_sleep_ns(100000);
    }
    return status;
}

static slr_status control(const struct op *op, uint32_t at, slr_ring_stats *stats)
{
    slr_ring *ring = world.ring[op->ring].ring, *to = world.ring[op->to].ring;
    switch (op->verb) {
    case ACTIVATE:
        return slr_ring_activate(ring, PATIENCE_NS);
    case DEACTIVATE:
        return slr_ring_deactivate(ring, PATIENCE_NS);
    case REACTIVATE:
        return slr_ring_reactivate(ring, PATIENCE_NS);
    case CLOSE:
        return slr_ring_close_input(ring);
    case TERMINATE:
    case DESTROY:
        return terminate(op->ring, op->wait_ns, stats);
    case RESTART:
        return slr_ring_restart(ring, SLR_RESTART_INITIAL, PATIENCE_NS);
    case RESTART_CHECKPOINT:
        return slr_ring_restart(ring, SLR_RESTART_CHECKPOINT, PATIENCE_NS);
    case CHECKPOINT:
        return slr_ring_checkpoint(ring, PATIENCE_NS);
    case ROUTE:
        return to ? slr_route(ring, to, NULL) : SLR_INVALID;
    case UNROUTE:
        return to ? slr_unroute(ring, to) : SLR_INVALID;
    case SETTLE:
        return settle(op, at, stats);
    default:
        return SLR_OK;
    }
}

static void do_control(const struct op *op, uint32_t at)
{
    struct player_ring *ring = &world.ring[op->ring];
    if (op->verb == LAUNCH && !ring->launched)
        launch(op->ring);
    if (op->verb == SLEEP)
        slri_sleep_ns(op->wait_ns);
    if (op->verb == LAUNCH || op->verb == SLEEP || !ring->ring)
        return;
    struct control *c = &world.trace->control[world.trace->controls++];
    *c = (struct control){.op = *op, .begin = now(), .end = NONE, .before = slr_ring_get_state(ring->ring)};
    c->status = control(op, at, &c->stats);
    c->after = slr_ring_get_state(ring->ring);
    c->end = now();
    if (op->verb == DESTROY && c->status == SLR_OK) {
        slr_ring_destroy(ring->ring);
        ring->ring = NULL;
    }
}

static void control_all(void)
{
    for (uint32_t i = 0; i < world.program->ops; ++i) {
        const struct op *op = &world.program->op[i];
        world.reached[CONTROLLER] = i;
        if (op->verb == MEET)
            meet(i);
        else if (op->actor == CONTROLLER)
            do_control(op, i);
    }
    world.reached[CONTROLLER] = world.program->ops;
}

#define DRAIN_NS (SECOND_NS / 200)
#define OVER (SLR_RING_TERMINATED | SLR_RING_IN_FAILURE | SLR_RING_LAUNCHED)

// As long as it gets on: a supervisor may bring it back, and one that waits for another's room has to be left.
static slr_ring_state wait_drained(slr_ring *ring)
{
    slr_ring_state state = SLR_RING_DRAINING;
    slr_ring_stats stats;
    uint64_t done = UINT64_MAX;
    for (uint32_t idle = 0; idle < 14 && state & (SLR_RING_DRAINING | SLR_RING_IN_FAILURE); ++idle) {
        slr_ring_wait(ring, SLR_RING_TERMINATED | SLR_RING_LAUNCHED, DRAIN_NS);
        state = slr_ring_get_state(ring);
        if (slr_ring_get_stats(ring, &stats) == SLR_OK && stats.pending != done)
            idle = 0;
        done = stats.pending;
    }
    return state;
}

// Closes all and waits for what can drain, then terminates; the sources come before what they feed, where that can be.
static void finish(void)
{
    meet(world.program->ops);
    for (uint32_t i = 0; i < world.program->rings; ++i) {
        struct op close = {.verb = CLOSE, .actor = CONTROLLER, .ring = (uint8_t)i};
        do_control(&close, world.program->ops);
        if (world.ring[i].ring)
            slr_ring_wait(world.ring[i].ring, OVER, DRAIN_NS);
    }
    for (uint32_t i = 0; i < world.program->rings; ++i) {
        if (!world.ring[i].ring)
            continue;
        world.trace->drained[i] = wait_drained(world.ring[i].ring);
    }
    for (uint32_t i = 0; i < world.program->rings; ++i) {
        struct op end = {.verb = TERMINATE, .actor = CONTROLLER, .ring = (uint8_t)i};
        do_control(&end, world.program->ops);
    }
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static void note_supervised(void *user, const slr_supervised *supervised)
{
    (void)user;
    for (uint32_t i = 0; i < MOST_RINGS; ++i)
        if (supervised->event == SLR_SUPERVISED_RESTARTED && world.ring[i].ring == supervised->ring)
            ++world.trace->supervised_restarts[i];
}

// A tree is complete before it is started, so all its ring kernels are launched first.
static void supervise(void)
{
    slr_supervisor_desc desc = SLR_SUPERVISOR_DESC_INIT;
    desc.strategy = world.program->supervised;
    desc.max_restarts = 3;
    desc.on_event = note_supervised;
    if (slr_supervisor_create(&desc, &world.supervisor) != SLR_OK)
        broken("no supervisor");
    for (uint32_t i = 0; i < world.program->rings; ++i)
        launch(i);
    if (slr_supervisor_start(world.supervisor) != SLR_OK)
        broken("the supervisor could not be started");
}

static void start_clients(void)
{
    for (uint32_t i = 0; i < world.program->clients; ++i) {
        struct client *c = &world.client[i];
        c->number = i;
        if (slr_port_open(world.device, &c->port) != SLR_OK || slri_thread_start(&c->thread, "c", be_client, c))
            broken("a client could not be started");
    }
}

static void stop(void)
{
    world.over = true;
    for (uint32_t i = 0; i < world.program->clients; ++i)
        slri_thread_join(&world.client[i].thread);
    slr_supervisor_destroy(world.supervisor);
    for (uint32_t i = 0; i < world.program->clients; ++i)
        slr_port_close(world.client[i].port);
    for (uint32_t i = 0; i < world.program->rings; ++i)
        slr_ring_destroy(world.ring[i].ring);
    slr_device_close(world.device);
}

void play(const struct program *program, struct trace *trace)
{
    memset(trace, 0, sizeof *trace);
    world = (struct world){.program = program, .trace = trace};
    char spec[64];
    snprintf(spec, sizeof spec, "cpu?engine=interpreted&threads=%u", program->threads);
    if (slri_sim_begin(program->schedule) != SLR_OK || slr_device_open(spec, NULL, &world.device) != SLR_OK) {
        broken("no simulated device");
        return;
    }
    if (program->supervised)
        supervise();
    start_clients();
    control_all();
    finish();
    stop();
    trace->fingerprint = slri_sim_fingerprint();
    if (slri_sim_end() != 0)
        broken("a thread was left behind");
}
