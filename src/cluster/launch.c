// SPDX-License-Identifier: Apache-2.0
// A launch becomes one launch a device, between two functions of the host that look at the clock.
#include "cluster/launch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "device/kernel.h"

#include <string.h>

// ---- the record ----------------------------------------------------------------------------------------------------

static size_t bytes_of_args(const slr_arg *args, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; ++i)
        bytes += args[i].kind == SLR_ARG_BYTES ? (args[i].bytes + 15) / 16 * 16 : 0;
    return bytes;
}

// Copies the arguments, and what those by value point to.
static void copy_args(struct slri_cluster_launch *launch, const slr_arg *args, char *room)
{
    for (uint32_t i = 0; i < launch->args; ++i) {
        launch->arg[i] = args[i];
        if (slri_cluster_is_buffer(&args[i]))
            slri_buffer_hold(args[i].value.buffer);
        if (args[i].kind != SLR_ARG_BYTES || !args[i].value.memory)
            continue;
        memcpy(room, args[i].value.memory, args[i].bytes);
        launch->arg[i].value.memory = room;
        room += (args[i].bytes + 15) / 16 * 16;
    }
}

static slr_status make_launch(slr_cluster *cluster, slr_kernel *const *kernels, const slr_arg *args, uint32_t count,
                              struct slri_cluster_launch **out)
{
    size_t head = sizeof **out + cluster->count * sizeof(struct slri_cluster_run);
    size_t kernel_bytes = cluster->count * sizeof *kernels, arg_bytes = count * sizeof *args;
    size_t bytes = (head + kernel_bytes + arg_bytes + 15) / 16 * 16 + bytes_of_args(args, count);
    struct slri_cluster_launch *launch = slri_alloc(NULL, bytes);
    if (!launch)
        return SLRI_FAIL(NO_MEMORY, "no memory for a launch on %u devices", cluster->count);
    char *at = (char *)launch + head;
    *launch = (struct slri_cluster_launch){.cluster = cluster, .bytes = bytes, .args = count};
    launch->kernel = (slr_kernel **)(void *)at;
    launch->arg = (slr_arg *)(void *)(at + kernel_bytes);
    memcpy(launch->kernel, kernels, kernel_bytes);
    for (uint32_t i = 0; i < cluster->count; ++i)
        slri_kernel_hold(kernels[i]);
    copy_args(launch, args, (char *)launch + (head + kernel_bytes + arg_bytes + 15) / 16 * 16);
    *out = launch;
    return SLR_OK;
}

void slri_cluster_free_launch(struct slri_cluster_launch *launch)
{
    for (uint32_t i = 0; i < launch->cluster->count; ++i)
        slri_kernel_release(launch->kernel[i]);
    for (uint32_t i = 0; i < launch->args; ++i)
        if (slri_cluster_is_buffer(&launch->arg[i]))
            slri_buffer_release(launch->arg[i].value.buffer);
    slri_free(NULL, launch, launch->bytes);
}

static slr_status take_rates(slr_cluster *cluster, slr_kernel *kernel, struct slri_cluster_rates **out)
{
    slri_mutex_lock(&cluster->lock);
    struct slri_cluster_rates *rates = slri_cluster_find_rates(cluster, kernel);
    if (!rates && (rates = slri_alloc(NULL, sizeof *rates + cluster->count * sizeof *rates->rate)) != NULL) {
        rates->kernel = kernel;
        slri_kernel_hold(kernel);
        rates->next = cluster->rates;
        cluster->rates = rates;
    }
    if (rates)
        cluster->last = rates;
    slri_mutex_unlock(&cluster->lock);
    *out = rates;
    return rates ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for the rates of a kernel");
}

// ---- the end of a part ---------------------------------------------------------------------------------------------

// The last part is done, under the lock: how long the others' devices have waited for it. True: all is well with it.
static bool count_launch(struct slri_cluster_launch *launch)
{
    uint64_t last_ns = 0;
    bool is_done = true;
    for (uint32_t i = 0; i < launch->cluster->count; ++i) {
        const struct slri_cluster_run *run = &launch->run[i];
        last_ns = run->end_ns > last_ns ? run->end_ns : last_ns;
        is_done &= run->status == SLR_OK;
    }
    for (uint32_t i = 0; i < launch->cluster->count && is_done; ++i)
        if (launch->run[i].part.items != 0)
            launch->cluster->device[i].stats.idle_ns += last_ns - launch->run[i].end_ns;
    return is_done;
}

static void end_run(struct slri_cluster_run *run, slr_status status)
{
    struct slri_cluster_launch *launch = run->launch;
    slr_cluster *cluster = launch->cluster;
    uint32_t index = (uint32_t)(run - launch->run);
    slr_cluster_stats *stats = &cluster->device[index].stats;
    slri_mutex_lock(&cluster->lock);
    run->status = status;
    run->end_ns = slri_now_ns();
    stats->pending_items -= run->part.items;
    if (status == SLR_OK) {
        ++stats->parts;
        stats->items += run->part.items;
        stats->busy_ns += run->end_ns - run->begin_ns;
        slri_cluster_note_rate(launch->rates, index, run->part.items, run->end_ns - run->begin_ns);
    }
    bool is_last = --launch->remaining == 0, is_done = is_last && count_launch(launch);
    if (is_last && !is_done)
        slri_link_last(&cluster->failed, &launch->in_failed);
    slri_mutex_unlock(&cluster->lock);
    if (is_done)
        slri_cluster_free_launch(launch);
}

static void at_begin(void *user, slr_status status)
{
    struct slri_cluster_run *run = user;
    (void)status;
    run->begin_ns = slri_now_ns();
}

static void at_end(void *user, slr_status status)
{
    end_run(user, status);
}

// ---- one device ----------------------------------------------------------------------------------------------------

// The device's arguments. Parts of buffers are made, to be released.
static slr_status settle_arg(const struct slri_cluster_launch *launch, uint32_t index, uint32_t k, slr_arg *out)
{
    const slr_parameter *parameter = &launch->kernel[index]->info.parameters[k];
    const slr_part *part = &launch->run[index].part;
    const slr_arg *arg = &launch->arg[k];
    *out = *arg;
    if (arg->kind == SLR_ARG_ITEMS)
        *out = slr_arg_unsigned(part->items);
    if (arg->kind == SLR_ARG_FIRST)
        *out = slr_arg_unsigned(part->offset);
    if (arg->kind != SLR_ARG_SPLIT)
        return SLR_OK;
    uint64_t item = arg->bytes ? arg->bytes : parameter->element_bytes;
    *out = slr_arg_buffer(NULL);
    return slri_buffer_part(arg->value.buffer, part->offset * item, part->items * item, &out->value.buffer);
}

static slr_status launch_with(struct slri_cluster_launch *launch, uint32_t index, slr_arg *args)
{
    slr_stream *stream = launch->cluster->device[index].stream;
    struct slri_cluster_run *run = &launch->run[index];
    uint32_t made = 0;
    slr_status status = SLR_OK;
    for (; made < launch->args && status == SLR_OK; ++made)
        status = settle_arg(launch, index, made, &args[made]);
    if (status == SLR_OK)
        status = slr_stream_call(stream, at_begin, run, NULL);
    if (status == SLR_OK)
        status = slr_launch(stream, launch->kernel[index], slr_shape_1d(run->part.items), args, launch->args, NULL);
    for (uint32_t k = 0; k < made; ++k)
        if (launch->arg[k].kind == SLR_ARG_SPLIT && args[k].kind == SLR_ARG_BUFFER)
            slr_buffer_destroy(args[k].value.buffer);
    return status;
}

// Whatever comes of it, the part ends once.
static slr_status launch_part(struct slri_cluster_launch *launch, uint32_t index)
{
    slr_stream *stream = launch->cluster->device[index].stream;
    slr_arg *args = slri_alloc(NULL, (launch->args + 1) * sizeof *args);
    slr_status status = args ? launch_with(launch, index, args) : SLRI_FAIL(NO_MEMORY, "no memory for a launch");
    slri_free(NULL, args, (launch->args + 1) * sizeof *args);
    if (status == SLR_OK)
        status = slr_stream_call(stream, at_end, &launch->run[index], NULL);
    if (status != SLR_OK)
        end_run(&launch->run[index], status);
    return status;
}

// ---- all of them ---------------------------------------------------------------------------------------------------

static slr_status check_parts(const slr_cluster *cluster, const slr_part *parts)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < cluster->count; ++i) {
        if (parts[i].items == 0)
            continue;
        if (parts[i].device != i)
            return SLRI_FAIL(INVALID,
                             "slr_cluster_launch: parts[%u] is of device %u: the parts are in the order of "
                             "the devices",
                             i, parts[i].device);
        if (parts[i].offset < end || parts[i].items > UINT64_MAX - parts[i].offset)
            return SLRI_FAIL(INVALID,
                             "slr_cluster_launch: parts[%u] begins at item %llu, and the one before it ends at "
                             "%llu",
                             i, (unsigned long long)parts[i].offset, (unsigned long long)end);
        end = parts[i].offset + parts[i].items;
    }
    return SLR_OK;
}

static uint32_t count_parts(const slr_cluster *cluster, const slr_part *parts, uint64_t *end)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cluster->count; ++i) {
        count += parts[i].items != 0;
        *end = parts[i].items != 0 ? parts[i].offset + parts[i].items : *end;
    }
    return count;
}

static slr_status check_split(const slr_kernel *kernel, const slr_parameter *parameter, const slr_arg *arg,
                              uint64_t items)
{
    uint64_t item = arg->bytes ? arg->bytes : parameter->element_bytes;
    if (!arg->value.buffer || !parameter->is_buffer)
        return SLRI_FAIL(INVALID, "kernel %s: parameter '%s' is %s, which cannot be split", kernel->info.name,
                         parameter->name, parameter->is_buffer ? "NULL" : "no buffer");
    if (item % parameter->element_bytes != 0)
        return SLRI_FAIL(INVALID, "kernel %s: parameter '%s': items of %llu bytes are no whole elements of %llu",
                         kernel->info.name, parameter->name, (unsigned long long)item,
                         (unsigned long long)parameter->element_bytes);
    if (items > slr_buffer_size(arg->value.buffer) / item)
        return SLRI_FAIL(INVALID, "kernel %s: parameter '%s': its buffer of %llu bytes has no %llu items of %llu bytes",
                         kernel->info.name, parameter->name, (unsigned long long)slr_buffer_size(arg->value.buffer),
                         (unsigned long long)items, (unsigned long long)item);
    return SLR_OK;
}

static slr_status check_args(const slr_kernel *kernel, const slr_arg *args, uint32_t count, uint32_t parts,
                             uint64_t items)
{
    if (count != kernel->info.parameter_count)
        return SLRI_FAIL(INVALID, "kernel %s takes %u arguments, but got %u", kernel->info.name,
                         kernel->info.parameter_count, count);
    for (uint32_t k = 0; k < count; ++k) {
        const slr_parameter *parameter = &kernel->info.parameters[k];
        if (args[k].kind == SLR_ARG_SPLIT)
            SLRI_TRY(check_split(kernel, parameter, &args[k], items));
        if (args[k].kind == SLR_ARG_BUFFER && parameter->is_buffer && !parameter->is_const && parts > 1)
            return SLRI_FAIL(INVALID,
                             "kernel %s writes parameter '%s', and %u devices would write the whole buffer: "
                             "split it (slr_arg_split)",
                             kernel->info.name, parameter->name, parts);
    }
    return SLR_OK;
}

static slr_status check_kernels(const slr_cluster *cluster, slr_kernel *const *kernels, const slr_part *parts)
{
    for (uint32_t i = 0; i < cluster->count; ++i) {
        if (!kernels[i])
            return SLRI_FAIL(INVALID, "slr_cluster_launch: kernels[%u] is NULL", i);
        if (kernels[i]->program->device != cluster->device[i].device)
            return SLRI_FAIL(INVALID, "slr_cluster_launch: kernels[%u] belongs to another device than the cluster's %u",
                             i, i);
    }
    // Compiled before any begins: no device waits for another's compiler with its part half done.
    for (uint32_t i = 0; i < cluster->count; ++i)
        if (parts[i].items != 0 && !cluster->device[i].is_lost)
            SLRI_TRY(slr_kernel_prepare(kernels[i], slr_shape_1d(parts[i].items)));
    return SLR_OK;
}

// A lost device's part is done again by slr_cluster_finish; any other failure ends the launch. What has begun goes on.
static slr_status launch_all(struct slri_cluster_launch *launch, const slr_part *parts)
{
    slr_cluster *cluster = launch->cluster;
    uint64_t end = 0;
    uint32_t count = count_parts(cluster, parts, &end), index[SLR_CLUSTER_MOST_DEVICES], indices = 0;
    if (count == 0) {
        slri_cluster_free_launch(launch);
        return SLR_OK;
    }
    launch->remaining = count;
    slri_mutex_lock(&cluster->lock);
    for (uint32_t i = 0; i < cluster->count; ++i) {
        launch->run[i] = (struct slri_cluster_run){.launch = launch, .part = parts[i]};
        if (parts[i].items != 0)
            index[indices++] = i;
        cluster->device[i].stats.pending_items += parts[i].items;
    }
    slri_mutex_unlock(&cluster->lock);
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < indices; ++i) { // the launch is gone with its last part
        if (status != SLR_OK) {
            end_run(&launch->run[index[i]], status);
            continue;
        }
        status = launch_part(launch, index[i]);
        status = status == SLR_DEVICE_LOST ? SLR_OK : status;
    }
    return status;
}

slr_status slri_cluster_launch_again(const struct slri_cluster_launch *like, const slr_part *parts)
{
    struct slri_cluster_launch *launch;
    SLRI_TRY(make_launch(like->cluster, like->kernel, like->arg, like->args, &launch));
    launch->rates = like->rates;
    return launch_all(launch, parts);
}

static slr_status join(slr_cluster *cluster, slr_point *out)
{
    for (uint32_t i = 0; i < cluster->count; ++i) {
        slr_point point;
        SLRI_TRY(slr_stream_signal(cluster->device[i].stream, &point));
        SLRI_TRY(slr_stream_wait(cluster->join, point));
    }
    return slr_stream_signal(cluster->join, out);
}

slr_status slr_cluster_launch(slr_cluster *cluster, slr_kernel *const *kernels, const slr_part *parts,
                              const slr_arg *args, uint32_t arg_count, slr_point *out)
{
    struct slri_cluster_launch *launch;
    if (!cluster || !kernels || !parts || (!args && arg_count))
        return SLRI_FAIL(INVALID, "slr_cluster_launch: %s is NULL",
                         !cluster   ? "cluster"
                         : !kernels ? "kernels"
                         : !parts   ? "parts"
                                    : "args");
    uint64_t items = 0;
    SLRI_TRY(check_parts(cluster, parts));
    uint32_t count = count_parts(cluster, parts, &items);
    SLRI_TRY(check_kernels(cluster, kernels, parts));
    SLRI_TRY(check_args(kernels[0], args, arg_count, count, items));
    SLRI_TRY(make_launch(cluster, kernels, args, arg_count, &launch));
    slr_status status = take_rates(cluster, kernels[0], &launch->rates);
    if (status != SLR_OK) {
        slri_cluster_free_launch(launch);
        return status;
    }
    SLRI_TRY(launch_all(launch, parts));
    return out ? join(cluster, out) : SLR_OK;
}
