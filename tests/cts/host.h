// SPDX-License-Identifier: Apache-2.0
/// What host cases are made of. Whatever is made through these is destroyed when the case ends, however it ends.
#ifndef CTS_HOST_H
#define CTS_HOST_H

#include "cts.h"

/// How long a host case waits for anything, as --timeout says: only what is broken takes so long.
#define CTS_LONG(c) ((c)->options->patience_ns)
/// The first ring kernel of a handler also waits for the device's compiler.
#define CTS_COMPILED(c) (CTS_LONG(c) > 25 * CTS_SECOND ? CTS_LONG(c) : 25 * CTS_SECOND)

/// The program of a section of kernels/host.cu.
slr_program *cts_program(cts *c, const char *section);
slr_kernel *cts_kernel(cts *c, const char *section);
slr_buffer *cts_buffer(cts *c, uint64_t bytes);
slr_stream *cts_stream(cts *c);
slr_port *cts_port(cts *c);

/// A ring kernel as `desc` says, whose handler is the section `handler`; launched and active.
slr_ring *cts_ring(cts *c, const char *handler, slr_ring_desc *desc);

/// The same, launched and not yet active: messages gather.
slr_ring *cts_ring_launched(cts *c, const char *handler, slr_ring_desc *desc);

slr_address cts_address(cts *c, slr_ring *ring, uint32_t instance);
slr_ring_stats cts_stats(cts *c, slr_ring *ring);

/// Once nothing is pending: a message is counted behind its replies, and before it is no longer pending.
slr_ring_stats cts_stats_at_rest(cts *c, slr_ring *ring);

/// Checks accepted = handled + faulted + dropped + undelivered + in_doubt + pending.
void cts_check_sum(cts *c, slr_ring *ring);

/// Sends an int at a priority (-1: the default), which must be accepted.
void cts_send_int(cts *c, slr_port *port, slr_address to, int value, int priority);

/// Receives one reply, which must be an int that went well.
int cts_receive_int(cts *c, slr_port *port, slr_reply *reply);

/// Sends an int and waits for the int that comes back.
int cts_call_int(cts *c, slr_ring *ring, uint32_t instance, int value);

/// Fills with 0, 1, 2, ...; reads into `to`.
void cts_write_ints(cts *c, slr_buffer *buffer, const int *from, uint32_t count);
void cts_read_ints(cts *c, slr_buffer *buffer, int *to, uint32_t count);

/// For a table of host cases.
#define CTS_HOST(area, name)                                                                                           \
    {                                                                                                                  \
        area, #name, name, NULL, NULL, 0                                                                               \
    }

extern const cts_case cts_message_cases[], cts_ring_cases[], cts_stream_cases[], cts_order_cases[], cts_block_cases[],
    cts_batch_cases[], cts_batch_with_cases[], cts_route_cases[], cts_reference_cases[];
extern const size_t cts_message_case_count, cts_ring_case_count, cts_stream_case_count, cts_order_case_count,
    cts_block_case_count, cts_batch_case_count, cts_batch_with_case_count, cts_route_case_count,
    cts_reference_case_count;

#endif
