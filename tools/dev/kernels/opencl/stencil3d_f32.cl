kernel void stencil3d_f32(global const float* restrict in, global float* restrict out, int side) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
    int plane = side * side, at = y * side + x;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < side - 1; z++) {
        at += plane;
        float above = in[at + plane];
        float sum = below + above + in[at - 1] + in[at + 1] + in[at - side] + in[at + side];
        out[at] = 0.4f * here + 0.1f * sum;
        below = here;
        here = above;
    }
}
