// SPDX-License-Identifier: Apache-2.0
/// Makes a program of the kernel language from a tape of choices: one kernel or one handler, with what it needs, and
/// the launch that it is for. What a program does is defined wherever the language defines it: indices are masked,
/// divisors odd, shared memory is written before it is read, and what threads do to one place does not depend on their
/// order. Handlers may fault.
#ifndef GENERATE_MAKER_H
#define GENERATE_MAKER_H

#include "tape.h"

#include "base/text.h"

enum {
    MAKER_VARS = 48,
    MAKER_FUNCTIONS = 3,
    MAKER_FIELDS = 4,
    MAKER_STRUCTS = 3,
    MAKER_RECORDS = MAKER_STRUCTS + 1,
    MAKER_PARAMS = 4
};

/// What a program is given. Every kernel and every handler has the same parameters.
enum {
    GIVEN_INTS = 32,   // of `a` and `l`, `x` and `y`
    GIVEN_COUNTS = 32, // of `count`: what all threads change by atomics
    GIVEN_SLOTS = 8,   // of a thread in `out` and `real`
    GIVEN_THREADS = 128,
    GIVEN_BLOCKS = 6,
    GIVEN_DATA = 32,
    GIVEN_WALK = 1 << 14, // of `walk`, a pointer that programs move forwards, by at most GIVEN_STEP
    GIVEN_STEP = 4,
    GIVEN_SEEN = 16, // what is read from where it points
};

typedef enum shape_of { SCALAR, ARRAY, RECORD, POINTER } shape_of;

typedef struct variable {
    char name[12];
    shape_of shape;
    uint8_t type;  ///< of a scalar, of an array's elements; of a RECORD its number
    uint8_t count; ///< of an array: a power of two
    bool is_fixed; ///< a loop's counter: read only
} variable;

typedef struct record {
    const char *vector;                                      ///< NULL, or it is CUDA's of that name
    uint8_t fields, type[MAKER_FIELDS], count[MAKER_FIELDS]; ///< count 0: a scalar
} record;

typedef struct function {
    uint8_t params, type[MAKER_PARAMS], result;
    bool takes_pointer;              ///< its first parameter is an int *
    bool takes_record, gives_record; ///< record 0: the first one, the result
} function;

/// What a block of statements must give back in the end.
typedef struct scope {
    unsigned vars;
    bool is_uniform, may_break;
} scope;

typedef enum kind { KERNEL, HANDLER, BLOCK } kind; ///< a `__global__` kernel, a `__ring__` or `__ring_block__` handler

typedef struct program {
    kind kind;
    bool has_block;    ///< of threads
    bool has_barriers; ///< then no thread returns early
    uint32_t block[3], grid[3];
    char name[16];
    slri_text text;
} program;

typedef struct maker {
    tape *t;
    slri_text *out;
    program *made;
    unsigned number; ///< in every name, so that many programs are one file
    int indent, budget;
    unsigned names, loops; ///< loops: how deep
    bool may_break, is_uniform;
    const function *in_function; ///< the one that is being made, or NULL
    variable var[MAKER_VARS];
    unsigned vars;
    record record[MAKER_RECORDS];
    unsigned records;
    function function[MAKER_FUNCTIONS];
    unsigned functions;
} maker;

/// Programs are made of loops that threads leave after different numbers of turns (make_loop.c).
extern bool programs_have_loops;

/// Makes the program of a tape. Its text is the caller's: slri_text_free.
/// A program made already, without doubles.
void make_floats(program *of);
void make_program(tape *t, unsigned number, kind kind, program *out);

// ---- make_expression.c: each prints one expression, in brackets where it needs them ---------------------------------

void make_integer(maker *m, int depth);
void make_real(maker *m, int depth);
void make_any(maker *m, int depth);
bool make_call(maker *m, bool is_real, int depth); ///< of a device function; false: there is none, nothing is printed

// ---- make_statement.c -----------------------------------------------------------------------------------------------

void make_statements(maker *m, unsigned most);
void make_line(maker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void make_begin(maker *m);                   ///< the indentation of a line
void make_assigned(maker *m, uint32_t type); ///< " += EXPRESSION", of a place of that type
void make_return(maker *m);                  ///< of the function that is being made

/// Statements from here to maker_close are within: all threads come there only if `is_uniform`.
scope maker_open(maker *m, bool is_uniform, bool may_break);
void maker_close(maker *m, scope before);

/// A variable of the next name; NULL where there are too many.
variable *maker_declare(maker *m, shape_of shape, uint32_t type);

// ---- make_loop.c ----------------------------------------------------------------------------------------------------

void make_loop(maker *m);

// ---- make_pointer.c: each is some statements, or none
// -----------------------------------------------------------------

void make_pointer_into(maker *m);
void make_pointer_loop(maker *m);
void make_rows(maker *m);
void make_table_of_records(maker *m);
void make_shared_pointer(maker *m, const variable *v);

// ---- types ----------------------------------------------------------------------------------------------------------

typedef struct type_of {
    const char *name;
    bool is_real, is_bool;
} type_of;
extern const type_of maker_types[];
enum { MAKER_TYPES = 12, MAKER_INTEGERS = 9 }; ///< those that are integers come first

/// Prints the name of record `which`, as a type; of its field.
void maker_put_record(maker *m, uint32_t which);
void maker_put_field(maker *m, const record *r, uint32_t field);

/// A variable that `fits`, or NULL where there is none.
const variable *maker_find(maker *m, shape_of shape, bool is_real);
uint32_t maker_pick(maker *m, uint32_t most);

#endif
