// SPDX-License-Identifier: Apache-2.0
// Some hundred random programs, each twice; and whether the model sees what is wrong, in traces that were tampered
// with. SLIPRING_TEST_SEEDS=n plays n programs.
#include "shrink.h"
#include "trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void random_programs_go_as_the_model_says_and_the_same_way_twice(void **state)
{
    (void)state;
    const char *asked = getenv("SLIPRING_TEST_SEEDS");
    uint64_t seeds = asked ? strtoull(asked, NULL, 10) : 300;
    char why[WHY_BYTES];
    uint64_t failed = try_seeds(0, seeds, true, why);
    if (failed == seeds)
        return;
    struct program program;
    program_make(&program, failed);
    fprintf(stderr, "seed %llu: %s\n", (unsigned long long)failed, why);
    shrink(&program, why);
    fprintf(stderr, "cut down: %s\n", why);
    program_print(&program, stderr);
    fail();
}

// ---- the model -----------------------------------------------------------------------------------------------------

static struct trace trace, tampered;

// One ring kernel of one shard that handles five messages, each with a reply, and is terminated.
static struct program plain_program(void)
{
    struct program p = {.schedule = 1, .threads = 1, .rings = 1, .clients = 1};
    p.ring[0] = (struct ring_plan){.sort = HANDLER,
                                   .instances = 1,
                                   .queue_size = 8,
                                   .max_batch = 1,
                                   .max_replies = 1,
                                   .overflow = SLR_OVERFLOW_BLOCK,
                                   .fault_policy = SLR_FAULT_FAIL};
    p.op[p.ops++] = (struct op){.verb = LAUNCH, .actor = CONTROLLER};
    p.op[p.ops++] = (struct op){.verb = ACTIVATE, .actor = CONTROLLER};
    p.op[p.ops++] = (struct op){.verb = MEET, .actor = CONTROLLER};
    p.op[p.ops++] = (struct op){.verb = SEND_MANY, .count = 5, .script = 1, .wait_ns = 1000000};
    p.op[p.ops++] = (struct op){.verb = MEET, .actor = CONTROLLER};
    p.op[p.ops++] = (struct op){.verb = SETTLE, .actor = CONTROLLER};
    return p;
}

// Plays it, and judges what `tamper` makes of what happened.
static const char *judge_tampered(void (*tamper)(struct trace *t))
{
    struct program program = plain_program();
    play(&program, &trace);
    assert_null(judge(&program, &trace));
    assert_int_equal(trace.handlings, 5);
    tampered = trace;
    tamper(&tampered);
    return judge(&program, &tampered);
}

static void sees(void (*tamper)(struct trace *t), const char *what)
{
    const char *why = judge_tampered(tamper);
    if (!why || !strstr(why, what))
        fail_msg("\"%s\" and not \"%s\"", why ? why : "all is right", what);
}

static void lose(struct trace *t)
{
    --t->handlings;
}

static void handle_again(struct trace *t)
{
    t->handling[t->handlings] = t->handling[0];
    t->handling[t->handlings++].begin = t->time;
}

static void swap(struct trace *t)
{
    struct handling first = t->handling[0];
    t->handling[0].id = t->handling[1].id;
    t->handling[0].correlation = t->handling[1].correlation;
    t->handling[1].id = first.id;
    t->handling[1].correlation = first.correlation;
}

static void refuse(struct trace *t)
{
    t->message[0].sent = REFUSED;
}

static void lose_a_reply(struct trace *t)
{
    for (uint32_t i = 0; i < t->receipts; ++i)
        if (t->receipt[i].status == SLR_OK) {
            t->receipt[i] = t->receipt[--t->receipts];
            return;
        }
}

static void reply_to_another(struct trace *t)
{
    t->receipt[0].correlation += 1;
}

static void lose_the_end(struct trace *t)
{
    for (uint32_t i = 0; i < t->receipts; ++i)
        if (t->receipt[i].status == SLR_END)
            t->receipt[i].status = SLR_RING_FAILED;
}

static void forget_state(struct trace *t)
{
    t->handling[2].before = (struct state){0};
}

static void miscount(struct trace *t)
{
    for (uint32_t i = 0; i < t->controls; ++i)
        t->control[i].stats.handled -= 1, t->control[i].stats.faulted += 1;
}

static void fault_and_go_on(struct trace *t)
{
    t->handling[1].faulted = true;
    t->letter[t->letters++] = (struct letter){t->handling[1].id, 0, SLR_DEAD_LETTER_FAULTED};
}

static void stay_paused(struct trace *t)
{
    t->control[0].after = SLR_RING_PAUSED;
}

static void handle_before_activation(struct trace *t)
{
    for (uint32_t i = 0; i < t->controls; ++i)
        if (t->control[i].op.verb == ACTIVATE)
            t->control[i].begin = t->control[i].end = t->handling[0].begin + 1;
}

static void shrink_the_queue_behind_its_back(struct trace *t)
{
    for (uint32_t i = 0; i < t->handlings; ++i)
        t->handling[i].begin += 1000, t->handling[i].end += 1000;
    for (uint32_t i = 5; i < 20; ++i) { // more that were accepted, and handed back in the end
        t->message[t->messages] = t->message[0];
        t->letter[t->letters++] = (struct letter){t->messages, 0, SLR_DEAD_LETTER_UNDELIVERED};
        t->undelivered[t->undelivered_count++] = t->letter[t->letters - 1];
        ++t->messages;
    }
}

static void the_model_sees_what_is_wrong(void **state)
{
    (void)state;
    sees(lose, "is lost");
    sees(handle_again, "handled twice");
    sees(swap, "sent first");
    sees(refuse, "never accepted");
    sees(lose_a_reply, "never came");
    sees(reply_to_another, "correlation");
    sees(lose_the_end, "END");
    sees(forget_state, "found state");
    sees(miscount, "counts");
    sees(fault_and_go_on, "");
    sees(stay_paused, "behind a call");
    sees(handle_before_activation, "not activated");
    sees(shrink_the_queue_behind_its_back, "");
}

static void a_seed_always_makes_the_same_program(void **state)
{
    (void)state;
    static struct program one, two;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        program_make(&one, seed);
        program_make(&two, seed);
        assert_memory_equal(&one, &two, sizeof one);
        assert_true(one.ops <= MOST_OPS && one.rings >= 1 && one.clients >= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_go_as_the_model_says_and_the_same_way_twice),
        cmocka_unit_test(the_model_sees_what_is_wrong),
        cmocka_unit_test(a_seed_always_makes_the_same_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
