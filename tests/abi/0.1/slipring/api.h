// SPDX-License-Identifier: Apache-2.0
/// What every public header needs: symbol visibility and the version.
#ifndef SLIPRING_API_H
#define SLIPRING_API_H

#define SLR_VERSION_MAJOR 0
#define SLR_VERSION_MINOR 1
#define SLR_VERSION_PATCH 0
#define SLR_VERSION "0.1.0"

#if defined(__GNUC__)
#define SLR_API __attribute__((visibility("default")))
#else
#define SLR_API
#endif

#endif
