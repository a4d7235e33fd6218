#define TILE 8

kernel void matmul_tiled(global const float* a, global const float* b, global float* c, uint m, uint n, uint k) {
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (uint start = 0; start < k; start += TILE) {
        tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0;
        tile_b[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++) sum = fma(tile_a[y][i], tile_b[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
