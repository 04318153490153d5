// The instructions of random kernels: "$W" and its like are operands
// (random_kernel.cpp).
#pragma once

namespace cudasim::engine::testing {

/// Of integers, bits and predicates, and comparisons of floats.
inline constexpr char kPlainRows[] = R"(
add.s32 $W, $w, $w; add.u32 $W, $w, $w; sub.s32 $W, $w, $w;
sub.u32 $W, $w, $w; min.s32 $W, $w, $w; max.u32 $W, $w, $w;
max.s32 $W, $w, $w; min.u32 $W, $w, $w; neg.s32 $W, $W;
mul.lo.s32 $W, $w, $w; mul.lo.u32 $W, $W, $w; mad.lo.s32 $W, $w, $w, $w;
mad.lo.u32 $W, $w, $w, $w; add.s64 $D, $d, $d; sub.u64 $D, $d, $d;
min.s64 $D, $d, $d; max.u64 $D, $d, $d; mul.lo.u64 $D, $d, $d;
neg.s64 $D, $D; mad.lo.s64 $D, $d, $d, $d; add.u16 $H, $h, $h;
sub.s16 $H, $h, $h; mul.lo.s16 $H, $h, $h; min.s16 $H, $h, $h;
max.u16 $H, $h, $h; neg.s16 $H, $H; mad.lo.u16 $H, $h, $h, $h;
mul.wide.s32 $D, $w, $w; mul.wide.u32 $D, $w, $w;
mad.wide.s32 $D, $w, $w, $d; mad.wide.u32 $D, $w, $w, $d;
mul.wide.s16 $W, $h, $h; mul.wide.u16 $W, $h, $h;
mad.wide.s16 $W, $h, $h, $w; mad.wide.u16 $W, $h, $h, $w; and.b32 $W, $w, $w;
and.b32 $W, $W, $w; or.b32 $W, $w, $w; xor.b32 $W, $w, $w;
and.b64 $D, $d, $d; or.b64 $D, $d, $d; xor.b64 $D, $d, $d;
and.b16 $H, $h, $h; or.b16 $H, $h, $h; xor.b16 $H, $h, $h; not.b32 $W, $w;
not.b64 $D, $d; not.b16 $H, $h; shl.b32 $W, $w, $s; shl.b32 $W, $w, 2;
shl.b64 $D, $d, $s; shl.b16 $H, $h, $s; shr.u32 $W, $w, $s;
shr.s32 $W, $w, $s; shr.u32 $W, $w, 5; shr.u64 $D, $d, $s;
shr.s64 $D, $d, $s; shr.u16 $H, $h, $s; shr.s16 $H, $h, $s;
shr.b32 $W, $w, $s; and.pred $P, $p, $p; or.pred $P, $p, $p;
xor.pred $P, $p, $p; not.pred $P, $P; mov.pred $P, $P;
selp.b32 $W, $w, $w, $P; selp.s64 $D, $d, $d, $P; selp.b16 $H, $h, $h, $P;
setp.lt.s32 $P, $w, $w; setp.ge.u32 $P, $w, $w; setp.eq.b32 $P, $w, $w;
setp.ne.s32 $P, $w, $w; setp.hi.u32 $P, $w, $w; setp.ls.u32 $P, $w, $w;
setp.le.s64 $P, $d, $d; setp.gt.u64 $P, $d, $d; setp.lt.s16 $P, $h, $h;
setp.lo.u16 $P, $h, $h; setp.lt.f32 $P, $f, $f; setp.neu.f32 $P, $f, $f;
setp.ge.f64 $P, $g, $g; setp.nan.f64 $P, $g, $g; setp.num.f32 $P, $f, $f;
setp.geu.f64 $P, $g, $g; setp.lt.and.s32 $P, $w, $w, $p;
setp.lt.s32 %q|$P, $w, $w; mov.b32 $W, $w; mov.b64 $D, $d; mov.b16 $H, $h;
mov.u32 $W, $w; cvt.s64.s32 $D, $W; cvt.u64.u32 $D, $W; cvt.s64.u32 $D, $W;
cvt.u64.s32 $D, $W; cvt.u32.u64 $W, $D; cvt.s32.s64 $W, $D;
cvt.u32.s32 $W, $W; cvt.u16.u32 $H, $W; cvt.s32.s16 $W, $H;
cvt.u32.u16 $W, $H; cvt.s8.s32 $W, $W; cvt.u64.u16 $D, $H;
cvt.rn.f32.s32 $W, $W; cvt.rn.f32.u32 $W, $W; cvt.rn.f64.s32 $D, $W;
cvt.rn.f64.u32 $D, $W; cvt.rn.f32.s64 $W, $D; cvt.rn.f32.u64 $W, $D;
cvt.rn.f64.u64 $D, $D; cvt.rzi.s32.f32 $W, $W; cvt.rni.u64.f64 $D, $D;
abs.s32 $W, $W; div.u32 $W, $w, $w; rem.s32 $W, $w, $w; div.s32 $W, $w, 7;
div.s64 $D, $d, $d; rem.u64 $D, $d, $d; div.u64 $D, $d, 100; rem.s64 $D, $D, 3;
 popc.b32 $W, $W;
clz.b64 $W, $D; mul.hi.u32 $W, $w, $w; lop3.b32 $W, $w, $w, $w, 0x6a;
prmt.b32 $W, $w, $w, $w; bfe.s32 $W, $w, $s, $s; bfe.u32 $W, $w, $s, $s;
bfe.u64 $D, $d, $s, $s; bfe.s64 $D, $d, $W, $W; bfi.b32 $W, $w, $w, $s, $s;
bfi.b64 $D, $d, $d, $s, $s; brev.b32 $W, $w; brev.b64 $D, $d;
popc.b64 $W, $D; clz.b32 $W, $w; bfind.u32 $W, $w; bfind.s64 $W, $d;
bfind.shiftamt.s32 $W, $w; mul.hi.s32 $W, $w, $w; mul.hi.s64 $D, $d, $d;
mul.hi.u64 $D, $d, $d; mad.hi.s32 $W, $w, $w, $w; mad.hi.u64 $D, $d, $d, $d;
mul.hi.u16 $H, $h, $h; sad.s16 $H, $h, $h, $h; sad.u64 $D, $d, $d, $d;
shf.r.clamp.b32 $W, $w, $w, $w; shf.r.wrap.b32 $W, $w, $w, $s;
shf.l.clamp.b32 $W, $w, $w, $s; mul24.hi.u32 $W, $w, $w; cnot.b32 $W, $w;
cnot.b64 $D, $d; dp4a.s32.u32 $W, $w, $w, $w; dp2a.lo.u32.s32 $W, $w, $w, $w;
set.lt.u32.s32 $W, $w, $w; set.ge.f32.f32 $W, $f, $f; set.eq.s32.u32 $W, $w, $w;
slct.b64.f32 $D, $d, $d, $f; selp.f64 $D, $g, $g, $P; rem.s16 $H, $h, $h;
div.u16 $H, $h, $h; sub.sat.s32 $W, $w, $w; mad.lo.cc.u32 $W, $w, $w, $w;
madc.hi.u32 $W, $w, $w, $w; sub.cc.u32 $W, $w, $w; subc.u32 $W, $w, $w;
add.cc.u64 $D, $d, $d; addc.cc.u64 $D, $d, $d; setp.gt.or.f32 $P, $f, $f, $p;
setp.ne.xor.u16 $P, $h, $h, $p; testp.number.f32 $P, $W;
testp.subnormal.f64 $P, $D; copysign.f32 $W, $f, $f; copysign.f64 $D, $g, $g;
cvt.rni.s32.f32 $W, $f; cvt.rmi.u32.f64 $W, $g; cvt.rpi.s64.f32 $D, $f;
cvt.rzi.u16.f32 $H, $f; cvt.sat.u8.s32 $W, $w; cvt.sat.s16.s64 $H, $d;
cvt.sat.u32.s32 $W, $w; cvt.rz.f32.u64 $W, $d; cvt.rp.f32.s32 $W, $w;
setp.lt.f16 $P, $H, $H; setp.neu.f16x2 $P|%q, $W, $W; lop3.b32 $W, $w, $w, $w, 0x96;
mov.b64 {$W, %z}, $D; mov.b64 $D, {$H, $H, $H, $H}; fns.b32 $W, $w, $W, $W;
shf.l.wrap.b32 $W, $w, $w, $w; add.cc.u32 $W, $w, $w; addc.u32 $W, $w, $w;
add.sat.s32 $W, $w, $w; mov.b64 {%z, $W}, $D; mov.b64 $D, {$W, $W};
mov.b32 {$H, %v}, $W; mov.b32 $W, {$H, $H}; slct.u32.s32 $W, $w, $w, $w;
mov.u32 $W, %laneid; ld.param.u32 $W, [n]; sad.u32 $W, $w, $w, $w;
mul24.lo.s32 $W, $w, $w;
)";

/// Whose result is a float of 32 bits.
inline constexpr char kSingleRows[] = R"(
add.f32 $, $f, $f; sub.rn.f32 $, $f, $f; mul.f32 $, $f, $f;
div.rn.f32 $, $f, $f; fma.rn.f32 $, $f, $f, $f; min.f32 $, $f, $f;
max.f32 $, $f, $f; neg.f32 $, $f; abs.f32 $, $f; sqrt.rn.f32 $, $f;
rcp.rn.f32 $, $f; add.ftz.f32 $, $f, $f; mul.rz.f32 $, $f, $f;
cvt.rn.f32.f64 $, $D; ex2.approx.f32 $, $f; selp.f32 $, $f, $f, $P;
ex2.approx.ftz.f32 $, $f; lg2.approx.f32 $, $f; sin.approx.f32 $, $f;
cos.approx.f32 $, $f; tanh.approx.f32 $, $f; rsqrt.approx.f32 $, $f;
rcp.approx.ftz.f32 $, $f; sqrt.approx.f32 $, $f; div.approx.f32 $, $f, $f;
div.full.f32 $, $f, $f; fma.rz.ftz.f32 $, $f, $f, $f; add.sat.f32 $, $f, $f;
fma.rn.sat.f32 $, $f, $f, $f; sub.rp.f32 $, $f, $f; mul.rm.ftz.f32 $, $f, $f;
min.NaN.f32 $, $f, $f; max.ftz.f32 $, $f, $f; cvt.f32.f16 $, $H;
cvt.ftz.f32.f32 $, $f; cvt.rni.f32.f32 $, $f; cvt.rmi.ftz.f32.f32 $, $f;
cvt.sat.f32.f32 $, $f; cvt.rz.f32.f64 $, $D; sqrt.rz.f32 $, $f;
rcp.rp.f32 $, $f; div.rm.f32 $, $f, $f; neg.ftz.f32 $, $f; abs.ftz.f32 $, $f;
fma.rm.f32 $, $f, $f, $f; mad.rp.f32 $, $f, $f, $f; add.rz.f32 $, $f, $f;
mul.ftz.sat.f32 $, $f, $f; fma.rn.ftz.f32 $, $f, $f, $f; div.rn.ftz.f32 $, $f, $f;
)";

/// Whose result is a float of 64 bits.
inline constexpr char kDoubleRows[] = R"(
add.f64 $, $g, $g; sub.f64 $, $g, $g; mul.rn.f64 $, $g, $g;
div.rn.f64 $, $g, $g; fma.rn.f64 $, $g, $g, $g; min.f64 $, $g, $g;
max.f64 $, $g, $g; neg.f64 $, $g; abs.f64 $, $g; sqrt.rn.f64 $, $g;
rcp.rn.f64 $, $g; cvt.f64.f32 $, $W; cvt.rmi.f64.f64 $, $g;
fma.rz.f64 $, $g, $g, $g; add.rm.f64 $, $g, $g; div.rp.f64 $, $g, $g;
)";

} // namespace cudasim::engine::testing
