// SPDX-License-Identifier: Apache-2.0
// Every diagnostic of the front end: its number, its name, and what its reader can do about it.
//
// A number is printed as SLR-K followed by three digits and is never used again for something else: append at the end
// of a group (each has room up to the next), change neither the order nor the numbers. The message says what was found
// where; the advice says what to write instead.
#ifndef SLRI_LANG_TEXT_DIAGNOSTICS_H
#define SLRI_LANG_TEXT_DIAGNOSTICS_H

#include "lang/text/token.h"

// X(number, NAME, "advice")
#define SLRI_DIAGNOSTIC_LIST(X)                                                                                        \
    /* 1-9: characters and literals */                                                                                 \
    X(1, BAD_CHARACTER, "remove it: outside comments and strings, source is plain ASCII")                              \
    X(2, BAD_NUMBER, "write numbers as in C: 12, 0x1F, 017, 0b101, 1.5f, 1e-3, 0x1p4; suffixes u, l, ll, f")           \
    X(3, INTEGER_TOO_LARGE,                                                                                            \
      "integers have at most 64 bits; a decimal one above 9223372036854775807 needs the suffix u")                     \
    X(4, UNTERMINATED_COMMENT, "close the comment with */")                                                            \
    X(5, UNTERMINATED_STRING, "close the literal with its quote on the same line")                                     \
    X(6, BAD_CHARACTER_LITERAL, "put exactly one character between the quotes")                                        \
    X(7, BAD_ESCAPE,                                                                                                   \
      "use \\n \\t \\r \\0 \\a \\b \\f \\v \\\\ \\' \\\" \\?, octal digits, or \\x and hexadecimal digits")            \
    X(8, FLOAT_TOO_LARGE, "use a smaller value, the other precision, or INFINITY of <math.h>")                         \
    /* 10-29: preprocessor */                                                                                          \
    X(10, BAD_DIRECTIVE,                                                                                               \
      "known are #define #undef #include #if #ifdef #ifndef #elif #else #endif #error #pragma #line")                  \
    X(11, UNTERMINATED_IF, "close it with #endif in the same file")                                                    \
    X(12, UNMATCHED_IF, "each #elif, #else and #endif belongs to an #if before it in the same file")                   \
    X(13, BAD_CONDITION, "a condition is an expression of integers, macros and defined(NAME)")                         \
    X(14, INCLUDE_NOT_FOUND,                                                                                           \
      "put the file next to the one that includes it, or in an include folder; built in are "                          \
      "<slipring/device.h>, <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <float.h>, <math.h>")                     \
    X(15, INCLUDE_DEPTH, "guard the file with #pragma once or #ifndef")                                                \
    X(16, MACRO_ARGUMENTS, "give a macro as many arguments as it has parameters, in parentheses that close")           \
    X(17, MACRO_REDEFINED, "#undef it first, or give it another name")                                                 \
    X(18, BAD_MACRO,                                                                                                   \
      "write #define NAME text, or #define NAME(a, b) text with # only before a parameter and ## only "                \
      "between two tokens")                                                                                            \
    X(19, BAD_PASTE, "## must make one token out of two")                                                              \
    X(20, ERROR_DIRECTIVE, "the source has an #error for this configuration: check its condition and its defines")     \
    X(21, SOURCE_TOO_LARGE, "split the source, or look for a macro or an include that grows without end")              \
    X(22, EXPANSION_TOO_DEEP, "nest macro calls less deeply")                                                          \
    X(23, BAD_INCLUDE, "write #include \"file.h\" or #include <file.h>")                                               \
    X(24, INCLUDE_UNREADABLE, "an included file is a file, not a folder, that you may read, of at most 4 MiB")         \
    X(25, BAD_TUNING,                                                                                                  \
      "write '#pragma slipring tune NAME = 8, 16, 32', 'require CONDITION', 'block KERNEL = X, Y' or "                 \
      "'items KERNEL = X, Y'; NAME is a macro that the source defines in #ifndef NAME")                                \
    /* 30-49: grammar */                                                                                               \
    X(30, UNEXPECTED_TOKEN, "look for a missing ; ) or } just before it")                                              \
    X(31, NESTING_TOO_DEEP, "split the expression or the statement")                                                   \
    X(32, BAD_DECLARATION, "write a type, then the name, then its array extents")                                      \
    X(33, BAD_TYPE, "combine the words of a type as C does: unsigned int, long long, struct name")                     \
    X(34, EMPTY_STRUCT, "give it at least one member with a name")                                                     \
    X(35, BAD_CASE, "case and default belong directly into the braces of a switch")                                    \
    X(36, DUPLICATE_CASE, "remove one of them, or change its value")                                                   \
    X(37, BREAK_OUTSIDE, "break belongs inside a loop or a switch, continue inside a loop")                            \
    X(38, GOTO, "use a loop with break or continue, or a flag: goto is not in the subset")                             \
    X(39, INLINE_ASSEMBLY, "write it in C: assembly is not in the subset")                                             \
    X(40, ATTRIBUTE, "remove it: of attributes, only alignment is in the subset")                                      \
    /* 50-79: names, types and expressions */                                                                          \
    X(50, UNKNOWN_NAME, "declare it first, or correct its spelling")                                                   \
    X(51, REDEFINITION, "give one of the two another name")                                                            \
    X(52, WRONG_TYPE, "convert it to the type that is needed here")                                                    \
    X(53, NOT_AN_LVALUE, "assign to a variable, a member, an array element or what a pointer points to")               \
    X(54, UNKNOWN_MEMBER, "look at the struct's members; use . on a struct and -> on a pointer to one")                \
    X(55, WRONG_ARGUMENT_COUNT, "call the function with as many arguments as it has parameters")                       \
    X(56, CONST_VIOLATED, "copy it into a variable of your own, or remove the const where it is declared")             \
    X(57, FLOAT_OPERAND, "convert it to an integer first: % << >> & | ^ ~ and switch work on integers; or use fmod")   \
    X(58, DIVISION_BY_ZERO, "a division by zero faults the message; test the divisor first")                           \
    X(59, SHIFT_OUT_OF_RANGE, "shift by 0 up to one less than the number of bits of the left operand")                 \
    X(60, NOT_CONSTANT, "use literals, enum constants, sizeof and macros: its value must be known at compile time")    \
    X(61, EXTENT_NOT_CONSTANT,                                                                                         \
      "an array's extent is a positive constant; for a table sized at launch take a buffer "                           \
      "binding")                                                                                                       \
    X(62, INDEX_OUTSIDE_EXTENT, "the first element is 0, the last is the extent minus 1")                              \
    X(63, NOT_A_FUNCTION, "only a function can be called")                                                             \
    X(64, UNKNOWN_FUNCTION, "define it as a __device__ function above its use, or use one that is built in")           \
    X(65, BAD_INITIALIZER, "give at most one value per element or member, each of its type")                           \
    X(66, RETURN_TYPE, "return a value of the function's type; return; only where it is void")                         \
    X(67, MISSING_RETURN, "end every path of a function that is not void with return")                                 \
    X(68, INCOMPLETE_TYPE, "define the struct before it is used by value or looked into")                              \
    X(69, NOT_A_POINTER, "* [] and -> need a pointer or an array")                                                     \
    X(70, WRONG_OPERANDS, "both operands must be numbers, or be of the same type where the operator allows that")      \
    X(71, VALUE_OUT_OF_RANGE, "use a value that fits the type, or a wider type")                                       \
    X(72, TYPE_TOO_LARGE, "keep a type or a table below the limit; take large ones as buffer bindings")                \
    X(73, VOID_VALUE, "a void function has no value to use")                                                           \
    X(74, ADDRESS_OF, "& needs a variable, a member or an element")                                                    \
    /* 80-99: pointers, and what the subset leaves out */                                                              \
    X(80, POINTER_ROOT_UNKNOWN,                                                                                        \
      "let the pointer start from the state, the message, a binding, a table or a local: "                             \
      "its object must be known at compile time")                                                                      \
    X(81, POINTER_ROOTS_DIFFER, "use two pointers, or an index: a pointer must always point into the same object")     \
    X(82, POINTER_IN_MEMORY, "keep an index instead: structs and arrays cannot hold pointers")                         \
    X(83, RECURSION, "write it as a loop: functions cannot call themselves, directly or through others")               \
    X(84, FUNCTION_POINTER, "choose with if or switch, and call the functions by name")                                \
    X(85, VARARGS, "give the function a fixed list of parameters")                                                     \
    X(86, DYNAMIC_ALLOCATION, "use a fixed array in the state, or a buffer given at launch")                           \
    X(87, CPLUSPLUS, "write it in C: handlers are in CUDA's C subset, without C++")                                    \
    X(88, UNSUPPORTED_TYPE, "use _Bool, the integers up to 64 bits, float, double, structs, enums and fixed arrays")   \
    X(89, UNSUPPORTED_FEATURE, "this is not in this version of slipring")                                              \
    X(90, STATIC_LOCAL, "keep it in the state; a table may be static const")                                           \
    X(91, GLOBAL_VARIABLE, "keep it in the state; a table may be __constant__ or static const")                        \
    X(92, HOST_CODE, "move host code to a file of its own")                                                            \
    X(93, POINTER_CAST, "access the bytes by their own type: pointers cannot be cast to other types")                  \
    X(94, POINTER_COMPARISON, "compare indices instead")                                                               \
    X(95, POINTER_RETURN, "return an index, or let the caller pass the pointer in")                                    \
    X(96, LEFT_OUT, "use C only: the message gives the reason")                                                        \
    X(97, EMPTIED, "define the macro that its #if needs: -D __CUDA_ARCH__=900, or another NAME=VALUE")                 \
    /* 110-129: handlers */                                                                                            \
    X(110, NO_HANDLER, "mark at least one function with __ring__ or __global__")                                       \
    X(111, BAD_STATE_PARAMETER, "the state is the first parameter, a pointer to a struct that is not const")           \
    X(112, BAD_MESSAGE_PARAMETER, "after the state, if there is one, comes the message: a pointer to a const struct")  \
    X(113, BAD_BINDING_PARAMETER,                                                                                      \
      "a binding is a number, a pointer to numbers or structs, or a ring_to(struct message)")                          \
    X(114, REPLY_TYPE_DIFFERS, "all ring_reply of one handler send the same struct")                                   \
    X(115, BAD_REPLY, "write ring_reply(&variable), or ring_reply_to(i, &variable) in a __ring_batch__ handler")       \
    X(116, HANDLER_RETURNS, "a handler is void: it replies with ring_reply")                                           \
    X(117, HANDLER_CALLED, "put shared code into a __device__ function: only the runtime calls handlers")              \
    X(118, BAD_KERNEL_PARAMETER, "a kernel takes numbers and structs by value, and pointers to numbers or structs")    \
    X(119, KERNEL_RETURNS, "a kernel is void: it writes its results to buffers")                                       \
    X(120, BAD_SHARED,                                                                                                 \
      "write __shared__ float tile[256]; inside a function, or extern __shared__ float tile[]; and fill it there")     \
    X(121, NOT_IN_HANDLER, "move it to a __global__ kernel: a __ring__ handler is one thread")                         \
    X(122, NOT_IN_KERNEL, "move it to a __ring__ handler: a kernel writes its results to a buffer")                    \
    X(123, DIVERGED_BARRIER,                                                                                           \
      "let every thread of the block reach it: move it after the branch, and keep only the work in the condition")     \
    X(124, UNKNOWN_BUILTIN_MEMBER, "threadIdx, blockIdx, blockDim and gridDim have the members x, y and z")            \
    X(125, BAD_OUTLET, "write ring_to(struct message) name, with a struct that is defined, as a handler's parameter")  \
    X(126, BAD_SEND, "write ring_send(outlet, &message), or ring_send_at(outlet, instance, &message)")                 \
    X(127, BAD_PRINT,                                                                                                  \
      "printf takes a text and a value for each conversion in it: %d %u %x %c of integers, %ld %lu of 64 bits, %f %e " \
      "%g of floats; without * and %s")                                                                                \
    X(128, HALF_IN_HANDLER, "take an unsigned short and convert it inside, or a float: the host's C has no half")      \
    X(129, BAD_BATCH, "write __ring_batch__ void name(struct state *self, const struct message *in, unsigned n)")      \
    /* 130-: limits */                                                                                                 \
    X(130, KERNEL_TOO_LARGE, "split the handler, or call its functions with fewer different pointers")

enum slri_diagnostic {
#define SLRI_DIAGNOSTIC_ENUM(number, name, advice) SLRI_K_##name = number,
    SLRI_DIAGNOSTIC_LIST(SLRI_DIAGNOSTIC_ENUM)
#undef SLRI_DIAGNOSTIC_ENUM
};

// More than these are not kept, and a pass that sees so many gives up.
#define SLRI_ERRORS_LIMIT 20

// A run of the preprocessor reads at most this many files (the same one included twice counts twice).
#define SLRI_FILES_LIMIT 1000

// For the notes: file number `file` is there because of the #include at `where`.
void slri_report_included(struct slri_front *front, uint32_t file, struct slri_where where);

// The advice of a number, or NULL for a number that is none.
const char *slri_diagnostic_advice(unsigned number);

#endif
