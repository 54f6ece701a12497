// SPDX-License-Identifier: Apache-2.0
// POSIX's mutex.
#include "base/native_mutex.h"

// Critical sections take well below 1 us, and sleeping takes 26-64 us until the thread runs again (facts/backends). So
// who finds the mutex locked looks for about 1 us before it sleeps.
#define LOOKS 8
#define PAUSES_A_LOOK 4

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
    for (int i = 0; i < LOOKS; ++i) {
        if (pthread_mutex_trylock(&mutex->native) == 0)
            return;
        for (int k = 0; k < PAUSES_A_LOOK; ++k)
            slri_pause();
    }
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
