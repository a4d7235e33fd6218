#define BLOCK 64

kernel void reduce_atomic(global const int* in, global int* total, uint n) {
    local int partial[BLOCK];
    uint t = get_local_id(0);
    int sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
    partial[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint part = BLOCK / 2; part > 0; part /= 2) {
        if (t < part) partial[t] += partial[t + part];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) atomic_add(total, partial[0]);
}
