// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: the fast path of a block: a batch of one port and one priority, on which all lanes work together. It
// stands behind cu_run.h, which handles it, before the loop (cu_resident.h). C as well as C++, as cu_team.h says.
//
// It does what a look and a pass of the mailbox's code do (cu_look.h, mb_begin, mb_handled, mb_finish), a message a
// lane instead of all of them by the first lane. Whatever it has no rule for it leaves as it is, and the general path
// takes it from there: commands, changed ports, mixed priorities, several ports at once, waiting messages, faults. A
// message is claimed only when all that decides about it is known.
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
    mb_word further = slr_team.set.flags != 0u || slr_team.set.judges != 0u || SLR_SIZE(MB_BATCH_BYTES) != 0u ? 1u : 0u;
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
    mb_word whole, showing, end = SLR_FAST_NOTHING;
    do {
        whole = look % each == 0u ? 1u : 0u;
        // Behind a batch, too: a command must not wait for eight more.
        full = slr_look_fast(table, S, P, whole | (polled == 0u ? slr_team.busy : 0u), ahead);
        showing = full & set;
        ahead = 0u; // it is idle from the next look on
        look += 1u;
        polled += 1u;
    } while (showing == 0u && whole == 0u);
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
        slr_team.polled = slr_team.far != 0u ? polled : 1u + polled / 4u; // as long as so many looks at the host take
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
