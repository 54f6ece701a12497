// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include "clock.h"
#include "say.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 2, EACH_MS = 250, TEXT_BYTES = 72 }; // a line of 80 columns, with the seconds

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool runs;             // the thread; main thread's
static bool ends;             // under the mutex, as are:
static char text[TEXT_BYTES]; // what is shown
static uint64_t first_ns;     // when the first work began
static uint64_t shown_ns;     // when the line was last shown

static bool is_terminal(void)
{
    static int known = -1;
    if (known < 0)
        known = isatty(STDERR_FILENO);
    return known == 1;
}

static void show(uint64_t now_ns)
{
    char line[TEXT_BYTES + 32];
    snprintf(line, sizeof line, "%s, %llu s", text, (unsigned long long)((now_ns - first_ns) / SECOND_NS));
    say_progress(line);
    shown_ns = now_ns;
}

static bool is_due(uint64_t now_ns)
{
    if (first_ns == 0)
        first_ns = now_ns;
    return now_ns - first_ns >= PATIENCE_S * SECOND_NS && now_ns - shown_ns >= EACH_MS * (SECOND_NS / 1000);
}

static void *body(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (!ends) {
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_nsec += EACH_MS * 1000000;
        next.tv_sec += next.tv_nsec / (long)SECOND_NS;
        next.tv_nsec %= (long)SECOND_NS;
        pthread_cond_timedwait(&changed, &mutex, &next);
        uint64_t now_ns = clock_ns();
        if (!ends && is_due(now_ns))
            show(now_ns);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

void progress_begin(const char *format, ...)
{
    if (!is_terminal())
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments); // the thread is not there yet
    va_end(arguments);
    is_due(clock_ns());
    ends = false;
    runs = pthread_create(&thread, NULL, body, NULL) == 0; // without it there is no line
}

void progress_end(void)
{
    if (runs) {
        pthread_mutex_lock(&mutex);
        ends = true;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, NULL);
        runs = false;
    }
    say_progress("");
}

void progress_step(const char *format, ...)
{
    uint64_t now_ns = clock_ns();
    if (!is_terminal() || !is_due(now_ns))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    show(now_ns);
}
