// SPDX-License-Identifier: Apache-2.0
// Threads and their ends, by a key of POSIX threads; Emscripten gives no thread's name back.
#include "base/thread_end.h"

#include "base/system.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_key_t key;
static bool has_key; // written before any value is noted

uint32_t slri_process_id(void)
{
    return 1;
}

uint32_t slri_thread_id(void)
{
    return slri_system_thread_id();
}

void slri_thread_name(char name[16])
{
    name[0] = '\0';
}

void slri_thread_end_call(void (*function)(void *value))
{
    has_key = pthread_key_create(&key, function) == 0;
}

void slri_thread_end_note(void *value)
{
    if (has_key)
        pthread_setspecific(key, value);
}
