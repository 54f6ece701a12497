// SPDX-License-Identifier: Apache-2.0
// Fused source as it is, through CUDA's own compiler, which needs no GPU. Skipped where NVRTC is not found.
#include "tests/kernel/nvrtc.h"

#include "device/device_test.h"

static const unsigned capabilities[] = {75, 90, 120};
static struct nvrtc nvrtc;

static void compiles(const char *what, const char *source)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; ++i) {
        char *said = nvrtc_complaint(&nvrtc, source, capabilities[i], NULL);
        if (said)
            fail_msg("%s for sm_%u: %.1000s\n%s", what, capabilities[i], said, source);
        free(said);
    }
}

// A step for each operation that the type has; operands are new inputs.
static void each_operation_compiles_as_cuda_for_each_type(void **state)
{
    (void)state;
    static const slr_scalar types[] = {SLR_F32, SLR_F64, SLR_I32, SLR_U32, SLR_I64, SLR_U64};
    slr_device *device = open_device("cpu?engine=interpreted");
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
        bool floats = t < 2;
        slr_fusion_step steps[64];
        uint32_t count = 0;
        for (int op = SLR_OP_ADD; op <= SLR_OP_CAST; ++op) {
            bool needs_floats = (op >= SLR_OP_SQRT && op <= SLR_OP_ACTIVATION);
            if ((op >= SLR_OP_SUM && op <= SLR_OP_SOFTMAX) || (needs_floats && !floats))
                continue;
            for (int a = 1; a <= (op == SLR_OP_ACTIVATION ? SLR_LEAKY_RELU : 1); ++a)
                steps[count++] = (slr_fusion_step){.op = (slr_op)op,
                                                   .activation = (slr_activation)a,
                                                   .type = SLR_F64,
                                                   .operand = {SLR_INPUT(0), SLR_INPUT(1), SLR_INPUT(2)},
                                                   .keep = 1};
        }
        slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
        desc.steps = steps;
        desc.op_count = count;
        desc.dtype = types[t];
        slr_kernel *kernel;
        slr_fusion_info info;
        must(slr_fuse(device, &desc, &kernel, &info));
        compiles("operations", info.source);
        slr_kernel_destroy(kernel);
    }
    slr_device_close(device);
}

static void each_end_compiles_as_cuda(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?engine=interpreted");
    for (int op = SLR_OP_SUM; op <= SLR_OP_SOFTMAX; ++op)
        for (int axis = SLR_ALL; axis <= (op == SLR_OP_SOFTMAX ? SLR_ALONG_ROW : SLR_ALONG_COLUMN); ++axis)
            for (int t = 0; t < 2; ++t) {
                const slr_fusion_step steps[] = {{.op = SLR_OP_ADD}, {.op = (slr_op)op, .axis = (slr_axis)axis}};
                static const slr_fusion_input inputs[] = {{.extent = SLR_EACH_COLUMN}, {.extent = SLR_EACH_ROW}};
                slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
                desc.steps = steps;
                desc.op_count = 2;
                desc.dtype = t ? SLR_F64 : op == SLR_OP_SOFTMAX ? SLR_F32 : SLR_I64;
                desc.inputs = inputs;
                desc.input_count = 2;
                slr_kernel *kernel;
                slr_fusion_info info;
                must(slr_fuse(device, &desc, &kernel, &info));
                compiles("an end", info.source);
                slr_kernel_destroy(kernel);
            }
    slr_device_close(device);
}

static void joined_kernels_compile_as_cuda(void **state)
{
    (void)state;
    static const char *const names[] = {"scale_bias", "relu", "clamp"};
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_program *program;
    slr_kernel *kernel;
    slr_fusion_info info;
    slr_fusion_part parts[3];
    slr_kernel_fusion_desc desc = SLR_KERNEL_FUSION_DESC_INIT;
    must(slr_program_load(device, SLIPRING_SOURCE_DIR "/examples/kernels/chain.cu", NULL, &program));
    for (int i = 0; i < 3; ++i)
        parts[i] = (slr_fusion_part){program, names[i]};
    desc.parts = parts;
    desc.part_count = 3;
    must(slr_fuse_kernels(&desc, &kernel, &info));
    compiles("joined kernels", info.source);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
}

int main(void)
{
    if (!nvrtc_is_here(&nvrtc))
        return NVRTC_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_compiles_as_cuda_for_each_type),
        cmocka_unit_test(each_end_compiles_as_cuda),
        cmocka_unit_test(joined_kernels_compile_as_cuda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
