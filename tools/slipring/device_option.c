// SPDX-License-Identifier: Apache-2.0
// Tells a name that is wrong from a device that is not here: the library says NO_DEVICE to both, so that a program may
// go on with another.
#include "device_option.h"

#include "names.h"
#include "say.h"
#include "verbs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACKENDS = 16, NAME = sizeof((slr_backend_info *)0)->name };

// To ask for them may start drivers: only where the first that was asked for has not opened.
static size_t list_backends(char names[BACKENDS][NAME], const char *list[BACKENDS + 1])
{
    size_t count = 0;
    for (slr_backend_info info; count < BACKENDS && slr_backend_get_info((uint32_t)count, &info) == SLR_OK; count++) {
        memcpy(names[count], info.name, NAME);
        list[count] = names[count];
    }
    list[count] = "auto";
    return count;
}

// "auto" may be meant, too.
int device_option_check(const char *option, const char *spec)
{
    char names[BACKENDS][NAME], guess[NAMES_GUESS_BYTES], word[64];
    const char *list[BACKENDS + 1];
    size_t count = list_backends(names, list);
    for (const char *at = spec; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        size_t bytes = strcspn(at, ":?,");
        if (bytes == 0 || bytes >= sizeof word)
            continue; // the library says what is wrong with it
        memcpy(word, at, bytes);
        word[bytes] = '\0';
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known |= strcmp(list[i], word) == 0;
        if (known || strcmp(spec, "auto") == 0)
            continue;
        if (strcmp(word, "auto") == 0)
            return say_usage("%s: 'auto' cannot be part of a list", option);
        names_guess(guess, sizeof guess, word, "there are", list, count + 1);
        return say_usage("%s: no backend '%s'%s", option, word, guess);
    }
    return EXIT_DONE;
}

// Whether another than the first of a list has opened.
static bool is_later(const char *asked, const slr_device *device)
{
    slr_device_info info;
    return strchr(asked, ',') != NULL && slr_device_get_info(device, &info) == SLR_OK &&
           (strncmp(asked, info.backend, strlen(info.backend)) != 0);
}

int device_option_open(const char *spec, const slr_device_desc *desc, slr_device **out, slr_device_info *info)
{
    const char *set = getenv("SLIPRING_DEVICE"), *asked = spec != NULL ? spec : set != NULL ? set : "";
    const char *option = spec != NULL ? "--device" : *asked != '\0' ? "SLIPRING_DEVICE" : "no device";
    slr_status status = slr_device_open(spec, desc, out);
    if (status == SLR_OK && is_later(asked, *out) && device_option_check(option, asked) != EXIT_DONE) {
        slr_device_close(*out);
        *out = NULL;
        return EXIT_USAGE;
    }
    if (status == SLR_OK && info != NULL)
        status = slr_device_get_info(*out, info);
    if (status == SLR_INVALID)
        return say_usage("%s: %s", option, slr_error_message());
    char why[1024]; // device_option_check asks the library, too
    snprintf(why, sizeof why, "%s", slr_error_message());
    if (status == SLR_NO_DEVICE && device_option_check(option, asked) != EXIT_DONE)
        return EXIT_USAGE;
    if (status == SLR_OK)
        return EXIT_DONE;
    say("%s: %s", option, why);
    return status == SLR_NO_DEVICE || status == SLR_UNSUPPORTED ? EXIT_NO_DEVICE : EXIT_FAILED;
}
