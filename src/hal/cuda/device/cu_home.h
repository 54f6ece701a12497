// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: what a block has near it, and where that has its home on the host. It stands behind cu_passage.h,
// before what uses it (cu_look.h). C as well as C++, as cu_team.h says.
// clang-format off
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
    // The memory of a shard that has left may be another's by now, and so may that of one whose entry is free again.
    if (slr_team.set.used == 0u || slr_team.set.left != 0u)
        return;
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

// With `away` 1 from home to where the block works on them; with 0 back, before the first lane tells the host so. Nothing
// where they are there already, or have no home.
SLR_FN void slr_move_states(mb_word away)
{
    mb_word *near = slr_words(slr_team.set.states), *home = slr_words(slr_team.set.states_home);
    if (slr_team.set.away == away || home == 0)
        return;
    slr_copy(away != 0u ? near : home, away != 0u ? home : near, slr_team.set.states_bytes / 4u);
    SLR_MEET();
    SLR_FIRST slr_team.set.away = slr_team.serving->away = away;
    SLR_MEET();
}

SLR_FN void slr_bring_own(void)
{
    if (slr_team.set.own_home != 0u)
        slr_copy(slr_words(slr_team.set.own_home), slr_words(slr_team.set.own), slr_team.set.own_words);
    SLR_MEET();
}

// What must be at home should the device be lost with this batch in hand (engine/resident_home.c): the head, the
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
    SLR_EACH(l)
        for (mb_word word = 0u; l < batch && word < MBQ_NEAR; ++word)
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
    slr_move_states(0u);
    slr_bring_own();
}
