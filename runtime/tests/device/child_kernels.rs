//! Kernels that launch others.

/// A module with the device runtime's functions of this prefix and two more: `take` returns a parameter buffer for one
/// thread of a kernel, and `start` launches the kernel of a buffer in the default stream, and returns the error.
macro_rules! module {
    ($header:literal, $prefix:literal, $body:literal) => {
        concat!(
            $header,
            "
.address_size 64
.extern .func (.param .b64 r) ",
            $prefix,
            "GetParameterBufferV2
    (.param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) ",
            $prefix,
            "LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);

.func (.param .b64 buffer) take(.param .b64 kernel)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [kernel];
    .param .b64 k;
    .param .align 4 .b8 grid[12];
    .param .align 4 .b8 block[12];
    .param .b32 shared;
    .param .b64 r;
    st.param.b64 [k], %rd1;
    st.param.b32 [grid], 1;
    st.param.b32 [grid+4], 1;
    st.param.b32 [grid+8], 1;
    st.param.b32 [block], 1;
    st.param.b32 [block+4], 1;
    st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0;
    call (r), ",
            $prefix,
            "GetParameterBufferV2, (k, grid, block, shared);
    ld.param.b64 %rd2, [r];
    st.param.b64 [buffer], %rd2;
    ret;
}

.func (.param .b32 error) start(.param .b64 buffer)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [buffer];
    .param .b64 b;
    .param .b64 stream;
    .param .b32 r;
    st.param.b64 [b], %rd1;
    st.param.b64 [stream], 0;
    call (r), ",
            $prefix,
            "LaunchDeviceV2, (b, stream);
    ld.param.b32 %r1, [r];
    st.param.b32 [error], %r1;
    ret;
}
",
            $body
        )
    };
}

/// Each thread of `launch` launches `add` several times, `fail` launches a kernel that traps, and `down` launches itself with one level less.
pub const KERNELS: &str = module!(
    ".version 8.0\n.target sm_70",
    "__cudaCDP2",
    "
.extern .func (.param .b32 r) __cudaCDP2GetLastError();

// Kernels known by variables.
.visible .global .align 8 .u64 kernels[3] = {add, trap_, down};

.func (.param .b32 error) launch_one(.param .b64 place, .param .b64 sum, .param .b32 value)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [place];
    ld.param.u64 %rd2, [sum];
    ld.param.u32 %r1, [value];
    ld.global.u64 %rd1, [%rd1];
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd1;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    }
    setp.eq.u64 %p, %rd3, 0;
    @%p bra done;
    st.u64 [%rd3], %rd2;
    st.u32 [%rd3+8], %r1;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
done:
    {
    .param .b32 r;
    call (r), __cudaCDP2GetLastError, ();
    ld.param.b32 %r2, [r];
    }
    st.param.b32 [error], %r2;
    ret;
}

.visible .entry add(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    red.global.add.u32 [%rd1], %r1;
    ret;
}

.visible .entry trap_(.param .u64 sum, .param .u32 value)
{
    trap;
    ret;
}

.visible .entry launch(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    mov.u64 %rd2, kernels;
    {
    .param .b64 place;
    .param .b64 s;
    .param .b32 v;
    .param .b32 e;
    st.param.b64 [place], %rd2;
    st.param.b64 [s], %rd1;
    st.param.b32 [v], %r1;
    call (e), launch_one, (place, s, v);
    ld.param.b32 %r2, [e];
    }
    // The failure, by error.
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd1, %rd1, %rd2;
    red.global.add.u32 [%rd1+4], 1;
    ret;
}

// Launches the address `distance` bytes after a parameter buffer, and stores the error.
.visible .entry astray(.param .u64 error, .param .s32 distance)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [error];
    ld.param.s32 %rd2, [distance];
    mov.u64 %rd3, add;
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd3;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    }
    st.u64 [%rd3], %rd1;
    st.u32 [%rd3+8], 0;
    add.s64 %rd3, %rd3, %rd2;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    ld.param.b32 %r1, [e];
    }
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry fail(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    mov.u64 %rd2, kernels;
    add.u64 %rd2, %rd2, 8;
    {
    .param .b64 place;
    .param .b64 s;
    .param .b32 v;
    .param .b32 e;
    st.param.b64 [place], %rd2;
    st.param.b64 [s], %rd1;
    st.param.b32 [v], %r1;
    call (e), launch_one, (place, s, v);
    }
    ret;
}

.visible .entry down(.param .u64 sum, .param .u32 value)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    red.global.add.u32 [%rd1], %r1;
    setp.eq.u32 %p, %r1, 0;
    @%p ret;
    sub.u32 %r1, %r1, 1;
    mov.u64 %rd2, kernels;
    add.u64 %rd2, %rd2, 16;
    {
    .param .b64 place;
    .param .b64 s;
    .param .b32 v;
    .param .b32 e;
    st.param.b64 [place], %rd2;
    st.param.b64 [s], %rd1;
    st.param.b32 [v], %r1;
    call (e), launch_one, (place, s, v);
    }
    ret;
}"
);

/// Kernels that wait for their launches: `down` waits for itself with one level less; of the two threads of `between`,
/// the second waits for its launch while the first one holds a parameter buffer and waits for the second.
pub const WAITING: &str = module!(
    ".version 6.0\n.target sm_60",
    "cuda",
    "
.extern .func (.param .b32 r) cudaDeviceSynchronize();

.visible .entry add(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    red.global.add.u32 [%rd1], %r1;
    ret;
}

.visible .entry down(.param .u64 sum, .param .u32 value)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    setp.eq.u32 %p, %r1, 0;
    @%p bra last;
    sub.u32 %r2, %r1, 1;
    mov.u64 %rd2, down;
    {
    .param .b64 k;
    .param .b64 b;
    .param .b32 e;
    st.param.b64 [k], %rd2;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    st.u64 [%rd3], %rd1;
    st.u32 [%rd3+8], %r2;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
    {
    .param .b32 r;
    call (r), cudaDeviceSynchronize, ();
    }
last:
    // Twice as many as the levels below have left, and one.
    ld.volatile.global.u32 %r3, [%rd1];
    mad.lo.u32 %r3, %r3, 2, 1;
    st.volatile.global.u32 [%rd1], %r3;
    ret;
}

.visible .entry between(.param .u64 sum)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [sum];
    mov.u64 %rd2, add;
    mov.u32 %r1, %tid.x;
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd2;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    }
    st.u64 [%rd3], %rd1;
    setp.eq.u32 %p, %r1, 0;
    @%p bra meet;
    mov.u32 %r2, 1;
    st.u32 [%rd3+8], %r2;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
    {
    .param .b32 r;
    call (r), cudaDeviceSynchronize, ();
    }
meet:
    bar.sync 0;
    @!%p ret;
    // The other thread's launch is done.
    ld.volatile.global.u32 %r2, [%rd1];
    mad.lo.u32 %r2, %r2, 100, 7;
    st.u32 [%rd3+8], %r2;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
    {
    .param .b32 r;
    call (r), cudaDeviceSynchronize, ();
    }
    // There is room again after all have finished.
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd2;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    }
    setp.eq.u64 %p, %rd3, 0;
    @%p ret;
    st.u64 [%rd3], %rd1;
    st.u32 [%rd3+8], 1000;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
    ret;
}"
);

/// Kernels that write to memory of the device runtime: `spoil` launches `add` and then writes a word at an offset from
/// the launch's parameter buffer. One thread of `signal` waits for its launch while the others wait for that thread's
/// word in shared memory, and all add the launch's result to the second word.
pub const ASTRAY: &str = module!(
    ".version 6.0\n.target sm_60",
    "cuda",
    "
.extern .func (.param .b32 r) cudaDeviceSynchronize();

.visible .entry add(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    red.global.add.u32 [%rd1], %r1;
    ret;
}

.func add_five(.param .b64 sum, .param .s32 distance, .param .b32 word)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [sum];
    ld.param.s32 %rd4, [distance];
    ld.param.u32 %r1, [word];
    mov.u64 %rd2, add;
    .param .b64 k;
    .param .b64 b;
    .param .b32 e;
    st.param.b64 [k], %rd2;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    st.u64 [%rd3], %rd1;
    st.u32 [%rd3+8], 5;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    add.u64 %rd3, %rd3, %rd4;
    st.u32 [%rd3], %r1;
    ret;
}

.visible .entry spoil(.param .u64 sum, .param .s32 distance, .param .u32 word)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [distance];
    ld.param.u32 %r2, [word];
    .param .b64 s;
    .param .b32 d;
    .param .b32 w;
    st.param.b64 [s], %rd1;
    st.param.b32 [d], %r1;
    st.param.b32 [w], %r2;
    call add_five, (s, d, w);
    ret;
}

.visible .entry signal(.param .u64 sums)
{
    .shared .align 4 .u32 flag;
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sums];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 40;
    @%p1 st.volatile.shared.u32 [flag], 0;
    bar.sync 0;
    @%p1 bra launch;
wait:
    ld.volatile.shared.u32 %r2, [flag];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra wait;
    bra read;
launch:
    {
    .param .b64 s;
    .param .b32 d;
    .param .b32 w;
    st.param.b64 [s], %rd1;
    // The child's parameter itself.
    st.param.b32 [d], 8;
    st.param.b32 [w], 5;
    call add_five, (s, d, w);
    .param .b32 r;
    call (r), cudaDeviceSynchronize, ();
    }
    st.volatile.shared.u32 [flag], 1;
read:
    ld.volatile.global.u32 %r3, [%rd1];
    red.global.add.u32 [%rd1+4], %r3;
    ret;
}"
);

/// `forever` launches itself endlessly. `set` sets a byte in each of some slices, made of rows of 4 bytes, to 7.
pub const ENDLESS: &str = module!(
    ".version 8.0\n.target sm_70",
    "__cudaCDP2",
    "
.extern .func (.param .b32 r) __cudaCDP2Memset3DAsync
    (.param .align 8 .b8 to[32], .param .b32 value, .param .align 8 .b8 extent[24], .param .b64 stream);

.visible .entry forever()
{
    .reg .b64 %rd<3>;
    mov.u64 %rd1, forever;
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd1;
    call (b), take, (k);
    ld.param.b64 %rd2, [b];
    }
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd2;
    call (e), start, (k);
    }
    ret;
}

.visible .entry set(.param .u64 to, .param .u64 rows, .param .u64 depth)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [rows];
    ld.param.u64 %rd3, [depth];
    .param .align 8 .b8 p[32];
    .param .b32 v;
    .param .align 8 .b8 e[24];
    .param .b64 s;
    .param .b32 r;
    st.param.b64 [p], %rd1;
    st.param.b64 [p+8], 4;
    st.param.b64 [p+16], 1;
    st.param.b64 [p+24], %rd2;
    st.param.b32 [v], 7;
    st.param.b64 [e], 1;
    st.param.b64 [e+8], 1;
    st.param.b64 [e+16], %rd3;
    st.param.b64 [s], 0;
    call (r), __cudaCDP2Memset3DAsync, (p, v, e, s);
    ret;
}"
);
