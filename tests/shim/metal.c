// SPDX-License-Identifier: Apache-2.0
#include "tests/shim/metal.h"

#include <ctype.h>
#include <string.h>

bool shim_is_metal(const char *text)
{
    return strstr(text, "#include <metal_stdlib>") != NULL;
}

static bool begins(const char *at, const char *with)
{
    return strncmp(at, with, strlen(with)) == 0;
}

static const char *find_end(const char *at, const char *end)
{
    const char *found = strstr(at, end);
    return found ? found + strlen(end) : at + strlen(at);
}

// What a kernel is given for a parameter of that attribute; `type`: what stands before its name.
static void put_given(const char *type, size_t length, const char *attribute, slri_text *out)
{
    static const char *const places[][2] = {{"thread_position_in_threadgroup", "threadIdx"},
                                            {"threadgroup_position_in_grid", "blockIdx"},
                                            {"threads_per_threadgroup", "blockDim"},
                                            {"threadgroups_per_grid", "gridDim"}};
    if (begins(attribute, "buffer(")) {
        bool is_reference = length != 0 && type[length - 1] == '&';
        slri_text_puts(out, is_reference ? "*(" : "(");
        slri_text_append(out, type, length - is_reference);
        slri_text_printf(out, "%s)parameter[%.*s]", is_reference ? "*" : "", (int)strspn(attribute + 7, "0123456789"),
                         attribute + 7);
        return;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
        if (begins(attribute, places[i][0]))
            slri_text_printf(out, "metal::uint3{at.%s.x, at.%s.y, at.%s.z}", places[i][1], places[i][1], places[i][1]);
    if (begins(attribute, "threadgroup("))
        slri_text_puts(out, "(threadgroup uchar *)dynamic");
    if (begins(attribute, "thread_index_in_simdgroup"))
        slri_text_puts(out,
                       "(at.threadIdx.x + at.blockDim.x * (at.threadIdx.y + at.blockDim.y * at.threadIdx.z)) % 32");
}

// From `void NAME(` to behind the parenthesis that closes it: without attributes. What calls it goes to `calls`.
static const char *put_signature(const char *at, slri_text *out, slri_text *calls)
{
    const char *name = find_end(at, "void "), *open = strchr(name, '('), *begin = open + 1;
    slri_text_printf(
        calls,
        "extern \"C\" void shim_kernel_%.*s(void **parameter)\n{\n"
        "    static thread_local __attribute__((aligned(16))) unsigned char dynamic[SHIM_MOST_DYNAMIC];\n"
        "    const shim_seen &at = *shim->here();\n    (void)dynamic, (void)parameter, (void)at;\n    %.*s(",
        (int)(open - name), name, (int)(open - name), name);
    slri_text_append(out, at, (size_t)(begin - at));
    while (*begin && *begin != ')') {
        const char *attribute = strstr(begin, "[["), *end = find_end(attribute, "]]"), *last = attribute;
        slri_text_append(out, begin, (size_t)(attribute - begin));
        while (last > begin && (isspace((unsigned char)last[-1])))
            --last;
        while (last > begin && (isalnum((unsigned char)last[-1]) || last[-1] == '_')) // its name
            --last;
        while (isspace((unsigned char)*begin))
            ++begin;
        put_given(begin, (size_t)(last - begin), attribute + 2, calls);
        begin = end;
        if (*begin == ',') {
            slri_text_puts(out, ",");
            slri_text_puts(calls, ", ");
            ++begin;
        }
    }
    slri_text_puts(calls, ");\n}\n");
    return begin;
}

// "    threadgroup SLRI_ALIGNED_16 uint name[4];"
static const char *put_shared(const char *at, slri_text *out)
{
    const char *end = strchr(at, ';'), *bracket = strchr(at, '['), *name = bracket;
    while (isalnum((unsigned char)name[-1]) || name[-1] == '_')
        --name;
    at = find_end(at, "threadgroup ");
    at = begins(at, "SLRI_ALIGNED_16 ") ? at + strlen("SLRI_ALIGNED_16 ") : at;
    slri_text_printf(out, "    SHIM_SHARED(%.*s, %.*s, %.*s);", (int)(name - at), at, (int)(bracket - name), name,
                     (int)(end - bracket - 2), bracket + 1);
    return end + 1;
}

static bool is_shared(const char *at)
{
    const char *semicolon = strchr(at, ';'), *bracket = strchr(at, '['), *parenthesis = strchr(at, '(');
    return begins(at, "    threadgroup ") && bracket && semicolon && bracket < semicolon &&
           (!parenthesis || semicolon < parenthesis);
}

void shim_rewrite_metal(const char *text, slri_text *out)
{
    slri_text calls = SLRI_TEXT_INIT;
    for (const char *at = text; *at;) {
        bool is_line = at == text || at[-1] == '\n';
        if (is_line && is_shared(at)) {
            at = put_shared(at, out);
        } else if (begins(at, "[[")) {
            bool is_kernel = begins(at, "[[kernel");
            at = find_end(at, "]]");
            if (is_kernel)
                at = put_signature(at, out, &calls);
        } else {
            slri_text_append(out, at++, 1);
        }
    }
    slri_text_printf(out, "\n#line 1 \"calls\"\n%s", slri_text_view(&calls));
    slri_text_free(&calls);
}
