// SPDX-License-Identifier: Apache-2.0
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 16, local_size_y = 16) in;
layout(buffer_reference) readonly buffer In { float at[]; };
layout(buffer_reference) writeonly buffer Out { float at[]; };
layout(push_constant) uniform Given { In a; In b; Out c; int side; };
shared float at[16][16], bt[16][16];
void main()
{
    int tx = int(gl_LocalInvocationID.x), ty = int(gl_LocalInvocationID.y);
    int row = int(gl_WorkGroupID.y) * 16 + ty, col = int(gl_WorkGroupID.x) * 16 + tx;
    float sum = 0.0;
    for (int tile = 0; tile < side / 16; tile++) {
        at[ty][tx] = a.at[row * side + tile * 16 + tx];
        bt[ty][tx] = b.at[(tile * 16 + ty) * side + col];
        barrier();
        for (int k = 0; k < 16; k++)
            sum += at[ty][k] * bt[k][tx];
        barrier();
    }
    c.at[row * side + col] = sum;
}
