// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/failing/failing.h"

#include "base/status.h"
#include "engine/loss.h"
#include "engine/resident.h"

struct failing failing;

const char *const failing_name[FAILING_COUNT] = {
#define FAILING_NAME(slot) [FAILING_##slot] = #slot,
    FAILING_SLOTS(FAILING_NAME) FAILING_GROUP_SLOTS(FAILING_NAME)
#undef FAILING_NAME
};

// ---- what fails ----------------------------------------------------------------------------------------------------

static bool comes(enum failing_slot slot)
{
    uint32_t call = __atomic_add_fetch(&failing.calls[slot], 1, __ATOMIC_RELAXED);
    if (slot != failing.slot || call != failing.fail_at)
        return false;
    __atomic_store_n(&failing.has_failed, 1, __ATOMIC_RELEASE);
    return true;
}

static slr_status fail(enum failing_slot slot)
{
    if (failing.status == SLR_DEVICE_LOST && failing.loss)
        return slri_lose(failing.loss, FAILING_WORD);
    return slri_fail(failing.status, "%s in %s", FAILING_WORD, failing_name[slot]);
}

// Before the call, which then is not made.
#define MAY_FAIL(slot)                                                                                                 \
    do {                                                                                                               \
        if (comes(FAILING_##slot))                                                                                     \
            return fail(FAILING_##slot);                                                                               \
    } while (0)

// ---- what is alive -------------------------------------------------------------------------------------------------

static slr_status made(slr_status status, uint64_t bytes)
{
    if (status == SLR_OK) {
        __atomic_fetch_add(&failing.live, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&failing.live_bytes, bytes, __ATOMIC_RELAXED);
    }
    return status;
}

static void gone(uint64_t bytes)
{
    __atomic_fetch_sub(&failing.live, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&failing.live_bytes, bytes, __ATOMIC_RELAXED);
}

// ---- slots ---------------------------------------------------------------------------------------------------------

static slr_status failing_probe(bool automatic, uint32_t *devices)
{
    MAY_FAIL(probe);
    return failing.inner->probe(automatic, devices);
}

static slr_status nothing_to_wrap(bool automatic, uint32_t *devices)
{
    (void)automatic;
    *devices = 0;
    return SLRI_FAIL(NO_DEVICE, "it wraps no backend yet");
}

static slr_status failing_plan(void *device, const struct slri_ring_facts *ring, bool is_asked,
                               struct slri_ring_plan *plan)
{
    MAY_FAIL(plan);
    return failing.inner_groups->plan(device, ring, is_asked, plan);
}

static slr_status failing_make(struct slri_resident *resident, const struct slri_shard *shard)
{
    slr_status status = failing.inner_groups->make(resident, shard);
    return comes(FAILING_make) && status == SLR_OK ? fail(FAILING_make) : status; // `unmake` follows
}

static slr_status failing_launch(struct slri_resident *resident)
{
    MAY_FAIL(launch);
    return failing.inner_groups->launch(resident);
}

// Before it has any.
static void wrap_groups(struct slri_residents *residents)
{
    static struct slri_resident_ops groups;
    failing.inner_groups = residents->ops;
    groups = *residents->ops;
    groups.plan = failing_plan;
    groups.make = failing_make;
    groups.launch = failing_launch;
    residents->ops = &groups;
}

static slr_status failing_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    MAY_FAIL(open);
    struct slri_facts facts;
    slr_status status = made(failing.inner->open(spec, allocator, device), 0);
    if (status == SLR_OK && failing.inner->facts(*device, 0, &facts, NULL) == SLR_OK) {
        failing.loss = facts.loss;
        if (facts.residents)
            wrap_groups(facts.residents);
    }
    return status;
}

static void failing_close(void *device)
{
    failing.loss = NULL;
    failing.inner->close(device);
    gone(0);
}

static slr_status failing_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    MAY_FAIL(facts);
    return failing.inner->facts(device, index, out, info);
}

static slr_status failing_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    MAY_FAIL(memory_create);
    return made(failing.inner->memory_create(device, kind, bytes, memory), bytes);
}

static void failing_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    failing.inner->memory_destroy(device, kind, memory, bytes);
    if (kind != SLRI_MEMORY_HOST) // which is the allocator's
        gone(bytes);
}

static slr_status failing_encode(void *device, void *queue, const struct slri_command *command,
                                 const struct slri_extras *extras, uint32_t commands)
{
    if (!comes(FAILING_encode))
        return failing.inner->encode(device, queue, command, extras, commands);
    if (commands > 1) // the last one ends it, and the others have begun
        (void)failing.inner->encode(device, queue, command, extras, commands - 1);
    return fail(FAILING_encode);
}

// What was begun has ended, and one of it has failed: so says who waits.
static slr_status failing_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    bool fails = comes(FAILING_wait);
    slr_status status = failing.inner->wait(device, queue, deadline_ns, times);
    return fails ? fail(FAILING_wait) : status;
}

static slr_status failing_queue_create(void *device, uint32_t priority, void **queue)
{
    MAY_FAIL(queue_create);
    return made(failing.inner->queue_create(device, priority, queue), 0);
}

static void failing_queue_destroy(void *device, void *queue)
{
    failing.inner->queue_destroy(device, queue);
    gone(0);
}

static slr_status failing_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user)
{
    MAY_FAIL(reopen);
    return failing.inner->reopen(device, deadline_ns, quiesce, user);
}

static slr_status failing_list_create(void *device, const struct slri_command *command,
                                      const struct slri_extras *extras, uint32_t commands, void **list)
{
    MAY_FAIL(list_create);
    return made(failing.inner->list_create(device, command, extras, commands, list), 0);
}

static void failing_list_destroy(void *device, void *list)
{
    failing.inner->list_destroy(device, list);
    gone(0);
}

static slr_status failing_code_write(void *device, struct slri_code_text *text)
{
    MAY_FAIL(code_write);
    return failing.inner->code_write(device, text);
}

static slr_status failing_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob,
                                     void **loaded)
{
    MAY_FAIL(code_build);
    slr_status status = failing.inner->code_build(device, text, blob, loaded);
    return *loaded ? made(status, 0) : status;
}

static slr_status failing_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                                    void **loaded)
{
    MAY_FAIL(code_load);
    return made(failing.inner->code_load(device, text, blob, loaded), 0);
}

static void failing_code_unload(void *device, void *loaded)
{
    failing.inner->code_unload(device, loaded);
    gone(0);
}

static slr_status failing_code_kernel(void *device, void *loaded, const struct slri_code_text *of,
                                      struct slri_kernel *out)
{
    MAY_FAIL(code_kernel);
    return failing.inner->code_kernel(device, loaded, of, out);
}

static slr_status failing_kernel_use(void *device, const struct slri_kernel_query *of, struct slri_kernel_use *out)
{
    MAY_FAIL(kernel_use);
    return failing.inner->kernel_use(device, of, out);
}

// ---- the table -----------------------------------------------------------------------------------------------------

struct slri_backend slri_backend_failing = {.name = "failing", .probe = nothing_to_wrap};

void failing_begin(const struct slri_backend *inner, enum failing_slot slot, uint32_t fail_at, slr_status status)
{
    struct slri_backend *table = &slri_backend_failing;
    failing = (struct failing){.inner = inner, .slot = slot, .fail_at = fail_at, .status = status};
    *table = *inner;
    table->name = "failing";
#define PUT(slot)                                                                                                      \
    if (inner->slot)                                                                                                   \
        table->slot = failing_##slot;
    FAILING_SLOTS(PUT)
    PUT(close)
    PUT(memory_destroy)
    PUT(queue_destroy)
    PUT(list_destroy)
    PUT(code_unload)
#undef PUT
}

bool failing_has(const struct slri_backend *inner, enum failing_slot slot)
{
    const bool has[FAILING_COUNT] = {
#define FAILING_HAS(slot) [FAILING_##slot] = inner->slot != NULL,
        FAILING_SLOTS(FAILING_HAS)
#undef FAILING_HAS
    };
    return slot >= FAILING_plan || has[slot]; // of a backend with groups
}
