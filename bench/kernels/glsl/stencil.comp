// SPDX-License-Identifier: Apache-2.0
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32, local_size_y = 8) in;
layout(buffer_reference) readonly buffer In { float at[]; };
layout(buffer_reference) writeonly buffer Out { float at[]; };
layout(push_constant) uniform Given { In from; Out to; Out unused; int side; };
void main()
{
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x > 0 && x < side - 1 && y > 0 && y < side - 1) {
        int i = y * side + x;
        to.at[i] = 0.2 * (from.at[i] + from.at[i - 1] + from.at[i + 1] + from.at[i - side] + from.at[i + side]);
    }
}
