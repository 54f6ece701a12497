// SPDX-License-Identifier: Apache-2.0
// What the handler prints, on standard error, a line each, with its key or instance in front. On a thread of the ring
// kernel's, while this program's own goes on: what it needs of the keys is under a lock.
#include "run/run.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>

bool run_find_key(run *run, key_text key, uint32_t *instance)
{
    pthread_mutex_lock(&run->keys_lock);
    bool found = keys_find_or_add(&run->keys, key, instance);
    pthread_mutex_unlock(&run->keys_lock);
    return found;
}

void run_forget_newest_key(run *run)
{
    pthread_mutex_lock(&run->keys_lock);
    keys_forget_newest(&run->keys);
    pthread_mutex_unlock(&run->keys_lock);
}

// A key of --key-limit evict has no instance of its own.
static void name_instance(run *run, uint32_t instance, char *out, size_t room)
{
    snprintf(out, room, "%" PRIu32, instance);
    pthread_mutex_lock(&run->keys_lock);
    if (run->options.key != NULL && !run->options.evict && instance < run->keys.count) {
        key_text key = keys_text(&run->keys, instance);
        snprintf(out, room, "%.*s", key.bytes < room ? (int)key.bytes : (int)room - 1, key.text);
    }
    pthread_mutex_unlock(&run->keys_lock);
}

void run_on_print(void *user, const slr_print *print)
{
    run *run = user;
    char who[64], thread[24] = "";
    if (print->lost > 0) {
        say("%s printed faster than the output could be shown; printfs lost: %" PRIu64, print->kernel, print->lost);
        return;
    }
    name_instance(run, print->instance, who, sizeof who);
    if (print->thread > 0)
        snprintf(thread, sizeof thread, ", thread %" PRIu32, print->thread);
    bool ends = print->bytes > 0 && print->text[print->bytes - 1] == '\n';
    fprintf(stderr, "%s[%s%s]: %s%s", print->kernel, who, thread, print->text, ends ? "" : "\n");
}
