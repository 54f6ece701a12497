/* A memory that is weak as C11's is: each word keeps its stores, and each thread has a view, the store of each word
 * behind which it cannot look back. A load takes any store from the view on. A release store carries its thread's
 * view; an acquire load that takes it joins that view to its own. A read-modify-write takes the newest store and
 * carries on what that one carried (a release sequence). A full fence exchanges views with all full fences before it,
 * and so do the critical sections of a lock.
 *
 * Stores stay apart in their readers' eyes however they were made, and an old value stays readable until the view
 * passes it. So a step of a model may be any loads followed by any stores: that loses no behaviour. Only a load behind
 * a store of the same thread, a compare-and-swap and a fence need a step of their own.
 *
 * Left out: loads that take their value from the future (a relaxed load behind which a store overtakes it). Where this
 * could matter, payloads are read before slots are given back, a reader leaves a mark that the next writer must see.
 *
 * Set before this is included: THREADS, WORDS; SIGNALS: the words below it may be released; DEPTH: stores of a word
 * that are kept, its initial 0 included. There is no recycling: a model's runs are finite, and `deep_enough` says so.
 */
#define REL 1
#define ACQ 1
#define RLX 0

byte view[THREADS * WORDS];
byte newest[WORDS];
byte value[WORDS * DEPTH];
byte carried[SIGNALS * DEPTH * WORDS];
byte fenced[WORDS];
byte locked[WORDS];
byte i_;
hidden byte deep_enough;

/* A property. Its name is what Spin prints when it fails, and what run.sh compares. */
#define must(name, condition) name = (condition); assert(name)

#define at(t, x) view[(t) * WORDS + (x)]
#define sees(t, x) value[(x) * DEPTH + at(t, x)]     /* what a load without news gives */
#define news(t, x) (at(t, x) < newest[x])            /* a load may give something else */
#define truth(x) value[(x) * DEPTH + newest[x]]      /* of properties and compare-and-swaps alone */
#define here(i) view[t_ * WORDS + (i)]
#define cargo(n, i) carried[(x_ * DEPTH + (n)) * WORDS + (i)]

/* The arguments, evaluated once: compiled models stay small. */
byte t_, x_;
#define bind(t, x) t_ = (t); x_ = (x)
#define unbind() t_ = 0; x_ = 0; i_ = 0

inline join_()
{
    i_ = 0;
    do
    :: i_ < WORDS ->
        if
        :: cargo(here(x_), i_) > here(i_) -> here(i_) = cargo(here(x_), i_)
        :: else
        fi;
        i_++
    :: else -> break
    od
}

inline append_(val)
{
    must(deep_enough, newest[x_] + 1 < DEPTH);
    value[x_ * DEPTH + newest[x_] + 1] = val;
    newest[x_]++;
    here(x_) = newest[x_];
    i_ = 0
}

inline store(t, x, val, order)
{
    d_step {
        bind(t, x);
        append_(val);
        if
        :: order ->
            do
            :: i_ < WORDS -> cargo(newest[x_], i_) = here(i_); i_++
            :: else -> break
            od
        :: else
        fi;
        unbind()
    }
}

/* Inside an atomic: which store is taken is open. */
inline load(t, x, order)
{
    bind(t, x);
    do
    :: here(x_) < newest[x_] -> here(x_) = here(x_) + 1
    :: break
    od;
    skip;                    /* a loop may not end in a d_step */
    d_step {
        if
        :: order -> join_()
        :: else
        fi;
        unbind()
    }
}

/* A load that is repeated until it gives something else than `known`: only that is a step, so that runs end. It may be
 * there already, by the acquire of another word.
 */
#define differs(t, x, known) (news(t, x) || sees(t, x) != (known))

inline poll(t, x, order, known)
{
    if
    :: news(t, x) -> at(t, x) = at(t, x) + 1
    :: sees(t, x) != (known)
    fi;
    load(t, x, order)
}

/* A read-modify-write. The value may be made of truth(x): that is what is read. */
inline change(t, x, val, acquire, release)
{
    d_step {
        bind(t, x);
        here(x_) = newest[x_];
        if
        :: acquire -> join_()
        :: else
        fi;
        append_(val);
        do
        :: i_ < WORDS ->
            cargo(newest[x_], i_) = cargo(newest[x_] - 1, i_);
            if
            :: release && here(i_) > cargo(newest[x_], i_) -> cargo(newest[x_], i_) = here(i_)
            :: else
            fi;
            i_++
        :: else -> break
        od;
        unbind()
    }
}

#define exchange_views(t, with) \
    d_step { \
        bind(t, 0); \
        do \
        :: i_ < WORDS -> \
            if \
            :: with[i_] > here(i_) -> here(i_) = with[i_] \
            :: else -> with[i_] = here(i_) \
            fi; \
            i_++ \
        :: else -> break \
        od; \
        unbind() \
    }
inline fence(t) { exchange_views(t, fenced) }
inline lock(t) { exchange_views(t, locked) }         /* first and last in the atomic of a critical section */
inline unlock(t) { exchange_views(t, locked) }
