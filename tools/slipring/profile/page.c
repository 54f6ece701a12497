// SPDX-License-Identifier: Apache-2.0
// `slipring profile --html`: the object that --json prints, in a page that draws it.
#include "profile/profile.h"

#include "page.h"

extern const char profile_embedded_page[]; // from the build: cmake/SlipringTools.cmake

bool profile_write_page(const char *path, json_t *object)
{
    return page_write(profile_embedded_page, path, object);
}
