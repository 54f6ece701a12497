// SPDX-License-Identifier: Apache-2.0
// Setups of many steps, of which each allocation fails in turn: keys, batches, loops, deadlines, routes, topics,
// supervisors, checkpoints. What was begun before is undone, and what is there goes on.
#include "tests/ring/ring_test.h"

#include "base/purse_test.h"

static struct handler h;

static slr_status pass_on_batch(void *user, const slr_delivery *deliveries, uint32_t count)
{
    (void)user, (void)deliveries, (void)count;
    return SLR_OK;
}

static slr_status run_loop(void *user, slr_context *context)
{
    slr_delivery delivery;
    uint32_t taken;
    (void)user;
    while (slr_take(context, &delivery, 1, 0, LONG, &taken) == SLR_OK)
        slr_done(&delivery);
    return SLR_OK;
}

enum { KEYED, BATCH, LOOP, TIMED, FROM, TO, RINGS };

struct setup {
    slr_device *device;
    slr_ring *ring[RINGS];
    slr_port *port;
    slr_topic *topic;
    slr_supervisor *root;
    uint32_t step;
};

// Notes which step it was.
#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        ++s->step;                                                                                                     \
        slr_status step_status = (call);                                                                               \
        if (step_status != SLR_OK)                                                                                     \
            return step_status;                                                                                        \
    } while (0)

static slr_ring_desc describe(uint32_t which)
{
    static const char *const name[RINGS] = {"keyed", "batch", "loop", "timed", "from", "to"};
    slr_ring_desc desc = describe_ring(name[which], &h);
    desc.state_bytes = which == LOOP ? 0 : 4;
    desc.queue_size = 32;
    desc.dead_letters = 4;
    if (which == KEYED) {
        desc.keys = SLR_KEYS_U64;
        desc.instances = 4;
    }
    if (which == BATCH || which == LOOP)
        desc.on_message = NULL;
    if (which == BATCH)
        desc.on_batch = pass_on_batch;
    if (which == LOOP)
        desc.main = run_loop;
    if (which == TIMED)
        desc.handler_timeout_ns = LONG;
    if (which == FROM) {
        desc.max_replies = 2;
        desc.reply_bytes = sizeof(struct message);
    }
    return desc;
}

static slr_status begin(struct setup *s, const slr_allocator *allocator)
{
    slr_device_desc device = SLR_DEVICE_DESC_INIT;
    device.allocator = allocator;
    STEP(slr_device_open("cpu?threads=2", &device, &s->device));
    STEP(slr_port_open(s->device, &s->port));
    for (uint32_t i = 0; i < RINGS; ++i) {
        const slr_ring_desc desc = describe(i);
        STEP(slr_ring_create(s->device, &desc, &s->ring[i]));
        STEP(slr_ring_launch(s->ring[i]));
        STEP(slr_ring_activate(s->ring[i], LONG));
    }
    STEP(slr_route(s->ring[FROM], s->ring[TO], NULL));
    STEP(slr_route_to_port(s->ring[FROM], s->port, NULL));
    STEP(slr_advertise(s->ring[FROM], "a.b"));
    STEP(slr_subscribe(s->ring[TIMED], "a.*"));
    STEP(slr_topic_open(s->device, "a.b", &s->topic));
    slr_supervisor_desc supervisor = SLR_SUPERVISOR_DESC_INIT;
    STEP(slr_supervisor_create(&supervisor, &s->root));
    STEP(slr_supervisor_add_ring(s->root, s->ring[TIMED]));
    STEP(slr_supervisor_add_ring(s->root, s->ring[TO]));
    STEP(slr_supervisor_start(s->root));
    STEP(slr_ring_checkpoint(s->ring[TO], LONG));
    const struct message message = {.value = 1};
    STEP(slr_send_key(s->port, address_of(s->ring[KEYED], 0), slr_key_u64(7), &message, sizeof message, NULL, LONG));
    for (uint32_t i = BATCH; i < RINGS; ++i)
        STEP(send_value(s->port, address_of(s->ring[i], 0), 1, LONG));
    STEP(send_value(NULL, address_of(s->ring[TO], 0), 1, LONG));
    STEP(slr_publish(s->port, s->topic, &message, sizeof message, LONG, NULL));
    STEP(slr_unroute(s->ring[FROM], s->ring[TO]));
    return SLR_OK;
}

static void end(struct setup *s)
{
    slr_supervisor_destroy(s->root);
    slr_topic_close(s->topic);
    slr_port_close(s->port);
    for (uint32_t i = RINGS; i-- > 0;)
        slr_ring_destroy(s->ring[i]);
    slr_device_close(s->device);
}

static void allocation_that_fails_undoes_what_its_call_has_begun(void **state)
{
    (void)state;
    slr_status status = SLR_NO_MEMORY;
    uint32_t k = 0;
    for (; status != SLR_OK && k < 2000; ++k) {
        struct purse purse = {.left = k};
        const slr_allocator allocator = {purse_give, purse_take, &purse};
        struct setup s = {0};
        h = (struct handler){0};
        status = begin(&s, &allocator);
        if (status != SLR_OK && status != SLR_NO_MEMORY)
            fail_msg("%u allocations, step %u: %s: %s", k, s.step, slr_status_name(status), slr_error_message());
        end(&s);
        if (purse.out != 0)
            fail_msg("%u allocations, step %u: %llu B are left", k, s.step, (unsigned long long)purse.out);
    }
    must(status);
    assert_true(k > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation_that_fails_undoes_what_its_call_has_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
