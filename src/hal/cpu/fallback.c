// SPDX-License-Identifier: Apache-2.0
// From compiled to interpreted, where the compiler does not work: the results are the same, the time is not. So the
// device says why, and the process says it once.
#include "hal/cpu/cpu.h"
#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void slri_cpu_fallback_init(struct slri_cpu_fallback *fallback)
{
    slri_mutex_init(&fallback->lock);
}

void slri_cpu_fallback_destroy(struct slri_cpu_fallback *fallback)
{
    slri_mutex_destroy(&fallback->lock);
}

static void say_once(const char *why)
{
    static uint32_t said; // atomic, relaxed: nothing is read on its strength
    if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
        fprintf(stderr, "slipring: kernels are interpreted, which is many times slower: %s\n", why);
}

void slri_cpu_fallback_note(struct slri_cpu_fallback *fallback, bool say)
{
    const char *why = slr_error_message();
    slri_mutex_lock(&fallback->lock);
    snprintf(fallback->why, sizeof fallback->why, "%.*s", (int)strcspn(why, "\n"), why);
    if (say)
        say_once(fallback->why);
    slri_mutex_unlock(&fallback->lock);
}

void slri_cpu_why_interpreted(const struct slri_cpu *cpu, char *out, size_t room)
{
    struct slri_cpu_fallback *fallback =
        (struct slri_cpu_fallback *)&cpu->fallback; // its lock is no part of the device
    slri_mutex_lock(&fallback->lock);
    snprintf(out, room, "%s", fallback->why);
    slri_mutex_unlock(&fallback->lock);
}

bool slri_cpu_is_broken(struct slri_cpu *cpu)
{
    slri_mutex_lock(&cpu->fallback.lock);
    bool is_broken = cpu->fallback.is_broken;
    slri_mutex_unlock(&cpu->fallback.lock);
    return is_broken;
}

// What a compiler may be at fault for: it refuses, crashes, hangs, leaves nothing to load, or has gone.
static bool may_be_its_fault(slr_status status)
{
    return status == SLR_COMPILE || status == SLR_SYSTEM || status == SLR_TIMEOUT || status == SLR_NOT_FOUND ||
           status == SLR_UNSUPPORTED;
}

bool slri_cpu_was_broken(struct slri_cpu *cpu, slr_status status)
{
    if (cpu->engine_was_asked || !may_be_its_fault(status))
        return false;
    if (slri_cpu_is_broken(cpu))
        return true;
    slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, slr_error_message());
    char *message = slri_text_take(&text);
    if (!message)
        return false;
    bool works = slri_cpu_try_compiler() == SLR_OK;
    if (works) {
        (void)slri_fail(status, "%s", message);
    } else {
        slri_cpu_fallback_note(&cpu->fallback, true);
        slri_mutex_lock(&cpu->fallback.lock);
        cpu->fallback.is_broken = true;
        slri_mutex_unlock(&cpu->fallback.lock);
    }
    free(message);
    return !works;
}
