// SPDX-License-Identifier: Apache-2.0
// A double-buffered loop: while one buffer is worked on, main loads the next batch into the other. The work is another
// ring kernel, which main reaches through its own port; it stands for whatever computes beside the loop. Main holds the
// messages of both buffers until their results are there.
#include "example.h"

enum { BATCH = 16, BLOCKS = 1000, SAMPLES = 256 };

struct block {
    uint32_t number;
    int16_t sample[SAMPLES];
};

struct power {
    uint32_t number;
    uint64_t sum; // of the squares
};

struct buffer { // loaded by main, then worked on, never both
    uint32_t count;
    float sample[BATCH][SAMPLES];
    uint64_t sum[BATCH];
};

// ---- the work, on a worker thread -----------------------------------------------------------------------------------

struct work {
    struct buffer *buffer;
};

static slr_status square(void *user, const slr_delivery *delivery)
{
    (void)user;
    struct buffer *buffer = ((const struct work *)delivery->message)->buffer;
    for (uint32_t k = 0; k < buffer->count; ++k) {
        buffer->sum[k] = 0;
        for (uint32_t i = 0; i < SAMPLES; ++i)
            buffer->sum[k] += (uint64_t)(buffer->sample[k][i] * buffer->sample[k][i]);
    }
    return slr_reply_to(delivery, delivery->message, delivery->bytes);
}

// ---- the loop -------------------------------------------------------------------------------------------------------

struct loop {
    slr_address worker;
    struct buffer buffer[2];
    slr_delivery held[2][BATCH];
    uint32_t batches, loaded_meanwhile;
};

// Takes a batch and loads it: here, from integers to floats. 0 messages: there are none now.
static slr_status load(struct loop *loop, slr_context *context, uint32_t which, uint64_t timeout_ns)
{
    struct buffer *buffer = &loop->buffer[which];
    slr_status status = slr_take(context, loop->held[which], BATCH, 0, timeout_ns, &buffer->count);
    for (uint32_t k = 0; k < buffer->count; ++k)
        for (uint32_t i = 0; i < SAMPLES; ++i)
            buffer->sample[k][i] = ((const struct block *)loop->held[which][k].message)->sample[i];
    return status;
}

// Waits for the work on a buffer and answers its messages.
static slr_status unload(struct loop *loop, slr_port *port, uint32_t which)
{
    slr_reply reply;
    struct work work;
    TRY(slr_receive(port, &reply, &work, sizeof work, 60 * SECOND));
    check(work.buffer == &loop->buffer[which], "the buffer comes back that was sent");
    for (uint32_t k = 0; k < work.buffer->count; ++k) {
        const slr_delivery *held = &loop->held[which][k];
        struct power power = {((const struct block *)held->message)->number, work.buffer->sum[k]};
        TRY(slr_reply_to(held, &power, sizeof power));
        TRY(slr_done(held));
    }
    return SLR_OK;
}

static slr_status run(void *user, slr_context *context)
{
    struct loop *loop = user;
    slr_port *port;
    TRY(slr_context_port(context, &port));
    uint32_t which = 0;
    slr_status status = load(loop, context, which, FOREVER);
    while (status == SLR_OK) {
        struct work work = {&loop->buffer[which]};
        TRY(slr_send(port, loop->worker, &work, sizeof work, 60 * SECOND));
        loop->batches += 1;
        slr_status next = load(loop, context, !which, 0); // while it is worked on
        loop->loaded_meanwhile += next == SLR_OK;
        TRY(unload(loop, port, which));
        which = !which;
        status = next == SLR_TIMEOUT ? load(loop, context, which, FOREVER) : next;
    }
    return status == SLR_END ? SLR_OK : status;
}

// ---- the program ----------------------------------------------------------------------------------------------------

static int16_t sample_of(uint32_t block, uint32_t i)
{
    return (int16_t)((block * 37 + i * 11) % 2001 - 1000);
}

static slr_ring *start(slr_device *device, const slr_ring_desc *desc, slr_address *address)
{
    slr_ring *ring;
    MUST(slr_ring_create(device, desc, &ring));
    MUST(slr_ring_launch(ring));
    MUST(slr_ring_get_address(ring, 0, address));
    return ring;
}

int main(void)
{
    static struct loop loop;
    static uint32_t answered[BLOCKS];
    slr_device *device;
    slr_port *port;
    slr_address to;
    MUST(slr_device_open("cpu", NULL, &device));
    slr_ring_desc worker_desc = SLR_RING_DESC_INIT;
    worker_desc.name = "square";
    worker_desc.on_message = square;
    worker_desc.message_bytes = worker_desc.reply_bytes = sizeof(struct work);
    slr_ring *worker = start(device, &worker_desc, &loop.worker);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "double-buffer";
    desc.main = run;
    desc.user = &loop;
    desc.message_bytes = sizeof(struct block);
    desc.reply_bytes = sizeof(struct power);
    slr_ring *ring = start(device, &desc, &to);
    MUST(slr_port_open(device, &port));
    for (uint32_t n = 0; n < BLOCKS; ++n) {
        struct block block = {.number = n};
        for (uint32_t i = 0; i < SAMPLES; ++i)
            block.sample[i] = sample_of(n, i);
        MUST(slr_send(port, to, &block, sizeof block, 60 * SECOND));
    }
    MUST(slr_ring_activate(worker, 60 * SECOND));
    MUST(slr_ring_activate(ring, 60 * SECOND));
    MUST(slr_ring_close_input(ring));

    for (uint32_t n = 0; n < BLOCKS; ++n) {
        slr_reply reply;
        struct power power;
        MUST(slr_receive(port, &reply, &power, sizeof power, 60 * SECOND));
        uint64_t sum = 0;
        for (uint32_t i = 0; i < SAMPLES; ++i)
            sum += (uint64_t)((int64_t)sample_of(power.number, i) * sample_of(power.number, i));
        check(power.sum == sum, "the power is right");
        check(answered[power.number]++ == 0, "each block is answered once");
    }
    MUST(slr_ring_wait(ring, SLR_RING_TERMINATED, 60 * SECOND));
    // All blocks were there from the first, so every batch but the first was loaded while the one before was worked on.
    check(loop.loaded_meanwhile == loop.batches - 1, "the next batch is loaded while the last is worked on");
    printf("%d blocks in %u batches, %u of them loaded while another was worked on\n", BLOCKS, loop.batches,
           loop.loaded_meanwhile);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_ring_destroy(worker);
    slr_device_close(device);
    return 0;
}
