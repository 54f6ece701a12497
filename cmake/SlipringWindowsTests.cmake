# SPDX-License-Identifier: Apache-2.0
# The tests that run on Windows, or by Wine: every NAME_test.c but those that tests/windows/exceptions.txt names, with a reason.
# The command line is tested by the programs of a build for Linux (tests/windows/run.sh).
find_path(CMOCKA_INCLUDE_DIR cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)

set(SLIPRING_WINDOWS_TESTS . CACHE STRING "Which tests are built: a regular expression of their names")
file(STRINGS ${PROJECT_SOURCE_DIR}/tests/windows/exceptions.txt exceptions REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/windows/exceptions.txt)

# Is there an exception of that name? Lines are "NAME | REASON"; a NAME ending in "/" is a folder.
function(slipring_is_excepted name out)
    set(${out} FALSE PARENT_SCOPE)
    foreach(line IN LISTS exceptions)
        string(REGEX REPLACE " *\\|.*" "" exception "${line}")
        string(LENGTH "${exception}" length)
        string(SUBSTRING "${name}/" 0 ${length} begins)
        if(name STREQUAL exception OR (exception MATCHES "/$" AND begins STREQUAL exception))
            set(${out} TRUE PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_test.c ${PROJECT_SOURCE_DIR}/examples/*_test.c
    ${PROJECT_SOURCE_DIR}/tests/*_test.c ${PROJECT_SOURCE_DIR}/tools/slipring/*_test.c)
# The C compiler that programs find: the cross compiler, which a program of Windows starts below Wine.
add_executable(cross_cc ${PROJECT_SOURCE_DIR}/tests/windows/cross_cc.c)
slipring_program_settings(cross_cc)
set_target_properties(cross_cc PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
set(test_environment SLIPRING_CACHE_DIR=C:/slipring-test SLIPRING_SOURCE_DIR=${PROJECT_SOURCE_DIR}
    SLIPRING_CC=Z:$<TARGET_FILE:cross_cc>)
foreach(file IN LISTS test_sources)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    string(REGEX REPLACE "^src/" "" name ${name})
    string(REGEX REPLACE "_test\\.c$" "" name ${name})
    slipring_is_excepted(${name} is_excepted)
    if(is_excepted OR NOT name MATCHES "${SLIPRING_WINDOWS_TESTS}")
        continue()
    endif()
    string(REPLACE / _ target ${name}_test)
    add_executable(${target} ${file})
    slipring_program_settings(${target})
    target_compile_definitions(${target} PRIVATE SLIPRING_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_compile_options(${target} PRIVATE -include ${PROJECT_SOURCE_DIR}/tests/windows/posix.h)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/windows/include ${CMOCKA_INCLUDE_DIR}
        ${PROJECT_SOURCE_DIR})
    if(name MATCHES "^tools/")
        target_link_libraries(${target} PRIVATE slipring_tool_objects)
    elseif(name MATCHES "^examples/kernels/")
        target_link_libraries(${target} PRIVATE slipring_kernels)
    elseif(name MATCHES "^examples/ward/")
        target_link_libraries(${target} PRIVATE slipring_ward)
        target_compile_definitions(${target} PRIVATE WARD_DIR="${PROJECT_SOURCE_DIR}/examples/ward")
    endif()
    target_link_libraries(${target} PRIVATE slipring_internal ${CMOCKA_LIBRARY} -static-libgcc)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT "${test_environment}")
endforeach()
add_test(NAME tests/cts/interpreted COMMAND slipring_cts --device cpu?engine=interpreted --timeout 120)
add_test(NAME tests/cts/compiled COMMAND slipring_cts --device cpu?engine=compiled --timeout 120
    --filter mailboxes/,blocks/,faults/,warps/)
set_tests_properties(tests/cts/interpreted tests/cts/compiled PROPERTIES TIMEOUT 900 ENVIRONMENT "${test_environment}")
