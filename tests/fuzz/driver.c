// SPDX-License-Identifier: Apache-2.0
// Replays a corpus: gives each file of the folders and files that its arguments name to the harness.
#include "fuzz.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 1 << 24 };

static unsigned replayed;

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *all = malloc(FILE_MAX);
    if (file == NULL || all == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    size_t size = fread(all, 1, FILE_MAX, file);
    fclose(file);
    uint8_t *data = malloc(size + 1); // of exactly that size, so that a sanitizer sees what is read behind it
    if (data == NULL)
        exit(1);
    memcpy(data, all, size);
    data = realloc(data, size > 0 ? size : 1);
    printf("%s: %zu bytes\n", path, size);
    fflush(stdout); // should it be the last thing that is printed, this is the file
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    free(all);
    replayed++;
    return 0;
}

static int replay(const char *path)
{
    struct stat is;
    if (stat(path, &is) != 0 || !S_ISDIR(is.st_mode))
        return replay_file(path);
    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[PATH_MAX];
        snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            replay(inner);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return count < 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i]);
    if (replayed == 0)
        fprintf(stderr, "usage: %s FILE|FOLDER...\n", argv[0]);
    return failed || replayed == 0;
}
