# SPDX-License-Identifier: Apache-2.0
# slipring-gpu, what `make gpu-check` runs beside the suite and the benchmarks: a C compiler, nothing else.
slipring_glob(gpu_sources tests/gpu/*.c)
add_executable(slipring_gpu EXCLUDE_FROM_ALL ${gpu_sources} tools/slipring/json_out.c tools/slipring/utf8.c)
slipring_program_settings(slipring_gpu)
target_include_directories(slipring_gpu PRIVATE ${PROJECT_SOURCE_DIR} tests/gpu tools/slipring bench)
target_link_libraries(slipring_gpu PRIVATE slipring_internal)
set_target_properties(slipring_gpu PROPERTIES OUTPUT_NAME slipring-gpu)
