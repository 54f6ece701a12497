// SPDX-License-Identifier: Apache-2.0
// What the text emitters of devices share: an IR instruction becomes an expression, spelled by a row of the target's
// table; a function's registers become variables; roots become pointers that functions pass on. A target is a table
// of spellings, a prelude (prelude/*.h), and how an entry begins.
//
// emit_device.c the file, emit_device_function.c a function, emit_device_instr.c instructions, emit_device_type.c types
// and literals.
#ifndef SLRI_EMIT_DEVICE_EMIT_DEVICE_H
#define SLRI_EMIT_DEVICE_EMIT_DEVICE_H

#include "emit/c/internal.h"

#include <slipring/status.h>

#define SLRI_OP_COUNT (SLRI_OP_RETURN + 1)

struct slri_d_emitter;

struct slri_dialect {
    const char *kind[SLRI_KIND_COUNT];             // a scalar in memory; from I32 on also in a register
    const char *space[SLRI_ROOT_DYNAMIC + 1];      // of what a root is in: "" or "__global " and so on
    const char *root_space[SLRI_ROOT_DYNAMIC + 1]; // how macros name it: "" or ", G"; a struct by value is LOCAL
    const char *suffix_i64, *suffix_u64;
    const char *function; // before a device function
    const char *builtin[SLRI_BUILTIN_COUNT];
    const char *barrier[4];
    const char *meeting; // BARRIER's spelling in a handler; NULL: as elsewhere
    const char *order[5], *scope[3], *scope_suffix[3], *rmw[10];
    const char *given; // NULL: an entry's parameters keep their names. Else each is called this and its number
    const char *const *reserved; // names that a source of C may use and the target may not; ends with NULL
    // An instruction as an expression, with holes as in emit_c_instr.c:
    // $d "register = ", or nothing where the result is not wanted; $a $b $c registers; $p a pointer to the bytes at
    // (root, a), $q (root2, b); $S their spaces as macros name them; $z where the root begins; $T the kind's type, $K
    // its name; $n imm; $l "file, line"; $A the alignment; $o the memory order, $s its scope ($x: as a suffix), $r the
    // operation; $B the barrier, $u the builtin; $t the outlet, $y the size of a message or reply.
    const char *spelling[SLRI_OP_COUNT];
    // ATOMIC_RMW's: of INCREMENT and DECREMENT; of EXCHANGE of floats; NULL, or of relaxed ones that the target has
    // words of their own for.
    const char *counting, *exchanging, *relaxed;
    const char *replying; // REPLY's, to one of many messages
    // What functions are given behind all else: as they take it, or as they are given it where the emitter stands.
    // `before`: "", or the comma behind what comes before it. False: nothing, and nothing is put.
    bool (*extra)(struct slri_d_emitter *e, const struct slri_function *function, const char *before, bool takes);
    void (*body)(struct slri_d_emitter *e); // of a function; NULL: slri_d_block
    void (*print)(struct slri_d_emitter *e, const struct slri_instr *in);
    void (*convert)(struct slri_d_emitter *e, const struct slri_instr *in);
    void (*math)(struct slri_d_emitter *e, const struct slri_instr *in);
    void (*warp)(struct slri_d_emitter *e, const struct slri_instr *in);
    void (*mask)(struct slri_d_emitter *e, const struct slri_instr *in);       // of a warp's function; NULL: as it says
    void (*branch)(struct slri_d_emitter *e, const struct slri_instr *in);     // what stands before an IF; or NULL
    void (*entry)(struct slri_d_emitter *e, const struct slri_entry *entry);   // up to its {, and what it declares
    void (*wrapper)(struct slri_d_emitter *e, const struct slri_entry *entry); // behind it; or NULL
    bool pays_ahead;                                                           // has SLRI_PAYS
    bool gives_constants; // structs by value lie in constant memory; else in the thread's own
    bool double_is_bits;  // a register of F64 holds the bits of a double, which is only moved
    bool gives_globals;   // variables of the program are a root that functions are given; else `extra` gives them
    bool words;           // whatever lies in memory is declared as words as wide as it is aligned, not by its type
};

// Rows of `spelling` that are alike wherever C is spoken.
#define SLRI_D_COMMON_SPELLINGS                                                                                        \
    [SLRI_OP_MOVE] = "$d$a", [SLRI_OP_NEG] = "$d-$a", [SLRI_OP_NOT] = "$d~$a", [SLRI_OP_ADD] = "$d$a + $b",            \
    [SLRI_OP_SUB] = "$d$a - $b", [SLRI_OP_MUL] = "$d$a * $b", [SLRI_OP_DIV] = "$d$a / $b",                             \
    [SLRI_OP_REM] = "$d$a % $b", [SLRI_OP_SHL] = "$d$a << $b", [SLRI_OP_SHR] = "$d$a >> $b",                           \
    [SLRI_OP_AND] = "$d$a & $b", [SLRI_OP_OR] = "$d$a | $b", [SLRI_OP_XOR] = "$d$a ^ $b", [SLRI_OP_EQ] = "$d$a == $b", \
    [SLRI_OP_NE] = "$d$a != $b", [SLRI_OP_LT] = "$d$a < $b", [SLRI_OP_LE] = "$d$a <= $b", [SLRI_OP_GT] = "$d$a > $b",  \
    [SLRI_OP_GE] = "$d$a >= $b", [SLRI_OP_LOAD] = "$d*$p", [SLRI_OP_STORE] = "SLRI_PUT($p, $b)",                       \
    [SLRI_OP_INSTANCE] = "$dring_instance()", [SLRI_OP_BUILTIN] = "$d$u", [SLRI_OP_BARRIER] = "$d$B($a)",              \
    [SLRI_OP_MESSAGES] = "$dSLRI_MESSAGES()", [SLRI_OP_CLOCK] = "$dSLRI_TICKS()", [SLRI_OP_PRESENT] = "$d($z != 0)"

// What a function needs of its caller, by its index in the module.
struct slri_d_function {
    bool is_used, in_handler;
    bool may_fault;                 // it, or what it calls, by a division or a trap
    uint64_t *roots;                // bits: root_bit()
    const struct slri_entry *entry; // one that comes to it
};

struct slri_d_emitter {
    struct slri_c_emitter c;
    const struct slri_dialect *dialect;
    const struct slri_entry *only;  // or NULL
    const struct slri_entry *entry; // whose body is being written, or NULL
    struct slri_d_function *functions;
    const struct slri_type **declared; // structs, in order
    uint32_t declareds, declared_room;
    uint32_t root_words;
    bool names_all; // also what only a loop's test reads
    slri_reg asked;
    uint32_t *reads;  // of each register of the function being written
    const char *mark; // between a name of the source and the number behind it
};

// emit_device.c
// Of a file that is to be put: which functions it needs, and what they do. Behind it, also where it gives false (no
// memory), slri_region_destroy(e->c.scratch).
bool slri_d_begin(struct slri_d_emitter *e, const struct slri_module *module, const struct slri_entry *entry,
                  const struct slri_dialect *dialect);
// UNSUPPORTED where a handler that is to be put prints.
slr_status slri_d_check_prints(const struct slri_module *module, const struct slri_entry *entry);
slr_status slri_d_file(struct slri_d_emitter *e, const struct slri_module *module, const struct slri_entry *entry,
                       const struct slri_dialect *dialect, struct slri_text *out);
enum slri_root_kind slri_d_space(struct slri_d_emitter *e, struct slri_root root); // as indexes `space`
struct slri_d_function *slri_d_traits(struct slri_d_emitter *e, const struct slri_function *function);

// Roots that a function is given: bits of slri_d_function.roots.
uint32_t slri_d_root_bit(const struct slri_d_emitter *e, struct slri_root root); // UINT32_MAX: given by nobody
bool slri_d_uses(const struct slri_d_emitter *e, const struct slri_d_function *function, uint32_t bit);
struct slri_root slri_d_root_of(const struct slri_d_emitter *e, uint32_t bit);
uint32_t slri_d_root_bits(const struct slri_d_emitter *e);

// emit_device_function.c
bool slri_d_enter(struct slri_d_emitter *e, uint32_t index); // finds its literals; false: no memory
void slri_d_function(struct slri_d_emitter *e, uint32_t index);
void slri_d_arguments(struct slri_d_emitter *e, const struct slri_instr *call);
void slri_d_param_name(struct slri_d_emitter *e, uint32_t param);

// emit_device_instr.c
bool slri_d_may_fault(const struct slri_d_emitter *e, const struct slri_instr *in); // itself: a division or a trap
void slri_d_block(struct slri_d_emitter *e, const struct slri_block *block);
void slri_d_call(struct slri_d_emitter *e, const struct slri_instr *in);
bool slri_d_is_written(const struct slri_d_emitter *e, const struct slri_instr *in); // not a literal where it is used
bool slri_d_is_unnamed(const struct slri_c_emitter *c, const uint32_t *reads, const struct slri_instr *loop);
void slri_d_spell(struct slri_d_emitter *e, const struct slri_instr *in, const char *text);

// emit_device_type.c
void slri_d_types(struct slri_d_emitter *e);
void slri_d_type(struct slri_d_emitter *e, const struct slri_type *type); // of no array
void slri_d_declarator(struct slri_d_emitter *e, const struct slri_type *type, const char *name, uint32_t index);
void slri_d_words(struct slri_d_emitter *e, const struct slri_type *type, const char *name); // "uint name[4]"
void slri_d_literal(struct slri_d_emitter *e, enum slri_kind kind, uint64_t bits);
void slri_d_register(struct slri_d_emitter *e, slri_reg reg);
void slri_d_name(struct slri_d_emitter *e, const char *name, const char *kind, uint32_t index);
void slri_d_root(struct slri_d_emitter *e, struct slri_root root);            // where its memory begins
void slri_d_binding(struct slri_d_emitter *e, uint32_t index);                // a parameter of the entry
bool slri_d_is_object(const struct slri_d_emitter *e, struct slri_root root); // spelled by a name that is no pointer

static inline void slri_d_put(struct slri_d_emitter *e, const char *text)
{
    slri_text_puts(e->c.out, text);
}

#endif
