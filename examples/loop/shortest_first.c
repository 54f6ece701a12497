// SPDX-License-Identifier: Apache-2.0
// A loop that answers out of order: it holds what has come, always works on the shortest job it holds, and looks for
// new ones between two jobs. A handler could not: it must be done with one message before it is given the next.
#include "example.h"

enum { HOLD = 64, JOBS = 500 };

struct job { // "sum the numbers below n"
    uint32_t n;
};

struct sum {
    uint32_t n;
    uint64_t sum;
};

static uint32_t length_of(const slr_delivery *held)
{
    return ((const struct job *)held->message)->n;
}

static slr_status work_on(const slr_delivery *held)
{
    struct sum reply = {.n = length_of(held)};
    for (uint32_t i = 0; i < reply.n; ++i)
        reply.sum += i;
    TRY(slr_reply_to(held, &reply, sizeof reply));
    return slr_done(held);
}

static slr_status shortest_first(void *user, slr_context *context)
{
    (void)user;
    slr_delivery held[HOLD];
    uint32_t count = 0;
    for (;;) {
        if (count < HOLD) { // waits only with nothing to do
            uint32_t taken;
            slr_status status = slr_take(context, held + count, HOLD - count, 0, count ? 0 : FOREVER, &taken);
            count += taken;
            if (slr_should_terminate(context) || (status == SLR_END && count == 0))
                return SLR_OK;
            if (status != SLR_OK && status != SLR_TIMEOUT && status != SLR_END)
                return status;
        }
        uint32_t shortest = 0;
        for (uint32_t k = 1; k < count; ++k)
            if (length_of(&held[k]) < length_of(&held[shortest]))
                shortest = k;
        if (count == 0)
            continue;
        TRY(work_on(&held[shortest]));
        held[shortest] = held[--count];
    }
}

int main(void)
{
    slr_device *device;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "shortest-first";
    desc.main = shortest_first;
    desc.message_bytes = sizeof(struct job);
    desc.reply_bytes = sizeof(struct sum);
    MUST(slr_device_open("cpu", NULL, &device));
    MUST(slr_ring_create(device, &desc, &ring));
    MUST(slr_ring_launch(ring));
    MUST(slr_ring_get_address(ring, 0, &to));
    MUST(slr_port_open(device, &port));
    for (uint32_t i = 0; i < JOBS; ++i) {
        struct job job = {.n = i * 7919 % JOBS}; // every length once, in no order
        MUST(slr_send(port, to, &job, sizeof job, 60 * SECOND));
    }
    MUST(slr_ring_activate(ring, 60 * SECOND));

    uint32_t answered[JOBS] = {0}, overtaken = 0, latest = 0, last = 0;
    for (uint32_t i = 0; i < JOBS; ++i) {
        slr_reply reply;
        struct sum sum;
        MUST(slr_receive(port, &reply, &sum, sizeof sum, 60 * SECOND));
        check(sum.sum == (sum.n ? (uint64_t)sum.n * (sum.n - 1) / 2 : 0), "the sum is right");
        check(answered[sum.n]++ == 0, "each job is answered once");
        overtaken += reply.correlation < latest; // the port's running number of its message
        latest = reply.correlation > latest ? reply.correlation : latest;
        last = sum.n;
    }
    check(last == JOBS - 1 && overtaken > 0, "the longest job comes last");
    MUST(slr_ring_close_input(ring));
    MUST(slr_ring_wait(ring, SLR_RING_TERMINATED, 60 * SECOND));
    printf("%d jobs answered, %u of them overtaken by later ones\n", JOBS, overtaken);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
    return 0;
}
