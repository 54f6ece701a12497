// SPDX-License-Identifier: Apache-2.0
// Functions of a warp, between two loops over lanes: what each lane gives is laid out by thread, each warp of 32 is
// computed at once, and each lane takes its result.
#include "base/status.h"
#include "emit/c/plan.h"
#include "ir/ir_names.h"

extern const char slri_embedded_slr_warp_h[];

// ---- the text in front ---------------------------------------------------------------------------------------------

// Lanes of a warp are bits: `here` those that run the call, `late` those that others have waited for in vain, `part`
// those that take part with a lane. Arrays by lane begin at the warp's first thread, and a value that lanes give each
// other has 32 elements of no meaning before and behind it: so that a distance is two loads and a select.
// The text of C, as it is to be read.
// clang-format off
static const char *const helpers[] = {
    "#ifndef SLRI_ONCE\n" // so that several files may be made one
    "#define SLRI_ONCE __attribute__((noinline, unused)) static\n"
    "#define SLRI_ROUND(threads) (((threads) + 31) / 32 * 32)\n"
    "SLRI_IN _Bool slri_any_on(const uint8_t *on, uint32_t threads)\n"
    "{ uint8_t any = 0; for (uint32_t i = 0; i < threads; i++) any |= on[i]; return any; }\n"
    "SLRI_IN uint32_t slri_count_on(const uint8_t *on, uint32_t threads)\n"
    "{ uint32_t count = 0; for (uint32_t i = 0; i < threads; i++) count += on[i]; return count; }\n"
    // Eight flags, one a byte, as eight bits: the product brings bit 8 i to bit 56 + i.
    "SLRI_IN uint32_t slri_flags(const uint8_t *on)\n"
    "{ uint64_t v; __builtin_memcpy(&v, on, 8); return (uint32_t)(v * UINT64_C(0x0102040810204080) >> 56); }\n"
    "SLRI_IN uint32_t slri_warp_on(const uint8_t *on)\n"
    "{ return slri_flags(on) | slri_flags(on + 8) << 8 | slri_flags(on + 16) << 16 | slri_flags(on + 24) << 24; }\n"
    "SLRI_IN uint32_t slri_below(int32_t lane) { return lane <= 0 ? 0 : lane > 31 ? UINT32_MAX : (1u << lane) - 1; }\n"
    "SLRI_IN uint32_t slri_warp_range(int32_t low, int32_t high) { return slri_below(high) & ~slri_below(low); }\n"
    // Those who are here meet; whoever is not has ended, or is late. False if one who was late before is here.
    "SLRI_ONCE _Bool slri_meet(const uint8_t *on, uint32_t *late, uint32_t threads)\n"
    "{\n"
    "    uint32_t wrong = 0;\n"
    "    if (on && !slri_any_on(on, threads)) return 1;\n"
    "    for (uint32_t base = 0; base < threads; base += 32) {\n"
    "        const uint32_t here = on ? slri_warp_on(on + base) : slri_below((int32_t)(threads - base));\n"
    "        wrong |= here & late[base / 32]; late[base / 32] |= ~here;\n"
    "    }\n"
    "    return !wrong;\n"
    "}\n"
    // False: a mask leaves its own lane out, or a lane comes that others have given up.
    "SLRI_IN _Bool slri_warp_join(uint32_t here, uint32_t *late, uint32_t mask, uint32_t *part)\n"
    "{\n"
    "    *part = mask & here;\n"
    "    uint32_t wrong = here & ~mask;\n"
    "    if (late) { wrong |= here & *late; *late |= mask & ~here; }\n"
    "    return !wrong;\n"
    "}\n"
    // Each lane has a mask of its own. False also where two lanes that name each other gave different ones.
    "SLRI_ONCE _Bool slri_warp_gather(uint32_t here, uint32_t *late, const uint32_t *mask, uint32_t *part)\n"
    "{\n"
    "    uint32_t wanted = 0, wrong = 0;\n"
    "    for (uint32_t i = 0; i < 32; i++) {\n"
    "        part[i] = here >> i & 1 ? mask[i] & here : 0;\n"
    "        if (!(here >> i & 1)) continue;\n"
    "        wanted |= mask[i]; wrong |= !(mask[i] >> i & 1);\n"
    "        for (uint32_t j = 0; j < 32; j++) wrong |= (part[i] >> j & 1) && mask[i] != mask[j];\n"
    "    }\n"
    "    if (late) { wrong |= here & *late; *late |= wanted & ~here; }\n"
    "    return !wrong;\n"
    "}\n",
    // `by`, `width` and `part` are of all lanes where their step is 0. Each where all lanes are there, at once.
    "#define SLRI_WARP_SHUFFLE_OF(name, K, type, near) \\\n"
    "    SLRI_ONCE _Bool slri_some_##name##_##K(uint32_t here, const uint32_t *part, uint32_t step, const type *value, \\\n"
    "        const int32_t *by, uint32_t by_step, const int32_t *width, uint32_t width_step, type *result) \\\n"
    "    { _Bool good = 1; \\\n"
    "      for (uint32_t i = 0; i < 32; i++) { \\\n"
    "          if (!(here >> i & 1)) continue; \\\n"
    "          const uint32_t w = (uint32_t)width[i * width_step]; \\\n"
    "          if (!slri_is_width(w)) { good = 0; result[i] = value[i]; continue; } \\\n"
    "          const uint32_t from = slri_source_##name(i, (uint32_t)by[i * by_step], w); \\\n"
    "          result[i] = value[part[i * step] >> from & 1 ? from : i]; } \\\n"
    "      return good; } \\\n"
    "    SLRI_IN _Bool slri_warp_##name##_##K(uint32_t here, const uint32_t *part, uint32_t step, const type *value, \\\n"
    "        const int32_t *by, uint32_t by_step, const int32_t *width, uint32_t width_step, type *result) \\\n"
    "    { const uint32_t w = (uint32_t)width[0], d = (uint32_t)by[0] < 32 ? (uint32_t)by[0] : 32; (void)d; \\\n"
    "      if (step || width_step || here != UINT32_MAX || part[0] != here || !slri_is_width(w)) \\\n"
    "          return slri_some_##name##_##K(here, part, step, value, by, by_step, width, width_step, result); \\\n"
    "      if (!by_step && near(d)) { \\\n"
    "          for (uint32_t i = 0; i < 32; i++) { near##_OF(name, type) } \\\n"
    "      } else for (uint32_t i = 0; i < 32; i++) \\\n"
    "          result[i] = value[slri_source_##name(i, (uint32_t)by[i * by_step], w)]; \\\n"
    "      return 1; }\n",
    "#define SLRI_NEVER(d) 0\n"
    "#define SLRI_NEVER_OF(name, type) (void)i;\n"
    "#define SLRI_LINE(d) 1\n"
    "#define SLRI_BELOW(d) 1\n"
    "#define SLRI_LINE_OF(name, type) const type own = value[i], other = value[i + d]; \\\n"
    "    result[i] = slri_source_##name(i, d, w) == i ? own : other;\n"
    "#define SLRI_BELOW_OF(name, type) const type own = value[i], other = value[(int32_t)i - (int32_t)d]; \\\n"
    "    result[i] = slri_source_##name(i, d, w) == i ? own : other;\n"
    "#define SLRI_SWAP(d) ((d) < w && ((d) & ((d) - 1)) == 0)\n"
    "#define SLRI_SWAP_OF(name, type) const type up = value[i + d], down = value[(int32_t)i - (int32_t)d]; \\\n"
    "    result[i] = i & d ? down : up;\n",
    "#define SLRI_WARP_VOTE(name, type, given) \\\n"
    "    SLRI_ONCE _Bool slri_warp_##name##_I32(uint32_t here, const uint32_t *part, uint32_t step, \\\n"
    "                                           const int32_t *value, type *result) \\\n"
    "    { uint32_t votes = 0; \\\n"
    "      for (uint32_t i = 0; i < 32; i++) votes |= (uint32_t)(value[i] != 0) << i; \\\n"
    "      for (uint32_t i = 0; i < 32; i++) { \\\n"
    "          const uint32_t mine = part[i * step], ayes = votes & mine & here; (void)mine; result[i] = given; } \\\n"
    "      return 1; }\n",
    "#define SLRI_WARP_MATCH_OF(name, K, type, bits) \\\n"
    "    SLRI_ONCE _Bool slri_warp_MATCH_##K(uint32_t here, const uint32_t *part, uint32_t step, const type *value, \\\n"
    "                                        uint32_t *result) \\\n"
    "    { bits own[32]; __builtin_memcpy(own, value, sizeof own); (void)here; \\\n"
    "      for (uint32_t i = 0; i < 32; i++) { \\\n"
    "          uint32_t same = 0; \\\n"
    "          for (uint32_t j = 0; j < 32; j++) same |= (uint32_t)(own[j] == own[i]) << j; \\\n"
    "          result[i] = same & part[i * step]; } \\\n"
    "      return 1; }\n"
    "#define SLRI_WARP_REDUCE(name, K, type) \\\n"
    "    SLRI_ONCE _Bool slri_warp_##name##_##K(uint32_t here, const uint32_t *part, uint32_t step, const type *value, \\\n"
    "                                           type *result) \\\n"
    "    { (void)here; \\\n"
    "      for (uint32_t i = 0; i < (step ? 32 : 1); i++) { \\\n"
    "          const uint32_t mine = part[i * step], rest = mine & (mine - 1); if (!mine) continue; \\\n"
    "          type all = value[__builtin_ctz(mine)]; \\\n"
    "          for (uint32_t j = 0; j < 32; j++) all = rest >> j & 1 ? slri_join_##name##_##K(all, value[j]) : all; \\\n"
    "          result[i] = all; } \\\n"
    "      for (uint32_t i = 1; !step && i < 32; i++) result[i] = result[0]; \\\n"
    "      return 1; }\n"
    "#endif\n"
};
// clang-format on

static const struct instance {
    const char *macro, *last; // the macro that makes the function, and its last argument
} instances[SLRI_WARP_COUNT] = {
    [SLRI_WARP_SHUFFLE] = {"SLRI_WARP_SHUFFLE_OF", ", SLRI_NEVER"},
    [SLRI_WARP_SHUFFLE_UP] = {"SLRI_WARP_SHUFFLE_OF", ", SLRI_BELOW"},
    [SLRI_WARP_SHUFFLE_DOWN] = {"SLRI_WARP_SHUFFLE_OF", ", SLRI_LINE"},
    [SLRI_WARP_SHUFFLE_XOR] = {"SLRI_WARP_SHUFFLE_OF", ", SLRI_SWAP"},
    [SLRI_WARP_BALLOT] = {"SLRI_WARP_VOTE", ", uint32_t, ayes"},
    [SLRI_WARP_ALL] = {"SLRI_WARP_VOTE", ", int32_t, ayes == mine"},
    [SLRI_WARP_ANY] = {"SLRI_WARP_VOTE", ", int32_t, ayes != 0"},
    [SLRI_WARP_MATCH] = {"SLRI_WARP_MATCH_OF", ""},
    [SLRI_WARP_REDUCE_ADD] = {"SLRI_WARP_REDUCE", ""},
    [SLRI_WARP_REDUCE_MIN] = {"SLRI_WARP_REDUCE", ""},
    [SLRI_WARP_REDUCE_MAX] = {"SLRI_WARP_REDUCE", ""},
    [SLRI_WARP_REDUCE_AND] = {"SLRI_WARP_REDUCE", ""},
    [SLRI_WARP_REDUCE_OR] = {"SLRI_WARP_REDUCE", ""},
    [SLRI_WARP_REDUCE_XOR] = {"SLRI_WARP_REDUCE", ""},
};

static const char *const names[SLRI_WARP_COUNT] = {
#define WARP_NAME(name, spelling, args, result) #name,
    SLRI_WARP_LIST(WARP_NAME)
#undef WARP_NAME
};

static bool is_vote(uint64_t warp)
{
    return warp == SLRI_WARP_BALLOT || warp == SLRI_WARP_ALL || warp == SLRI_WARP_ANY;
}

static enum slri_kind kind_of_call(const struct slri_instr *in)
{
    return is_vote(in->imm) ? SLRI_I32 : in->kind;
}

static void put_instance(struct slri_text *out, uint32_t warp, enum slri_kind kind)
{
    const struct instance *made = &instances[warp];
    const char *of = is_vote(warp) ? "I32" : slri_kind_name(kind);
    slri_text_printf(out, "#ifndef SLRI_HAS_%s_%s\n#define SLRI_HAS_%s_%s\n%s(%s", names[warp], of, names[warp], of,
                     made->macro, names[warp]);
    if (!is_vote(warp))
        slri_text_printf(out, ", %s, %s", slri_kind_name(kind), slri_kind_spelling(kind));
    if (warp == SLRI_WARP_MATCH)
        slri_text_puts(out, slri_kind_bytes(kind) == 8 ? ", uint64_t" : ", uint32_t");
    slri_text_printf(out, "%s)\n#endif\n", made->last);
}

void slri_c_warp_helpers(struct slri_c_emitter *e, const struct slri_c_kernel *k)
{
    if (!e->has_helpers)
        slri_text_puts(e->out, slri_embedded_slr_warp_h);
    for (size_t i = 0; !e->has_helpers && i < sizeof helpers / sizeof *helpers; i++)
        slri_text_puts(e->out, helpers[i]);
    e->has_helpers = true;
    for (uint32_t warp = 0; warp < SLRI_WARP_COUNT; warp++)
        for (int kind = 0; kind < SLRI_KIND_COUNT; kind++)
            if ((k->warps[warp] & ~e->warps[warp]) >> kind & 1 && instances[warp].macro)
                put_instance(e->out, warp, (enum slri_kind)kind);
    for (uint32_t warp = 0; warp < SLRI_WARP_COUNT; warp++)
        e->warps[warp] |= k->warps[warp];
}

// ---- the code ------------------------------------------------------------------------------------------------------

static enum slri_kind kind_of(const struct slri_instr *in, char letter)
{
    return letter == 'K' ? in->kind : letter == 'U' ? SLRI_U32 : SLRI_I32;
}

// One for all threads. The value that lanes give each other (argument 1) is always laid out.
static bool is_one(const struct slri_c_emitter *e, const struct slri_instr *in, uint32_t arg)
{
    uint64_t literal;
    return arg != 1 && (slri_c_is_literal(e, in->arg[arg].reg, &literal) ||
                        e->kernel->value[in->arg[arg].reg].level == SLRI_LEVEL_UNIFORM);
}

static void put_given(struct slri_c_emitter *e, const struct slri_instr *in)
{
    const struct slri_c_kernel *k = e->kernel;
    const char *letters = slri_warp_functions[in->imm].args;
    bool any = false;
    for (uint32_t i = 0; i < in->args; i++) {
        const char *type = slri_kind_spelling(kind_of(in, letters[i]));
        any |= !is_one(e, in, i);
        if (is_one(e, in, i)) {
            slri_text_printf(e->out, " const %s w%u[1] = {", type, i);
            slri_c_register(e, in->arg[i].reg);
            slri_c_put(e, "};");
            continue;
        }
        // The lanes that no thread fills, in a warp that is not whole, are read by what looks at all 32.
        bool whole = slri_c_all_run(k) && k->threads % SLRI_WARP_THREADS == 0;
        slri_text_printf(e->out, " _Alignas(64) %s given_%u[SLRI_ROUND(%u) + 64]%s; %s *const w%u = given_%u + 32;",
                         type, i, k->threads, whole ? "" : " = {0}", type, i, i);
    }
    if (!any)
        return;
    slri_c_open_lanes(e, in->where);
    for (uint32_t i = 0; i < in->args; i++) {
        if (is_one(e, in, i))
            continue;
        slri_text_printf(e->out, " w%u[", i);
        slri_c_put_thread(e);
        slri_c_put(e, "] = ");
        slri_c_register(e, in->arg[i].reg);
        slri_c_put(e, ";");
    }
    slri_c_close_lanes(e);
}

static void put_call(struct slri_c_emitter *e, const struct slri_instr *in)
{
    slri_text_printf(e->out, " | !slri_warp_%s_%s(here, part, %d", names[in->imm], slri_kind_name(kind_of_call(in)),
                     !is_one(e, in, 0));
    for (uint32_t i = 1; i < in->args; i++) {
        slri_text_printf(e->out, ", w%u%s", i, is_one(e, in, i) ? "" : " + base");
        if (i > 1)
            slri_text_printf(e->out, ", %d", !is_one(e, in, i));
    }
    slri_c_put(e, ", wr + base)");
}

// `here`: the lanes of the warp at `base` that run.
static void put_lanes_here(struct slri_c_emitter *e)
{
    const struct slri_c_kernel *k = e->kernel;
    slri_c_put(e, " const uint32_t here = ");
    if (slri_c_all_run(k) && k->threads % SLRI_WARP_THREADS == 0)
        slri_c_put(e, "UINT32_MAX");
    else if (slri_c_all_run(k))
        slri_text_printf(e->out, "slri_below(%u - base)", k->threads);
    if (k->bound)
        slri_text_printf(e->out, "slri_warp_range(lo_%u - base, hi_%u - base)%s", k->bound, k->bound,
                         k->mask ? " & " : "");
    if (k->mask)
        slri_text_printf(e->out, "slri_warp_on(act_%u + base)", k->mask->number);
    slri_c_put(e, "; if (!here) continue;");
}

static void put_warps(struct slri_c_emitter *e, const struct slri_instr *in)
{
    const struct slri_c_kernel *k = e->kernel;
    bool one = in->args == 0 || is_one(e, in, 0);
    if (k->bound)
        slri_text_printf(e->out, " for (int32_t base = lo_%u & -32; base < hi_%u; base += 32) {", k->bound, k->bound);
    else
        slri_text_printf(e->out, " for (int32_t base = 0; base < %u; base += 32) {", k->threads);
    put_lanes_here(e);
    if (in->imm == SLRI_WARP_ACTIVE) {
        slri_c_put(e, " for (int32_t i = 0; i < 32; i++) wr[base + i] = here; }");
        return;
    }
    slri_text_printf(e->out, " uint32_t part[%d]; if (!slri_warp_%s(here, %s, w0%s, part)", one ? 1 : 32,
                     one ? "join" : "gather", k->parts ? "late + base / 32" : "0", one ? "[0]" : " + base");
    if (in->dst != SLRI_NO_REG)
        put_call(e, in);
    slri_c_put(e, ") ");
    slri_c_put_fault(e, "WARP", in->where);
    slri_c_put(e, " }");
}

static void put_taken(struct slri_c_emitter *e, const struct slri_instr *in)
{
    slri_c_open_lanes(e, in->where);
    slri_c_put(e, " ");
    slri_c_register(e, in->dst);
    slri_c_put(e, " = wr[");
    slri_c_put_thread(e);
    slri_c_put(e, "];");
    slri_c_close_lanes(e);
}

// In the interpreter lanes of several trips may stand at one __activemask together; here they never do.
static bool is_refused(struct slri_c_emitter *e, const struct slri_instr *in)
{
    struct slri_c_kernel *k = e->kernel;
    if (in->imm != SLRI_WARP_ACTIVE || !k->apart)
        return false;
    if (k->status == SLR_OK)
        k->status = SLRI_FAIL(
            UNSUPPORTED,
            "%s:%u: __activemask() under a condition in a loop: the active lanes depend on the progress of each lane; "
            "take the mask before the condition and use __ballot_sync. cpu?engine=interpreted runs it unchanged",
            e->module->file[in->where.file], in->where.line);
    return true;
}

void slri_c_put_warp(struct slri_c_emitter *e, const struct slri_instr *in)
{
    struct slri_c_kernel *k = e->kernel;
    uint64_t mask;
    k->parts |= !slri_c_all_run(k) && in->imm != SLRI_WARP_ACTIVE;
    k->warps[in->imm] |= 1u << kind_of_call(in);
    bool is_sure = in->imm == SLRI_WARP_SYNC && !k->parts && slri_c_is_literal(e, in->arg[0].reg, &mask) &&
                   (uint32_t)mask == UINT32_MAX;
    if (is_refused(e, in) || is_sure) // to be between two loops is all that it takes
        return;
    slri_c_begin(e, in->where);
    slri_c_put(e, "{");
    e->depth++;
    put_given(e, in);
    if (in->dst != SLRI_NO_REG)
        slri_text_printf(e->out, " _Alignas(64) %s wr[SLRI_ROUND(%u)];",
                         slri_kind_spelling(k->function.reg_kind[in->dst]), k->threads);
    put_warps(e, in);
    if (in->dst != SLRI_NO_REG)
        put_taken(e, in);
    slri_c_close(e);
}
