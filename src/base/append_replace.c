// SPDX-License-Identifier: Apache-2.0
// A file that is replaced whole, and survives a power cut.
#include "base/append.h"

#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

static slr_status write_replacement(const char *path, const void *content, size_t bytes)
{
    int fd;
    uint64_t there;
    slri_append_part part = {content, bytes};
    SLRI_TRY(slri_append_open(path, &fd, &there));
    slr_status status = slri_append_cut(fd, path, 0);
    if (status == SLR_OK)
        status = slri_append_write(fd, path, 0, &part, 1);
    if (status == SLR_OK)
        status = slri_append_sync(fd, path);
    slri_append_close(fd);
    return status;
}

slr_status slri_append_replace(const char *folder, const char *name, const void *content, size_t bytes)
{
    slri_text from = SLRI_TEXT_INIT, to = SLRI_TEXT_INIT;
    slri_text_printf(&from, "%s/%s.new", folder, name);
    slri_text_printf(&to, "%s/%s", folder, name);
    slr_status status = from.out_of_memory || to.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for a path")
                                                               : write_replacement(from.data, content, bytes);
    if (status == SLR_OK)
        status = slri_file_rename(from.data, to.data);
    if (status == SLR_OK)
        status = slri_append_sync_folder(folder);
    slri_text_free(&from);
    slri_text_free(&to);
    return status;
}
