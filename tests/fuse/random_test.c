// SPDX-License-Identifier: Apache-2.0
// Random lists of up to 12 operations: the fused kernel on every device against kernels of one operation each, which
// are written here and run by the interpreter, bit for bit. `tests_fuse_random_test --thorough` plays 5,000 on each
// device, `tests_fuse_random_test 5000 0` as many on the first. `tests_fuse_random_test --packed 5000 1` compiles 50
// lists at a time: the text of each becomes a function of one kernel. On OpenCL these
// have no functions of maths.
#include "device/device_test.h"

#include <math.h>
#include <stdarg.h>

enum {
    COLUMNS = 7,
    ROWS = 29,
    N = COLUMNS * ROWS,
    MOST_OPS = 12,
    MOST_INPUTS = 40,
    BYTES = N * 8,
    GRID = 3,
    BLOCK = 64
};

static unsigned long lists[3] = {120, 8, 6}; // on the devices below
static const char *const specs[] = {"cpu?engine=interpreted", "cpu?engine=compiled", "opencl:0"};

// ---- numbers -------------------------------------------------------------------------------------------------------

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

static const struct {
    slr_scalar scalar;
    const char *name;
    uint32_t bytes;
    const char *suffix; // of functions of floats
} types[] = {{SLR_F32, "float", 4, "f"},   {SLR_F64, "double", 8, ""},    {SLR_I32, "int", 4, ""},
             {SLR_U32, "unsigned", 4, ""}, {SLR_I64, "long long", 8, ""}, {SLR_U64, "unsigned long long", 8, ""}};
enum { TYPES = 6, FLOATS = 2 };

static void fill_random(uint32_t type, void *to, uint32_t count)
{
    static const double special[] = {0.0,        -0.0, 1.0, -1.0, 1e-42, 3e38, (double)INFINITY, -(double)INFINITY,
                                     (double)NAN};
    for (uint32_t i = 0; i < count; ++i) {
        double value = ((double)random_below(2000001) - 1000000) / 1000 * (random_below(3) ? 1 : 0.001);
        if (random_below(12) == 0)
            value = special[random_below(sizeof special / sizeof *special)];
        if (type == 0)
            ((float *)to)[i] = (float)value;
        else if (type == 1)
            ((double *)to)[i] = value;
        else if (types[type].bytes == 4)
            ((uint32_t *)to)[i] = random_below(4) ? random_below(100) : random_below(0x7fffffff) * 2;
        else
            ((uint64_t *)to)[i] = (uint64_t)random_below(0x7fffffff) << random_below(33);
    }
}

// ---- a random list -------------------------------------------------------------------------------------------------

struct list {
    slr_fusion_step step[MOST_OPS];
    slr_fusion_input input[MOST_INPUTS];
    uint32_t input_type[MOST_INPUTS], step_type[MOST_OPS], steps, inputs;
    unsigned char data[MOST_INPUTS][BYTES]; // for each element, whatever the extent is
    unsigned char result[MOST_OPS][BYTES];  // as the interpreter has it, unfused
};

static bool is_end(slr_op op)
{
    return op >= SLR_OP_SUM && op <= SLR_OP_SOFTMAX;
}

static uint32_t operands_of(slr_op op)
{
    switch (op) {
    case SLR_OP_FMA:
    case SLR_OP_SCALE_BIAS:
    case SLR_OP_CLAMP:
    case SLR_OP_SELECT:
        return 3;
    case SLR_OP_NEGATE:
    case SLR_OP_ABS:
    case SLR_OP_SQRT:
    case SLR_OP_EXP:
    case SLR_OP_LOG:
    case SLR_OP_ACTIVATION:
    case SLR_OP_CAST:
        return 1;
    default:
        return is_end(op) ? 1 : 2;
    }
}

static bool needs_floats(slr_op op)
{
    return op == SLR_OP_SQRT || op == SLR_OP_EXP || op == SLR_OP_LOG || op == SLR_OP_ACTIVATION ||
           op == SLR_OP_SOFTMAX || op == SLR_OP_DIVIDE; // integers have no divisor that is never 0
}

static uint32_t add_input(struct list *list, uint32_t type)
{
    uint32_t number = list->inputs++, extent = SLR_EACH + (random_below(3) ? 0 : random_below(4));
    unsigned char few[BYTES], *to = list->data[number];
    uint32_t bytes = types[type].bytes;
    list->input[number] = (slr_fusion_input){types[type].scalar, (slr_extent)extent};
    list->input_type[number] = type;
    fill_random(type, few, N);
    for (uint32_t i = 0; i < N; ++i) {
        uint32_t from = extent == SLR_EACH          ? i
                        : extent == SLR_NUMBER      ? 0
                        : extent == SLR_EACH_COLUMN ? i % COLUMNS
                                                    : i / COLUMNS;
        memcpy(to + i * bytes, few + from * bytes, bytes);
    }
    return SLR_INPUT(number);
}

// A value of that type: a step's, an input's, or a new input's.
static uint32_t pick_value(struct list *list, uint32_t type)
{
    for (int tries = 0; tries < 6; ++tries) {
        uint32_t step = list->steps ? random_below(list->steps) : 0;
        uint32_t input = list->inputs ? random_below(list->inputs) : 0;
        if (list->steps && random_below(2) && list->step_type[step] == type)
            return SLR_STEP(step);
        if (list->inputs && random_below(3) == 0 && list->input_type[input] == type)
            return SLR_INPUT(input);
    }
    return add_input(list, type);
}

static uint32_t type_of_value(const struct list *list, uint32_t value)
{
    return value >= SLR_STEP(0) ? list->step_type[value - SLR_STEP(0)] : list->input_type[value - 1];
}

static bool has_no_functions; // of maths: none that OpenCL's devices compute in their own ways

static bool is_function(slr_op op)
{
    return op == SLR_OP_SQRT || op == SLR_OP_EXP || op == SLR_OP_LOG || op == SLR_OP_SOFTMAX;
}

static slr_op pick_op(bool may_end)
{
    for (;;) {
        slr_op op = (slr_op)(1 + random_below(SLR_OP_CAST));
        if (has_no_functions && is_function(op))
            continue;
        if (!is_end(op) || (may_end && random_below(2)))
            return op;
    }
}

static void add_step(struct list *list, bool may_end)
{
    slr_fusion_step step = {.op = pick_op(may_end), .keep = random_below(5) == 0};
    uint32_t type = list->steps && random_below(5) ? list->step_type[list->steps - 1] : random_below(TYPES);
    if (needs_floats(step.op) && type >= FLOATS)
        type = random_below(FLOATS);
    uint32_t result = type;
    if (step.op == SLR_OP_CAST)
        result = random_below(TYPES);
    if (step.op >= SLR_OP_EQUAL && step.op <= SLR_OP_GREATER_EQUAL)
        result = 2;
    for (uint32_t k = 0; k < operands_of(step.op); ++k)
        step.operand[k] = pick_value(list, step.op == SLR_OP_SELECT && k == 0 ? random_below(TYPES) : type);
    step.type = step.op == SLR_OP_CAST ? types[result].scalar : (slr_scalar)0;
    if (step.op == SLR_OP_ACTIVATION)
        step.activation = (slr_activation)(1 + random_below(SLR_LEAKY_RELU));
    if (has_no_functions && step.activation)
        step.activation = random_below(2) ? SLR_RELU : SLR_LEAKY_RELU;
    if (is_end(step.op) && step.op != SLR_OP_SOFTMAX)
        step.axis = (slr_axis)random_below(3);
    if (step.op == SLR_OP_SOFTMAX)
        step.axis = SLR_ALONG_ROW;
    list->step_type[list->steps] = result;
    list->step[list->steps++] = step;
}

static bool is_read(const struct list *list, uint32_t value)
{
    for (uint32_t i = 0; i < list->steps; ++i)
        for (uint32_t k = 0; k < operands_of(list->step[i].op); ++k)
            if (list->step[i].operand[k] == value)
                return true;
    return false;
}

static void make_list(struct list *list)
{
    uint32_t count = 1 + random_below(MOST_OPS);
    list->steps = list->inputs = 0;
    while (list->steps < count)
        add_step(list, list->steps + 1 == count);
    for (uint32_t i = 0; i + 1 < list->steps; ++i)
        if (!is_read(list, SLR_STEP(i)))
            list->step[i].keep = 1; // else the list is refused
}

// ---- one operation at a time ---------------------------------------------------------------------------------------

static const char *formula_of(const slr_fusion_step *step, uint32_t type, char room[160])
{
    static const char *const infix[] = {
        [SLR_OP_ADD] = "+",         [SLR_OP_SUBTRACT] = "-", [SLR_OP_MULTIPLY] = "*",       [SLR_OP_DIVIDE] = "/",
        [SLR_OP_SCALE] = "*",       [SLR_OP_EQUAL] = "==",   [SLR_OP_NOT_EQUAL] = "!=",     [SLR_OP_LESS] = "<",
        [SLR_OP_LESS_EQUAL] = "<=", [SLR_OP_GREATER] = ">",  [SLR_OP_GREATER_EQUAL] = ">=", [SLR_OP_CAST] = NULL};
    const char *f = types[type].suffix;
    bool floats = type < FLOATS;
    if (step->op < sizeof infix / sizeof *infix && infix[step->op]) {
        snprintf(room, 160, "a[i] %s b[i]", infix[step->op]);
        return room;
    }
    switch (step->op) {
    case SLR_OP_MINIMUM:
        snprintf(room, 160, floats ? "fmin%s(a[i], b[i])" : "min(a[i], b[i])%s", f);
        return room;
    case SLR_OP_MAXIMUM:
        snprintf(room, 160, floats ? "fmax%s(a[i], b[i])" : "max(a[i], b[i])%s", f);
        return room;
    case SLR_OP_FMA:
        snprintf(room, 160, floats ? "fma%s(a[i], b[i], c[i])" : "a[i] * b[i] + c[i]%s", f);
        return room;
    case SLR_OP_SCALE_BIAS:
        return "a[i] * b[i] + c[i]";
    case SLR_OP_CLAMP:
        snprintf(room, 160, floats ? "fmin%s(fmax%s(a[i], b[i]), c[i])" : "min(max(a[i], b[i]), c[i])%s%s", f, f);
        return room;
    case SLR_OP_NEGATE:
        return "-a[i]";
    case SLR_OP_ABS:
        snprintf(room, 160, floats ? "fabs%s(a[i])" : type == 3 || type == 5 ? "a[i]%s" : "abs(a[i])%s", f);
        return room;
    case SLR_OP_SQRT:
        snprintf(room, 160, "sqrt%s(a[i])", f);
        return room;
    case SLR_OP_EXP:
        snprintf(room, 160, "exp%s(a[i])", f);
        return room;
    case SLR_OP_LOG:
        snprintf(room, 160, "log%s(a[i])", f);
        return room;
    case SLR_OP_SELECT:
        return "a[i] != 0 ? b[i] : c[i]";
    case SLR_OP_CAST:
        return "a[i]";
    default:
        break;
    }
    switch (step->activation) {
    case SLR_RELU:
        return "a[i] < 0 ? 0 : a[i]";
    case SLR_SIGMOID:
        snprintf(room, 160, "1.0%s / (1.0%s + exp%s(-a[i]))", f, f, f);
        return room;
    case SLR_TANH:
        snprintf(room, 160, "tanh%s(a[i])", f);
        return room;
    case SLR_GELU:
        snprintf(room, 160, "0.5%s * a[i] * (1.0%s + erf%s(a[i] * 0.7071067811865476%s))", f, f, f, f);
        return room;
    case SLR_SILU:
        snprintf(room, 160, "a[i] / (1.0%s + exp%s(-a[i]))", f, f);
        return room;
    default:
        snprintf(room, 160, "a[i] < 0 ? a[i] / 100.0%s : a[i]", f);
        return room;
    }
}

static slr_buffer *buffer_of(slr_device *device, const void *bytes)
{
    slr_buffer *buffer;
    must(slr_buffer_create(device, BYTES, &buffer));
    must(slr_buffer_write(buffer, 0, bytes, BYTES));
    return buffer;
}

static const unsigned char *bytes_of_value(const struct list *list, uint32_t value)
{
    return value >= SLR_STEP(0) ? list->result[value - SLR_STEP(0)] : list->data[value - 1];
}

// How many results an end has.
static uint32_t results_of(const slr_fusion_step *step)
{
    if (!is_end(step->op) || step->op == SLR_OP_SOFTMAX)
        return N;
    return step->axis == SLR_ALL ? 1 : step->axis == SLR_ALONG_ROW ? ROWS : COLUMNS;
}

static slr_shape shape_for(const slr_fusion_step *last)
{
    return is_end(last->op) ? SLR_GRID(GRID, BLOCK, 0) : SLR_1D_BLOCKS(N, BLOCK);
}

// An end alone, over what the interpreter has: fusion must not change its order.
static void run_end(slr_device *device, slr_stream *stream, struct list *list, uint32_t index)
{
    slr_fusion_step step = list->step[index];
    const slr_fusion_input input = {types[type_of_value(list, step.operand[0])].scalar, SLR_EACH};
    slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
    static const unsigned char zero[BYTES];
    slr_buffer *in = buffer_of(device, bytes_of_value(list, step.operand[0])), *out = buffer_of(device, zero);
    slr_buffer *partial = buffer_of(device, zero), *ticket = buffer_of(device, zero);
    slr_kernel *kernel;
    step.operand[0] = SLR_INPUT(0);
    desc.steps = &step;
    desc.op_count = 1;
    desc.inputs = &input;
    desc.input_count = 1;
    must(slr_fuse(device, &desc, &kernel, NULL));
    if (step.axis == SLR_ALL)
        must(SLR_LAUNCH(stream, kernel, shape_for(&step), in, partial, ticket, out, N));
    else
        must(SLR_LAUNCH(stream, kernel, shape_for(&step), in, out, N, COLUMNS));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(out, 0, list->result[index], BYTES));
    slr_kernel_destroy(kernel);
    slr_buffer_destroy(in);
    slr_buffer_destroy(out);
    slr_buffer_destroy(partial);
    slr_buffer_destroy(ticket);
}

static void run_one(slr_device *device, slr_stream *stream, struct list *list, uint32_t index)
{
    const slr_fusion_step *step = &list->step[index];
    uint32_t operands = operands_of(step->op), type[3] = {0};
    char text[512], formula[160];
    slr_buffer *in[3], *out = buffer_of(device, list->data[0]);
    slr_program *program;
    slr_kernel *kernel;
    for (uint32_t k = 0; k < 3; ++k) {
        uint32_t value = step->operand[k < operands ? k : 0];
        type[k] = type_of_value(list, value);
        in[k] = buffer_of(device, bytes_of_value(list, value));
    }
    snprintf(text, sizeof text,
             "__global__ void one(const %s *a, const %s *b, const %s *c, %s *r, int n)\n"
             "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) r[i] = %s; }\n",
             types[type[0]].name, types[type[1]].name, types[type[2]].name, types[list->step_type[index]].name,
             formula_of(step, type[0], formula));
    must(slr_program_from_text(device, "one.cu", text, NULL, &program));
    must(slr_program_get_kernel(program, NULL, &kernel));
    must(SLR_LAUNCH(stream, kernel, SLR_1D_BLOCKS(N, BLOCK), in[0], in[1], in[2], out, N));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(out, 0, list->result[index], BYTES));
    for (uint32_t k = 0; k < 3; ++k)
        slr_buffer_destroy(in[k]);
    slr_buffer_destroy(out);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
}

// ---- fused ---------------------------------------------------------------------------------------------------------

struct fused {
    slr_arg arg[MOST_INPUTS + MOST_OPS + 6];
    slr_buffer *buffer[MOST_INPUTS + MOST_OPS + 6];
    uint32_t args, buffers;
};

static slr_buffer *give_buffer(struct fused *f, slr_device *device, const void *bytes)
{
    slr_buffer *buffer = buffer_of(device, bytes);
    f->buffer[f->buffers++] = buffer;
    f->arg[f->args++] = slr_arg_buffer(buffer);
    return buffer;
}

static void give_number(struct fused *f, uint32_t type, const void *bytes)
{
    float single;
    double twice;
    int32_t narrow;
    int64_t wide;
    memcpy(&single, bytes, 4);
    memcpy(&twice, bytes, 8);
    memcpy(&narrow, bytes, 4);
    memcpy(&wide, bytes, 8);
    f->arg[f->args++] = type == 0   ? slr_arg_float((double)single)
                        : type == 1 ? slr_arg_float(twice)
                        : type == 2 ? slr_arg_signed(narrow)
                        : type == 3 ? slr_arg_unsigned((uint32_t)narrow)
                        : type == 4 ? slr_arg_signed(wide)
                                    : slr_arg_unsigned((uint64_t)wide);
}

static void give_input(struct fused *f, slr_device *device, const struct list *list, uint32_t i)
{
    unsigned char few[BYTES] = {0};
    uint32_t bytes = types[list->input_type[i]].bytes;
    slr_extent extent = list->input[i].extent;
    if (extent == SLR_NUMBER) {
        give_number(f, list->input_type[i], list->data[i]);
        return;
    }
    for (uint32_t k = 0; k < (extent == SLR_EACH_COLUMN ? COLUMNS : extent == SLR_EACH_ROW ? ROWS : N); ++k)
        memcpy(few + k * bytes, list->data[i] + (extent == SLR_EACH_ROW ? k * COLUMNS : k) * bytes, bytes);
    give_buffer(f, device, few);
}

static bool has_columns(const struct list *list)
{
    bool has = list->step[list->steps - 1].axis != SLR_ALL;
    for (uint32_t i = 0; i < list->inputs; ++i)
        has = has || list->input[i].extent >= SLR_EACH_COLUMN;
    return has;
}

static bool is_nan(uint32_t type, const unsigned char *value)
{
    float single = 0;
    double whole = 0;
    if (type < FLOATS)
        memcpy(type == 0 ? (void *)&single : (void *)&whole, value, types[type].bytes);
    return isnan(single) || isnan(whole);
}

// Bit for bit. A NaN is a NaN: which of them arithmetic makes, fmaf among it, is the machine's (docs/contract/math.md).
// The step's results lie `at` elements on in the buffer.
static void compare_at(const struct list *list, uint32_t step, slr_buffer *buffer, uint32_t at, const char *source)
{
    unsigned char got[BYTES];
    const uint32_t type = list->step_type[step], bytes = types[type].bytes;
    const uint32_t all = results_of(&list->step[step]) * bytes;
    must(slr_buffer_read(buffer, (uint64_t)at * bytes, got, all));
    for (uint32_t i = 0; i < all; i += bytes) {
        const unsigned char *is = &got[i], *expected = &list->result[step][i];
        if (memcmp(is, expected, bytes) != 0 && !(is_nan(type, is) && is_nan(type, expected)))
            fail_msg("element %u of step %u ends with %02x, not %02x:\n%s", i / bytes, step, is[bytes - 1],
                     expected[bytes - 1], source);
    }
}

// What the checker invents for `columns` may be 0, which divides.
static void check_fused(slr_kernel *kernel, const struct list *list, const char *source)
{
    slr_check *check;
    slr_check_finding finding;
    if (has_columns(list))
        return;
    must(slr_kernel_check(kernel, NULL, &check));
    if (slr_check_get_finding(check, 0, &finding) == SLR_OK)
        fail_msg("line %u: %s\n%s", finding.at.line, finding.message, source);
    slr_check_destroy(check);
}

static void run_fused(slr_device *device, slr_stream *stream, const struct list *list, bool is_checked)
{
    slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
    const slr_fusion_step *last = &list->step[list->steps - 1];
    static const unsigned char zero[BYTES];
    struct fused f = {.args = 0};
    slr_kernel *kernel;
    slr_fusion_info info;
    slr_buffer *result[MOST_OPS] = {NULL};
    desc.steps = list->step;
    desc.op_count = list->steps;
    desc.inputs = list->input;
    desc.input_count = list->inputs;
    must(slr_fuse(device, &desc, &kernel, &info));
    if (is_checked)
        check_fused(kernel, list, info.source);
    for (uint32_t i = 0; i < list->inputs; ++i)
        give_input(&f, device, list, i);
    for (uint32_t i = 0; i + 1 < list->steps; ++i)
        if (list->step[i].keep)
            result[i] = give_buffer(&f, device, zero);
    if (is_end(last->op) && last->axis == SLR_ALL) {
        give_buffer(&f, device, zero);
        give_buffer(&f, device, zero);
    }
    result[list->steps - 1] = give_buffer(&f, device, zero);
    f.arg[f.args++] = slr_arg_signed(N);
    if (has_columns(list))
        f.arg[f.args++] = slr_arg_signed(COLUMNS);
    must(slr_launch(stream, kernel, shape_for(last), f.arg, f.args, NULL));
    must(slr_stream_finish(stream, LONG));
    for (uint32_t i = 0; i < list->steps; ++i)
        if (result[i])
            compare_at(list, i, result[i], 0, info.source);
    for (uint32_t i = 0; i < f.buffers; ++i)
        slr_buffer_destroy(f.buffer[i]);
    slr_kernel_destroy(kernel);
}

// OpenCL's functions are the device's own (docs/support.md): then the operations alone run there, too.
static bool has_functions(const struct list *list)
{
    bool has = false;
    for (uint32_t i = 0; i < list->steps; ++i) {
        slr_op op = list->step[i].op;
        bool is_plain = op == SLR_OP_ACTIVATION &&
                        (list->step[i].activation == SLR_RELU || list->step[i].activation == SLR_LEAKY_RELU);
        has = has || is_function(op) || (op == SLR_OP_ACTIVATION && !is_plain);
    }
    return has;
}

// ---- many lists in one kernel --------------------------------------------------------------------------------------

enum { PACK = 50, ROOM = PACK * 24 * N }; // elements of each type; lists share what is read

static unsigned long packed_lists = PACK;
static uint32_t packed_which; // the device, or 0: each

// Two buffers of each type: what is read, then what is written.
struct pack {
    struct list list[PACK];
    unsigned char data[2][TYPES][ROOM * 8];
    uint32_t used[2][TYPES];
    uint32_t result_at[PACK][MOST_OPS]; // of what a list keeps, and of its last step, in the second of its type
    char text[PACK * 8192];
    size_t length;
};

static void put_text(struct pack *p, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    p->length += (size_t)vsnprintf(p->text + p->length, sizeof p->text - p->length, format, values);
    va_end(values);
    assert_true(p->length < sizeof p->text);
}

// Where `count` elements lie: of what is read, a copy of `from`.
static uint32_t take_place(struct pack *p, int side, uint32_t type, const void *from, uint32_t count)
{
    uint32_t at = p->used[side][type];
    p->used[side][type] += count;
    assert_true(p->used[side][type] <= ROOM);
    if (from)
        memcpy(p->data[side][type] + (size_t)at * types[type].bytes, from, (size_t)count * types[type].bytes);
    return at;
}

// The fused kernel's text as a function.
static void put_function(struct pack *p, const char *source, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, " fused_%u(", number);
    const char *kernel = strstr(source, "__global__"), *rest = strstr(source, name);
    assert_true(kernel && rest && kernel < rest);
    put_text(p, "%.*s__device__ void%s\n", (int)(kernel - source), source, rest);
}

static void put_input(struct pack *p, const struct list *list, uint32_t i)
{
    unsigned char few[BYTES];
    uint32_t type = list->input_type[i], bytes = types[type].bytes;
    slr_extent extent = list->input[i].extent;
    uint32_t count = extent == SLR_NUMBER ? 1 : extent == SLR_EACH_COLUMN ? COLUMNS : extent == SLR_EACH_ROW ? ROWS : N;
    for (uint32_t k = 0; k < count; ++k)
        memcpy(few + k * bytes, list->data[i] + (extent == SLR_EACH_ROW ? k * COLUMNS : k) * bytes, bytes);
    uint32_t at = take_place(p, 0, type, few, count);
    put_text(p, extent == SLR_NUMBER ? "in%u[%u], " : "in%u + %u, ", type, at);
}

// Its call, with the parameters in the order of run_fused.
static void put_case(struct pack *p, uint32_t number)
{
    const struct list *list = &p->list[number];
    const slr_fusion_step *last = &list->step[list->steps - 1];
    const uint32_t type = list->step_type[list->steps - 1];
    put_text(p, "    case %u: fused_%u(", number, number);
    for (uint32_t i = 0; i < list->inputs; ++i)
        put_input(p, list, i);
    for (uint32_t i = 0; i + 1 < list->steps; ++i)
        if (list->step[i].keep) {
            p->result_at[number][i] = take_place(p, 1, list->step_type[i], NULL, N);
            put_text(p, "out%u + %u, ", list->step_type[i], p->result_at[number][i]);
        }
    if (is_end(last->op) && last->axis == SLR_ALL) {
        put_text(p, "out%u + %u, ", type, take_place(p, 1, type, NULL, N));
        put_text(p, "out3 + %u, ", take_place(p, 1, 3, NULL, N));
    }
    p->result_at[number][list->steps - 1] = take_place(p, 1, type, NULL, N);
    put_text(p, "out%u + %u, n", type, p->result_at[number][list->steps - 1]);
    put_text(p, has_columns(list) ? ", columns); break;\n" : "); break;\n");
}

static void write_pack(struct pack *p, slr_device *plain)
{
    p->length = 0;
    memset(p->used, 0, sizeof p->used);
    memset(p->data[1], 0, sizeof p->data[1]);
    for (uint32_t i = 0; i < PACK; ++i) {
        char name[32];
        slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
        slr_kernel *kernel;
        slr_fusion_info info;
        snprintf(name, sizeof name, "fused_%u", i);
        desc.name = name;
        desc.steps = p->list[i].step;
        desc.op_count = p->list[i].steps;
        desc.inputs = p->list[i].input;
        desc.input_count = p->list[i].inputs;
        must(slr_fuse(plain, &desc, &kernel, &info));
        put_function(p, info.source, i);
        slr_kernel_destroy(kernel);
    }
    put_text(p, "__global__ void all(int which, int n, int columns");
    for (uint32_t type = 0; type < TYPES; ++type)
        put_text(p, ", const %s *in%u, %s *out%u", types[type].name, type, types[type].name, type);
    put_text(p, ")\n{\n    switch (which) {\n");
    for (uint32_t i = 0; i < PACK; ++i)
        put_case(p, i);
    put_text(p, "    }\n}\n");
}

static void run_pack(struct pack *p, slr_device *device, slr_stream *stream)
{
    slr_buffer *buffer[2][TYPES];
    slr_arg arg[3 + 2 * TYPES] = {slr_arg_signed(0), slr_arg_signed(N), slr_arg_signed(COLUMNS)};
    slr_program *program;
    slr_kernel *kernel;
    must(slr_program_from_text(device, "packed.cu", p->text, NULL, &program));
    must(slr_program_get_kernel(program, "all", &kernel));
    for (uint32_t type = 0; type < TYPES; ++type)
        for (int side = 0; side < 2; ++side) {
            uint64_t bytes = (p->used[side][type] + UINT64_C(1)) * types[type].bytes;
            must(slr_buffer_create(device, bytes, &buffer[side][type]));
            must(slr_buffer_write(buffer[side][type], 0, p->data[side][type], bytes));
            arg[3 + 2 * type + (uint32_t)side] = slr_arg_buffer(buffer[side][type]);
        }
    for (uint32_t i = 0; i < PACK; ++i) {
        arg[0] = slr_arg_signed(i);
        must(slr_launch(stream, kernel, shape_for(&p->list[i].step[p->list[i].steps - 1]), arg, 3 + 2 * TYPES, NULL));
    }
    must(slr_stream_finish(stream, 20 * LONG)); // a driver compiles all of them before the first runs
    for (uint32_t i = 0; i < PACK; ++i)
        for (uint32_t step = 0; step < p->list[i].steps; ++step)
            if (step + 1 == p->list[i].steps || p->list[i].step[step].keep)
                compare_at(&p->list[i], step, buffer[1][p->list[i].step_type[step]], p->result_at[i][step], p->text);
    for (uint32_t type = 0; type < TYPES; ++type)
        for (int side = 0; side < 2; ++side)
            slr_buffer_destroy(buffer[side][type]);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
}

static void play_packed(uint32_t which)
{
    static struct pack p;
    slr_device *device = open_device(specs[which]), *plain = open_device(specs[0]);
    slr_stream *stream, *plain_stream;
    must(slr_stream_create(device, NULL, &stream));
    must(slr_stream_create(plain, NULL, &plain_stream));
    random_state = 160 + which;
    has_no_functions = which == 2;
    for (unsigned long done = 0; done < packed_lists; done += PACK) {
        for (uint32_t i = 0; i < PACK; ++i) {
            struct list *list = &p.list[i];
            make_list(list);
            for (uint32_t k = 0; k < list->steps; ++k)
                (is_end(list->step[k].op) ? run_end : run_one)(plain, plain_stream, list, k);
        }
        write_pack(&p, plain);
        run_pack(&p, device, stream);
        if (packed_lists > PACK)
            fprintf(stderr, "%s: %lu lists\n", specs[which], done + PACK);
    }
    has_no_functions = false;
    slr_stream_destroy(stream);
    slr_stream_destroy(plain_stream);
    slr_device_close(device);
    slr_device_close(plain);
}

static void play(uint32_t which)
{
    static struct list list;
    if (!is_here(specs[which]) || (which && SANITIZED))
        return;
    slr_device *device = open_device(specs[which]), *plain = open_device(specs[0]);
    slr_stream *stream, *plain_stream;
    must(slr_stream_create(device, NULL, &stream));
    must(slr_stream_create(plain, NULL, &plain_stream));
    random_state = 16 + which;
    for (unsigned long i = 0; i < lists[which]; ++i) {
        make_list(&list);
        bool there = which == 2 && has_functions(&list);
        for (uint32_t k = 0; k < list.steps; ++k)
            (is_end(list.step[k].op) ? run_end : run_one)(there ? device : plain, there ? stream : plain_stream, &list,
                                                          k);
        run_fused(device, stream, &list, which == 0 && i < 100);
    }
    slr_stream_destroy(stream);
    slr_stream_destroy(plain_stream);
    slr_device_close(device);
    slr_device_close(plain);
}

static void interpreted_lists_give_what_their_operations_give(void **state)
{
    (void)state;
    play(0);
}

static void compiled_lists_give_what_their_operations_give(void **state)
{
    (void)state;
    play(1);
}

static void opencl_lists_give_what_their_operations_give(void **state)
{
    (void)state;
    play(2);
}

static void packed_lists_give_what_their_operations_give(void **state)
{
    (void)state;
    for (uint32_t which = 1; which < 3; ++which)
        if (is_here(specs[which]) && !SANITIZED && (packed_which == 0 || packed_which == which))
            play_packed(which);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--packed") == 0) {
        packed_lists = strtoul(argv[2], NULL, 10);
        packed_which = (uint32_t)strtoul(argv[3], NULL, 10);
        const struct CMUnitTest packed[] = {cmocka_unit_test(packed_lists_give_what_their_operations_give)};
        return cmocka_run_group_tests(packed, NULL, NULL);
    }
    for (int i = 0; argc >= 2 && i < 3; ++i)
        lists[i] = argc == 3 && atoi(argv[2]) != i      ? 0
                   : strcmp(argv[1], "--thorough") == 0 ? 5000
                                                        : strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreted_lists_give_what_their_operations_give),
        cmocka_unit_test(compiled_lists_give_what_their_operations_give),
        cmocka_unit_test(opencl_lists_give_what_their_operations_give),
        cmocka_unit_test(packed_lists_give_what_their_operations_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
