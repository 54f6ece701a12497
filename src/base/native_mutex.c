// SPDX-License-Identifier: Apache-2.0
// POSIX's mutex.
#include "base/native_mutex.h"

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
