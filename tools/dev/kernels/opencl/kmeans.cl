#define DIMENSIONS 16
#define CENTRES 64
#define BLOCK 256

kernel void kmeans(global const float* restrict points, global const float* restrict centres, global uint* restrict nearest, uint n) {
    local float shared[CENTRES][DIMENSIONS];
    for (uint i = get_local_id(0); i < CENTRES * DIMENSIONS; i += BLOCK) shared[i / DIMENSIONS][i % DIMENSIONS] = centres[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint point = get_global_id(0);
    if (point >= n) return;
    float coordinates[DIMENSIONS], least = 1e30f;
    for (uint d = 0; d < DIMENSIONS; d++) coordinates[d] = points[d * n + point];
    uint best = 0;
    for (uint centre = 0; centre < CENTRES; centre++) {
        float distance = 0;
        for (uint d = 0; d < DIMENSIONS; d++) {
            float difference = coordinates[d] - shared[centre][d];
            distance = fma(difference, difference, distance);
        }
        if (distance < least) {
            least = distance;
            best = centre;
        }
    }
    nearest[point] = best;
}
