// SPDX-License-Identifier: Apache-2.0
// Which CUDA devices the driver shows, and what each is. Nothing is concluded from a name.
#include "backend/cuda/cuda.h"
#include "base/environment.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

slr_status slri_cu_count_devices(const struct slri_cu *cu, uint32_t *out)
{
    int32_t count = 0;
    int32_t error = cu->DeviceGetCount(&count);
    if (error != SLRI_CU_SUCCESS && error != SLRI_CU_NO_DEVICE)
        return slri_cu_failed(cu, "cuda", "DeviceGetCount", error);
    const char *visible = slri_environment_of_vendor("CUDA_VISIBLE_DEVICES");
    if (count <= 0)
        return visible ? SLRI_FAIL(NO_DEVICE, "NVIDIA's driver shows no GPU with CUDA_VISIBLE_DEVICES='%s'", visible)
                       : SLRI_FAIL(NO_DEVICE, "NVIDIA's driver is here, and no GPU");
    *out = (uint32_t)count;
    return SLR_OK;
}

// ---- by name -------------------------------------------------------------------------------------------------------

// The 16 bytes as nvidia-smi prints them, without what they are the name of.
static int32_t ask_uuid(const struct slri_cu *cu, slri_cu_device device, char out[37])
{
    unsigned char bytes[16] = {0};
    int32_t error = (cu->DeviceGetUuid_v2 ? cu->DeviceGetUuid_v2 : cu->DeviceGetUuid)(bytes, device);
    char *at = out;
    for (int i = 0; i < 16; ++i)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    return error;
}

// A MIG instance is a device of its own to the driver; which of the two a device is it does not say, so that both
// beginnings are good.
static bool is_named(const char *id, const char *uuid)
{
    bool known = strncmp(id, "GPU-", 4) == 0 || strncmp(id, "MIG-", 4) == 0;
    return known && id[4] != '\0' && strncmp(id + 4, uuid, strlen(id + 4)) == 0;
}

static slr_status find_named(const struct slri_cu *cu, const char *id, uint32_t count, slri_cu_device *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        slri_cu_device device;
        char uuid[37];
        int32_t error = cu->DeviceGet(&device, (int32_t)i);
        if (error == SLRI_CU_SUCCESS)
            error = ask_uuid(cu, device, uuid);
        if (error != SLRI_CU_SUCCESS)
            return slri_cu_failed(cu, "cuda", "DeviceGetUuid", error);
        if (!is_named(id, uuid))
            continue;
        *out = device;
        ++found;
    }
    if (found == 1)
        return SLR_OK;
    return SLRI_FAIL(NO_DEVICE, "%s cuda:%s among the %u device%s that the driver shows (nvidia-smi -L lists them)",
                     found ? "there is more than one" : "there is no", id, count, count > 1 ? "s" : "");
}

slr_status slri_cu_find_device(const struct slri_cu *cu, const struct slri_spec *spec, slri_cu_device *out)
{
    uint32_t count = 0;
    SLRI_TRY(slri_cu_count_devices(cu, &count));
    if (*spec->id)
        return find_named(cu, spec->id, count, out);
    if (spec->index >= count)
        return SLRI_FAIL(NO_DEVICE, "there is no cuda:%u; the driver shows %u device%s, from cuda:0", spec->index,
                         count, count > 1 ? "s" : "");
    int32_t error = cu->DeviceGet(out, (int32_t)spec->index);
    return error == SLRI_CU_SUCCESS ? SLR_OK : slri_cu_failed(cu, "cuda", "DeviceGet", error);
}

// ---- one device ----------------------------------------------------------------------------------------------------

static int32_t ask_attributes(const struct slri_cu *cu, slri_cu_device device, struct slri_cu_facts *out)
{
    int32_t error = SLRI_CU_SUCCESS;
#define ASK(name, number)                                                                                              \
    if (error == SLRI_CU_SUCCESS)                                                                                      \
        error = cu->DeviceGetAttribute(&out->name, number, device);
    SLRI_CU_ATTRIBUTES(ASK)
#undef ASK
#define ASK_OPTIONAL(name, number)                                                                                     \
    if (cu->DeviceGetAttribute(&out->name, number, device) != SLRI_CU_SUCCESS)                                         \
        out->name = 0;
    SLRI_CU_OPTIONAL_ATTRIBUTES(ASK_OPTIONAL)
#undef ASK_OPTIONAL
    return error;
}

slr_status slri_cu_ask(const struct slri_cu *cu, const char *name, slri_cu_device device, struct slri_cu_facts *out)
{
    struct slri_cu_facts facts = {0};
    size_t bytes = 0;
    char uuid[37];
    int32_t error = ask_attributes(cu, device, &facts);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceGetAttribute", error);
    error = cu->DeviceGetName(facts.name, sizeof facts.name, device);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceGetName", error);
    error = cu->DeviceTotalMem_v2(&bytes, device);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceTotalMem", error);
    error = ask_uuid(cu, device, uuid);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceGetUuid", error);
    facts.memory_bytes = bytes;
    snprintf(facts.id, sizeof facts.id, "GPU-%s", uuid);
    *out = facts;
    return SLR_OK;
}
