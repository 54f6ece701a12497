// SPDX-License-Identifier: Apache-2.0
// Modules, links, and functions.
#define _POSIX_C_SOURCE 200809L
#include "fake_cuda_inside.h"

#include "run/interpreter.h"
#include "lang/kernel.h"
#include "tests/ptx/ptx.h"
#include "tests/shim/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slri_module *read_source(const char *text)
{
    struct slri_source source = {.path = "emitted.cu", .text = text, .is_emitted = true};
    struct slri_module *module = NULL;
    return slri_kernel_compile(&source, &module) == SLR_OK ? module : NULL;
}

#define MOST_KERNELS 256

// The texts of a link, and which kernels are in each: those that the front end sees, and what stands behind a handler.
struct parts {
    char *copy;
    struct shim_text text[2];
    size_t texts;
    const char *kernel[2][MOST_KERNELS];
};

static void note_kernels(struct parts *parts, const struct slri_module *module)
{
    struct shim_text *text = &parts->text[parts->texts];
    const char **kernel = parts->kernel[parts->texts++];
    for (uint32_t i = 0; module && i < module->entries && text->kernels < MOST_KERNELS - 2; ++i)
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL)
            kernel[text->kernels++] = module->entry[i].name;
    if (strstr(text->text, slri_embedded_cu_resident_h))
        kernel[text->kernels++] = "slr_stay";
    text->kernel = kernel;
}

static void take_apart(struct parts *parts, const char *text, const struct slri_module *module)
{
    *parts = (struct parts){.copy = strdup(text)};
    char *second = strstr(parts->copy, LINKED);
    if (second) {
        *second = '\0';
        second += sizeof LINKED - 1;
        second[strlen(second) - strlen("#endif\n")] = '\0';
        parts->text[1].text = second;
    }
    parts->text[0].text = parts->copy;
    note_kernels(parts, module);
    if (second)
        note_kernels(parts, NULL);
}

bool compile_shim(const char *text, const struct slri_module *module, char **complaint)
{
    struct parts parts;
    take_apart(&parts, text, module);
    bool compiled = shim_compile(&parts.text[0], complaint);
    free(parts.copy);
    return compiled;
}

struct shim_image *load_shim(const char *text, const struct slri_module *module)
{
    struct parts parts;
    take_apart(&parts, text, module);
    struct shim_image *image = shim_image_load(parts.text, parts.texts);
    free(parts.copy);
    return image;
}

struct ptx_image *load_ptx(const char *text)
{
    struct parts parts;
    struct ptx_text made[2] = {{0}};
    char *complaint = NULL;
    take_apart(&parts, text, NULL);
    for (size_t i = 0; i < parts.texts && !complaint; ++i)
        ptx_compile(parts.text[i].text, &made[i], &complaint);
    if (complaint)
        fprintf(stderr, "ptx: %s\n", complaint);
    struct ptx_image *image = complaint ? NULL : ptx_image_load(made, parts.texts);
    free(complaint);
    free(made[0].ptx);
    free(made[1].ptx);
    free(parts.copy);
    return image;
}

static int32_t load_module(slri_cu_module *module, const struct cubin *cubin)
{
    int32_t error = next_in_context("ModuleLoadData");
    if (error != 0)
        return error;
    if (memcmp(cubin->mark, MARK, sizeof MARK) != 0)
        return 200;
    struct object *made = make(MODULE, current());
    *module = (slri_cu_module)(void *)made;
    made->module = read_source(cubin->text);
    made->text = strdup(cubin->text);
    made->stays = strstr(cubin->text, slri_embedded_cu_resident_h) != NULL; // as it is, to the letter
    if (!made->module || slri_interp_create(made->module, &made->interp) != SLR_OK)
        return 200;
    if (shim_is_on())
        made->image = load_shim(cubin->text, made->module);
    if (ptx_is_on())
        made->ptx = load_ptx(cubin->text);
    return (shim_is_on() && !made->image) || (ptx_is_on() && !made->ptx) ? 200 : 0;
}

int32_t cuModuleLoadData(slri_cu_module *module, const void *image)
{
    wait_for_stays("ModuleLoadData", LONG_MS);
    LOCKED(load_module(module, image));
    return error;
}

int32_t cuModuleUnload(slri_cu_module module)
{
    wait_for_stays("ModuleUnload", LONG_MS);
    LOCKED(drop_from_context("ModuleUnload", module, MODULE));
    return error;
}

// Files that are linked are one text: that of the handler, and the loop behind it.
int32_t cuLinkCreate_v2(uint32_t options, int32_t *option, void **value, slri_cu_link *link)
{
    (void)option, (void)value;
    LOCKED(options == 0 ? next_in_context("LinkCreate_v2") : refuse("LinkCreate_v2", INVALID_VALUE));
    if (error != 0)
        return error;
    pthread_mutex_lock(&lock);
    *link = (slri_cu_link)make(LINK, current());
    pthread_mutex_unlock(&lock);
    return 0;
}

static int32_t add_to_link(struct object *link, const struct cubin *cubin)
{
    int32_t error = next_in_context("LinkAddData_v2");
    if (error != 0)
        return error;
    if (!link || link->kind != LINK || memcmp(cubin->mark, MARK, sizeof MARK) != 0)
        return refuse("LinkAddData_v2", INVALID_VALUE);
    bool is_loop = strstr(cubin->text, slri_embedded_cu_resident_h) != NULL;
    const char *was = link->text ? link->text : "";
    static const char hides[] = LINKED "%s#endif\n"; // from our front end
    size_t room = strlen(was) + cubin->bytes + sizeof hides;
    char *both = malloc(room);
    int put = snprintf(both, room, "%s", is_loop ? was : cubin->text);
    if (is_loop)
        snprintf(both + put, room - (size_t)put, hides, cubin->text);
    else
        snprintf(both + put, room - (size_t)put, "%s", was);
    free(link->text);
    link->text = both;
    return 0;
}

int32_t cuLinkAddData_v2(slri_cu_link link, int32_t type, void *data, size_t bytes, const char *name, uint32_t options,
                         int32_t *option, void **value)
{
    (void)bytes, (void)name, (void)option, (void)value;
    LOCKED(type == SLRI_CU_LINK_CUBIN && options == 0 ? add_to_link((void *)link, data)
                                                      : refuse("LinkAddData_v2", INVALID_VALUE));
    return error;
}

static int32_t complete_link(struct object *link, void **cubin, size_t *bytes)
{
    int32_t error = next_in_context("LinkComplete");
    if (error != 0)
        return error;
    if (!link || link->kind != LINK || link->bytes || !link->text)
        return refuse("LinkComplete", INVALID_VALUE);
    struct cubin head = {MARK, strlen(link->text) + 1};
    *bytes = sizeof head + head.bytes;
    link->bytes = malloc(*bytes);
    memcpy(link->bytes, &head, sizeof head);
    memcpy(link->bytes + sizeof head, link->text, head.bytes);
    *cubin = link->bytes;
    return 0;
}

int32_t cuLinkComplete(slri_cu_link link, void **cubin, size_t *bytes)
{
    LOCKED(complete_link((void *)link, cubin, bytes));
    return error;
}

int32_t cuLinkDestroy(slri_cu_link link)
{
    LOCKED(drop_from_context("LinkDestroy", link, LINK));
    return error;
}

// A function is the entry of a module, which is found by it.
int32_t cuModuleGetFunction(slri_cu_function *function, slri_cu_module module, const char *name)
{
    struct object *object = (void *)module;
    LOCKED(next_in_context("ModuleGetFunction"));
    if (error != 0)
        return error;
    const struct slri_entry *entry = slri_module_entry(object->module, name);
    *function = (slri_cu_function)(uintptr_t)entry;
    if (object->stays && strcmp(name, "slr_stay") == 0)
        *function = (slri_cu_function)(void *)object; // what is not of its source
    return *function ? 0 : 500;
}

int32_t cuFuncGetAttribute(int32_t *value, int32_t attribute, slri_cu_function function)
{
    LOCKED(next_in_context("FuncGetAttribute"));
    const struct slri_entry *entry = (const void *)function;
    *value = attribute == SLRI_CU_FUNCTION_SHARED      ? (int32_t)entry->shared_bytes
             : attribute == SLRI_CU_FUNCTION_LOCAL     ? 0
             : attribute == SLRI_CU_FUNCTION_REGISTERS ? (int32_t)fake_registers()
             : fake_cuda.most_threads                  ? (int32_t)fake_cuda.most_threads
                                                       : 1024;
    return error;
}

int32_t cuFuncSetAttribute(slri_cu_function function, int32_t attribute, int32_t value)
{
    LOCKED(next_in_context("FuncSetAttribute"));
    const struct slri_entry *entry = (const void *)function;
    (void)attribute;
    return error != 0 || value + (int32_t)entry->shared_bytes <= 232448 ? error : INVALID_VALUE;
}
