# SPDX-License-Identifier: Apache-2.0
# Text files inside a program, without a tool beyond CMake.

# slipring_embed(TARGET FILE SYMBOL): compiles FILE into TARGET as
#     const char SYMBOL[];          its bytes and a NUL
#     const size_t SYMBOL_bytes;    without the NUL
function(slipring_embed target file symbol)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    set(generated ${PROJECT_BINARY_DIR}/embedded/${symbol}.c)
    add_custom_command(OUTPUT ${generated}
        COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${generated} -DSYMBOL=${symbol}
                -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
        DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
        COMMENT "Embedding ${file}" VERBATIM)
    target_sources(${target} PRIVATE ${generated})
endfunction()
