# SPDX-License-Identifier: Apache-2.0
# Other libraries' programs to measure beside ours: bench/peers/NAME.cpp, each where its library is installed.
enable_language(CXX)

# slipring_peer(NAME HEADER LIBRARY PACKAGE)
function(slipring_peer name header library package)
    set(source ${PROJECT_SOURCE_DIR}/bench/peers/${name}.cpp)
    if(NOT EXISTS ${source})
        return()
    endif()
    find_path(PEER_${name}_INCLUDE_DIR ${header})
    find_library(PEER_${name}_LIBRARY ${library})
    if(NOT PEER_${name}_INCLUDE_DIR OR NOT PEER_${name}_LIBRARY)
        message(STATUS "Peer ${name} is left out: ${library} was not found (Debian: ${package})")
        return()
    endif()
    add_executable(slipring_peer_${name} ${source})
    slipring_program_settings(slipring_peer_${name})
    target_include_directories(slipring_peer_${name} SYSTEM PRIVATE ${PEER_${name}_INCLUDE_DIR})
    target_link_libraries(slipring_peer_${name} PRIVATE ${PEER_${name}_LIBRARY} pthread)
endfunction()

slipring_peer(caf caf/all.hpp caf_core libcaf-dev)
