// SPDX-License-Identifier: Apache-2.0
/// This header has the macros for the visibility of the library's symbols, and the version of slipring. Every public
/// header includes <slipring/api.h>.
#ifndef SLIPRING_API_H
#define SLIPRING_API_H

#define SLR_VERSION_MAJOR 0
#define SLR_VERSION_MINOR 2
#define SLR_VERSION_PATCH 0
#define SLR_VERSION "0.2.0"
/// SLR_VERSION_NUMBER is the version of the headers as one number: 1,000,000 * major + 1,000 * minor + patch.
#define SLR_VERSION_NUMBER (SLR_VERSION_MAJOR * 1000000u + SLR_VERSION_MINOR * 1000u + SLR_VERSION_PATCH)

#if defined(_WIN32) && defined(SLIPRING_BUILDS_LIBRARY)
#define SLR_API __declspec(dllexport)
#elif defined(_WIN32)
#define SLR_API
#elif defined(__GNUC__)
#define SLR_API __attribute__((visibility("default")))
#else
#define SLR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the version of the running library, such as "0.2.0". SLR_VERSION is the version of the headers with which
/// the program was compiled. slr_version never returns NULL. Programs that were compiled with earlier headers run with
/// a later library (docs/contract/abi.md).
/// Threads: any.  Blocks: no.  Owns: nothing (static text).
SLR_API const char *slr_version(void);

#ifdef __cplusplus
}
#endif
#endif
