// SPDX-License-Identifier: Apache-2.0
// CUDA C: the table of its spellings, its prelude, and how its entries begin.
#include "emit/cuda/emit_cuda.h"
#include "base/status.h"
#include "emit/c/emit_c.h"
#include "emit/cuda/check.h"
#include "emit/device/emit_device.h"
#include "ir/ir_names.h"
#include "ir/math/functions.h"
#include "ir/matrix.h"

#include <string.h>

extern const char slri_embedded_handler_h[];
extern const char slri_embedded_slr_cuda_h[];
extern const char slri_embedded_slr_cuda_ring_h[];
extern const char slri_embedded_slr_hip_h[];

// ---- instructions that depend on more than a row -------------------------------------------------------------------

static void put_convert(struct slri_d_emitter *e, const struct slri_instr *in)
{
    enum slri_kind from = e->c.function->reg_kind[in->a];
    bool to_integer = slri_kind_is_float(from) && !slri_kind_is_float(in->kind);
    if (in->kind == SLRI_BOOL)
        slri_d_spell(e, in, "$d($a != 0)");
    else
        slri_d_spell(e, in, to_integer || slri_kind_is_half(in->kind) ? "$dSLRI_TO_$K($a)" : "$d($T)$a");
}

static void put_arguments(struct slri_d_emitter *e, const struct slri_instr *in, const char *name)
{
    slri_d_spell(e, in, "$d");
    slri_text_printf(e->c.out, "%s(", name);
    for (uint32_t i = 0; i < in->args; i++) {
        slri_d_put(e, i ? ", " : "");
        slri_d_register(e, in->arg[i].reg);
    }
    slri_d_put(e, ")");
}

static void put_math(struct slri_d_emitter *e, const struct slri_instr *in)
{
    put_arguments(e, in, slri_math_functions[in->imm].name);
}

static void put_warp(struct slri_d_emitter *e, const struct slri_instr *in)
{
    put_arguments(e, in, slri_warp_functions[in->imm].name);
}

// Read again it is a printf with that text; to the target's compiler, a record with the text's number.
static void put_string(struct slri_d_emitter *e, const char *text)
{
    slri_d_put(e, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\' || c == '?' || c < ' ' || c >= 127)
            slri_text_printf(e->c.out, "\\%03o", c);
        else
            slri_text_append(e->c.out, text, 1);
    }
    slri_d_put(e, "\"");
}

static void put_print(struct slri_d_emitter *e, const struct slri_instr *in)
{
    slri_text_printf(e->c.out, "SLRI_PRINT(%lluu, ", (unsigned long long)in->imm);
    put_string(e, e->c.module->format[in->imm].text);
    for (uint32_t i = 0; i < in->args; i++) {
        slri_d_put(e, ", ");
        slri_d_register(e, in->arg[i].reg);
    }
    slri_d_put(e, ")");
}

// The comma is in the macro: read again there is nothing behind it.
static bool put_extra(struct slri_d_emitter *e, const struct slri_function *function, const char *before, bool takes)
{
    const struct slri_d_function *traits = slri_d_traits(e, function);
    bool tells = traits->may_fault && !traits->in_handler;
    if (!tells && !(function->uses & (SLRI_USES_GLOBAL | SLRI_USES_PRINT)))
        return false;
    if (takes)
        slri_d_put(e, *before ? " SLRI_AND_LAUNCH" : "SLRI_LAUNCH");
    else
        slri_d_put(e, *before ? " SLRI_PASS_LAUNCH" : "SLRI_GIVE_LAUNCH");
    return true;
}

// ---- entries -------------------------------------------------------------------------------------------------------

static void put_binding(struct slri_d_emitter *e, const struct slri_binding_info *binding, bool in_handler)
{
    if (binding->is_outlet) {
        slri_d_put(e, "ring_to(");
        slri_d_type(e, binding->type);
        slri_text_printf(e->c.out, ") %s", binding->name);
        return;
    }
    if (binding->type->kind == SLRI_ARRAY) { // of a kernel: a pointer to rows
        struct slri_text name = SLRI_TEXT_INIT;
        slri_text_printf(&name, "(*%s%s)", binding->is_restrict ? "__restrict__ " : "", binding->name);
        slri_d_put(e, binding->is_const ? "const " : "");
        slri_d_declarator(e, binding->type, slri_text_view(&name), UINT32_MAX);
        e->c.out->out_of_memory |= name.out_of_memory;
        slri_text_free(&name);
        return;
    }
    bool wraps = binding->is_buffer && in_handler;
    slri_d_put(e, wraps ? "SLRI_HANDLER_BUFFER(" : "");
    slri_d_put(e, binding->is_const ? "const " : "");
    slri_d_type(e, binding->type);
    slri_d_put(e, binding->is_buffer ? " *" : " ");
    slri_d_put(e, binding->is_restrict ? "__restrict__ " : "");
    slri_text_printf(e->c.out, wraps ? ", %s)" : "%s", binding->name);
}

static void put_parameters(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    bool in_handler = entry->kind != SLRI_ENTRY_KERNEL;
    const char *before = "";
    if (entry->state) {
        slri_d_type(e, entry->state);
        slri_d_put(e, " *slri_state");
        before = ", ";
    }
    if (entry->message) {
        slri_text_printf(e->c.out, "%sconst ", before);
        slri_d_type(e, entry->message);
        slri_d_put(e,
                   entry->kind == SLRI_ENTRY_BATCH ? " *slri_message, unsigned int slri_messages" : " *slri_message");
        before = ", ";
    }
    for (uint32_t i = 0; i < entry->bindings; i++) {
        slri_d_put(e, before);
        put_binding(e, &entry->binding[i], in_handler);
        before = ", ";
    }
    if (!put_extra(e, entry->function, before, true))
        slri_d_put(e, in_handler ? " SLRI_AND_HERE" : *before ? "" : "void");
}

static void put_bounds(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    if (entry->kind == SLRI_ENTRY_BLOCK)
        slri_text_printf(e->c.out, "SLRI_BOUNDS(%u) ", entry->max_threads);
    else if (entry->max_threads && entry->min_blocks)
        slri_text_printf(e->c.out, "__launch_bounds__(%u, %u) ", entry->max_threads, entry->min_blocks);
    else if (entry->max_threads)
        slri_text_printf(e->c.out, "__launch_bounds__(%u) ", entry->max_threads);
}

// A handler's begins as zero with each message.
static void put_shared(struct slri_d_emitter *e, const struct slri_entry *entry, uint32_t index)
{
    struct slri_text name = SLRI_TEXT_INIT;
    slri_text_printf(&name, "slri_s%u", index);
    slri_d_put(e, "    __shared__ SLRI_ALIGNED_16 "); // a kernel may reach wider elements through a cast
    slri_d_declarator(e, e->c.module->shared[index].type, slri_text_view(&name), UINT32_MAX);
    slri_d_put(e, ";\n");
    if (entry->kind == SLRI_ENTRY_BLOCK)
        slri_text_printf(e->c.out, "    SLRI_CLEAR(%s, %uu)\n", slri_text_view(&name), entry->max_threads);
    e->c.out->out_of_memory |= name.out_of_memory;
    slri_text_free(&name);
}

static void put_entry(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    static const char *const kinds[] = {"__ring__ void ", "extern \"C\" __global__ void ", "__ring_block__ void ",
                                        "__ring_batch__ void "};
    slri_d_put(e, kinds[entry->kind]);
    put_bounds(e, entry);
    slri_text_printf(e->c.out, entry->kind == SLRI_ENTRY_KERNEL ? "%s(" : "SLRI_HANDLER(%s)(", entry->name);
    put_parameters(e, entry);
    slri_d_put(e, ")\n{\n");
    for (uint32_t i = 0; i < e->c.module->shareds; i++)
        if (slri_entry_has_shared(entry, i))
            put_shared(e, entry, i);
    slri_d_put(e, entry->kind == SLRI_ENTRY_BLOCK ? "    SLRI_CLEARED\n" : "");
    slri_d_put(e, entry->function->uses & SLRI_USES_DYNAMIC ? "    SLRI_DYNAMIC;\n" : "");
}

static void put_given(struct slri_d_emitter *e, const struct slri_binding_info *binding, uint32_t index)
{
    if (binding->is_outlet) {
        slri_text_printf(e->c.out, ", &call->out[%u]", index);
        return;
    }
    slri_d_put(e, binding->is_buffer ? ", (" : ", *(const ");
    slri_d_put(e, binding->is_const ? "const " : "");
    slri_d_type(e, binding->type);
    slri_text_printf(e->c.out, " *)call->bound[%u].data", index);
    if (binding->is_buffer)
        slri_text_printf(e->c.out, ", call->bound[%u].bytes", index);
}

// Called as abi/handler.h says; of a block, by all its threads.
static void put_wrapper(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    const char *block = entry->kind == SLRI_ENTRY_BLOCK ? "_BLOCK" : "";
    slri_text_printf(e->c.out,
                     "#ifndef __SLIPRING__\nextern \"C\" __device__ slri_u32 " SLRI_ENTRY_SYMBOL_PREFIX
                     "%s(struct slri_call *call)\n{\n    SLRI_BEGIN%s(call, %uu)\n    slrh_%s(",
                     entry->name, block, entry->max_threads, entry->name);
    if (entry->state) {
        slri_d_put(e, "(");
        slri_d_type(e, entry->state);
        slri_d_put(e, " *)call->state, ");
    }
    slri_d_put(e, "(const ");
    slri_d_type(e, entry->message);
    slri_d_put(e, entry->kind == SLRI_ENTRY_BATCH ? " *)call->message, call->messages" : " *)call->message");
    for (uint32_t i = 0; i < entry->bindings; i++)
        put_given(e, &entry->binding[i], i);
    slri_text_printf(e->c.out, ", &here);\n    return SLRI_END%s(&here);\n}\n#endif\n", block);
}

// ---- the table -----------------------------------------------------------------------------------------------------

// Words of C++ that are names in C.
static const char *const reserved[] = {"alignas",
                                       "alignof",
                                       "and",
                                       "and_eq",
                                       "asm",
                                       "bitand",
                                       "bitor",
                                       "catch",
                                       "char16_t",
                                       "char32_t",
                                       "class",
                                       "compl",
                                       "constexpr",
                                       "decltype",
                                       "delete",
                                       "dynamic_cast",
                                       "explicit",
                                       "export",
                                       "final",
                                       "friend",
                                       "mutable",
                                       "new",
                                       "noexcept",
                                       "not",
                                       "not_eq",
                                       "operator",
                                       "or",
                                       "or_eq",
                                       "override",
                                       "private",
                                       "protected",
                                       "public",
                                       "reinterpret_cast",
                                       "static_assert",
                                       "template",
                                       "this",
                                       "throw",
                                       "try",
                                       "typeid",
                                       "typename",
                                       "using",
                                       "virtual",
                                       "wchar_t",
                                       "xor",
                                       "xor_eq",
                                       NULL};

#define SLRI_CUDA_BUILTIN(name, spelling) spelling,
static const struct slri_dialect cuda = {
    .kind = {[SLRI_BOOL] = "bool",
             [SLRI_I8] = "signed char",
             [SLRI_U8] = "unsigned char",
             [SLRI_I16] = "short",
             [SLRI_U16] = "unsigned short",
             [SLRI_I32] = "int",
             [SLRI_U32] = "unsigned int",
             [SLRI_I64] = "long long",
             [SLRI_U64] = "unsigned long long",
             [SLRI_F32] = "float",
             [SLRI_F64] = "double",
             [SLRI_F16] = "slri_f16",
             [SLRI_BF16] = "slri_bf16"},
    .space = {"", "", "", "", "__constant__ const ", "", "", "", "__device__ ", ""},
    .root_space = {"", "", "", "", "", "", "", "", "", ""},
    .suffix_i64 = "ll",
    .suffix_u64 = "ull",
    .function = "static __device__ __forceinline__ ",
    .pays_ahead = true,
    .builtin = {SLRI_BUILTIN_LIST(SLRI_CUDA_BUILTIN)},
    .barrier = {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"},
    .order = {"__NV_ATOMIC_RELAXED", "__NV_ATOMIC_ACQUIRE", "__NV_ATOMIC_RELEASE", "__NV_ATOMIC_ACQ_REL",
              "__NV_ATOMIC_SEQ_CST"},
    .scope = {"__NV_THREAD_SCOPE_BLOCK", "__NV_THREAD_SCOPE_DEVICE", "__NV_THREAD_SCOPE_SYSTEM"},
    .scope_suffix = {"_block", "", "_system"},
    .rmw = {"__nv_atomic_fetch_add", "__nv_atomic_fetch_sub", "__nv_atomic_fetch_and", "__nv_atomic_fetch_or",
            "__nv_atomic_fetch_xor", "__nv_atomic_fetch_min", "__nv_atomic_fetch_max", "__nv_atomic_exchange_n",
            "atomicInc", "atomicDec"},
    .reserved = reserved,
    .spelling =
        {
            SLRI_D_COMMON_SPELLINGS,
            [SLRI_OP_COPY] = "SLRI_COPY($p, $q, $n, $A)",
            [SLRI_OP_ZERO] = "SLRI_ZERO($p, $n)",
            [SLRI_OP_ATOMIC_LOAD] = "$d__nv_atomic_load_n($p, $o, $s)",
            [SLRI_OP_ATOMIC_STORE] = "__nv_atomic_store_n($p, $b, $o, $s)",
            [SLRI_OP_ATOMIC_RMW] = "$d$r($p, $b, $o, $s)",
            [SLRI_OP_ATOMIC_CAS] = "$dSLRI_CAS($p, $b, $c, $o, $s)",
            [SLRI_OP_FENCE] = "__nv_atomic_thread_fence($o, $s)",
            [SLRI_OP_REPLY] = "SLRI_REPLY($p, $l)",
            [SLRI_OP_SEND] = "SLRI_SEND($t, $b, $p, $l)",
        },
    .counting = "$d$r$x($p, $b)",
    .relaxed = "$dSLRI_FETCH($r, $p, $b, $o, $s)",
    .exchanging = "$dSLRI_EXCHANGE_$K($p, $b, $o, $s)",
    .replying = "SLRI_REPLY_TO($b, $p, $l)",
    .meeting = "$dSLRI_IN_BLOCK$B($a)",
    .extra = put_extra,
    .print = put_print,
    .convert = put_convert,
    .math = put_math,
    .warp = put_warp,
    .entry = put_entry,
    .wrapper = put_wrapper,
};

static bool has_handlers(const struct slri_module *module, const struct slri_entry *only)
{
    for (uint32_t i = 0; i < module->entries; i++)
        if (module->entry[i].kind != SLRI_ENTRY_KERNEL && (!only || only == &module->entry[i]))
            return true;
    return false;
}

// NVRTC has no <stdint.h>.
void slri_emit_cuda_call(struct slri_text *out)
{
    static const char include[] = "#include <stdint.h>\n";
    const char *text = slri_embedded_handler_h, *at = strstr(text, include);
    slri_text_puts(out, "#ifndef __SLIPRING__\n#define uint32_t unsigned int\n#define uint64_t unsigned long long\n");
    slri_text_append(out, text, (size_t)(at - text));
    slri_text_puts(out, at + sizeof include - 1);
    slri_text_puts(out, "#endif\n");
}

void slri_emit_hip_words(struct slri_text *out)
{
    slri_text_puts(out, slri_embedded_slr_hip_h);
}

static bool finds_largest(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    uint64_t *largest = user;
    if ((in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO) && in->imm > *largest)
        *largest = in->imm;
    return false;
}

// As large as the largest thing that a handler copies.
static void put_dump(const struct slri_module *module, struct slri_text *out)
{
    struct slri_c_emitter c = {.module = module};
    uint64_t bytes = 64;
    for (uint32_t i = 0; i < module->functions; i++)
        slri_c_any(&c, module->function[i]->body, finds_largest, &bytes);
    slri_text_printf(out, "#define SLRI_DUMP_BYTES %llu\n", (unsigned long long)bytes);
}

slr_status slri_emit_cuda(const struct slri_module *module, const struct slri_entry *entry, struct slri_text *out)
{
    struct slri_d_emitter e = {0};
    SLRI_TRY(slri_d_check_prints(module, entry));
    for (uint32_t i = 0; i < module->entries; i++)
        if (module->entry[i].kind == SLRI_ENTRY_BLOCK && (!entry || entry == &module->entry[i]))
            SLRI_TRY(slri_emit_cuda_check(module, &module->entry[i]));
    slri_text_puts(out, slri_embedded_slr_cuda_h);
    if (has_handlers(module, entry)) {
        slri_emit_cuda_call(out);
        put_dump(module, out);
        slri_text_puts(out, slri_embedded_slr_cuda_ring_h);
    }
    slri_text_puts(out, "#line 1 \"slipring: emitted\"\n");
    return slri_d_file(&e, module, entry, &cuda, out);
}

slr_status slri_emit_hip(const struct slri_module *module, const struct slri_entry *entry, struct slri_text *out)
{
    SLRI_TRY(slri_matrix_refuse(module, entry, "AMD's have others"));
    slri_emit_hip_words(out);
    return slri_emit_cuda(module, entry, out);
}
