// SPDX-License-Identifier: Apache-2.0
// The same kernels three ways: compiled, interpreted, and (portable.cu) as plain C in this very file. Equal bits in
// replies, states, buffers and faults, where any NaN equals any other. To widen what is compared, write a handler in a
// .cu file.
#include "hal/cpu/library_test.h"
#include "run/interpreter.h"
#include "lang/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <slipring/status.h>
#include <string.h>

// ---- portable.cu as plain C -----------------------------------------------------------------------------------------

static unsigned char *host_reply;

static void slr_host_reply(const void *reply, size_t bytes)
{
    memcpy(host_reply, reply, bytes);
}

// A kernel may be written as its author likes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#include "tests/kernel/portable.cu"
#pragma GCC diagnostic pop

typedef void host_handler(struct state *, const struct in *, int *, const float *, int);

// clang-format lays this table out anew at each run.
// clang-format off
#define PORTABLE(X)                                                                                                    \
    X(promotions)                                                                                                      \
    X(compound_assignment)                                                                                             \
    X(logic)                                                                                                           \
    X(floats)                                                                                                          \
    X(integers_to_floats) X(structs) X(pointers) X(switches) X(loops) X(macros_and_typedefs) X(exact_math)             \
        X(evaluation) X(functions_convert_what_they_take_and_give) X(arrays_of_structs)
// clang-format on

static const struct {
    const char *name;
    host_handler *function;
} portable[] = {
#define PORTABLE_ROW(name) {#name, name},
    PORTABLE(PORTABLE_ROW)
#undef PORTABLE_ROW
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

// ---- messages -------------------------------------------------------------------------------------------------------

enum { MESSAGES = 400, DATA = 32, WEIGHTS = 16, MAX_REPLIES = 3 };

static uint64_t next_random(uint64_t *seed) // xorshift64, Marsaglia 2003
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// Half of them at the edges, half anywhere.
static uint64_t pick_integer(uint64_t *seed)
{
    static const uint64_t edges[] = {0,         1,          2,          UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN,
                                     INT32_MAX, 0x80000000, UINT32_MAX, 0x7fff,     0x8000,    0x7f,
                                     0x80,      0xff,       31,         32,         33,        63,
                                     64,        3};
    uint64_t random = next_random(seed);
    return random & 1 ? edges[(random >> 8) % COUNT(edges)] : next_random(seed) >> (random >> 8) % 60;
}

static double pick_real(uint64_t *seed)
{
    static const double edges[] = {0.0,      -0.0,      1.0,          -1.0,          0.5,          2.5,   NAN,
                                   INFINITY, -INFINITY, 1e-40,        -1e-310,       3.4e38,       1e300, 127.5,
                                   128,      -129,      2147483647.5, -2147483649.0, 4294967296.0, 1e19,  0.1};
    uint64_t random = next_random(seed);
    double part = (double)(int64_t)next_random(seed) * 0x1p-63;
    switch (random & 3) {
    case 0:
        return edges[(random >> 8) % COUNT(edges)];
    case 1:
        return part;
    case 2:
        return part * 100;
    default:
        return ldexp(part, (int)((random >> 8) % 200) - 100);
    }
}

static struct in pick_message(uint64_t *seed)
{
    struct in in;
    memset(&in, 0, sizeof in);
    in.a = (int)pick_integer(seed);
    in.b = (int)pick_integer(seed);
    in.u = (unsigned)pick_integer(seed);
    in.v = (unsigned)pick_integer(seed);
    in.l = (long long)pick_integer(seed);
    in.m = (long long)pick_integer(seed);
    in.x = pick_integer(seed);
    in.y = pick_integer(seed);
    in.f = (float)pick_real(seed);
    in.g = (float)pick_real(seed);
    in.d = pick_real(seed);
    in.e = pick_real(seed);
    in.c = (signed char)pick_integer(seed);
    in.k = (unsigned char)pick_integer(seed);
    in.s = (short)pick_integer(seed);
    in.t = (unsigned short)pick_integer(seed);
    in.flag = next_random(seed) & 1;
    return in;
}

// ---- one way to run a handler ---------------------------------------------------------------------------------------

struct way {
    slri_handler *handler; // NULL: plain C
    void *self;
    host_handler *host;
    struct state state;
    int data[DATA];
    float weights[WEIGHTS];
    struct out reply[4]; // a ring of 4
    struct slri_call call;
    uint32_t fault;
};

static void reset(struct way *way)
{
    memset(&way->state, 0, sizeof way->state);
    for (int i = 0; i < DATA; i++)
        way->data[i] = 7 * i - 50;
    for (int i = 0; i < WEIGHTS; i++)
        way->weights[i] = 0.3f * (float)i - 1;
}

static void handle(struct way *way, const struct in *message, uint64_t fuel)
{
    int count = DATA;
    struct slri_bound bound[] = {
        {way->data, sizeof way->data}, {way->weights, sizeof way->weights}, {&count, sizeof count}};
    memset(way->reply, 0, sizeof way->reply);
    way->call = (struct slri_call){.state = &way->state,
                                   .message = message,
                                   .bound = bound,
                                   .reply_base = (unsigned char *)way->reply,
                                   .reply_mask = 3,
                                   .reply_stride = sizeof *way->reply,
                                   .reply_bytes = sizeof *way->reply,
                                   .max_replies = MAX_REPLIES,
                                   .instance = 5,
                                   .fuel = fuel};
    if (way->handler != NULL) {
        way->fault = way->handler(way->self, &way->call);
        return;
    }
    host_reply = (unsigned char *)way->reply;
    way->host(&way->state, message, way->data, way->weights, count);
    way->call.replies = 1;
}

static bool same_f32(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static bool same_f64(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

// The name of the first part that differs, or NULL.
static const char *difference_of_out(const struct out *a, const struct out *b)
{
    static const char *const lanes[][LANES] = {
        {"i[0]", "i[1]", "i[2]", "i[3]", "i[4]", "i[5]", "i[6]", "i[7]"},
        {"u[0]", "u[1]", "u[2]", "u[3]", "u[4]", "u[5]", "u[6]", "u[7]"},
        {"l[0]", "l[1]", "l[2]", "l[3]", "l[4]", "l[5]", "l[6]", "l[7]"},
        {"f[0]", "f[1]", "f[2]", "f[3]", "f[4]", "f[5]", "f[6]", "f[7]"},
        {"d[0]", "d[1]", "d[2]", "d[3]", "d[4]", "d[5]", "d[6]", "d[7]"},
    };
    for (int i = 0; i < LANES; i++) {
        if (a->i[i] != b->i[i])
            return lanes[0][i];
        if (a->u[i] != b->u[i])
            return lanes[1][i];
        if (a->l[i] != b->l[i])
            return lanes[2][i];
        if (!same_f32(a->f[i], b->f[i]))
            return lanes[3][i];
        if (!same_f64(a->d[i], b->d[i]))
            return lanes[4][i];
    }
    return NULL;
}

// After a fault the runtime resets the state and takes back the replies: only the fault and the buffers must agree.
static const char *difference(const struct way *a, const struct way *b)
{
    if (a->fault != b->fault)
        return "fault";
    if (memcmp(a->data, b->data, sizeof a->data) != 0)
        return "buffer";
    if (a->fault != SLRI_FAULT_NONE)
        return a->call.fault_line != b->call.fault_line   ? "line of the fault"
               : a->call.fault_file != b->call.fault_file ? "file of the fault"
                                                          : NULL;
    if (a->call.replies != b->call.replies)
        return "number of replies";
    for (uint32_t i = 0; i < a->call.replies; i++)
        if (difference_of_out(&a->reply[i], &b->reply[i]) != NULL)
            return difference_of_out(&a->reply[i], &b->reply[i]);
    if (a->state.calls != b->state.calls || memcmp(a->state.history, b->state.history, sizeof a->state.history) != 0)
        return "state";
    return difference_of_out(&a->state.last, &b->state.last);
}

static uint32_t ended[SLRI_FAULT_STATUS]; // messages by how they ended, for a test to see that it has tested something

static void compare(const char *entry, struct way *a, struct way *b, uint64_t fuel, int messages)
{
    uint64_t seed = 1;
    reset(a);
    reset(b);
    for (int i = 0; i < messages; i++) {
        struct in message = pick_message(&seed);
        handle(a, &message, fuel);
        handle(b, &message, fuel);
        const char *part = difference(a, b);
        if (part != NULL)
            fail_msg("%s, message %d, fuel %llu: %s differs (faults %u and %u, lines %u and %u)", entry, i,
                     (unsigned long long)fuel, part, a->fault, b->fault, a->call.fault_line, b->call.fault_line);
        ended[a->fault]++;
        if (a->fault != SLRI_FAULT_NONE) {
            reset(a);
            reset(b);
        }
    }
}

// ---- the files ------------------------------------------------------------------------------------------------------

struct fixture {
    struct slri_module *module;
    struct slri_interp *interp;
    struct slri_cpu_library *library;
};

static void require(slr_status status)
{
    if (status != SLR_OK)
        fail_msg("%s", slr_error_message());
}

static void open_fixture(struct fixture *fixture, const char *path)
{
    const struct slri_source source = {.path = path};
    require(slri_kernel_compile(&source, &fixture->module));
    const char *wrong = slri_module_verify(fixture->module);
    if (wrong != NULL)
        fail_msg("%s", wrong);
    require(slri_interp_create(fixture->module, &fixture->interp));
    require(slri_cpu_compile(fixture->module, &fixture->library));
}

static void close_fixture(struct fixture *fixture)
{
    slri_cpu_library_close(fixture->library);
    slri_interp_destroy(fixture->interp);
    slri_module_destroy(fixture->module);
}

static struct way compiled_way(const struct fixture *fixture, const char *entry)
{
    struct way way = {0};
    require(slri_cpu_library_symbol(fixture->library, entry, &way.handler));
    return way;
}

static struct way interpreted_way(const struct fixture *fixture, uint32_t entry)
{
    struct slri_interp_thread *thread;
    require(slri_interp_thread_create(fixture->interp, entry, &thread));
    return (struct way){.handler = slri_interp_handler, .self = thread};
}

static host_handler *portable_handler(const char *name)
{
    for (size_t i = 0; i < COUNT(portable); i++)
        if (strcmp(portable[i].name, name) == 0)
            return portable[i].function;
    fail_msg("%s of portable.cu is not in the table of this test", name);
    return NULL;
}

// Every entry, with plenty of fuel and then with so little that some messages run out of it.
static void compare_engines(const struct fixture *fixture)
{
    for (uint32_t i = 0; i < fixture->module->entries; i++) {
        const char *name = fixture->module->entry[i].name;
        struct way compiled = compiled_way(fixture, name), interpreted = interpreted_way(fixture, i);
        compare(name, &compiled, &interpreted, 1u << 20, MESSAGES);
        for (uint64_t fuel = 0; fuel < 70; fuel++)
            compare(name, &compiled, &interpreted, fuel * fuel, 20);
        slri_interp_thread_destroy(interpreted.self);
    }
}

static void compiled_and_interpreted_agree_where_c_is_defined(void **unused)
{
    struct fixture fixture = {0};
    (void)unused;
    open_fixture(&fixture, SLIPRING_SOURCE_DIR "/tests/kernel/portable.cu");
    compare_engines(&fixture);
    close_fixture(&fixture);
}

static void compiled_and_interpreted_agree_where_the_kernel_language_defines_more(void **unused)
{
    struct fixture fixture = {0};
    (void)unused;
    open_fixture(&fixture, SLIPRING_SOURCE_DIR "/tests/kernel/defined.cu");
    memset(ended, 0, sizeof ended);
    compare_engines(&fixture);
    for (uint32_t i = 0; i < COUNT(ended); i++)
        assert_in_range(ended[i], 20, UINT32_MAX);
    close_fixture(&fixture);
}

static void interpreted_kernels_do_what_c_does(void **unused)
{
    struct fixture fixture = {0};
    (void)unused;
    open_fixture(&fixture, SLIPRING_SOURCE_DIR "/tests/kernel/portable.cu");
    assert_int_equal(fixture.module->entries, COUNT(portable));
    for (uint32_t i = 0; i < fixture.module->entries; i++) {
        const char *name = fixture.module->entry[i].name;
        struct way host = {.host = portable_handler(name)}, interpreted = interpreted_way(&fixture, i);
        compare(name, &host, &interpreted, 1u << 20, MESSAGES);
        slri_interp_thread_destroy(interpreted.self);
    }
    close_fixture(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_and_interpreted_agree_where_c_is_defined),
        cmocka_unit_test(compiled_and_interpreted_agree_where_the_kernel_language_defines_more),
        cmocka_unit_test(interpreted_kernels_do_what_c_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
