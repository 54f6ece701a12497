// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: how all lanes handle and publish a batch of the fast path, which lies in `message`. It stands behind
// cu_handle.h, before cu_fast.h. C as well as C++, as cu_team.h says.
// clang-format off
// ---- handlers ------------------------------------------------------------------------------------------------------

// Messages of one instance are handled in successive rounds. Gives how many lanes have faulted.
SLR_FN mb_word slr_call_run(mb_word batch)
{
    SLR_EACH(l) {
        slr_team.instance[l] = l < batch ? slr_team.message[l * SLR_SIZE(MB_SLOT_WORDS) + MB_INSTANCE] : 0u;
        slr_team.fault[l] = 0u;
        if (l < batch)
            slr_open_call(l, &slr_team.message[l * SLR_SIZE(MB_SLOT_WORDS)]);
    }
    slr_rank(slr_team.round, slr_team.instance); // each lane's among those of the same instance
    SLR_EACH(l)
        slr_team.full[l] = l < batch && slr_team.set.used != SLRI_RESIDENT_FREE ? slr_team.round[l] : 0u;
    mb_word last = batch != 1u ? slr_most(slr_team.full) : 0u;
    for (mb_word round = 0u; round <= last; ++round) {
        SLR_EACH(l)
            if (l < batch && slr_team.full[l] == round)
                slr_ends_with(l, SLR_CALL(&slr_team.call[l]));
        SLR_MEET(); // the state is that of another lane's message next
    }
    SLR_EACH(l)
        slr_team.placed[l] = l < batch ? slr_team.call[l].replies : 0u;
    return slr_ballot(slr_team.fault);
}

// ---- replies -------------------------------------------------------------------------------------------------------

// Where replies go to: slots that follow one another, of the reply lane's size, from a position on.
struct slr_way {
    mb_word *slots;
    mb_word mask, from;
};

SLR_FN mb_word *slr_way_slot(const struct slr_way *way, mb_word position)
{
    return way->slots + (position & way->mask) * SLR_SIZE(MB_REPLY_SLOT_WORDS);
}

// The payloads, 16 bytes a lane, with the time stamps behind them. The n-th reply to message k goes to position
// from + to[k] + n.
SLR_FN void slr_write_payloads(const struct slr_way *way, mb_word batch)
{
    mb_word quads = (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD) / 4u, most = SLR_SIZE(MB_MAX_REPLIES);
    const struct slr_quad *from = (const struct slr_quad *)(const void *)slr_team.reply;
    SLR_EACH(l)
        for (mb_word i = l; i < batch * most * quads; i += SLR_LANES) {
            mb_word s = i / quads, k = most == 1u ? s : s / most, n = s - k * most;
            if (n < slr_team.placed[k])
                ((struct slr_quad *)(void *)(slr_way_slot(way, way->from + slr_team.to[k] + n) + MB_PAYLOAD))[i - s * quads] = from[i];
        }
}

// By each lane, of its own message: what its replies begin with, as mb_head_slot, and as mb_write_header with `granted`.
// `instance`: of those.
SLR_FN void slr_write_heads(const struct slr_way *way, mb_word flags, const struct slri_resident_outlet *granted)
{
    SLR_EACH(l) {
        mb_word room = SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD;
        for (mb_word n = 0u; n < slr_team.placed[l]; ++n) {
            const mb_word *message = &slr_team.message[l * SLR_SIZE(MB_SLOT_WORDS)];
            mb_word *slot = slr_way_slot(way, way->from + slr_team.to[l] + n);
            const mb_word *reply = &slr_team.reply[(l * SLR_SIZE(MB_MAX_REPLIES) + n) * room];
            mb_word keeps = granted != 0 ? 255u : 255u | MB_FLAG_REDELIVERED;
            slot[MB_HEAD] = (message[MB_HEAD] & keeps) | flags;
            slot[MB_INSTANCE] = granted != 0 ? mbo_instance(slr_words(granted->words), message[MB_INSTANCE], reply)
                                             : message[MB_INSTANCE];
            slot[MB_CORRELATION] = message[MB_CORRELATION];
        }
    }
}

// By each lane, of its own message, the last first. Behind a fence of each lane.
SLR_FN void slr_show_replies(const struct slr_way *way)
{
    SLR_EACH(l)
        for (mb_word n = slr_team.placed[l]; n != 0u; --n) {
            mb_word position = way->from + slr_team.to[l] + n - 1u;
            SLR_TELL(slr_way_slot(way, position)[MB_SEQUENCE], position + 1u);
        }
}

// The stamp of a message becomes that of its replies.
SLR_FN void slr_stamp_replies(void)
{
    mb_word words = SLR_SIZE(MB_SLOT_WORDS), room = SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD;
    SLR_EACH(l)
        for (mb_word n = 0u; n < slr_team.placed[l]; ++n) {
            mb_word *reply = &slr_team.reply[(l * SLR_SIZE(MB_MAX_REPLIES) + n) * room];
            reply[room - 2u] = slr_team.message[(l + 1u) * words - 2u];
            reply[room - 1u] = slr_team.message[(l + 1u) * words - 1u];
        }
    SLR_MEET();
}

SLR_FN struct slr_way slr_replies_of(mb_word *S, const mb_word *P, mb_word port)
{
    struct slr_way way = {S + mb_reply_lane_of(S, P, port) + MB_REPLY_SLOTS, SLR_SIZE(MB_REPLY_MASK),
                          P[MBP_PORT(port) + MBQ_REPLIES]};
    return way;
}

// ---- routes --------------------------------------------------------------------------------------------------------

// Whether the lanes can pass the replies on: along one route, to a port or to slots of the same size in one lane.
SLR_FN mb_word slr_passes_fast(void)
{
    const mb_word *O = slr_words(slr_team.outlet[0].words);
    if (slr_team.passage.outlets != 1u || slr_team.passage.outs != 0u || O[MBO_PARAMETER] != 0u || O[MBO_OPEN] == 0u)
        return 0u;
    if (O[MBO_PORT] != 0u)
        return O[MBO_GONE] == 0u ? 1u : 0u;
    if (O[MBO_SHARDS] != 1u || O[MBO_SLOT_WORDS] != SLR_SIZE(MB_REPLY_SLOT_WORDS) ||
        (O[MBO_STAMPED] != 0u && SLR_SIZE(MB_STAMPED) == 0u))
        return 0u;
    SLR_EACH(l) {
        mb_word wrong = 0u, room = SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD;
        for (mb_word n = 0u; n < slr_team.placed[l]; ++n) {
            const mb_word *reply = &slr_team.reply[(l * SLR_SIZE(MB_MAX_REPLIES) + n) * room];
            wrong |= mbo_instance(O, slr_team.instance[l], reply) >= O[MBO_INSTANCES];
        }
        slr_team.full[l] = wrong;
    }
    return slr_ballot(slr_team.full) == 0u ? 1u : 0u;
}

// As mbo_give for all replies, mbo_publish, and slr_tell_outlet.
SLR_FN void slr_pass_to_lane(mb_word batch, mb_word replies)
{
    const struct slri_resident_outlet *outlet = &slr_team.outlet[0];
    mb_word *O = slr_words(outlet->words), *L = slr_words(outlet->lanes), cursor = MBO_CURSOR(0u);
    struct slr_way way = {L + MB_LANE_SLOTS, O[MBO_LANE_MASK], O[cursor + MBO_NEXT]};
    slr_write_payloads(&way, batch);
    slr_write_heads(&way, MB_FLAG_GRANTED, outlet);
    SLR_FIRST {
        if (replies != 0u)
            O[cursor + MBO_MARK] = mb_mark_priority(L, 0u, O[cursor + MBO_MARK], slr_team.message[MB_HEAD] & 255u);
    }
    SLR_MEET();
    SLR_NEAR_ORDER();
    slr_show_replies(&way);
    SLR_MEET();
    SLR_FIRST {
        O[cursor + MBO_NEXT] = way.from + replies;
        O[MBO_SENT] += replies;
        O[MBO_ROUTED] += replies;
        slr_tell_outlet(O, slr_words(outlet->home));
    }
}

// As mbo_give_port; they are shown with the batch.
SLR_FN struct slr_way slr_pass_to_port(mb_word *S, mb_word *P, mb_word sender, mb_word batch, mb_word replies)
{
    mb_word *O = slr_words(slr_team.outlet[0].words), port = O[MBO_PORT] - 1u;
    struct slr_way way = slr_replies_of(S, P, port);
    slr_write_payloads(&way, batch);
    slr_write_heads(&way, sender == port && P[MBP_SILENT] != 0u ? 0u : MB_FLAG_COLLECTED, 0);
    SLR_MEET();
    SLR_FIRST {
        P[MBP_PORT(port) + MBQ_REPLIES] += replies;
        O[MBO_ROUTED] += replies;
        slr_tell_outlet(O, slr_words(slr_team.outlet[0].home));
    }
    SLR_MEET();
    return way;
}

// One lane after the other's message by the first lane: what slr_passes_fast says no to.
SLR_APART void slr_pass_each(mb_word *S, mb_word *P, mb_word batch)
{
    SLR_FIRST
        for (mb_word k = 0u; k < batch; ++k) {
            slr_team.now = k;
            slr_pass_on(S, P, k);
        }
    SLR_MEET();
}

// ---- publishing ----------------------------------------------------------------------------------------------------

// By the first lane, behind the fence: as mb_finish.
SLR_FN void slr_finish_run(mb_word *S, mb_word *P, mb_word port, mb_word batch, mb_word granted)
{
    mb_word q = MBP_PORT(port), owner = P[MBP_OWNER];
    P[q + MBQ_PUBLISHED] = P[q + MBQ_REPLIES];
    P[q + MBQ_RESERVED] = 0u;
    P[MBP_BATCH_COUNT] = 0u;
    P[MBP_HANDLED] += batch;
    SLR_TELL(S[owner + MB_REPLIED], P[MBP_REPLIED]);
    MB_PUBLISH(owner + MB_HANDLED, P[MBP_HANDLED]);
    if (granted != 0u) {
        P[q + MBQ_RETIRED] += granted;
        P[MBP_GRANTED_RETIRED] += granted;
        MB_PUBLISH(mb_reply_lane_of(S, P, port) + MB_PORT_RETIRED, P[q + MBQ_RETIRED]);
        MB_RETURN(P, port);
        P[MBP_GRANTED_TOLD] = P[MBP_GRANTED_RETIRED];
        MB_RELEASE(owner + MB_GRANTED_RETIRED, P[MBP_GRANTED_RETIRED]);
    }
    if (granted != batch)
        mb_retire(S, P);
}

// Publishes a batch in which nothing has faulted. The lanes' stores are in order by a fence of each of them, behind
// which each shows its own message's replies.
SLR_FN void slr_publish_run(mb_word *S, mb_word *P, mb_word port, mb_word batch, mb_word takes)
{
    mb_word words = SLR_SIZE(MB_SLOT_WORDS), passes = slr_team.set.passage != 0u ? 1u : 0u, q = MBP_PORT(port);
    SLR_EACH(l) {
        mb_word head = l < batch ? slr_team.message[l * words + MB_HEAD] : 0u;
        slr_team.full[l] = head & MB_FLAG_GRANTED;
        slr_team.round[l] = head & MB_FLAG_TIMED;
        slr_team.to[l] = slr_team.placed[l];
    }
    mb_word granted = slr_count_bits(slr_ballot(slr_team.full)), timed = slr_ballot(slr_team.round);
    mb_word replies = slr_sum_before(slr_team.to), lanes = passes != 0u ? slr_passes_fast() : 0u, collects = 0u;
    struct slr_way way = slr_replies_of(S, P, port), other = way;
    SLR_MEET();
    if (SLR_SIZE(MB_STAMPED) != 0u)
        slr_stamp_replies();
    if (takes != 0u) {
        slr_write_payloads(&way, batch);
        slr_write_heads(&way, 0u, 0);
        SLR_MEET();
        SLR_FIRST P[q + MBQ_REPLIES] += replies;
    }
    SLR_FIRST P[MBP_REPLIED] += takes != 0u || P[MBP_SILENT] != 0u ? replies : 0u;
    SLR_MEET();
    if (lanes != 0u && slr_words(slr_team.outlet[0].words)[MBO_PORT] == 0u)
        slr_pass_to_lane(batch, replies);
    else if (lanes != 0u) {
        collects = slr_words(slr_team.outlet[0].words)[MBO_PORT];
        other = slr_pass_to_port(S, P, port, batch, replies);
    } else if (passes != 0u) {
        slr_pass_each(S, P, batch);
        SLR_FIRST slr_flush();
    }
    if (timed != 0u)
        slr_note_times(batch);
    SLR_MEET();
    SLR_ORDER(); // by each lane
    if (takes != 0u)
        slr_show_replies(&way);
    if (collects != 0u)
        slr_show_replies(&other);
    SLR_MEET();
    SLR_FIRST {
        if (collects != 0u)
            P[MBP_PORT(collects - 1u) + MBQ_PUBLISHED] = P[MBP_PORT(collects - 1u) + MBQ_REPLIES];
        else if (passes != 0u)
            slr_flush_ports(S, P);
        slr_finish_run(S, P, port, batch, granted);
    }
}

// A batch in which something has faulted: as of the general path.
SLR_APART void slr_publish_faults(mb_word *S, mb_word *P, mb_word batch)
{
    slr_settle_together(S, P, batch);
    slr_publish(S, P, batch);
}
