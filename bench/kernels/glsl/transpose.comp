// SPDX-License-Identifier: Apache-2.0
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 16, local_size_y = 16) in;
layout(buffer_reference) readonly buffer In { float at[]; };
layout(buffer_reference) writeonly buffer Out { float at[]; };
layout(push_constant) uniform Given { In from; Out to; Out unused; int side; };
shared float tile[16][17];
void main()
{
    ivec2 t = ivec2(gl_LocalInvocationID.xy), b = 16 * ivec2(gl_WorkGroupID.xy);
    tile[t.y][t.x] = from.at[(b.y + t.y) * side + b.x + t.x];
    barrier();
    to.at[(b.x + t.y) * side + b.y + t.x] = tile[t.x][t.y];
}
