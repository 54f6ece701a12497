# SPDX-License-Identifier: Apache-2.0
# examples/ward as a library: the plain C function, the score, and its files as text, for `slipring demo ward`, which must
# run wherever it is installed, and for tests.
slipring_glob(ward_sources examples/ward/*.c)
slipring_glob(ward_texts examples/ward/ward.cu examples/ward/ward.h examples/ward/*.csv)
if(NOT ward_sources)
    return()
endif()

add_library(slipring_ward STATIC EXCLUDE_FROM_ALL ${ward_sources})
slipring_program_settings(slipring_ward)
target_include_directories(slipring_ward PUBLIC examples/ward include)
# The handler as plain C must give the bits that the compiled handler gives.
target_compile_options(slipring_ward PRIVATE -ffp-contract=off)
target_link_libraries(slipring_ward PUBLIC m)
# "mitdb-208-excerpt.csv" becomes ward_embedded_mitdb_208_excerpt_csv.
foreach(text IN LISTS ward_texts)
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_ward ${text} ward_embedded_${symbol})
endforeach()

# examples/kernels as a library: the kernels' text, the table of how they are launched, and the same in plain C, for the
# test and for `slipring bench kernels`.
slipring_glob(kernel_sources examples/kernels/kernel_cases.c examples/kernels/kernel_plain.c)
slipring_glob(kernel_texts examples/kernels/*.cu)
add_library(slipring_kernels STATIC EXCLUDE_FROM_ALL ${kernel_sources})
slipring_program_settings(slipring_kernels)
target_include_directories(slipring_kernels PUBLIC examples/kernels include)
target_compile_options(slipring_kernels PRIVATE -ffp-contract=off) # the same bits
target_link_libraries(slipring_kernels PUBLIC m)
foreach(text IN LISTS kernel_texts) # "saxpy.cu" becomes kernel_embedded_saxpy_cu
    cmake_path(GET text FILENAME symbol)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    slipring_embed(slipring_kernels ${text} kernel_embedded_${symbol})
endforeach()
