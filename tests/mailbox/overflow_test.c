// SPDX-License-Identifier: Apache-2.0
// abi/mailbox.h with its dropping policies three ways: as host C, interpreted, and compiled by the front end. Each
// takes the same mailbox through the same passes; afterwards every word of it must be the same.
#include "base/share.h"
#include "ring/ring.h"
#include "tests/ring/ring_test.h"

static const char source[] = "#include \"abi/mailbox.h\"\n"
                             "struct step { unsigned handle; };\n"
                             "__ring__ void owner(const struct step *in, unsigned *P, unsigned at)\n"
                             "{\n"
                             "    unsigned *S = P + at;\n"
                             "    unsigned batch = mb_begin(S, P);\n"
                             "    if (batch != 0u && in->handle != 0u) {\n"
                             "        for (unsigned k = 0u; k < batch; ++k) { mb_handled(S, P, k, 0u, 0u); }\n"
                             "        mb_finish(S, P);\n"
                             "    }\n"
                             "    unsigned reply = batch + 16u * mb_idle(S, P);\n"
                             "    ring_reply(&reply);\n"
                             "}\n";

static uint32_t pass_on_host(uint32_t *S, uint32_t *P, uint32_t handle)
{
    uint32_t batch = mb_begin(S, P);
    if (batch != 0 && handle != 0) {
        for (uint32_t k = 0; k < batch; ++k)
            mb_handled(S, P, k, 0, 0);
        mb_finish(S, P);
    }
    return batch + 16 * mb_idle(S, P);
}

// The owner's side on a device, on a copy of all from P to the end of S: P reaches into reply lanes.
struct copy {
    slr_device *device;
    slr_program *program;
    slr_buffer *words;
    slr_ring *ring;
    slr_port *port;
};

static size_t mailbox_bytes(const slr_ring *ring)
{
    const uint32_t *S = ring->S, *P = ring->shard[0].own;
    const uint32_t *last = &S[mb_reply_lane(S, 0, ring->max_ports - 1)];
    return (size_t)(last - P + MB_REPLY_SLOTS + (S[MB_REPLY_MASK] + 1) * S[MB_REPLY_SLOT_WORDS]) * 4;
}

static slr_buffer *copy_buffer(slr_device *device, const uint32_t *from, size_t bytes)
{
    slr_buffer *buffer = NULL;
    must(slr_buffer_create(device, bytes, &buffer));
    must(slr_buffer_write(buffer, 0, from, bytes));
    return buffer;
}

static struct copy open_copy(const char *spec, const slr_ring *of)
{
    struct copy c = {.device = open_device(spec)};
    const char *path = SLIPRING_SOURCE_DIR "/src";
    slr_program_desc program_desc = SLR_PROGRAM_DESC_INIT;
    program_desc.include_paths = &path;
    program_desc.include_path_count = 1;
    must(slr_program_from_text(c.device, "owner.cu", source, &program_desc, &c.program));
    c.words = copy_buffer(c.device, of->shard[0].own, mailbox_bytes(of));
    const uint32_t at = (uint32_t)(of->S - of->shard[0].own);
    const slr_binding bindings[] = {{.name = "P", .buffer = c.words},
                                    {.name = "at", .scalar = &at, .bytes = sizeof at}};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = c.program;
    desc.bindings = bindings;
    desc.binding_count = 2;
    c.ring = start_ring(c.device, &desc);
    c.port = open_port(c.device);
    return c;
}

static uint32_t pass_on_copy(struct copy *c, uint32_t handle)
{
    uint32_t reply = 0;
    must(slr_call(c->port, address_of(c->ring, 0), &handle, sizeof handle, &reply, sizeof reply, LONG));
    return reply;
}

static void expect_same(slr_buffer *buffer, const uint32_t *host, size_t bytes)
{
    uint32_t *words = malloc(bytes);
    must(slr_buffer_read(buffer, 0, words, bytes));
    for (size_t i = 0; i < bytes / 4; ++i)
        if (words[i] != host[i])
            fail_msg("P[%zu] is %u, on the host %u", i, words[i], host[i]);
    free(words);
}

static void close_copy(struct copy *c)
{
    slr_port_close(c->port);
    slr_ring_destroy(c->ring);
    slr_buffer_destroy(c->words);
    slr_program_destroy(c->program);
    slr_device_close(c->device);
}

static slr_port *port[3];

// A mailbox that no owner has looked at, with more messages in its lanes than it may keep.
static slr_ring *fill_mailbox(slr_device *device, uint32_t overflow)
{
    static struct handler h;
    h = (struct handler){.replies = 1};
    slr_ring_desc desc = describe_ring("mailbox", &h);
    desc.overflow = overflow;
    desc.queue_size = 5;
    desc.max_ports = 3;
    desc.dead_letters = 9;
    desc.time_stamps = 1;
    slr_ring *ring = launch_ring(device, &desc);
    for (uint32_t k = 0; k < 3; ++k)
        port[k] = open_port(device);
    ring->state = SLR_RING_ACTIVE; // or the sender would look in the owner's place
    for (uint32_t k = 0; k < 31; ++k)
        must(send_at(port[k * 7 % 3], address_of(ring, 0), k, k * 37 % 256));
    slr_port_close(port[1]); // gone: it gets no notices
    ring->state = SLR_RING_LAUNCHED;
    return ring;
}

static void compare(const char *spec, uint32_t overflow)
{
    slr_device *device = open_device("cpu");
    slr_ring *ring = fill_mailbox(device, overflow);
    uint32_t *S = ring->S, *P = ring->shard[0].own;
    struct copy c = open_copy(spec, ring);
    static const uint32_t handle[] = {0, 1, 0, 0, 1, 1, 1, 1, 1};
    for (uint32_t k = 0; k < sizeof handle / sizeof handle[0]; ++k)
        assert_int_equal(pass_on_copy(&c, handle[k]), pass_on_host(S, P, handle[k]));
    assert_int_equal(P[MBP_DROPPED], 31 - 5);
    assert_int_equal(P[MBP_HANDLED], 5);
    assert_int_equal(P[MBP_LETTERS_LOST], 31 - 5 - 9);
    expect_same(c.words, P, mailbox_bytes(ring));
    assert_true(P[MBP_REPLIED] > 10 && P[MBP_REPLIED] < 26); // notices to the ports that are there
    close_copy(&c);
    slr_port_close(port[0]);
    slr_port_close(port[2]);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void interpreter_drops_as_the_host_does(void **state)
{
    (void)state;
    compare("cpu?engine=interpreted", SLR_OVERFLOW_DROP_OLDEST);
    compare("cpu?engine=interpreted", SLR_OVERFLOW_DROP_LOWEST);
}

static void emitted_c_drops_as_the_host_does(void **state)
{
    (void)state;
    compare("cpu?engine=compiled", SLR_OVERFLOW_DROP_OLDEST);
    compare("cpu?engine=compiled", SLR_OVERFLOW_DROP_LOWEST);
}

int main(void)
{
    slri_share_apart(); // S and P are one piece
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreter_drops_as_the_host_does),
        cmocka_unit_test(emitted_c_drops_as_the_host_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
