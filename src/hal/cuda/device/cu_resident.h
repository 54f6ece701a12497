// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: the kernel that stays. It stands behind a handler's emitted text, the table's layout
// (engine/resident_layout.h), what a block's lanes share (cu_team.h), the mailbox (abi/mailbox.h), what of it lies near
// (cu_near.h), and what a block does with it (cu_passage.h, cu_home.h, cu_look.h, cu_handle.h, cu_batch.h), and is
// their loop. Each block is one warp, and serves every gridDim.x-th shard of the table, so all blocks must run at once.
// SLR_HANDLER is the handler, SLR_THREADS how many threads a block has. With SLR_IS_BLOCK all of them handle each
// message: those of other warps wait at a barrier until they are called. C as well as C++.
//
// Memory orders: as the mailbox says at each word, for the whole system, because the host is the other side. Lanes meet
// at SLR_MEET, which orders what they did among them; the first one's fence then orders it for the host. A launch
// acquires what the host wrote before it; `gone` is released behind all that any block did.
// clang-format off
#ifndef SLR_IDLE_LOOKS
#define SLR_IDLE_LOOKS 256u // then a pass without work sleeps: a look at the host's memory takes 1.1 us on an H100
#endif
#define SLR_SLEEP_NS 200u

// ---- the clock --------------------------------------------------------------------------------

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

SLR_APART void slr_obey_hold(void)
{
    if ((slr_team.word[SLR_HOLD] & 1u) != 0u)
        slr_move_states(0u);
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
        slr_move_states(0u);
    SLR_MEET(); // all have read the control word that is now replaced
    SLR_FIRST {
        mb_word control = P[MBP_CONTROL];
        slr_team.own_changed = 1u;
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
        slr_move_states(0u);
    if (state == MB_ENDED || state == MB_STOPPED) {
        slr_bring_batch(S, P);
        slr_bring_outlets();
        slr_bring_own();
        slr_leave_own();
        SLR_FIRST {
            slr_team.worked = 1u;
            slr_team.set.left = 1u;
            SLR_STORE(slr_team.serving->left, 1u); // its last touch of the shard
        }
    }
}

// All that the fast path has no rule for.
SLR_APART void slr_serve_any(struct slri_resident_table *table, mb_word i)
{
    mb_word *S = slr_words(slr_team.set.shared), *P = SLR_P;
    SLR_FIRST {
        if (slr_team.heard[i][1] != P[MBP_EPOCH]) { // before the look, so that it finds all ports' lanes
            mb_reread_ports(S, P, slr_team.heard[i][1]);
            slr_team.aimed = 0u;
            slr_team.own_changed = 1u;
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
        slr_team.fast = table->entries <= gridDim.x ? slr_may_be_fast(P) : 0u; // a team of several would forget it
    }
    SLR_MEET();
    if (!SLR_IS_BLOCK && slr_team.fast != 0u)
        slr_aim_fast(S, P);
}

SLR_FN void slr_serve(struct slri_resident_table *table, mb_word i)
{
    slr_turn_to(table, i);
    if (slr_team.set.used != 0u && slr_team.set.left == 0u && slr_pass_fast(table, i) == 0u)
        slr_serve_any(table, i);
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
    mb_word then = idle + slr_team.polled;
    if (worked != 0) {
        if (idle >= most_idle)
            slr_count(&SLR_BLOCKS->idle, 0u - 1u);
        return 0;
    }
    if (idle < most_idle && then >= most_idle && slr_count(&SLR_BLOCKS->idle, 1u) == gridDim.x)
        SLR_STORE(SLR_BLOCKS->ending, 1u);
    if (idle >= SLR_IDLE_LOOKS)
        __nanosleep(SLR_SLEEP_NS);
    return then < most_idle ? then : most_idle;
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
    if (table == 0) // a first launch, for what the driver does then
        return;
    if (SLR_IS_BLOCK && SLR_HELPS) {
        slr_help();
        return;
    }
    mb_word launch = table->launch, most_idle = table->most_idle, entries = table->entries, idle = 0u;
    SLR_FIRST {
        slr_team.serving = 0;
        slr_team.is_own = 0u;
        slr_leave_outlets();
        slr_team.answered = blockIdx.x == 0u ? table->answered : 0u; // the first block answers
    }
    for (mb_word i = blockIdx.x; i < entries; i += gridDim.x)
        slr_arrive(table, i);
    do {
        SLR_MEET();
        SLR_FIRST {
            slr_team.worked = 0u;
            slr_team.looked = 0u;
            slr_team.polled = 1u;
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
            slr_team.act = slr_team.word[SLR_STOP] != launch && (slr_team.worked != 0u || SLR_LOAD(SLR_BLOCKS->ending) == 0u)
                               ? 1u
                               : 0u;
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
