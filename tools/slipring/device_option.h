// SPDX-License-Identifier: Apache-2.0
/// --device of every verb.
#ifndef DEVICE_OPTION_H
#define DEVICE_OPTION_H

#include <slipring/devices.h>

/// Opens the device that --device names; NULL is SLIPRING_DEVICE, or "auto". `desc` and `info` may be NULL. An exit
/// code, what is not EXIT_DONE has been said: EXIT_USAGE for what no machine has, a misspelt backend in a list as well.
int device_option_open(const char *spec, const slr_device_desc *desc, slr_device **out, slr_device_info *info);

/// Where `spec`, or one of the names of its list, has a backend that no build has: EXIT_USAGE, and that has been said.
int device_option_check(const char *option, const char *spec);

#endif
