// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: the kernel that stays. It stands behind a handler's emitted text, the table's layout
// (device/resident_layout.h), what a block's lanes share (cu_team.h), the mailbox (abi/mailbox.h) and what of it lies
// near (cu_near.h), and is their loop. Each block is one warp, and serves every gridDim.x-th shard of the table, so all
// blocks must run at once. SLR_HANDLER is the handler, SLR_THREADS how many threads a block has. With SLR_IS_BLOCK all
// of them handle each message: those of other warps wait at a barrier until they are called. C as well as C++.
//
// Memory orders: as the mailbox says at each word, for the whole system, because the host is the other side. Lanes meet
// at SLR_MEET, which orders what they did among them; the first one's fence then orders it for the host. A launch
// acquires what the host wrote before it; `gone` is released behind all that any block did.
// clang-format off
#ifndef SLR_IDLE_LOOKS
#define SLR_IDLE_LOOKS 256u // then a pass without work sleeps: a look at the host's memory takes 1.1 us on an H100
#endif
#define SLR_SLEEP_NS 200u
#define SLR_LOOKS 8u // of a team that is idle one in so many is at the control words, too: all looks share the bus
#define SLR_ENDS 0xffffffffu // no fault: the kernel ends

// ---- homes and what lies near --------------------------------------------------------------------------------------

// Makes the team that of another entry.
SLR_FN void slr_turn_to(struct slri_resident_table *table, mb_word i)
{
    struct slri_resident_entry *entry = &table->entry[i];
    const mb_word group = (sizeof *entry - 128u) / 4u; // the last line is the group's
    SLR_MEET();
    if (slr_team.serving == entry)
        return;
    SLR_MEET(); // all have looked
    SLR_FIRST {
        slr_team.serving = entry;
        slr_team.index = i;
        slr_team.busy = 0u;
        slr_team.looks = 0u;
        slr_team.aimed = 0u;
        slr_team.word[SLR_JUDGED] = 0u; // until the first look
    }
    slr_copy((mb_word *)&slr_team.set, (const mb_word *)entry, 32u);
    slr_copy((mb_word *)&slr_team.set + group, (const mb_word *)entry + group, 32u);
    SLR_MEET();
    if (slr_team.set.used != 0u)
        slr_copy(slr_team.size, slr_words(slr_team.set.shared) + 64, 32u);
    SLR_MEET();
    slr_know_passage();
}

SLR_FN SLRI_ADDRESS *slr_times(SLRI_ADDRESS own)
{
    return (SLRI_ADDRESS *)(slr_words(own) + MBP_HISTOGRAM_AT(slr_team.set.own_words));
}

SLR_FN void slr_fetch_times(void)
{
    slr_copy((mb_word *)slr_times(slr_team.set.own), (const mb_word *)slr_times(slr_team.set.own_home), 2u * HG_WORDS);
}

SLR_FN void slr_arrive(struct slri_resident_table *table, mb_word i)
{
    slr_turn_to(table, i);
    if (slr_team.set.used == 0u)
        return;
    const mb_word *S = slr_words(slr_team.set.shared);
    if (slr_team.set.own_home != 0u)
        slr_copy(slr_words(slr_team.set.own), slr_words(slr_team.set.own_home), slr_team.set.own_words);
    if (SLR_SIZE(MB_TIMED_BELOW) != 0u)
        slr_fetch_times();
    SLR_MEET();
    slr_find_near(S, slr_words(slr_team.set.own));
    slr_fetch_outlets();
    slr_fetch_outs();
    SLR_FIRST {
        slr_team.heard[i][0] = SLR_PEEK(S[MB_CONTROL]);
        slr_team.heard[i][1] = SLR_PEEK(S[MB_PORT_EPOCH]);
        slr_team.unheard[i] = 0u;
    }
    SLR_SEEN();
}

SLR_FN void slr_fetch_states(void)
{
    if (slr_team.set.away != 0u || slr_team.set.states_home == 0u)
        return;
    slr_copy(slr_words(slr_team.set.states), slr_words(slr_team.set.states_home), slr_team.set.states_bytes / 4u);
    SLR_MEET();
    SLR_FIRST slr_team.set.away = slr_team.serving->away = 1u;
    SLR_MEET();
}

// Before the first lane tells the host so.
SLR_FN void slr_bring_states(void)
{
    if (slr_team.set.away == 0u)
        return;
    slr_copy(slr_words(slr_team.set.states_home), slr_words(slr_team.set.states), slr_team.set.states_bytes / 4u);
    SLR_MEET();
    SLR_FIRST slr_team.set.away = slr_team.serving->away = 0u;
    SLR_MEET();
}

SLR_FN void slr_bring_own(void)
{
    if (slr_team.set.own_home != 0u)
        slr_copy(slr_words(slr_team.set.own_home), slr_words(slr_team.set.own), slr_team.set.own_words);
    SLR_MEET();
}

// What must be at home should the device be lost with this batch in hand (device/resident_home.c): the head, the
// cursors of the batch's ports, and the pending set where there is one.
SLR_FN void slr_note_batch(const mb_word *P, mb_word batch)
{
    if (slr_team.set.own_home == 0u)
        return;
    mb_word *home = slr_words(slr_team.set.own_home);
    if (P[MBP_WAITING] != 0u || slr_team.waited != 0u) {
        slr_bring_own();
        return;
    }
    slr_copy(home, P, MBP_BATCH(batch));
    slr_copy(home + MBP_MOST, P + MBP_MOST, MBP_PORT(0u) - MBP_MOST);
    SLR_EACH(l)
        for (mb_word word = 0u; l < batch && word < MBQ_FIRST(0u); ++word)
            home[MBP_PORT(P[MBP_BATCH(l)]) + word] = P[MBP_PORT(P[MBP_BATCH(l)]) + word];
    SLR_MEET();
}

// Of those that are not over, behind the last pass.
SLR_FN void slr_depart(struct slri_resident_table *table, mb_word i)
{
    slr_turn_to(table, i);
    if (slr_team.set.used == 0u || slr_team.set.left != 0u)
        return;
    slr_bring_batch(slr_words(slr_team.set.shared), slr_words(slr_team.set.own));
    slr_bring_outlets();
    slr_bring_states();
    slr_bring_own();
}

// ---- looking -------------------------------------------------------------------------------------------------------

// Which lanes show messages, beginning with the port whose turn it is, so that no port is always one too many.
SLR_FN void slr_list_runs(const mb_word *S, const mb_word *P)
{
    mb_word turn = P[MBP_TURN];
    slr_team.runs = 0u;
    slr_team.more = 0u;
    slr_team.unsure = 0u;
    for (mb_word part = 0u; part < 2u; ++part) {
        mb_word port = mb_next_port(S, P, part == 0u ? turn : 0u);
        while (port < MB_MAX_PORTS && (part == 0u || port < turn)) {
            if ((slr_team.shows[port & 31u] >> (port >> 5u) & 1u) != 0u) {
                if (slr_team.runs == SLR_LANES) {
                    slr_team.more = 1u;
                    return;
                }
                slr_team.lane[slr_team.runs] = mb_lane_of(S, P, port);
                slr_team.from[slr_team.runs] = P[MBP_PORT(port) + MBQ_NEXT_IN];
                mb_word flagged = slr_team.set.flags != 0u && port < 32u ? slr_team.flagged[port] : 0u;
                slr_team.run[slr_team.runs] = flagged != 0u ? flagged : 1u;
                slr_team.unsure |= flagged == 0u ? 1u : 0u;
                slr_team.runs += 1u;
            }
            port = mb_next_port(S, P, port + 1u);
        }
    }
}

// How many messages the i-th shows: about `most` at most. Of a team that was idle it is taken to be one, so that the first
// message does not wait for a look at those that are hardly there.
SLR_FN void slr_measure_run(const mb_word *S, mb_word i, mb_word most)
{
    mb_word lane = slr_team.lane[i], from = slr_team.from[i];
    SLR_FIRST slr_team.run[i] = 0u;
    SLR_MEET();
    for (mb_word seen = 0u; seen < most && slr_team.run[i] == seen; seen += SLR_LANES) {
        SLR_EACH(l)
            slr_team.full[l] = SLR_PEEK(MB_AT(mb_lane_slot(S, lane, from + seen + l) + MB_SEQUENCE)) == from + seen + l + 1u;
        SLR_MEET();
        SLR_FIRST {
            mb_word run = seen == 0u ? 1u : 0u; // the first was seen
            while (run < SLR_LANES && slr_team.full[run] != 0u)
                run += 1u;
            slr_team.run[i] = seen + run;
        }
        SLR_MEET();
    }
}

SLR_FN void slr_measure(const mb_word *S, mb_word most)
{
    for (mb_word i = 0u; i < slr_team.runs; ++i)
        slr_measure_run(S, i, most);
    SLR_SEEN();
}

// Whether priorities decide what is taken first. Then all that the lanes show must be known, and not the first of it.
SLR_FN mb_word slr_is_mixed(const mb_word *P)
{
    mb_word mixed = P[MBP_WAITING];
    for (mb_word i = 0u; i < slr_team.runs; ++i)
        mixed |= (mb_word)(slr_team.mark[i] > 256u || slr_team.mark[i] != slr_team.mark[0]);
    return mixed;
}

// Where the next message of each port will show. Behind every pass, for looks to have it at hand.
SLR_FN void slr_aim(const mb_word *S, const mb_word *P)
{
    SLR_EACH(l) {
        mb_word is_open = P[MBP_SET(0)] >> l & 1u, at = is_open != 0u ? P[MBP_PORT(l) + MBQ_NEXT_IN] : 0u;
        mb_word lane = mb_lane_of(S, P, l);
        slr_team.next[l] = is_open != 0u ? mb_lane_slot(S, lane, at) + MB_SEQUENCE : 0u;
        slr_team.turn[l] = at + 1u;
    }
    SLR_FIRST slr_team.aimed = 1u;
    SLR_MEET();
}

// The ports of the l-th lane that show something, of those from the 33rd on.
SLR_FN mb_word slr_look_further(const mb_word *S, const mb_word *P, mb_word l)
{
    mb_word shows = 0u;
    for (mb_word w = 1u; w < SLR_SIZE(MB_PORT_WORDS); ++w)
        if ((P[MBP_SET(w)] >> l & 1u) != 0u) {
            mb_word port = w * 32u + l, at = P[MBP_PORT(port) + MBQ_NEXT_IN];
            mb_word slot = mb_lane_slot(S, mb_lane_of(S, P, port), at);
            shows |= (mb_word)(SLR_PEEK(MB_AT(slot + MB_SEQUENCE)) == at + 1u) << w;
        }
    return shows;
}

#define SLR_SOME 0xffffffffu
// How many messages a port's flag shows: it is ahead of what was taken by no more than a lane has slots; one that is
// behind says nothing. A lane that lies near has no flag: it shows none, or some.
SLR_APART mb_word slr_shown(mb_word port)
{
    const mb_word *S = slr_words(slr_team.set.shared), *P = slr_words(slr_team.set.own);
    mb_word at = P[MBP_PORT(port) + MBQ_NEXT_IN], lane = mb_lane_of(S, P, port);
    if ((P[MBP_SET(port >> 5u)] >> (port & 31u) & 1u) == 0u)
        return 0u;
    if ((lane & MB_NEAR) != 0u)
        return SLR_PEEK(MB_AT(mb_lane_slot(S, lane, at) + MB_SEQUENCE)) == at + 1u ? SLR_SOME : 0u;
    mb_word count = SLR_FLAG(slr_words(slr_team.set.flags)[port]) - at;
    return count - 1u <= SLR_SIZE(MB_LANE_MASK) ? count : 0u;
}

SLR_FN void slr_look_near(void)
{
    SLR_EACH(l) {
        mb_word shown = slr_shown(l);
        slr_team.flagged[l] = shown != SLR_SOME ? shown : 0u;
        slr_team.shows[l] = shown != 0u ? 1u : 0u;
        for (mb_word w = 1u; w < SLR_SIZE(MB_PORT_WORDS); ++w)
            slr_team.shows[l] |= (mb_word)(slr_shown(w * 32u + l) != 0u) << w;
    }
    SLR_SEEN();
    SLR_MEET();
}

SLR_FN void slr_look_once(struct slri_resident_table *table, const mb_word *S, const mb_word *P)
{
    struct slri_resident_entry *entry = slr_team.serving;
    SLR_EACH(l) {
        const mb_word *word = l == SLR_STOP ? &table->stop : l == SLR_HOLD ? &entry->hold : l == SLR_JUDGED ? &entry->judged
                              : l == SLR_ASKED ? &table->asked : &S[l == SLR_CONTROL ? MB_CONTROL : MB_PORT_EPOCH];
        mb_word next = slr_team.next[l], found = 0u, is = 0u;
        if (next != 0u)
            found = SLR_PEEK(MB_AT(next));
        if (l < SLR_WORDS && slr_team.all != 0u)
            is = SLR_PEEK(*word);
        mb_word shows = (next != 0u && found == slr_team.turn[l] ? 1u : 0u) | slr_look_further(S, P, l);
        slr_team.shows[l] = slr_team.set.flags != 0u ? slr_team.shows[l] | shows : shows;
        if (l < SLR_WORDS && slr_team.all != 0u)
            slr_team.word[l] = is;
    }
    SLR_SEEN();
    SLR_MEET();
}

// The marks of lanes that show something, behind the acquire of what they show; and, of a team that was idle, the first
// message.
SLR_FN void slr_look_closer(const mb_word *S)
{
    mb_word slot = mb_lane_slot(S, slr_team.lane[0], slr_team.from[0]), words = SLR_SIZE(MB_SLOT_WORDS);
    mb_word fetches = slr_team.busy == 0u && words <= SLR_ROOM ? 1u : 0u;
    SLR_EACH(l) {
        mb_word mark = l < slr_team.runs ? SLR_PEEK(MB_AT(slr_team.lane[l] + MB_MIXED)) : 0u;
        for (mb_word i = l; fetches != 0u && i < words; i += SLR_LANES)
            slr_team.message[i] = MB_AT(slot + i);
        slr_team.mark[l] = mark;
    }
    SLR_FIRST slr_team.fetched = fetches != 0u ? slot : 0u;
    SLR_MEET();
}

// One look at all that the host changes, and another at what it has found.
SLR_FN void slr_look(struct slri_resident_table *table, const mb_word *S, const mb_word *P)
{
    SLR_FIRST {
        mb_word waits = slr_team.set.faulted != slr_team.word[SLR_JUDGED] || slr_team.unheard[slr_team.index] != 0u;
        slr_team.all = slr_team.looks % SLR_LOOKS == 0u || slr_team.busy != 0u || waits != 0u ||
                               P[MBP_GONE_OPEN] != 0u // a port is gone when its slots say so
                           ? 1u
                           : 0u;
        slr_team.looks += 1u;
        slr_team.looked = 1u;
        slr_team.fetched = 0u;
    }
    SLR_MEET();
    // Where there are flags one look in so many crosses the bus, for the control words, and for the slots beside them,
    // which costs no time more: who has sent before there were flags has raised none.
    if (slr_team.set.flags != 0u)
        slr_look_near();
    if (slr_team.set.flags == 0u || slr_team.all != 0u)
        slr_look_once(table, S, P);
    SLR_FIRST {
        slr_list_runs(S, P);
        if (slr_team.runs == 0u)
            slr_team.busy = 0u; // it is idle from the next look on
    }
    SLR_MEET();
    if (slr_team.runs == 0u)
        return;
    if (slr_team.busy != 0u && slr_team.unsure != 0u)
        slr_measure(S, SLR_LANES);
    slr_look_closer(S);
    if (slr_team.unsure != 0u && slr_is_mixed(P) != 0u) {
        slr_measure(S, SLR_SIZE(MB_LANE_MASK) + 1u);
        slr_look_closer(S);
    }
}

// ---- handling ------------------------------------------------------------------------------------------------------

SLR_FN void slr_reset(void *state)
{
    const SLRI_ADDRESS *initial = (const SLRI_ADDRESS *)slr_team.set.initial_state;
    SLRI_ADDRESS *words = (SLRI_ADDRESS *)state;
    for (SLRI_ADDRESS i = 0; state && i < (slr_team.set.state_bytes + 7) / 8; ++i) // strides are multiples of 16
        words[i] = initial ? initial[i] : 0;
}

SLR_FN void slr_note_fault(mb_word *S, const mb_word *P, mb_word k, const struct slri_call *call)
{
    MB_STORE(P[MBP_OWNER] + MB_FAULT_FILE, call->fault_file);
    MB_STORE(P[MBP_OWNER] + MB_FAULT_LINE, call->fault_line);
    MB_STORE(P[MBP_OWNER] + MB_FAULT_INSTANCE, call->instance);
    MB_STORE(P[MBP_OWNER] + MB_FAULT_KIND, slr_team.fault[k]);
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
        slr_note_fault(S, P, k, call);
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
        call->reply_base = (unsigned char *)&S[mb_reply_slot(S, mb_reply_lane(S, P[MBP_OWNER], port), 0) + MB_PAYLOAD];
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
SLR_FN mb_word slr_handle_each(mb_word *S, mb_word *P, mb_word batch)
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

// Fetches the batch's slots, where they fit, and calls handlers on these, a lane a message; their replies are gathered
// beside them.
SLR_FN void slr_prepare(mb_word *S, const mb_word *P, mb_word batch)
{
    mb_word words = SLR_SIZE(MB_SLOT_WORDS), room = SLR_SIZE(MB_MAX_REPLIES) * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD);
    mb_word fits = words * batch <= SLR_ROOM ? 1u : 0u, is_here = batch == 1u && slr_team.fetched == P[MBP_BATCH(0) + 1u];
    SLR_EACH(l)
        for (mb_word i = l; fits != 0u && is_here == 0u && i < words * batch; i += SLR_LANES)
            slr_team.message[i] = MB_AT(P[MBP_BATCH(i / words) + 1u] + i % words);
    SLR_MEET();
    SLR_EACH(l)
        if (l < batch) {
            const mb_word *slot = fits != 0u ? &slr_team.message[l * words] : &MB_AT(P[MBP_BATCH(l) + 1u]);
            struct slri_call *call = &slr_team.call[l];
            slr_team.instance[l] = slot[MB_INSTANCE];
            slr_fill_call(call, slot + MB_PAYLOAD, slr_team.instance[l]);
            call->reply_base = (unsigned char *)&slr_team.reply[l * room];
            call->reply_mask = 0xffffffffu;
            call->reply_stride -= MB_PAYLOAD * 4u;
            slr_open_outs(l, call);
        }
    SLR_FIRST slr_team.near = fits;
    SLR_MEET();
    slr_plan_rounds(batch);
}

SLR_FN void slr_put_replies(mb_word *S, const mb_word *P, mb_word batch)
{
    mb_word slot = SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD, room = SLR_SIZE(MB_MAX_REPLIES) * slot;
    mb_word words = slot - (SLR_SIZE(MB_STAMPED) != 0u ? 2u : 0u); // the stamp is there already
    SLR_EACH(l)
        for (mb_word i = l; i < room * batch; i += SLR_LANES) {
            mb_word k = i / room, n = i % room / slot, word = i % slot;
            if (n < slr_team.placed[k] && word < words) {
                mb_word lane = mb_reply_lane(S, P[MBP_OWNER], P[MBP_BATCH(k)]);
                mb_word reply = mb_reply_slot(S, lane, slr_team.to[k] + n);
                S[reply + MB_PAYLOAD + word] = slr_team.reply[i];
            }
        }
    SLR_MEET();
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
    SLR_FIRST
        for (mb_word k = 0u; k < batch; ++k) {
            slr_team.now = k;
            slr_note_handled(S, P, k, &slr_team.call[k]);
        }
    SLR_MEET();
    slr_put_replies(S, P, batch);
}

// ---- how long messages take ----------------------------------------------------------------------------------------

// By each lane, of its own message; now, not when the sender's time has come over the bus: so what is told is what those
// take that are not timed. The two times are of two clocks, and `ahead_ns` is how far the host says that they are apart:
// where it has not said so, nothing is told. A time lies beside the lane, behind the acquire of its message, and stays
// until the message is retired.
SLR_FN __attribute__((noinline)) SLRI_ADDRESS slr_took(mb_word k)
{
    const mb_word *S = slr_words(slr_team.set.shared), *P = slr_words(slr_team.set.own);
    SLRI_ADDRESS now_ns = slr_time(), ahead_ns = slr_peek_long(&slr_team.serving->ahead_ns);
    const mb_word *slot = slr_team.near != 0u ? &slr_team.message[k * SLR_SIZE(MB_SLOT_WORDS)] : &MB_AT(P[MBP_BATCH(k) + 1u]);
    if ((slot[MB_HEAD] & MB_FLAG_TIMED) == 0u || ahead_ns == 0u)
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

// Handles the batch and publishes it. The lanes' stores are in order by the first one's fence.
SLR_FN void slr_handle(mb_word *S, mb_word *P, mb_word batch)
{
    SLR_FIRST {
        mb_word room = SLR_SIZE(MB_MAX_REPLIES) * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD);
        slr_team.near = 0u;
        slr_team.together = !SLR_IS_BLOCK && slr_team.set.judges == 0u && room <= SLR_ROOM / batch ? 1u : 0u;
    }
    SLR_MEET();
    slr_fetch_states();
    mb_word done = batch;
    if (slr_team.together != 0u)
        slr_handle_together(S, P, batch);
    else
        done = slr_handle_each(S, P, batch);
    if ((P[MBP_TIMED] & MB_FLAG_TIMED) != 0u)
        slr_note_times(done);
    SLR_FIRST {
        mb_word claimed = P[MBP_BATCH_COUNT];
        if (slr_team.set.passage != 0u)
            slr_pass_on(S, P, done);
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
            slr_team.set.faulted += 1u;
            slr_team.unheard[slr_team.index] = 2u; // from now on: the host may have judged before the next look
            SLR_STORE(slr_team.serving->faulted, slr_team.set.faulted);
        }
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

SLR_FN __attribute__((noinline)) void slr_answer(struct slri_resident_table *table)
{
    slr_team.answered = slr_team.word[SLR_ASKED];
    table->clock_ns = slr_time();
    SLR_STORE(table->answered, slr_team.answered); // with the time
}

// ---- a pass --------------------------------------------------------------------------------------------------------

enum { SLR_NOTHING, SLR_JUDGE, SLR_WAIT, SLR_OBEY_HOLD, SLR_PASS };

SLR_FN mb_word slr_decide(const mb_word *P)
{
    mb_word control = slr_team.heard[slr_team.index][0], hold = slr_team.word[SLR_HOLD];
    if (hold != slr_team.set.held)
        return SLR_OBEY_HOLD;
    if ((hold & 1u) != 0u)
        return SLR_NOTHING;
    if (slr_team.set.faulted != slr_team.word[SLR_JUDGED])
        return SLR_JUDGE;
    if (slr_team.unheard[slr_team.index] != 0u)
        return SLR_WAIT;
    return control + 1u != P[MBP_CONTROL] || (control & 3u) == MB_CLOSE || slr_team.runs != 0u || P[MBP_WAITING] != 0u ||
                   P[MBP_BATCH_COUNT] != 0u || P[MBP_GONE_OPEN] != 0u
               ? SLR_PASS
               : SLR_NOTHING;
}

SLR_FN void slr_obey_hold(void)
{
    if ((slr_team.word[SLR_HOLD] & 1u) != 0u)
        slr_bring_states();
    SLR_FIRST {
        slr_team.set.held = slr_team.word[SLR_HOLD];
        SLR_STORE(slr_team.serving->held, slr_team.set.held); // what it did with the shard, for the host
    }
}

// Answers are the mailbox's; before one the states are where the host looks for them.
SLR_FN void slr_pass(mb_word *S, mb_word *P)
{
    mb_word closes = (slr_team.heard[slr_team.index][0] & 3u) == MB_CLOSE ? 1u : 0u;
    if (slr_team.heard[slr_team.index][0] + 1u != P[MBP_CONTROL])
        slr_bring_states();
    SLR_FIRST {
        mb_word control = P[MBP_CONTROL];
        slr_team.waited = P[MBP_WAITING];
        slr_reserve(S, P);
        slr_team.batch = slr_taken(P, mb_begin(S, P));
        if (slr_team.set.records != 0u && slr_team.batch != 0u)
            slr_team.taken_ns = slr_time();
        slr_team.busy = slr_team.batch != 0u ? 1u : 0u;
        slr_team.worked |= slr_team.batch != 0u || P[MBP_CONTROL] != control ? 1u : 0u;
    }
    SLR_MEET();
    mb_word batch = slr_team.batch, state = P[MBP_STATE];
    if (batch != 0u || P[MBP_WAITING] != slr_team.waited)
        slr_note_batch(P, P[MBP_BATCH_COUNT]);
    if (batch != 0u) {
        slr_handle(S, P, batch);
        SLR_FIRST {
            if (slr_team.set.records != 0u)
                slr_record(slr_team.batch);
        }
        return;
    }
    if (closes != 0u)
        slr_bring_states();
    if (state == MB_ENDED || state == MB_STOPPED) {
        slr_bring_batch(S, P);
        slr_bring_outlets();
        slr_bring_own();
        SLR_FIRST {
            slr_team.worked = 1u;
            slr_team.set.left = 1u;
            SLR_STORE(slr_team.serving->left, 1u); // its last touch of the shard
        }
    }
}

SLR_FN void slr_serve(struct slri_resident_table *table, mb_word i)
{
    slr_turn_to(table, i);
    if (slr_team.set.used == 0u || slr_team.set.left != 0u)
        return;
    mb_word *S = slr_words(slr_team.set.shared), *P = slr_words(slr_team.set.own);
    SLR_FIRST {
        if (slr_team.heard[i][1] != P[MBP_EPOCH]) { // before the look, so that it finds all ports' lanes
            mb_reread_ports(S, P, slr_team.heard[i][1]);
            slr_team.aimed = 0u;
            slr_team.act = 1u;
        } else
            slr_team.act = 0u;
    }
    SLR_MEET();
    if (slr_team.act != 0u)
        slr_find_near(S, P);
    if (slr_team.aimed == 0u)
        slr_aim(S, P);
    slr_look(table, S, P);
    SLR_FIRST slr_team.act = slr_decide(P);
    SLR_MEET();
    mb_word act = slr_team.act;
    if (act == SLR_OBEY_HOLD)
        slr_obey_hold();
    if (act == SLR_PASS)
        slr_pass(S, P);
    SLR_MEET();
    SLR_FIRST {
        slr_team.aimed = act == SLR_PASS ? 0u : slr_team.aimed;
        slr_team.worked |= act != SLR_NOTHING && act != SLR_PASS ? 1u : 0u;
        // A judgement may be a command: it is in what the next look finds, and the pass behind that one hears it.
        slr_team.unheard[i] = act == SLR_JUDGE ? 2u : act == SLR_WAIT ? slr_team.unheard[i] - 1u : slr_team.unheard[i];
        slr_team.heard[i][0] = slr_team.word[SLR_CONTROL];
        slr_team.heard[i][1] = slr_team.word[SLR_EPOCH];
    }
}

// ---- the launch ----------------------------------------------------------------------------------------------------

SLR_FN mb_word slr_count(mb_word *word, mb_word more)
{
    return __nv_atomic_fetch_add(word, more, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM) + more;
}

// All blocks have been idle for long: then they end, and the next message has the kernel launched again. It does no
// harm if one of them gets work meanwhile: what it leaves is found by whoever looks next.
SLR_FN mb_word slr_note_idle(mb_word worked, mb_word idle, mb_word most_idle)
{
    if (worked != 0) {
        if (idle >= most_idle)
            slr_count(&SLR_BLOCKS->idle, 0u - 1u);
        return 0;
    }
    if (idle + 1 == most_idle && slr_count(&SLR_BLOCKS->idle, 1u) == gridDim.x)
        SLR_STORE(SLR_BLOCKS->ending, 1u);
    if (idle >= SLR_IDLE_LOOKS)
        __nanosleep(SLR_SLEEP_NS);
    return idle < most_idle ? idle + 1 : idle;
}

SLR_FN void slr_end(struct slri_resident_table *table, mb_word launch)
{
    SLR_ORDER(); // what all lanes brought home
    if (slr_count(&SLR_BLOCKS->ended, 1u) != gridDim.x)
        return;
    SLR_STORE(SLR_BLOCKS->idle, 0u);
    SLR_STORE(SLR_BLOCKS->ended, 0u);
    SLR_STORE(SLR_BLOCKS->ending, 0u);
    SLR_STORE(table->gone, launch);
}

SLR_KERNEL slr_stay(struct slri_resident_table *table)
{
    if (SLR_IS_BLOCK && SLR_HELPS) {
        slr_help();
        return;
    }
    mb_word launch = table->launch, most_idle = table->most_idle, entries = table->entries, idle = 0u;
    SLR_FIRST {
        slr_team.serving = 0;
        slr_team.answered = blockIdx.x == 0u ? table->answered : 0u; // the first block answers
    }
    for (mb_word i = blockIdx.x; i < entries; i += gridDim.x)
        slr_arrive(table, i);
    do {
        SLR_MEET();
        SLR_FIRST {
            slr_team.worked = 0u;
            slr_team.looked = 0u;
        }
        for (mb_word i = blockIdx.x; i < entries; i += gridDim.x)
            slr_serve(table, i);
        SLR_MEET();
        SLR_FIRST {
            if (slr_team.looked == 0u) // no entry has a shard any more
                slr_team.word[SLR_STOP] = SLR_PEEK(table->stop);
            else if (blockIdx.x == 0u && slr_team.word[SLR_ASKED] != slr_team.answered)
                slr_answer(table);
            idle = slr_note_idle(slr_team.worked, idle, most_idle);
            slr_team.act = slr_team.word[SLR_STOP] != launch && SLR_LOAD(SLR_BLOCKS->ending) == 0u ? 1u : 0u;
        }
        SLR_MEET();
    } while (slr_team.act != 0u);
    SLR_FIRST slr_team.called = 0u;
    if (SLR_IS_BLOCK)
        slr_call_together();
    for (mb_word i = blockIdx.x; i < entries; i += gridDim.x)
        slr_depart(table, i);
    SLR_MEET();
    SLR_FIRST slr_end(table, launch);
}
