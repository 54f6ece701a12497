# SPDX-License-Identifier: Apache-2.0
# The command line `slipring`. Its objects without main.c are what its tests link. Without jansson, where that is asked for,
# it has those verbs alone that read no JSON: doctor, devices, bench.
slipring_glob(tool_sources tools/slipring/*.c)
slipring_of_system(tool_sources)
if(NOT slipring_system STREQUAL linux) # benchmarks and profiles measure by Linux's own calls; `ops` has a file of theirs
    list(FILTER tool_sources EXCLUDE REGEX "tools/slipring/(bench/|profile/(line_table|sampling|timed_lines)\\.c)")
    list(APPEND tool_sources ${PROJECT_SOURCE_DIR}/tools/slipring/bench/chain.c)
endif()
if(NOT tool_sources)
    return()
endif()
set(without_jansson # which files then
    "/(slipring/bench/[a-z_]*|demo/data|apart|device_option|doctor|handoff|json_out|line|main|measure|memory|names|output|partner|progress|say|system|utf8)\\.c")
set(but_for "/bench/(compare[a-z_]*|decide|mailbox|run)\\.c")
if(NOT SLIPRING_WITHOUT_JANSSON)
    find_path(JANSSON_INCLUDE_DIR jansson.h)
    find_library(JANSSON_LIBRARY jansson)
    if(NOT JANSSON_INCLUDE_DIR OR NOT JANSSON_LIBRARY)
        message(FATAL_ERROR "The command line needs jansson, which was not found (Debian: libjansson-dev). Without it: "
            "-DSLIPRING_BUILD_TOOLS=OFF builds the library alone, -DSLIPRING_WITHOUT_JANSSON=ON a command line that has "
            "doctor, devices and bench alone.")
    endif()
    set(SLIPRING_HAS_JANSSON 1)
else()
    set(SLIPRING_HAS_JANSSON 0)
    list(FILTER tool_sources INCLUDE REGEX ${without_jansson}$)
    list(FILTER tool_sources EXCLUDE REGEX ${but_for}$)
endif()

slipring_glob(beats_sources examples/beats/*.c) # its network is trained by `slipring demo`
list(APPEND tool_sources ${beats_sources})

set(tool_main ${PROJECT_SOURCE_DIR}/tools/slipring/main.c)
list(REMOVE_ITEM tool_sources ${tool_main})
add_library(slipring_tool_objects OBJECT ${tool_sources})
slipring_program_settings(slipring_tool_objects)
target_include_directories(slipring_tool_objects PUBLIC tools/slipring bench include)
set(webgpu_headers $ENV{SLIPRING_WEBGPU_PYTHON}/wgpu/resources) # for `bench`'s floor on WebGPU
if(EXISTS ${webgpu_headers}/webgpu.h)
    target_include_directories(slipring_tool_objects SYSTEM PRIVATE ${webgpu_headers})
endif()
target_compile_definitions(slipring_tool_objects PUBLIC SLIPRING_HAS_JANSSON=${SLIPRING_HAS_JANSSON})
if(SLIPRING_HAS_JANSSON)
    target_include_directories(slipring_tool_objects PUBLIC ${JANSSON_INCLUDE_DIR})
    target_link_libraries(slipring_tool_objects PUBLIC ${JANSSON_LIBRARY})
    slipring_embed(slipring_tool_objects tools/slipring/demo/page.html demo_embedded_page)
    slipring_embed(slipring_tool_objects tools/slipring/demo/beats.html beats_embedded_page)
    slipring_embed(slipring_tool_objects tools/slipring/profile/page.html profile_embedded_page)
    slipring_embed(slipring_tool_objects tools/slipring/tune/page.html tune_embedded_page)
    slipring_embed(slipring_tool_objects tools/slipring/bench/compare.html bench_embedded_page)
endif()
target_link_libraries(slipring_tool_objects PUBLIC slipring_kernels ${system_libraries})
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
slipring_glob(glsl_texts bench/kernels/glsl/*.comp) # by glslang
foreach(text IN LISTS glsl_texts)
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_tool_objects ${text} glsl_embedded_${symbol})
endforeach()
slipring_glob(tune_texts bench/kernels/tune/*.cu) # for the tuner
slipring_glob(decide_texts bench/kernels/decide/*.cu bench/models/*.json) # work for `slipring decide`, and devices
foreach(text IN LISTS decide_texts)
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_tool_objects ${text} decide_embedded_${symbol})
endforeach()
foreach(text IN LISTS tune_texts)
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_tool_objects ${text} tune_embedded_${symbol})
endforeach()
set_source_files_properties(tools/slipring/bench/floors.c PROPERTIES COMPILE_OPTIONS -O3) # what it measures is memory
slipring_glob(beats_texts examples/beats/beats.cu examples/beats/beats.h) # "beats.cu" becomes beats_embedded_beats_cu
foreach(text IN LISTS beats_texts)
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_tool_objects ${text} beats_embedded_${symbol})
endforeach()
target_include_directories(slipring_tool_objects PUBLIC examples/beats)
if(TARGET slipring_ward)
    target_link_libraries(slipring_tool_objects PUBLIC slipring_ward)
endif()

add_executable(slipring_tool ${tool_main})
slipring_program_settings(slipring_tool)
target_link_libraries(slipring_tool PRIVATE slipring_tool_objects slipring)
if(WIN32)
    target_link_options(slipring_tool PRIVATE -static-libgcc)
endif()
set_target_properties(slipring_tool PROPERTIES OUTPUT_NAME slipring
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# Of the command line without jansson, which `make gpu-check` builds, what its test needs: the same objects, linked alone, but
# for the files that ask whether jansson is there.
if(SLIPRING_BUILD_TESTS AND SLIPRING_HAS_JANSSON AND slipring_system STREQUAL linux AND NOT SLIPRING_SANITIZE)
    add_executable(slipring_bare tools/slipring/main.c tools/slipring/doctor.c tools/slipring/bench/bench.c)
    slipring_program_settings(slipring_bare)
    target_include_directories(slipring_bare PRIVATE tools/slipring bench include examples/beats)
    target_compile_definitions(slipring_bare PRIVATE SLIPRING_HAS_JANSSON=0)
    set(objects "$<TARGET_OBJECTS:slipring_tool_objects>")
    set(objects "$<FILTER:${objects},INCLUDE,${without_jansson}|/(examples/beats|embedded)/>")
    set(objects "$<FILTER:${objects},EXCLUDE,${but_for}|/slipring/(doctor|bench/bench)\\.c>")
    target_link_libraries(slipring_bare PRIVATE ${objects} slipring_kernels slipring_ward slipring ${system_libraries})
endif()
