// SPDX-License-Identifier: Apache-2.0
/// How much of this process lies in memory.
#ifndef RESIDENT_H
#define RESIDENT_H

/// In KiB; 0 where the system does not say.
double resident_kib(void);

#endif
