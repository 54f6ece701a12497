// SPDX-License-Identifier: Apache-2.0
// The file around a kernel: prelude, const tables, the device functions that it calls, and the loop over blocks.
#include "emit/c/kernel.h"

#include "base/status.h"
#include "emit/c/plan.h"
#include "ir/ir_names.h"
#include "ir/matrix.h"

extern const char slri_embedded_launch_h[];

#define PRIVATE_LIMIT_BYTES (UINT64_C(1) << 20) // of a block, on the stack of the thread that runs it

// clang-format off
static const char lanes[] =
    "#ifdef __clang__\n"
    "#define SLRI_LANES _Pragma(\"clang loop vectorize(assume_safety)\")\n"
    "#define SLRI_ROWS _Pragma(\"clang loop unroll(full)\")\n"
    "#else\n"
    "#define SLRI_LANES _Pragma(\"GCC ivdep\")\n"
    "#define SLRI_ROWS _Pragma(\"GCC unroll 16\")\n"
    "#endif\n"
    // A thread's own sum over a loop of its own. gcc computes 16 terms at once, and takes them out of the vector again one
    // by one to add them in order: for short loops of loads and products that is slower (sparse rows of 8: 1.6 times).
    "#if defined(__x86_64__) && !defined(__clang__)\n"
    "#define SLRI_ALONE(sum) __asm__(\"\" : \"+x\"(sum))\n"
    "#elif defined(__aarch64__) && !defined(__clang__)\n"
    "#define SLRI_ALONE(sum) __asm__(\"\" : \"+w\"(sum))\n"
    "#else\n"
    "#define SLRI_ALONE(sum)\n"
    "#endif\n"
    "#ifdef SLRI_LONG\n" // longer code that runs faster
    "#define SLRI_TRIPS SLRI_ROWS\n"
    "#define SLRI_TWICE 1\n"
    "#else\n"
    "#define SLRI_TRIPS\n"
    "#define SLRI_TWICE 0\n"
    "#endif\n";

static const char helpers[] =
    "__attribute__((cold, noinline, unused))\n"
    "static void slri_launch_fault(struct slri_launch *launch, uint32_t fault, uint32_t file, uint32_t line,\n"
    "                              uint32_t column)\n"
    "{\n"
    "    uint32_t none = 0;\n"
    "    if (!__atomic_compare_exchange_n(&launch->fault, &none, fault, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;\n"
    "    launch->fault_file = file;\n"
    "    launch->fault_line = line;\n"
    "    launch->fault_column = column;\n"
    "}\n"
    "__attribute__((cold, noinline, unused))\n"
    "static void slri_print(struct slri_launch *launch, uint64_t format, uint64_t count, const uint64_t *value)\n"
    "{\n"
    "    struct slri_printed *to = launch->printed;\n"
    "    if (!to) return;\n"
    "    const uint64_t bytes = 8 + 8 * count, head = format | count << 32;\n"
    // Relaxed: records are read when all blocks are done.
    "    uint64_t at = __atomic_load_n(&to->used, __ATOMIC_RELAXED);\n"
    "    do {\n"
    "        if (bytes > to->bytes - at) { __atomic_fetch_add(&to->lost, 1, __ATOMIC_RELAXED); return; }\n"
    "    } while (!__atomic_compare_exchange_n(&to->used, &at, at + bytes, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));\n"
    "    __builtin_memcpy(to->data + at, &head, 8);\n"
    "    __builtin_memcpy(to->data + at + 8, value, 8 * count);\n"
    "}\n"
    "#define SLRI_KERNEL_DIVIDE(name, K, type) \\\n"
    "    SLRI_IN type slri_kernel_##name##_##K(type a, type b, struct slri_launch *launch, uint32_t file, uint32_t line, \\\n"
    "                                         uint32_t column) \\\n"
    "    { if (b == 0) { slri_launch_fault(launch, SLRI_FAULT_DIVIDE, file, line, column); return 0; } \\\n"
    "      return slri_##name##_##K(a, b); }\n"
    "#define SLRI_KERNEL_DIVIDES(K, type) SLRI_KERNEL_DIVIDE(div, K, type) SLRI_KERNEL_DIVIDE(rem, K, type)\n"
    "SLRI_KERNEL_DIVIDES(I32, int32_t) SLRI_KERNEL_DIVIDES(U32, uint32_t)\n"
    "SLRI_KERNEL_DIVIDES(I64, int64_t) SLRI_KERNEL_DIVIDES(U64, uint64_t)\n";

// steady: first + step * lane stays within the kind up to the last lane. edge: see emit_c_nest.c.
static const char ranges[] =
    "#define SLRI_STEADY(K, type, least, most) \\\n"
    "    SLRI_IN _Bool slri_steady_##K(type first, int64_t step, int64_t last) \\\n"
    "    { int64_t end; return !__builtin_add_overflow((int64_t)first, step * last, &end) && end >= (int64_t)(least) && \\\n"
    "             end <= (int64_t)(most); }\n"
    "SLRI_STEADY(I32, int32_t, INT32_MIN, INT32_MAX) SLRI_STEADY(U32, uint32_t, 0, UINT32_MAX)\n"
    "SLRI_STEADY(I64, int64_t, INT64_MIN, INT64_MAX)\n"
    "SLRI_IN int32_t slri_edge(int64_t first, int64_t bound, int64_t beyond, int32_t low, int32_t high)\n"
    "{\n"
    "    int64_t lanes;\n"
    "    if (__builtin_sub_overflow(bound, first, &lanes) || __builtin_add_overflow(lanes, beyond, &lanes))\n"
    "        return bound < first ? low : high;\n"
    "    return lanes < low ? low : lanes > high ? high : (int32_t)lanes;\n"
    "}\n";

static const char place[] =
    "#define SLRI_PLACE struct slri_launch *const launch, const struct slri_roots *const roots, const int32_t lane, \\\n"
    "    const uint32_t thread_y, const uint32_t thread_z, const uint32_t block_x, const uint32_t block_y, \\\n"
    "    const uint32_t block_z\n"
    "#define SLRI_HERE_TOO launch, roots, lane, thread_y, thread_z, block_x, block_y, block_z\n"
    "#define SLRI_HERE launch, &roots, lane, thread_y, thread_z, block_x, block_y, block_z\n";
// clang-format on

// ---- what the kernel reaches ---------------------------------------------------------------------------------------

struct reaching {
    struct slri_c_emitter *e;
    struct slri_c_reach *reach;
};

static void reach_root(struct slri_c_reach *reach, struct slri_root root)
{
    if (root.kind == SLRI_ROOT_SHARED)
        reach->shared[root.index] = true;
    else if (root.kind == SLRI_ROOT_BINDING)
        reach->bound[root.index] = true;
    reach->any_dynamic |= root.kind == SLRI_ROOT_DYNAMIC;
}

static bool reaches(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    struct reaching *reaching = user;
    reach_root(reaching->reach, in->root);
    reach_root(reaching->reach, in->root2);
    for (uint32_t i = 0; i < in->args; i++)
        reach_root(reaching->reach, in->arg[i].root);
    if (in->op != SLRI_OP_CALL)
        return false;
    for (uint32_t i = 0; i < e->module->functions; i++)
        if (e->module->function[i] == in->callee && !reaching->reach->function[i]) {
            reaching->reach->function[i] = true;
            slri_c_any(e, in->callee->body, reaches, reaching);
        }
    return false;
}

static slr_status no_memory(const struct slri_c_kernel *k)
{
    return SLRI_FAIL(NO_MEMORY, "no memory to emit %s as C", k->entry->name);
}

// Registers as nothing is known of them yet.
static bool begin_registers(struct slri_c_emitter *e, const struct slri_c_kernel *k)
{
    e->function = &k->function;
    e->reg = slri_region_take(e->scratch, (k->function.regs + 1) * sizeof *e->reg);
    return e->reg != NULL;
}

slr_status slri_c_open_kernel(struct slri_c_emitter *e, struct slri_c_kernel *k, struct slri_c_reach *out)
{
    SLRI_TRY(slri_c_prepare(e, k));
    out->function = slri_region_take(e->scratch, e->module->functions + 1);
    out->shared = slri_region_take(e->scratch, e->module->shareds + 1);
    out->bound = slri_region_take(e->scratch, k->entry->bindings + 1);
    k->unsafe = slri_region_take(e->scratch, (k->function.regs + 1) * sizeof *k->unsafe);
    if (!begin_registers(e, k) || !out->function || !out->shared || !out->bound || !k->unsafe)
        return no_memory(k);
    slri_c_any(e, k->function.body, reaches, &(struct reaching){e, out});
    return SLR_OK;
}

// ---- pieces --------------------------------------------------------------------------------------------------------

static void put_roots_type(struct slri_c_emitter *e, const struct slri_c_kernel *k)
{
    for (int i = 0; i < 3; i++)
        slri_text_printf(e->out, "#define SLRI_BLOCK_%c %uu\n", 'X' + i, k->block[i]);
    slri_text_printf(e->out, "struct slri_roots { unsigned char *bound[%u], *shared[%u], *dynamic, *global; };\n",
                     k->entry->bindings + 1, e->module->shareds + 1);
}

static void put_kernel_bindings(struct slri_c_emitter *e, const struct slri_c_kernel *k)
{
    for (uint32_t i = 0; i < k->entry->bindings; i++)
        slri_text_printf(e->out, "    unsigned char *const %sbound%u = launch->bound[%u].data; (void)bound%u;\n",
                         k->entry->binding[i].is_restrict ? "restrict " : "", i, i, i);
}

static void put_globals(struct slri_c_emitter *e)
{
    for (uint32_t i = 0; i < e->module->globals; i++)
        slri_text_printf(e->out, "    unsigned char *const global%u = launch->global + %llu; (void)global%u;\n", i,
                         (unsigned long long)e->module->global[i].offset, i);
}

// Parameters are variables: each block begins with what was given, and a buffer's offset with 0.
void slri_c_put_values(struct slri_c_emitter *e, const struct slri_c_kernel *k)
{
    for (uint32_t i = 0; i < k->entry->bindings; i++) {
        const struct slri_binding_info *binding = &k->entry->binding[i];
        if (binding->reg == SLRI_NO_REG || !k->value[binding->reg].mentioned)
            continue;
        const struct slri_c_value *value = &k->value[binding->reg];
        bool each = value->level != SLRI_LEVEL_UNIFORM;
        slri_text_printf(e->out, "        ");
        if (each) // the kernel assigns to it
            slri_text_printf(e->out, "for (int32_t at = 0; at < %u; at++) ",
                             value->level == SLRI_LEVEL_ROW ? k->rows : k->threads);
        slri_text_printf(e->out, "r%u%s = ", binding->reg, each ? "[at]" : "");
        if (binding->is_buffer)
            slri_c_put(e, "0;\n");
        else
            slri_text_printf(e->out, "slri_load_%s(bound%u);\n", slri_kind_name(binding->type->kind), i);
    }
}

static void put_kernel_shared(struct slri_c_emitter *e, const struct slri_c_kernel *k, const struct slri_c_reach *reach)
{
    for (uint32_t i = 0; i < e->module->shareds; i++)
        if (reach->shared[i])
            slri_text_printf(e->out, "    _Alignas(64) unsigned char shared%u[%llu];\n", i,
                             (unsigned long long)e->module->shared[i].type->bytes);
    if (reach->any_dynamic)
        slri_c_put(
            e, "    unsigned char *const dynamic = __builtin_alloca_with_align(launch->dynamic_bytes + 64, 512);\n");
    slri_c_put(e, "    const struct slri_roots roots = {{");
    for (uint32_t i = 0; i < k->entry->bindings; i++)
        slri_text_printf(e->out, "bound%u, ", i);
    slri_c_put(e, "0}, {");
    for (uint32_t i = 0; i < e->module->shareds; i++)
        if (reach->shared[i])
            slri_text_printf(e->out, "shared%u, ", i);
        else
            slri_c_put(e, "0, ");
    slri_text_printf(e->out, "0}, %s, launch->global}; (void)roots;\n", reach->any_dynamic ? "dynamic" : "0");
}

static void put_block_loop(struct slri_c_emitter *e, const struct slri_c_kernel *k)
{
    slri_c_put(e, "    uint32_t block_x = (uint32_t)(first % launch->grid[0]);\n"
                  "    uint32_t block_y = (uint32_t)(first / launch->grid[0] % launch->grid[1]);\n"
                  "    uint32_t block_z = (uint32_t)(first / launch->grid[0] / launch->grid[1]);\n"
                  "    for (; count > 0; count--) {\n");
    if (k->rows == 1)
        slri_c_put(e, "        const uint32_t thread_y = 0, thread_z = 0; const int32_t row = 0; (void)thread_y, "
                      "(void)thread_z, (void)row;\n");
    slri_c_put(e, "       ");
    slri_c_declare_block(e);
    if (k->parts)
        slri_text_printf(e->out, " uint32_t late[%u] = {0};", (k->threads + 31) / 32);
    slri_c_put(e, "\n");
    slri_c_put_values(e, k);
}

void slri_c_put_body(struct slri_c_emitter *e, struct slri_c_kernel *k)
{
    e->kernel = k;
    e->labels = 0;
    e->line = 0;
    e->fresh = true;
    e->depth = 2;
    k->nests = k->bounds = k->masks = 0;
    k->level = SLRI_LEVEL_UNIFORM;
    struct slri_c_mask root;
    if (k->leaves)
        slri_c_put_root_mask(e, &root);
    slri_c_sequence(e, k->function.body);
    k->mask = NULL;
    slri_c_begin(e, (struct slri_where){0});
    slri_c_put(e, k->leaves ? "next_block:;" : "");
    e->kernel = NULL;
}

// To nowhere, which notes what mentions which register where.
static void rehearse(struct slri_c_emitter *e, struct slri_c_kernel *k)
{
    struct slri_text nowhere = SLRI_TEXT_INIT, *out = e->out;
    e->out = &nowhere;
    slri_c_put_body(e, k);
    out->out_of_memory |= nowhere.out_of_memory;
    e->out = out;
    slri_text_free(&nowhere);
}

static void put_kernel(struct slri_c_emitter *e, struct slri_c_kernel *k, const struct slri_c_reach *reach)
{
    slri_c_put(e, "#line 1 \"slipring: kernel\"\n"
                  "__attribute__((visibility(\"default\"))) void " SLRI_KERNEL_SYMBOL
                  "(struct slri_launch *const launch, const uint64_t first, uint64_t count)\n{\n");
    put_kernel_bindings(e, k);
    put_globals(e);
    put_kernel_shared(e, k, reach);
    e->kernel = k;
    put_block_loop(e, k);
    slri_c_put_body(e, k);
    slri_c_put(e, "\n        if (++block_x == launch->grid[0]) {\n"
                  "            block_x = 0;\n"
                  "            if (++block_y == launch->grid[1]) { block_y = 0; block_z++; }\n"
                  "        }\n    }\n}\n");
}

// ---- limits --------------------------------------------------------------------------------------------------------

// What a block's threads need on the stack of the one thread that runs them.
static uint64_t private_bytes(const struct slri_c_kernel *k)
{
    uint64_t bytes = 0;
    for (slri_reg reg = 0; reg < k->function.regs; reg++)
        if (k->value[reg].many_lane_nests && !k->value[reg].linear)
            bytes += k->threads * (uint64_t)slri_kind_bytes(k->function.reg_kind[reg]);
    for (uint32_t i = 0; i < k->function.locals; i++)
        bytes += k->function.local[i].type->bytes * (k->home[i].many_lane_nests ? k->threads : 1);
    return bytes;
}

static slr_status check(const struct slri_c_kernel *k)
{
    if (k->status != SLR_OK)
        return k->status;
    if (private_bytes(k) <= PRIVATE_LIMIT_BYTES)
        return SLR_OK;
    return SLRI_FAIL(UNSUPPORTED,
                     "%s: %u threads per block keep %llu bytes of local data across barriers; the compiled CPU engine "
                     "allows %llu: use a smaller block, or smaller local arrays",
                     k->entry->name, k->threads, (unsigned long long)private_bytes(k),
                     (unsigned long long)PRIVATE_LIMIT_BYTES);
}

// ---- all -----------------------------------------------------------------------------------------------------------

void slri_c_lane_helpers(struct slri_text *out)
{
    slri_text_puts(out, "#undef SLRI_TRIPS\n");
    slri_text_puts(out, lanes);
    slri_text_puts(out, ranges);
}

slr_status slri_c_rehearse_kernel(struct slri_c_emitter *e, struct slri_c_kernel *k, const struct slri_c_reach *reach)
{
    for (uint32_t i = 0; i < e->module->functions; i++)
        if (reach->function[i])
            slri_c_function(e, i);
    if (!begin_registers(e, k))
        return no_memory(k);
    slri_c_count_registers(e, k->entry);
    slri_c_find_flags(e);
    if (!slri_c_plan(e, k))
        return no_memory(k);
    rehearse(e, k);
    SLRI_TRY(check(k));
    if (k->entry->function->uses & SLRI_USES_WARP || k->masks || k->parts)
        slri_c_warp_helpers(e, k);
    return SLR_OK;
}

static slr_status emit(struct slri_c_emitter *e, struct slri_c_kernel *k)
{
    struct slri_c_reach reach = {0};
    SLRI_TRY(slri_c_open_kernel(e, k, &reach));
    slri_c_prelude(e->out, e->module->debug);
    slri_text_puts(e->out, slri_embedded_launch_h);
    slri_c_lane_helpers(e->out);
    slri_text_puts(e->out, helpers);
    slri_text_puts(e->out, place);
    put_roots_type(e, k);
    slri_c_constants(e);
    SLRI_TRY(slri_c_rehearse_kernel(e, k, &reach));
    put_kernel(e, k, &reach);
    return SLR_OK;
}

slr_status slri_emit_c_kernel(const struct slri_module *module, const struct slri_entry *entry, const uint32_t block[3],
                              struct slri_text *out)
{
    struct slri_c_kernel kernel = {.entry = entry,
                                   .block = {block[0], block[1], block[2]},
                                   .rows = block[1] * block[2],
                                   .threads = block[0] * block[1] * block[2]};
    SLRI_TRY(slri_matrix_refuse(module, entry, "a CPU has none, but cpu?engine=interpreted computes it"));
    struct slri_region *scratch = slri_region_create();
    struct slri_c_emitter e = {.module = module, .out = out, .scratch = scratch, .is_grid = true, .prefix = "slrf_"};
    if (scratch)
        e.functions = slri_region_take(scratch, (module->functions + 1) * sizeof *e.functions);
    slr_status status = e.functions ? emit(&e, &kernel) : no_memory(&kernel);
    slri_region_destroy(scratch);
    return status == SLR_OK && out->out_of_memory ? no_memory(&kernel) : status;
}
