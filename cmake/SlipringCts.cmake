# SPDX-License-Identifier: Apache-2.0
# slipring-cts, the conformance suite: the public headers, the library and a C compiler, nothing else.
slipring_glob(cts_sources tests/cts/*.c)
slipring_of_system(cts_sources)
slipring_glob(cts_texts tests/cts/kernels/*.cu)
if(NOT cts_sources)
    return()
endif()
add_executable(slipring_cts ${cts_sources})
slipring_program_settings(slipring_cts)
target_include_directories(slipring_cts PRIVATE tests/cts)
target_link_libraries(slipring_cts PRIVATE slipring ${system_libraries})
foreach(text IN LISTS cts_texts) # "math.cu" becomes cts_embedded_math_cu
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_cts ${text} cts_embedded_${symbol})
endforeach()
set_target_properties(slipring_cts PROPERTIES OUTPUT_NAME slipring-cts
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
