// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: how a group passes messages on to others of its device (abi/passage.h). It stands behind cu_near.h,
// before the loop (cu_resident.h). C as well as C++, as cu_team.h says.
//
// An outlet's words O are a copy near the group, as an owner's are; the lanes that it fills and what is retired of them
// lie near, too, so on the way of a message nothing is read over the bus. What is told to the host goes to O's home,
// behind what the target sees: a fence that waits for the bus would be on that way. So the host takes the later of what
// is told and what the target has counted.
// clang-format off
SLR_FN const struct slri_resident_outlet *slr_outlet(mb_word i)
{
    return i < SLR_OUTLETS ? &slr_team.outlet[i] : (const struct slri_resident_outlet *)slr_team.passage.outlet + i;
}

// Behind slr_turn_to: which outlets this entry has. The table is constant while a launch has it.
SLR_FN void slr_know_passage(void)
{
    if (slr_team.set.passage == 0u)
        return;
    slr_copy((mb_word *)&slr_team.passage, slr_words(slr_team.set.passage), sizeof slr_team.passage / 4u);
    SLR_MEET();
    mb_word known = slr_team.passage.outlets < SLR_OUTLETS ? slr_team.passage.outlets : SLR_OUTLETS;
    slr_copy((mb_word *)slr_team.outlet, slr_words(slr_team.passage.outlet), known * sizeof slr_team.outlet[0] / 4u);
    SLR_MEET();
}

#define SLR_EACH_OUTLET(i) for (mb_word i = 0u; slr_team.set.passage != 0u && i < slr_team.passage.outlets; ++i)

SLR_FN void slr_fetch_outlets(void)
{
    SLR_EACH_OUTLET(i) {
        const struct slri_resident_outlet *outlet = slr_outlet(i);
        const mb_word *H = slr_words(outlet->home);
        mb_word *O = slr_words(outlet->words);
        slr_copy(O, H, MBO_WORDS(H[MBO_SHARDS]));
        SLR_MEET();
        SLR_FIRST {
            if (outlet->stride != 0u)
                O[MBO_LANES_STRIDE] = O[MBO_RETIRED_STRIDE] = (mb_word)outlet->stride;
        }
    }
    SLR_MEET();
}

// The words of the first outlets move beside the lanes, where a read takes a tenth as long; behind slr_fetch_outlets, or
// when the team is this entry's again. Not those without a home: there the host looks for what an outlet has sent.
SLR_FN void slr_load_outlets(void)
{
    for (mb_word i = 0u; i < SLR_OUTLETS_HERE; ++i) {
        struct slri_resident_outlet *outlet = &slr_team.outlet[i];
        if (slr_team.set.passage == 0u || i >= slr_team.passage.outlets || outlet->words == outlet->home)
            continue;
        const mb_word *O = slr_words(outlet->words);
        mb_word words = MBO_WORDS(O[MBO_SHARDS]);
        if (words > SLR_OUTLET_ROOM)
            continue;
        slr_copy(slr_team.outlet_words[i], O, words);
        SLR_MEET(); // all know where they lay
        SLR_FIRST {
            slr_team.outlet_far[i] = outlet->words;
            outlet->words = (SLRI_ADDRESS)slr_team.outlet_words[i];
        }
    }
    SLR_MEET();
}

// Back, before the team becomes another entry's.
SLR_FN void slr_save_outlets(void)
{
    for (mb_word i = 0u; i < SLR_OUTLETS_HERE; ++i)
        if (slr_team.outlet_far[i] != 0u)
            slr_copy(slr_words(slr_team.outlet_far[i]), slr_team.outlet_words[i],
                     MBO_WORDS(slr_team.outlet_words[i][MBO_SHARDS]));
    SLR_MEET();
}

// The team touches them no more. By the first lane.
SLR_FN void slr_leave_outlets(void)
{
    for (mb_word i = 0u; i < SLR_OUTLETS_HERE; ++i)
        slr_team.outlet_far[i] = 0u;
}

SLR_FN struct slri_out *slr_outs(mb_word k)
{
    return slr_team.set.passage != 0u && slr_team.passage.outs != 0u
               ? (struct slri_out *)slr_team.passage.calls + k * slr_team.passage.outs
               : (struct slri_out *)0;
}

// Where the handler of each of a batch's messages leaves what it sends: a part of its own, near.
SLR_FN void slr_fetch_outs(void)
{
    const struct slri_resident_out *from = (const struct slri_resident_out *)slr_team.passage.out;
    SLR_EACH(l) {
        struct slri_out *out = slr_outs(l);
        for (mb_word p = 0u; out != 0 && p < slr_team.passage.outs; ++p) {
            out[p].base = (unsigned char *)from[p].base + (SLRI_ADDRESS)l * from[p].most * from[p].stride;
            out[p].stride = from[p].stride;
            out[p].most = from[p].most;
        }
    }
    SLR_MEET();
}

SLR_FN void slr_open_outs(mb_word k, struct slri_call *call)
{
    struct slri_out *out = slr_outs(k);
    for (mb_word p = 0u; out != 0 && p < slr_team.passage.outs; ++p)
        out[p].count = 0u;
    call->out = out;
}

// All that the owner writes but what is told at once, which is at home alone.
SLR_FN void slr_bring_outlets(void)
{
    SLR_EACH_OUTLET(i) {
        const mb_word *O = slr_words(slr_outlet(i)->words);
        mb_word *H = slr_words(slr_outlet(i)->home);
        slr_copy(H + MBO_SENT, O + MBO_SENT, MBO_TOLD_SENT - MBO_SENT);
        slr_copy(H + MBO_CURSOR(0u), O + MBO_CURSOR(0u), MBO_WORDS(O[MBO_SHARDS]) - MBO_CURSOR(0u));
    }
    SLR_MEET();
}

// ---- the first lane's ----------------------------------------------------------------------------------------------

// The host is told at once: a device that is lost loses O, and the lane is another's when the host has seen that the
// port's closing is acknowledged, which is behind this.
SLR_FN mb_word *slr_note_gone(mb_word i, const mb_word *P)
{
    mb_word *O = slr_words(slr_outlet(i)->words), gone = O[MBO_GONE];
    mbo_note_gone(O, O, P);
    if (O[MBO_GONE] != gone)
        SLR_TELL(slr_words(slr_outlet(i)->home)[MBO_TOLD_GONE], 1u);
    return O;
}

// Before mb_begin: lets it take no more than there is room for where routes lead.
SLR_APART void slr_reserve(mb_word *S, mb_word *P)
{
    mb_word room = MB_BATCH;
    SLR_EACH_OUTLET(i) {
        mb_word *O = slr_note_gone(i, P);
        mb_word its = O[MBO_PORT] != 0u ? mbo_port_room(S, O, P) : mbo_room(O, slr_words(slr_outlet(i)->retired));
        room = its < room ? its : room;
    }
    P[MBP_ROOM] = slr_team.set.passage != 0u ? 1u + room : 0u;
}

// Behind it: what was left of an earlier batch may be more than there is room for.
SLR_APART mb_word slr_taken(const mb_word *P, mb_word batch)
{
    SLR_EACH_OUTLET(i)
        slr_note_gone(i, P);
    return P[MBP_ROOM] != 0u && batch >= P[MBP_ROOM] ? P[MBP_ROOM] - 1u : batch;
}

// How many of what message k of the batch has caused go along the i-th route.
SLR_FN mb_word slr_caused(mb_word k, mb_word i)
{
    mb_word parameter = slr_words(slr_outlet(i)->words)[MBO_PARAMETER];
    return parameter == 0u ? slr_team.call[k].replies : slr_team.call[k].out[parameter - 1u].count;
}

// The n-th of them: a reply, or what was sent, before which stands the instance that it is for.
SLR_APART void slr_give(mb_word *S, mb_word *P, mb_word k, mb_word i, mb_word n)
{
    const struct slri_call *call = &slr_team.call[k];
    mb_word *O = slr_words(slr_outlet(i)->words), at = P[MBP_BATCH(k) + 1u], instance = 0xffffffffu;
    const mb_word *from;
    if (O[MBO_PARAMETER] == 0u) {
        mb_word place = ((call->reply_at + n) & call->reply_mask) * call->reply_stride;
        from = (const mb_word *)(const void *)(call->reply_base + place);
    } else {
        const struct slri_out *out = &call->out[O[MBO_PARAMETER] - 1u];
        from = (const mb_word *)(const void *)(out->base + n * out->stride);
        instance = *from;
        from += SLRI_OUT_HEAD / 4u;
    }
    if (O[MBO_PORT] != 0u) {
        mbo_give_port(S, O, P, k, from);
        return;
    }
    if (instance == 0xffffffffu)
        instance = mbo_instance(O, call->instance, from);
    mbo_give(S, O, slr_words(slr_outlet(i)->lanes), at, instance, from);
}

// What went through parameters that no route leads from.
SLR_APART void slr_count_unsent(mb_word k)
{
    for (mb_word p = 0u; p < slr_team.passage.outs; ++p) {
        mb_word leads = 0u;
        SLR_EACH_OUTLET(i)
            leads |= slr_words(slr_outlet(i)->words)[MBO_PARAMETER] == p + 1u ? 1u : 0u;
        slr_team.passage.unsent += leads != 0u ? 0u : slr_team.call[k].out[p].count;
    }
}

// What message k of the batch has caused, where it did not fault.
SLR_FN void slr_pass_on(mb_word *S, mb_word *P, mb_word k)
{
    if (slr_team.fault[k] != 0u)
        return;
    SLR_EACH_OUTLET(i)
        for (mb_word n = 0u; n < slr_caused(k, i); ++n)
            slr_give(S, P, k, i, n);
    slr_count_unsent(k);
}

SLR_FN void slr_tell_outlet(const mb_word *O, mb_word *H)
{
    SLR_TELL(H[MBO_TOLD_ROUTED], O[MBO_ROUTED]);
    SLR_TELL(H[MBO_TOLD_UNROUTED], O[MBO_UNROUTED]);
    SLR_TELL(H[MBO_TOLD_SENT], O[MBO_SENT]);
    SLR_TELL(H[MBO_TOLD_GONE], O[MBO_GONE]);
}

// Shows the batch's messages to their targets, behind one fence of the device; then tells the host. Before the fence
// that mb_finish wants.
SLR_APART void slr_flush(void)
{
    SLR_NEAR_ORDER();
    SLR_EACH_OUTLET(i) {
        mb_word *O = slr_words(slr_outlet(i)->words);
        mbo_publish(O, O, slr_words(slr_outlet(i)->lanes));
    }
    SLR_EACH_OUTLET(i)
        slr_tell_outlet(slr_words(slr_outlet(i)->words), slr_words(slr_outlet(i)->home));
    if (slr_team.passage.outs != 0u)
        SLR_TELL(((struct slri_resident_passage *)slr_team.set.passage)->unsent, slr_team.passage.unsent);
}

// Behind that fence: replies to ports that collect them.
SLR_APART void slr_flush_ports(mb_word *S, mb_word *P)
{
    SLR_EACH_OUTLET(i) {
        mb_word port = slr_words(slr_outlet(i)->words)[MBO_PORT];
        if (port != 0u)
            mb_publish_replies(S, P, port - 1u);
    }
}
