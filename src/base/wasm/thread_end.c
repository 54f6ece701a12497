// SPDX-License-Identifier: Apache-2.0
// Threads and their ends: a page's threads carry one body after the other, and say when one has ended (carriers.h).
#include "base/thread_end.h"

#include "base/system.h"
#include "base/wasm/carriers.h"

#include <stddef.h>

static void (*call)(void *value); // written before any value is noted
static _Thread_local void *noted;

uint32_t slri_process_id(void)
{
    return 1;
}

uint32_t slri_thread_id(void)
{
    return slri_system_thread_id();
}

void slri_thread_name(char name[16]) // Emscripten gives none back
{
    name[0] = '\0';
}

void slri_thread_end_call(void (*function)(void *value))
{
    call = function;
}

void slri_thread_end_note(void *value)
{
    noted = value;
}

void slri_thread_end_now(void)
{
    void *value = noted;
    noted = NULL;
    if (value)
        call(value);
}
