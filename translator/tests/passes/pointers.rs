//! Which parameters a module's description calls pointers.

use ptx2spv_translator::{Options, Program, Source, Target};

const PTX: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry k(
    .param .u64 loaded,
    .param .u64 stored,
    .param .u64 number,
    .param .u64 .ptr .global .align 4 declared,
    .param .u64 base,
    .param .u64 bytes,
    .param .u32 narrow,
    .param .f64 real)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<12>;
    .reg .f64 %fd<2>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [loaded];
    ld.param.u64 %rd2, [stored];
    ld.param.u64 %rd3, [number];
    ld.param.u64 %rd4, [base];
    ld.param.u64 %rd5, [bytes];
    ld.param.u32 %r1, [narrow];
    ld.param.f64 %fd1, [real];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r2, %tid.x;
loop:
    mul.wide.u32 %rd6, %r2, 4;
    add.s64 %rd7, %rd1, %rd6;
    ld.global.u32 %r3, [%rd7];
    add.s64 %rd1, %rd1, 4;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra loop;
    st.u64 [%rd2+8], %rd3;
    add.s64 %rd8, %rd4, %rd5;
    st.global.u32 [%rd8], %r3;
    st.global.f64 [%rd2], %fd1;
    ret;
}";

#[test]
fn what_addresses_are_computed_from_is_a_pointer() {
    for preset in ["nvidia", "lavapipe"] {
        let source = Source::new("pointers.ptx", PTX);
        let target = Target::preset(preset).unwrap();
        let translation = Program::new(&source).unwrap().translate(&Options::new(&target)).unwrap();
        let params = &translation.interface.entry("k").unwrap().params;
        let pointers: Vec<&str> =
            params.iter().filter(|param| param.pointer).map(|param| param.name.as_str()).collect();
        // Either of `base` and `bytes` may be the pointer.
        assert_eq!(pointers, ["loaded", "stored", "declared"], "{preset}");
    }
}
