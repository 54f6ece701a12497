// SPDX-License-Identifier: Apache-2.0
#include "host.h"
#include "kept.h"

slr_program *cts_program(cts *c, const char *section)
{
    slr_program *made = NULL;
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    const char *text = cts_text(section);
    desc.optimize = c->options->optimize;
    if (!text)
        cts_leave(c, CTS_FAILED, "kernels/host.cu has no section '%s'", section);
    CTS_OK(c, slr_program_from_text(c->device, section, text, &desc, &made));
    cts_keep(c, CTS_PROGRAM, made);
    return made;
}

slr_kernel *cts_kernel(cts *c, const char *section)
{
    slr_kernel *made = NULL;
    CTS_OK(c, slr_program_get_kernel(cts_program(c, section), NULL, &made));
    cts_keep(c, CTS_KERNEL, made);
    return made;
}

slr_buffer *cts_buffer(cts *c, uint64_t bytes)
{
    slr_buffer *made = NULL;
    CTS_OK(c, slr_buffer_create(c->device, bytes, &made));
    cts_keep(c, CTS_BUFFER, made);
    return made;
}

slr_stream *cts_stream(cts *c)
{
    slr_stream *made = NULL;
    CTS_OK(c, slr_stream_create(c->device, NULL, &made));
    cts_keep(c, CTS_STREAM, made);
    return made;
}

slr_port *cts_port(cts *c)
{
    slr_port *made = NULL;
    CTS_OK(c, slr_port_open(c->device, &made));
    cts_keep(c, CTS_PORT, made);
    return made;
}

slr_ring *cts_ring_launched(cts *c, const char *handler, slr_ring_desc *desc)
{
    slr_ring *made = NULL;
    desc->program = cts_program(c, handler);
    CTS_OK(c, slr_ring_create(c->device, desc, &made));
    cts_keep(c, CTS_RING, made);
    CTS_OK(c, slr_ring_launch(made));
    return made;
}

slr_ring *cts_ring(cts *c, const char *handler, slr_ring_desc *desc)
{
    slr_ring *made = cts_ring_launched(c, handler, desc);
    CTS_OK(c, slr_ring_activate(made, CTS_COMPILED(c)));
    return made;
}

slr_address cts_address(cts *c, slr_ring *ring, uint32_t instance)
{
    slr_address found = {0};
    CTS_OK(c, slr_ring_get_address(ring, instance, &found));
    return found;
}

slr_ring_stats cts_stats(cts *c, slr_ring *ring)
{
    slr_ring_stats stats;
    CTS_OK(c, slr_ring_get_stats(ring, &stats));
    return stats;
}

slr_ring_stats cts_stats_at_rest(cts *c, slr_ring *ring)
{
    uint64_t end = cts_now_ns() + CTS_LONG(c);
    slr_ring_stats stats = cts_stats(c, ring);
    while (stats.pending != 0 && cts_now_ns() < end)
        stats = cts_stats(c, ring);
    if (stats.pending != 0)
        cts_leave(c, CTS_HUNG, "%llu messages are still pending", (unsigned long long)stats.pending);
    return stats;
}

void cts_check_sum(cts *c, slr_ring *ring)
{
    slr_ring_stats s = cts_stats(c, ring);
    CTS_SAME(c, s.handled + s.faulted + s.dropped + s.undelivered + s.in_doubt + s.pending, s.accepted);
}

void cts_send_int(cts *c, slr_port *port, slr_address to, int value, int priority)
{
    slr_send_options options = {0};
    if (priority >= 0)
        options.priority = SLR_PRIORITY(priority);
    CTS_OK(c, slr_send_with(port, to, &value, sizeof value, &options, CTS_LONG(c)));
}

int cts_receive_int(cts *c, slr_port *port, slr_reply *reply)
{
    int value = 0;
    slr_reply unused;
    if (!reply)
        reply = &unused;
    CTS_OK(c, slr_receive(port, reply, &value, sizeof value, CTS_LONG(c)));
    CTS_SAME(c, reply->status, SLR_OK);
    CTS_SAME(c, reply->bytes, sizeof value);
    return value;
}

void cts_write_ints(cts *c, slr_buffer *buffer, const int *from, uint32_t count)
{
    CTS_OK(c, slr_buffer_write(buffer, 0, from, count * sizeof *from));
}

void cts_read_ints(cts *c, slr_buffer *buffer, int *to, uint32_t count)
{
    CTS_OK(c, slr_buffer_read(buffer, 0, to, count * sizeof *to));
}

int cts_call_int(cts *c, slr_ring *ring, uint32_t instance, int value)
{
    int back = 0;
    CTS_OK(c, slr_call(NULL, cts_address(c, ring, instance), &value, sizeof value, &back, sizeof back, CTS_LONG(c)));
    return back;
}
