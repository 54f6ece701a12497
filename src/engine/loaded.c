// SPDX-License-Identifier: Apache-2.0
#include "engine/loaded.h"

#include "base/alloc.h"
#include "base/status.h"

#include <stdio.h>

void slri_loaded_init(struct slri_loaded_list *list)
{
    slri_mutex_init(&list->lock);
}

void slri_loaded_destroy(struct slri_loaded_list *list)
{
    slri_mutex_destroy(&list->lock);
}

slr_status slri_loaded_add(struct slri_loaded_list *list, const char *name, void **kernel)
{
    struct slri_loaded *made = slri_alloc(list->allocator, list->call->bytes);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", name);
    made->name = name;
    slri_mutex_init(&made->lock);
    slri_mutex_lock(&list->lock);
    made->number = ++list->added;
    made->next = list->first;
    list->first = made;
    slri_mutex_unlock(&list->lock);
    *kernel = made;
    return SLR_OK;
}

// Under the list's lock.
static void free_objects(struct slri_loaded_list *list, struct slri_loaded *kernel)
{
    const bool frees = !slri_hangs(list->loss);
    for (struct slri_pipeline *each = kernel->pipeline, *next; each; each = next) {
        next = each->next;
        if (frees)
            list->call->free(list->device, each->native);
        slri_free(list->allocator, each, sizeof *each);
    }
    kernel->pipeline = NULL;
    if (frees)
        list->call->drop(list->device, kernel);
}

void slri_loaded_remove(struct slri_loaded_list *list, void *kernel)
{
    struct slri_loaded *dying = kernel, **place = &list->first;
    slri_mutex_lock(&list->lock);
    while (*place != dying)
        place = &(*place)->next;
    *place = dying->next;
    free_objects(list, dying);
    slri_mutex_unlock(&list->lock);
    slri_mutex_destroy(&dying->lock);
    slri_free(list->allocator, dying, list->call->bytes);
}

void slri_loaded_forget(struct slri_loaded_list *list)
{
    slri_mutex_lock(&list->lock);
    for (struct slri_loaded *each = list->first; each; each = each->next)
        free_objects(list, each);
    slri_mutex_unlock(&list->lock);
}

void slri_loaded_name(struct slri_loaded_list *list, uint32_t number, char *out, size_t room)
{
    slri_mutex_lock(&list->lock);
    const struct slri_loaded *each = list->first;
    while (each && each->number != number)
        each = each->next;
    snprintf(out, room, "%s", each ? each->name : "(unloaded)");
    slri_mutex_unlock(&list->lock);
}

// ---- pipelines -----------------------------------------------------------------------------------------------------

// Under the kernel's lock.
static slr_status add_pipeline(struct slri_loaded_list *list, struct slri_loaded *kernel, uint32_t words,
                               struct slri_pipeline **out)
{
    struct slri_pipeline *made = slri_alloc(list->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", kernel->name);
    slr_status status = list->call->make(list->device, kernel, words, &made->native);
    if (status != SLR_OK) {
        slri_free(list->allocator, made, sizeof *made);
        return status;
    }
    made->words = words;
    made->next = kernel->pipeline;
    kernel->pipeline = made;
    *out = made;
    return SLR_OK;
}

slr_status slri_loaded_pipeline(struct slri_loaded_list *list, struct slri_loaded *kernel, uint32_t dynamic_bytes,
                                uint64_t *native)
{
    slr_status status = SLR_OK;
    uint32_t words = kernel->least_words;
    if (words != 0 && (dynamic_bytes + 3) / 4 > words)
        words = (dynamic_bytes + 3) / 4;
    slri_mutex_lock(&kernel->lock);
    struct slri_pipeline *found = kernel->pipeline;
    while (found && found->words != words)
        found = found->next;
    if (!found)
        status = add_pipeline(list, kernel, words, &found);
    if (status == SLR_OK)
        *native = found->native;
    slri_mutex_unlock(&kernel->lock);
    return status;
}
