// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: how a block calls a `__ring_batch__` handler, which gets all messages of an instance in one call. It
// stands behind cu_handle.h, before the loop (cu_resident.h). C as well as C++, as cu_team.h says.
//
// The handler's messages lie one behind the other, and so do its calls, one a message (abi/handler.h). So the batch is
// put into the order of its instances first: an instance's messages keep their order, and the whole batch is retired
// together. Then the messages are packed behind the room for the replies, and each instance has a lane.
// clang-format off
// Words of one message where messages are packed: an instance's first one is aligned to 16 bytes.
SLR_FN mb_word slr_packed_words(void)
{
    return (SLR_SIZE(MB_BATCH_BYTES) + 15u) / 16u * 4u;
}

// How many messages fit beside the lanes: their slots; and their replies, with the packed messages.
SLR_FN mb_word slr_calls_that_fit(mb_word batch)
{
    mb_word room = SLR_SIZE(MB_MAX_REPLIES) * (SLR_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD) + slr_packed_words();
    mb_word slots = SLR_ROOM / SLR_SIZE(MB_SLOT_WORDS), most = SLR_ROOM / room;
    most = slots < most ? slots : most;
    return batch < most ? batch : most;
}

// Puts the batch's first messages into the order of their instances, and these into that of their first messages.
SLR_FN void slr_sort_batch(mb_word *P, mb_word batch)
{
    mb_word *aside = slr_team.reply; // where nothing is yet
    SLR_EACH(l) {
        slr_team.full[l] = l; // the first one of its instance
        for (mb_word k = l; k-- > 0u;)
            if (slr_team.instance[k] == slr_team.instance[l])
                slr_team.full[l] = k;
    }
    SLR_MEET();
    SLR_EACH(l) {
        slr_team.to[l] = 0u;
        for (mb_word k = 0u; k < batch; ++k)
            slr_team.to[l] += slr_team.full[k] < slr_team.full[l] || (slr_team.full[k] == slr_team.full[l] && k < l) ? 1u : 0u;
        for (mb_word i = 0u; i < 4u; ++i)
            aside[l * 4u + i] = P[MBP_BATCH(l) + i];
        aside[SLR_LANES * 4u + l] = slr_team.instance[l];
    }
    SLR_MEET();
    SLR_EACH(l)
        if (l < batch) {
            for (mb_word i = 0u; i < 4u; ++i)
                P[MBP_BATCH(slr_team.to[l]) + i] = aside[l * 4u + i];
            slr_team.instance[slr_team.to[l]] = aside[SLR_LANES * 4u + l];
        }
    SLR_MEET();
}

// Gives how many of the batch are handled now. Where the host judges faults that is one call: those of the first
// message's instance before one of another.
SLR_FN mb_word slr_choose_calls(const mb_word *S, mb_word *P, mb_word batch)
{
    mb_word alike = 1u;
    SLR_EACH(l)
        slr_team.instance[l] = l < batch ? MB_AT(P[MBP_BATCH(l) + 1u] + MB_INSTANCE) : 0u;
    SLR_MEET();
    while (alike < batch && slr_team.instance[alike] == slr_team.instance[0])
        alike += 1u;
    if (alike == batch || slr_team.set.judges != 0u)
        return alike;
    SLR_MEET(); // all have looked
    slr_sort_batch(P, batch);
    return batch;
}

// Each lane packs its message. The first one of an instance becomes the call of all of them.
SLR_FN void slr_join_calls(mb_word batch)
{
    mb_word bytes = SLR_SIZE(MB_BATCH_BYTES), words = slr_packed_words();
    SLR_EACH(l)
        if (l < batch) {
            mb_word round = slr_team.round[l], of = 1u;
            unsigned char *to = (unsigned char *)&slr_team.reply[SLR_ROOM - (batch - (l - round)) * words] + round * bytes;
            const mb_word *from = &slr_team.message[l * SLR_SIZE(MB_SLOT_WORDS) + MB_PAYLOAD];
            for (mb_word i = 0u; i < bytes / 4u && bytes % 4u == 0u; ++i)
                ((mb_word *)(void *)to)[i] = from[i];
            for (mb_word i = 0u; i < bytes && bytes % 4u != 0u; ++i)
                to[i] = ((const unsigned char *)from)[i];
            while (l + of < batch && slr_team.round[l + of] == of)
                of += 1u;
            slr_team.call[l].message = to;
            slr_team.call[l].messages = of;
            if (slr_team.set.fuel >> 56 == 0u) // else nobody could use it up, as slri_batch_fuel
                slr_team.call[l].fuel *= of;
        }
    SLR_MEET();
}

// A fault is that of all messages of the call.
SLR_FN void slr_share_faults(mb_word batch)
{
    SLR_EACH(l) {
        mb_word first = l < batch ? l - slr_team.round[l] : l;
        if (first != l) {
            slr_team.fault[l] = slr_team.fault[first];
            slr_team.call[l].fault_file = slr_team.call[first].fault_file;
            slr_team.call[l].fault_line = slr_team.call[first].fault_line;
        }
    }
    SLR_MEET();
}

// Gives how many have been handled. Messages of which no two fit are handled each in a call of its own.
SLR_APART mb_word slr_handle_calls(mb_word *S, mb_word *P, mb_word claimed)
{
    mb_word batch = slr_calls_that_fit(claimed);
    if (batch < 2u)
        return slr_handle_each(S, P, claimed);
    batch = slr_choose_calls(S, P, batch);
    slr_prepare(S, P, batch);
    slr_join_calls(batch);
    SLR_EACH(l)
        if (l < batch && slr_team.round[l] == 0u)
            slr_ends_with(l, SLR_CALL(&slr_team.call[l]));
    SLR_MEET();
    slr_share_faults(batch);
    slr_settle_together(S, P, batch);
    return batch;
}
