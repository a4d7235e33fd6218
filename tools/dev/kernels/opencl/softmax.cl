#define BLOCK 256
#define PARTS 4

float over_block(float value, bool greatest, local float* shared) {
    uint t = get_local_id(0);
    shared[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint part = BLOCK / 2; part > 0; part /= 2) {
        if (t < part) shared[t] = greatest ? fmax(shared[t], shared[t + part]) : shared[t] + shared[t + part];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    value = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return value;
}

kernel void softmax(global const float4* in, global float4* out) {
    local float shared[BLOCK];
    uint first = get_group_id(0) * (BLOCK * PARTS) + get_local_id(0);
    float4 x[PARTS], largest = (float4)(-1e30f), sum = (float4)(0);
    for (uint i = 0; i < PARTS; i++) {
        x[i] = in[first + i * BLOCK];
        largest = fmax(largest, x[i]);
    }
    float top = over_block(fmax(fmax(largest.x, largest.y), fmax(largest.z, largest.w)), true, shared);
    for (uint i = 0; i < PARTS; i++) {
        x[i] = exp(x[i] - top);
        sum += x[i];
    }
    float scale = 1 / over_block(sum.x + sum.y + sum.z + sum.w, false, shared);
    for (uint i = 0; i < PARTS; i++) out[first + i * BLOCK] = x[i] * scale;
}
