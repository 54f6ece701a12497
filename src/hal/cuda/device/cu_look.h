// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: how a block looks at its mailboxes: all lanes at once, because each look at the host's memory crosses
// the bus. It stands behind cu_home.h. C as well as C++, as cu_team.h says.
// clang-format off
#define SLR_AHEAD 8u // slots of the only port that a team looks at which has just had work; more would crowd the bus
#define SLR_LOOKS 8u // of a team that is idle one in so many is at the control words, too: all looks share the bus

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
                mb_word flagged = port < 32u ? slr_team.flagged[port] : 0u;
                slr_team.run[slr_team.runs] = flagged != 0u ? flagged : 1u;
                slr_team.unsure |= flagged == 0u ? 1u : 0u;
                slr_team.runs += 1u;
            }
            port = mb_next_port(S, P, port + 1u);
        }
    }
}

// How many messages the i-th shows: about `most` at most. Of a team that was idle it is taken to be one, so that the first
// message does not wait for a look at those that are hardly there; but where the handler gets many, they are looked for.
SLR_FN void slr_measure_run(const mb_word *S, mb_word i, mb_word most)
{
    mb_word lane = slr_team.lane[i], from = slr_team.from[i];
    SLR_FIRST slr_team.run[i] = 0u;
    SLR_MEET();
    for (mb_word seen = 0u; seen < most && slr_team.run[i] == seen; seen += SLR_LANES) {
        SLR_EACH(l)
            slr_team.full[l] = SLR_LOOK(MB_AT(mb_lane_slot(S, lane, from + seen + l) + MB_SEQUENCE)) == from + seen + l + 1u;
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

SLR_APART void slr_measure(const mb_word *S, mb_word most)
{
    for (mb_word i = 0u; i < slr_team.runs; ++i)
        slr_measure_run(S, i, most);
}

// Whether priorities decide what is taken first. Then all that the lanes show must be known, and not the first of it.
SLR_FN mb_word slr_is_mixed(const mb_word *P)
{
    mb_word mixed = P[MBP_WAITING];
    for (mb_word i = 0u; i < slr_team.runs; ++i)
        mixed |= (mb_word)(slr_team.mark[i] > 256u || slr_team.mark[i] != slr_team.mark[0]);
    return mixed;
}

// 1 + the port where there is only one, and it has no flag. By the first lane.
SLR_FN mb_word slr_only_port(const mb_word *P)
{
    mb_word set = P[MBP_SET(0)];
    for (mb_word w = 1u; w < SLR_SIZE(MB_PORT_WORDS); ++w)
        set = P[MBP_SET(w)] != 0u ? 0u : set;
    return slr_team.set.flags == 0u && set != 0u && (set & (set - 1u)) == 0u ? 32u - (mb_word)__clz((int)set) : 0u;
}

// Where the next message of each port will show, or the next ones of the only port. Behind every pass, for looks to have
// it at hand.
SLR_FN void slr_aim(const mb_word *S, const mb_word *P)
{
    SLR_FIRST slr_team.only = slr_only_port(P);
    SLR_MEET(); // and all have seen that it was to be done
    SLR_EACH(l) {
        mb_word port = slr_team.only != 0u ? slr_team.only - 1u : l, ahead = slr_team.only != 0u ? l : 0u;
        mb_word looks = P[MBP_SET(0)] >> port & (ahead < SLR_AHEAD ? 1u : 0u);
        mb_word at = looks != 0u ? P[MBP_PORT(port) + MBQ_NEXT_IN] + ahead : 0u;
        slr_team.next[l] = looks != 0u ? mb_lane_slot(S, mb_lane_of(S, P, port), at) + MB_SEQUENCE : 0u;
        slr_team.turn[l] = at + 1u;
        slr_team.flagged[l] = 0u;
    }
    SLR_MEET();
    SLR_FIRST slr_team.aimed = 1u;
    SLR_MEET();
}

// What the only port shows: known but where there may be more than was looked at. By the first lane.
SLR_FN void slr_count_ahead(void)
{
    mb_word port = slr_team.only - 1u, run = 0u, looked = slr_team.busy != 0u ? SLR_AHEAD : 1u;
    while (run < looked && slr_team.full[run] != 0u)
        run += 1u;
    slr_team.flagged[port] = run < looked ? run : 0u;
    slr_team.shows[port] = run != 0u ? 1u : 0u;
}

// The ports of the l-th lane that show something, of those from the 33rd on.
SLR_FN mb_word slr_look_further(const mb_word *S, const mb_word *P, mb_word l)
{
    mb_word shows = 0u;
    for (mb_word w = 1u; w < SLR_SIZE(MB_PORT_WORDS); ++w)
        if ((P[MBP_SET(w)] >> l & 1u) != 0u) {
            mb_word port = w * 32u + l, at = P[MBP_PORT(port) + MBQ_NEXT_IN];
            mb_word slot = mb_lane_slot(S, mb_lane_of(S, P, port), at);
            shows |= (mb_word)(SLR_LOOK(MB_AT(slot + MB_SEQUENCE)) == at + 1u) << w;
        }
    return shows;
}

#define SLR_SOME 0xffffffffu
// How many messages a port's flag shows: it is ahead of what was taken by no more than a lane has slots; one that is
// behind says nothing. A lane that lies near has no flag: it shows none, or some.
SLR_APART mb_word slr_shown(mb_word port)
{
    const mb_word *S = slr_words(slr_team.set.shared), *P = SLR_P;
    mb_word at = P[MBP_PORT(port) + MBQ_NEXT_IN], lane = mb_lane_of(S, P, port);
    if ((P[MBP_SET(port >> 5u)] >> (port & 31u) & 1u) == 0u)
        return 0u;
    if ((lane & MB_NEAR) != 0u)
        return SLR_LOOK(MB_AT(mb_lane_slot(S, lane, at) + MB_SEQUENCE)) == at + 1u ? SLR_SOME : 0u;
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
    SLR_MEET();
}

// A lane looks at one word, and at two where port and control word are both its own: the second waits for the first.
SLR_FN void slr_look_once(struct slri_resident_table *table, const mb_word *S, const mb_word *P)
{
    struct slri_resident_entry *entry = slr_team.serving;
    SLR_EACH(l) {
        mb_word w = SLR_LANES - 1u - l; // the last lanes' ports are the last to be opened
        mb_word next = slr_team.only == 0u || slr_team.busy != 0u || l == 0u ? slr_team.next[l] : 0u;
        const mb_word *control = slr_team.all == 0u || w >= SLR_WORDS ? (const mb_word *)0
                                 : w == SLR_STOP                      ? &table->stop
                                 : w == SLR_HOLD                      ? &entry->hold
                                 : w == SLR_JUDGED                    ? &entry->judged
                                 : w == SLR_ASKED                     ? &table->asked
                                              : &S[w == SLR_CONTROL ? MB_CONTROL : MB_PORT_EPOCH];
        const mb_word *first = next != 0u ? &MB_AT(next) : control;
        mb_word found = first != 0 ? SLR_LOOK(*first) : 0u;
        mb_word is = next != 0u && control != 0 ? SLR_LOOK(*control) : found;
        mb_word full = next != 0u && found == slr_team.turn[l] ? 1u : 0u;
        mb_word shows = (slr_team.only != 0u ? 0u : full) | slr_look_further(S, P, l);
        slr_team.full[l] = full;
        slr_team.shows[l] = slr_team.set.flags != 0u ? slr_team.shows[l] | shows : shows;
        if (control != 0)
            slr_team.word[w] = is;
    }
    SLR_MEET();
}

// The marks of lanes that show something, behind the acquire of what they show; and the message, where there is one.
SLR_APART void slr_look_closer(const mb_word *S)
{
    mb_word slot = mb_lane_slot(S, slr_team.lane[0], slr_team.from[0]), words = SLR_SIZE(MB_SLOT_WORDS);
    mb_word fetches = slr_team.runs == 1u && slr_team.run[0] == 1u && words <= SLR_ROOM ? 1u : 0u;
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
        if (slr_team.only != 0u)
            slr_count_ahead();
        slr_list_runs(S, P);
        if (slr_team.runs == 0u)
            slr_team.busy = 0u; // it is idle from the next look on
    }
    SLR_MEET();
    if (slr_team.runs == 0u)
        return;
    if ((slr_team.busy != 0u || SLR_SIZE(MB_BATCH_BYTES) != 0u) && slr_team.unsure != 0u)
        slr_measure(S, SLR_LANES);
    slr_look_closer(S);
    if (slr_team.unsure != 0u && slr_is_mixed(P) != 0u) {
        slr_measure(S, SLR_SIZE(MB_LANE_MASK) + 1u);
        slr_look_closer(S);
    }
}
