/* The PTX of the kernels of program.cpp, in two modules. */

static const char first_ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .const .align 4 .f32 factors[4];
.visible .global .align 4 .u32 counter = 5;

// out[i] = in[i] * pair.scale * factors[pair.index] + pair.offset
.visible .entry scale(.param .u64 out, .param .u64 in, .param .align 8 .b8 pair[16], .param .u32 n)
{
    .reg .pred %p;
    .reg .b64 %out, %in, %offset, %factors;
    .reg .b32 %r, %i, %n;
    .reg .f32 %f, %s, %c;
    .reg .f64 %d;
    mov.u32 %i, %ctaid.x;
    mov.u32 %r, %ntid.x;
    mad.lo.u32 %i, %i, %r, 0;
    mov.u32 %r, %tid.x;
    add.u32 %i, %i, %r;
    ld.param.u32 %n, [n];
    setp.ge.u32 %p, %i, %n;
    @%p ret;
    ld.param.u64 %out, [out];
    ld.param.u64 %in, [in];
    mul.wide.u32 %offset, %i, 4;
    add.u64 %in, %in, %offset;
    add.u64 %out, %out, %offset;
    ld.global.f32 %f, [%in];
    ld.param.f32 %s, [pair];
    mul.f32 %f, %f, %s;
    ld.param.u8 %r, [pair+4];
    mul.wide.u32 %offset, %r, 4;
    mov.u64 %factors, factors;
    add.u64 %factors, %factors, %offset;
    ld.const.f32 %c, [%factors];
    mul.f32 %f, %f, %c;
    ld.param.f64 %d, [pair+8];
    cvt.rn.f32.f64 %c, %d;
    add.f32 %f, %f, %c;
    st.global.f32 [%out], %f;
    ret;
}

// counter += by, in one thread
.visible .entry count(.param .u32 by)
{
    .reg .b32 %r, %by;
    ld.param.u32 %by, [by];
    ld.global.u32 %r, [counter];
    add.u32 %r, %r, %by;
    st.global.u32 [counter], %r;
    ret;
}

// out[i] = the sum of in[0..threads], by shared memory of the launch
.visible .entry total(.param .u64 out)
{
    .extern .shared .align 4 .b8 room[];
    .reg .pred %p;
    .reg .b64 %d;
    .reg .b32 %i, %n, %a, %sum, %v, %base;
    mov.u32 %i, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %base, room;
    mad.lo.u32 %a, %i, 4, %base;
    st.shared.u32 [%a], %i;
    bar.sync 0;
    mov.u32 %sum, 0;
    mov.u32 %v, 0;
again:
    mad.lo.u32 %a, %v, 4, %base;
    ld.shared.u32 %a, [%a];
    add.u32 %sum, %sum, %a;
    add.u32 %v, %v, 1;
    setp.lt.u32 %p, %v, %n;
    @%p bra again;
    ld.param.u64 %d, [out];
    mad.wide.u32 %d, %i, 4, %d;
    st.global.u32 [%d], %sum;
    ret;
}

// out[i] = the texel i of row 1
.visible .global .texref bytes_of_row;
.visible .global .texref texels_of_array;

// out[i] = the fraction in element i of bytes_of_row + 10 * texel i in the last row of texels_of_array
.visible .entry fetch(.param .u64 out)
{
    .reg .b64 %d;
    .reg .b32 %i;
    .reg .f32 %x, %y, %r, %g, %b, %a, %s;
    mov.u32 %i, %tid.x;
    tex.1d.v4.f32.s32 {%s, %g, %b, %a}, [bytes_of_row, {%i}];
    cvt.rn.f32.u32 %x, %i;
    add.f32 %x, %x, 0f3F000000;
    mul.f32 %x, %x, 0f3E800000;
    mov.f32 %y, 0f3F400000;
    tex.2d.v4.f32.f32 {%r, %g, %b, %a}, [texels_of_array, {%x, %y}];
    fma.rn.f32 %s, %r, 0f41200000, %s;
    ld.param.u64 %d, [out];
    mad.wide.u32 %d, %i, 4, %d;
    st.global.f32 [%d], %s;
    ret;
}

.visible .entry sample(.param .u64 out, .param .u64 texture)
{
    .reg .b64 %d, %t;
    .reg .b32 %i;
    .reg .f32 %x, %y, %r, %g, %b, %a;
    mov.u32 %i, %tid.x;
    cvt.rn.f32.u32 %x, %i;
    add.f32 %x, %x, 0f3F000000;
    mov.f32 %y, 0f3FC00000;
    ld.param.u64 %t, [texture];
    tex.2d.v4.f32.f32 {%r, %g, %b, %a}, [%t, {%x, %y}];
    ld.param.u64 %d, [out];
    mad.wide.u32 %d, %i, 4, %d;
    st.global.f32 [%d], %r;
    ret;
}

.visible .entry fail()
{
    trap;
}
)";

static const char second_ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .global .attribute(.managed) .align 4 .u32 shared_number = 40;
.visible .global .align 4 .u32 counter = 100;

// A variable of the same name as one of the other module.
.visible .entry count(.param .u32 by)
{
    .reg .b32 %r, %by;
    ld.param.u32 %by, [by];
    ld.global.u32 %r, [counter];
    add.u32 %r, %r, %by;
    st.global.u32 [counter], %r;
    ld.global.u32 %r, [shared_number];
    add.u32 %r, %r, 2;
    st.global.u32 [shared_number], %r;
    ret;
}
)";
