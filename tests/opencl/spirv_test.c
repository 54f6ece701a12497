// SPDX-License-Identifier: Apache-2.0
// Programs that are SPIR-V, on whatever OpenCL is here: on a device that takes them they are launched, on another one
// they are refused. spirv-as makes the module of text.
#include "device/device_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// __global__ void add(unsigned *p, unsigned n) { p[i] += n; }, and the same without a number.
static const char text[] = "OpCapability Addresses\nOpCapability Kernel\nOpCapability Int64\n"
                           "OpMemoryModel Physical64 OpenCL\n"
                           "OpEntryPoint Kernel %add \"add\" %gid\n"
                           "OpEntryPoint Kernel %one \"one\" %gid\n"
                           "OpDecorate %gid BuiltIn GlobalInvocationId\nOpDecorate %gid Constant\n"
                           "%void = OpTypeVoid\n%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0\n"
                           "%v3 = OpTypeVector %u64 3\n%in = OpTypePointer Input %v3\n"
                           "%global = OpTypePointer CrossWorkgroup %u32\n"
                           "%two = OpTypeFunction %void %global %u32\n%single = OpTypeFunction %void %global\n"
                           "%c1 = OpConstant %u32 1\n%gid = OpVariable %in Input\n"
                           "%add = OpFunction %void None %two\n"
                           "%p = OpFunctionParameter %global\n%n = OpFunctionParameter %u32\n%l = OpLabel\n"
                           "%id = OpLoad %v3 %gid\n%x = OpCompositeExtract %u64 %id 0\n"
                           "%at = OpInBoundsPtrAccessChain %global %p %x\n%old = OpLoad %u32 %at Aligned 4\n"
                           "%new = OpIAdd %u32 %old %n\nOpStore %at %new Aligned 4\nOpReturn\nOpFunctionEnd\n"
                           "%one = OpFunction %void None %single\n"
                           "%q = OpFunctionParameter %global\n%m = OpLabel\n"
                           "%jd = OpLoad %v3 %gid\n%y = OpCompositeExtract %u64 %jd 0\n"
                           "%to = OpInBoundsPtrAccessChain %global %q %y\n%was = OpLoad %u32 %to Aligned 4\n"
                           "%is = OpIAdd %u32 %was %c1\nOpStore %to %is Aligned 4\nOpReturn\nOpFunctionEnd\n";
static const char table[] = "__global__ void add(unsigned *p, unsigned n); __global__ void one(unsigned *p);";

static char folder[] = "/tmp/slipring-spirv-XXXXXX", module_file[64], bad_file[64];

static void write_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    (void)state;
    char command[256], source[64];
    if (system("command -v spirv-as > /dev/null") != 0 || !mkdtemp(folder))
        return -1;
    snprintf(source, sizeof source, "%s/k.spvasm", folder);
    snprintf(module_file, sizeof module_file, "%s/k.spv", folder);
    snprintf(bad_file, sizeof bad_file, "%s/bad.spv", folder);
    snprintf(command, sizeof command, "spirv-as --target-env spv1.0 -o %s %s", module_file, source);
    write_file(source, text);
    write_file(bad_file, "this is 24 bytes of text");
    return system(command);
}

static int end(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static slr_device *open_any(const char *name)
{
    slr_device *device = NULL;
    if (slr_device_open(name, NULL, &device) == SLR_NO_DEVICE)
        skip();
    assert_non_null(device);
    return device;
}

static bool takes_spirv(slr_device *device)
{
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    return strstr(info.features, " spirv") != NULL;
}

static slr_program_desc of_table(const char *kernels)
{
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.raw = SLR_RAW_SPIRV;
    desc.raw_table = kernels;
    return desc;
}

static slr_status launch(slr_device *device, slr_program *program, const char *name, slr_buffer *buffer)
{
    slr_kernel *kernel;
    slr_stream *stream;
    must(slr_program_get_kernel(program, name, &kernel));
    must(slr_stream_default(device, &stream));
    slr_status status = strcmp(name, "add") == 0 ? SLR_LAUNCH(stream, kernel, SLR_GRID(2, 4, 0), buffer, 3u)
                                                 : SLR_LAUNCH(stream, kernel, SLR_GRID(2, 4, 0), buffer);
    const slr_status ended = slr_stream_finish(stream, LONG);
    slr_kernel_destroy(kernel);
    return status == SLR_OK ? ended : status;
}

static void run_on(const char *name)
{
    slr_device *device = open_any(name);
    slr_program_desc desc = of_table(table);
    slr_program *program;
    slr_buffer *buffer;
    uint32_t words[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    must(slr_program_load(device, module_file, &desc, &program));
    must(slr_buffer_create(device, sizeof words, &buffer));
    must(slr_buffer_write(buffer, 0, words, sizeof words));
    if (takes_spirv(device)) {
        must(launch(device, program, "add", buffer));
        must(launch(device, program, "one", buffer));
        must(slr_buffer_read(buffer, 0, words, sizeof words));
        for (uint32_t i = 0; i < 8; ++i)
            assert_int_equal(words[i], i + 4);
    } else {
        refuses(launch(device, program, "add", buffer), UNSUPPORTED, "features do not have 'spirv'");
    }
    slr_buffer_destroy(buffer);
    slr_program_destroy(program);
    slr_device_close(device);
}

static void kernels_of_a_module_are_launched_or_refused(void **state)
{
    (void)state;
    run_on("opencl:0");
    run_on("opencl:0"); // from the cache
    run_on("opencl:0?svm=0");
}

static void what_the_table_says_is_compared_with_the_module(void **state)
{
    (void)state;
    slr_device *device = open_any("opencl:0");
    slr_program_desc other = of_table("__global__ void three(unsigned *p);");
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    if (!takes_spirv(device)) {
        slr_device_close(device);
        skip();
    }
    must(slr_buffer_create(device, 32, &buffer));
    must(slr_program_load(device, module_file, &other, &program));
    refuses(launch(device, program, "three", buffer), COMPILE, "has no kernel 'three'");
    slr_program_destroy(program);
    other.raw_table = "__global__ void one(unsigned *p, unsigned n);";
    must(slr_program_load(device, module_file, &other, &program));
    must(slr_program_get_kernel(program, "one", &kernel));
    must(slr_stream_default(device, &stream));
    slr_status status = SLR_LAUNCH(stream, kernel, SLR_GRID(2, 4, 0), buffer, 3u);
    if (status == SLR_OK)
        status = slr_stream_finish(stream, LONG);
    refuses(status, COMPILE, "'one' has 1 parameter in");
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
}

static void what_is_no_module_is_refused_when_it_is_loaded(void **state)
{
    (void)state;
    slr_device *device = open_any("opencl:0"), *cpu = open_any("cpu");
    slr_program_desc desc = of_table(table), none = of_table(NULL), empty = of_table("int x;");
    slr_program *program = NULL;
    refuses(slr_program_load(device, bad_file, &desc, &program), COMPILE, "is no SPIR-V module");
    refuses(slr_program_load(device, "/nowhere.spv", &desc, &program), NOT_FOUND, "/nowhere.spv");
    refuses(slr_program_load(device, module_file, &none, &program), INVALID, "raw_table must list its kernels");
    refuses(slr_program_load(device, module_file, &empty, &program), COMPILE, "no kernel in its table");
    refuses(slr_program_from_text(device, "k", text, &desc, &program), INVALID, "slr_program_load takes a file");
    refuses(slr_program_load(cpu, module_file, &desc, &program), UNSUPPORTED, "is SPIR-V, which device 'cpu'");
    desc.raw = SLR_RAW_CUDA;
    refuses(slr_program_load(device, module_file, &desc, &program), UNSUPPORTED, "is CUDA C++, which");
    desc.raw = 3;
    refuses(slr_program_load(device, module_file, &desc, &program), INVALID, "expected a slr_raw_source");
    assert_null(program);
    slr_device_close(cpu);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_a_module_are_launched_or_refused),
        cmocka_unit_test(what_the_table_says_is_compared_with_the_module),
        cmocka_unit_test(what_is_no_module_is_refused_when_it_is_loaded),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
