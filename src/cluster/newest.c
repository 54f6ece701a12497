// SPDX-License-Identifier: Apache-2.0
// The note of the newest file of each log: a small file that is always replaced as a whole.
#include "cluster/newest.h"

#include "cluster/sum.h"

#include <stdlib.h>
#include <string.h>

#define NEWEST_MAGIC "\x89SLRNEW\n"
#define NEWEST "newest"

struct newest_file {
    unsigned char magic[8];
    slri_newest newest;
    uint64_t sum; // of what stands before it
};

static uint64_t newest_sum(const struct newest_file *file)
{
    return slri_sum_of(0, file, offsetof(struct newest_file, sum));
}

void slri_newest_read(const slri_folder *folder, slri_newest *out)
{
    struct newest_file file;
    char *content;
    size_t bytes;
    *out = (slri_newest){{0}};
    if (slri_folder_read(folder, NEWEST, 2 * sizeof file, false, &content, &bytes) != SLR_OK)
        return;
    if (bytes == sizeof file) {
        memcpy(&file, content, sizeof file);
        if (memcmp(file.magic, NEWEST_MAGIC, sizeof file.magic) == 0 && file.sum == newest_sum(&file))
            *out = file.newest;
    }
    free(content);
}

slr_status slri_newest_write(const slri_folder *folder, const slri_newest *newest)
{
    struct newest_file file = {.newest = *newest};
    memcpy(file.magic, NEWEST_MAGIC, sizeof file.magic);
    file.sum = newest_sum(&file);
    return slri_folder_write(folder, NEWEST, &file, sizeof file);
}
