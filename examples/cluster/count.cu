// SPDX-License-Identifier: Apache-2.0
// Counts the hits of each account, and sums them.
struct hit { unsigned amount; };
struct total { unsigned long long count, sum; };

__ring__ void count(struct total *self, const struct hit *in)
{
    self->count += 1;
    self->sum += in->amount;
    ring_reply(self);
}
