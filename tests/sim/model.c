// SPDX-License-Identifier: Apache-2.0
// The reference model: says of what happened whether docs/contract allows it. It was written from the contracts and
// looks at nothing of the library's but its public types. Where several things at once leave open what must happen, it
// asks only that something did that may.
#include "model.h"

#include <stdarg.h>
#include <string.h>

static char text[512];

bool wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (text[0] == '\0')
        vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return false;
}

// ---- routes --------------------------------------------------------------------------------------------------------

// Changes take effect during the call; a handler uses the routes that there were when it began.
enum may has_route(const struct index *x, uint32_t from, uint32_t to, uint32_t at)
{
    enum may there = NO;
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        if ((c->op.verb != ROUTE && c->op.verb != UNROUTE) || c->op.ring != from || c->op.to != to ||
            c->status != SLR_OK || c->begin > at)
            continue;
        enum may becomes = c->op.verb == ROUTE ? YES : NO;
        there = c->end > at ? PERHAPS : becomes;
    }
    return there;
}

enum may has_any_route(const struct index *x, uint32_t from, uint32_t at)
{
    enum may any = NO;
    for (uint32_t to = 0; to < x->program->rings; ++to) {
        enum may one = has_route(x, from, to, at);
        any = one > any ? one : any;
    }
    return any;
}

static void index_routes(struct index *x)
{
    bool leads[MOST_RINGS][MOST_RINGS] = {0};
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        if (c->op.verb != ROUTE || c->status != SLR_OK)
            continue;
        leads[c->op.ring][c->op.to] = true;
        x->has_routes_in[c->op.to] = x->has_routes_out[c->op.ring] = true;
    }
    for (uint32_t k = 0; k < MOST_RINGS; ++k)
        for (uint32_t i = 0; i < MOST_RINGS; ++i)
            for (uint32_t j = 0; j < MOST_RINGS; ++j)
                leads[i][j] = leads[i][j] || (leads[i][k] && leads[k][j]);
    for (uint32_t i = 0; i < MOST_RINGS; ++i)
        x->in_cycle[i] = leads[i][i];
}

// ---- all of it -----------------------------------------------------------------------------------------------------

const char *judge(const struct program *program, const struct trace *trace)
{
    static struct index x; // large
    text[0] = '\0';
    if (trace->broken) {
        wrong("%s", trace->broken);
        return text;
    }
    memset(&x, 0, sizeof x);
    memset(x.handling, 0xff, sizeof x.handling);
    x.program = program;
    x.trace = trace;
    index_routes(&x);
    bool right = judge_fates(&x) && judge_order(&x) && judge_replies(&x) && judge_states(&x) && judge_instances(&x) &&
                 judge_pauses(&x) && judge_policies(&x) && judge_capacity(&x) && judge_priorities(&x) &&
                 judge_drops(&x) && judge_progress(&x) && judge_counts(&x);
    return right ? NULL : text;
}
