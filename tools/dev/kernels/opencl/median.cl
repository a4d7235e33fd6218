uint middle(uint a, uint b, uint c) { return max(min(a, b), min(max(a, b), c)); }

kernel void median(global const uchar* restrict in, global uchar4* restrict out, int side) {
    int x = get_global_id(0) * 4, y = get_global_id(1);
    uint low[6], mid[6], high[6], result[4];
    for (int i = 0; i < 6; i++) {
        int column = clamp(x + i - 1, 0, side - 1);
        uint a = in[(y > 0 ? y - 1 : 0) * side + column];
        uint b = in[y * side + column];
        uint c = in[(y + 1 < side ? y + 1 : y) * side + column];
        low[i] = min(min(a, b), c);
        mid[i] = middle(a, b, c);
        high[i] = max(max(a, b), c);
    }
    for (int i = 0; i < 4; i++) {
        result[i] = middle(max(max(low[i], low[i + 1]), low[i + 2]), middle(mid[i], mid[i + 1], mid[i + 2]),
                           min(min(high[i], high[i + 1]), high[i + 2]));
    }
    out[(y * side + x) / 4] = (uchar4)(result[0], result[1], result[2], result[3]);
}
