// SPDX-License-Identifier: Apache-2.0
// What emitted WGSL is made of: a paragraph for each function; a module holds those that it calls.

fn slri_float(bits: u32) -> f32 { return bitcast<f32>(bits); } // infinities and NaN, which no literal is

fn slri_i32(x: f32) -> i32 {
  let inside = select(0.0, x, abs(x) < 2147483648.0);
  let whole = select(i32(inside), -2147483647i - 1i, x <= -2147483648.0);
  return select(whole, 2147483647i, x >= 2147483648.0);
}

fn slri_u32(x: f32) -> u32 {
  let inside = select(0.0, x, x > 0.0 && x < 4294967296.0);
  return select(u32(inside), 4294967295u, x >= 4294967296.0);
}

fn slri_umulhi(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh = b >> 16u;
  let low = al * bl; let cross = ah * bl + (low >> 16u); let more = al * bh + (cross & 0xffffu);
  return ah * bh + (cross >> 16u) + (more >> 16u);
}

fn slri_mulhi(a: i32, b: i32) -> i32 {
  let high = slri_umulhi(bitcast<u32>(a), bitcast<u32>(b));
  return bitcast<i32>(high) - select(0i, b, a < 0i) - select(0i, a, b < 0i);
}

fn slri_is_nan(x: f32) -> i32 { return select(0i, 1i, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u); }

fn slri_is_inf(x: f32) -> i32 { return select(0i, 1i, (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u); }

fn slri_is_finite(x: f32) -> i32 { return select(0i, 1i, (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u); }

fn slri_min(a: f32, b: f32) -> f32 {
  let least = select(b, a, a < b || (a == b && bitcast<u32>(a) >> 31u == 1u));
  return select(select(least, a, slri_is_nan(b) == 1i), b, slri_is_nan(a) == 1i);
}

fn slri_max(a: f32, b: f32) -> f32 {
  let most = select(b, a, a > b || (a == b && bitcast<u32>(a) >> 31u == 0u));
  return select(select(most, a, slri_is_nan(b) == 1i), b, slri_is_nan(a) == 1i);
}

fn slri_round(x: f32) -> f32 {
  let whole = trunc(x);
  return slri_sign_of(select(whole, whole + sign(x), abs(x - whole) >= 0.5), x);
}

fn slri_sign_of(x: f32, y: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}

fn slri_pow(x: f32, y: f32) -> f32 {
  let of_magnitude = pow(abs(x), y);
  let is_whole = trunc(y) == y; let is_odd = is_whole && abs(y) < 16777216.0 && (i32(y) & 1i) == 1i;
  let signed_one = select(of_magnitude, -of_magnitude, x < 0.0 && is_odd);
  return select(select(signed_one, slri_float(0x7fc00000u), x < 0.0 && !is_whole), 1.0, y == 0.0 || x == 1.0);
}

fn slri_mul24(a: i32, b: i32) -> i32 { return ((a << 8u) >> 8u) * ((b << 8u) >> 8u); }

fn slri_sad(a: i32, b: i32, sum: u32) -> u32 { return sum + select(bitcast<u32>(b) - bitcast<u32>(a), bitcast<u32>(a) - bitcast<u32>(b), a > b); }

fn slri_usad(a: u32, b: u32, sum: u32) -> u32 { return sum + select(b - a, a - b, a > b); }

fn slri_funnel_l(low: u32, high: u32, count: u32) -> u32 {
  let by = count & 31u;
  return (high << by) | ((low >> 1u) >> (31u - by));
}

fn slri_funnel_r(low: u32, high: u32, count: u32) -> u32 {
  let by = count & 31u;
  return (low >> by) | ((high << 1u) << (31u - by));
}

fn slri_funnel_lc(low: u32, high: u32, count: u32) -> u32 { return select(slri_funnel_l(low, high, count), low, count >= 32u); }

fn slri_funnel_rc(low: u32, high: u32, count: u32) -> u32 { return select(slri_funnel_r(low, high, count), high, count >= 32u); }

fn slri_byte_perm(x: u32, y: u32, s: u32) -> u32 {
  var out = 0u;
  for (var i = 0u; i < 4u; i++) {
    let which = (s >> (4u * i)) & 15u;
    let byte = (select(x, y, (which & 4u) != 0u) >> (8u * (which & 3u))) & 0xffu;
    out |= select(byte, select(0u, 0xffu, (byte & 0x80u) != 0u), (which & 8u) != 0u) << (8u * i);
  }
  return out;
}

fn slri_arg(word: u32) -> u32 { return slri_args[word >> 2u][word & 3u]; }

// The first thread that has one leaves it: kind, file, line.
fn slri_fault(kind: u32, file: u32, line: u32) {
  loop {
    let seen = atomicCompareExchangeWeak(&slri_faulted[0], 0u, kind);
    if (seen.exchanged) { atomicStore(&slri_faulted[1], file); atomicStore(&slri_faulted[2], line); }
    if (seen.exchanged || seen.old_value != 0u) { break; }
  }
}

fn slri_sync() { workgroupBarrier(); storageBarrier(); }

// How many threads of the block gave true; the same in all, and compilers know that it is.
fn slri_count(given: bool, thread: u32) -> u32 {
  slri_sync();
  if (thread == 0u) { atomicStore(&slri_votes, 0u); }
  workgroupBarrier();
  if (given) { atomicAdd(&slri_votes, 1u); }
  workgroupBarrier();
  if (thread == 0u) { slri_counted = atomicLoad(&slri_votes); }
  return workgroupUniformLoad(&slri_counted);
}
