// SPDX-License-Identifier: Apache-2.0
// Products of matrix fragments through NVRTC: a text with them compiles for sm_90, and the four elements of a lane are
// one instruction of the tensor cores. Where NVRTC is not found the test is skipped, and CTest says so.
#include "tests/kernel/nvrtc.h"

#include "device/device_test.h"

#include <slipring/emit.h>

#include <elf.h>
#include <string.h>

static const char source[] =
    "__global__ void multiply(const unsigned *a, const unsigned *b, float *d)\n"
    "{\n"
    "    int t = threadIdx.x;\n"
    "    unsigned a0 = a[t], a1 = a[t + 32], a2 = a[t + 64], a3 = a[t + 96], b0 = b[t], b1 = b[t + 32];\n"
    "    for (int i = 0; i < 4; i++)\n"
    "        d[t * 4 + i] = MATRIX(0xffffffffu, a0, a1, a2, a3, b0, b1, d[t * 4 + i], i);\n"
    "}\n";
static struct nvrtc nvrtc;

static char *emit(const char *define)
{
    slr_device *device = open_device("cpu");
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    slr_emit_desc how = SLR_EMIT_DESC_INIT;
    slr_program *program;
    size_t bytes;
    desc.defines = &define, desc.define_count = 1;
    how.language = SLR_LANGUAGE_CUDA;
    must(slr_program_from_text(device, "matrix.cu", source, &desc, &program));
    must(slr_program_emit(program, &how, NULL, 0, &bytes));
    char *text = malloc(bytes + 1);
    must(slr_program_emit(program, &how, text, bytes + 1, &bytes));
    slr_program_destroy(program);
    slr_device_close(device);
    return text;
}

// In the machine code: an instruction is 16 bytes, and HMMA has these low bits.
static uint32_t count_products(const char *cubin, size_t bytes)
{
    Elf64_Ehdr file;
    Elf64_Shdr section;
    uint32_t found = 0;
    memcpy(&file, cubin, sizeof file);
    for (unsigned i = 0; i < file.e_shnum; ++i) {
        memcpy(&section, cubin + file.e_shoff + (size_t)i * file.e_shentsize, sizeof section);
        if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_EXECINSTR))
            continue;
        assert_true(section.sh_offset + section.sh_size <= bytes);
        for (size_t at = 0; at < section.sh_size; at += 16) {
            uint16_t low;
            memcpy(&low, cubin + section.sh_offset + at, sizeof low);
            found += (low & 0xFFF) == 0x23C;
        }
    }
    return found;
}

static uint32_t products_in(const char *text)
{
    static const char *const options[] = {"--gpu-architecture=sm_90", "--fmad=false", "--std=c++17"};
    nvrtc_program *program;
    size_t bytes;
    assert_int_equal(nvrtc.create(&program, text, "matrix.cu", 0, NULL, NULL), 0);
    assert_int_equal(nvrtc.compile(program, 3, options), 0);
    assert_int_equal(nvrtc.cubin_size(program, &bytes), 0);
    char *cubin = malloc(bytes);
    assert_int_equal(nvrtc.cubin(program, cubin), 0);
    uint32_t found = count_products(cubin, bytes);
    nvrtc.destroy(&program);
    free(cubin);
    return found;
}

static void four_elements_are_one_instruction(void **state)
{
    (void)state;
    static const char *const defines[] = {"MATRIX=__matrix_f16_sync", "MATRIX=__matrix_bf16_sync"};
    for (int i = 0; i < 2; ++i) {
        char *text = emit(defines[i]), *said = nvrtc_complaint(&nvrtc, text, 90, NULL);
        if (said)
            fail_msg("%.2000s", said);
        assert_int_equal(products_in(text), 1);
        free(text);
    }
    // The same sums by shuffles have none.
    char *text = emit("MATRIX(m,a,b,c,d,e,f,g,i)=(g)+__shfl_sync(m,(float)a,i)");
    assert_int_equal(products_in(text), 0);
    free(text);
}

// What has no such instruction is not given one.
static void older_GPUs_do_not_know_it(void **state)
{
    (void)state;
    char *text = emit("MATRIX=__matrix_f16_sync"), *said = nvrtc_complaint(&nvrtc, text, 75, NULL);
    assert_non_null(said);
    assert_non_null(strstr(said, "__matrix_f16_sync"));
    free(said);
    free(text);
}

int main(void)
{
    if (!nvrtc_is_here(&nvrtc))
        return NVRTC_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_elements_are_one_instruction),
        cmocka_unit_test(older_GPUs_do_not_know_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
