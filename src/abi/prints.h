// SPDX-License-Identifier: Apache-2.0
// What the handlers of one shard print, on its way to a thread of the host: a ring of words that the shard's owner
// writes and that thread reads. Nobody waits: what finds no room is counted. Plain layout: emitted C repeats it word
// for word (kernel/emit_c embeds this file).
//
// A record is a printf: a word (the format's number, above it how many values), a word (the instance, above it the
// thread of a block), then the values' bits, a word each.
#ifndef SLRI_ABI_PRINTS_H
#define SLRI_ABI_PRINTS_H

#include <stdint.h>

#define SLRI_PRINTS_HEAD 2 // words of a record in front of its values

struct slri_prints {
    uint64_t *word;
    uint64_t mask;          // how many words there are, a power of two, - 1
    uint64_t written, lost; // atomic, the owner's: words; printfs that found no room
    uint64_t apart[4];      // so that the reader's word lies on another line
    uint64_t read;          // atomic, the reader's: words
};

__attribute__((cold, noinline, unused)) static void slri_prints_put(struct slri_prints *to, uint32_t instance,
                                                                    uint32_t thread, uint64_t format, uint64_t count,
                                                                    const uint64_t *value)
{
    if (!to)
        return;                                                    // nobody wants to hear it
    uint64_t at = __atomic_load_n(&to->written, __ATOMIC_RELAXED); // this thread's own
    // Acquire: the reader has taken what it has counted before this writes over it.
    uint64_t read = __atomic_load_n(&to->read, __ATOMIC_ACQUIRE);
    if (to->mask + 1 - (at - read) < SLRI_PRINTS_HEAD + count) {
        __atomic_store_n(&to->lost, to->lost + 1, __ATOMIC_RELAXED); // a count alone, with one writer
        return;
    }
    to->word[at & to->mask] = format | count << 32;
    to->word[(at + 1) & to->mask] = instance | (uint64_t)thread << 32;
    for (uint64_t i = 0; i < count; i++)
        to->word[(at + SLRI_PRINTS_HEAD + i) & to->mask] = value[i];
    __atomic_store_n(&to->written, at + SLRI_PRINTS_HEAD + count, __ATOMIC_RELEASE); // the record
}

#endif
