//! The words of PTX up to version 9: all opcodes and modifiers, translated or not, so that a diagnostic can tell
//! "not translated yet" from "no such thing".

/// Whether any PTX version has this opcode.
pub fn is_opcode(word: &str) -> bool {
    OPCODES.split_ascii_whitespace().any(|opcode| opcode == word)
}

/// Whether some PTX instruction has this modifier (banks such as `const[2]` included).
pub fn is_modifier(word: &str) -> bool {
    let word = word.split('[').next().unwrap_or(word);
    word.split("::").all(|part| MODIFIERS.split_ascii_whitespace().any(|modifier| modifier == part))
        || (word.starts_with(['m', 'k']) && word.bytes().filter(u8::is_ascii_digit).count() >= 2)
}

const OPCODES: &str = "
abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx call clusterlaunchcontrol clz
cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol
isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24
multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp
shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex
tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset
vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor";

const MODIFIERS: &str = "
1d 2d 3d 128 a1d a2d acube cube 2dms a2dms 16x64b 16x128b 16x256b 32x32b 16x32bx2 1 2 4 8 L1 L2 abs acc acq_rel acquire add address after aligned
all alloc allocate and any approx arrive arrive_drop async b b0 b1 b10 b128 b16 b1x16 b2 b210 b3 b32 b3210 b4x16 b4x16_p64 b6x16_p32 b64 b8 b8x16 ballot bar base bf16 bf16x2 bfly block_scale br
buffer bulk bulk_group ca cancel cas cc cg cluster cluster_dim col commit commit_group complete_tx cond const constant cp cp_mask cs cta cta_group
cta_mask cv cvta d dealloc dec depth desc dispatch down e2m1 e2m1x2 e2m1x4 e2m3 e2m3x2 e2m3x4 e3m2 e3m2x2 e3m2x4 e4m3 e4m3x2 e4m3x4 e5m2 e5m2x2 e5m2x4 elementwise eq equ evict_first evict_last
evict_normal evict_unchanged exch exit expect_tx f16 f16x2 f32 f32x2 f64 finite fence full first footprint fractional ftz func g ge gather gather4 geu geometry global gpu gs gt gtu h0 h1
height hi hs i im2col im2col_no_offs ignore_oob im2col_w inc infinite init inval initialize is_canceled isfirst kind l launch_dependents layout ld le leu level lo local lop3 ls lt ltu m16n8 m16n8k8
match max mbarrier min mmio mma multicast multimem nan NaN nc ne neu no_allocate noComplete none noftz noinc normal not notanumber normalize_coord normalized num num_mip_levels num_samples number oob op or
p ph pack param parity pending_count phase pop popc pred prefetch proxy px query r range rcp red red_async reduce relaxed release relu replace
restrict rm rn rna rni rmi rp rpi row rs rz rzi s s16 s16x2 s2 s32 s4 s64 s8 sat satfinite scale_vec scatter scatter4 sem shared shift shiftamt sl smem snan sp sparse sr st
stride sub subnormal surfref sync sync_restrict sys tcgen05 tensor tensormap test_wait test texref samplerref tf32 tile to trans transfer trap try_cancel try_wait tx tx_count
u16 u16x2 u2 u32 u64 u8 u4 ue8m0x2 uni unified unit unordered up v2 v4 v8 valid volatile vote w wait wait_group wait_prior wait_read warpx2 warpx4 warp wide width width_stride wrap ws write x x2 x4 xf32 xor xorsign x1
zero zfill noftz sc async_generic generic alias gl ac rc mask clamp b16x2 read wr f8f6f4 mxf8f6f4 mxf4 mxf4nvf4 kind s8x4 u8x4 entry linear space array_size channel_data_type channel_order memory_layout filter_mode addr_mode_0 addr_mode_1 addr_mode_2 force_unnormalized_coords proxy tmem
leader pseudo 64B 128B 256B cache_hint idx wait_all bytes 4d 5d cvt mbarrier_init weak lu ld_reduce f4e b4e rc8 ecl ecr rc16 wb wt grad
b1024 box_dim cp_fenceproxy element_stride elemtype fill_mode global_address global_dim global_stride interleave_layout rank swizzle_atomicity
swizzle_mode a normalized_coords num_mipmap_levels po shr7 shr15 mma_async load c store";
