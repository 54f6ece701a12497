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

// 10^x: what x log2(10) loses by its rounding is made good behind.
fn slri_exp10(x: f32) -> f32 {
  let y = x * 3.3219280243f;
  return exp2(y) * (1.0 + 0.69314718f * (fma(x, 3.3219280243f, -y) + x * 7.0595e-8f));
}

fn slri_log1p(x: f32) -> f32 {
  let u = 1.0 + x;
  if (u == 1.0 || x > 1e18f) { return select(x, log(x), x > 1e18f); }
  return log(u) * (x / (u - 1.0));
}

fn slri_expm1(x: f32) -> f32 {
  let u = exp(x);
  if (abs(x) < 1e-4f) { return x + 0.5 * x * x; }
  if (x > 20.0 || x < -20.0) { return u - 1.0; }
  return (u - 1.0) * (x / log(u));
}

// A remainder is exact: the divisor times a power of two is taken away until nothing of it is left.
fn slri_fmod(x: f32, y: f32) -> f32 {
  let by = abs(y);
  var left = abs(x);
  if (!(by > 0.0) || !(left < 0x1.fffffep+127f)) { return slri_float(0x7fc00000u); }
  loop {
    if (!(left >= by)) { break; }
    let steps = (bitcast<u32>(left) >> 23u) - (bitcast<u32>(by) >> 23u);
    var part = by;
    if (steps > 0u && bitcast<u32>(by) >= 0x00800000u) { part = bitcast<f32>(bitcast<u32>(by) + (steps << 23u)); }
    if (part > left) { part = part * 0.5; }
    left = left - part;
  }
  return slri_sign_of(left, x);
}

fn slri_cbrt(x: f32) -> f32 {
  let a = abs(x);
  if (!(a > 0.0) || a > 0x1.fffffep+127f) { return x; }
  let y = exp2(log2(a) / 3.0);
  return slri_sign_of(y - (y * y * y - a) / (3.0 * y * y), x);
}

// x minus a multiple of pi/2, in three pieces of which the first two are short enough to be multiplied without an error.
fn slri_reduce_angle(x: f32, turns: f32) -> f32 {
  return ((x - turns * 1.5703125f) - turns * 4.837512969970703125e-4f) - turns * 7.54978995489188216e-8f;
}

fn slri_sin_near(r: f32) -> f32 {
  let s = r * r;
  return r + r * s * (-1.6666654611e-1f + s * (8.3321608736e-3f - s * 1.9515295891e-4f));
}

fn slri_cos_near(r: f32) -> f32 {
  let s = r * r;
  return 1.0 - 0.5 * s + s * s * (4.166664568298827e-2f + s * (-1.388731625493765e-3f + s * 2.443315711809948e-5f));
}

fn slri_sin(x: f32) -> f32 {
  if (!(abs(x) < 8192.0)) { return sin(x); }
  let turns = round(x * 0.6366197723675814f); let quarter = i32(turns) & 3i;
  let r = slri_reduce_angle(x, turns);
  let part = select(slri_sin_near(r), slri_cos_near(r), (quarter & 1i) == 1i);
  return select(part, -part, quarter >= 2i);
}

fn slri_cos(x: f32) -> f32 {
  if (!(abs(x) < 8192.0)) { return cos(x); }
  let turns = round(x * 0.6366197723675814f); let quarter = (i32(turns) + 1i) & 3i;
  let r = slri_reduce_angle(x, turns);
  let part = select(slri_sin_near(r), slri_cos_near(r), (quarter & 1i) == 1i);
  return select(part, -part, quarter >= 2i);
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
    let which = (s >> (4u * i)) & 7u;
    out |= ((select(x, y, (which & 4u) != 0u) >> (8u * (which & 3u))) & 0xffu) << (8u * i);
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

// Behind the kernel of a driver that ends loops: whether it has ended those of this thread. No compiler knows `blocks`.
fn slri_tell_ended(blocks: u32) {
  let wanted = 2u + (blocks >> 31u);
  var turns = 0u;
  loop { if (turns >= wanted) { break; } turns++; }
  if (turns < 2u) { atomicStore(&slri_ended[0], 1u); }
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
