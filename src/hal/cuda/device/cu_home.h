// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: what a block has near it, and where that has its home on the host. It stands behind cu_passage.h,
// before what uses it (cu_look.h). C as well as C++, as cu_team.h says.
// clang-format off
// ---- the owner's words ----------------------------------------------------------------------------------------------

// How many of them the team works on: MBP_LISTS_AT(ports), of MBP_WORDS(ports).
SLR_FN mb_word slr_own_words(void)
{
    mb_word ports = (slr_team.set.own_words - MBP_PORT(0u)) / (MBP_PORT_WORDS + MBL_WORDS);
    return SLR_OWN_ROOM != 0u ? slr_team.set.own_words - ports * MBL_WORDS : 0u;
}

SLR_FN void slr_load_own(void)
{
    if (SLR_OWN_ROOM == 0u)
        return;
    slr_copy(slr_team.own, slr_words(slr_team.set.own), slr_own_words());
    SLR_FIRST {
        slr_team.is_own = 1u;
        slr_team.own_changed = 0u;
    }
    SLR_MEET();
}

// Before the team becomes another entry's.
SLR_FN void slr_save_own(void)
{
    if (slr_team.is_own == 0u || slr_team.own_changed == 0u)
        return;
    slr_copy(slr_words(slr_team.set.own), slr_team.own, slr_own_words());
    SLR_MEET();
}

// The team touches them no more.
SLR_FN void slr_leave_own(void)
{
    SLR_MEET();
    SLR_FIRST {
        slr_team.is_own = 0u;
        slr_leave_outlets();
    }
    SLR_MEET();
}

// ---- entries --------------------------------------------------------------------------------------------------------

// The team becomes that of another entry.
SLR_APART void slr_become(struct slri_resident_entry *entry, mb_word i)
{
    const mb_word group = (sizeof *entry - 128u) / 4u; // the last line is the group's
    slr_save_own();
    slr_save_outlets();
    SLR_MEET(); // all have looked
    SLR_FIRST {
        slr_team.is_own = 0u;
        slr_leave_outlets();
        slr_team.serving = entry;
        slr_team.index = i;
        slr_team.busy = 0u;
        slr_team.looks = 0u;
        slr_team.aimed = 0u;
        slr_team.fast = 0u;
        slr_team.crowd = 0u;
        slr_team.last = 0u;
        slr_team.word[SLR_JUDGED] = 0u; // until the first look
    }
    slr_copy((mb_word *)&slr_team.set, (const mb_word *)entry, 32u);
    slr_copy((mb_word *)&slr_team.set + group, (const mb_word *)entry + group, 32u);
    SLR_MEET();
    // The memory of a shard that has left may be another's by now, and so may that of one whose entry is free again.
    if (slr_team.set.used == 0u || slr_team.set.left != 0u)
        return;
    slr_copy(slr_team.size, slr_words(slr_team.set.shared) + 64, 32u);
    slr_load_own();
    SLR_MEET();
    slr_know_passage();
    if (slr_team.arrives == 0u)
        slr_load_outlets();
}

SLR_FN void slr_turn_to(struct slri_resident_table *table, mb_word i)
{
    SLR_MEET();
    if (slr_team.serving != &table->entry[i])
        slr_become(&table->entry[i], i);
}

SLR_FN SLRI_ADDRESS *slr_times(SLRI_ADDRESS own)
{
    return (SLRI_ADDRESS *)(slr_words(own) + MBP_HISTOGRAM_AT(slr_team.set.own_words));
}

SLR_FN void slr_fetch_times(void)
{
    slr_copy((mb_word *)slr_times(slr_team.set.own), (const mb_word *)slr_times(slr_team.set.own_home), 2u * HG_WORDS);
}

SLR_APART void slr_arrive(struct slri_resident_table *table, mb_word i)
{
    SLR_FIRST slr_team.arrives = 1u;
    slr_turn_to(table, i);
    SLR_MEET();
    SLR_FIRST slr_team.arrives = 0u;
    if (slr_team.set.used == 0u)
        return;
    const mb_word *S = slr_words(slr_team.set.shared);
    if (slr_team.set.own_home != 0u)
        slr_copy(slr_words(slr_team.set.own), slr_words(slr_team.set.own_home), slr_team.set.own_words);
    if (SLR_SIZE(MB_TIMED_BELOW) != 0u)
        slr_fetch_times();
    SLR_MEET();
    slr_load_own();
    slr_find_near(S, SLR_P);
    SLR_FIRST slr_team.own_changed = 1u;
    slr_fetch_outlets();
    slr_load_outlets();
    slr_fetch_outs();
    SLR_FIRST {
        slr_team.heard[i][0] = SLR_PEEK(S[MB_CONTROL]);
        slr_team.heard[i][1] = SLR_PEEK(S[MB_PORT_EPOCH]);
        slr_team.unheard[i] = 0u;
    }
    SLR_SEEN();
}

// With `away` 1 from home to where the block works on them; with 0 back, before the first lane tells the host so. Nothing
// where they are there already, or have no home.
SLR_APART void slr_carry_states(mb_word away)
{
    mb_word *near = slr_words(slr_team.set.states), *home = slr_words(slr_team.set.states_home);
    slr_copy(away != 0u ? near : home, away != 0u ? home : near, slr_team.set.states_bytes / 4u);
    SLR_MEET();
    SLR_FIRST slr_team.set.away = slr_team.serving->away = away;
    SLR_MEET();
}

SLR_FN void slr_move_states(mb_word away)
{
    if (slr_team.set.away != away && slr_team.set.states_home != 0u)
        slr_carry_states(away);
}

SLR_FN mb_word *slr_own_home(void)
{
    return slr_words(slr_team.set.own_home != 0u ? slr_team.set.own_home : slr_team.set.own);
}

SLR_APART void slr_bring_own(void)
{
    mb_word here = slr_own_words();
    if (here != 0u)
        slr_copy(slr_own_home(), slr_team.own, here);
    if (slr_team.set.own_home != 0u)
        slr_copy(slr_own_home() + here, slr_words(slr_team.set.own) + here, slr_team.set.own_words - here);
    SLR_MEET();
}

// What must be at home should the device be lost with this batch in hand (engine/resident_home.c): the head, the
// cursors of the batch's ports, and the pending set where there is one.
SLR_FN void slr_note_batch(const mb_word *P, mb_word batch)
{
    mb_word *home = slr_own_home();
    if (home == P)
        return;
    if (P[MBP_WAITING] != 0u || slr_team.waited != 0u) {
        slr_bring_own();
        return;
    }
    SLR_EACH(l) {
        for (mb_word word = l; word < MBP_BATCH(batch); word += SLR_LANES)
            home[word] = P[word];
        mb_word done = MB_MAX_PORTS;
        for (mb_word k = 0u; k < batch; ++k) { // a port's messages mostly stand together
            mb_word port = P[MBP_BATCH(k)];
            if (port != done && l < MBQ_NEAR)
                home[MBP_PORT(port) + l] = P[MBP_PORT(port) + l];
            done = port;
        }
    }
    SLR_MEET();
}

// Of those that are not over, behind the last pass.
SLR_APART void slr_depart(struct slri_resident_table *table, mb_word i)
{
    slr_turn_to(table, i);
    if (slr_team.set.used == 0u || slr_team.set.left != 0u)
        return;
    slr_bring_batch(slr_words(slr_team.set.shared), SLR_P);
    slr_bring_outlets();
    slr_move_states(0u);
    slr_bring_own();
    slr_leave_own();
}
