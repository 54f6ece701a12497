# SPDX-License-Identifier: Apache-2.0
# The command line `slipring`. Its objects without main.c are what its tests link. Where jansson is not, it has those verbs
# alone that read no JSON: doctor, devices, bench.
find_path(JANSSON_INCLUDE_DIR jansson.h)
find_library(JANSSON_LIBRARY jansson)
slipring_glob(tool_sources tools/slipring/*.c)
if(NOT tool_sources)
    return()
endif()
if(JANSSON_INCLUDE_DIR AND JANSSON_LIBRARY)
    set(SLIPRING_HAS_JANSSON 1)
else()
    set(SLIPRING_HAS_JANSSON 0)
    message(STATUS "The command line has doctor, devices and bench alone: jansson was not found (Debian: libjansson-dev)")
    list(FILTER tool_sources INCLUDE REGEX
        "/(allocators|bench[a-z_]*|demo_data|doctor|handoff|json_out|main|measure|memory|output|partner|resident|say)\\.c$")
    list(FILTER tool_sources EXCLUDE REGEX "/bench_(mailbox|run)\\.c$")
endif()

set(tool_main ${PROJECT_SOURCE_DIR}/tools/slipring/main.c)
list(REMOVE_ITEM tool_sources ${tool_main})
add_library(slipring_tool_objects OBJECT ${tool_sources})
slipring_program_settings(slipring_tool_objects)
target_include_directories(slipring_tool_objects PUBLIC tools/slipring bench include)
target_compile_definitions(slipring_tool_objects PUBLIC SLIPRING_HAS_JANSSON=${SLIPRING_HAS_JANSSON})
if(SLIPRING_HAS_JANSSON)
    target_include_directories(slipring_tool_objects PUBLIC ${JANSSON_INCLUDE_DIR})
    target_link_libraries(slipring_tool_objects PUBLIC ${JANSSON_LIBRARY})
    slipring_embed(slipring_tool_objects tools/slipring/demo_page.html demo_embedded_page)
    slipring_embed(slipring_tool_objects tools/slipring/profile_page.html profile_embedded_page)
endif()
target_link_libraries(slipring_tool_objects PUBLIC slipring_kernels m pthread ${CMAKE_DL_LIBS})
slipring_glob(hand_texts bench/kernels/hand/*.c bench/kernels/hand/*.cl bench/kernels/hand/*.h) # compiled when measured
foreach(text IN LISTS hand_texts)
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_tool_objects ${text} hand_embedded_${symbol})
endforeach()
slipring_glob(cuda_texts bench/kernels/cuda/*.cu) # by NVRTC
foreach(text IN LISTS cuda_texts)
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_tool_objects ${text} cuda_embedded_${symbol})
endforeach()
set_source_files_properties(tools/slipring/bench_floors.c PROPERTIES COMPILE_OPTIONS -O3) # what it measures is memory
if(TARGET slipring_ward)
    target_link_libraries(slipring_tool_objects PUBLIC slipring_ward)
endif()

add_executable(slipring_tool ${tool_main})
slipring_program_settings(slipring_tool)
target_link_libraries(slipring_tool PRIVATE slipring_tool_objects slipring)
set_target_properties(slipring_tool PROPERTIES OUTPUT_NAME slipring
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
