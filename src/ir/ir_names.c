// SPDX-License-Identifier: Apache-2.0
#include "ir/ir_names.h"
#include "abi/handler.h"
#include "base/status.h"

#define NAME_AT(table, index) ((index) < sizeof(table) / sizeof *(table) && (table)[index] ? (table)[index] : "?")

const char *slri_op_name(enum slri_op op)
{
#define OP_NAME(name) #name,
    static const char *const names[] = {SLRI_OP_LIST(OP_NAME)};
#undef OP_NAME
    return NAME_AT(names, (unsigned)op);
}

const char *slri_kind_name(enum slri_kind kind)
{
#define KIND_NAME(name, bytes, spelling) #name,
    static const char *const names[] = {"VOID", SLRI_KIND_LIST(KIND_NAME) "STRUCT", "ARRAY", "POINTER"};
#undef KIND_NAME
    return NAME_AT(names, (unsigned)kind);
}

const char *slri_root_name(enum slri_root_kind kind)
{
    static const char *const names[] = {"none",  "state", "message", "binding", "const",
                                        "local", "param", "shared",  "global",  "dynamic"};
    return NAME_AT(names, (unsigned)kind);
}

const char *slri_rmw_name(uint64_t rmw)
{
    static const char *const names[] = {"add", "sub", "and",      "or",        "xor",
                                        "min", "max", "exchange", "increment", "decrement"};
    return NAME_AT(names, rmw);
}

const char *slri_order_name(unsigned order)
{
    static const char *const names[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    return NAME_AT(names, order);
}

const char *slri_scope_name(unsigned scope)
{
    static const char *const names[] = {"block", "device", "system"};
    return NAME_AT(names, scope);
}

const char *slri_builtin_name(uint64_t builtin)
{
#define BUILTIN_NAME(name, spelling) spelling,
    static const char *const names[] = {SLRI_BUILTIN_LIST(BUILTIN_NAME)};
#undef BUILTIN_NAME
    return NAME_AT(names, builtin);
}

const char *slri_barrier_name(uint64_t barrier)
{
    static const char *const names[] = {"sync", "count", "and", "or"};
    return NAME_AT(names, barrier);
}

const char *slri_fault_text(uint32_t fault)
{
    static const char *const texts[] = {
#define FAULT_TEXT(name, integer, text) [integer] = text,
        SLRI_FAULT_LIST(FAULT_TEXT)
#undef FAULT_TEXT
    };
    return NAME_AT(texts, fault);
}
