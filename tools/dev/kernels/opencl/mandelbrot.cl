#pragma OPENCL FP_CONTRACT OFF

kernel void mandelbrot(global uint* out, uint width, uint height, float left, float top, float step, uint limit) {
    uint px = get_global_id(0), py = get_global_id(1);
    if (px >= width || py >= height) return;
    float cx = left + (float)px * step, cy = top - (float)py * step, x = 0, y = 0;
    uint count = 0;
    while (count < limit) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4) break;
        y = 2 * x * y + cy;
        x = xx - yy + cx;
        count++;
    }
    out[py * width + px] = count;
}
