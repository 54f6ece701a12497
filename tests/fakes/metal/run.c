// SPDX-License-Identifier: Apache-2.0
// Kernels on the host's cores: their text, compiled by the host's compiler against a stand-in for Metal's library
// (tests/shim/metal).
#include "tests/fakes/metal/inside.h"

#include "tests/shim/image.h"
#include "tests/shim/lanes.h"

struct image *image_of(const char *text, char **complaint)
{
    const struct shim_text one = {.text = text};
    return shim_compile(&one, complaint) ? (struct image *)shim_image_load(&one, 1) : NULL;
}

void image_end(struct image *image)
{
    shim_image_unload((struct shim_image *)image);
}

bool image_has(const struct image *image, const char *name)
{
    return shim_image_kernel((const struct shim_image *)image, name) != NULL;
}

static struct shim_dim dim_of(struct size size)
{
    return (struct shim_dim){(unsigned)size.width, (unsigned)size.height, (unsigned)size.depth};
}

bool run(const struct launch *launch)
{
    const struct shim_image *image = (struct shim_image *)launch->pipeline->function->library->image;
    void *parameter[] = {(void *)(uintptr_t)launch->block};
    const struct shim_launch how = {.image = image,
                                    .kernel = shim_image_kernel(image, launch->pipeline->function->name),
                                    .parameter = parameter,
                                    .grid = dim_of(launch->grid),
                                    .block = dim_of(launch->threads)};
    const enum shim_end end = shim_run(&how);
    if (end == SHIM_WRONG)
        wrong("kernel %s does what Metal does not define", launch->pipeline->function->name);
    return end == SHIM_DONE;
}
