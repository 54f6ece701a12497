# SPDX-License-Identifier: Apache-2.0
# Every NAME_test.c is one program and one test, linked with the library's insides; every tests/*/NAME_test.sh one test.
enable_language(CXX) # public headers are C++17 too
find_path(CMOCKA_INCLUDE_DIR cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)

# NVIDIA's own calculator, to compare with: the toolkit's, where it is.
file(GLOB cuda_includes /usr/local/cuda*/include)
find_path(CUDA_OCCUPANCY_DIR cuda_occupancy.h HINTS $ENV{SLIPRING_CUDA_INCLUDE} ${cuda_includes})

# Never the user's. One for builds of one source tree: what the C compiler makes of a kernel does not hang on how the
# library itself is compiled.
set(SLIPRING_TEST_CACHE ${PROJECT_BINARY_DIR}/cache CACHE PATH "Where tests keep compiled kernels")

set(test_environment
    SLIPRING_CACHE_DIR=${SLIPRING_TEST_CACHE}
    SLIPRING_SOURCE_DIR=${PROJECT_SOURCE_DIR}
    SLIPRING_BINARY_DIR=${PROJECT_BINARY_DIR}
    SLIPRING_CMAKE=${CMAKE_COMMAND}
    SLIPRING_TOOL=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/slipring
    CC=${CMAKE_C_COMPILER}
    CXX=${CMAKE_CXX_COMPILER})

# CUDA texts as the host's compiler sees them, for whoever runs them.
add_library(slipring_shim OBJECT ${PROJECT_SOURCE_DIR}/tests/shim/image.c
    ${PROJECT_SOURCE_DIR}/tests/shim/lanes.c ${PROJECT_SOURCE_DIR}/tests/shim/late.c ${PROJECT_SOURCE_DIR}/tests/shim/metal.c)
slipring_program_settings(slipring_shim)
set_target_properties(slipring_shim PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(slipring_shim PUBLIC ${PROJECT_SOURCE_DIR} src include)
target_compile_options(slipring_shim PRIVATE -O2) # switching between lanes is all that it does
# It leaves stacks as no sanitizer has seen anybody do.
set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/shim/lanes.c PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
find_program(SLIPRING_CLANGXX NAMES clang++ DOC "checks address spaces of emitted MSL; empty: not checked")
if(NOT SLIPRING_CLANGXX)
    set(SLIPRING_CLANGXX "")
endif()
target_compile_definitions(slipring_shim PRIVATE SHIM_CLANG="${SLIPRING_CLANGXX}" SHIM_SOURCE="${PROJECT_SOURCE_DIR}" SHIM_CXX="${CMAKE_CXX_COMPILER}"
    SHIM_CACHE="${SLIPRING_TEST_CACHE}/shim" $<$<STREQUAL:${CMAKE_CXX_COMPILER_ID},Clang>:SHIM_CXX_IS_CLANG>)

# PTX as NVRTC makes it of CUDA texts, for whoever runs that.
slipring_glob(ptx_sources tests/ptx/*.c)
list(FILTER ptx_sources EXCLUDE REGEX "_test\\.c$")
add_library(slipring_ptx OBJECT ${ptx_sources})
slipring_program_settings(slipring_ptx)
set_target_properties(slipring_ptx PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(slipring_ptx PUBLIC ${PROJECT_SOURCE_DIR} src include)
target_compile_definitions(slipring_ptx PRIVATE PTX_CACHE="${SLIPRING_TEST_CACHE}/ptx")
# It interprets; it leaves stacks, and reads memory, as no sanitizer has seen anybody do.
target_compile_options(slipring_ptx PRIVATE -O2 -frounding-math -ffp-contract=off -fno-sanitize=all)

# Vendors' libraries that fail on demand.
add_library(slipring_fake_opencl MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/fake_opencl.c)
slipring_program_settings(slipring_fake_opencl)
target_include_directories(slipring_fake_opencl PRIVATE src include)
list(APPEND test_environment SLIPRING_FAKE_OPENCL=$<TARGET_FILE:slipring_fake_opencl>)
slipring_glob(fake_cuda_sources tests/fakes/fake_cuda*.c tests/fakes/fake_gdr.c tests/fakes/fake_hip.c tests/fakes/fake_nvrtc.c)
add_library(slipring_fake_cuda MODULE ${fake_cuda_sources})
slipring_program_settings(slipring_fake_cuda)
target_include_directories(slipring_fake_cuda PRIVATE ${PROJECT_SOURCE_DIR} src include)
target_link_libraries(slipring_fake_cuda PRIVATE slipring_shim slipring_ptx slipring_internal) # it runs kernels by the interpreter
target_link_options(slipring_fake_cuda PRIVATE -Wl,-Bsymbolic)      # by its own
list(APPEND test_environment SLIPRING_FAKE_CUDA=$<TARGET_FILE:slipring_fake_cuda>)

add_library(slipring_fake_nvml MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/fake_nvml.c)
slipring_program_settings(slipring_fake_nvml)
target_include_directories(slipring_fake_nvml PRIVATE src include)
list(APPEND test_environment SLIPRING_FAKE_NVML=$<TARGET_FILE:slipring_fake_nvml>)
add_library(slipring_fake_rocm_smi MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/fake_rocm_smi.c)
slipring_program_settings(slipring_fake_rocm_smi)
target_include_directories(slipring_fake_rocm_smi PRIVATE src include)
list(APPEND test_environment SLIPRING_FAKE_ROCM_SMI=$<TARGET_FILE:slipring_fake_rocm_smi>)

# One that passes calls on to the Vulkan that is here.
if(VULKAN_INCLUDE_DIR)
    add_library(slipring_fake_vulkan MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/fake_vulkan.c)
    slipring_program_settings(slipring_fake_vulkan)
    target_link_libraries(slipring_fake_vulkan PRIVATE ${CMAKE_DL_LIBS})
    list(APPEND test_environment SLIPRING_FAKE_VULKAN=$<TARGET_FILE:slipring_fake_vulkan>)
endif()

# One that passes calls on to the wgpu-native that SLIPRING_WEBGPU_PYTHON has.
add_library(slipring_fake_webgpu MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/fake_webgpu.c)
slipring_program_settings(slipring_fake_webgpu)
target_include_directories(slipring_fake_webgpu PRIVATE ${PROJECT_SOURCE_DIR} src include)
target_link_libraries(slipring_fake_webgpu PRIVATE ${CMAKE_DL_LIBS})
list(APPEND test_environment SLIPRING_FAKE_WEBGPU=$<TARGET_FILE:slipring_fake_webgpu>)

# A Dawn of another generation; and the one that Python's package wgpudawn has, for C, where Python is a library.
add_library(slipring_old_dawn MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/old_dawn.c)
slipring_program_settings(slipring_old_dawn)
list(APPEND test_environment SLIPRING_OLD_DAWN=$<TARGET_FILE:slipring_old_dawn>)
file(GLOB python_library /usr/lib/*/libpython3.*.so.1.0)
if(python_library AND EXISTS $ENV{SLIPRING_WEBGPU_PYTHON}/wgpudawn/_lib/__init__.py AND slipring_system STREQUAL linux
   AND NOT SLIPRING_SANITIZE) # Python leaks
    list(GET python_library 0 first_python)
    add_library(slipring_dawn MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/python_dawn.c)
    slipring_program_settings(slipring_dawn)
    target_compile_definitions(slipring_dawn PRIVATE SLIPRING_PYTHON_LIB="${first_python}")
    target_include_directories(slipring_dawn PRIVATE src include)
    target_link_libraries(slipring_dawn PRIVATE ${CMAKE_DL_LIBS})
    list(APPEND test_environment SLIPRING_DAWN=$<TARGET_FILE:slipring_dawn>)
endif()

# A Metal without a device.
if(slipring_system STREQUAL linux)
    slipring_glob(fake_metal_sources tests/fakes/metal/*.c)
    add_library(slipring_fake_metal MODULE ${fake_metal_sources})
    slipring_program_settings(slipring_fake_metal)
    target_include_directories(slipring_fake_metal PRIVATE ${PROJECT_SOURCE_DIR} src include)
    target_link_libraries(slipring_fake_metal PRIVATE slipring_shim slipring_internal)
    target_link_options(slipring_fake_metal PRIVATE -Wl,-Bsymbolic) # by its own
    list(APPEND test_environment SLIPRING_FAKE_METAL=$<TARGET_FILE:slipring_fake_metal>)
endif()

# A backend of the tests' own. Its list of backends goes in the place of the library's: an object comes before an archive.
slipring_glob(toy_sources tests/fakes/toy/*.c tests/fakes/failing/*.c)
add_library(slipring_toy OBJECT ${toy_sources})
slipring_program_settings(slipring_toy)
target_include_directories(slipring_toy PUBLIC ${PROJECT_SOURCE_DIR} src include)

# Those that change what the OpenCL that is here does, where it is.
find_library(SLIPRING_OPENCL_LOADER NAMES libOpenCL.so.1 OpenCL)
if(SLIPRING_OPENCL_LOADER)
    foreach(fake sub_groups losing)
        add_library(slipring_fake_${fake} MODULE ${PROJECT_SOURCE_DIR}/tests/fakes/fake_${fake}.c)
        slipring_program_settings(slipring_fake_${fake})
        target_include_directories(slipring_fake_${fake} PRIVATE src include)
        target_link_options(slipring_fake_${fake} PRIVATE -Wl,--no-as-needed) # it is found through the fake
        target_link_libraries(slipring_fake_${fake} PRIVATE ${SLIPRING_OPENCL_LOADER} ${CMAKE_DL_LIBS})
        string(TOUPPER ${fake} name)
        list(APPEND test_environment SLIPRING_FAKE_${name}=$<TARGET_FILE:slipring_fake_${fake}>)
    endforeach()
endif()

# "src/base/text_test.c" is the test "base/text" and the program "base_text_test".
function(slipring_test_name file out)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REGEX REPLACE "^src/" "" file ${file})
    string(REGEX REPLACE "_test\\.[a-z]+$" "" file ${file})
    set(${out} ${file} PARENT_SCOPE)
endfunction()

# Random programs of ring kernels in simulation: a library for its test, and a program for long runs.
slipring_glob(sim_sources tests/sim/*.c)
set(sim_main ${PROJECT_SOURCE_DIR}/tests/sim/main.c)
list(REMOVE_ITEM sim_sources ${sim_main})
add_library(slipring_sim_objects OBJECT ${sim_sources})
slipring_program_settings(slipring_sim_objects)
target_include_directories(slipring_sim_objects PUBLIC src include tests/sim)
# They are played against ring kernels whose every atomic operation may be where another task goes on.
slipring_glob(points_sources src/ring/*.c src/hal/cpu/*.c src/engine/queue_pool.c)
add_library(slipring_points OBJECT ${points_sources})
slipring_settings(slipring_points)
target_include_directories(slipring_points PUBLIC src include)
target_compile_options(slipring_points PRIVATE -include ${PROJECT_SOURCE_DIR}/tests/sim/points.h)
add_library(slipring_internal_points STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:slipring_points>
    "$<FILTER:$<TARGET_OBJECTS:slipring_objects>,EXCLUDE,/src/(ring/|hal/cpu/|engine/queue_pool)>")
target_include_directories(slipring_internal_points PUBLIC src include)
target_link_libraries(slipring_internal_points PUBLIC ${system_libraries})
add_executable(slipring_sim ${sim_main})
slipring_program_settings(slipring_sim)
target_link_libraries(slipring_sim PRIVATE slipring_sim_objects slipring_internal_points)
set_target_properties(slipring_sim PROPERTIES OUTPUT_NAME sim RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# A guard against tests that hang, not a measure of time: a machine may have much else to do, and a new build's first
# test of a kind compiles what others find in the cache.
set(test_timeout 900)
list(APPEND test_environment "SLIPRING_SANITIZE=${SLIPRING_SANITIZE}")
if(SLIPRING_SANITIZE STREQUAL thread)
    list(APPEND test_environment "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
endif()
# A library that is opened late, as drivers are, has its threads' variables in memory of malloc(). gcc's AddressSanitizer, up to
# gcc 13, takes what lies 16 bytes behind a page's start for a block of an old glibc, and reads where it begins and ends from
# words of its own (google/sanitizers, issue 1322). The leak check then reads there, and crashes after a test has passed:
# 'Tracer caught signal 11'. Without that guess it still knows these blocks, because the dynamic linker has asked for them.
if(SLIPRING_SANITIZE MATCHES address)
    list(APPEND test_environment "ASAN_OPTIONS=intercept_tls_get_addr=0")
endif()

function(slipring_register name)
    set(command ${ARGN})
    if(command MATCHES "^slipring_cts" AND NOT "--timeout" IN_LIST command)
        list(APPEND command --timeout 120) # of a case: likewise
    endif()
    add_test(NAME ${name} COMMAND ${command} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set(environment ${test_environment})
    # They run the tool dozens of times, often with a driver or libnats, whose threads are still there when it ends. Then
    # ThreadSanitizer sleeps, to see what such a thread does meanwhile: a second each time, a minute of tests/cli/serve.
    if(name MATCHES "^tests/cli/")
        string(REPLACE /tests/tsan.supp "/tests/tsan.supp atexit_sleep_ms=100" environment "${environment}")
    endif()
    set_tests_properties(${name} PROPERTIES TIMEOUT ${test_timeout} SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
endfunction()

# A driver with words of 32 bits only, where kernels can be persistent: SwiftShader, which is Chromium's.
set(vulkan_words /usr/lib/chromium/vk_swiftshader_icd.json)

# Programs of one thread that take long. There is no race to show in them: ThreadSanitizer's build leaves them out.
set(one_thread emit/cuda/emit_cuda emit/spirv/spirv hal/cpu/agreement hal/cpu/block hal/cpu/emitted hal/cuda/cubin
    ir/math/math lang/check lang/growth lang/text/preprocess memory/model memory/pattern tests/check/planted
    tests/kernel/differential tests/mailbox/interpreted tests/mailbox/protocol tests/ptx/ptx tests/sim/crash tests/sim/found
    tests/sim/sim
    tune/occupancy tune/tiling)
# Nor in those that measure: they would take minutes, and measure the sanitizer. Their threads are in others' tests, too.
list(APPEND one_thread decide/decide observe/ceilings tests/cli/decide tests/profile/profile)
# Of tuner/cost one case is left out there, which interprets one thread for a minute of a core: the other cases have the same
# threads of slipring's and take eight seconds.
set(one_thread_unseen ${one_thread})

function(slipring_add_test file)
    slipring_test_name(${file} name)
    list(REMOVE_ITEM one_thread_unseen ${name})
    set(one_thread_unseen ${one_thread_unseen} PARENT_SCOPE)
    if(SLIPRING_SANITIZE STREQUAL thread AND name IN_LIST one_thread)
        return()
    endif()
    # One pass of them takes minutes there; what the driver's own threads do is in tests/tsan.supp.
    if(SLIPRING_SANITIZE STREQUAL thread AND name MATCHES "^tests/(metal/|vulkan/failure|webgpu/)")
        return()
    endif()
    if(SLIPRING_SANITIZE AND name STREQUAL tests/webgpu/failure) # lavapipe leaks 48 bytes a device, which is opened often
        return()
    endif()
    string(REPLACE / _ target ${name}_test)
    add_executable(${target} ${file})
    slipring_program_settings(${target})
    target_compile_definitions(${target} PRIVATE SLIPRING_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_include_directories(${target} PRIVATE ${CMOCKA_INCLUDE_DIR} ${PROJECT_SOURCE_DIR})
    if(name MATCHES "^tools/" AND TARGET slipring_tool_objects)
        target_link_libraries(${target} PRIVATE slipring_tool_objects)
    elseif(name MATCHES "^(examples/kernels/|tests/kernel/opencl)")
        target_link_libraries(${target} PRIVATE slipring_kernels)
    elseif(name MATCHES "^tests/failures/")
        target_link_libraries(${target} PRIVATE slipring_toy)
    elseif(name MATCHES "^tests/ptx/")
        target_link_libraries(${target} PRIVATE slipring_ptx)
    elseif(name MATCHES "^tests/shim/")
        target_link_libraries(${target} PRIVATE slipring_shim)
    elseif(name MATCHES "^examples/ward/")
        target_link_libraries(${target} PRIVATE slipring_ward)
        target_compile_definitions(${target} PRIVATE WARD_DIR="${PROJECT_SOURCE_DIR}/examples/ward")
    endif()
    if(name MATCHES "^tune/occupancy" AND CUDA_OCCUPANCY_DIR)
        target_include_directories(${target} SYSTEM PRIVATE ${CUDA_OCCUPANCY_DIR})
        target_compile_definitions(${target} PRIVATE HAVE_CUDA_OCCUPANCY)
    endif()
    if(name MATCHES "^tests/sim/")
        target_link_libraries(${target} PRIVATE slipring_sim_objects slipring_internal_points ${CMOCKA_LIBRARY})
    else()
        target_link_libraries(${target} PRIVATE slipring_internal ${CMOCKA_LIBRARY})
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    # Of persistent kernels, which the default driver may end: where SwiftShader is, it is registered with that, below.
    if(name STREQUAL tests/vulkan/traffic AND EXISTS ${vulkan_words})
        return()
    endif()
    slipring_register(${name} ${target})
endfunction()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/*_test.c ${PROJECT_SOURCE_DIR}/examples/*_test.c ${PROJECT_SOURCE_DIR}/tests/*_test.c)
if(SLIPRING_HAS_JANSSON)
    file(GLOB_RECURSE tool_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/slipring/*_test.c)
endif()
if(NOT VULKAN_INCLUDE_DIR)
    list(FILTER test_sources EXCLUDE REGEX tests/vulkan/)
endif()
foreach(file IN LISTS test_sources tool_tests)
    slipring_add_test(${file})
endforeach()
if(one_thread_unseen)
    message(FATAL_ERROR "cmake/SlipringTests.cmake: one_thread names tests that are not there: ${one_thread_unseen}")
endif()

# Where calls fail in turn, those that fill the cache shall come: a new build begins with an empty one.
foreach(name cuda opencl)
    set_property(TEST tests/${name}/failure APPEND PROPERTY ENVIRONMENT SLIPRING_CACHE_DIR=${PROJECT_BINARY_DIR}/cache)
endforeach()

# Streams once more, on a driver that is simulated, with memory of its own and without.
foreach(memory "" ?memory=mapped)
    foreach(kind event stream)
        string(REPLACE ?memory= _ name tests/cuda/${kind}${memory})
        slipring_register(${name} device_${kind}_test)
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda>
            SLIPRING_TEST_DEVICE=cuda:0${memory})
    endforeach()
endforeach()

# Fused kernels once more, on a driver that is simulated: their source goes through the emitter for CUDA.
foreach(name graph kernels ops)
    slipring_register(tests/cuda/fuse_${name} tests_fuse_${name}_test)
    set_property(TEST tests/cuda/fuse_${name} APPEND PROPERTY ENVIRONMENT SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda>
        SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>)
endforeach()

# Kernels that stay once more, on a driver that is simulated.
slipring_register(tests/cuda/persistent tests_opencl_persistent_test)
set_property(TEST tests/cuda/persistent APPEND PROPERTY ENVIRONMENT SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda>
    SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda> "SLIPRING_TEST_RING_DEVICE=cuda:0?ring=persistent")

foreach(name batch_calls batch_kernel slice dead_letter)
    slipring_register(tests/cuda/persistent_${name} tests_ring_${name}_test)
    set_property(TEST tests/cuda/persistent_${name} APPEND PROPERTY ENVIRONMENT
        SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>
        "SLIPRING_TEST_RING_DEVICE=cuda:0?ring=persistent")
endforeach()

foreach(name routes routes_change)
    slipring_register(tests/cuda/persistent_${name} tests_opencl_${name}_test)
    set_property(TEST tests/cuda/persistent_${name} APPEND PROPERTY ENVIRONMENT
        SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>
        "SLIPRING_TEST_RING_DEVICE=cuda:0?ring=persistent")
endforeach()

# And with flags behind a bus, which is simulated, too.
slipring_register(tests/cuda/persistent_flags tests_opencl_persistent_test)
set_property(TEST tests/cuda/persistent_flags APPEND PROPERTY ENVIRONMENT
    SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>
    SLIPRING_GDR_LIB=$<TARGET_FILE:slipring_fake_cuda> "SLIPRING_TEST_RING_DEVICE=cuda:0?ring=persistent&flags=bar")

# Those that are relaunched likewise: the tests of src/ring with handlers that are kernels.
foreach(name batch batch_calls batch_kernel failure fault keys key_eviction ring_send route slice slice_own state dead_letter)
    slipring_register(tests/cuda/ring_${name} tests_ring_${name}_test)
    set_property(TEST tests/cuda/ring_${name} APPEND PROPERTY ENVIRONMENT
        SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>
        "SLIPRING_TEST_RING_DEVICE=cuda:0?ring=relaunch")
endforeach()

# And on HIP's functions.
foreach(name batch batch_calls batch_kernel failure fault keys key_eviction ring_send route state)
    slipring_register(tests/cuda/hip_${name} tests_ring_${name}_test)
    set_property(TEST tests/cuda/hip_${name} APPEND PROPERTY ENVIRONMENT
        SLIPRING_HIP_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_HIPRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>
        "SLIPRING_TEST_RING_DEVICE=hip:0")
endforeach()

# Everything at once on such a driver, and the calls that may wait for a kernel that stays.
if(TARGET slipring_gpu)
    set_target_properties(slipring_gpu PROPERTIES EXCLUDE_FROM_ALL FALSE)
    slipring_register(tests/cuda/soak_persistent slipring_gpu soak cuda:0?ring=persistent 3)
    slipring_register(tests/cuda/soak_relaunch slipring_gpu soak cuda:0?ring=relaunch 3)
    slipring_register(tests/cuda/deadlocks slipring_gpu deadlocks cuda:0 100)
    set_property(TEST tests/cuda/soak_persistent tests/cuda/soak_relaunch tests/cuda/deadlocks APPEND PROPERTY ENVIRONMENT
        SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>)
    set_property(TEST tests/cuda/deadlocks APPEND PROPERTY ENVIRONMENT # a real one would be called on a simulated driver
        SLIPRING_CUBLASLT_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_CUDNN_LIB=$<TARGET_FILE:slipring_fake_cuda>)
endif()

# Ring kernels once more, on a device that is no cpu: skipped where there is none.
file(GLOB opencl_drivers /etc/OpenCL/vendors/*.icd)
if(NOT SLIPRING_SANITIZE) # OpenCL's compilers do not run under sanitizers
    foreach(name batch batch_calls batch_kernel call claim create dead_letter delivery failure fault keys key_eviction lifecycle loop overflow overrun
            port ring_send route route_end route_full slice slice_own state stats supervise telemetry terminate topic)
        slipring_register(tests/opencl/ring_${name} tests_ring_${name}_test)
        set_property(TEST tests/opencl/ring_${name} APPEND PROPERTY ENVIRONMENT
            "SLIPRING_TEST_RING_DEVICE=opencl:0?ring=relaunch")
    endforeach()
    if(TARGET slipring_gpu AND opencl_drivers)
        slipring_register(tests/opencl/soak slipring_gpu soak opencl:0?ring=persistent 3)
        slipring_register(tests/opencl/soak_relaunch slipring_gpu soak opencl:0?memory=plain&ring=relaunch 3)
    endif()
    foreach(name batch_calls batch_kernel slice dead_letter)
        slipring_register(tests/opencl/persistent_${name} tests_ring_${name}_test)
        set_property(TEST tests/opencl/persistent_${name} APPEND PROPERTY ENVIRONMENT
            "SLIPRING_TEST_RING_DEVICE=opencl:0?ring=persistent")
    endforeach()
    slipring_register(tests/opencl/coarse_slice tests_ring_slice_test)
    set_property(TEST tests/opencl/coarse_slice APPEND PROPERTY ENVIRONMENT
        "SLIPRING_TEST_RING_DEVICE=opencl:0?memory=coarse&ring=relaunch")
    foreach(name batch batch_calls batch_kernel failure fault ring_send route slice slice_own dead_letter) # those with kernel handlers, where the host cannot reach states
        slipring_register(tests/opencl/plain_${name} tests_ring_${name}_test)
        set_property(TEST tests/opencl/plain_${name} APPEND PROPERTY ENVIRONMENT
            "SLIPRING_TEST_RING_DEVICE=opencl:0?memory=plain&ring=relaunch")
    endforeach()
endif()

# Examples that check themselves. They see what a user sees: the public headers and the library.
file(GLOB example_programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/loop/*.c
    ${PROJECT_SOURCE_DIR}/examples/pipeline/*.c ${PROJECT_SOURCE_DIR}/examples/send/*.c
    ${PROJECT_SOURCE_DIR}/examples/streams/*.c)
foreach(file IN LISTS example_programs)
    cmake_path(GET file STEM stem)
    add_executable(example_${stem} ${file})
    slipring_program_settings(example_${stem})
    target_link_libraries(example_${stem} PRIVATE slipring)
    set_target_properties(example_${stem} PROPERTIES OUTPUT_NAME ${stem}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder STEM folder)
    file(GLOB handlers ${PROJECT_SOURCE_DIR}/examples/${folder}/*.cu) # its argument, where there is one
    slipring_register(examples/${folder}/${stem} example_${stem} ${handlers})
endforeach()

# What tests/profile runs under `slipring profile`, and what tests/perfetto has traced.
foreach(program profile/bottlenecks perfetto/many_events)
    cmake_path(GET program FILENAME name)
    add_executable(slipring_${name} ${PROJECT_SOURCE_DIR}/tests/${program}.c)
    slipring_program_settings(slipring_${name})
    target_link_libraries(slipring_${name} PRIVATE slipring)
    set_target_properties(slipring_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endforeach()

# A program of version 0.1: its headers, and the library of today.
file(COPY_FILE ${PROJECT_SOURCE_DIR}/tests/abi/program.c ${PROJECT_BINARY_DIR}/abi_program.cpp ONLY_IF_DIFFERENT)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/abi/program.c)
add_executable(slipring_abi_c ${PROJECT_SOURCE_DIR}/tests/abi/program.c)
add_executable(slipring_abi_cpp ${PROJECT_BINARY_DIR}/abi_program.cpp)
foreach(language c cpp)
    set(target slipring_abi_${language})
    slipring_program_settings(${target})
    target_compile_definitions(${target} PRIVATE _DEFAULT_SOURCE) # MAP_ANONYMOUS
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/abi/0.1)
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:slipring>)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    slipring_register(tests/abi/${language} ${target})
endforeach()

# What tests/dlopen runs: the library's headers, and no library.
add_executable(slipring_dlopen_program ${PROJECT_SOURCE_DIR}/tests/dlopen/program.c)
slipring_program_settings(slipring_dlopen_program)
target_include_directories(slipring_dlopen_program PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(slipring_dlopen_program PRIVATE ${CMAKE_DL_LIBS} pthread)
set_target_properties(slipring_dlopen_program PROPERTIES OUTPUT_NAME dlopen_program
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# Everything at once, for as long as one likes; five seconds of it as a test.
add_executable(slipring_soak ${PROJECT_SOURCE_DIR}/tests/stress/soak.c)
slipring_program_settings(slipring_soak)
target_link_libraries(slipring_soak PRIVATE slipring_internal)
set_target_properties(slipring_soak PROPERTIES OUTPUT_NAME soak RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
slipring_register(tests/stress/soak slipring_soak 5)

# Random use of the public interface; `make api-stress` for as long as one likes and on any device.
slipring_glob(api_stress_sources tests/stress/api_stress*.c)
add_executable(slipring_api_stress ${api_stress_sources})
slipring_program_settings(slipring_api_stress)
target_include_directories(slipring_api_stress PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(slipring_api_stress PRIVATE slipring_internal)
set_target_properties(slipring_api_stress PROPERTIES OUTPUT_NAME api_stress
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
slipring_register(tests/stress/api_stress slipring_api_stress 5)

# Random programs of the kernel language, compiled and interpreted: 500 as a test, any number by argument.
slipring_glob(generate_sources tests/generate/*.c)
add_executable(slipring_generate ${generate_sources})
slipring_program_settings(slipring_generate)
target_compile_definitions(slipring_generate PRIVATE _DEFAULT_SOURCE) # mkstemps
target_link_libraries(slipring_generate PRIVATE slipring_shim slipring_internal)
set_target_properties(slipring_generate PROPERTIES OUTPUT_NAME generate
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(NOT SLIPRING_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL GNU) # once is enough; `make generate` runs many
    slipring_register(tests/generate slipring_generate --programs 40 --from 280 --level 0)
    slipring_register(tests/generate_words slipring_generate --programs 100 --from 240 --level 4)
    slipring_register(tests/generate_loops slipring_generate --programs 30 --from 283 --level 4 --loops)
endif()

# The conformance suite. Compiling its 200 kernels takes 20 s of a core: `make cts` does, a test only looks at the host cases
# and at what is hardest to compile.
if(TARGET slipring_cts)
    set(cts_host batches/,mailboxes/,priority/,references/,overflow/,instances/,keys/,streams/)
    slipring_register(tests/cts/interpreted slipring_cts --device cpu?engine=interpreted)
    if(SLIPRING_SANITIZE OR NOT CMAKE_C_COMPILER_ID STREQUAL GNU)
        slipring_register(tests/cts/compiled slipring_cts --optimize 1 --device cpu?engine=compiled --filter ${cts_host})
    else()
        slipring_register(tests/cts/compiled slipring_cts --optimize 1 --device cpu?engine=compiled --device
            cpu?unified=0 --filter ${cts_host},barriers/,faults/)
    endif()
endif()

# All of it on a backend that only the tests have.
if(TARGET slipring_cts)
    add_executable(slipring_cts_toy $<TARGET_OBJECTS:slipring_cts> $<TARGET_OBJECTS:slipring_toy>)
    slipring_program_settings(slipring_cts_toy)
    target_link_libraries(slipring_cts_toy PRIVATE slipring_internal)
    set_target_properties(slipring_cts_toy PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    slipring_register(tests/toy/cts slipring_cts_toy --device toy:0 --optimize 1)
    slipring_register(tests/toy/cts_words slipring_cts_toy --device toy:0?words=1 --optimize 1)
endif()

# The kernels of the suite on a driver that is simulated: emitted, read again, interpreted.
if(TARGET slipring_cts)
    set(areas launch/,streams/,faults/)
    if(NOT SLIPRING_SANITIZE)
        string(APPEND areas ,language/,math/,atomics/,barriers/,memory/,warps/,matrix/)
    endif()
    slipring_register(tests/cuda/cts slipring_cts --device cuda:0 --filter ${areas})
    set_property(TEST tests/cuda/cts APPEND PROPERTY ENVIRONMENT SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda>
        SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>)
    slipring_register(tests/cuda/cts_persistent slipring_cts --device cuda:0?ring=persistent
        --filter mailboxes/,priority/,references/,overflow/,instances/,keys/,blocks/,batches/,routes/,limits/)
    slipring_register(tests/cuda/cts_relaunch slipring_cts --device cuda:0?ring=relaunch
        --device cuda:0?memory=mapped&ring=relaunch
        --filter mailboxes/,priority/,references/,overflow/,instances/,keys/,blocks/,batches/,routes/,limits/)
    set_property(TEST tests/cuda/cts_persistent tests/cuda/cts_relaunch APPEND PROPERTY ENVIRONMENT
        SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>)
endif()

# Ring kernels on OpenCL, where a driver is installed, whose compiler may take seconds for one. Not the kernels of the
# suite: minutes of it.
if(TARGET slipring_cts AND opencl_drivers AND NOT SLIPRING_SANITIZE)
    set(opencl_kernels launch/what_a_kernel_prints,memory/variables)
    slipring_register(tests/opencl/cts_persistent slipring_cts --device opencl:0?ring=persistent
        --filter mailboxes/,priority/,references/,overflow/,instances/,keys/,blocks/,batches/,routes/,limits/,faults/)
    slipring_register(tests/opencl/cts_relaunch slipring_cts --device opencl:0?ring=relaunch
        --device opencl:0?memory=plain&ring=relaunch
        --filter mailboxes/,priority/,references/,overflow/,instances/,keys/,blocks/,batches/,routes/,limits/,faults/,${opencl_kernels})
endif()

# The suite, and ring kernels, on Vulkan, where a driver is installed.
file(GLOB vulkan_drivers /usr/share/vulkan/icd.d/lvp_icd*.json)
if(VULKAN_INCLUDE_DIR AND vulkan_drivers AND NOT SLIPRING_SANITIZE) # its compiler does not run under sanitizers
    if(TARGET slipring_cts)
        slipring_register(tests/vulkan/cts slipring_cts --device vulkan:0 --timeout 60)
        # lavapipe does not promise to keep subnormals, but it does.
        set_property(TEST tests/vulkan/cts PROPERTY FAIL_REGULAR_EXPRESSION "[1-9][0-9]* of them known")
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
        slipring_register(tests/vulkan/generate slipring_generate --device vulkan:0 --programs 30 --from 20)
        slipring_register(tests/vulkan/generate_loops slipring_generate --device vulkan:0 --programs 10 --from 40 --loops)
    endif()
    foreach(name batch batch_calls batch_kernel failure fault keys key_eviction ring_send route slice slice_own state)
        slipring_register(tests/vulkan/ring_${name} tests_ring_${name}_test)
        set_property(TEST tests/vulkan/ring_${name} APPEND PROPERTY ENVIRONMENT "SLIPRING_TEST_RING_DEVICE=vulkan:0")
    endforeach()
endif()

# The same on WebGPU: on the wgpu-native of SLIPRING_WEBGPU_PYTHON over each driver of Vulkan that runs on the host's cores.
set(webgpu_library $ENV{SLIPRING_WEBGPU_PYTHON}/wgpu/resources/libwgpu_native-release.so)
file(GLOB swiftshader /usr/lib/chromium/vk_swiftshader_icd.json)
if(EXISTS ${webgpu_library} AND vulkan_drivers AND NOT SLIPRING_SANITIZE)
    set(webgpu_environment SLIPRING_WEBGPU_LIB=${webgpu_library} XDG_RUNTIME_DIR=${PROJECT_BINARY_DIR})
    if(TARGET slipring_cts)
        slipring_register(tests/webgpu/cts slipring_cts --device webgpu:0 --timeout 60)
        set_property(TEST tests/webgpu/cts APPEND PROPERTY ENVIRONMENT ${webgpu_environment} VK_ICD_FILENAMES=${vulkan_drivers})
        if(swiftshader)
            slipring_register(tests/webgpu/cts_swiftshader slipring_cts --device webgpu:0 --timeout 60
                --filter language/,math/,barriers/,warps/,atomics/,parameters/,launch/) # it compiles slowly: not all
            set_property(TEST tests/webgpu/cts_swiftshader APPEND PROPERTY ENVIRONMENT ${webgpu_environment}
                VK_ICD_FILENAMES=${swiftshader})
        endif()
    endif()
    if(TARGET slipring_dawn AND TARGET slipring_cts AND swiftshader)
        slipring_register(tests/webgpu/cts_dawn slipring_cts --device webgpu:0 --timeout 60)
        set_property(TEST tests/webgpu/cts_dawn APPEND PROPERTY ENVIRONMENT SLIPRING_WEBGPU_LIB=$<TARGET_FILE:slipring_dawn>
            XDG_RUNTIME_DIR=${PROJECT_BINARY_DIR} VK_ICD_FILENAMES=${swiftshader})
        set_tests_properties(tests/webgpu/cts_dawn PROPERTIES TIMEOUT 600)
    endif()
    foreach(name batch failure fault route slice_own state) # `slice` has doubles; the suite has the others
        slipring_register(tests/webgpu/ring_${name} tests_ring_${name}_test)
        set_property(TEST tests/webgpu/ring_${name} APPEND PROPERTY ENVIRONMENT ${webgpu_environment}
            "SLIPRING_TEST_RING_DEVICE=webgpu:0")
    endforeach()
endif()

# Ring kernels on a Metal that is simulated, which runs the text; and the suite, but what tests/shim has of it. ThreadSanitizer
# does not follow the text's fibres. `make metal-text` runs the whole suite.
if(TARGET slipring_fake_metal AND NOT SLIPRING_SANITIZE)
    set(metal_environment SLIPRING_METAL_LIB=$<TARGET_FILE:slipring_fake_metal>)
    if(TARGET slipring_cts)
        slipring_register(tests/metal/cts slipring_cts --device metal:0 --timeout 60
            --filter launch/,streams/,faults/,mailboxes/,blocks/,batches/,routes/,keys/,instances/,overflow/,priority/,references/)
        set_property(TEST tests/metal/cts APPEND PROPERTY ENVIRONMENT ${metal_environment})
    endif()
    foreach(name batch failure fault keys key_eviction ring_send route slice_own state)
        slipring_register(tests/metal/ring_${name} tests_ring_${name}_test)
        set_property(TEST tests/metal/ring_${name} APPEND PROPERTY ENVIRONMENT ${metal_environment}
            "SLIPRING_TEST_RING_DEVICE=metal:0")
    endforeach()
    foreach(name event stream)
        slipring_register(tests/metal/${name} device_${name}_test)
        set_property(TEST tests/metal/${name} APPEND PROPERTY ENVIRONMENT ${metal_environment} SLIPRING_TEST_DEVICE=metal:0)
    endforeach()
endif()

# On the driver with words of 32 bits only. The handlers' kernels are words as well.
if(VULKAN_INCLUDE_DIR AND EXISTS ${vulkan_words} AND NOT SLIPRING_SANITIZE)
    slipring_register(tests/vulkan/traffic tests_vulkan_traffic_test)
    set_property(TEST tests/vulkan/traffic APPEND PROPERTY ENVIRONMENT
        VK_ICD_FILENAMES=${vulkan_words} VK_DRIVER_FILES=${vulkan_words})
endif()
if(VULKAN_INCLUDE_DIR AND EXISTS ${vulkan_words} AND TARGET slipring_cts AND NOT SLIPRING_SANITIZE)
    slipring_register(tests/vulkan/cts_words slipring_cts --device vulkan:0 --timeout 60)
    # A kernel can be persistent there. Its compiler takes half a second for each: not all of the areas.
    slipring_register(tests/vulkan/cts_persistent slipring_cts --device vulkan:0?ring=persistent --timeout 100 --filter
        mailboxes/a_,mailboxes/structs,mailboxes/bindings,mailboxes/two,priority/,blocks/,routes/,keys/,overflow/drop_)
    slipring_register(tests/vulkan/persistent tests_opencl_persistent_test)
    set_property(TEST tests/vulkan/persistent APPEND PROPERTY ENVIRONMENT
        SLIPRING_TEST_RING_DEVICE=vulkan:0?ring=persistent)
    foreach(name counts failure staying)
        slipring_register(tests/vulkan/${name}_words tests_vulkan_${name}_test)
        list(APPEND words_tests tests/vulkan/${name}_words)
    endforeach()
    set_property(TEST tests/vulkan/cts_words tests/vulkan/cts_persistent tests/vulkan/persistent ${words_tests}
        APPEND PROPERTY ENVIRONMENT VK_ICD_FILENAMES=${vulkan_words} VK_DRIVER_FILES=${vulkan_words})
endif()

# The suite once more, and random programs, on a driver that runs the CUDA text itself, compiled by the host's compiler.
# ThreadSanitizer does not follow its fibres; once is enough for the others, as above. `make cuda-text` runs all of
# tests/cuda so.
if(TARGET slipring_cts AND NOT SLIPRING_SANITIZE)
    slipring_register(tests/shim/cts slipring_cts --device cuda:0 --timeout 60 --filter
        launch/,language/,math/,atomics/,barriers/,memory/,warps/,matrix/,parameters/,faults/)
    slipring_register(tests/shim/cts_rings slipring_cts --device cuda:0?ring=persistent --device cuda:0?ring=relaunch
        --timeout 60 --optimize 1
        --filter mailboxes/,priority/,references/,overflow/,instances/,keys/,blocks/,batches/,routes/,limits/)
    slipring_register(tests/shim/matrix tests_kernel_matrix_test)
    set_property(TEST tests/shim/matrix APPEND PROPERTY ENVIRONMENT SLIPRING_FAKE_CUDA_BY=text)
    set_property(TEST tests/shim/cts tests/shim/cts_rings APPEND PROPERTY ENVIRONMENT SLIPRING_FAKE_CUDA_BY=text
        SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>)
    # HIP's text, where it is another: on waves of 64, and of 32. `make hip-text` runs the whole suite.
    foreach(wave 64 32)
        slipring_register(tests/shim/cts_hip_${wave} slipring_cts --device hip:0 --timeout 60 --filter
            warps/,barriers/,atomics/fetch,blocks/)
        set_property(TEST tests/shim/cts_hip_${wave} APPEND PROPERTY ENVIRONMENT SLIPRING_FAKE_CUDA_BY=text
            SLIPRING_FAKE_HIP_WAVE=${wave} SLIPRING_HIP_LIB=$<TARGET_FILE:slipring_fake_cuda>
            SLIPRING_HIPRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>)
    endforeach()
    slipring_register(tests/shim/generate slipring_generate --programs 40 --from 280 --level 3)
    slipring_register(tests/shim/generate_metal slipring_generate --programs 24 --from 290 --level 5)
endif()

# Likewise on one that runs what NVRTC makes of the text, where NVRTC is (scripts/nvrtc.sh). `make ptx` runs the whole suite.
set(ptx_nvrtc $ENV{SLIPRING_NVRTC_LIB})
if(NOT EXISTS "${ptx_nvrtc}" OR ptx_nvrtc MATCHES fake)
    file(GLOB ptx_nvrtc /usr/local/cuda*/lib*/libnvrtc.so.13 $ENV{NVRTC_DIR}/nvidia/*/lib/libnvrtc.so.13
        $ENV{HOME}/.cache/slipring/nvrtc-*/nvidia/*/lib/libnvrtc.so.13)
    list(APPEND ptx_nvrtc "") # none
    list(GET ptx_nvrtc 0 ptx_nvrtc)
endif()
if(TARGET slipring_cts AND NOT SLIPRING_SANITIZE AND BUILD_SHARED_LIBS AND EXISTS "${ptx_nvrtc}")
    # The library as it stands, but that it says what it does with memory which a device reaches (tests/watch).
    set(watched "src/(ring|engine|hal/cuda|device|memory)/")
    get_target_property(watched_sources slipring_objects SOURCES)
    list(FILTER watched_sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${watched}")
    add_library(slipring_watch SHARED ${PROJECT_SOURCE_DIR}/tests/watch/watch.c)
    slipring_program_settings(slipring_watch)
    target_include_directories(slipring_watch PRIVATE ${PROJECT_SOURCE_DIR})
    add_library(slipring_watched SHARED ${watched_sources} $<FILTER:$<TARGET_OBJECTS:slipring_objects>,EXCLUDE,${watched}>)
    slipring_settings(slipring_watched)
    target_include_directories(slipring_watched PRIVATE src include)
    target_compile_options(slipring_watched PRIVATE -ffp-contract=off -fsanitize=thread -U__SANITIZE_THREAD__ -Dmemcpy=slri_watched_memcpy
        -Dmemmove=slri_watched_memmove -Dmemset=slri_watched_memset $<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
    target_link_libraries(slipring_watched PRIVATE slipring_watch ${system_libraries})
    target_link_options(slipring_watched PRIVATE -Wl,-soname,libslipring.so.${PROJECT_VERSION_MAJOR} -Wl,-z,nodelete
        -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/slipring.map)
    slipring_register(tests/ptx/cts slipring_cts --device cuda:0 --timeout 60 --filter
        atomics/,barriers/,memory/,ordering/,parameters/,warps/)
    slipring_register(tests/ptx/cts_rings slipring_cts --device cuda:0?ring=persistent --device cuda:0?ring=relaunch
        --timeout 60 --filter mailboxes/,priority/,references/,overflow/,instances/,keys/,blocks/,batches/,routes/,limits/)
    slipring_register(tests/ptx/cts_watched slipring_cts --device cuda:0?ring=persistent --timeout 60 --filter mailboxes/,references/,routes/)
    set(ptx_environment SLIPRING_FAKE_CUDA_BY=ptx SLIPRING_PTX_NVRTC=${ptx_nvrtc}
        SLIPRING_CUDA_LIB=$<TARGET_FILE:slipring_fake_cuda> SLIPRING_NVRTC_LIB=$<TARGET_FILE:slipring_fake_cuda>)
    set_property(TEST tests/ptx/cts tests/ptx/cts_rings tests/ptx/cts_watched APPEND PROPERTY ENVIRONMENT ${ptx_environment})
    set_property(TEST tests/ptx/cts_watched APPEND PROPERTY ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:slipring_watched>)
endif()

# AMD's targets that Debian's HIPRTC does not know, by clang-15 in HIPRTC's place, where that is installed.
if(slipring_system STREQUAL linux AND NOT SLIPRING_SANITIZE)
    add_library(slipring_hiprtc_clang MODULE ${PROJECT_SOURCE_DIR}/tests/kernel/hiprtc_clang.c)
    slipring_program_settings(slipring_hiprtc_clang)
    target_link_libraries(slipring_hiprtc_clang PRIVATE slipring_internal ${CMAKE_DL_LIBS})
    target_link_options(slipring_hiprtc_clang PRIVATE -Wl,-Bsymbolic) # its own messages
    slipring_register(tests/kernel/hiprtc_clang tests_kernel_hiprtc_test)
    set_property(TEST tests/kernel/hiprtc_clang APPEND PROPERTY ENVIRONMENT
        SLIPRING_HIPRTC_LIB=$<TARGET_FILE:slipring_hiprtc_clang>)
endif()

# The scripts look at what is installed and exported: the same for every sanitizer, and a sanitized library would need its
# runtime in each program that they build.
if(NOT SLIPRING_SANITIZE AND BUILD_SHARED_LIBS)
    file(GLOB test_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/*_test.sh)
    foreach(file IN LISTS test_scripts)
        slipring_test_name(${file} name)
        slipring_register(${name} ${file})
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT BASH_ENV=${PROJECT_SOURCE_DIR}/tests/say_failures.sh)
    endforeach()
    if(ptx_environment)
        set_property(TEST tests/ptx/ward APPEND PROPERTY ENVIRONMENT ${ptx_environment})
    endif()
    set_tests_properties(tests/gpu/check PROPERTIES COST 500) # all of gpu-check
    set_property(TEST tests/gpu/bare APPEND PROPERTY ENVIRONMENT SLIPRING_BARE=$<TARGET_FILE:slipring_bare>)
    # Minutes of one core that others may want too: begun first, so that the rest runs beside it.
    set_tests_properties(tests/model/model PROPERTIES COST 1000)
endif()

set_tests_properties(tests/failures/sweep PROPERTIES TIMEOUT 1200) # a program, run again for each call that may fail

# The longest of some build, begun first, so that the rest runs beside them.
foreach(name ring/keys tests/check/planted tests/cuda/cts tests/cuda/failure tests/failures/sweep tests/cts/interpreted tests/shim/cts tests/sim/sim)
    if(TEST ${name})
        set_tests_properties(${name} PROPERTIES COST 100)
    endif()
endforeach()
