// SPDX-License-Identifier: Apache-2.0
// Text for OpenCL's compiler, after an emitted __ring_block__ handler and abi/relaunch.h: the kernel of one batched
// launch. A work-group handles a chain of messages. Before it are defined
//   SLR_ENTRY, SLR_BINDINGS (at least 1), SLR_GROUP (work-items of a group), SLR_SHARED (bytes),
//   SLR_PARAMETERS (`, __global uchar *b0` of each buffer) and SLR_BOUND (an initialiser a binding).
// With SLR_CLOCK cl_clock.h stands before it, too, and each message is timed.
// clang-format off
#define SLR_FIRST (get_local_id(0) == 0)

// An instance begins anew.
static void slr_reset(__global uchar *state, __global const uchar *constants)
{
    __global const uint *word = (__global const uint *)constants;
    for (uint i = 0; i < word[RL_STATE_BYTES]; ++i)
        state[i] = word[RL_INITIAL_AT] ? constants[word[RL_INITIAL_AT] + i] : 0;
}

SLRI_KERNEL __attribute__((reqd_work_group_size(SLR_GROUP, 1, 1)))
void slr_relaunch(__global uchar *in, __global uchar *results, __global uchar *states, __global uchar *constants,
                  uint chains, __global uchar *dump SLR_PARAMETERS)
{
    __global const uint *word = (__global const uint *)constants;
    __local uchar shared[SLR_SHARED] __attribute__((aligned(16)));
    __local uint counts[1 + SLR_BINDINGS], words[SLRI_BLOCK_WORDS];
    uint chain = get_group_id(0);
    struct slri_bound bound[SLR_BINDINGS] = {SLR_BOUND};
    struct slri_out out[SLR_BINDINGS];
    uint at = chain < chains ? ((__global const uint *)in)[chain] : RL_END;
    bool stopped = false;
    while (at != RL_END) {
        __global uint *message = (__global uint *)(in + word[RL_MESSAGES_AT] + (ulong)at * word[RL_MESSAGE_STRIDE]);
        __global uchar *record = results + (ulong)at * word[RL_RESULT_STRIDE];
        __global uint *result = (__global uint *)record;
        at = message[RL_NEXT];
        if (stopped) {
            if (SLR_FIRST)
                result[RL_FAULT] = RL_NOT_RUN;
            continue;
        }
        struct slri_call call;
        call.state = word[RL_STATE_BYTES] ? states + (ulong)message[RL_STATE] * word[RL_STATE_STRIDE] : 0;
        call.message = (__global uchar *)message + RL_PAYLOAD;
        call.bound = bound;
        call.out = out;
        call.reply_base = record + word[RL_REPLIES_AT];
        call.reply_at = 0;
        call.reply_mask = 0xffffffff;
        call.reply_stride = word[RL_REPLY_STRIDE];
        call.max_replies = word[RL_MAX_REPLIES];
        call.replies = counts;
        call.instance = message[RL_INSTANCE];
        call.fault_file = call.fault_line = 0;
        call.fuel = call.turns = (word[RL_FUEL] | (ulong)word[RL_FUEL + 1] << 32) / SLR_GROUP; // in equal parts
        call.dump = dump;
        for (uint i = 0; i < SLR_BINDINGS; ++i) {
            __global const uint *sent = (__global const uint *)(constants + RL_BINDING(i));
            out[i].base = record + sent[0];
            out[i].stride = sent[1];
            out[i].most = word[RL_MAX_SENDS];
            out[i].count = counts + 1 + i;
        }
        if (SLR_FIRST)
            for (uint i = 0; i < 1 + SLR_BINDINGS; ++i)
                counts[i] = 0;
        slri_begin_block(shared, SLR_SHARED, words);
#ifdef SLR_CLOCK
        ulong began = slr_ticks();
#endif
        uint fault = slri_end_block(&call, SLR_ENTRY(&call, shared), words);
        if (SLR_FIRST) {
#ifdef SLR_CLOCK
            result[RL_TICKS] = (uint)min(slr_ticks() - began, (ulong)RL_MOST_TICKS);
#endif
            result[RL_FAULT] = fault;
            result[RL_FILE] = call.fault_file;
            result[RL_LINE] = call.fault_line;
            result[RL_REPLIES] = counts[0];
#ifdef SLR_OUTLETS
            for (uint i = 0; i < SLR_BINDINGS; ++i)
                result[RL_SENT(i)] = counts[1 + i];
#endif
            if (fault && word[RL_STATE_BYTES])
                slr_reset(call.state, constants);
        }
        stopped = fault && word[RL_STOPS];
    }
}
