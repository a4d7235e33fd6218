#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) ConstWords starts; ConstWords edges; Words levels; Words reached; uint level; uint nodes; };

void main() {
    uint node = gl_GlobalInvocationID.x;
    if (node >= nodes || levels.at[node] != level) return;
    for (uint i = starts.at[node], end = starts.at[node + 1]; i < end; i++) {
        uint to = edges.at[i];
        if (levels.at[to] > level + 1 && atomicMin(levels.at[to], level + 1) > level + 1) atomicAdd(reached.at[0], 1);
    }
}
