// SPDX-License-Identifier: Apache-2.0
// Every field of a description that can be wrong is refused, with a code and a message that names it. Nothing leaks,
// and nothing crashes, whichever allocation fails.
#include "base/aligned_test.h"
#include "base/cpu.h"
#include "tests/ring/ring_test.h"

static struct handler h;

static const char source[] = "#include <slipring/device.h>\n"
                             "struct in { int a; float b[3]; };\n"
                             "struct out { double c; };\n"
                             "struct sum { int n; };\n"
                             "__ring__ void one(struct sum *sum, const struct in *in, float *data, int scale)\n"
                             "{\n"
                             "    struct out out = {data[0] * scale};\n"
                             "    sum->n += in->a;\n"
                             "    ring_reply(&out);\n"
                             "}\n";
static const char second[] = "__ring__ void two(const struct in *in) { (void)in->a; }\n";

// ---- fields that any ring kernel has ------------------------------------------------------------------------------

static void set_struct_size(slr_ring_desc *d)
{
    d->struct_size = 7;
}
static void set_queue_size(slr_ring_desc *d)
{
    d->queue_size = (1u << 20) + 1;
}
static void set_instances(slr_ring_desc *d)
{
    d->instances = (1u << 24) + 1;
}
static void set_max_replies(slr_ring_desc *d)
{
    d->max_replies = 65;
}
static void set_max_ports(slr_ring_desc *d)
{
    d->max_ports = 257;
}
static void set_overflow(slr_ring_desc *d)
{
    d->overflow = 5;
}
static void set_priority(slr_ring_desc *d)
{
    d->priority = SLR_PRIORITY(256);
}
static void set_time_stamps(slr_ring_desc *d)
{
    d->time_stamps = 2;
}
static void set_mode(slr_ring_desc *d)
{
    d->mode = SLR_RING_ON_HOST;
}
static void set_no_handler(slr_ring_desc *d)
{
    d->on_message = NULL;
}
static void set_no_name(slr_ring_desc *d)
{
    d->name = NULL;
}
static void set_empty_name(slr_ring_desc *d)
{
    d->name = "";
}
static void set_long_name(slr_ring_desc *d)
{
    d->name = "0123456789012345678901234567890123456789012345678901234567890123";
}
static void set_no_message(slr_ring_desc *d)
{
    d->message_bytes = 0;
}
static void set_handler_name(slr_ring_desc *d)
{
    d->handler = "f";
}
static void set_bindings(slr_ring_desc *d)
{
    d->binding_count = 1;
}
static void set_same(slr_ring_desc *d)
{
    d->same_count = 1;
}
static void set_initial_state(slr_ring_desc *d)
{
    d->initial_state = "";
}
static void set_huge_message(slr_ring_desc *d)
{
    d->message_bytes = 1u << 24;
}
static void set_largest_of_all(slr_ring_desc *d)
{
    d->message_bytes = d->reply_bytes = UINT32_MAX;
    d->queue_size = 1u << 20;
    d->max_ports = 256;
    d->instances = 1u << 24;
}

static const struct refused {
    void (*set)(slr_ring_desc *desc);
    const char *says;
} refused[] = {
    {set_struct_size, "slr_ring_desc.struct_size is 7"},
    {set_queue_size, "queue_size is 1048577; expected 1 to 1048576"},
    {set_instances, "instances is 16777217; expected 1 to 16777216"},
    {set_max_replies, "max_replies is 65; expected 1 to 64"},
    {set_max_ports, "max_ports is 257; expected 1 to 256"},
    {set_overflow, "overflow (an slr_overflow) is 5; expected 1 to 4"},
    {set_priority, "priority (as SLR_PRIORITY(0..255) gives) is 257; expected 1 to 256"},
    {set_mode, "mode is 1; expected SLR_RING_RELAUNCHED, SLR_RING_PERSISTENT or 0"},
    {set_time_stamps, "time_stamps is 2; expected 0 or 1"},
    {set_no_handler, "set one of program, on_message, on_batch and main, not none"},
    {set_no_name, "a host ring kernel needs a name"},
    {set_empty_name, "name has 1 to 63 characters, not 0"},
    {set_long_name, "name has 1 to 63 characters, not 64"},
    {set_no_message, "message_bytes is 0; a host handler's message has at least 1 B"},
    {set_handler_name, "handler, bindings and same need a kernel handler"},
    {set_bindings, "handler, bindings and same need a kernel handler"},
    {set_same, "handler, bindings and same need a kernel handler"},
    {set_initial_state, "initial_state is set, but its handler has no state"},
    {set_huge_message, "lower queue_size or max_ports"},
    {set_largest_of_all, "lower queue_size or max_ports"},
};

static void field_out_of_range_is_refused_with_its_value_and_range(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=256");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
        slr_ring_desc desc = describe_ring("refused", &h);
        slr_ring *ring = NULL;
        refused[i].set(&desc);
        refuses(slr_ring_create(device, &desc, &ring), INVALID, refused[i].says);
        assert_null(ring);
    }
    slr_ring_desc desc = describe_ring("null", &h);
    slr_ring *ring;
    refuses(slr_ring_create(NULL, &desc, &ring), INVALID, "device is NULL");
    refuses(slr_ring_create(device, NULL, &ring), INVALID, "desc is NULL");
    refuses(slr_ring_create(device, &desc, NULL), INVALID, "out is NULL");
    slr_device_close(device);
}

static void zero_is_the_default_and_the_extremes_are_possible(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe_ring("default", &h);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_address address;
    refuses(slr_ring_get_address(ring, 1, &address), INVALID, "has instances 0 to 0; 1 was asked for");
    for (uint32_t i = 0; i < 4096; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    gives(send_value(port, address_of(ring, 0), 0, 0), FULL);
    slr_ring_destroy(ring);
    slr_port_close(port);
    desc = describe_ring("extremes", &h);
    desc.instances = 1u << 24;
    desc.queue_size = 1u << 20;
    desc.max_ports = 2;
    desc.priority = SLR_PRIORITY(255);
    desc.name = "012345678901234567890123456789012345678901234567890123456789012";
    ring = start_ring(device, &desc);
    h = (struct handler){0};
    must(send_value(NULL, address_of(ring, (1u << 24) - 1), 3, 0));
    wait_until_is(&h.count, 1);
    assert_int_equal(h.instance[0], (1u << 24) - 1);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void device_without_ring_kernels_says_so(void **state)
{
    (void)state;
    slr_device *device = open_device("null");
    slr_ring_desc desc = describe_ring("nowhere", &h);
    slr_ring *ring;
    slr_program *program;
    refuses(slr_ring_create(device, &desc, &ring), UNSUPPORTED, "device 'null' runs no ring kernels");
    refuses(slr_program_from_text(device, "a.cu", source, NULL, &program), UNSUPPORTED, "'null' runs no kernels");
    slr_device_close(device);
}

// ---- kernel handlers ----------------------------------------------------------------------------------------------

struct in {
    int a;
    float b[3];
};

struct kernel {
    slr_device *device, *other;
    slr_program *program, *both;
    slr_buffer *data, *foreign;
    slr_binding binding[3];
    slr_same same;
    slr_ring_desc desc;
};

static const int scale = 2;

static void open_kernel(struct kernel *k)
{
    *k = (struct kernel){.device = open_device("cpu?engine=interpreted"),
                         .other = open_device("cpu?engine=interpreted")};
    char text[2048];
    snprintf(text, sizeof text, "%s%s", source, second);
    must(slr_program_from_text(k->device, "one.cu", source, NULL, &k->program));
    must(slr_program_from_text(k->device, "two.cu", text, NULL, &k->both));
    must(slr_buffer_create(k->device, 64, &k->data));
    must(slr_buffer_create(k->other, 64, &k->foreign));
}

static void describe_kernel(struct kernel *k)
{
    k->binding[0] = (slr_binding){.name = "scale", .scalar = &scale, .bytes = sizeof scale};
    k->binding[1] = (slr_binding){.name = "data", .buffer = k->data};
    k->same = (slr_same)SLR_SAME(struct in, b);
    k->desc = (slr_ring_desc)SLR_RING_DESC_INIT;
    k->desc.program = k->program;
    k->desc.bindings = k->binding;
    k->desc.binding_count = 2;
    k->desc.same = &k->same;
    k->desc.same_count = 1;
    k->desc.message_bytes = sizeof(struct in);
    k->desc.state_bytes = 4;
    k->desc.reply_bytes = 8;
}

static void close_kernel(struct kernel *k)
{
    slr_buffer_destroy(k->data);
    slr_buffer_destroy(k->foreign);
    slr_program_destroy(k->program);
    slr_program_destroy(k->both);
    slr_device_close(k->device);
    slr_device_close(k->other);
}

static void miss_both(struct kernel *k)
{
    k->desc.on_message = note_message;
}
static void miss_message(struct kernel *k)
{
    k->desc.message_bytes = 12;
}
static void miss_state(struct kernel *k)
{
    k->desc.state_bytes = 8;
}
static void miss_reply(struct kernel *k)
{
    k->desc.reply_bytes = 4;
}
static void miss_offset(struct kernel *k)
{
    k->same.offset = 8;
}
static void miss_bytes(struct kernel *k)
{
    k->same.bytes = 16;
}
static void miss_field(struct kernel *k)
{
    k->same.field = "c";
}
static void miss_type(struct kernel *k)
{
    k->same.type = "struct beat";
}
static void miss_same(struct kernel *k)
{
    k->desc.same = NULL;
}
static void miss_bindings(struct kernel *k)
{
    k->desc.bindings = NULL;
}
static void miss_one(struct kernel *k)
{
    k->desc.binding_count = 1;
}
static void miss_known(struct kernel *k)
{
    k->binding[0].name = "scales";
}
static void miss_name(struct kernel *k)
{
    k->binding[0].name = NULL;
}
static void miss_scalar(struct kernel *k)
{
    k->binding[0].scalar = NULL;
}
static void miss_scalar_bytes(struct kernel *k)
{
    k->binding[0].bytes = 8;
}
static void miss_buffer(struct kernel *k)
{
    k->binding[1].buffer = NULL;
}
static void miss_device(struct kernel *k)
{
    k->binding[1].buffer = k->foreign;
}
static void miss_handler(struct kernel *k)
{
    k->desc.handler = "three";
}
static void miss_choice(struct kernel *k)
{
    k->desc.program = k->both;
}

static void miss_queue_size(struct kernel *k)
{
    k->desc.queue_size = (1u << 20) + 1;
}

static const struct missed {
    void (*miss)(struct kernel *k);
    slr_status status;
    const char *says;
} missed[] = {
    {miss_both, SLR_INVALID, "set one of program, on_message, on_batch and main, not several"},
    {miss_queue_size, SLR_INVALID, "ring kernel 'one': queue_size is 1048577"},
    {miss_message, SLR_LAYOUT, "the host's message has 12 B, the kernel's (struct in) has 16 B"},
    {miss_state, SLR_LAYOUT, "the host's state has 8 B, the kernel's (struct sum) has 4 B"},
    {miss_reply, SLR_LAYOUT, "the host's reply has 4 B, the kernel's (struct out) has 8 B"},
    {miss_offset, SLR_LAYOUT, "in.b is at byte 8 with 12 B on the host, at byte 4 with 12 B in the kernel"},
    {miss_bytes, SLR_LAYOUT, "in.b is at byte 4 with 16 B on the host, at byte 4 with 12 B in the kernel"},
    {miss_field, SLR_LAYOUT, "the kernel's struct in has no field 'c'"},
    {miss_type, SLR_LAYOUT, "neither state, message nor reply of the kernel is a 'struct beat'"},
    {miss_same, SLR_INVALID, "same_count is 1 but same is NULL"},
    {miss_bindings, SLR_INVALID, "binding_count is 2 but bindings is NULL"},
    {miss_one, SLR_INVALID, "parameter 'data' of handler 'one' is not bound"},
    {miss_known, SLR_NOT_FOUND, "handler 'one' has no parameter 'scales'"},
    {miss_name, SLR_NOT_FOUND, "handler 'one' has no parameter '(NULL)'"},
    {miss_scalar, SLR_INVALID, "parameter 'scale' is a scalar"},
    {miss_scalar_bytes, SLR_INVALID, "parameter 'scale' has 4 B, 8 B were given"},
    {miss_buffer, SLR_INVALID, "parameter 'data' is a buffer"},
    {miss_device, SLR_INVALID, "the buffer for 'data' belongs to another device"},
    {miss_handler, SLR_NOT_FOUND, "the program has no handler 'three'"},
    {miss_choice, SLR_INVALID, "the program has 2 handlers; name one in slr_ring_desc.handler"},
};

static void kernel_handlers_description_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct kernel k;
    slr_ring *ring = NULL;
    open_kernel(&k);
    for (size_t i = 0; i < sizeof missed / sizeof missed[0]; ++i) {
        describe_kernel(&k);
        missed[i].miss(&k);
        check_status(slr_ring_create(k.device, &k.desc, &ring), missed[i].status, missed[i].says, __FILE__, __LINE__);
        check_message(missed[i].says, "slr_ring_create", __FILE__, __LINE__);
        assert_null(ring);
    }
    describe_kernel(&k);
    refuses(slr_ring_create(k.other, &k.desc, &ring), INVALID, "the program was made for another device");
    k.desc.mode = SLR_RING_PERSISTENT;
    refuses(slr_ring_create(k.device, &k.desc, &ring), UNSUPPORTED, "cannot be persistent");
    k.desc.mode = SLR_RING_RELAUNCHED;               // nothing, where there is no choice
    must(slr_ring_create(k.device, &k.desc, &ring)); // as it should be
    slr_address address;
    must(slr_ring_find(k.device, "one", &address)); // its default name
    slr_ring_destroy(ring);
    close_kernel(&k);
}

// ---- memory -------------------------------------------------------------------------------------------------------

// Gives `left` allocations, then none; counts what is out.
struct purse {
    uint32_t left, given;
    size_t out;
};

static void *give(void *user, size_t bytes, size_t alignment)
{
    struct purse *purse = user;
    __atomic_fetch_add(&purse->given, 1, __ATOMIC_RELAXED);
    if (purse->left == 0)
        return NULL;
    --purse->left;
    void *memory = aligned_take(alignment, bytes);
    if (!memory)
        return NULL;
    memset(memory, 0xa5, bytes); // need not be zeroed
    __atomic_fetch_add(&purse->out, bytes, __ATOMIC_RELAXED);
    return memory;
}

static void take(void *user, void *memory, size_t bytes)
{
    struct purse *purse = user;
    __atomic_fetch_sub(&purse->out, bytes, __ATOMIC_RELAXED);
    aligned_give(memory);
}

struct things {
    slr_device *device;
    slr_program *program;
    slr_buffer *data;
    slr_ring *host, *kernel;
    slr_port *port;
};

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        slr_status try_status = (call);                                                                                \
        if (try_status != SLR_OK)                                                                                      \
            return try_status;                                                                                         \
    } while (0)

// They would be written at once, and whoever writes to more than there is, is killed.
static void initial_states_that_do_not_fit_into_memory_are_refused(void **state)
{
    (void)state;
    enum { STATE = 65536 };
    static unsigned char initial[STATE];
    uint64_t available = slri_cpu_memory_available();
    if (available / STATE > (1u << 22)) // of 256 GiB
        skip();
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe_ring("large", &h);
    slr_ring *ring;
    desc.state_bytes = STATE;
    desc.instances = (uint32_t)(available / STATE * 2);
    desc.initial_state = initial;
    must(slr_ring_create(device, &desc, &ring));
    refuses(slr_ring_launch(ring), NO_MEMORY, "no memory for the initial states of ");
    check_message("Without initial_state they use memory only as they are used", "slr_ring_launch", __FILE__, __LINE__);
    slr_ring_destroy(ring);
    desc.initial_state = NULL;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring)); // nothing of it is written
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static slr_status use_host(struct things *t)
{
    slr_ring_desc desc = describe_ring("host", &h);
    uint32_t initial = 0, value;
    slr_address to;
    desc.state_bytes = 4;
    desc.initial_state = &initial;
    TRY(slr_ring_create(t->device, &desc, &t->host));
    TRY(slr_ring_launch(t->host));
    TRY(slr_ring_activate(t->host, LONG));
    TRY(slr_ring_get_address(t->host, 0, &to));
    TRY(slr_port_open(t->device, &t->port));
    TRY(send_value(t->port, to, 1, LONG));
    struct message message = {0};
    TRY(slr_call(t->port, to, &message, 8, &message, 8, LONG)); // keeps the reply before it
    TRY(slr_call(NULL, to, &message, 8, &message, 8, LONG));
    return receive_value(t->port, &value, LONG);
}

static slr_status use_kernel(struct things *t)
{
    TRY(slr_program_from_text(t->device, "one.cu", source, NULL, &t->program));
    TRY(slr_buffer_create(t->device, 64, &t->data));
    slr_binding binding[] = {{.name = "scale", .scalar = &scale, .bytes = 4}, {.name = "data", .buffer = t->data}};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = t->program;
    desc.bindings = binding;
    desc.binding_count = 2;
    TRY(slr_ring_create(t->device, &desc, &t->kernel));
    TRY(slr_ring_launch(t->kernel));
    TRY(slr_ring_activate(t->kernel, LONG));
    slr_address to;
    struct in in = {0};
    double out;
    TRY(slr_ring_get_address(t->kernel, 0, &to));
    return slr_call(t->port, to, &in, sizeof in, &out, sizeof out, LONG);
}

static slr_status use_everything(struct things *t, const slr_allocator *allocator)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.allocator = allocator;
    TRY(slr_device_open("cpu?engine=interpreted&threads=2", &desc, &t->device));
    TRY(use_host(t));
    return use_kernel(t);
}

// In whichever order: here the device goes first where `k` is odd.
static void destroy_all(struct things *t, bool device_first)
{
    if (device_first)
        slr_device_close(t->device);
    slr_port_close(t->port);
    slr_ring_destroy(t->host);
    slr_buffer_destroy(t->data);
    slr_program_destroy(t->program);
    slr_ring_destroy(t->kernel);
    if (!device_first)
        slr_device_close(t->device);
}

static void allocation_that_fails_is_NO_MEMORY_and_leaks_nothing(void **state)
{
    (void)state;
    uint32_t k = 0;
    slr_status status;
    do {
        struct purse purse = {.left = k};
        slr_allocator allocator = {give, take, &purse};
        struct things t = {0};
        h = (struct handler){.replies = 1};
        status = use_everything(&t, &allocator);
        if (status != SLR_OK)
            refuses(status, NO_MEMORY, "no memory");
        destroy_all(&t, k & 1);
        assert_int_equal(purse.out, 0);
    } while (status != SLR_OK && ++k < 1000);
    assert_int_equal(status, SLR_OK);
    print_message("%u allocations failed in turn\n", k);
    assert_in_range(k, 20, 999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_states_that_do_not_fit_into_memory_are_refused),
        cmocka_unit_test(field_out_of_range_is_refused_with_its_value_and_range),
        cmocka_unit_test(zero_is_the_default_and_the_extremes_are_possible),
        cmocka_unit_test(device_without_ring_kernels_says_so),
        cmocka_unit_test(kernel_handlers_description_that_does_not_fit_is_refused),
        cmocka_unit_test(allocation_that_fails_is_NO_MEMORY_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
