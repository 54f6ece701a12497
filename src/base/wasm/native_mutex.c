// SPDX-License-Identifier: Apache-2.0
// With threads POSIX's mutex. Without them a flag, which a task may find set by another.
#include "base/native_mutex.h"

#if defined(__EMSCRIPTEN_PTHREADS__)

void slri_native_init(slri_mutex *mutex)
{
    pthread_mutex_init(&mutex->native, NULL);
}

void slri_native_destroy(slri_mutex *mutex)
{
    pthread_mutex_destroy(&mutex->native);
}

void slri_native_lock(slri_mutex *mutex)
{
    pthread_mutex_lock(&mutex->native);
}

bool slri_native_try(slri_mutex *mutex)
{
    return pthread_mutex_trylock(&mutex->native) == 0;
}

void slri_native_unlock(slri_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->native);
}

#else

void slri_native_init(slri_mutex *mutex)
{
    mutex->native = 0;
}

void slri_native_destroy(slri_mutex *mutex)
{
    (void)mutex;
}

// Of a program that has no tasks yet.
void slri_native_lock(slri_mutex *mutex)
{
    mutex->native = 1;
}

bool slri_native_try(slri_mutex *mutex)
{
    bool was_free = mutex->native == 0;
    mutex->native = 1;
    return was_free;
}

void slri_native_unlock(slri_mutex *mutex)
{
    mutex->native = 0;
}

#endif
