// SPDX-License-Identifier: Apache-2.0
/// Whether the address sanitizer is on: gcc and clang say so in different ways.
#ifndef SLRI_BASE_ASAN_H
#define SLRI_BASE_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define SLRI_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLRI_HAS_ASAN 1
#endif
#endif

#endif
