// What a stream copies, or fills with a pattern where there is nothing to copy from: `bytes` of them, `unit` a thread: 1,
// 4 or 16, of which all else is a multiple.
#include <metal_stdlib>
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;

struct slr_job {
    device uchar *to;
    const device uchar *from; // 0: the pattern
    ulong bytes;
    uint unit;
    uint pattern; // four bytes, again and again
};

[[kernel]] void slrk_bytes(constant slr_job &job [[buffer(0)]],
    metal::uint3 thread_at [[thread_position_in_threadgroup]],
    metal::uint3 block [[threadgroup_position_in_grid]],
    metal::uint3 size [[threads_per_threadgroup]])
{
    ulong at = ((ulong)block.x * size.x + thread_at.x) * job.unit;
    bool fills = job.from == 0;
    if (at >= job.bytes)
        return;
    if (job.unit == 16) {
        ulong pattern = (ulong)job.pattern << 32 | job.pattern;
        ((device ulong *)(job.to + at))[0] = fills ? pattern : ((const device ulong *)(job.from + at))[0];
        ((device ulong *)(job.to + at))[1] = fills ? pattern : ((const device ulong *)(job.from + at))[1];
    } else if (job.unit == 4) {
        *(device uint *)(job.to + at) = fills ? job.pattern : *(const device uint *)(job.from + at);
    } else {
        job.to[at] = fills ? (uchar)(job.pattern >> (uint)(at % 4 * 8)) : job.from[at];
    }
}
