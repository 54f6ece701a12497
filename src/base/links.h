// SPDX-License-Identifier: Apache-2.0
// Lists of what has its link in itself, in a circle through the list's head: each leaves without a search. One
// thread's.
#ifndef SLRI_BASE_LINKS_H
#define SLRI_BASE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct slri_link { // zero: in no list
    struct slri_link *before, *after;
};

static inline void slri_links_init(struct slri_link *head)
{
    head->before = head->after = head;
}

static inline bool slri_is_linked(const struct slri_link *link)
{
    return link->after != NULL;
}

static inline struct slri_link *slri_links_first(struct slri_link *head) // NULL: empty
{
    return head->after != head ? head->after : NULL;
}

static inline struct slri_link *slri_links_next(const struct slri_link *head, const struct slri_link *link)
{
    return link->after != head ? link->after : NULL;
}

static inline void slri_unlink(struct slri_link *link)
{
    if (!slri_is_linked(link))
        return;
    link->before->after = link->after;
    link->after->before = link->before;
    *link = (struct slri_link){0};
}

// Where it is in a list already, it goes from there.
static inline void slri_link_last(struct slri_link *head, struct slri_link *link)
{
    slri_unlink(link);
    *link = (struct slri_link){head->before, head};
    head->before->after = link;
    head->before = link;
}

static inline void slri_link_first(struct slri_link *head, struct slri_link *link)
{
    slri_unlink(link);
    slri_link_last(head->after, link); // before what is first, or before the head itself
}

#define SLRI_LINKED(type, member, link) ((type *)(void *)((char *)(link)-offsetof(type, member)))

#endif
