// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: the kernel of one batched launch of a __ring_block__ handler. It follows the handler's emitted text
// and abi/relaunch.h. A block handles a chain of messages. Before it are defined
//   SLR_HANDLER, SLR_GROUP (threads of a block), SLR_OUTLETS (the parameters that the handler has after the message
//   where one of them is an outlet, else 0), SLR_OUTS (the same, at least 1), SLR_BINDINGS (the handler's bindings, at
//   least 1), SLR_PARAMETERS (of its buffers) and SLR_BIND (fills a table of the bindings).
// It is C as well as C++: the simulated driver of the tests compiles it, too.
// clang-format off
#ifndef SLR_DISPATCH
#define SLR_DISPATCH extern "C" __global__ void __launch_bounds__(SLR_GROUP)
#define SLR_DISPATCH_FN static __device__
#define SLR_DISPATCH_SHARED __shared__
#define SLR_HAS_OUTLETS SLR_OUTLETS
#define SLR_DISPATCH_CALL(call) SLR_HANDLER(call)
#define SLR_DISPATCH_MEET() slri_meet(0)
#endif

// An instance begins anew.
SLR_DISPATCH_FN void slr_begin_anew(unsigned char *state, const unsigned char *constants)
{
    const unsigned *word = (const unsigned *)constants;
    for (unsigned i = 0; i < word[RL_STATE_BYTES]; ++i)
        state[i] = word[RL_INITIAL_AT] ? constants[word[RL_INITIAL_AT] + i] : 0;
}

SLR_DISPATCH_FN void slr_put_outlets(struct slri_out *out, unsigned char *record, const unsigned char *constants)
{
    for (unsigned i = 0; i < SLR_HAS_OUTLETS; ++i) {
        const unsigned *sent = (const unsigned *)(constants + RL_BINDING(i));
        out[i].base = record + sent[0]; // of what is no outlet, nobody looks at it
        out[i].stride = sent[1];
        out[i].most = ((const unsigned *)constants)[RL_MAX_SENDS];
        out[i].count = 0;
    }
}

SLR_DISPATCH_FN void slr_begin_call(struct slri_call *call, struct slri_out *out, const unsigned *message,
                                    unsigned char *record, unsigned char *states, const unsigned char *constants,
                                    const struct slri_bound *bound)
{
    const unsigned *word = (const unsigned *)constants;
    call->state = word[RL_STATE_BYTES] ? states + (unsigned long long)message[RL_STATE] * word[RL_STATE_STRIDE] : 0;
    call->message = (const unsigned char *)message + RL_PAYLOAD;
    call->bound = bound;
    call->out = out;
    call->reply_base = record + word[RL_REPLIES_AT];
    call->reply_at = 0;
    call->reply_mask = 0xffffffffu;
    call->reply_stride = word[RL_REPLY_STRIDE];
    call->reply_bytes = 0; // the handler knows
    call->max_replies = word[RL_MAX_REPLIES];
    call->replies = 0;
    call->instance = message[RL_INSTANCE];
    call->fault_file = 0;
    call->fault_line = 0;
    call->fuel = word[RL_FUEL] | (unsigned long long)word[RL_FUEL + 1] << 32;
    slr_put_outlets(out, record, constants);
}

SLR_DISPATCH_FN void slr_end_call(const struct slri_call *call, const struct slri_out *out, unsigned fault,
                                  unsigned *result, const unsigned char *constants)
{
    result[RL_FAULT] = fault;
    result[RL_FILE] = call->fault_file;
    result[RL_LINE] = call->fault_line;
    result[RL_REPLIES] = call->replies;
    for (unsigned i = 0; i < SLR_HAS_OUTLETS; ++i)
        result[RL_SENT(i)] = out[i].count;
    if (fault != 0 && call->state)
        slr_begin_anew((unsigned char *)call->state, constants);
}

SLR_DISPATCH slr_relaunch(const unsigned char *in, unsigned char *results, unsigned char *states,
                          const unsigned char *constants, unsigned chains, unsigned char *scratch SLR_PARAMETERS)
{
    SLR_DISPATCH_SHARED struct slri_call call; // the threads of a block share their call
    SLR_DISPATCH_SHARED struct slri_out out[SLR_OUTS];
    SLR_DISPATCH_SHARED struct slri_bound bound[SLR_BINDINGS];
    const unsigned *word = (const unsigned *)constants;
    unsigned leads = threadIdx.x == 0, stopped = 0;
    unsigned at = blockIdx.x < chains ? ((const unsigned *)in)[blockIdx.x] : RL_END;
    (void)scratch;
    if (leads) {
        SLR_BIND(bound)
    }
    while (at != RL_END) {
        const unsigned *message = (const unsigned *)(in + word[RL_MESSAGES_AT] +
                                                     (unsigned long long)at * word[RL_MESSAGE_STRIDE]);
        unsigned char *record = results + (unsigned long long)at * word[RL_RESULT_STRIDE];
        at = message[RL_NEXT];
        if (stopped != 0) {
            if (leads)
                ((unsigned *)record)[RL_FAULT] = RL_NOT_RUN;
            continue;
        }
        if (leads)
            slr_begin_call(&call, out, message, record, states, constants, bound);
        SLR_DISPATCH_MEET(); // the call is there, and nobody is in the last one any more
        unsigned fault = SLR_DISPATCH_CALL(&call); // the same for all threads
        if (leads)
            slr_end_call(&call, out, fault, (unsigned *)record, constants);
        stopped = fault != 0 && word[RL_STOPS] != 0;
    }
}
