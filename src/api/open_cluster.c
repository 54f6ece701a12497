// SPDX-License-Identifier: Apache-2.0
// A cluster whose devices are opened for it.
#include "base/status.h"
#include "cluster/cluster.h"

#include <stdio.h>
#include <string.h>

// The next name of the list to `name`, without blanks around it. False: there is none.
static bool next_name(const char **names, char *name, size_t room, bool *is_long)
{
    const char *at = *names;
    if (!at)
        return false;
    at += strspn(at, " ");
    size_t length = strcspn(at, ","), end = length;
    while (end > 0 && at[end - 1] == ' ')
        --end;
    *is_long = end >= room;
    snprintf(name, room, "%.*s", (int)end, at);
    *names = at[length] == ',' ? at + length + 1 : NULL;
    return true;
}

static slr_status open_all(const char *names, const slr_device_desc *desc, slr_device **devices, uint32_t *count)
{
    char name[SLR_DEVICE_NAME_BYTES];
    for (bool is_long; next_name(&names, name, sizeof name, &is_long); ++*count) {
        if (is_long || *name == '\0')
            return SLRI_FAIL(INVALID, "device %u of the list has %s name: expected NAME,NAME", *count,
                             is_long ? "too long a" : "no");
        if (*count == SLR_CLUSTER_MOST_DEVICES)
            return SLRI_FAIL(INVALID, "a cluster has at most %d devices", SLR_CLUSTER_MOST_DEVICES);
        SLRI_TRY(slr_device_open(name, desc, &devices[*count]));
    }
    return SLR_OK;
}

slr_status slr_cluster_create_named(const char *names, const slr_device_desc *desc, slr_cluster **out)
{
    slr_device *devices[SLR_CLUSTER_MOST_DEVICES];
    uint32_t count = 0;
    if (!names || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_create_named: %s is NULL", names ? "out" : "names");
    slr_status status = open_all(names, desc, devices, &count);
    if (status == SLR_OK)
        status = slr_cluster_create(devices, count, out);
    if (status == SLR_OK)
        slri_cluster_own(*out);
    for (uint32_t i = 0; i < count && status != SLR_OK; ++i)
        slr_device_close(devices[i]);
    return status;
}
