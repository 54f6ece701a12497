// SPDX-License-Identifier: Apache-2.0
// What emitters for languages whose memory has four spaces share: OpenCL C and Metal's. Their text is made of the words
// of slr_spaces.h.
#ifndef SLRI_EMIT_DEVICE_SPACES_H
#define SLRI_EMIT_DEVICE_SPACES_H

#include "emit/device/emit_device.h"

extern const char slri_embedded_slr_spaces_h[];

void slri_d_put_convert(struct slri_d_emitter *e, const struct slri_instr *in);
void slri_d_put_math(struct slri_d_emitter *e, const struct slri_instr *in);
void slri_d_put_print(struct slri_d_emitter *e, const struct slri_instr *in);
void slri_d_put_warp(struct slri_d_emitter *e, const struct slri_instr *in);
void slri_d_put_arguments(struct slri_d_emitter *e, const struct slri_instr *in, uint32_t from);
// Declares what the threads of a block share: those variables that the kernel uses.
void slri_d_put_shared(struct slri_d_emitter *e, const struct slri_entry *entry);

// Declares what an entry's structs by value are given as: "struct PREFIX_INDEX", words of their alignment. Gives the
// largest alignment.
uint32_t slri_d_put_given_structs(struct slri_d_emitter *e, const struct slri_entry *entry, const char *prefix);

// What functions are given beside what the source gives them. As struct slri_dialect's `extra`.
struct slri_d_extra {
    bool is_given;
    const char *type, *name;
};
bool slri_d_put_extras(struct slri_d_emitter *e, const struct slri_d_extra *extra, uint32_t count, const char *before,
                       bool takes);

// Of struct slri_dialect: how pointers to each place are declared.
#define SLRI_D_SPACE_NAMES(memory, constants, own, of_block)                                                           \
    .space = {[SLRI_ROOT_NONE] = "",         [SLRI_ROOT_STATE] = memory,    [SLRI_ROOT_MESSAGE] = memory,              \
              [SLRI_ROOT_BINDING] = memory,  [SLRI_ROOT_CONST] = constants, [SLRI_ROOT_LOCAL] = own,                   \
              [SLRI_ROOT_PARAM] = own,       [SLRI_ROOT_SHARED] = of_block, [SLRI_ROOT_GLOBAL] = memory,               \
              [SLRI_ROOT_DYNAMIC] = of_block}

// Of struct slri_dialect: all but the spaces' names, places in the grid, warps and how an entry begins.
// clang-format off
#define SLRI_D_SPACES \
    .kind = {[SLRI_BOOL] = "uchar",                                                                                    \
             [SLRI_I8] = "char",                                                                                       \
             [SLRI_U8] = "uchar",                                                                                      \
             [SLRI_I16] = "short",                                                                                     \
             [SLRI_U16] = "ushort",                                                                                    \
             [SLRI_I32] = "int",                                                                                       \
             [SLRI_U32] = "uint",                                                                                      \
             [SLRI_I64] = "long",                                                                                      \
             [SLRI_U64] = "ulong",                                                                                     \
             [SLRI_F32] = "float",                                                                                     \
             [SLRI_F16] = "ushort",                                                                                    \
             [SLRI_BF16] = "ushort"},                                                                                  \
    .root_space = {[SLRI_ROOT_NONE] = "",                                                                              \
                   [SLRI_ROOT_STATE] = ", G",                                                                          \
                   [SLRI_ROOT_MESSAGE] = ", G",                                                                        \
                   [SLRI_ROOT_BINDING] = ", G",                                                                        \
                   [SLRI_ROOT_CONST] = ", C",                                                                          \
                   [SLRI_ROOT_LOCAL] = ", P",                                                                          \
                   [SLRI_ROOT_PARAM] = ", P",                                                                          \
                   [SLRI_ROOT_SHARED] = ", L",                                                                         \
                   [SLRI_ROOT_GLOBAL] = ", G",                                                                         \
                   [SLRI_ROOT_DYNAMIC] = ", L"},                                                                       \
    .suffix_i64 = "l",                                                                                                 \
    .suffix_u64 = "ul",                                                                                                \
    .barrier = {"SLRI_SYNC", "SLRI_SYNC_COUNT", "SLRI_SYNC_AND", "SLRI_SYNC_OR"},                                      \
    .order = {"0", "1", "2", "3", "4"},                                                                                \
    .scope = {"0", "1", "2"},                                                                                          \
    .scope_suffix = {"", "", ""},                                                                                      \
    .rmw = {"add", "sub", "and", "or", "xor", "min", "max", "exchange", "increment", "decrement"},                     \
    .function = "SLRI_FN ",                                                                                            \
    .spelling =                                                                                                        \
        {                                                                                                              \
            SLRI_D_COMMON_SPELLINGS,                                                                                   \
            [SLRI_OP_COPY] = "SLRI_COPY($p, $q, $n$S)",                                                                \
            [SLRI_OP_ZERO] = "SLRI_ZERO($p, $n$S)",                                                                    \
            [SLRI_OP_ATOMIC_LOAD] = "$dSLRI_ATOMIC_LOAD($p, $K, $o, $s$S)",                                            \
            [SLRI_OP_ATOMIC_STORE] = "SLRI_ATOMIC_STORE($p, $K, $b, $o, $s$S)",                                        \
            [SLRI_OP_ATOMIC_RMW] = "$dSLRI_RMW($r, $p, $K, $b, $o, $s$S)",                                             \
            [SLRI_OP_ATOMIC_CAS] = "$dSLRI_CAS($p, $K, $b, $c, $o, $s$S)",                                             \
            [SLRI_OP_FENCE] = "slri_fence($o, $s)",                                                                    \
            [SLRI_OP_REPLY] = "SLRI_REPLY($p, $y, $l$S)",                                                              \
            [SLRI_OP_SEND] = "SLRI_SEND($t, $b, $p, $y, $l$S)",                                                        \
        },                                                                                                             \
    .counting = "$dSLRI_RMW($r, $p, $K, $b, $o, $s$S)",                                                                \
    .exchanging = "$dSLRI_RMW($r, $p, $K, $b, $o, $s$S)",                                                              \
    .replying = "SLRI_REPLY_TO($b, $p, $y, $l$S)",                                                                     \
    .print = slri_d_put_print,                                                                                         \
    .math = slri_d_put_math,                                                                                           \
    .words = true,                                                                                                     \
    .gives_globals = true
// clang-format on

#endif
