// SPDX-License-Identifier: Apache-2.0
// Threads and their ends, by a key of winpthreads. Where there is no key left nothing is called.
#define WIN32_LEAN_AND_MEAN
#include "base/thread_end.h"

#include <pthread.h>
#include <stdbool.h>
#include <windows.h>

static pthread_key_t key;
static bool has_key; // written before any value is noted

uint32_t slri_process_id(void)
{
    return (uint32_t)GetCurrentProcessId();
}

uint32_t slri_thread_id(void)
{
    return (uint32_t)GetCurrentThreadId();
}

void slri_thread_name(char name[16])
{
    if (pthread_getname_np(pthread_self(), name, 16) != 0)
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
