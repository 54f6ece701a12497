// SPDX-License-Identifier: Apache-2.0
// An opcode's words: "ld.acquire.sys.b32". Each must be known where it stands.
#include "tests/ptx/inside.h"

#include <string.h>

struct words {
    char text[128], *word[16];
    unsigned count, at;
};

static bool split(const char *opcode, struct words *w)
{
    if (strlen(opcode) >= sizeof w->text)
        return false;
    strcpy(w->text, opcode);
    w->count = w->at = 0;
    for (char *next = w->text; next && w->count < 16;) {
        w->word[w->count++] = next;
        next = strchr(next, '.');
        if (next)
            *next++ = '\0';
    }
    return true;
}

static bool next_is(struct words *w, const char *word)
{
    if (w->at == w->count || strcmp(w->word[w->at], word) != 0)
        return false;
    ++w->at;
    return true;
}

// Which of the list is next; -1: none.
static int next_of(struct words *w, const char *const *list)
{
    for (int i = 0; list[i]; ++i)
        if (next_is(w, list[i]))
            return i;
    return -1;
}

static bool is_end(const struct words *w)
{
    return w->at == w->count;
}

bool ptx_find_type(const char *word, struct ptx_type *out)
{
    static const struct {
        const char *name;
        struct ptx_type type;
    } types[] = {{"b8", {PTX_B, 1}},  {"b16", {PTX_B, 2}}, {"b32", {PTX_B, 4}}, {"b64", {PTX_B, 8}},
                 {"u8", {PTX_U, 1}},  {"u16", {PTX_U, 2}}, {"u32", {PTX_U, 4}}, {"u64", {PTX_U, 8}},
                 {"s8", {PTX_S, 1}},  {"s16", {PTX_S, 2}}, {"s32", {PTX_S, 4}}, {"s64", {PTX_S, 8}},
                 {"f16", {PTX_F, 2}}, {"f32", {PTX_F, 4}}, {"f64", {PTX_F, 8}}, {"pred", {PTX_PRED, 1}}};
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
        if (strcmp(word, types[i].name) == 0) {
            *out = types[i].type;
            return true;
        }
    return false;
}

static bool next_type(struct words *w, struct ptx_type *out)
{
    return w->at < w->count && ptx_find_type(w->word[w->at], out) && ++w->at;
}

// ---- memory --------------------------------------------------------------------------------------------------------

static const char *const spaces[] = {"global", "shared", "local", "param", "const", NULL};
static const char *const orders[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc", NULL};
static const char *const scopes[] = {"cta", "gpu", "sys", NULL};

static bool take_order(struct words *w, struct ptx_ins *ins)
{
    if (next_is(w, "volatile")) {
        ins->order = PTX_RELAXED;
        ins->scope = PTX_SYS;
        return true;
    }
    int order = next_of(w, orders);
    ins->order = (uint8_t)(order < 0 ? PTX_WEAK : order);
    if (order <= PTX_WEAK)
        return true;
    int scope = next_of(w, scopes);
    ins->scope = (uint8_t)scope;
    return scope >= 0;
}

static void take_space(struct words *w, struct ptx_ins *ins)
{
    int space = next_of(w, spaces);
    ins->space = (uint8_t)(space < 0 ? PTX_GENERIC : PTX_GLOBAL + space);
}

static bool decode_access(struct words *w, struct ptx_ins *ins)
{
    ins->vector = 1;
    if (!take_order(w, ins))
        return false;
    take_space(w, ins);
    if (ins->kind == PTX_LD)
        next_is(w, "nc");
    ins->vector = next_is(w, "v2") ? 2 : next_is(w, "v4") ? 4 : 1;
    return next_type(w, &ins->type) && is_end(w) && ins->order != PTX_ACQ_REL && ins->order != PTX_SC &&
           ins->order != (ins->kind == PTX_LD ? PTX_RELEASE : PTX_ACQUIRE);
}

// atom.add.acq_rel.sys.u32, atom.shared.add.u32; without an order it is relaxed, for the device.
static bool decode_atomic(struct words *w, struct ptx_ins *ins)
{
    static const char *const functions[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", NULL};
    int what = -1;
    ins->order = PTX_RELAXED;
    ins->scope = PTX_GPU;
    while (!next_type(w, &ins->type)) {
        int function = next_of(w, functions), order = next_of(w, orders), scope = next_of(w, scopes);
        int space = next_of(w, spaces);
        if (function < 0 && order < 0 && scope < 0 && space < 0)
            return false;
        what = function >= 0 ? function : what;
        ins->order = order >= 0 ? (uint8_t)order : ins->order;
        ins->scope = scope >= 0 ? (uint8_t)scope : ins->scope;
        ins->space = space >= 0 ? (uint8_t)(PTX_GLOBAL + space) : ins->space;
    }
    ins->what = (uint8_t)what;
    return what >= 0 && is_end(w);
}

static bool decode_fence(struct words *w, struct ptx_ins *ins)
{
    int order = next_of(w, orders), scope = next_of(w, scopes);
    ins->order = (uint8_t)order;
    ins->scope = (uint8_t)scope;
    return order >= PTX_ACQ_REL && scope >= 0 && is_end(w);
}

static bool decode_membar(struct words *w, struct ptx_ins *ins)
{
    static const char *const levels[] = {"cta", "gl", "sys", NULL};
    int level = next_of(w, levels);
    ins->order = PTX_SC;
    ins->scope = (uint8_t)level;
    return level >= 0 && is_end(w);
}

// ---- what lanes do together ----------------------------------------------------------------------------------------

static bool decode_bar(struct words *w, struct ptx_ins *ins)
{
    ins->is_aligned = strcmp(w->word[0], "bar") == 0;
    if (ins->is_aligned && next_is(w, "warp")) {
        ins->kind = PTX_SYNCWARP;
        return next_is(w, "sync") && is_end(w);
    }
    if (next_is(w, "red")) {
        static const char *const gives[] = {"popc", "and", "or", NULL};
        int what = next_of(w, gives);
        ins->what = (uint8_t) "pao"[what < 0 ? 0 : what];
        if (what < 0)
            return false;
    } else if (!next_is(w, "sync"))
        return false;
    ins->is_aligned |= next_is(w, "aligned");
    if (ins->what != 0)
        return next_type(w, &ins->type) && is_end(w);
    return is_end(w);
}

static bool decode_warp(struct words *w, struct ptx_ins *ins)
{
    static const char *const shuffles[] = {"up", "down", "bfly", "idx", NULL};
    static const char *const votes[] = {"all", "any", "ballot", NULL};
    static const char *const redux[] = {"add", "min", "max", "and", "or", "xor", NULL};
    int what = 0;
    if (ins->kind == PTX_MATCH) {
        what = next_is(w, "any") ? 0 : -1;
        return what == 0 && next_is(w, "sync") && next_type(w, &ins->type) && is_end(w);
    }
    if (!next_is(w, "sync"))
        return false;
    what = next_of(w, ins->kind == PTX_SHFL ? shuffles : ins->kind == PTX_VOTE ? votes : redux);
    ins->what = (uint8_t)what;
    return what >= 0 && next_type(w, &ins->type) && is_end(w);
}

// ---- conversions ---------------------------------------------------------------------------------------------------

static bool decode_cvt(struct words *w, struct ptx_ins *ins)
{
    static const char *const round[] = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", NULL};
    int how = next_of(w, round);
    ins->round = (uint8_t)(how < 0 ? 0 : how % 4);
    ins->what = how >= 4; // to a whole number
    ins->flushes = next_is(w, "ftz");
    ins->saturates = next_is(w, "sat");
    ins->alu = ptx_convert;
    ins->kind = PTX_ALU;
    if (!next_type(w, &ins->type) || !next_type(w, &ins->from) || !is_end(w))
        return false;
    bool is_half = ins->type.class == PTX_F && ins->type.bytes == 2;
    return !is_half || (ins->from.class == PTX_F && ins->round == 0);
}

// ---- all -----------------------------------------------------------------------------------------------------------

static bool decode_flow(struct words *w, struct ptx_ins *ins)
{
    if (ins->kind == PTX_NANOSLEEP)
        return next_is(w, "u32") && is_end(w);
    if (ins->kind == PTX_ACTIVE)
        return next_is(w, "b32") && is_end(w);
    next_is(w, "uni");
    return is_end(w);
}

bool ptx_decode(struct ptx_ins *ins, const char *opcode)
{
    static const struct {
        const char *name;
        enum ptx_kind kind;
        bool (*decode)(struct words *w, struct ptx_ins *ins);
    } known[] = {{"ld", PTX_LD, decode_access},       {"st", PTX_ST, decode_access},
                 {"atom", PTX_ATOMIC, decode_atomic}, {"red", PTX_ATOMIC, decode_atomic},
                 {"fence", PTX_FENCE, decode_fence},  {"membar", PTX_FENCE, decode_membar},
                 {"bra", PTX_BRA, decode_flow},       {"call", PTX_CALL, decode_flow},
                 {"ret", PTX_RET, decode_flow},       {"exit", PTX_EXIT, decode_flow},
                 {"trap", PTX_TRAP, decode_flow},     {"nanosleep", PTX_NANOSLEEP, decode_flow},
                 {"bar", PTX_BARRIER, decode_bar},    {"barrier", PTX_BARRIER, decode_bar},
                 {"shfl", PTX_SHFL, decode_warp},     {"vote", PTX_VOTE, decode_warp},
                 {"match", PTX_MATCH, decode_warp},   {"redux", PTX_REDUX, decode_warp},
                 {"cvt", PTX_ALU, decode_cvt},        {"activemask", PTX_ACTIVE, decode_flow}};
    struct words w;
    if (!split(opcode, &w))
        return false;
    w.at = 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strcmp(w.word[0], known[i].name) == 0) {
            ins->kind = (uint8_t)known[i].kind;
            return known[i].decode(&w, ins);
        }
    ins->kind = PTX_ALU;
    ins->alu = ptx_find_alu(opcode);
    // Where an operand may be of no consequence: which is chosen, and what settles a predicate.
    ins->what = strcmp(w.word[0], "selp") == 0    ? 's'
                : strcmp(opcode, "and.pred") == 0 ? '&'
                : strcmp(opcode, "or.pred") == 0  ? '|'
                                                  : 0;
    return ins->alu != NULL && ptx_find_type(w.word[w.count - 1], &ins->type);
}
