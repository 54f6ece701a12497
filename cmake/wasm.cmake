# SPDX-License-Identifier: Apache-2.0
# For WebAssembly, by Emscripten as Debian has it.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(EMSCRIPTEN TRUE)
set(CMAKE_C_COMPILER emcc)
set(CMAKE_AR emar CACHE FILEPATH "")
set(CMAKE_RANLIB emranlib CACHE FILEPATH "")
# With threads, for pages that are cross-origin isolated (docs/browser.md).
set(SLIPRING_WASM_THREADS OFF CACHE BOOL "")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SLIPRING_WASM_THREADS)
if(SLIPRING_WASM_THREADS)
    set(CMAKE_C_FLAGS_INIT -pthread)
    set(CMAKE_EXE_LINKER_FLAGS_INIT -pthread)
endif()
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
