// SPDX-License-Identifier: Apache-2.0
// The calling thread's error message, and the texts of the status codes.
#include "base/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Small, for each thread of a program has it (tests/dlopen looks at how much that is in all).
enum { BRIEF_BYTES = 512 };

// Nearly every message fits `brief`. Longer ones, such as a compiler's diagnostics, live in `lengthy`.
struct slri_message {
    char brief[BRIEF_BYTES];
    char *lengthy;
};
static _Thread_local struct slri_message message;
static struct slri_message *simulated; // of the simulated thread that runs; NULL: none does, or the first

static pthread_key_t lengthy_key; // frees `lengthy` when its thread ends
static pthread_once_t lengthy_key_once = PTHREAD_ONCE_INIT;
static int lengthy_key_made;

static void forget_lengthy(void *lengthy)
{
    message.lengthy = NULL; // a later destructor of the application's may still ask for the message
    free(lengthy);
}

static void make_lengthy_key(void)
{
    lengthy_key_made = pthread_key_create(&lengthy_key, forget_lengthy) == 0;
}

// Takes `lengthy` over. Without a key to free it at the thread's end it is not kept.
static void keep_lengthy(char *lengthy)
{
    pthread_once(&lengthy_key_once, make_lengthy_key);
    if (!lengthy_key_made || pthread_setspecific(lengthy_key, lengthy) != 0) {
        free(lengthy);
        return;
    }
    free(message.lengthy);
    message.lengthy = lengthy;
}

static void drop_lengthy(void)
{
    if (!message.lengthy)
        return;
    pthread_setspecific(lengthy_key, NULL);
    free(message.lengthy);
    message.lengthy = NULL;
}

// ---- of simulated threads ------------------------------------------------------------------------------------------

struct slri_message *slri_message_create(void)
{
    return calloc(1, sizeof(struct slri_message));
}

void slri_message_destroy(struct slri_message *of)
{
    if (of)
        free(of->lengthy);
    free(of);
}

void slri_message_use(struct slri_message *of)
{
    simulated = of;
}

static void keep_simulated(const char *brief, char *lengthy)
{
    free(simulated->lengthy);
    simulated->lengthy = lengthy;
    memcpy(simulated->brief, brief, strlen(brief) + 1);
}

// ---- printable -----------------------------------------------------------------------------------------------------

// Takes `lengthy` over. What a message quotes may be a stranger's; nearly all of them are printable as they are.
static char *make_printable(char brief[BRIEF_BYTES], char *lengthy)
{
    const char *raw = lengthy ? lengthy : brief;
    size_t length = strlen(raw), wanted = slr_text_printable(raw, length, NULL, 0);
    if (wanted == length)
        return lengthy;
    char *shown = malloc(wanted + 1), cut[BRIEF_BYTES];
    if (shown)
        slr_text_printable(raw, length, shown, wanted + 1);
    slr_text_printable(raw, length, cut, sizeof cut);
    memcpy(brief, cut, strlen(cut) + 1);
    free(lengthy);
    if (wanted >= BRIEF_BYTES)
        return shown; // NULL: the beginning is in `brief`
    free(shown);
    return NULL;
}

// ---- the calls -----------------------------------------------------------------------------------------------------

slr_status slri_fail(slr_status code, const char *format, ...)
{
    char brief[BRIEF_BYTES] = ""; // not `message.brief`: the arguments may point into it
    char *lengthy = NULL;
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(brief, sizeof brief, format, arguments);
    va_end(arguments);
    if (length >= BRIEF_BYTES && (lengthy = malloc((size_t)length + 1)) != NULL) {
        va_start(arguments, format);
        vsnprintf(lengthy, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    lengthy = make_printable(brief, lengthy);
    if (simulated) {
        keep_simulated(brief, lengthy);
        return code;
    }
    drop_lengthy();
    memcpy(message.brief, brief, strlen(brief) + 1);
    if (lengthy)
        keep_lengthy(lengthy);
    return code;
}

const char *slr_error_message(void)
{
    const struct slri_message *of = simulated ? simulated : &message;
    return of->lengthy ? of->lengthy : of->brief;
}

const char *slr_status_name(slr_status status)
{
    switch (status) {
#define NAME_CASE(name, integer, meaning)                                                                              \
    case integer:                                                                                                      \
        return "SLR_" #name;
        SLR_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    }
    return "SLR_?";
}

const char *slr_status_meaning(slr_status status)
{
    switch (status) {
#define MEANING_CASE(name, integer, meaning)                                                                           \
    case integer:                                                                                                      \
        return meaning;
        SLR_STATUS_LIST(MEANING_CASE)
#undef MEANING_CASE
    }
    return "no status code of slipring";
}

const char *slr_version(void)
{
    return SLR_VERSION;
}
