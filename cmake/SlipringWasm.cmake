# SPDX-License-Identifier: Apache-2.0
# slipring for JavaScript: slipring.wasm, what Emscripten writes around it, and the module that programs import. The preset
# wasm-threads makes the same with threads and without WebGPU, and puts it beside that.

slipring_glob(wasm_sources tools/wasm/*.c)
add_executable(slipring_wasm ${wasm_sources})
slipring_settings(slipring_wasm)
target_link_libraries(slipring_wasm PRIVATE slipring)
target_include_directories(slipring_wasm PRIVATE tools/wasm)
set(wasm_built ${PROJECT_SOURCE_DIR}/src/base/wasm/built.js)
set(wasm_page ${PROJECT_SOURCE_DIR}/src/hal/webgpu/wasm/page.js)
set(wasm_link -O2 -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=web,worker -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=2147483648
    -sTOTAL_STACK=1048576 -sFILESYSTEM=1 -sEXPORTED_RUNTIME_METHODS=[] -sALLOW_TABLE_GROWTH=1 "SHELL:--js-library ${wasm_built}")
if(SLIPRING_WASM_THREADS)
    # All threads are there before the first call; one that is not there is refused (src/base/wasm/carriers.h).
    list(APPEND wasm_link -pthread -sPTHREAD_POOL_SIZE=Module['carriers'] -sPTHREAD_POOL_SIZE_STRICT=2
        -sDEFAULT_PTHREAD_STACK_SIZE=262144)
    set(wasm_name slipring-threads)
else()
    # Asyncify: tasks change places (src/base/wasm/sim_context.c). What never waits is left as it is: the front end, and the
    # loop of the interpreter.
    list(APPEND wasm_link -sASYNCIFY=1 -sASYNCIFY_STACK_SIZE=32768 "SHELL:--js-library ${wasm_page}"
        -sASYNCIFY_IMPORTS=['slri_js_check','slri_js_turn','slri_js_adapter','slri_js_device'])
    set(wasm_name slipring-emscripten)
endif()
set_target_properties(slipring_wasm PROPERTIES OUTPUT_NAME ${wasm_name} SUFFIX .mjs LINK_DEPENDS "${wasm_page};${wasm_built}"
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    # Emscripten's tools look for Debian's JavaScript libraries, which another node than Debian's does not find.
    RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
target_link_options(slipring_wasm PRIVATE ${wasm_link} --no-entry
    -sINCOMING_MODULE_JS_API=['wasmBinary','onPrint','print','printErr']
    -sEXPORTED_FUNCTIONS=['_malloc','_free','_memcpy','_memmove','_memset'])

if(SLIPRING_WASM_THREADS)
    # Beside what the preset wasm makes, in both of its folders.
    set(beside ${PROJECT_BINARY_DIR}/../wasm)
    set(thread_files slipring-threads.mjs slipring-threads.wasm slipring-threads.worker.js)
    add_custom_target(slipring_js ALL
        COMMAND ${CMAKE_COMMAND} -E make_directory ${beside}/browser
        COMMAND ${CMAKE_COMMAND} -E copy_if_different ${thread_files} ${beside}
        COMMAND ${CMAKE_COMMAND} -E copy_if_different ${thread_files} ${beside}/browser
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR} DEPENDS slipring_wasm VERBATIM)
    return()
endif()

add_custom_target(slipring_js ALL
    COMMAND ${CMAKE_COMMAND} -E copy_if_different slipring-emscripten.wasm slipring.wasm
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${PROJECT_SOURCE_DIR}/tools/wasm/slipring.mjs
            ${PROJECT_SOURCE_DIR}/tools/wasm/slipring.d.mts .
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} DEPENDS slipring_wasm VERBATIM)

# The page of examples/browser with all that it loads: a folder of static files.
slipring_glob(browser_files examples/browser/*.html examples/browser/*.css examples/browser/*.json examples/browser/*.mjs)
add_custom_target(slipring_browser
    COMMAND ${CMAKE_COMMAND} -E make_directory browser
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${browser_files} ${PROJECT_SOURCE_DIR}/examples/ward/ward.cu
            ${PROJECT_SOURCE_DIR}/examples/ward/ward.h ${PROJECT_SOURCE_DIR}/examples/ward/mitdb-208-excerpt.csv
            slipring.wasm slipring.mjs slipring-emscripten.mjs browser
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} DEPENDS slipring_js VERBATIM)

# The conformance suite as a page: a folder of static files, too.
include(SlipringCts)
target_link_options(slipring_cts PRIVATE ${wasm_link} -sINCOMING_MODULE_JS_API=['arguments','onEnd','print','printErr']
    -sEXPORTED_FUNCTIONS=['_main','_malloc','_free'])
set_target_properties(slipring_cts PROPERTIES SUFFIX .mjs RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cts
    RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs" LINK_DEPENDS ${wasm_page})
add_custom_target(slipring_browser_cts
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${PROJECT_SOURCE_DIR}/tests/wasm/cts.html cts/index.html
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} DEPENDS slipring_cts VERBATIM)
