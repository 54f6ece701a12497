// SPDX-License-Identifier: Apache-2.0
// Copies and fills of any bytes: WebGPU's own are of whole words. A thread has a word of `to`; what lies in it beside
// the bytes may change meanwhile, so it is changed by atomics. A job: where in `to`, how many bytes, where in `from`, and
// the word of a fill.

@group(0) @binding(0) var<storage, read_write> slri_to: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> slri_from: array<u32>;
@group(0) @binding(2) var<uniform> slri_args: array<vec4<u32>, 1>;

fn put(word: u32, value: u32, mask: u32) {
  if (mask == 0xffffffffu) { atomicStore(&slri_to[word], value); return; }
  if (mask == 0u) { return; }
  atomicAnd(&slri_to[word], ~mask);
  atomicOr(&slri_to[word], value & mask);
}

@compute @workgroup_size(256)
fn slrk_copy(@builtin(global_invocation_id) thread: vec3<u32>) {
  let job = slri_args[0];
  let word = (job.x >> 2u) + thread.x;
  var value = 0u;
  var mask = 0u;
  for (var i = 0u; i < 4u; i++) {
    let byte = word * 4u + i;
    if (byte >= job.x && byte < job.x + job.y) {
      let from_byte = job.z + (byte - job.x);
      value |= ((slri_from[from_byte >> 2u] >> (8u * (from_byte & 3u))) & 0xffu) << (8u * i);
      mask |= 0xffu << (8u * i);
    }
  }
  put(word, value, mask);
}

@compute @workgroup_size(256)
fn slrk_fill(@builtin(global_invocation_id) thread: vec3<u32>) {
  let job = slri_args[0];
  let word = (job.x >> 2u) + thread.x;
  var mask = 0u;
  for (var i = 0u; i < 4u; i++) {
    let byte = word * 4u + i;
    if (byte >= job.x && byte < job.x + job.y) { mask |= 0xffu << (8u * i); }
  }
  put(word, job.w, mask);
}
