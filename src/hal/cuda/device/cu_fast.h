// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: the fast path of a block: a batch of one port and one priority, on which all lanes work together. It
// stands behind cu_handle.h, before the loop (cu_resident.h). C as well as C++, as cu_team.h says.
//
// It does what a look and a pass of the mailbox's code do (cu_look.h, mb_begin, mb_handled, mb_finish), a message a lane
// instead of all of them by the first lane. Whatever it has no rule for it leaves as it is, and the general path takes
// it from there: commands, changed ports, mixed priorities, several ports at once, waiting messages, faults. A message
// is claimed only when all that decides about it is known.
// clang-format off
#define SLR_CROWDED 16u   // passes of the general path behind something that was none for this one
#define SLR_NEAR_LOOKS 32u // as SLR_LOOKS, where all lanes lie near: a look at them takes a fourth of one at the host

#ifndef SLR_MAY_BE_FAST
#define SLR_MAY_BE_FAST 1u // tests of the simulated driver take the general path alone, or count
#define SLR_NOTE_FAST(batch) (void)0
#endif

// Of the lowest bit; 32: there is none.
SLR_FN mb_word slr_lowest(mb_word bits)
{
    return bits != 0u ? 31u - (mb_word)__clz((int)(bits & (0u - bits))) : 32u;
}

SLR_FN mb_word slr_below(mb_word l)
{
    return (1u << l) - 1u; // of the bits of lanes before the l-th
}

// ---- whether, and where to look ------------------------------------------------------------------------------------

// By the first lane, behind a pass of the general path.
SLR_FN mb_word slr_may_be_fast(const mb_word *P)
{
    mb_word further = slr_team.set.flags != 0u || slr_team.set.judges != 0u ? 1u : 0u;
    mb_word room = SLR_SIZE(MB_MAX_REPLIES) * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD);
    for (mb_word w = 1u; w < SLR_SIZE(MB_PORT_WORDS); ++w)
        further |= P[MBP_SET(w)];
    if (slr_team.crowd != 0u) {
        slr_team.crowd -= 1u;
        return 0u;
    }
    return SLR_MAY_BE_FAST && !SLR_IS_BLOCK && slr_team.set.used != 0u && slr_team.set.left == 0u && further == 0u &&
                   P[MBP_STATE] == MB_RUNNING && ((P[MBP_CONTROL] - 1u) & 3u) != MB_CLOSE &&
                   (P[MBP_WAITING] | P[MBP_BATCH_COUNT] | P[MBP_GONE_OPEN]) == 0u && (slr_team.set.held & 1u) == 0u &&
                   slr_team.set.faulted == slr_team.word[SLR_JUDGED] && slr_team.unheard[slr_team.index] == 0u &&
                   SLR_SIZE(MB_SLOT_WORDS) <= SLR_ROOM && room <= SLR_ROOM
               ? 1u
               : 0u;
}

// The general path for a while. By the first lane.
SLR_FN void slr_leave_fast(void)
{
    slr_team.fast = 0u;
    slr_team.crowd = SLR_CROWDED;
}

// Which slot each lane looks at: a port's next one, or, where the lane's number is none of a port's, one of those
// behind the next one of the port that sent last.
SLR_FN void slr_aim_fast(const mb_word *S, const mb_word *P)
{
    mb_word set = P[MBP_SET(0)], last = slr_team.last;
    SLR_EACH(l) {
        mb_word is_port = set >> l & 1u, port = is_port != 0u ? l : last;
        mb_word ahead = is_port != 0u ? 0u : 1u + slr_count_bits(~set & slr_below(l));
        mb_word looks = port < SLR_LANES && (set >> port & 1u) != 0u ? 1u : 0u;
        mb_word at = looks != 0u ? P[MBP_PORT(port) + MBQ_NEXT_IN] + ahead : 0u;
        slr_team.sight[l] = looks != 0u ? mb_lane_slot(S, mb_lane_of(S, P, port), at) + MB_SEQUENCE : 0u;
        slr_team.expect[l] = at + 1u;
        slr_team.full[l] = is_port != 0u && (slr_team.sight[l] & MB_NEAR) == 0u ? 1u : 0u;
    }
    mb_word far = slr_ballot(slr_team.full);
    SLR_FIRST slr_team.far = far;
    SLR_MEET();
}

// All lanes look once: at the host's words only with `all`, and beyond the next slot of the port that sent last by
// `ahead` slots. Gives which lanes' slots are full.
SLR_FN mb_word slr_look_fast(struct slri_resident_table *table, const mb_word *S, const mb_word *P, mb_word all,
                             mb_word ahead)
{
    struct slri_resident_entry *entry = slr_team.serving;
    mb_word set = P[MBP_SET(0)];
    SLR_EACH(l) {
        mb_word w = SLR_LANES - 1u - l;
        mb_word looks = (set >> l & 1u) != 0u || slr_count_bits(~set & slr_below(l)) < ahead ? slr_team.sight[l] : 0u;
        mb_word found = looks != 0u ? SLR_LOOK(MB_AT(looks)) : 0u;
        if (all != 0u && w < SLR_WORDS) {
            const mb_word *control = w == SLR_STOP     ? &table->stop
                                     : w == SLR_HOLD   ? &entry->hold
                                     : w == SLR_JUDGED ? &entry->judged
                                     : w == SLR_ASKED  ? &table->asked
                                                       : &S[w == SLR_CONTROL ? MB_CONTROL : MB_PORT_EPOCH];
            slr_team.word[w] = SLR_LOOK(*control);
        }
        slr_team.full[l] = looks != 0u && found == slr_team.expect[l] ? 1u : 0u;
    }
    return slr_ballot(slr_team.full);
}

// How many messages the port shows, of what the lanes have found full: the next one is.
SLR_FN mb_word slr_run_of(mb_word set, mb_word port, mb_word full)
{
    mb_word missing = ~set & ~full;
    if (port != slr_team.last)
        return 1u;
    return 1u + slr_count_bits(~set & (missing != 0u ? slr_below(slr_lowest(missing)) : 0xffffffffu));
}

// ---- claiming ------------------------------------------------------------------------------------------------------

// For how many messages the port's reply lane has room.
SLR_FN mb_word slr_reply_room(const mb_word *P, mb_word q)
{
    mb_word each = SLR_SIZE(MB_MAX_REPLIES);
    mb_word room = SLR_SIZE(MB_REPLY_MASK) + 1u - (P[q + MBQ_REPLIES] + P[q + MBQ_RESERVED] - P[q + MBQ_READ_SEEN]);
    return each == 1u ? room : room / each;
}

// How many of `run` messages the batch can have, by the rules of mb_has_room and of what fits beside the lanes.
SLR_FN mb_word slr_bound_batch(const mb_word *S, mb_word *P, mb_word port, mb_word run, mb_word takes)
{
    mb_word q = MBP_PORT(port), each = SLR_SIZE(MB_MAX_REPLIES) * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD);
    mb_word most = P[MBP_MOST] < run ? P[MBP_MOST] : run;
    if (most * SLR_SIZE(MB_SLOT_WORDS) > SLR_ROOM)
        most = SLR_ROOM / SLR_SIZE(MB_SLOT_WORDS);
    if (most * each > SLR_ROOM)
        most = SLR_ROOM / each;
    if (slr_team.set.passage != 0u && most >= P[MBP_ROOM])
        most = P[MBP_ROOM] - 1u;
    if (takes == 0u)
        return most;
    if (slr_reply_room(P, q) < most) {
        SLR_MEET(); // all have looked
        SLR_FIRST P[q + MBQ_READ_SEEN] = MB_ACQUIRE(mb_lane_of(S, P, port) + MB_REPLY_READ);
        SLR_MEET();
    }
    mb_word room = slr_reply_room(P, q);
    return room < most ? room : most;
}

// Copies the batch's slots, which follow one another in the lane, by 16 bytes a lane, six at once; and, behind the
// acquire of all of them, the lane's mark. A slot is a multiple of 16 bytes, and so is where a lane begins.
SLR_FN void slr_fetch_run(const mb_word *lane, mb_word from, mb_word batch)
{
    mb_word words = SLR_SIZE(MB_SLOT_WORDS), slots = SLR_SIZE(MB_LANE_MASK) + 1u, at = from & SLR_SIZE(MB_LANE_MASK);
    mb_word all = batch * words / 4u, straight = (batch < slots - at ? batch : slots - at) * words / 4u;
    const struct slr_quad *first = (const struct slr_quad *)(const void *)(lane + MB_LANE_SLOTS);
    mb_word begin = at * words / 4u;
    struct slr_quad *to = (struct slr_quad *)(void *)slr_team.message;
#define SLR_TAKE(j)                                                                                                    \
    struct slr_quad w##j = {{0u, 0u, 0u, 0u}};                                                                         \
    if (i + (j)*SLR_LANES < all)                                                                                       \
        w##j = first[i + (j)*SLR_LANES + (i + (j)*SLR_LANES < straight ? begin : 0u - straight)];
#define SLR_PUT(j)                                                                                                     \
    if (i + (j)*SLR_LANES < all)                                                                                       \
        to[i + (j)*SLR_LANES] = w##j;
    SLR_EACH(l) {
        mb_word mark = l == SLR_LANES - 1u ? SLR_PEEK(lane[MB_MIXED]) : 0u;
        for (mb_word i = l; i < all; i += 6u * SLR_LANES) {
            SLR_TAKE(0u) SLR_TAKE(1u) SLR_TAKE(2u) SLR_TAKE(3u) SLR_TAKE(4u) SLR_TAKE(5u)
            SLR_PUT(0u) SLR_PUT(1u) SLR_PUT(2u) SLR_PUT(3u) SLR_PUT(4u) SLR_PUT(5u)
        }
        if (l == SLR_LANES - 1u)
            slr_team.mark[0] = mark;
    }
#undef SLR_TAKE
#undef SLR_PUT
    SLR_MEET();
}

// As mb_claim_lane and slr_note_batch.
SLR_FN void slr_claim_run(const mb_word *S, mb_word *P, mb_word port, mb_word batch)
{
    mb_word q = MBP_PORT(port), from = P[q + MBQ_NEXT_IN], lane = mb_lane_of(S, P, port), *home = slr_own_home();
    SLR_EACH(l)
        if (l < batch) {
            mb_word k = MBP_BATCH(l);
            P[k] = port;
            P[k + 1u] = mb_lane_slot(S, lane, from + l);
            P[k + 2u] = 0u;
            P[k + 3u] = q;
        }
    SLR_MEET();
    SLR_FIRST {
        P[MBP_BATCH_COUNT] = batch;
        P[MBP_TURN] = port + 1u;
        P[q + MBQ_NEXT_IN] = from + batch;
        P[q + MBQ_RESERVED] += batch * SLR_SIZE(MB_MAX_REPLIES);
        slr_team.own_changed = 1u;
        slr_team.batch = batch;
        slr_team.last = port;
        SLR_NOTE_FAST(batch);
        if (slr_team.set.records != 0u)
            slr_team.taken_ns = slr_time();
    }
    SLR_MEET();
    if (home == P)
        return;
    SLR_EACH(l) {
        for (mb_word word = l; word < MBP_BATCH(batch); word += SLR_LANES)
            home[word] = P[word];
        if (l < MBQ_NEAR)
            home[q + l] = P[q + l];
    }
}

// ---- handling ------------------------------------------------------------------------------------------------------

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
        const mb_word *message = &slr_team.message[l * SLR_SIZE(MB_SLOT_WORDS)];
        mb_word room = SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD;
        for (mb_word n = 0u; n < slr_team.placed[l]; ++n) {
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
        const mb_word *reply = &slr_team.reply[l * SLR_SIZE(MB_MAX_REPLIES) * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD)];
        mb_word wrong = 0u;
        for (mb_word n = 0u; n < slr_team.placed[l]; ++n)
            wrong |= mbo_instance(O, slr_team.instance[l], reply + n * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD)) >= O[MBO_INSTANCES];
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

// ---- a pass --------------------------------------------------------------------------------------------------------

// The batch has been claimed, and lies in `message`.
SLR_FN void slr_handle_run(mb_word *S, mb_word *P, mb_word port, mb_word batch, mb_word takes)
{
    SLR_FIRST {
        slr_team.near = 1u;
        slr_team.together = 1u;
    }
    slr_move_states(1u);
    SLR_MEET();
    if (slr_call_run(batch) != 0u) {
        SLR_MEET();
        slr_publish_faults(S, P, batch);
    } else
        slr_publish_run(S, P, port, batch, takes);
    SLR_FIRST {
        slr_team.near = 0u;
        slr_team.busy = 1u;
        slr_team.worked = 1u;
        slr_team.aimed = 0u; // where the general path would look
        if (slr_team.set.records != 0u)
            slr_record(batch);
    }
    SLR_MEET();
    slr_aim_fast(S, P);
}

enum { SLR_FAST_NOTHING, SLR_FAST_DONE, SLR_FAST_NOT };

// Of the ports that show messages there is one: takes what it can of that.
SLR_FN mb_word slr_take_run(mb_word *S, mb_word *P, mb_word port, mb_word run)
{
    mb_word lane = mb_lane_of(S, P, port), gone = P[MBP_GONE(0)] >> port & 1u;
    mb_word takes = SLR_SIZE(MB_MAX_REPLIES) != 0u && P[MBP_SILENT] == 0u && gone == 0u ? 1u : 0u;
    if (gone != 0u && (lane & MB_NEAR) == 0u)
        return SLR_FAST_NOT;
    if (slr_team.set.passage != 0u) {
        SLR_FIRST slr_reserve(S, P);
        SLR_MEET();
    }
    mb_word batch = slr_bound_batch(S, P, port, run, takes);
    if (batch == 0u)
        return SLR_FAST_NOTHING;
    slr_fetch_run(slr_at(S, lane), P[MBP_PORT(port) + MBQ_NEXT_IN], batch);
    if (slr_team.mark[0] - 1u > 255u) // mixed
        return SLR_FAST_NOT;
    slr_claim_run(S, P, port, batch);
    slr_handle_run(S, P, port, batch, takes);
    return SLR_FAST_DONE;
}

// Gives 1 where it has done the pass; else the general path does, which looks again. What is heard is what the look
// before has found, as the mailbox asks.
SLR_FN mb_word slr_pass_fast(struct slri_resident_table *table, mb_word i)
{
    mb_word *S = slr_words(slr_team.set.shared), *P = SLR_P;
    if (SLR_IS_BLOCK || slr_team.fast == 0u || slr_team.heard[i][0] + 1u != P[MBP_CONTROL] || slr_team.heard[i][1] != P[MBP_EPOCH]) {
        SLR_MEET(); // all have looked
        return 0u;
    }
    mb_word set = P[MBP_SET(0)], each = slr_team.far != 0u ? SLR_LOOKS : SLR_NEAR_LOOKS, look = slr_team.looks;
    mb_word last = slr_team.batch, ahead = slr_team.busy == 0u ? 0u : last < 8u ? 8u : 32u, full, polled = 0u;
    mb_word most = table->entries <= gridDim.x ? each : 1u, all, showing, end = SLR_FAST_NOTHING;
    do {
        all = look % each == 0u ? 1u : 0u;
        full = slr_look_fast(table, S, P, all, ahead);
        showing = full & set;
        ahead = 0u; // it is idle from the next look on
        look += 1u;
        polled += 1u;
    } while (showing == 0u && all == 0u && polled < most);
    SLR_MEET();
    if (slr_team.word[SLR_HOLD] != slr_team.set.held || slr_team.word[SLR_JUDGED] != slr_team.set.faulted)
        end = SLR_FAST_NOT;
    else if ((showing & (showing - 1u)) != 0u)
        end = SLR_FAST_NOT;
    else if (showing != 0u)
        end = slr_take_run(S, P, slr_lowest(showing), slr_run_of(set, slr_lowest(showing), full));
    SLR_MEET();
    SLR_FIRST {
        slr_team.looks = look;
        slr_team.looked = 1u;
        slr_team.polled += polled - 1u;
        if (end == SLR_FAST_NOTHING)
            slr_team.busy = 0u;
        if (end == SLR_FAST_NOT)
            slr_leave_fast();
        else {
            slr_team.heard[i][0] = slr_team.word[SLR_CONTROL];
            slr_team.heard[i][1] = slr_team.word[SLR_EPOCH];
        }
    }
    SLR_MEET();
    return end != SLR_FAST_NOT ? 1u : 0u;
}
