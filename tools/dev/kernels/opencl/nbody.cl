#define BLOCK 32

kernel void nbody(global const float4* bodies, global float4* accelerations, uint n, float softening) {
    local float4 tile[BLOCK];
    uint i = get_global_id(0), t = get_local_id(0);
    float4 self = i < n ? bodies[i] : (float4)(0);
    float3 sum = (float3)(0);
    for (uint start = 0; start < n; start += BLOCK) {
        uint j = start + t;
        tile[t] = j < n ? bodies[j] : (float4)(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < BLOCK; k++) {
            float4 other = tile[k];
            float3 d = other.xyz - self.xyz;
            float inverse = rsqrt(fma(d.x, d.x, fma(d.y, d.y, fma(d.z, d.z, softening))));
            sum = fma(d, other.w * inverse * inverse * inverse, sum);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) accelerations[i] = (float4)(sum, 0);
}
