//! The words of PTX up to version 9: all opcodes and modifiers, translated or not, so that a diagnostic can tell
//! "not translated yet" from "no such thing".

use super::types::ScalarType;
use super::word::Word;

/// Whether any PTX version has this opcode.
pub fn is_opcode(word: &str) -> bool {
    OPCODES.split_ascii_whitespace().any(|opcode| opcode == word)
}

/// Whether some PTX instruction has this modifier (banks such as `const[2]` included).
pub fn is_modifier(word: &str) -> bool {
    let word = word.split('[').next().unwrap_or(word);
    let in_table = |part| Word::ALL.iter().any(|known| known.text().split("::").any(|known| known == part));
    let is_known = |part| {
        in_table(part)
            || ScalarType::from_name(part).is_some()
            || OTHERS.split_ascii_whitespace().any(|other| other == part)
    };
    word.split("::").all(is_known)
        || (word.starts_with(['m', 'k']) && word.bytes().filter(u8::is_ascii_digit).count() >= 2)
}

const OPCODES: &str = "
abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx call clmad clusterlaunchcontrol clz
cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fabric fence fma fns getctarank griddepcontrol
isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24
multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp
shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex
tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset
vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor";

/// Modifiers that no row of the table has.
const OTHERS: &str = "
1 128 16x128b 16x256b 16x32bx2 16x64b 2 32x32b 4 8 ac address after alloc allocate async_generic b0 b10 b16x2 b1x16 b2 b210 b3 b3210
b4x16 b4x16_p64 b6x16_p32 b8x16 bar block_scale br buffer cancel cluster_dim commit cond constant cp cta_group cta_mask cvta
dealloc desc dispatch e2m1 e2m3 e3m2 elementwise exit f8f6f4 first footprint gather gather4 geometry gs h0 h1 i
im2col_w initialize isfirst kind layout ld leader linear lop3 m16n8 match multimem mxf4 mxf4nvf4
mxf8f6f4 none normalize_coord normalized not num_mip_levels op ph phase pop pseudo px query rc rcp red_async restrict s scale_vec
scatter scatter4 sem shift sl smem snan space sparse sr stride sub swizzle_atomicity tcgen05 test tmem transfer
tx tx_count unified unit unordered valid vote w wait_prior wait_read warpx2 warpx4 width_stride wr write ws x x128 x16 x32 x64 x8 xf32 zfill
01_23 02_13 16B 16b check_layout collector disabled discard fill i8 lastuse maxabs n1 op_restrict override override_attribute pack phase_type
pzo reads report s2f6 submit try_atom try_get try_pullred try_put try_red ue4m3 ue5m3 ue5m3x2 unpack use valid_addr validity";
