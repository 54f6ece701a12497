// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: lanes that lie near. It stands behind the mailbox, before the loop (cu_resident.h). C as well as C++,
// as cu_team.h says.
//
// A port whose sender is a group of the same device has its lane in the device's memory: a message from group to group
// does not cross the bus. The host writes where it lies into the lane's first line, before it raises the port epoch; a
// group keeps that with its port's words. Offsets into such lanes have MB_NEAR; the host, for which they are none of
// its memory, finds none in what a group leaves behind.
// clang-format off
SLR_FN mb_word *slr_words(SLRI_ADDRESS at)
{
    return (mb_word *)at;
}

SLR_FN mb_word *slr_near(const mb_word *P, mb_word port)
{
    mb_word q = MBP_PORT(port) + MBQ_NEAR;
    return slr_words((SLRI_ADDRESS)P[q + 1u] << 32u | P[q]);
}

SLR_FN mb_word slr_home_lane(const mb_word *P, mb_word port)
{
    return P[MBP_LANES] + port * SLR_SIZE(MB_LANE_STRIDE);
}

SLR_FN mb_word slr_lane_of(const mb_word *P, mb_word port)
{
    return P[MBP_NEAR] != 0u && slr_near(P, port) != 0 ? MB_NEAR | port << MB_NEAR_SHIFT : slr_home_lane(P, port);
}

SLR_FN mb_word slr_near_port(mb_word at)
{
    return (at & ~MB_NEAR) >> MB_NEAR_SHIFT;
}

SLR_FN mb_word slr_near_word(mb_word at)
{
    return at & ((1u << MB_NEAR_SHIFT) - 1u);
}

SLR_FN mb_word *slr_at(const mb_word *S, mb_word at)
{
    return (at & MB_NEAR) == 0u ? slr_words((SLRI_ADDRESS)&S[at])
                                : slr_near(SLR_P, slr_near_port(at)) + slr_near_word(at);
}

// Behind the fence before mb_finish.
SLR_FN void slr_return(const mb_word *P, mb_word port)
{
    if ((slr_lane_of(P, port) & MB_NEAR) != 0u)
        SLR_TELL(slr_near(P, port)[MB_NEAR_RETIRED], P[MBP_PORT(port) + MBQ_RETIRED]);
}

// Behind a change of the port sets, and when a group begins: the device's memory may be another.
SLR_APART void slr_find_near(const mb_word *S, mb_word *P)
{
    SLR_EACH(l) {
        mb_word found = 0u;
        for (mb_word w = 0u; w < SLR_SIZE(MB_PORT_WORDS); ++w)
            if ((P[MBP_SET(w)] >> l & 1u) != 0u) {
                mb_word port = w * 32u + l, lane = slr_home_lane(P, port) + MB_NEAR_AT, q = MBP_PORT(port) + MBQ_NEAR;
                SLRI_ADDRESS near = slr_peek_long((const SLRI_ADDRESS *)(const void *)&S[lane]);
                P[q] = (mb_word)near;
                P[q + 1u] = (mb_word)(near >> 32u);
                if (near != 0u) {
                    SLR_TELL(slr_words(near)[MB_NEAR_RETIRED], P[MBP_PORT(port) + MBQ_RETIRED]);
                    found = 1u;
                }
            }
        slr_team.full[l] = found;
    }
    SLR_MEET();
    SLR_FIRST {
        mb_word found = 0u;
        for (mb_word l = 0u; l < SLR_LANES; ++l)
            found |= slr_team.full[l];
        P[MBP_NEAR] = found != 0u ? 1u : 0u;
    }
    SLR_MEET();
}

// Eight words a lane at once: a lane that stores what it has loaded waits for that before it loads what is next.
SLR_APART void slr_copy(mb_word *to, const mb_word *from, SLRI_ADDRESS words)
{
#define SLR_TAKE(j) mb_word w##j = i + (j)*SLR_LANES < words ? from[i + (j)*SLR_LANES] : 0u;
#define SLR_PUT(j)                                                                                                     \
    if (i + (j)*SLR_LANES < words)                                                                                     \
        to[i + (j)*SLR_LANES] = w##j;
    SLR_EACH(l)
        for (SLRI_ADDRESS i = l; i < words; i += 8u * SLR_LANES) {
            SLR_TAKE(0u) SLR_TAKE(1u) SLR_TAKE(2u) SLR_TAKE(3u) SLR_TAKE(4u) SLR_TAKE(5u) SLR_TAKE(6u) SLR_TAKE(7u)
            SLR_PUT(0u) SLR_PUT(1u) SLR_PUT(2u) SLR_PUT(3u) SLR_PUT(4u) SLR_PUT(5u) SLR_PUT(6u) SLR_PUT(7u)
        }
#undef SLR_TAKE
#undef SLR_PUT
}

// Copies a slot to where the lane lies for the host; gives its offset there.
SLR_FN mb_word slr_bring_slot(mb_word *S, const mb_word *P, mb_word at)
{
    mb_word home = slr_home_lane(P, slr_near_port(at)) + slr_near_word(at);
    slr_copy(&S[home], slr_at(S, at), SLR_SIZE(MB_SLOT_WORDS));
    SLR_MEET();
    return home;
}

// Of a batch that stays claimed when the group ends: what a judged fault has left of one.
SLR_APART void slr_bring_batch(mb_word *S, mb_word *P)
{
    for (mb_word k = 0u; k < P[MBP_BATCH_COUNT]; ++k) {
        mb_word at = P[MBP_BATCH(k) + 1u];
        if ((at & MB_NEAR) == 0u)
            continue;
        at = slr_bring_slot(S, P, at);
        SLR_FIRST P[MBP_BATCH(k) + 1u] = at;
        SLR_MEET();
    }
}
