// SPDX-License-Identifier: Apache-2.0
// Text for OpenCL's compiler, behind the words of emitted text: counts the threads of a block whose sub-group is not
// their warp. Each thread tells the others its place in the block; in a warp they are in order, and nobody else's.
// clang-format off
SLRI_KERNEL void slr_lanes(__global uint *wrong)
{
    __local ulong scratch[1]; // of sub-groups nothing goes through it
    uint own = slri_lane(), first = own & ~31u, size = slri_warp_threads();
    bool right = get_sub_group_size() == size && get_sub_group_local_id() == own - first;
    for (uint i = 0; i < size; i++)
        right = slri_take_U32(0xffffffff, own, i, scratch) == first + i && right;
    uint odd = slri_ballot(0xffffffff, own & 1, scratch);
    if (!right || odd != (slri_present() & 0xaaaaaaaa))
        atomic_inc(wrong);
}
