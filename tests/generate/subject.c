// SPDX-License-Identifier: Apache-2.0
// From a tape to emitted C, and both ways of running it.
#include "subject.h"
#include "device.h"
#include "metal.h"

#include "emit/c/emit_c.h"
#include "emit/c/kernel.h"
#include "emit/cuda/emit_cuda.h"
#include "run/batch_test.h"
#include "run/grid.h"
#include "lang/kernel.h"
#include "emit/cuda/same_ir_test.h"
#include "ir/pass/meet.h"
#include "ir/pass/words.h"
#include "tests/shim/image.h"
#include "tests/shim/lanes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slipring/status.h>

// Kernels end by themselves, those with --loops late.
enum { MESSAGES = 12, FUEL = 20000, KERNEL_FUEL = 50 * FUEL };

static void refuse(subject *s, slr_status status)
{
    bool says = status != SLR_OK && slr_error_message()[0] != '\0';
    bool fits = status == SLR_UNSUPPORTED || (status == SLR_COMPILE && strstr(slr_error_message(), "SLR-K"));
    s->verdict = says && fits ? REFUSED : DIFFERS;
    snprintf(s->why, sizeof s->why, "%s%s: %s", s->verdict == REFUSED ? "" : "refused without a diagnostic, ",
             slr_status_name(status), slr_error_message());
}

static void fail(subject *s, const char *why)
{
    s->verdict = DIFFERS;
    snprintf(s->why, sizeof s->why, "%s", why);
}

// What is emitted as CUDA C is the same program when it is read again.
static void compare_emitted(subject *s, const struct slri_module *module)
{
    struct slri_module *again = NULL;
    slri_text text = SLRI_TEXT_INIT;
    slr_status status = slri_emit_cuda(module, NULL, &text);
    const struct slri_source source = {.path = "emitted.cu", .text = slri_text_view(&text), .is_emitted = true};
    if (status == SLR_OK)
        status = slri_kernel_compile(&source, &again);
    char *difference = again ? same_difference(module, again) : NULL;
    if (status != SLR_OK)
        snprintf(s->why, sizeof s->why, "as CUDA C: %.400s", slr_error_message());
    else if (difference)
        snprintf(s->why, sizeof s->why, "as CUDA C it is another: %.900s", difference);
    if (status != SLR_OK || difference)
        s->verdict = DIFFERS;
    free(difference);
    slri_module_destroy(again);
    slri_text_free(&text);
}

static slr_status emit(const struct slri_module *module, const subject *s, kind kind, slri_text *out)
{
    return kind == KERNEL ? slri_emit_c_kernel(module, module->entry, s->program.block, out) : slri_emit_c(module, out);
}

// Of every fourth program the compiled one has no jumps in its short branches.
static slr_status emit_compiled(subject *s, const struct slri_source *source, kind kind)
{
    static const char *const define = SLRI_SELECT_MACRO "=1";
    struct slri_source changed = *source;
    struct slri_module *module = NULL;
    changed.define = &define;
    changed.defines = 1;
    if (s->number % 4 != 1)
        return emit(s->module, s, kind, &s->emitted);
    slr_status status = slri_kernel_compile(&changed, &module);
    const char *wrong = module ? slri_module_verify(module) : NULL;
    if (wrong)
        fail(s, wrong);
    else if (module)
        compare_emitted(s, module);
    if (module && !wrong)
        status = emit(module, s, kind, &s->emitted);
    slri_module_destroy(module);
    return status;
}

void subject_make(subject *s, kind kind)
{
    make_program(&s->tape, s->number, kind, &s->program);
    if (subjects_are_floats)
        make_floats(&s->program);
    s->verdict = 0;
    s->module = NULL;
    s->emitted = (slri_text)SLRI_TEXT_INIT;
    const struct slri_source source = {.path = s->program.name, .text = slri_text_view(&s->program.text)};
    slr_status status = slri_kernel_compile(&source, &s->module);
    if (status == SLR_OK) {
        const char *wrong = slri_module_verify(s->module);
        if (wrong || s->module->entries != 1) {
            fail(s, wrong ? wrong : "the module has not one entry");
            return;
        }
        status = emit_compiled(s, &source, kind);
    }
    if (status != SLR_OK)
        refuse(s, status);
    if (s->module)
        compare_emitted(s, s->module);
}

void subject_free(subject *s)
{
    shim_image_unload(s->image);
    s->image = NULL;
    slri_module_destroy(s->module);
    slri_text_free(&s->emitted);
    slri_text_free(&s->program.text);
    s->module = NULL;
}

// ---- as CUDA C ------------------------------------------------------------------------------------------------------

// What a kernel is given that its source does not name (kernel/emit_cuda.h).
#define HIDDEN 3

static struct shim_image *load_text_of(subject *s, const struct slri_module *module, const char *function)
{
    slri_text text = SLRI_TEXT_INIT;
    struct shim_image *image = NULL;
    slr_status status = slri_emit_cuda(module, NULL, &text);
    struct shim_text compiled = {.text = slri_text_view(&text), .kernel = &function, .kernels = 1};
    if (status == SLR_OK)
        image = shim_image_load(&compiled, 1);
    slri_text_free(&text);
    if (!image)
        fail(s, "as CUDA C it is not compiled");
    return image;
}

static bool load_text(subject *s, const char *function)
{
    s->image = load_text_of(s, s->module, function);
    return s->image != NULL;
}

static enum shim_end run_text(const struct shim_image *image, const char *function, const uint32_t grid[3],
                              const uint32_t block[3], void **parameter)
{
    const struct shim_launch launch = {.image = image,
                                       .kernel = shim_image_kernel(image, function),
                                       .parameter = parameter,
                                       .grid = {grid[0], grid[1], grid[2]},
                                       .block = {block[0], block[1], block[2]}};
    return shim_run(&launch);
}

// ---- what programs are given ----------------------------------------------------------------------------------------

static uint64_t draw(uint64_t *seed) // splitmix64
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// A third small, a third at the edges, a third anywhere.
static uint64_t integer(uint64_t *seed)
{
    static const uint64_t edges[] = {
        0,      1,      UINT64_MAX, INT32_MAX, 0x80000000, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MIN, 0x7f, 0x80, 0xff,
        0x7fff, 0x8000, 31,         32,        33,         63,         64};
    uint64_t random = draw(seed);
    return random % 3 == 0   ? (random >> 8) % 20
           : random % 3 == 1 ? edges[(random >> 8) % (sizeof edges / sizeof *edges)]
                             : draw(seed);
}

bool subjects_are_normal, subjects_are_floats, subjects_are_metal;

static double real(uint64_t *seed)
{
    enum { SUBNORMAL_AT = 9 };
    static const double edges[] = {0.0,   -0.0, 1.0,   -1.0,  0.5,  2.5,          NAN,  INFINITY, -INFINITY,
                                   1e-40, 3e38, 1e300, 127.5, -129, 2147483647.5, 1e19, 0.1};
    uint64_t random = draw(seed);
    double part = (double)(int64_t)draw(seed) * 0x1p-63;
    size_t edge = (random >> 8) % (sizeof edges / sizeof *edges);
    edge += edge == SUBNORMAL_AT && subjects_are_normal;
    return random % 3 == 0 ? edges[edge] : random % 3 == 1 ? part * 100 : ldexp(part, (int)((random >> 8) % 80) - 40);
}

static bool same_real(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

enum { ARGUMENTS = 13, SLOTS = GIVEN_THREADS * GIVEN_BLOCKS * GIVEN_SLOTS };

typedef struct memory {
    int a[GIVEN_INTS], count[GIVEN_COUNTS], n;
    long long l[GIVEN_INTS], out[SLOTS];
    float x[GIVEN_INTS];
    double y[GIVEN_INTS], real[SLOTS];
    int walk[GIVEN_WALK], k;
    long long own[SLOTS];
    float g;
    struct { // as make_given writes it
        int f0;
        float f1;
        long long f2;
        short f3[4];
    } given;
} memory;

static void fill_walk(int walk[GIVEN_WALK])
{
    for (int i = 0; i < GIVEN_WALK; i++)
        walk[i] = i * 7 - 1000;
}

static void fill(memory *to, uint64_t seed)
{
    memset(to, 0, sizeof *to);
    for (int i = 0; i < GIVEN_INTS; i++) {
        to->a[i] = (int)integer(&seed);
        to->l[i] = (long long)integer(&seed);
        to->x[i] = (float)real(&seed);
        to->y[i] = real(&seed);
        if (subjects_are_floats)
            ((float *)to->y)[i] = (float)to->y[i];
    }
    for (int i = 0; i < GIVEN_COUNTS; i++)
        to->count[i] = i * 3;
    to->n = (int)(draw(&seed) % 10);
    fill_walk(to->walk);
    to->k = (int)integer(&seed);
    to->g = (float)real(&seed);
    to->given.f0 = (int)integer(&seed);
    to->given.f1 = (float)real(&seed);
    to->given.f2 = (long long)integer(&seed);
    for (int i = 0; i < 4; i++)
        to->given.f3[i] = (short)integer(&seed);
}

static void bind(memory *m, struct slri_bound bound[ARGUMENTS])
{
    bound[0] = (struct slri_bound){m->a, sizeof m->a};
    bound[1] = (struct slri_bound){m->l, sizeof m->l};
    bound[2] = (struct slri_bound){m->x, sizeof m->x};
    bound[3] = (struct slri_bound){m->y, sizeof m->y};
    bound[4] = (struct slri_bound){m->out, sizeof m->out};
    bound[5] = (struct slri_bound){m->real, sizeof m->real};
    bound[6] = (struct slri_bound){m->count, sizeof m->count};
    bound[7] = (struct slri_bound){&m->n, sizeof m->n};
    bound[8] = (struct slri_bound){m->walk, sizeof m->walk};
    bound[9] = (struct slri_bound){m->own, sizeof m->own};
    bound[10] = (struct slri_bound){&m->k, sizeof m->k};
    bound[11] = (struct slri_bound){&m->g, sizeof m->g};
    bound[12] = (struct slri_bound){&m->given, sizeof m->given};
}

// As floats, two are where a double was.
static bool same_result(const memory *a, const memory *b, int i)
{
    if (subjects_are_floats)
        return same_real(((const float *)a->real)[i], ((const float *)b->real)[i]);
    return same_real(a->real[i], b->real[i]);
}

static bool compare_memory(subject *s, const memory *compiled, const memory *interpreted)
{
    for (int i = 0; i < SLOTS; i++) {
        if (compiled->own[i] != interpreted->own[i]) {
            s->verdict = DIFFERS;
            snprintf(s->why, sizeof s->why, "own[%d] is %lld compiled, %lld interpreted", i, compiled->own[i],
                     interpreted->own[i]);
            return false;
        }
        if (compiled->out[i] == interpreted->out[i] && same_result(compiled, interpreted, i))
            continue;
        s->verdict = DIFFERS;
        snprintf(s->why, sizeof s->why,
                 "thread %d, slot %d: out %lld compiled, %lld interpreted; real %.17g compiled, %.17g interpreted",
                 i / GIVEN_SLOTS, i % GIVEN_SLOTS, compiled->out[i], interpreted->out[i], compiled->real[i],
                 interpreted->real[i]);
        return false;
    }
    for (int i = 0; i < GIVEN_COUNTS; i++)
        if (compiled->count[i] != interpreted->count[i]) {
            s->verdict = DIFFERS;
            snprintf(s->why, sizeof s->why, "count[%d] is %d compiled, %d interpreted", i, compiled->count[i],
                     interpreted->count[i]);
            return false;
        }
    return true;
}

static bool run_kernel_text(subject *s, const struct slri_bound bound[ARGUMENTS])
{
    const struct slri_entry *entry = s->module->entry;
    void *parameter[ARGUMENTS + HIDDEN], *nothing = NULL;
    uint64_t faulted = 0, *told = &faulted;
    for (uint32_t i = 0; i < ARGUMENTS; i++)
        parameter[i] = entry->binding[i].is_buffer ? (void *)&bound[i].data : bound[i].data;
    parameter[ARGUMENTS] = parameter[ARGUMENTS + 1] = &nothing;
    parameter[ARGUMENTS + 2] = &told;
    if (run_text(s->image, entry->name, s->program.grid, s->program.block, parameter) != SHIM_DONE || faulted != 0)
        fail(s, "its CUDA C does not end as it should");
    return s->verdict == 0;
}

// A turn of the bit-by-bit division takes fuel; so does a store of a byte that another thread came before.
#define WORDS_FUEL ((uint64_t)KERNEL_FUEL * 200)

// Of every other program the threads also meet: whatever they wait for, all of a block come there. Of every other pair,
// all widths stay, as for Vulkan.
static slr_status words_of(const subject *s, const struct slri_module *module, struct slri_module **out)
{
    const struct slri_words_options options = {.doubles = true, .all_widths = s->number / 2 % 2};
    slr_status status = slri_words_kernel(module, module->entry, &options, out);
    return status == SLR_OK && s->number % 2 ? slri_meet_kernel(*out, "this test") : status;
}

static bool run_kernel_words(subject *s, const struct slri_bound bound[ARGUMENTS])
{
    struct slri_module *module = NULL;
    struct slri_interp *interp = NULL;
    struct slri_grid grid = {.arg = bound, .args = ARGUMENTS, .fuel = WORDS_FUEL};
    struct slri_grid_end end = {0};
    memcpy(grid.grid, s->program.grid, sizeof grid.grid);
    memcpy(grid.block, s->program.block, sizeof grid.block);
    if (words_of(s, s->module, &module) != SLR_OK || slri_interp_create(module, &interp) != SLR_OK ||
        slri_interpret_grid(interp, &grid, &end) != SLR_OK)
        fail(s, slr_error_message());
    else if (end.fault != 0)
        snprintf(s->why, sizeof s->why, "its words fault: %u at line %u", end.fault, end.at.where.line);
    slri_interp_destroy(interp);
    slri_module_destroy(module);
    if (end.fault != 0)
        s->verdict = DIFFERS;
    return s->verdict == 0;
}

static bool run_kernel_there(subject *s, const struct slri_bound bound[ARGUMENTS])
{
    slr_status status = device_run(s, bound, ARGUMENTS);
    if (status == SLR_UNSUPPORTED)
        refuse(s, status);
    else if (status != SLR_OK)
        fail(s, slr_error_message());
    return s->verdict == 0;
}

static bool run_kernel_metal(subject *s, const struct slri_bound bound[ARGUMENTS])
{
    metal_kernel kernel;
    slr_status status = metal_load(s->module, &kernel);
    if (status == SLR_UNSUPPORTED)
        refuse(s, status);
    else if (status != SLR_OK)
        fail(s, slr_error_message());
    else if (!metal_run(&kernel, s->program.grid, s->program.block, bound))
        fail(s, "its Metal text does not end as it should");
    metal_unload(&kernel);
    return s->verdict == 0;
}

static bool run_kernel_once(subject *s, slri_kernel_blocks *blocks, const struct slri_interp *interp, uint64_t seed)
{
    static memory compiled, interpreted;
    struct slri_bound bound[ARGUMENTS];
    const uint32_t *g = s->program.grid;
    fill(&compiled, seed);
    fill(&interpreted, seed);
    bind(&compiled, bound);
    struct slri_launch launch = {.bound = bound, .grid = {g[0], g[1], g[2]}};
    if (blocks)
        blocks(&launch, 0, (uint64_t)g[0] * g[1] * g[2]);
    else if (device_is_used()     ? !run_kernel_there(s, bound)
             : subjects_are_metal ? !run_kernel_metal(s, bound)
             : s->as_words        ? !run_kernel_words(s, bound)
                                  : !run_kernel_text(s, bound))
        return false;
    bind(&interpreted, bound);
    struct slri_grid grid = {.grid = {g[0], g[1], g[2]}, .arg = bound, .args = ARGUMENTS, .fuel = KERNEL_FUEL};
    struct slri_grid_end end;
    memcpy(grid.block, s->program.block, sizeof grid.block);
    if (slri_interpret_grid(interp, &grid, &end) != SLR_OK)
        fail(s, slr_error_message());
    else if (end.fault != launch.fault || end.fault) {
        s->verdict = DIFFERS;
        snprintf(s->why, sizeof s->why, "faults: %u at line %u compiled, %u at line %u interpreted", launch.fault,
                 launch.fault_line, end.fault, end.at.where.line);
    } else
        return compare_memory(s, &compiled, &interpreted);
    return false;
}

static void run_kernel(subject *s, slri_function found, const struct slri_interp *interp)
{
    for (uint64_t i = 1; i <= 2; i++)
        if (!run_kernel_once(s, (slri_kernel_blocks *)found, interp, s->number * 10 + i))
            return;
    s->verdict = AGREES;
}

// ---- handlers -------------------------------------------------------------------------------------------------------

// As make_handler writes them.
struct message {
    int a, b;
    unsigned u, v;
    long long l, m;
    unsigned long long x, y;
    float f, g;
    double d, e;
    signed char c;
    unsigned char k;
    short s;
    unsigned short t;
    bool flag;
};

typedef struct way {
    slri_handler *handler;
    void *self;
    struct state {
        long long keep[4];
        double real[4];
        int count, pad;
    } state;
    struct reply {
        long long out[GIVEN_SLOTS];
        double real[GIVEN_SLOTS];
    } reply[2];
    int data[GIVEN_DATA];
    float weights[16];
    int walk[GIVEN_WALK];
    long long own[GIVEN_THREADS * GIVEN_SLOTS];
    long long out[GIVEN_THREADS * GIVEN_SLOTS]; // of a block's threads
    double real[GIVEN_THREADS * GIVEN_SLOTS];
    int shared_count[GIVEN_COUNTS];
    struct slri_call call;
    uint32_t fault;
} way;

static struct message make_message(uint64_t *seed)
{
    struct message in;
    memset(&in, 0, sizeof in);
    in.a = (int)integer(seed), in.b = (int)integer(seed);
    in.u = (unsigned)integer(seed), in.v = (unsigned)integer(seed);
    in.l = (long long)integer(seed), in.m = (long long)integer(seed);
    in.x = integer(seed), in.y = integer(seed);
    in.f = (float)real(seed), in.g = (float)real(seed);
    in.d = real(seed), in.e = real(seed);
    in.c = (signed char)integer(seed), in.k = (unsigned char)integer(seed);
    in.s = (short)integer(seed), in.t = (unsigned short)integer(seed);
    in.flag = draw(seed) & 1;
    return in;
}

static void reset(way *w)
{
    memset(&w->state, 0, sizeof w->state);
    memset(w->out, 0, sizeof w->out);
    memset(w->real, 0, sizeof w->real);
    memset(w->own, 0, sizeof w->own);
    fill_walk(w->walk);
    for (int i = 0; i < GIVEN_COUNTS; i++)
        w->shared_count[i] = i * 3;
    for (int i = 0; i < GIVEN_DATA; i++)
        w->data[i] = 7 * i - 50;
    for (int i = 0; i < 16; i++)
        w->weights[i] = 0.3f * (float)i - 1;
}

// What follows differs: a block's handler has buffers for its threads.
static void bind_handler(way *w, bool is_block, struct slri_bound bound[ARGUMENTS], int *n, int *k, float *g)
{
    struct slri_bound *to = bound;
    *to++ = (struct slri_bound){w->data, sizeof w->data};
    *to++ = (struct slri_bound){w->weights, sizeof w->weights};
    *to++ = (struct slri_bound){n, sizeof *n};
    if (is_block) {
        *to++ = (struct slri_bound){w->out, sizeof w->out};
        *to++ = (struct slri_bound){w->real, sizeof w->real};
        *to++ = (struct slri_bound){w->shared_count, sizeof w->shared_count};
    }
    *to++ = (struct slri_bound){w->walk, sizeof w->walk};
    if (is_block)
        *to++ = (struct slri_bound){w->own, sizeof w->own};
    *to++ = (struct slri_bound){k, sizeof *k};
    *to = (struct slri_bound){g, sizeof *g};
}

static void handle(way *w, bool is_block, const struct message *message, uint64_t fuel)
{
    int n = GIVEN_DATA, k = message->b;
    float g = message->f;
    struct slri_bound bound[ARGUMENTS];
    bind_handler(w, is_block, bound, &n, &k, &g);
    memset(w->reply, 0, sizeof w->reply);
    w->call = (struct slri_call){.state = &w->state,
                                 .message = message,
                                 .bound = bound,
                                 .reply_base = (unsigned char *)w->reply,
                                 .reply_mask = 1,
                                 .reply_stride = sizeof *w->reply,
                                 .reply_bytes = sizeof *w->reply,
                                 .max_replies = 1,
                                 .instance = 5,
                                 .fuel = fuel};
    w->fault = w->handler(w->self, &w->call);
}

static bool same_slots(const long long *a, const long long *b, const double *x, const double *y, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i] || !same_real(x[i], y[i]))
            return false;
    return true;
}

// Of a block which thread's fault is seen first, and what the others did until then, depends on their order.
static const char *difference(const way *a, const way *b, bool is_block)
{
    if (is_block && a->fault && b->fault)
        return NULL;
    if (a->fault != b->fault)
        return "the fault";
    if (is_block && a->call.fuel != b->call.fuel)
        return "the fuel that is left";
    if (is_block && (!same_slots(a->out, b->out, a->real, b->real, GIVEN_THREADS * GIVEN_SLOTS) ||
                     memcmp(a->own, b->own, sizeof a->own) != 0 ||
                     memcmp(a->shared_count, b->shared_count, sizeof a->shared_count) != 0))
        return "what a thread left";
    if (memcmp(a->data, b->data, sizeof a->data) != 0)
        return "the buffer";
    if (a->fault != SLRI_FAULT_NONE) // its replies and its state go nowhere
        return a->call.fault_line != b->call.fault_line ? "the line of the fault" : NULL;
    if (a->call.replies != b->call.replies ||
        !same_slots(a->reply->out, b->reply->out, a->reply->real, b->reply->real, GIVEN_SLOTS))
        return "the reply";
    return same_slots(a->state.keep, b->state.keep, a->state.real, b->state.real, 4) && a->state.count == b->state.count
               ? NULL
               : "the state";
}

// Called as abi/handler.h says: by a thread, or by all of a block.
static uint32_t handle_text(void *self, struct slri_call *call)
{
    subject *s = self;
    char function[64];
    uint32_t result = UINT32_MAX;
    void *parameter[] = {&call, &result};
    const uint32_t one[] = {1, 1, 1}, block[] = {s->program.kind == BLOCK ? s->module->entry->max_threads : 1, 1, 1};
    snprintf(function, sizeof function, SLRI_ENTRY_SYMBOL_PREFIX "%s", s->module->entry->name);
    if (run_text(s->image, function, one, block, parameter) != SHIM_DONE)
        return UINT32_MAX;
    return result;
}

// On CUDA the threads of a block have parts of the fuel, and what faults runs on.
static bool is_another_matter(way *text, const way *interpreted, bool is_block)
{
    text->call.fuel = interpreted->call.fuel;
    return is_block ? text->fault == SLRI_FAULT_FUEL || interpreted->fault == SLRI_FAULT_FUEL
                    : text->fault != 0 && text->fault == interpreted->fault;
}

static void tell_difference(subject *s, int message, const char *part, const way *a, const way *b)
{
    s->verdict = DIFFERS;
    snprintf(s->why, sizeof s->why, "message %d: %s differs (faults %u and %u, lines %u and %u)", message, part,
             a->fault, b->fault, a->call.fault_line, b->call.fault_line);
}

// Whether both do the same with one message; what a fault leaves is forgotten.
static void run_lowered_once(subject *s, int number, way *lowered, way *interpreted, uint64_t fuel)
{
    uint64_t seed = s->number + 1 + (uint64_t)number;
    struct message message = make_message(&seed);
    const bool is_block = s->program.kind == BLOCK;
    handle(lowered, is_block, &message, fuel);
    handle(interpreted, is_block, &message, fuel);
    lowered->call.fuel = interpreted->call.fuel;
    const bool is_fuel = is_block && (lowered->fault == SLRI_FAULT_FUEL || interpreted->fault == SLRI_FAULT_FUEL);
    const char *part = is_fuel ? NULL : difference(lowered, interpreted, is_block);
    if (part)
        tell_difference(s, number, part, lowered, interpreted);
    if (interpreted->fault == SLRI_FAULT_NONE && !is_fuel)
        return;
    reset(lowered);
    reset(interpreted);
}

struct lowered_text {
    struct shim_image *image;
    const struct slri_entry *kernel;
};

static bool run_lowered_text(void *user, const struct slri_grid *grid)
{
    const struct lowered_text *text = user;
    void *parameter[SLRI_BATCH_BUFFERS + ARGUMENTS + HIDDEN], *nothing = NULL;
    uint64_t faulted = 0, *told = &faulted; // a division that the pass knows to be safe may take it
    for (uint32_t i = 0; i < grid->args; i++)
        parameter[i] = text->kernel->binding[i].is_buffer ? (void *)&grid->arg[i].data : grid->arg[i].data;
    parameter[grid->args] = parameter[grid->args + 1] = &nothing;
    parameter[grid->args + 2] = &told;
    return run_text(text->image, text->kernel->name, grid->grid, grid->block, parameter) == SHIM_DONE && faulted == 0;
}

struct lowered_words {
    struct slri_module *module;
    struct slri_interp *interp;
};

static bool run_lowered_words(void *user, const struct slri_grid *grid)
{
    const struct lowered_words *words = user;
    struct slri_grid own = *grid;
    struct slri_grid_end end;
    own.fuel = WORDS_FUEL;
    return slri_interpret_grid(words->interp, &own, &end) == SLR_OK && end.fault == 0;
}

static bool run_lowered_metal(void *user, const struct slri_grid *grid)
{
    return metal_run(user, grid->grid, grid->block, grid->arg);
}

static bool open_words(const subject *s, const struct batch *batch, struct lowered_words *out)
{
    return words_of(s, batch->module, &out->module) == SLR_OK &&
           slri_interp_create(out->module, &out->interp) == SLR_OK;
}

// A handler, and the kernel that is made of it for batches, interpreted, or as words, or as CUDA C: each message, then,
// where it has one thread, again with fuel for one back edge less than it took.
static void run_lowered(subject *s, struct slri_interp_thread *thread, bool as_text)
{
    static way lowered, interpreted;
    struct batch batch;
    if (batch_open(&batch, s->module, s->module->entry) != SLR_OK) {
        fail(s, slr_error_message());
        return;
    }
    struct lowered_text text = {.kernel = batch.module->entry};
    if (as_text) {
        text.image = load_text_of(s, batch.module, text.kernel->name);
        batch.run = run_lowered_text;
        batch.user = &text;
    }
    metal_kernel metal = {0};
    if (subjects_are_metal) {
        slr_status status = metal_load(batch.module, &metal);
        batch.run = run_lowered_metal;
        batch.user = &metal;
        if (status == SLR_UNSUPPORTED)
            refuse(s, status);
        else if (status != SLR_OK)
            fail(s, slr_error_message());
    }
    struct lowered_words words = {0};
    if (s->as_words) {
        batch.run = run_lowered_words;
        batch.user = &words;
        if (!open_words(s, &batch, &words))
            fail(s, slr_error_message());
    }
    lowered = (way){.handler = batch_handle, .self = &batch};
    interpreted = (way){.handler = slri_interp_handler, .self = thread};
    reset(&lowered);
    reset(&interpreted);
    for (int i = 0; i < MESSAGES && s->verdict == AGREES; i++) {
        run_lowered_once(s, i, &lowered, &interpreted, FUEL);
        uint64_t took = FUEL - interpreted.call.fuel;
        if (s->verdict == AGREES && took != 0 && s->program.kind == HANDLER)
            run_lowered_once(s, i, &lowered, &interpreted, took);
    }
    shim_image_unload(text.image);
    metal_unload(&metal);
    slri_interp_destroy(words.interp);
    slri_module_destroy(words.module);
    if (s->verdict == AGREES)
        compare_emitted(s, batch.module);
    batch_close(&batch);
}

static void run_handler(subject *s, slri_function found, const struct slri_interp *interp)
{
    static way compiled, interpreted;
    struct slri_interp_thread *thread = NULL;
    uint64_t seed = s->number + 1;
    if (device_is_used()) {
        s->verdict = REFUSED;
        snprintf(s->why, sizeof s->why, "a handler is no kernel, which a device runs");
        return;
    }
    if (slri_interp_thread_create(interp, 0, &thread) != SLR_OK) {
        fail(s, slr_error_message());
        return;
    }
    compiled = (way){.handler = found ? (slri_handler *)found : handle_text, .self = found ? NULL : s};
    interpreted = (way){.handler = slri_interp_handler, .self = thread};
    reset(&compiled);
    reset(&interpreted);
    s->verdict = AGREES;
    for (int i = 0; i < MESSAGES && s->verdict == AGREES && !s->as_words && !subjects_are_metal; i++) {
        struct message message = make_message(&seed);
        handle(&compiled, s->program.kind == BLOCK, &message, FUEL);
        handle(&interpreted, s->program.kind == BLOCK, &message, FUEL);
        if (!found && is_another_matter(&compiled, &interpreted, s->program.kind == BLOCK)) {
            reset(&compiled);
            reset(&interpreted);
            continue;
        }
        const char *part = difference(&compiled, &interpreted, s->program.kind == BLOCK);
        if (part)
            tell_difference(s, i, part, &compiled, &interpreted);
        if (compiled.fault != SLRI_FAULT_NONE) {
            reset(&compiled);
            reset(&interpreted);
        }
    }
    if (s->verdict == AGREES)
        run_lowered(s, thread, !found && !s->as_words && !subjects_are_metal);
    slri_interp_thread_destroy(thread);
}

void subject_run(subject *s, slri_dl *library)
{
    struct slri_interp *interp = NULL;
    slri_function found = NULL;
    char symbol[64], function[64];
    snprintf(symbol, sizeof symbol,
             s->program.kind == KERNEL ? SLRI_KERNEL_SYMBOL "_%u" : SLRI_ENTRY_SYMBOL_PREFIX "p%u", s->number);
    snprintf(function, sizeof function, "%s%s", s->program.kind == KERNEL ? "" : SLRI_ENTRY_SYMBOL_PREFIX,
             s->module->entry->name);
    if (!library && !s->as_words && !subjects_are_metal && !device_is_used() && !load_text(s, function))
        return;
    if ((library && slri_dl_function(library, symbol, &found) != SLR_OK) ||
        slri_interp_create(s->module, &interp) != SLR_OK)
        fail(s, slr_error_message());
    else if (s->program.kind == KERNEL)
        run_kernel(s, found, interp);
    else
        run_handler(s, found, interp);
    slri_interp_destroy(interp);
}
