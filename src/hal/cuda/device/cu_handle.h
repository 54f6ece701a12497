// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: how a block handles a batch, an instance a lane in rounds or all threads a message, and publishes it;
// and how long messages took. It stands behind cu_look.h. C as well as C++, as cu_team.h says.
// clang-format off
#define SLR_ENDS 0xffffffffu // no fault: the kernel ends

SLR_FN void slr_reset(void *state)
{
    const SLRI_ADDRESS *initial = (const SLRI_ADDRESS *)slr_team.set.initial_state;
    SLRI_ADDRESS *words = (SLRI_ADDRESS *)state;
    for (SLRI_ADDRESS i = 0; state && i < (slr_team.set.state_bytes + 7) / 8; ++i) // strides are multiples of 16
        words[i] = initial ? initial[i] : 0;
}

SLR_FN void slr_fill_call(struct slri_call *call, const mb_word *message, mb_word instance)
{
    SLRI_ADDRESS mine = slr_team.set.shards > 1 ? instance / slr_team.set.shards : instance;
    call->bound = (const struct slri_bound *)slr_team.set.bound;
    call->message = message;
    call->instance = instance;
    call->state = slr_team.set.states ? (void *)(slr_team.set.states + mine * slr_team.set.state_stride) : (void *)0;
    call->reply_base = 0;
    call->reply_at = 0;
    call->reply_mask = SLR_SIZE(MB_REPLY_MASK);
    call->reply_stride = SLR_SIZE(MB_REPLY_SLOT_WORDS) * 4u;
    call->reply_bytes = 0; // the handler knows
    call->max_replies = SLR_SIZE(MB_MAX_REPLIES);
    call->replies = 0;
    call->messages = 1u;
    call->fuel = slr_team.set.fuel;
    call->fault_file = 0;
    call->fault_line = 0;
}

SLR_FN void slr_ends_with(mb_word k, mb_word fault)
{
    slr_team.fault[k] = fault;
    if (fault != 0u)
        slr_reset(slr_team.call[k].state);
}

// Also where its replies go, and how many.
SLR_FN void slr_note_handled(mb_word *S, mb_word *P, mb_word k, const struct slri_call *call)
{
    mb_word faulted = slr_team.fault[k] != 0u;
    if (faulted != 0u)
        mb_note_fault(S, P, slr_team.fault[k], call->fault_file, call->fault_line, call->instance);
    mb_word replies = faulted == 0u ? call->replies : call->max_replies ? 1u : 0u, silent = P[MBP_SILENT];
    mb_word q = MBP_PORT(P[MBP_BATCH(k)]);
    slr_team.to[k] = P[q + MBQ_REPLIES];
    mb_handled(S, P, k, silent != 0u ? 0u : replies, faulted == 0u ? 0u : MB_FLAG_FAULT);
    slr_team.placed[k] = faulted == 0u ? P[q + MBQ_REPLIES] - slr_team.to[k] : 0u;
    P[MBP_REPLIED] += silent != 0u && faulted == 0u ? replies : 0u;
}

// A call straight between the mailbox's slots.
SLR_FN void slr_fill_direct(mb_word *S, const mb_word *P, mb_word k)
{
    mb_word port = P[MBP_BATCH(k)], at = P[MBP_BATCH(k) + 1u];
    struct slri_call *call = &slr_team.call[k];
    slr_fill_call(call, &MB_AT(at + MB_PAYLOAD), MB_AT(at + MB_INSTANCE));
    slr_open_outs(k, call);
    if (P[MBP_SILENT] != 0u) {
        call->reply_base = (unsigned char *)slr_team.passage.aside + k * slr_team.passage.aside_stride * call->max_replies;
        call->reply_mask = 0xffffffffu;
        call->reply_stride = slr_team.passage.aside_stride;
    } else if (call->max_replies != 0u) {
        call->reply_base = (unsigned char *)&S[mb_reply_slot(S, mb_reply_lane_of(S, P, port), 0) + MB_PAYLOAD];
        call->reply_at = P[MBP_PORT(port) + MBQ_REPLIES];
    }
}

// By all threads of a block: the call that the first lane has filled. Gives its fault, the same for all of them.
SLR_FN __attribute__((noinline)) mb_word slr_call_together(void)
{
    SLR_BLOCK_MEET(); // the call is there, and nobody is in the last one any more
    mb_word called = slr_team.called;
    return called == 0u ? SLR_ENDS : SLR_CALL(&slr_team.call[called - 1u]);
}

// The other warps of a block.
SLR_FN void slr_help(void)
{
    while (slr_call_together() != SLR_ENDS) { }
}

// The first lane alone, a message after the other: what does not fit, or what the host is to judge. Or all threads of
// the block, of which the first warp is here and the others are in slr_help. Gives how many have been handled: to the
// first fault that is judged.
SLR_APART mb_word slr_handle_each(mb_word *S, mb_word *P, mb_word batch)
{
    for (mb_word k = 0u; k < batch; ++k) {
        mb_word fault = 0u;
        SLR_FIRST {
            slr_fill_direct(S, P, k);
            slr_team.called = k + 1u;
        }
        if (SLR_IS_BLOCK)
            fault = slr_call_together();
        else
            SLR_FIRST fault = SLR_CALL(&slr_team.call[k]);
        SLR_FIRST {
            slr_ends_with(k, fault);
            slr_note_handled(S, P, k, &slr_team.call[k]);
            if (slr_team.set.passage != 0u) // now: of a port that has been closed the next reply takes the place of this one
                slr_pass_on(S, P, k);
        }
        SLR_MEET();
        if (slr_team.fault[k] != 0u && slr_team.set.judges != 0u)
            return k + 1u;
    }
    return batch;
}

// Messages of one instance are handled in successive rounds.
SLR_FN void slr_plan_rounds(mb_word batch)
{
    SLR_EACH(l) {
        mb_word round = 0u;
        for (mb_word k = 0u; l < batch && k < l; ++k)
            round += slr_team.instance[k] == slr_team.instance[l] ? 1u : 0u;
        slr_team.round[l] = round;
    }
    SLR_MEET();
    SLR_FIRST {
        slr_team.rounds = 0u;
        for (mb_word k = 0u; k < batch; ++k)
            if (slr_team.round[k] >= slr_team.rounds)
                slr_team.rounds = slr_team.round[k] + 1u;
    }
    SLR_MEET();
}

// Copies the batch's slots, a word a lane, eight slots at once: a word takes 1.2 us over the bus, however many are on
// their way.
SLR_FN void slr_fetch_slots(mb_word *S, const mb_word *P, mb_word batch)
{
    mb_word words = SLR_SIZE(MB_SLOT_WORDS);
#define SLR_TAKE(j) mb_word w##j = k + (j) < batch ? MB_AT(P[MBP_BATCH(k + (j)) + 1u] + i) : 0u;
#define SLR_PUT(j)                                                                                                     \
    if (k + (j) < batch)                                                                                               \
        slr_team.message[(k + (j)) * words + i] = w##j;
    SLR_EACH(l)
        for (mb_word k = 0u; k < batch; k += 8u)
            for (mb_word i = l; i < words; i += SLR_LANES) {
                SLR_TAKE(0u) SLR_TAKE(1u) SLR_TAKE(2u) SLR_TAKE(3u) SLR_TAKE(4u) SLR_TAKE(5u) SLR_TAKE(6u) SLR_TAKE(7u)
                SLR_PUT(0u) SLR_PUT(1u) SLR_PUT(2u) SLR_PUT(3u) SLR_PUT(4u) SLR_PUT(5u) SLR_PUT(6u) SLR_PUT(7u)
            }
#undef SLR_TAKE
#undef SLR_PUT
}

// By a lane: the call of the k-th message, whose slot is at hand. Its replies are gathered beside it.
SLR_FN void slr_open_call(mb_word k, const mb_word *slot)
{
    mb_word room = SLR_SIZE(MB_MAX_REPLIES) * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD);
    struct slri_call *call = &slr_team.call[k];
    slr_team.instance[k] = slot[MB_INSTANCE];
    slr_fill_call(call, slot + MB_PAYLOAD, slr_team.instance[k]);
    call->reply_base = (unsigned char *)&slr_team.reply[k * room];
    call->reply_mask = 0xffffffffu;
    call->reply_stride -= MB_PAYLOAD * 4u;
    slr_open_outs(k, call);
}

// Fetches the batch's slots, where they fit, to call handlers on these, a lane a message.
SLR_FN void slr_prepare(mb_word *S, const mb_word *P, mb_word batch)
{
    mb_word words = SLR_SIZE(MB_SLOT_WORDS);
    mb_word fits = words * batch <= SLR_ROOM ? 1u : 0u, is_here = batch == 1u && slr_team.fetched == P[MBP_BATCH(0) + 1u];
    if (fits != 0u && is_here == 0u)
        slr_fetch_slots(S, P, batch);
    SLR_MEET();
    SLR_EACH(l)
        if (l < batch)
            slr_open_call(l, fits != 0u ? &slr_team.message[l * words] : &MB_AT(P[MBP_BATCH(l) + 1u]));
    SLR_FIRST slr_team.near = fits;
    SLR_MEET();
    slr_plan_rounds(batch);
}

SLR_FN void slr_put_replies(mb_word *S, const mb_word *P, mb_word batch)
{
    mb_word slot = SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD, room = SLR_SIZE(MB_MAX_REPLIES) * slot;
    mb_word words = slot - (SLR_SIZE(MB_STAMPED) != 0u ? 2u : 0u); // the stamp is there already
    SLR_EACH(l)
        for (mb_word k = 0u; k < batch; ++k)
            for (mb_word n = 0u; n < slr_team.placed[k]; ++n) {
                mb_word lane = mb_reply_lane_of(S, P, P[MBP_BATCH(k)]);
                mb_word reply = mb_reply_slot(S, lane, slr_team.to[k] + n) + MB_PAYLOAD;
                for (mb_word i = l; i < words; i += SLR_LANES)
                    S[reply + i] = slr_team.reply[k * room + n * slot + i];
            }
    SLR_MEET();
}

// Behind their handlers: what has become of each message, and the replies.
SLR_APART void slr_settle_together(mb_word *S, mb_word *P, mb_word batch)
{
    SLR_FIRST
        for (mb_word k = 0u; k < batch; ++k) {
            slr_team.now = k;
            slr_note_handled(S, P, k, &slr_team.call[k]);
            if (slr_team.set.passage != 0u)
                slr_pass_on(S, P, k);
        }
    SLR_MEET();
    slr_put_replies(S, P, batch);
}

SLR_FN void slr_handle_together(mb_word *S, mb_word *P, mb_word batch)
{
    slr_prepare(S, P, batch);
    for (mb_word round = 0u; round < slr_team.rounds; ++round) {
        SLR_EACH(l)
            if (l < batch && slr_team.round[l] == round)
                slr_ends_with(l, SLR_CALL(&slr_team.call[l]));
        SLR_MEET();
    }
    slr_settle_together(S, P, batch);
}

// ---- how long messages take ----------------------------------------------------------------------------------------

// By each lane, of its own message; now, not when the sender's time has come over the bus: so what is told is what those
// take that are not timed. The two times are of two clocks, and `ahead_ns` is how far the host says that they are apart:
// where it has not said so, nothing is told. A time lies beside the lane, behind the acquire of its message, and stays
// until the message is retired.
SLR_FN __attribute__((noinline)) SLRI_ADDRESS slr_took(mb_word k)
{
    const mb_word *S = slr_words(slr_team.set.shared), *P = SLR_P;
    SLRI_ADDRESS now_ns = slr_time(), ahead_ns;
    const mb_word *slot = slr_team.near != 0u ? &slr_team.message[k * SLR_SIZE(MB_SLOT_WORDS)] : &MB_AT(P[MBP_BATCH(k) + 1u]);
    if ((slot[MB_HEAD] & MB_FLAG_TIMED) == 0u)
        return SLR_UNTIMED;
    ahead_ns = slr_peek_long(&slr_team.serving->ahead_ns);
    if (ahead_ns == 0u)
        return SLR_UNTIMED;
    mb_word time = mb_time_at(S, P, P[MBP_BATCH(k)], slot[MB_SEQUENCE], P[MBP_BATCH(k) + 2u]);
    SLRI_ADDRESS sent_ns = S[time] | (SLRI_ADDRESS)S[time + 1u] << 32u;
    now_ns -= ahead_ns;
    return now_ns > sent_ns ? now_ns - sent_ns : 0u;
}

// By the first lane. Where the host reads them: stores that nobody waits for, of words that this block alone writes.
SLR_FN __attribute__((noinline)) void slr_count_time(SLRI_ADDRESS took_ns)
{
    SLRI_ADDRESS *near = slr_times(slr_team.set.own), *home = slr_times(slr_team.set.own_home);
    mb_word bucket = HG_BUCKET(hg_bucket(took_ns));
    SLR_TELL(home[bucket], near[bucket] += 1u);
    SLR_TELL(home[HG_SUM], near[HG_SUM] += took_ns);
    if (took_ns > near[HG_MOST])
        SLR_TELL(home[HG_MOST], near[HG_MOST] = took_ns);
    if (~took_ns > near[HG_LEAST])
        SLR_TELL(home[HG_LEAST], near[HG_LEAST] = ~took_ns);
}

// Before the batch is published: so what is counted as handled is in the histogram, where it was timed.
SLR_FN void slr_note_times(mb_word done)
{
    SLR_EACH(l)
        if (l < done)
            slr_team.took_ns[l] = slr_took(l);
    SLR_MEET();
    SLR_FIRST {
        for (mb_word k = 0u; k < done; ++k)
            if (slr_team.took_ns[k] != SLR_UNTIMED)
                slr_count_time(slr_team.took_ns[k]);
    }
    SLR_MEET();
}

// ---- for the profiler and the trace --------------------------------------------------------------------------------

// By the first lane. Where the host has not read for long, it is only counted.
SLR_FN __attribute__((noinline)) void slr_record(mb_word messages)
{
    struct slri_resident_entry *entry = slr_team.serving;
    mb_word n = slr_team.set.written;
    if (n - slr_team.set.read_seen >= SLRI_RESIDENT_RECORDS) {
        slr_team.set.read_seen = entry->read_seen = SLR_PEEK(entry->read);
        SLR_SEEN(); // what is read there will not be read again
    }
    if (n - slr_team.set.read_seen >= SLRI_RESIDENT_RECORDS) {
        slr_team.set.dropped += 1u;
        SLR_TELL(entry->dropped, slr_team.set.dropped);
        return;
    }
    struct slri_resident_record_of_batch *record =
        (struct slri_resident_record_of_batch *)slr_team.set.records + (n & (SLRI_RESIDENT_RECORDS - 1u));
    SLRI_ADDRESS ns = slr_time() - slr_team.taken_ns;
    record->taken_ns = slr_team.taken_ns;
    record->duration_ns = ns < 0xffffffffu ? (mb_word)ns : 0xffffffffu;
    record->messages = messages;
    slr_team.set.written = n + 1u;
    SLR_STORE(entry->written, n + 1u); // the record
}

// ---- a batch -------------------------------------------------------------------------------------------------------

// Publishes a batch of which `done` were handled. The lanes' stores are in order by the first one's fence.
SLR_APART void slr_publish(mb_word *S, mb_word *P, mb_word done)
{
    if ((P[MBP_TIMED] & MB_FLAG_TIMED) != 0u)
        slr_note_times(done);
    SLR_MEET(); // all have read what is now set to zero
    SLR_FIRST {
        mb_word claimed = P[MBP_BATCH_COUNT];
        P[MBP_TIMED] = 0u;
        slr_team.near = 0u;
        slr_team.batch = done;
        P[MBP_BATCH_COUNT] = done;
        if (slr_team.set.passage != 0u)
            slr_flush();
        SLR_ORDER();
        slr_flush_ports(S, P);
        mb_finish(S, P);
        if (done < claimed)
            mb_keep_rest(S, P, done, claimed);
        if (slr_team.set.judges != 0u && slr_team.fault[done - 1u] != 0u) {
            for (mb_word k = done; k-- > 0u && slr_team.fault[k] != 0u;) // of the last call
                slr_team.set.faulted += 1u;
            slr_team.unheard[slr_team.index] = 2u; // from now on: the host may have judged before the next look
            SLR_STORE(slr_team.serving->faulted, slr_team.set.faulted);
        }
    }
    SLR_MEET();
}

SLR_APART mb_word slr_handle_calls(mb_word *S, mb_word *P, mb_word claimed); // cu_batch.h

SLR_FN void slr_handle(mb_word *S, mb_word *P, mb_word batch)
{
    SLR_FIRST {
        mb_word room = SLR_SIZE(MB_MAX_REPLIES) * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD);
        slr_team.near = 0u;
        slr_team.together = !SLR_IS_BLOCK && slr_team.set.judges == 0u && room <= SLR_ROOM / batch ? 1u : 0u;
    }
    SLR_MEET();
    slr_move_states(1u);
    mb_word done = batch;
    if (!SLR_IS_BLOCK && batch != 1u && SLR_SIZE(MB_BATCH_BYTES) != 0u)
        done = slr_handle_calls(S, P, batch);
    else if (slr_team.together != 0u)
        slr_handle_together(S, P, batch);
    else
        done = slr_handle_each(S, P, batch);
    slr_publish(S, P, done);
}
