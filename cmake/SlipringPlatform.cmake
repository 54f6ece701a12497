# SPDX-License-Identifier: Apache-2.0
# Which sources a system gets. A file X/windows/NAME.c stands for X/NAME.c on Windows, and is one more where there is no such
# file; X/macos and X/wasm likewise. Linux has what is in X itself.
if(WIN32)
    set(slipring_system windows)
elseif(APPLE)
    set(slipring_system macos)
elseif(EMSCRIPTEN)
    set(slipring_system wasm)
else()
    set(slipring_system linux)
endif()

# slipring_of_system(LIST): takes out of a list of files what is for another system.
function(slipring_of_system list)
    set(files ${${list}})
    foreach(system windows macos wasm)
        if(NOT system STREQUAL slipring_system)
            list(FILTER files EXCLUDE REGEX "/${system}/[^/]*$")
        endif()
    endforeach()
    foreach(file IN LISTS files)
        if(file MATCHES "/${slipring_system}/[^/]*$")
            string(REGEX REPLACE "/${slipring_system}/([^/]*)$" "/\\1" stands_for ${file})
            list(REMOVE_ITEM files ${stands_for})
        endif()
    endforeach()
    set(${list} ${files} PARENT_SCOPE)
endfunction()
