// SPDX-License-Identifier: Apache-2.0
// Making a ring kernel: every field of its description is checked here, and nothing later checks it again.
#include "base/alloc.h"
#include "base/fence.h"
#include "base/sized.h"
#include "base/status.h"
#include "ring/keys.h"
#include "ring/layout.h"
#include "ring/ring.h"

#include <stdio.h>
#include <string.h>

// ---- numbers -------------------------------------------------------------------------------------------------------

struct number { // a field with a default and a range
    const char *field;
    uint32_t given, fallback, least, most;
    uint32_t *to;
};

static slr_status set_number(const slr_ring *ring, const struct number *n)
{
    *n->to = n->given ? n->given : n->fallback;
    if (*n->to >= n->least && *n->to <= n->most)
        return SLR_OK;
    return SLRI_FAIL(INVALID, "ring kernel '%s': %s is %u; expected %u to %u", ring->name, n->field, *n->to, n->least,
                     n->most);
}

static slr_status set_numbers(slr_ring *ring, const slr_ring_desc *desc)
{
    const struct number numbers[] = {
        {"queue_size", desc->queue_size, 4096, 1, 1u << 20, &ring->queue_size},
        {"instances", desc->instances, desc->keys ? 65536 : 1, 1, 1u << 24, &ring->instances},
        {"max_replies", desc->max_replies, 1, 1, 64, &ring->max_replies},
        {"max_sends", desc->max_sends, 1, 1, 64, &ring->max_sends},
        {"redeliver", desc->redeliver, 0, 0, 1, &ring->redelivers},
        {"publish_each", desc->publish_each, 0, 0, 1, &ring->publish_each},
        {"max_ports", desc->max_ports, 64, 1, MB_MAX_PORTS, &ring->max_ports},
        {"overflow (an slr_overflow)", desc->overflow, SLR_OVERFLOW_BLOCK, SLR_OVERFLOW_BLOCK, SLR_OVERFLOW_DROP_LOWEST,
         &ring->overflow},
        {"max_batch", desc->max_batch, MB_BATCH, 1, SLRI_MOST_BATCH, &ring->max_batch},
        {"dead_letters", desc->dead_letters, 0, 0, 1u << 20, &ring->dead_letters},
        {"priority (as SLR_PRIORITY(0..255) gives)", desc->priority, SLR_PRIORITY(SLR_DEFAULT_PRIORITY), 1, 256,
         &ring->priority},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        SLRI_TRY(set_number(ring, &numbers[i]));
    ring->priority -= 1;
    if (desc->time_stamps > 1)
        return SLRI_FAIL(INVALID, "ring kernel '%s': time_stamps is %u; expected 0 or 1", ring->name,
                         desc->time_stamps);
    ring->stamped = desc->time_stamps;
    if (desc->mode != 0 && desc->mode != SLR_RING_RELAUNCHED && desc->mode != SLR_RING_PERSISTENT)
        return SLRI_FAIL(INVALID,
                         "ring kernel '%s': mode is %u; expected SLR_RING_RELAUNCHED, SLR_RING_PERSISTENT or 0",
                         ring->name, desc->mode);
    ring->mode_asked = desc->mode;
    SLRI_TRY(slri_telemetry_describe(ring, desc));
    ring->linger_ns = desc->linger_ns;
    ring->fuel = desc->fuel ? desc->fuel : (uint64_t)1 << 32;
    return SLR_OK;
}

// ---- layouts -------------------------------------------------------------------------------------------------------

static slr_status check_size(const slr_ring *ring, const char *what, const slr_layout *layout, uint32_t believed)
{
    if (believed == 0 || believed == layout->bytes)
        return SLR_OK;
    return SLRI_FAIL(LAYOUT, "ring kernel '%s': the host's %s has %u B, the kernel's (struct %s) has %llu B",
                     ring->name, what, believed, layout->name, (unsigned long long)layout->bytes);
}

static const slr_field *find_field(const slr_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->field_count; ++i)
        if (strcmp(layout->fields[i].name, name) == 0)
            return &layout->fields[i];
    return NULL;
}

static uint64_t scalar_bytes(slr_scalar scalar)
{
    return slri_kind_bytes((enum slri_kind)scalar);
}

// "struct beat" or "beat".
static bool names_type(const char *said, const char *name)
{
    return strcmp(said, name) == 0 || (strncmp(said, "struct ", 7) == 0 && strcmp(said + 7, name) == 0);
}

static slr_status check_same(const slr_ring *ring, const slr_handler_info *info, const slr_same *same)
{
    const slr_layout *layouts[] = {&info->state, &info->message, &info->reply};
    for (size_t i = 0; i < 3; ++i) {
        if (!names_type(same->type, layouts[i]->name))
            continue;
        const slr_field *field = find_field(layouts[i], same->field);
        if (!field)
            return SLRI_FAIL(LAYOUT, "ring kernel '%s': the kernel's struct %s has no field '%s'", ring->name,
                             layouts[i]->name, same->field);
        uint64_t bytes = field->count * scalar_bytes(field->scalar);
        if (field->offset == same->offset && bytes == same->bytes)
            return SLR_OK;
        return SLRI_FAIL(LAYOUT,
                         "ring kernel '%s': %s.%s is at byte %llu with %llu B on the host, at byte %llu with %llu B in "
                         "the kernel",
                         ring->name, layouts[i]->name, same->field, (unsigned long long)same->offset,
                         (unsigned long long)same->bytes, (unsigned long long)field->offset, (unsigned long long)bytes);
    }
    return SLRI_FAIL(LAYOUT, "ring kernel '%s': neither state, message nor reply of the kernel is a '%s'", ring->name,
                     same->type);
}

static slr_status check_layouts(slr_ring *ring, const slr_ring_desc *desc, const slr_handler_info *info)
{
    SLRI_TRY(check_size(ring, "message", &info->message, desc->message_bytes));
    SLRI_TRY(check_size(ring, "state", &info->state, desc->state_bytes));
    SLRI_TRY(check_size(ring, "reply", &info->reply, desc->reply_bytes));
    if (desc->same_count && !desc->same)
        return SLRI_FAIL(INVALID, "ring kernel '%s': same_count is %u but same is NULL", ring->name, desc->same_count);
    for (uint32_t i = 0; i < desc->same_count; ++i)
        SLRI_TRY(check_same(ring, info, &desc->same[i]));
    ring->message_bytes = (uint32_t)info->message.bytes;
    ring->state_bytes = (uint32_t)info->state.bytes;
    ring->reply_bytes = (uint32_t)info->reply.bytes;
    return SLR_OK;
}

// ---- bindings ------------------------------------------------------------------------------------------------------

static const slr_binding *find_binding(const slr_ring_desc *desc, const char *name)
{
    for (uint32_t i = 0; i < desc->binding_count; ++i)
        if (desc->bindings[i].name && strcmp(desc->bindings[i].name, name) == 0)
            return &desc->bindings[i];
    return NULL;
}

static slr_status bind_buffer(slr_ring *ring, uint32_t i, const slr_parameter *parameter, const slr_binding *binding)
{
    slr_buffer *buffer = binding->buffer;
    if (!buffer || binding->scalar)
        return SLRI_FAIL(INVALID, "ring kernel '%s': parameter '%s' is a buffer; set slr_binding.buffer alone",
                         ring->name, parameter->name);
    if (buffer->device != ring->device)
        return SLRI_FAIL(INVALID, "ring kernel '%s': the buffer for '%s' belongs to another device", ring->name,
                         parameter->name);
    SLRI_TRY(slri_buffer_check_elements(buffer, parameter->scalar, "ring kernel", ring->name, parameter->name));
    SLRI_TRY(slri_buffer_bind(buffer));
    slri_buffer_hold(buffer);
    ring->buffer[i] = buffer;
    ring->bound[i] = (struct slri_bound){.data = buffer->memory, .bytes = buffer->bytes};
    return SLR_OK;
}

static slr_status bind_scalar(slr_ring *ring, uint32_t i, const slr_parameter *parameter, const slr_binding *binding)
{
    if (!binding->scalar || binding->buffer)
        return SLRI_FAIL(INVALID, "ring kernel '%s': parameter '%s' is a scalar; set slr_binding.scalar alone",
                         ring->name, parameter->name);
    if (binding->bytes != parameter->element_bytes)
        return SLRI_FAIL(INVALID, "ring kernel '%s': parameter '%s' has %llu B, %llu B were given", ring->name,
                         parameter->name, (unsigned long long)parameter->element_bytes,
                         (unsigned long long)binding->bytes);
    void *to = (char *)ring->scalars + (size_t)i * 8;
    memcpy(to, binding->scalar, binding->bytes);
    ring->bound[i] = (struct slri_bound){.data = to, .bytes = binding->bytes};
    return SLR_OK;
}

static slr_status refuse_unknown_bindings(const slr_ring *ring, const slr_ring_desc *desc, const slr_handler_info *info)
{
    for (uint32_t i = 0; i < desc->binding_count; ++i) {
        const char *name = desc->bindings[i].name;
        bool known = false;
        for (uint32_t k = 0; name && k < info->parameter_count; ++k)
            known = known || strcmp(name, info->parameters[k].name) == 0;
        if (!known)
            return SLRI_FAIL(NOT_FOUND, "ring kernel '%s': handler '%s' has no parameter '%s'", ring->name, info->name,
                             name ? name : "(NULL)");
    }
    return SLR_OK;
}

static slr_status bind_all(slr_ring *ring, const slr_ring_desc *desc, const slr_handler_info *info)
{
    if (desc->binding_count && !desc->bindings)
        return SLRI_FAIL(INVALID, "ring kernel '%s': binding_count is %u but bindings is NULL", ring->name,
                         desc->binding_count);
    SLRI_TRY(refuse_unknown_bindings(ring, desc, info));
    const slr_allocator *allocator = ring->device->allocator;
    ring->bindings = info->parameter_count;
    ring->bound = slri_alloc(allocator, (ring->bindings + 1) * sizeof *ring->bound);
    ring->buffer = slri_alloc(allocator, (ring->bindings + 1) * sizeof(slr_buffer *));
    ring->scalars = slri_alloc(allocator, ((size_t)ring->bindings + 1) * 8);
    if (!ring->bound || !ring->buffer || !ring->scalars)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its bindings", ring->name);
    for (uint32_t i = 0; i < ring->bindings; ++i) {
        const slr_parameter *parameter = &info->parameters[i];
        const slr_binding *binding = find_binding(desc, parameter->name);
        if (parameter->is_outlet && binding)
            return SLRI_FAIL(INVALID, "ring kernel '%s': parameter '%s' is an output channel; slr_route connects it",
                             ring->name, parameter->name);
        if (parameter->is_outlet) {
            ring->has_outlets = true;
            continue;
        }
        if (!binding)
            return SLRI_FAIL(INVALID, "ring kernel '%s': parameter '%s' of handler '%s' is not bound", ring->name,
                             parameter->name, info->name);
        SLRI_TRY(parameter->is_buffer ? bind_buffer(ring, i, parameter, binding)
                                      : bind_scalar(ring, i, parameter, binding));
    }
    return SLR_OK;
}

// ---- the sorts of handler ------------------------------------------------------------------------------------------

static slr_status find_handler(const slr_ring_desc *desc, const struct slri_program_entry **out)
{
    const slr_program *program = desc->program;
    for (uint32_t i = 0; i < program->entries; ++i) {
        if (desc->handler && strcmp(desc->handler, program->entry[i].info.name) != 0)
            continue;
        *out = &program->entry[i];
        if (desc->handler || program->entries == 1)
            return SLR_OK;
    }
    if (!desc->handler)
        return SLRI_FAIL(INVALID, "the program has %u handlers; name one in slr_ring_desc.handler", program->entries);
    return SLRI_FAIL(NOT_FOUND, "the program has no handler '%s'", desc->handler);
}

static slr_status set_kernel_handler(slr_ring *ring, const slr_ring_desc *desc)
{
    if (desc->program->device != ring->device)
        return SLRI_FAIL(INVALID, "the program was made for another device");
    const struct slri_program_entry *entry;
    SLRI_TRY(find_handler(desc, &entry));
    slri_program_hold(desc->program);
    ring->program = desc->program;
    ring->entry = entry->entry;
    SLRI_TRY(check_layouts(ring, desc, &entry->info));
    return bind_all(ring, desc, &entry->info);
}

static slr_status set_host_handler(slr_ring *ring, const slr_ring_desc *desc)
{
    if (!desc->name)
        return SLRI_FAIL(INVALID, "a host ring kernel needs a name: slr_ring_desc.name");
    if (desc->message_bytes == 0)
        return SLRI_FAIL(INVALID, "ring kernel '%s': message_bytes is 0; a host handler's message has at least 1 B",
                         ring->name);
    if (desc->handler || desc->binding_count || desc->same_count)
        return SLRI_FAIL(INVALID, "ring kernel '%s': handler, bindings and same need a kernel handler", ring->name);
    if (desc->main && ring->overflow > SLR_OVERFLOW_REJECT)
        return SLRI_FAIL(INVALID,
                         "ring kernel '%s': a loop cannot drop messages: use SLR_OVERFLOW_BLOCK or SLR_OVERFLOW_REJECT",
                         ring->name);
    if (desc->main && (desc->max_batch || desc->linger_ns))
        return SLRI_FAIL(INVALID,
                         "ring kernel '%s': max_batch and linger_ns need a handler; a loop passes them to slr_take",
                         ring->name);
    ring->on_message = desc->on_message;
    ring->on_batch = desc->on_batch;
    ring->main = desc->main;
    ring->user = desc->user;
    ring->message_bytes = desc->message_bytes;
    ring->state_bytes = desc->state_bytes;
    ring->reply_bytes = desc->reply_bytes;
    return SLR_OK;
}

static slr_status set_handler(slr_ring *ring, const slr_ring_desc *desc)
{
    int sorts = !!desc->program + !!desc->on_message + !!desc->on_batch + !!desc->main;
    if (sorts != 1)
        return SLRI_FAIL(INVALID, "slr_ring_desc: set one of program, on_message, on_batch and main, not %s",
                         sorts ? "several" : "none");
    SLRI_TRY(desc->program ? set_kernel_handler(ring, desc) : set_host_handler(ring, desc));
    if (ring->publish_each && (slri_takes_batches(ring) || desc->main))
        return SLRI_FAIL(INVALID, "ring kernel '%s': publish_each needs a handler of one message per call", ring->name);
    if (ring->publish_each)
        slri_fence_begin();
    if (ring->reply_bytes == 0)
        ring->max_replies = 0; // then no room is reserved, and no notice of a fault is sent
    return SLR_OK;
}

static slr_status copy_initial_state(slr_ring *ring, const slr_ring_desc *desc)
{
    if (!desc->initial_state)
        return SLR_OK;
    if (ring->state_bytes == 0)
        return SLRI_FAIL(INVALID, "ring kernel '%s': initial_state is set, but its handler has no state", ring->name);
    ring->initial_state = slri_alloc(ring->device->allocator, ring->state_bytes);
    if (!ring->initial_state)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for an initial state", ring->name);
    memcpy(ring->initial_state, desc->initial_state, ring->state_bytes);
    return SLR_OK;
}

// Of a `__ring_batch__` handler: an owner on a device has words for MB_BATCH messages. Larger calls stay larger calls
// unless a persistent one was asked for.
static const char *why_batches_need_host(const slr_ring *ring)
{
    const struct slri_facts *facts = &ring->device->facts;
    const bool is_asked = ring->mode_asked == SLR_RING_PERSISTENT || facts->ring_mode == SLR_RING_PERSISTENT;
    return !slri_takes_batches(ring)                 ? NULL
           : !facts->calls_batches                   ? "its handler gets many messages per call"
           : ring->max_batch > MB_BATCH && !is_asked ? "its handler gets more than 32 messages per call"
                                                     : NULL;
}

// What only an owner that is a thread of the host does.
static const char *why_host(const slr_ring *ring)
{
    bool passes_on = ring->device->facts.passes_on;
    return !ring->program                    ? "its handler is a C function"
           : why_batches_need_host(ring)     ? why_batches_need_host(ring)
           : ring->has_outlets && !passes_on ? "its handler sends through output channels"
           : ring->key_sort                  ? "it has keys"
           : slri_ring_drops(ring)           ? "its overflow policy drops messages"
           : ring->linger_ns                 ? "it has linger_ns"
           : ring->handler_timeout_ns        ? "it has handler_timeout_ns"
           : slri_slices_own(ring)           ? "buffers go with its messages"
                                             : NULL;
}

// Most have none.
static slr_status copy_reason(slr_ring *ring, const char *reason)
{
    if (*reason == '\0')
        return SLR_OK;
    ring->mode_reason = slri_alloc(ring->device->allocator, SLR_MODE_REASON_BYTES);
    if (!ring->mode_reason)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for the reason of its mode", ring->name);
    snprintf(ring->mode_reason, SLR_MODE_REASON_BYTES, "%s", reason);
    return SLR_OK;
}

// A dispatch costs as much as some hundred messages, and no handler of single messages sees how many it takes. Of one
// instance it takes SLRI_RELAUNCH_MOST_CHAIN in any case. With linger_ns messages wait until there are so many.
static bool gets_large_batches(const slr_ring *ring, const slr_ring_desc *desc)
{
    return ring->mode == SLR_RING_RELAUNCHED && desc->max_batch == 0 && desc->linger_ns == 0 &&
           ring->instances > ring->shards && !slri_takes_batches(ring);
}

static slr_status plan(slr_ring *ring, const slr_ring_desc *desc)
{
    const struct slri_ring_facts facts = {.program = ring->program ? ring->program->code : NULL,
                                          .entry = ring->entry,
                                          .instances = ring->instances,
                                          .needs_host = why_host(ring),
                                          .asked = ring->mode_asked};
    struct slri_ring_plan plan;
    if (ring->main) { // runs on a thread of its own, wherever
        ring->mode = SLR_RING_ON_HOST;
        ring->shards = 1;
        return SLR_OK;
    }
    if (ring->entry && (ring->entry->function->uses & SLRI_USES_PRINT) && !ring->device->facts.prints)
        return SLRI_FAIL(UNSUPPORTED,
                         "ring kernel '%s': its handler calls printf, which device '%s' does not support in handlers; "
                         "use device 'cpu', or remove printf (#ifdef)",
                         ring->name, ring->device->backend->name);
    const struct slri_ring_host host = {ring->device->backend, ring->device->self, &ring->device->facts,
                                        &ring->device->owners};
    SLRI_TRY(slri_ring_plan(&host, &facts, &plan));
    ring->mode = plan.mode;
    ring->shards = plan.shards;
    SLRI_TRY(copy_reason(ring, plan.reason));
    if (ring->mode_asked == SLR_RING_PERSISTENT && ring->mode != SLR_RING_PERSISTENT)
        return SLRI_FAIL(UNSUPPORTED, "ring kernel '%s' cannot be persistent: %s", ring->name,
                         *plan.reason ? plan.reason : "its handlers run on host threads");
    if (ring->mode == SLR_RING_PERSISTENT && ring->max_batch > MB_BATCH)
        ring->max_batch = MB_BATCH; // what such an owner has words for
    if (gets_large_batches(ring, desc))
        ring->max_batch = SLRI_MOST_BATCH;
    if (ring->mode == SLR_RING_PERSISTENT && !plan.has_clock)
        ring->latency_every = 0; // nobody there knows when a message is done
    if (ring->mode != SLR_RING_ON_HOST && ring->handler_timeout_ns)
        return SLRI_FAIL(
            UNSUPPORTED,
            "ring kernel '%s': slr_ring_desc.handler_timeout_ns (--handler-timeout) works only for handlers on "
            "host threads; on device '%s' limit their loop iterations by slr_ring_desc.fuel (--fuel)",
            ring->name, ring->device->backend->name);
    if (ring->mode != SLR_RING_ON_HOST && ring->publish_each)
        return SLRI_FAIL(UNSUPPORTED,
                         "ring kernel '%s': publish_each works only for handlers on host threads; on device '%s' use a "
                         "smaller max_batch",
                         ring->name, ring->device->backend->name);
    // Dispatches are larger with more of them, but each has lanes of its own, and not all may fit.
    while (ring->mode == SLR_RING_RELAUNCHED && ring->shards > 1 && slri_layout_check(ring) != SLR_OK)
        ring->shards /= 2;
    return SLR_OK;
}

// By default the handler's; before all else, for every message names the ring kernel.
static void set_name(slr_ring *ring, const slr_ring_desc *desc)
{
    const char *name = desc->name ? desc->name : desc->handler;
    if (!name && desc->program && desc->program->entries == 1)
        name = desc->program->entry[0].info.name;
    snprintf(ring->name, sizeof ring->name, "%s", name ? name : "");
}

static slr_status describe(slr_ring *ring, const slr_ring_desc *desc)
{
    if (desc->name && (*desc->name == '\0' || strlen(desc->name) >= sizeof ring->name))
        return SLRI_FAIL(INVALID, "a ring kernel's name has 1 to %zu characters, not %zu", sizeof ring->name - 1,
                         strlen(desc->name));
    set_name(ring, desc);
    SLRI_TRY(set_numbers(ring, desc));
    SLRI_TRY(slri_keys_describe(ring, desc));
    SLRI_TRY(set_handler(ring, desc));
    SLRI_TRY(copy_initial_state(ring, desc));
    SLRI_TRY(slri_failure_describe(ring, desc));
    SLRI_TRY(slri_slices_describe(ring, desc));
    SLRI_TRY(plan(ring, desc));
    SLRI_TRY(slri_layout_check(ring));
    return slri_table_enter(ring);
}

// malloc would take a line more for each.
static slr_ring *new_ring(const slr_device *device)
{
    struct slri_share self = {0};
    slr_ring *ring =
        device->allocator ? slri_alloc(device->allocator, sizeof *ring) : slri_share_bytes(sizeof *ring, &self);
    if (ring)
        ring->self = self;
    return ring;
}

static void free_ring(slr_ring *ring, const slr_device *device)
{
    struct slri_share self = ring->self;
    if (self.slab)
        slri_share_give(&self, 0);
    else
        slri_free(device->allocator, ring, sizeof *ring);
}

slr_status slr_ring_create(slr_device *device, const slr_ring_desc *desc, slr_ring **out)
{
    if (!device || !desc || !out)
        return SLRI_FAIL(INVALID, "slr_ring_create: %s is NULL", !device ? "device" : !desc ? "desc" : "out");
    slr_ring_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_ring_desc, &whole, desc));
    if (!device->backend->code_kernel)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' runs no ring kernels", device->backend->name);
    struct slri_ring_device *table;
    SLRI_TRY(slri_device_check_process(device));
    SLRI_TRY(slri_ring_device_get(device, &table));
    slr_ring *ring = new_ring(device);
    if (!ring)
        return SLRI_FAIL(NO_MEMORY, "no memory for a ring kernel");
    slri_device_hold(device);
    ring->device = device;
    ring->holds = 1;
    ring->state = SLR_RING_CREATED;
    slri_mutex_init(&ring->lock);
    slri_mutex_init(&ring->count_lock);
    slr_status status = describe(ring, &whole);
    if (status != SLR_OK) {
        slri_ring_dispose(ring);
        return status;
    }
    *out = ring;
    return SLR_OK;
}

void slri_ring_dispose(slr_ring *ring)
{
    slr_device *device = ring->device;
    const slr_allocator *allocator = device->allocator;
    slri_arena_destroy(ring);
    slri_slices_dispose(ring);
    slri_failure_dispose(ring);
    for (uint32_t i = 0; ring->buffer && i < ring->bindings; ++i)
        if (ring->buffer[i]) {
            slri_buffer_unbind(ring->buffer[i]);
            slri_buffer_release(ring->buffer[i]);
        }
    slri_free(allocator, ring->bound, (ring->bindings + 1) * sizeof *ring->bound);
    slri_free(allocator, ring->buffer, (ring->bindings + 1) * sizeof(slr_buffer *));
    slri_free(allocator, ring->scalars, ((size_t)ring->bindings + 1) * 8);
    slri_free(allocator, ring->initial_state, ring->state_bytes);
    slri_free(allocator, ring->mode_reason, SLR_MODE_REASON_BYTES);
    if (ring->program)
        slri_program_release(ring->program);
    slri_mutex_destroy(&ring->lock);
    slri_mutex_destroy(&ring->count_lock);
    free_ring(ring, device);
    slri_device_release(device);
}
