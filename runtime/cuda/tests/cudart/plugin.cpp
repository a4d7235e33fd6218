/* A shared library with a kernel of its own, which a program loads while it runs. */
#include "cuda.h"

static void nine(int *out)
{
    launch_stub((const void *)nine, out);
}

static Registration registration(R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry nine(.param .u64 out)
{
    .reg .b64 %d;
    ld.param.u64 %d, [out];
    st.global.u32 [%d], 9;
    ret;
}
)", [](void **binary) { add_kernel(binary, (const void *)nine, "nine"); });

extern "C" const void *run_nine(int *on_device)
{
    LAUNCH(1, 1, 0, nullptr) nine(on_device);
    return (const void *)nine;
}
