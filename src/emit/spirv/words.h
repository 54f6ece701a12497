// SPDX-License-Identifier: Apache-2.0
// SPIR-V as words: the opcodes and numbers in use, a module's sections, types and constants once each.
#ifndef SLRI_EMIT_SPIRV_WORDS_H
#define SLRI_EMIT_SPIRV_WORDS_H

#include "ir/ir.h"

// X(name, number, operands). Operands, for the disassembler: T type of the result, R result, i an id, l a literal, s a
// string, o an opcode, N a mask that is None; up to the end + ids, # literals, v a value of the result's type, m memory
// operands, p pairs of a literal and an id, D what a decoration has; and of groups of SLRI_W_NUMBERS A addressing, M
// memory model, E execution model, x execution mode, c capability, S storage class, d decoration, e function of
// GLSL.std.450.
#define SLRI_W_LIST(X)                                                                                                 \
    X(String, 7, "Rs")                                                                                                 \
    X(Line, 8, "ill")                                                                                                  \
    X(ExtInstImport, 11, "Rs")                                                                                         \
    X(ExtInst, 12, "TRie+")                                                                                            \
    X(MemoryModel, 14, "AM")                                                                                           \
    X(EntryPoint, 15, "Eis+")                                                                                          \
    X(ExecutionMode, 16, "ix#")                                                                                        \
    X(Capability, 17, "c")                                                                                             \
    X(TypeVoid, 19, "R")                                                                                               \
    X(TypeBool, 20, "R")                                                                                               \
    X(TypeInt, 21, "Rll")                                                                                              \
    X(TypeFloat, 22, "Rl")                                                                                             \
    X(TypeVector, 23, "Ril")                                                                                           \
    X(TypeArray, 28, "Rii")                                                                                            \
    X(TypeRuntimeArray, 29, "Ri")                                                                                      \
    X(TypeStruct, 30, "R+")                                                                                            \
    X(TypePointer, 32, "RSi")                                                                                          \
    X(TypeFunction, 33, "R+")                                                                                          \
    X(Constant, 43, "TRv")                                                                                             \
    X(ConstantComposite, 44, "TR+")                                                                                    \
    X(SpecConstant, 50, "TRv")                                                                                         \
    X(SpecConstantComposite, 51, "TR+")                                                                                \
    X(SpecConstantOp, 52, "TRo+")                                                                                      \
    X(Function, 54, "TRNi")                                                                                            \
    X(FunctionParameter, 55, "TR")                                                                                     \
    X(FunctionEnd, 56, "")                                                                                             \
    X(FunctionCall, 57, "TR+")                                                                                         \
    X(Variable, 59, "TRS+")                                                                                            \
    X(Load, 61, "TRim")                                                                                                \
    X(Store, 62, "iim")                                                                                                \
    X(AccessChain, 65, "TR+")                                                                                          \
    X(Decorate, 71, "idD")                                                                                             \
    X(MemberDecorate, 72, "ildD")                                                                                      \
    X(CompositeConstruct, 80, "TR+")                                                                                   \
    X(CompositeExtract, 81, "TRi#")                                                                                    \
    X(ConvertFToU, 109, "TRi")                                                                                         \
    X(ConvertFToS, 110, "TRi")                                                                                         \
    X(ConvertSToF, 111, "TRi")                                                                                         \
    X(ConvertUToF, 112, "TRi")                                                                                         \
    X(UConvert, 113, "TRi")                                                                                            \
    X(SConvert, 114, "TRi")                                                                                            \
    X(FConvert, 115, "TRi")                                                                                            \
    X(ConvertUToPtr, 120, "TRi")                                                                                       \
    X(Bitcast, 124, "TRi")                                                                                             \
    X(SNegate, 126, "TRi")                                                                                             \
    X(FNegate, 127, "TRi")                                                                                             \
    X(IAdd, 128, "TRii")                                                                                               \
    X(FAdd, 129, "TRii")                                                                                               \
    X(ISub, 130, "TRii")                                                                                               \
    X(FSub, 131, "TRii")                                                                                               \
    X(IMul, 132, "TRii")                                                                                               \
    X(FMul, 133, "TRii")                                                                                               \
    X(UDiv, 134, "TRii")                                                                                               \
    X(SDiv, 135, "TRii")                                                                                               \
    X(FDiv, 136, "TRii")                                                                                               \
    X(UMulExtended, 151, "TRii")                                                                                       \
    X(LogicalAnd, 167, "TRii")                                                                                         \
    X(LogicalNot, 168, "TRi")                                                                                          \
    X(Select, 169, "TRiii")                                                                                            \
    X(IEqual, 170, "TRii")                                                                                             \
    X(INotEqual, 171, "TRii")                                                                                          \
    X(UGreaterThan, 172, "TRii")                                                                                       \
    X(SGreaterThan, 173, "TRii")                                                                                       \
    X(UGreaterThanEqual, 174, "TRii")                                                                                  \
    X(SGreaterThanEqual, 175, "TRii")                                                                                  \
    X(ULessThan, 176, "TRii")                                                                                          \
    X(SLessThan, 177, "TRii")                                                                                          \
    X(ULessThanEqual, 178, "TRii")                                                                                     \
    X(SLessThanEqual, 179, "TRii")                                                                                     \
    X(FOrdEqual, 180, "TRii")                                                                                          \
    X(FUnordNotEqual, 183, "TRii")                                                                                     \
    X(FOrdLessThan, 184, "TRii")                                                                                       \
    X(FOrdGreaterThan, 186, "TRii")                                                                                    \
    X(FOrdLessThanEqual, 188, "TRii")                                                                                  \
    X(FOrdGreaterThanEqual, 190, "TRii")                                                                               \
    X(ShiftRightLogical, 194, "TRii")                                                                                  \
    X(ShiftRightArithmetic, 195, "TRii")                                                                               \
    X(ShiftLeftLogical, 196, "TRii")                                                                                   \
    X(BitwiseOr, 197, "TRii")                                                                                          \
    X(BitwiseXor, 198, "TRii")                                                                                         \
    X(BitwiseAnd, 199, "TRii")                                                                                         \
    X(Not, 200, "TRi")                                                                                                 \
    X(BitReverse, 204, "TRi")                                                                                          \
    X(BitCount, 205, "TRi")                                                                                            \
    X(ControlBarrier, 224, "iii")                                                                                      \
    X(MemoryBarrier, 225, "ii")                                                                                        \
    X(AtomicLoad, 227, "TRiii")                                                                                        \
    X(AtomicStore, 228, "iiii")                                                                                        \
    X(AtomicExchange, 229, "TRiiii")                                                                                   \
    X(AtomicCompareExchange, 230, "TRiiiiii")                                                                          \
    X(AtomicIAdd, 234, "TRiiii")                                                                                       \
    X(AtomicISub, 235, "TRiiii")                                                                                       \
    X(AtomicSMin, 236, "TRiiii")                                                                                       \
    X(AtomicUMin, 237, "TRiiii")                                                                                       \
    X(AtomicSMax, 238, "TRiiii")                                                                                       \
    X(AtomicUMax, 239, "TRiiii")                                                                                       \
    X(AtomicAnd, 240, "TRiiii")                                                                                        \
    X(AtomicOr, 241, "TRiiii")                                                                                         \
    X(AtomicXor, 242, "TRiiii")                                                                                        \
    X(LoopMerge, 246, "iiN")                                                                                           \
    X(SelectionMerge, 247, "iN")                                                                                       \
    X(Label, 248, "R")                                                                                                 \
    X(Branch, 249, "i")                                                                                                \
    X(BranchConditional, 250, "iii")                                                                                   \
    X(Switch, 251, "iip")                                                                                              \
    X(Return, 253, "")                                                                                                 \
    X(ReturnValue, 254, "i")                                                                                           \
    X(GroupNonUniformBallot, 339, "TRii")                                                                              \
    X(GroupNonUniformShuffle, 345, "TRiii")

enum slri_w_op {
#define SLRI_W_ENUM(name, number, operands) SLRI_W_##name = number,
    SLRI_W_LIST(SLRI_W_ENUM)
#undef SLRI_W_ENUM
};

// Numbers of the specification: X(group, name, number).
#define SLRI_W_NUMBERS(X)                                                                                              \
    X(CAP, Shader, 1)                                                                                                  \
    X(CAP, Float64, 10)                                                                                                \
    X(CAP, Int64, 11)                                                                                                  \
    X(CAP, Int64Atomics, 12)                                                                                           \
    X(CAP, Int16, 22)                                                                                                  \
    X(CAP, Int8, 39)                                                                                                   \
    X(CAP, GroupNonUniform, 61)                                                                                        \
    X(CAP, GroupNonUniformBallot, 64)                                                                                  \
    X(CAP, GroupNonUniformShuffle, 65)                                                                                 \
    X(CAP, StorageBuffer16BitAccess, 4433)                                                                             \
    X(CAP, StorageBuffer8BitAccess, 4448)                                                                              \
    X(CAP, DenormPreserve, 4464)                                                                                       \
    X(CAP, SignedZeroInfNanPreserve, 4466)                                                                             \
    X(CAP, RoundingModeRTE, 4467)                                                                                      \
    X(CAP, VulkanMemoryModel, 5345)                                                                                    \
    X(CAP, VulkanMemoryModelDeviceScope, 5346)                                                                         \
    X(CAP, PhysicalStorageBufferAddresses, 5347)                                                                       \
    X(STORAGE, Input, 1)                                                                                               \
    X(STORAGE, Workgroup, 4)                                                                                           \
    X(STORAGE, Private, 6)                                                                                             \
    X(STORAGE, Function, 7)                                                                                            \
    X(STORAGE, PushConstant, 9)                                                                                        \
    X(STORAGE, PhysicalStorageBuffer, 5349)                                                                            \
    X(MODE, LocalSize, 17)                                                                                             \
    X(MODE, DenormPreserve, 4459)                                                                                      \
    X(MODE, SignedZeroInfNanPreserve, 4461)                                                                            \
    X(MODE, RoundingModeRTE, 4462)                                                                                     \
    X(DECORATION, SpecId, 1)                                                                                           \
    X(DECORATION, Block, 2)                                                                                            \
    X(DECORATION, ArrayStride, 6)                                                                                      \
    X(DECORATION, BuiltIn, 11)                                                                                         \
    X(DECORATION, Offset, 35)                                                                                          \
    X(DECORATION, NoContraction, 42)                                                                                   \
    X(BUILTIN, WorkgroupSize, 25)                                                                                      \
    X(BUILTIN, WorkgroupId, 26)                                                                                        \
    X(BUILTIN, LocalInvocationId, 27)                                                                                  \
    X(ADDRESSING, PhysicalStorageBuffer64, 5348)                                                                       \
    X(MODEL, Vulkan, 3)                                                                                                \
    X(EXECUTION, GLCompute, 5)                                                                                         \
    X(GLSL, Trunc, 3)                                                                                                  \
    X(GLSL, FAbs, 4)                                                                                                   \
    X(GLSL, Sqrt, 31)                                                                                                  \
    X(GLSL, UMin, 38)                                                                                                  \
    X(GLSL, SMin, 39)                                                                                                  \
    X(GLSL, UMax, 41)                                                                                                  \
    X(GLSL, SMax, 42)                                                                                                  \
    X(GLSL, FindILsb, 73)                                                                                              \
    X(GLSL, FindUMsb, 75)                                                                                              \
    X(ACCESS, Volatile, 1)                                                                                             \
    X(ACCESS, Aligned, 2)                                                                                              \
    X(ACCESS, NonPrivatePointer, 32)

enum {
#define SLRI_W_NUMBER(group, name, number) SLRI_##group##_##name = number,
    SLRI_W_NUMBERS(SLRI_W_NUMBER)
#undef SLRI_W_NUMBER
};

enum {
    SLRI_SCOPE_IN_DEVICE = 1,
    SLRI_SCOPE_IN_WORKGROUP = 2,
    SLRI_SCOPE_IN_SUBGROUP = 3,
    SLRI_SCOPE_IN_QUEUE = 5,
    SLRI_SEMANTICS_ACQUIRE = 2,
    SLRI_SEMANTICS_RELEASE = 4,
    SLRI_SEMANTICS_ACQ_REL = 8,
    SLRI_SEMANTICS_MEMORY = 0x40 | 0x100, // of buffers and of the workgroup
    SLRI_SEMANTICS_AVAILABLE = 0x2000,
    SLRI_SEMANTICS_VISIBLE = 0x4000,
};

struct slri_w_part {
    uint32_t *word;
    size_t count, room;
};

#define SLRI_W_CHAINS 1024

struct slri_w {
    struct slri_w_part capabilities, modes, strings, decorations, globals, functions; // globals: types and the like
    struct slri_w_part variables, code; // of the function being written: its first block's, and all behind them
    struct slri_w_part interface;       // ids of variables of the module
    uint32_t next;                      // id
    // Types and constants, in chains by their hash. Two words a link: where in `globals` one lies, and what leads to
    // the link before. A link's place in `links`, plus 1, leads to it; 0 ends a chain.
    struct slri_w_part links;
    uint32_t newest[SLRI_W_CHAINS];
    bool out_of_memory;
};

uint32_t slri_w_id(struct slri_w *w);
void slri_w_add(struct slri_w *w, struct slri_w_part *part, const uint32_t *word, size_t count);
void slri_w_put(struct slri_w *w, struct slri_w_part *part, enum slri_w_op op, const uint32_t *operand, size_t count);
#define SLRI_W(w, part, op, ...)                                                                                       \
    slri_w_put(w, part, SLRI_W_##op, (const uint32_t[]){__VA_ARGS__},                                                  \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
void slri_w_put_text(struct slri_w *w, struct slri_w_part *part, enum slri_w_op op, const uint32_t *before,
                     size_t count, const char *text, const struct slri_w_part *behind);
// A type (`type` 0) or constant, written at most once.
uint32_t slri_w_once(struct slri_w *w, enum slri_w_op op, uint32_t type, const uint32_t *operand, uint32_t count);
#define SLRI_W_ONCE(w, op, type, ...)                                                                                  \
    slri_w_once(w, SLRI_W_##op, type, (const uint32_t[]){__VA_ARGS__},                                                 \
                sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
void slri_w_capability(struct slri_w *w, uint32_t capability); // once each
void slri_w_destroy(struct slri_w *w);

#endif
