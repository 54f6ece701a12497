# SPDX-License-Identifier: Apache-2.0
# What every target of ours is compiled with.

# slipring_glob(OUT PATTERN...): files below the source folder, without tests; looked for again at each build.
function(slipring_glob out)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${ARGN})
    list(FILTER found EXCLUDE REGEX "_test\\.[a-z]+$")
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# slipring_settings(TARGET): language, warnings, visibility, sanitizers.
function(slipring_settings target)
    set_target_properties(${target} PROPERTIES C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${SLIPRING_WERROR}>:-Werror>)
    if(WIN32)
        # Without "strict C" mingw's headers have POSIX's names. Its compiler reads formats as Microsoft's C library does, not
        # as mingw's, which prints: they are checked by the other builds, macOS's with another type behind uint64_t.
        set_target_properties(${target} PROPERTIES C_EXTENSIONS ON CXX_EXTENSIONS ON)
        target_compile_definitions(${target} PRIVATE __USE_MINGW_ANSI_STDIO=1 _WIN32_WINNT=0x0A00)
        target_compile_options(${target} PRIVATE -Wno-format)
    endif()
    if(APPLE)
        # POSIX's names of times of a file, and Linux's of a hint that macOS has not.
        target_compile_definitions(${target} PRIVATE _DARWIN_C_SOURCE st_atim=st_atimespec st_mtim=st_mtimespec O_NOATIME=0)
    endif()
    if(SLIPRING_FUZZ) # which way an input takes, for the fuzzer to see
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    if(SLIPRING_PERTURB AND NOT target STREQUAL slipring_points) # which has points of its own
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-include${PROJECT_SOURCE_DIR}/tests/perturb.h>)
    endif()
    if(SLIPRING_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${SLIPRING_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
        target_link_options(${target} PRIVATE -fsanitize=${SLIPRING_SANITIZE})
        if(CMAKE_C_COMPILER_ID MATCHES Clang) # gcc says by a macro which sanitizer there is, clang in another way
            string(REGEX REPLACE ",.*" "" first ${SLIPRING_SANITIZE})
            string(TOUPPER __SANITIZE_${first}__ macro)
            target_compile_definitions(${target} PRIVATE ${macro})
        endif()
        if(SLIPRING_SANITIZE MATCHES thread AND CMAKE_C_COMPILER_ID STREQUAL GNU)
            # gcc says that fences are not modelled: a race they alone order would be a false report, none is hidden.
            target_compile_options(${target} PRIVATE -Wno-tsan)
        endif()
    endif()
endfunction()

# slipring_program_settings(TARGET): the same for programs, which may use POSIX (the library only does in src/base).
function(slipring_program_settings target)
    slipring_settings(${target})
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
endfunction()
