// SPDX-License-Identifier: Apache-2.0
// Host cases of __ring_block__ handlers: docs/contract/kernels.md.
#include "host.h"

#include <string.h>

struct list {
    int n, value[128];
};
struct answer {
    int sum, most;
};

static void a_block_works_on_one_message(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 3;
    slr_ring *ring = cts_ring(c, "block_sum", &desc);
    int sum[3] = {0};
    for (int round = 0; round < 30; round++) {
        struct list list = {.n = round * 5 % 129};
        struct answer answer = {0};
        uint32_t instance = (uint32_t)round % 3;
        int most = -1000000;
        for (int i = 0; i < list.n; i++) {
            list.value[i] = (i * 37 + round) % 101 - 50;
            sum[instance] += list.value[i];
            most = list.value[i] > most ? list.value[i] : most;
        }
        CTS_OK(c,
               slr_call(NULL, cts_address(c, ring, instance), &list, sizeof list, &answer, sizeof answer, CTS_LONG(c)));
        CTS_SAME(c, answer.sum, sum[instance]);
        CTS_SAME(c, answer.most, most);
    }
    CTS_SAME(c, cts_stats_at_rest(c, ring).handled, 30);
}

static void threads_of_a_block_reply_together(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_replies = 40;
    slr_ring *ring = cts_ring(c, "block_each", &desc);
    slr_port *port = cts_port(c);
    char seen[40] = {0};
    cts_send_int(c, port, cts_address(c, ring, 0), 40, -1);
    for (int i = 0; i < 40; i++) {
        int value = cts_receive_int(c, port, NULL); // in any order
        CTS_SAME(c, value % 100, 48);
        CTS_TRUE(c, value >= 0 && value / 100 < 40 && !seen[value / 100]);
        seen[value / 100] = 1;
    }
    slr_reply reply;
    int value = 0;
    cts_send_int(c, port, cts_address(c, ring, 0), 41, -1);
    CTS_OK(c, slr_receive(port, &reply, &value, sizeof value, CTS_LONG(c)));
    CTS_SAME(c, reply.status, SLR_HANDLER_FAULT);
}

static void a_fault_of_one_thread_fails_the_message(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "block_faults", &desc);
    int back = 0, value = 40;
    CTS_SAME(c, cts_call_int(c, ring, 0, 64), 1);
    CTS_SAME(c, cts_call_int(c, ring, 0, -1), 2);
    CTS_GIVES(c, SLR_HANDLER_FAULT,
              slr_call(NULL, cts_address(c, ring, 0), &value, sizeof value, &back, sizeof back, CTS_LONG(c)));
    CTS_TRUE(c, strstr(cts_stats_at_rest(c, ring).last_fault, "division by zero") != NULL);
    CTS_SAME(c, cts_call_int(c, ring, 0, 64), 1);
    cts_check_sum(c, ring);
}

static void threads_of_a_block_share_the_fuel(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    int back = 0, value = 100;
    desc.fuel = 64 * 100; // one too few: the last must be left
    slr_ring *ring = cts_ring(c, "block_spin", &desc);
    CTS_TRUE(c, cts_call_int(c, ring, 0, 99) != 0);
    CTS_GIVES(c, SLR_HANDLER_FAULT,
              slr_call(NULL, cts_address(c, ring, 0), &value, sizeof value, &back, sizeof back, CTS_LONG(c)));
    CTS_TRUE(c, strstr(cts_stats_at_rest(c, ring).last_fault, "fuel") != NULL);
}

// clang-format off
const cts_case cts_block_cases[] = {
    CTS_HOST("blocks", a_block_works_on_one_message),
    CTS_HOST("blocks", threads_of_a_block_reply_together),
    CTS_HOST("blocks", a_fault_of_one_thread_fails_the_message),
    CTS_HOST("blocks", threads_of_a_block_share_the_fuel),
};
// clang-format on
const size_t cts_block_case_count = sizeof cts_block_cases / sizeof *cts_block_cases;
