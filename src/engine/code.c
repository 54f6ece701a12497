// SPDX-License-Identifier: Apache-2.0
// Programs on devices: the code that is loaded of each, its kernels that are ready, its variables. A kernel is looked
// for without a lock. What is compiled, is compiled without one: launches of other kernels go on meanwhile, and who
// wants the same waits for it.
#include "engine/code.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "base/thread.h"
#include "engine/globals.h"
#include "engine/loss.h"
#include "engine/stream.h"
#include "ir/blame.h"
#include "ir/pass/handler_kernel.h"

// Loaded code. Kernels of one unit differ in their blocks alone.
struct unit {
    const struct slri_entry *entry; // NULL: the module's handlers; a handler: the kernel of its batched launches
    struct slri_kernel_shape shape; // of a device whose kernels are per shape; else 0
    uint32_t variant;
    uint32_t opened;
    struct slri_module *lowered; // of a handler: its entry is the kernel; else NULL
    void *loaded;
    bool is_being_made, is_module, is_shared; // `is_module`: without text; `is_shared`: what another such one has
    struct unit *next;
};

struct slri_code {
    struct slri_code_desc of;
    slri_mutex lock;
    struct slri_ready_kernel *first; // atomic: only ever grows, so that it is searched without the lock
    struct unit *units;              // under the lock, as all that follows
    uint32_t changes;                // futex; atomic: how often the making of a unit has ended
    void *globals;                   // NULL: nobody has wanted them yet
    uint32_t globals_opened;
    void *handlers;                                      // loaded, of a device whose host runs them; set once
    void (*release_handler)(void *device, void *native); // all of them go so
    slri_code_end *end;
    void *end_user;
};

// Which of its lives the device is in. Relaxed: nobody uses a device while it is opened again.
static uint32_t opened_now(const struct slri_code *code)
{
    return __atomic_load_n(code->of.opened, __ATOMIC_RELAXED);
}

// ---- loaded code: under the lock -----------------------------------------------------------------------------------

static bool is_same(const struct unit *a, const struct unit *b)
{
    return a->entry == b->entry && a->variant == b->variant && memcmp(&a->shape, &b->shape, sizeof a->shape) == 0;
}

// Code of an earlier life has gone with what it was loaded in.
static bool is_there(const struct slri_code *code, const struct unit *unit)
{
    return code->of.backend->keeps_context || unit->opened == opened_now(code);
}

static struct unit *find_unit(const struct slri_code *code, const struct unit *like)
{
    struct unit *each = code->units;
    while (each && (!is_same(each, like) || !is_there(code, each)))
        each = each->next;
    return each;
}

static struct unit *find_module(const struct slri_code *code)
{
    struct unit *each = code->units;
    while (each && (each->is_being_made || !each->is_module))
        each = each->next;
    return each;
}

// For whom the unit's text is.
static struct slri_code_text text_of(const struct slri_code *code, const struct unit *unit)
{
    const struct slri_module *module = unit->lowered ? unit->lowered : code->of.module;
    const struct slri_entry *entry = unit->lowered ? unit->lowered->entry : unit->entry;
    return (struct slri_code_text){.module = module,
                                   .entry = entry,
                                   .name = entry ? entry->name : module->name,
                                   .file = module->name,
                                   .shape = unit->shape,
                                   .variant = unit->variant,
                                   .is_batched = unit->entry && unit->entry->kind != SLRI_ENTRY_KERNEL};
}

// Without the lock, but for what the program has already.
static slr_status load_of(struct slri_code *code, struct unit *unit, const uint32_t *cancel)
{
    bool was_cached;
    if (unit->entry && unit->entry->kind != SLRI_ENTRY_KERNEL && !unit->lowered)
        SLRI_TRY(slri_handler_kernel(code->of.module, unit->entry, &unit->lowered));
    struct slri_code_text text = text_of(code, unit);
    text.cancel = cancel;
    slr_status status = code->of.backend->code_write(code->of.device, &text);
    unit->is_module = text.text.length == 0 && !text.is_own;
    if (status == SLR_OK && unit->is_module) {
        slri_mutex_lock(&code->lock);
        const struct unit *other = find_module(code);
        unit->is_shared = other != NULL;
        unit->loaded = other ? other->loaded : NULL;
        slri_mutex_unlock(&code->lock);
    }
    if (status == SLR_OK && !unit->is_shared)
        return slri_code_load(code->of.backend, code->of.device, &text, &unit->loaded, &was_cached);
    slri_code_text_free(&text);
    return status;
}

static void take_out(struct slri_code *code, struct unit *unit)
{
    struct unit **at = &code->units;
    while (*at != unit)
        at = &(*at)->next;
    *at = unit->next;
    slri_module_destroy(unit->lowered);
    slri_free(code->of.allocator, unit, sizeof *unit);
}

static slr_status make_unit(struct slri_code *code, const struct unit *like, const uint32_t *cancel, struct unit **out)
{
    if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) // nothing is read on its strength
        return SLRI_FAIL(WRONG_STATE, "kernel %s is no longer needed", like->entry->name);
    struct unit *made = slri_alloc(code->of.allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for the code of %s",
                         like->entry ? like->entry->name : code->of.module->name);
    *made = *like;
    made->opened = opened_now(code);
    made->is_being_made = true;
    made->next = code->units;
    code->units = made;
    slri_mutex_unlock(&code->lock);
    slr_status status = slri_loss_seen(code->of.queues->loss, load_of(code, made, cancel));
    slri_mutex_lock(&code->lock);
    made->is_being_made = false;
    if (status == SLR_OK)
        *out = made;
    else
        take_out(code, made);
    __atomic_fetch_add(&code->changes, 1, __ATOMIC_RELAXED); // read under the lock
    slri_futex_wake(&code->changes, UINT32_MAX);
    return status;
}

static void wait_for_change(struct slri_code *code)
{
    uint32_t changes = __atomic_load_n(&code->changes, __ATOMIC_RELAXED); // the lock orders it
    slri_mutex_unlock(&code->lock);
    slri_futex_wait(&code->changes, changes, SLRI_FOREVER); // as long as a compiler may take
    slri_mutex_lock(&code->lock);
}

// The lock is let go of while it is made. Where that fails for another thread, this one tries for itself.
static slr_status take_unit(struct slri_code *code, const struct unit *like, const uint32_t *cancel, struct unit **out)
{
    struct unit *found;
    while ((found = find_unit(code, like)) && found->is_being_made)
        wait_for_change(code);
    *out = found;
    return found ? SLR_OK : make_unit(code, like, cancel, out);
}

// ---- variables: under the lock -------------------------------------------------------------------------------------

static void drop_globals(struct slri_code *code)
{
    if (code->globals && (code->of.backend->keeps_context || code->globals_opened == opened_now(code)))
        code->of.backend->memory_destroy(code->of.device, SLRI_MEMORY_DEVICE, code->globals,
                                         code->of.module->global_bytes);
    code->globals = NULL;
}

static slr_status make_globals(struct slri_code *code)
{
    void *memory;
    if (code->globals && code->globals_opened == opened_now(code))
        return SLR_OK;
    drop_globals(code);
    SLRI_TRY(slri_queue_device_memory(code->of.queues, SLRI_MEMORY_DEVICE, code->of.module->global_bytes, &memory));
    code->globals = memory;
    code->globals_opened = opened_now(code);
    slr_status status = slri_globals_begin(code->of.module, code->of.allocator, memory, code->of.queues);
    if (status != SLR_OK)
        drop_globals(code);
    return status;
}

slr_status slri_code_globals(struct slri_code *code, void **out)
{
    slri_mutex_lock(&code->lock);
    slr_status status = make_globals(code);
    *out = code->globals;
    slri_mutex_unlock(&code->lock);
    return status;
}

// ---- kernels that are ready ----------------------------------------------------------------------------------------

static bool is_block(const uint32_t a[3], const uint32_t b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

// Whether a kernel that was made for one shape is one for the other. On the way of each launch.
static bool serves(enum slri_kernel_per per, const struct slri_kernel_shape *made,
                   const struct slri_kernel_shape *shape)
{
    return per == SLRI_KERNEL_PER_ENTRY ||
           (is_block(made->block, shape->block) &&
            (per == SLRI_KERNEL_PER_BLOCK || (made->width == shape->width && made->level == shape->level)));
}

static struct slri_ready_kernel *search(const struct slri_code *code, const struct slri_entry *entry,
                                        const struct slri_kernel_shape *shape)
{
    const enum slri_kernel_per per = code->of.backend->kernel_per;
    const uint32_t opened = opened_now(code);
    // Acquire: what it points to was filled in before.
    struct slri_ready_kernel *each = __atomic_load_n(&code->first, __ATOMIC_ACQUIRE);
    while (each && (each->entry != entry || each->opened != opened || !serves(per, &each->shape, shape)))
        each = each->next;
    return each;
}

static slr_status fill_ready(struct slri_code *code, const struct unit *unit, struct slri_ready_kernel *made)
{
    const struct slri_code_text of = {
        .module = made->module, .entry = made->entry, .shape = made->shape, .variant = unit->variant};
    SLRI_TRY(slri_loss_seen(code->of.queues->loss,
                            code->of.backend->code_kernel(code->of.device, unit->loaded, &of, &made->kernel)));
    if (made->kernel.is_unfit || (made->entry->function->uses & SLRI_USES_GLOBAL) == 0)
        return SLR_OK;
    SLRI_TRY(make_globals(code));
    made->globals = code->globals;
    return SLR_OK;
}

static void free_ready(const struct slri_code *code, struct slri_ready_kernel *ready)
{
    if (ready->kernel.release && ready->kernel.native)
        ready->kernel.release(code->of.device, ready->kernel.native);
    slri_free(code->of.allocator, ready, sizeof *ready);
}

// `*out` NULL: the variant is unfit for the block.
static slr_status add(struct slri_code *code, const struct slri_entry *entry, const struct slri_kernel_shape *shape,
                      const struct unit *unit, struct slri_ready_kernel **out)
{
    struct slri_ready_kernel *made = slri_alloc(code->of.allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", entry->name);
    *made = (struct slri_ready_kernel){
        .module = code->of.module, .entry = entry, .shape = *shape, .opened = opened_now(code)};
    slr_status status = fill_ready(code, unit, made);
    if (status != SLR_OK || made->kernel.is_unfit) {
        free_ready(code, made);
        return status;
    }
    made->next = code->first;
    __atomic_store_n(&code->first, made, __ATOMIC_RELEASE); // what it points to
    *out = made;
    return SLR_OK;
}

// Under the lock, which is let go of while code is made: another thread may have made the kernel by then.
static slr_status make_ready_code(struct slri_code *code, const struct slri_entry *entry,
                                  const struct slri_kernel_shape *shape, const uint32_t *cancel,
                                  struct slri_ready_kernel **out)
{
    struct unit like = {.entry = entry}, *unit;
    if (code->of.backend->kernel_per == SLRI_KERNEL_PER_SHAPE)
        like.shape = *shape;
    for (;; ++like.variant) {
        SLRI_TRY(take_unit(code, &like, cancel, &unit));
        *out = search(code, entry, shape);
        if (!*out)
            SLRI_TRY(add(code, entry, shape, unit, out));
        if (*out)
            return SLR_OK;
    }
}

slr_status slri_code_prepare(struct slri_code *code, const struct slri_entry *entry,
                             const struct slri_kernel_shape *shape, const uint32_t *cancel,
                             const struct slri_ready_kernel **out)
{
    struct slri_ready_kernel *found = search(code, entry, shape);
    if (!found) {
        slri_mutex_lock(&code->lock);
        slr_status status = make_ready_code(code, entry, shape, cancel, &found);
        slri_mutex_unlock(&code->lock);
        SLRI_TRY(status);
    }
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
    if (found->kernel.most_threads != 0 && threads > found->kernel.most_threads)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s: a block of %llu threads; its registers allow at most %u", entry->name,
                         (unsigned long long)threads, found->kernel.most_threads);
    *out = found;
    return SLR_OK;
}

slr_status slri_ready_faulted(const struct slri_ready_kernel *ready, const struct slri_blame *blame, const char *who)
{
    return slri_kernel_faulted(ready->module, ready->entry, blame, who);
}

// ---- handlers ------------------------------------------------------------------------------------------------------

slr_status slri_code_handler(struct slri_code *code, const struct slri_entry *entry, slri_handler **handler,
                             void **self)
{
    const struct slri_code_text of = {.module = code->of.module, .entry = entry};
    struct slri_kernel kernel = {0};
    slri_mutex_lock(&code->lock);
    slr_status status = code->of.backend->code_kernel(code->of.device, code->handlers, &of, &kernel);
    if (status == SLR_OK)
        code->release_handler = kernel.release;
    slri_mutex_unlock(&code->lock);
    *handler = kernel.handler;
    *self = kernel.native;
    return status;
}

void slri_code_handler_end(struct slri_code *code, void *self)
{
    slri_mutex_lock(&code->lock);
    if (self && code->release_handler)
        code->release_handler(code->of.device, self);
    slri_mutex_unlock(&code->lock);
}

slr_status slri_code_batched(struct slri_code *code, const struct slri_entry *entry, uint32_t threads,
                             struct slri_ready_kernel *out)
{
    const struct unit like = {.entry = entry, .shape = {.block = {threads, 1, 1}}};
    struct unit *unit;
    slri_mutex_lock(&code->lock);
    slr_status status = take_unit(code, &like, NULL, &unit);
    if (status == SLR_OK) {
        const struct slri_code_text of = text_of(code, unit);
        out->module = of.module;
        out->entry = of.entry;
        status = slri_loss_seen(code->of.queues->loss,
                                code->of.backend->code_kernel(code->of.device, unit->loaded, &of, &out->kernel));
    }
    slri_mutex_unlock(&code->lock);
    return status;
}

void slri_code_batched_end(const struct slri_code *code, struct slri_kernel *kernel)
{
    if (kernel->release && kernel->native)
        kernel->release(code->of.device, kernel->native);
    *kernel = (struct slri_kernel){0};
}

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status load_handlers(struct slri_code *code)
{
    const struct unit like = {0};
    struct unit *unit;
    slri_mutex_lock(&code->lock);
    slr_status status = take_unit(code, &like, NULL, &unit);
    slri_mutex_unlock(&code->lock);
    if (status == SLR_OK)
        code->handlers = unit->loaded;
    return status;
}

static bool has_handlers(const struct slri_module *module)
{
    for (uint32_t i = 0; i < module->entries; ++i)
        if (module->entry[i].kind != SLRI_ENTRY_KERNEL)
            return true;
    return false;
}

slr_status slri_code_create(const struct slri_code_desc *desc, struct slri_code **out)
{
    struct slri_code *made = slri_alloc(desc->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for a program");
    made->of = *desc;
    slri_mutex_init(&made->lock);
    slr_status status = SLR_OK;
    if (desc->backend->is_host && has_handlers(desc->module))
        status = load_handlers(made);
    if (status == SLR_OK)
        *out = made;
    else
        slri_code_destroy(made);
    return status;
}

static void destroy_units(struct slri_code *code)
{
    while (code->units) {
        struct unit *unit = code->units;
        code->units = unit->next;
        if (!unit->is_shared)
            code->of.backend->code_unload(code->of.device, unit->loaded);
        slri_module_destroy(unit->lowered);
        slri_free(code->of.allocator, unit, sizeof *unit);
    }
}

void slri_code_destroy(struct slri_code *code)
{
    if (!code)
        return;
    slri_code_end *end = __atomic_load_n(&code->end, __ATOMIC_RELAXED);
    if (end)
        end(__atomic_load_n(&code->end_user, __ATOMIC_RELAXED), code);
    while (code->first) {
        struct slri_ready_kernel *ready = code->first;
        code->first = ready->next;
        free_ready(code, ready);
    }
    destroy_units(code);
    drop_globals(code);
    slri_mutex_destroy(&code->lock);
    slri_free(code->of.allocator, code, sizeof *code);
}

void slri_code_on_end(struct slri_code *code, slri_code_end *end, void *user)
{
    // Not under the lock, which is held while memory is made, for which groups may have to end. Relaxed: always the
    // same two, and who calls it has the last hold of the program.
    __atomic_store_n(&code->end_user, user, __ATOMIC_RELAXED);
    __atomic_store_n(&code->end, end, __ATOMIC_RELAXED);
}

const struct slri_module *slri_code_module(const struct slri_code *code)
{
    return code->of.module;
}
