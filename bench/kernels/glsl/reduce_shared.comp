// SPDX-License-Identifier: Apache-2.0
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference) readonly buffer In { float at[]; };
layout(buffer_reference) writeonly buffer Out { float at[]; };
layout(push_constant) uniform Given { In from; Out to; Out unused; int n; };
shared float part[256];
void main()
{
    int t = int(gl_LocalInvocationID.x), i = int(gl_GlobalInvocationID.x);
    part[t] = i < n ? from.at[i] : 0.0;
    barrier();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        barrier();
    }
    if (t == 0)
        to.at[gl_WorkGroupID.x] = part[0];
}
