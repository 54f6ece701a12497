// SPDX-License-Identifier: Apache-2.0
#ifndef SPIN_H
#define SPIN_H

/// Tells the core that this is a spin loop.
static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

#endif
