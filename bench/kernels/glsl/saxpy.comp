// SPDX-License-Identifier: Apache-2.0
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference) readonly buffer In { float at[]; };
layout(buffer_reference) buffer Out { float at[]; };
layout(push_constant) uniform Given { In x; Out y; Out unused; int n; float a; };
void main()
{
    int i = int(gl_GlobalInvocationID.x);
    if (i < n)
        y.at[i] = a * x.at[i] + y.at[i];
}
