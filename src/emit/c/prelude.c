// SPDX-License-Identifier: Apache-2.0
// The text in front of every emitted file: layouts, math, and the small functions that the instructions' spellings
// call.
#include "emit/c/internal.h"

extern const char slri_embedded_handler_h[];
extern const char slri_embedded_slr_math_h[];
extern const char slri_embedded_slr_fma_h[];
extern const char slri_embedded_slr_math_angles_h[];
extern const char slri_embedded_slr_math_double_h[];
extern const char slri_embedded_slr_math_more_h[];
extern const char slri_embedded_slr_half_h[];

// Memory is accessed by copies of known size: right at any alignment and under any aliasing, and compilers make a plain
// load or store of it, which they vectorise like one.
// The text of C, as it is to be read.
// clang-format off
static const char *const access[] = {
    "#define SLRI_IN static inline __attribute__((always_inline, unused))\n"
    "#define SLRI_VOLATILE(K, memory) typedef memory __attribute__((aligned(1), may_alias)) slri_any_##K;\n"
    "#define SLRI_ACCESS(K, memory, wide, narrowed) \\\n"
    "    SLRI_IN wide slri_load_##K(const unsigned char *at) \\\n"
    "    { memory v; __builtin_memcpy(&v, at, sizeof v); return (wide)(narrowed); } \\\n"
    "    SLRI_IN void slri_store_##K(unsigned char *at, wide value) \\\n"
    "    { wide v = value; memory n = (memory)(narrowed); __builtin_memcpy(at, &n, sizeof n); } \\\n"
    "    SLRI_VOLATILE(K, memory) \\\n"
    "    SLRI_IN wide slri_volatile_load_##K(const unsigned char *at) \\\n"
    "    { memory v = *(const volatile slri_any_##K *)at; return (wide)(narrowed); } \\\n"
    "    SLRI_IN void slri_volatile_store_##K(unsigned char *at, wide value) \\\n"
    "    { wide v = value; *(volatile slri_any_##K *)at = (memory)(narrowed); }\n"
    "SLRI_ACCESS(BOOL, uint8_t, int32_t, v != 0)\n",
#define PLAIN_ACCESS(K, memory, wide) "SLRI_ACCESS(" K ", " memory ", " wide ", v)\n"
    PLAIN_ACCESS("I8", "int8_t", "int32_t"),
    PLAIN_ACCESS("U8", "uint8_t", "int32_t"),
    PLAIN_ACCESS("I16", "int16_t", "int32_t"),
    PLAIN_ACCESS("U16", "uint16_t", "int32_t"),
    PLAIN_ACCESS("I32", "int32_t", "int32_t"),
    PLAIN_ACCESS("U32", "uint32_t", "uint32_t"),
    PLAIN_ACCESS("I64", "int64_t", "int64_t"),
    PLAIN_ACCESS("U64", "uint64_t", "uint64_t"),
    PLAIN_ACCESS("F32", "float", "float"),
    PLAIN_ACCESS("F64", "double", "double"),
    "#define SLRI_ACCESS_HALF(K, k) \\\n"
    "    SLRI_IN float slri_load_##K(const unsigned char *at) \\\n"
    "    { uint16_t v; __builtin_memcpy(&v, at, sizeof v); return slri_##k##_from_bits(v); } \\\n"
    "    SLRI_IN void slri_store_##K(unsigned char *at, float v) \\\n"
    "    { uint16_t n = slri_##k##_to_bits(v); __builtin_memcpy(at, &n, sizeof n); } \\\n"
    "    SLRI_VOLATILE(K, uint16_t) \\\n"
    "    SLRI_IN float slri_volatile_load_##K(const unsigned char *at) \\\n"
    "    { return slri_##k##_from_bits(*(const volatile slri_any_##K *)at); } \\\n"
    "    SLRI_IN void slri_volatile_store_##K(unsigned char *at, float v) \\\n"
    "    { *(volatile slri_any_##K *)at = slri_##k##_to_bits(v); }\n"
    "SLRI_ACCESS_HALF(F16, f16) SLRI_ACCESS_HALF(BF16, bf16)\n",
};

// A comparison's result as an index. gcc 12 makes -1 of 1 where it vectorises a[x == 0] (the offset of a gather is then a
// vector's mask), so it may not see what it is.
static const char opaque[] =
    "#ifdef __clang__\n"
    "#define slri_opaque(flag) (flag)\n"
    "#else\n"
    "SLRI_IN int32_t slri_opaque(int32_t flag) { __asm__(\"\" : \"+r\"(flag)); return flag; }\n"
    "#endif\n";

// The least integer divided by -1 does not fit: it wraps.
static const char divide[] =
    "#define SLRI_DIVIDE(K, type) \\\n"
    "    SLRI_IN type slri_div_##K(type a, type b) { return b == (type)-1 && (type)-1 < 0 ? -a : a / b; } \\\n"
    "    SLRI_IN type slri_rem_##K(type a, type b) { return b == (type)-1 && (type)-1 < 0 ? 0 : a % b; }\n"
    "SLRI_DIVIDE(I32, int32_t) SLRI_DIVIDE(U32, uint32_t) SLRI_DIVIDE(I64, int64_t) SLRI_DIVIDE(U64, uint64_t)\n";

static const char call_helpers[] =
    "__attribute__((cold, noinline, unused))\n"
    "static uint32_t slri_fault(struct slri_call *call, uint32_t fault, uint32_t file, uint32_t line, uint32_t column)\n"
    "{\n"
    "    call->fault_file = file;\n"
    "    call->fault_line = line;\n"
    "    call->fault_column = column;\n"
    "    call->fault_index = call->fault_size = 0;\n"
    "    return fault;\n"
    "}\n"
    "__attribute__((cold, noinline, unused))\n"
    "static uint32_t slri_misses(struct slri_call *call, uint32_t fault, uint32_t file, uint32_t line, uint32_t column,\n"
    "                            uint64_t index, uint64_t size)\n"
    "{\n"
    "    slri_fault(call, fault, file, line, column);\n"
    "    call->fault_index = index;\n"
    "    call->fault_size = size;\n"
    "    return fault;\n"
    "}\n"
    "__attribute__((cold, noinline, unused))\n"
    "static uint32_t slri_no_fuel(struct slri_call *call, uint32_t file, uint32_t line, uint32_t column)\n"
    "{ call->fuel = 0; return slri_fault(call, SLRI_FAULT_FUEL, file, line, column); }\n"
    "SLRI_IN _Bool slri_affords(uint64_t fuel, uint64_t trips) { return trips < fuel || trips == 0; }\n"
    "SLRI_IN _Bool slri_outside(int64_t offset, uint64_t bytes, uint64_t extent)\n"
    "{ return (uint64_t)offset > extent || extent - (uint64_t)offset < bytes; }\n"
    "SLRI_IN _Bool slri_reply(struct slri_call *call, const unsigned char *from, uint32_t bytes)\n"
    "{\n"
    "    if (call->replies >= call->max_replies) return 0;\n"
    "    uint64_t slot = (call->reply_at + call->replies++) & call->reply_mask;\n"
    "    __builtin_memcpy(call->reply_base + slot * call->reply_stride, from, bytes);\n"
    "    return 1;\n"
    "}\n"
    "SLRI_IN _Bool slri_send(struct slri_out *out, const unsigned char *from, uint32_t instance, uint32_t bytes)\n"
    "{\n"
    "    if (out->count >= out->most) return 0;\n"
    "    unsigned char *at = out->base + (uint64_t)out->stride * out->count++;\n"
    "    __builtin_memcpy(at, &instance, 4);\n"
    "    __builtin_memcpy(at + SLRI_OUT_HEAD, from, bytes);\n"
    "    return 1;\n"
    "}\n";

// How often `for (i = from; i < to; i += stride)` runs, or UINT64_MAX if i would wrap before it reaches `to`.
// `inclusive` for <=. Going down: `from` and `to` swap roles, and the room is what is left below.
static const char trips[] =
    "SLRI_IN uint64_t slri_trips(_Bool none, uint64_t distance, uint64_t room, uint64_t stride, uint64_t inclusive)\n"
    "{\n"
    "    if (none) return 0;\n"
    "    if (room < stride - 1 + inclusive) return UINT64_MAX;\n"
    "    return (distance - 1 + inclusive) / stride + 1;\n"
    "}\n"
    "#define SLRI_TRIPS(K, type, least, most) \\\n"
    "    SLRI_IN uint64_t slri_trips_up_##K(type from, type to, uint64_t stride, uint64_t inclusive) \\\n"
    "    { return slri_trips(inclusive ? from > to : from >= to, (uint64_t)to - (uint64_t)from, \\\n"
    "                        (uint64_t)(most) - (uint64_t)to, stride, inclusive); } \\\n"
    "    SLRI_IN uint64_t slri_trips_down_##K(type from, type to, uint64_t stride, uint64_t inclusive) \\\n"
    "    { return slri_trips(inclusive ? from < to : from <= to, (uint64_t)from - (uint64_t)to, \\\n"
    "                        (uint64_t)to - (uint64_t)(least), stride, inclusive); }\n"
    "SLRI_TRIPS(I32, int32_t, INT32_MIN, INT32_MAX) SLRI_TRIPS(U32, uint32_t, 0u, UINT32_MAX)\n"
    "SLRI_TRIPS(I64, int64_t, INT64_MIN, INT64_MAX) SLRI_TRIPS(U64, uint64_t, 0u, UINT64_MAX)\n";

// Integers by the compiler's atomics; what those lack (float arithmetic, minimum, maximum) by compare and swap on the
// bits.
static const char *const atomics[] = {
    "#define SLRI_ATOMIC(K, type, bits) \\\n"
    "    SLRI_IN type slri_from_##K(bits v) { type r; __builtin_memcpy(&r, &v, sizeof r); return r; } \\\n"
    "    SLRI_IN bits slri_to_##K(type v) { bits r; __builtin_memcpy(&r, &v, sizeof r); return r; } \\\n"
    "    SLRI_IN type slri_atomic_load_##K(const unsigned char *at, int order) \\\n"
    "    { return slri_from_##K(__atomic_load_n((const bits *)at, order)); } \\\n"
    "    SLRI_IN void slri_atomic_store_##K(unsigned char *at, type v, int order) \\\n"
    "    { __atomic_store_n((bits *)at, slri_to_##K(v), order); } \\\n"
    "    SLRI_IN type slri_atomic_exchange_##K(unsigned char *at, type v, int order) \\\n"
    "    { return slri_from_##K(__atomic_exchange_n((bits *)at, slri_to_##K(v), order)); } \\\n"
    "    SLRI_IN type slri_atomic_cas_##K(unsigned char *at, type old, type v, int order, int failed) \\\n"
    "    { bits b = slri_to_##K(old); \\\n"
    "      __atomic_compare_exchange_n((bits *)at, &b, slri_to_##K(v), 0, order, failed); return slri_from_##K(b); }\n",
    "#define SLRI_ATOMIC_LOOP(name, K, type, bits, result) \\\n"
    "    SLRI_IN type slri_atomic_##name##_##K(unsigned char *at, type b, int order) \\\n"
    "    { bits old = __atomic_load_n((bits *)at, __ATOMIC_RELAXED); \\\n"
    "      for (;;) { type a = slri_from_##K(old); \\\n"
    "        if (__atomic_compare_exchange_n((bits *)at, &old, slri_to_##K(result), 1, order, __ATOMIC_RELAXED)) \\\n"
    "            return a; } }\n"
    "#define SLRI_ATOMIC_FETCH(name, K, type) \\\n"
    "    SLRI_IN type slri_atomic_##name##_##K(unsigned char *at, type b, int order) \\\n"
    "    { return __atomic_fetch_##name((type *)at, b, order); }\n",
    "#define SLRI_ATOMIC_ORDER(K, type, bits) \\\n"
    "    SLRI_ATOMIC_LOOP(min, K, type, bits, b < a ? b : a) SLRI_ATOMIC_LOOP(max, K, type, bits, a < b ? b : a)\n"
    "#define SLRI_ATOMIC_INTEGER(K, type) SLRI_ATOMIC(K, type, type) \\\n"
    "    SLRI_ATOMIC_FETCH(add, K, type) SLRI_ATOMIC_FETCH(sub, K, type) SLRI_ATOMIC_FETCH(and, K, type) \\\n"
    "    SLRI_ATOMIC_FETCH(or, K, type) SLRI_ATOMIC_FETCH(xor, K, type) \\\n"
    "    SLRI_ATOMIC_ORDER(K, type, type)\n"
    "#define SLRI_ATOMIC_FLOAT(K, type, bits) SLRI_ATOMIC(K, type, bits) \\\n"
    "    SLRI_ATOMIC_LOOP(add, K, type, bits, a + b) SLRI_ATOMIC_LOOP(sub, K, type, bits, a - b) \\\n"
    "    SLRI_ATOMIC_ORDER(K, type, bits)\n",
    "SLRI_ATOMIC_INTEGER(I32, int32_t) SLRI_ATOMIC_INTEGER(U32, uint32_t)\n"
    "SLRI_ATOMIC_INTEGER(I64, int64_t) SLRI_ATOMIC_INTEGER(U64, uint64_t)\n"
    "SLRI_ATOMIC_FLOAT(F32, float, uint32_t) SLRI_ATOMIC_FLOAT(F64, double, uint64_t)\n"
    "SLRI_ATOMIC_LOOP(increment, U32, uint32_t, uint32_t, a >= b ? 0 : a + 1)\n"
    "SLRI_ATOMIC_LOOP(decrement, U32, uint32_t, uint32_t, a == 0 || a > b ? b : a - 1)\n",
};

// clang-format on

#define COUNT(array) (sizeof(array) / sizeof *(array))

void slri_c_prelude(struct slri_text *out, bool is_debug)
{
    slri_text_puts(out, "#include <stdint.h>\n");
    if (!is_debug) // else the file stays, for debuggers to list; this one is gone when a profiler or a message names it
        slri_text_puts(out, "#line 1 \"slipring: helpers\"\n");
    slri_text_puts(out, slri_embedded_handler_h);
    slri_text_puts(out, slri_embedded_slr_math_h);
    slri_text_puts(out, slri_embedded_slr_math_angles_h);
    slri_text_puts(out, slri_embedded_slr_fma_h);
    slri_text_puts(out, slri_embedded_slr_math_double_h);
    slri_text_puts(out, slri_embedded_slr_math_more_h);
    slri_text_puts(out, slri_embedded_slr_half_h);
    for (size_t i = 0; i < COUNT(access); i++)
        slri_text_puts(out, access[i]);
    slri_text_puts(out, opaque);
    slri_text_puts(out, divide);
    slri_text_puts(out, call_helpers);
    slri_text_puts(out, trips);
    for (size_t i = 0; i < COUNT(atomics); i++)
        slri_text_puts(out, atomics[i]);
}
