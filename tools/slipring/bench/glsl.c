// SPDX-License-Identifier: Apache-2.0
#include "bench/glsl.h"

#include "bench/bare.h"
#include "bench/floors.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char glsl_embedded_matmul_comp[], glsl_embedded_reduce_shared_comp[], glsl_embedded_saxpy_comp[],
    glsl_embedded_stencil_comp[], glsl_embedded_transpose_comp[];

static const struct by_hand {
    const char *name, *text;
} by_hand[] = {
    {"matmul", glsl_embedded_matmul_comp},       {"reduce_shared", glsl_embedded_reduce_shared_comp},
    {"saxpy", glsl_embedded_saxpy_comp},         {"stencil", glsl_embedded_stencil_comp},
    {"transpose", glsl_embedded_transpose_comp},
};
const size_t glsl_count = sizeof by_hand / sizeof *by_hand;

struct glsl_kernel {
    void *api, *kernel;
    void *memory[BARE_HAND_BUFFERS];
};

static const char *text_of(const kernel_case *what)
{
    for (size_t i = 0; i < glsl_count; i++)
        if (strcmp(by_hand[i].name, what->name) == 0)
            return by_hand[i].text;
    return NULL;
}

bool glsl_has(const kernel_case *what)
{
    return text_of(what) != NULL;
}

// ---- glslang -------------------------------------------------------------------------------------------------------

// Its messages go nowhere: the texts are ours.
static bool compile(char *text, char *made)
{
    char *arguments[] = {"glslangValidator", "-V", "--quiet", "--target-env", "vulkan1.2", "-o", made, text, NULL};
    return floors_compile(arguments);
}

static uint32_t *read_words(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    enum { MOST = 1 << 20 };
    uint32_t *words = memory_take(MOST, 1);
    *bytes = fread(words, 1, MOST, file);
    fclose(file);
    return words;
}

// NULL: glslang is not here. For free().
static uint32_t *spirv_of(const char *text, size_t *bytes)
{
    const char *parent = getenv("TMPDIR");
    char folder[200], source[256], made[256];
    snprintf(folder, sizeof folder, "%s/slipring-glsl-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL)
        return NULL;
    snprintf(source, sizeof source, "%s/kernel.comp", folder);
    snprintf(made, sizeof made, "%s/kernel.spv", folder);
    uint32_t *words = floors_write(source, text) && compile(source, made) ? read_words(made, bytes) : NULL;
    unlink(source);
    unlink(made);
    rmdir(folder);
    return words;
}

// ---- a kernel ------------------------------------------------------------------------------------------------------

static bool take_buffers(glsl_kernel *kernel, const kernel_case *what)
{
    for (unsigned i = 0; i < BARE_HAND_BUFFERS && what->buffer[i].times; i++) {
        kernel->memory[i] = bare_vulkan.take(kernel->api, kernel_case_elements(what, i, what->large) * 4);
        if (kernel->memory[i] == NULL)
            return false;
        kernel_case_fill(what, i, what->large, kernel->memory[i]);
    }
    return true;
}

static bool make(glsl_kernel *kernel, const kernel_case *what, const char **why)
{
    const slr_shape shape = kernel_case_shape(what, what->large);
    bare_hand hand = {.n = what->large, .factor = 2.0f, .grid = {shape.grid[0], shape.grid[1]}};
    *why = "glslang does not compile it (glslangValidator; Debian: glslang-tools)";
    uint32_t *words = spirv_of(text_of(what), &hand.bytes);
    if (words == NULL)
        return false;
    *why = "Vulkan has no memory for it";
    if (take_buffers(kernel, what)) {
        *why = "Vulkan makes no pipeline of it";
        memcpy(hand.memory, kernel->memory, sizeof hand.memory);
        hand.word = words;
        kernel->kernel = bare_by_hand(kernel->api, &hand);
    }
    free(words);
    return kernel->kernel != NULL;
}

glsl_kernel *glsl_prepare(const char *device, const kernel_case *what, const char **why)
{
    glsl_kernel *kernel = memory_take(1, sizeof *kernel);
    kernel->api = bare_vulkan.open(device, why);
    if (kernel->api != NULL && make(kernel, what, why))
        return kernel;
    glsl_release(kernel);
    return NULL;
}

bool glsl_run(glsl_kernel *kernel)
{
    return bare_run_by_hand(kernel->kernel);
}

const void *glsl_memory(const glsl_kernel *kernel, unsigned buffer)
{
    return kernel->memory[buffer];
}

void glsl_release(glsl_kernel *kernel)
{
    if (kernel == NULL)
        return;
    if (kernel->kernel != NULL)
        bare_vulkan.release(kernel->kernel);
    for (unsigned i = 0; i < BARE_HAND_BUFFERS; i++)
        if (kernel->memory[i] != NULL)
            bare_vulkan.give(kernel->api, kernel->memory[i]);
    if (kernel->api != NULL)
        bare_vulkan.close(kernel->api);
    free(kernel);
}
