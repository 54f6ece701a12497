// SPDX-License-Identifier: Apache-2.0
// The libOpenCL that is here, on which devices say that they have sub-groups, and programs find their functions made of
// local memory: so the text for sub-groups runs where no device has any. It stands behind a text whose `scratch` it
// makes larger, and all threads of a block must come to each function. Calls that are not here go to the library that
// it is linked with. FAKE_SUB_GROUPS says how they are: "in_order", "of_16", "reversed", or "rows" (reversed in blocks
// of more than one row).
#include "hal/opencl/api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) SEEN result cl##name parameters;
SLRI_CL_REQUIRED(DECLARE)
SLRI_CL_OPTIONAL(DECLARE)

static bool is_mode(const char *mode)
{
    const char *is = getenv("FAKE_SUB_GROUPS");
    return is && strcmp(is, mode) == 0;
}

static void *real(const char *name)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function)
        abort();
    return function;
}

static int32_t answer(const void *from, size_t bytes, size_t room, void *out, size_t *told)
{
    if (told)
        *told = bytes;
    if (out && room < bytes)
        return -30;
    if (out)
        memcpy(out, from, bytes);
    return 0;
}

static int32_t answer_extensions(int32_t (*ask)(slri_cl_device_id, uint32_t, size_t, void *, size_t *),
                                 slri_cl_device_id id, size_t room, void *out, size_t *bytes)
{
    char list[16384] = "";
    int32_t error = ask(id, SLRI_CL_DEVICE_EXTENSIONS, sizeof list / 2, list, NULL);
    if (error != 0)
        return error;
    strcat(list, " cl_khr_subgroup_ballot cl_khr_subgroup_shuffle cl_intel_required_subgroup_size");
    return answer(list, strlen(list) + 1, room, out, bytes);
}

int32_t clGetDeviceInfo(slri_cl_device_id id, uint32_t what, size_t room, void *out, size_t *bytes)
{
    int32_t (*ask)(slri_cl_device_id, uint32_t, size_t, void *, size_t *);
    *(void **)(void *)&ask = real("clGetDeviceInfo");
    const uint32_t most = 32;
    const size_t sizes[] = {16, 32};
    const char *mode = getenv("FAKE_SUB_GROUPS");
    switch (what) {
    case SLRI_CL_DEVICE_EXTENSIONS:
        return answer_extensions(ask, id, room, out, bytes);
    case SLRI_CL_DRIVER_VERSION: // programs of one kind are no other's
        return answer(mode, strlen(mode) + 1, room, out, bytes);
    case SLRI_CL_DEVICE_MAX_NUM_SUB_GROUPS:
        return answer(&most, sizeof most, room, out, bytes);
    case SLRI_CL_DEVICE_SUB_GROUP_SIZES_INTEL:
        return answer(sizes, sizeof sizes, room, out, bytes);
    default:
        return ask(id, what, room, out, bytes);
    }
}

int32_t clGetKernelSubGroupInfo(slri_cl_kernel kernel, slri_cl_device_id id, uint32_t what, size_t in_bytes,
                                const void *in, size_t room, void *out, size_t *bytes)
{
    (void)kernel, (void)id, (void)in, (void)in_bytes;
    const size_t size = is_mode("of_16") ? 16 : 32;
    return what == SLRI_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE ? answer(&size, sizeof size, room, out, bytes) : -30;
}

// ---- what programs find --------------------------------------------------------------------------------------------

static const char functions[] =
    "static uint fake_place(void)\n"
    "{\n"
    "    return get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));\n"
    "}\n"
    "static uint get_sub_group_size(void)\n"
    "{\n"
    "    uint left = get_local_size(0) * get_local_size(1) * get_local_size(2) - (fake_place() & ~31u);\n"
    "    return min(left, 32u);\n"
    "}\n"
    "static uint fake_lane(uint lane) { return FAKE_REVERSED ? get_sub_group_size() - 1 - lane : lane; }\n"
    "static uint get_sub_group_local_id(void) { return fake_lane(fake_place() & 31); }\n"
    "#define FAKE_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
    "static ulong fake_shuffle(ulong value, uint lane, __local ulong *scratch)\n"
    "{\n"
    "    scratch[fake_place()] = value;\n"
    "    FAKE_BARRIER();\n"
    "    ulong taken = scratch[(fake_place() & ~31u) + fake_lane(lane)];\n"
    "    FAKE_BARRIER();\n"
    "    return taken;\n"
    "}\n"
    "static uint4 fake_ballot(int value, __local ulong *scratch)\n"
    "{\n"
    "    uint made = 0;\n"
    "    scratch[fake_place()] = value != 0;\n"
    "    FAKE_BARRIER();\n"
    "    for (uint i = 0; i < get_sub_group_size(); i++)\n"
    "        made |= (uint)scratch[(fake_place() & ~31u) + fake_lane(i)] << i;\n"
    "    FAKE_BARRIER();\n"
    "    return (uint4)(made, 0, 0, 0);\n"
    "}\n"
    "#define sub_group_shuffle(value, lane) fake_shuffle(value, lane, lanes)\n"
    "#define sub_group_ballot(value) fake_ballot(value, lanes)\n"
    "#define sub_group_barrier(flags) barrier(flags)\n";

// A text with `scratch[1]` as wide as a block may be.
static char *widen(const char *text)
{
    static const char narrow[] = "scratch[1];", wide[] = "scratch[4096];";
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, narrow)) != NULL; ++at)
        ++found;
    char *made = calloc(strlen(text) + found * sizeof wide + 1, 1), *to = made;
    for (const char *at; made && (at = strstr(text, narrow)) != NULL; text = at + strlen(narrow))
        to += sprintf(to, "%.*s%s", (int)(at - text), text, wide);
    if (made)
        strcpy(to, text);
    return made;
}

slri_cl_program clCreateProgramWithSource(slri_cl_context context, uint32_t count, const char **text,
                                          const size_t *bytes, int32_t *error)
{
    slri_cl_program (*create)(slri_cl_context, uint32_t, const char **, const size_t *, int32_t *);
    *(void **)(void *)&create = real("clCreateProgramWithSource");
    bool uses = count == 1 && strstr(text[0], "#define SLRI_SUB_GROUPS\n") != NULL;
    if (!uses)
        return create(context, count, text, bytes, error);
    char *wide = widen(text[0]);
    const char *texts[] = {is_mode("reversed") ? "#define FAKE_REVERSED 1\n"
                           : is_mode("rows")   ? "#define FAKE_REVERSED (get_local_size(1) > 1)\n"
                                               : "#define FAKE_REVERSED 0\n",
                           functions, wide};
    slri_cl_program program = wide ? create(context, 3, texts, NULL, error) : NULL;
    free(wide);
    return program;
}
