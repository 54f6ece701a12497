// SPDX-License-Identifier: Apache-2.0
// Opening and closing devices. What a backend can do is its own business; here a spec finds its backend.
#include "device/device.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/forks.h"
#include "base/kept.h"
#include "base/sim.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/automatic.h"
#include "device/away.h"
#include "device/given.h"
#include "device/peer.h"
#include "engine/loss.h"
#include "engine/observe.h"
#include "engine/resident.h"
#include "engine/spec.h"
#include "device/store.h"
#include "device/stream.h"
#include "engine/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 64

static slri_mutex places_lock = SLRI_MUTEX_INIT;
static slr_device *places[PLACES];
SLRI_RENEW_IN_CHILD(renew_places_lock, &places_lock, NULL)

static slr_status take_place(slr_device *device)
{
    slr_status status = SLRI_FAIL(INVALID, "%d devices are open already", PLACES);
    slri_mutex_lock(&places_lock);
    for (uint32_t i = 0; i < PLACES && status != SLR_OK; ++i) {
        if (places[i])
            continue;
        places[i] = device;
        device->place = i;
        status = SLR_OK;
    }
    slri_mutex_unlock(&places_lock);
    return status;
}

static void leave_place(slr_device *device)
{
    slri_mutex_lock(&places_lock);
    places[device->place] = NULL;
    slri_mutex_unlock(&places_lock);
}

slr_device *slri_device_at(uint32_t place)
{
    if (place >= PLACES)
        return NULL;
    slri_mutex_lock(&places_lock);
    slr_device *device = places[place];
    if (device) // a device that closes leaves its place before it lets go of its own hold
        slri_device_hold(device);
    slri_mutex_unlock(&places_lock);
    return device;
}

static uint64_t last_serial; // atomic

static const struct slri_backend *find_backend(const char *name)
{
    for (const struct slri_backend *const *b = slri_hooks()->backends; *b; ++b)
        if (strcmp((*b)->name, name) == 0)
            return *b;
    return NULL;
}

static slr_status no_backend(const char *name)
{
    char known[128] = "";
    for (const struct slri_backend *const *b = slri_hooks()->backends; *b; ++b)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", (*b)->name);
    return SLRI_FAIL(NO_DEVICE, "this build of slipring has no backend '%s'; it has: %s", name, known);
}

static slr_status start(slr_device *device, const struct slri_spec *spec, const slr_device_desc *desc)
{
    SLRI_TRY(device->backend->open(spec, device->allocator, &device->self));
    slr_status status = device->backend->facts(device->self, 0, &device->facts, NULL);
    if (status == SLR_OK)
        status = slri_queue_device_open(&device->queues, device->backend, device->self, device->allocator);
    if (status == SLR_OK) {
        slri_ring_owners_init(&device->owners, &device->facts, device->allocator);
        status = slri_store_open(device, desc);
        if (status == SLR_OK) {
            status = take_place(device);
            if (status == SLR_OK)
                return SLR_OK;
            slri_store_free(device);
        }
        slri_ring_owners_stop(&device->owners);
        slri_queue_device_close(&device->queues);
    }
    device->backend->close(device->self);
    return status;
}

static slr_status open_one(const struct slri_spec *spec, const slr_device_desc *desc, slr_device **out)
{
    const struct slri_backend *backend = find_backend(spec->backend);
    if (!backend)
        return no_backend(spec->backend);
    if (*spec->id && !backend->has_ids)
        return SLRI_FAIL(INVALID, "device '%s:%s': '%s' is not a device number (0 to 1023)", spec->backend, spec->id,
                         spec->id);
    if (slri_sim_on() && !slri_sim_in_turns() && !backend->simulates)
        return SLRI_FAIL(NO_DEVICE, "device '%s' cannot be simulated: unset SLIPRING_SIM, or use cpu", spec->backend);
    const slr_allocator *allocator = desc ? desc->allocator : NULL;
    slr_device *device = slri_alloc(allocator, sizeof *device);
    if (!device)
        return SLRI_FAIL(NO_MEMORY, "no memory for a device");
    device->backend = backend;
    device->holds = 1;
    device->serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
    if (allocator) {
        device->allocator_copy = *allocator;
        device->allocator = &device->allocator_copy;
    }
    if (desc && desc->on_print)
        device->printer = (struct slri_printer){desc->on_print, desc->print_user};
    slri_links_init(&device->streams);
    slri_links_init(&device->given_up);
    slri_links_init(&device->aways);
    slri_mutex_init(&device->ring_lock);
    slri_mutex_init(&device->prefetch_lock);
    slr_status status = start(device, spec, desc);
    if (status != SLR_OK) {
        slri_mutex_destroy(&device->prefetch_lock);
        slri_mutex_destroy(&device->ring_lock);
        slri_free(allocator, device, sizeof *device);
        return status;
    }
    *out = device;
    return SLR_OK;
}

// Notes why this device, when several were in question.
static void note_choice(slr_device *device, const char *asked, const char *refused)
{
    snprintf(device->chosen, sizeof device->chosen, "'%s' requested; %s opened%s%s", asked, device->backend->name,
             *refused ? "; before it " : " first", refused);
}

// Opens the first of a comma-separated list that can be opened. A malformed entry ends the search: it is a mistake, not
// a device that is missing.
static slr_status open_list(const char *list, const char *asked, const slr_device_desc *desc, slr_device **out)
{
    char refused[200] = "";
    for (const char *at = list;; ++at) {
        size_t bytes = strcspn(at, ",");
        struct slri_spec spec;
        SLRI_TRY(slri_spec_parse(at, bytes, &spec));
        slr_status status = open_one(&spec, desc, out);
        if (status == SLR_OK) {
            if (asked)
                note_choice(*out, asked, refused);
            return SLR_OK;
        }
        if (status != SLR_NO_DEVICE)
            return status;
        snprintf(refused + strlen(refused), sizeof refused - strlen(refused), "%s%.*s: %s", *refused ? "; " : "",
                 (int)bytes, at, slr_error_message());
        at += bytes;
        if (*at == '\0')
            return asked ? SLRI_FAIL(NO_DEVICE, "none of '%s' can be opened: %s", asked, refused) : status;
    }
}

// Opens one of the list of "auto": a mistake in `desc` is found again by the last, which nothing comes behind.
static slr_status open_best(const struct slri_candidates *found, const slr_device_desc *desc, slri_text *why,
                            slr_device **out)
{
    slr_status status = SLR_NO_DEVICE;
    for (uint32_t i = 0; i < found->count; ++i) {
        const struct slri_candidate *candidate = &found->candidate[i];
        struct slri_spec spec;
        SLRI_TRY(slri_spec_parse(candidate->spec, strlen(candidate->spec), &spec));
        status = open_one(&spec, desc, out);
        if (status == SLR_OK) {
            char *chosen = (*out)->chosen;
            const size_t room = sizeof(*out)->chosen;
            int bytes = snprintf(chosen, room, "'auto' requested; %s opened: %s%s%s", candidate->spec,
                                 slri_device_class_name(candidate->device_class), why->length ? "; not " : "",
                                 slri_text_view(why));
            if (bytes >= (int)room)
                memcpy(chosen + room - 4, "...", 4); // `slipring doctor` has the reasons in full
            return SLR_OK;
        }
        slri_note_refusal(why, candidate->spec, slr_error_message());
        if (candidate->device_class == SLR_DEVICE_CPU && status != SLR_NO_DEVICE)
            return status; // which is no matter of the device
    }
    return SLRI_FAIL(NO_DEVICE, "'auto' found no device: %s", slri_text_view(why));
}

static slr_status open_auto(const slr_device_desc *desc, slr_device **out)
{
    struct slri_candidates found;
    slri_text why = SLRI_TEXT_INIT;
    slri_find_candidates(&found, &why);
    slr_status status = open_best(&found, desc, &why, out);
    slri_text_free(&why);
    return status;
}

slr_status slri_device_open(const char *spec, const slr_device_desc *desc, slr_device **out)
{
    if (!spec) {
        spec = slri_environment("SLIPRING_DEVICE");
        if (!spec || *spec == '\0')
            spec = "auto";
    }
    if (strcmp(spec, "auto") == 0)
        return open_auto(desc, out);
    return open_list(spec, strchr(spec, ',') ? spec : NULL, desc, out);
}

void slri_device_hold(slr_device *device)
{
    slri_hold(&device->holds);
}

void slri_device_release(slr_device *device)
{
    if (!slri_let_go(&device->holds))
        return;
    slri_peer_forget(device);
    slri_streams_free(device);
    slri_store_free(device);
    slri_given_free(device); // after the last buffer
    slri_ring_owners_stop(&device->owners);
    slri_queue_device_close(&device->queues);
    slri_tuned_records_free(device);
    device->backend->close(device->self);
    slri_mutex_destroy(&device->prefetch_lock);
    slri_mutex_destroy(&device->ring_lock);
    slri_spares_free(&device->spares, device->allocator);
    slr_allocator copy = device->allocator_copy;
    slri_free(device->allocator ? &copy : NULL, device, sizeof *device);
}

void slr_device_close(slr_device *device)
{
    if (!device || slri_device_is_anothers(device) || !slri_streams_close(device))
        return;
    leave_place(device);
    slri_away_drop_on(device);
    slri_peer_close(device);
    slri_hooks()->rings_close(device);
    slri_store_report(device);
    slri_observe_flush();
    slri_device_release(device);
}

slr_status slr_device_get_metrics_sized(const slr_device *device, slr_metrics *out, size_t bytes)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_device_get_metrics: %s is NULL", device ? "out" : "device");
    if (!device->backend->metrics)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' has no metrics", device->backend->name);
    slr_metrics whole = {0};
    SLRI_TRY(device->backend->metrics(device->self, &whole));
    return SLRI_GIVE_REPORT(slr_metrics, out, bytes, &whole);
}

slr_status(slr_device_get_metrics)(const slr_device *device, slr_metrics *out)
{
    return slr_device_get_metrics_sized(device, out, SLRI_FIRST_slr_metrics);
}

static slr_status check_reopen(const slr_device *device)
{
    const char *name = device->backend->name;
    if (!device->facts.loss)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' is never lost", name);
    if (!slri_is_lost(device->facts.loss))
        return SLRI_FAIL(WRONG_STATE, "slr_device_reopen: device '%s' is not lost", name);
    uint32_t fixtures = __atomic_load_n(&device->fixtures, __ATOMIC_RELAXED);
    if (fixtures != 0)
        return SLRI_FAIL(WRONG_STATE, "slr_device_reopen: %u recorded lists and heaps of the device still exist",
                         fixtures);
    return SLR_OK;
}

struct reopening {
    slr_device *device;
    uint64_t timeout_ns, deadline_ns;
    bool is_parked; // no group is launched until all shards know where their memory is
};

// No group runs, so what lies at home is all that is left of those that were lost, and nobody else counts it.
static slr_status quiesce(void *user)
{
    struct reopening *reopening = user;
    slr_device *device = reopening->device;
    if (device->facts.residents) {
        SLRI_TRY(slri_residents_park(device->facts.residents, reopening->timeout_ns));
        reopening->is_parked = true;
    }
    SLRI_TRY(slri_hooks()->rings_lose(device, reopening->deadline_ns));
    __atomic_fetch_add(&device->opened, 1, __ATOMIC_RELAXED); // nobody else uses the device
    slri_queue_device_lose(&device->queues);
    return SLR_OK;
}

// Where that fails the device is lost again, and the message is of what has failed.
static slr_status renew_queues(slr_device *device)
{
    slr_status status = slri_queue_device_renew(&device->queues);
    if (status == SLR_OK)
        return SLR_OK;
    char why[320];
    snprintf(why, sizeof why, "%s", slr_error_message());
    slri_lose(device->facts.loss, "it could not be opened again");
    return slri_fail(status, "%s", why), status;
}

slr_status slr_device_reopen(slr_device *device, uint64_t timeout_ns)
{
    if (!device)
        return SLRI_FAIL(INVALID, "slr_device_reopen: device is NULL");
    SLRI_TRY(slri_device_check_process(device));
    struct reopening reopening = {device, timeout_ns, slri_deadline_after(timeout_ns), false};
    SLRI_TRY(check_reopen(device));
    slri_away_drop_on(device);
    slri_peer_close(device);
    SLRI_TRY(slri_store_reset(device));
    SLRI_TRY(slri_streams_reset(device));
    slr_status status = device->backend->reopen(device->self, reopening.deadline_ns, quiesce, &reopening);
    if (status == SLR_OK)
        status = renew_queues(device);
    if (status == SLR_OK)
        slri_hooks()->rings_renew(device);
    if (reopening.is_parked)
        slri_residents_resume(device->facts.residents);
    return status;
}

slr_status slr_device_park(slr_device *device, uint64_t timeout_ns)
{
    if (!device)
        return SLRI_FAIL(INVALID, "slr_device_park: device is NULL");
    SLRI_TRY(slri_device_check_process(device));
    if (!device->facts.residents)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' has no persistent kernels", device->backend->name);
    SLRI_TRY(slri_residents_park(device->facts.residents, timeout_ns));
    __atomic_fetch_add(&device->parks, 1, __ATOMIC_RELAXED); // a count alone
    return SLR_OK;
}

slr_status slr_device_resume(slr_device *device)
{
    if (!device)
        return SLRI_FAIL(INVALID, "slr_device_resume: device is NULL");
    SLRI_TRY(slri_device_check_process(device));
    uint32_t parks = __atomic_load_n(&device->parks, __ATOMIC_RELAXED);
    while (parks != 0 &&
           !__atomic_compare_exchange_n(&device->parks, &parks, parks - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    if (parks == 0)
        return SLRI_FAIL(WRONG_STATE, "slr_device_resume: there is no slr_device_park to end");
    slri_residents_resume(device->facts.residents);
    return SLR_OK;
}

static void describe_residents(const struct slri_residents *residents, slr_device_info *out)
{
    out->pauses = __atomic_load_n(&residents->pauses, __ATOMIC_RELAXED);
    out->unheard = __atomic_load_n(&residents->unheard, __ATOMIC_RELAXED);
}

// A limit of the cache that is no number is no reason to refuse a device; whoever looks at it reads why it does not
// hold.
static void describe_limits(slr_device_info *out)
{
    struct slri_cache_limits limits;
    size_t noted = strlen(out->notes);
    if (*out->cache && slri_cache_limits_get(&limits) != SLR_OK)
        snprintf(out->notes + noted, sizeof out->notes - noted, "%s%s; the default holds", noted ? "; " : "",
                 slr_error_message());
}

static slr_status describe_device(const slr_device *device, slr_device_info *out)
{
    struct slri_facts facts;
    snprintf(out->backend, sizeof out->backend, "%s", device->backend->name);
    snprintf(out->chosen, sizeof out->chosen, "%s", device->chosen);
    out->unified_memory = device->facts.unified;
    out->device_class = device->facts.device_class;
    out->ring_kernels = out->kernels = device->backend->code_kernel != NULL;
    out->workers = out->ring_kernels ? device->owners.hosts.workers : 0;
    if (device->facts.residents)
        describe_residents(device->facts.residents, out);
    out->kept_bytes = slri_kept_bytes();
    SLRI_TRY(device->backend->facts(device->self, 0, &facts, out));
    if (!*out->name)
        snprintf(out->name, sizeof out->name, "%s", facts.identity.device);
    if (!*out->cache && device->backend->blob_suffix)
        slri_cache_describe(out->cache, sizeof out->cache);
    describe_limits(out);
    return SLR_OK;
}

slr_status slr_device_get_info_sized(const slr_device *device, slr_device_info *out, size_t bytes)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_device_get_info: %s is NULL", device ? "out" : "device");
    slr_device_info whole = {0};
    SLRI_TRY(describe_device(device, &whole));
    return SLRI_GIVE_REPORT(slr_device_info, out, bytes, &whole);
}

slr_status(slr_device_get_info)(const slr_device *device, slr_device_info *out)
{
    return slr_device_get_info_sized(device, out, SLRI_FIRST_slr_device_info);
}
