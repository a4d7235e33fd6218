#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) Words keys; uint n; uint size; };

shared uint items[1024];

void main() {
    uint t = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * n;
    for (uint i = t; i < size; i += gl_WorkGroupSize.x) items[i] = i < n ? keys.at[first + i] : 0xffffffff;
    barrier();
    for (uint k = 2; k <= size; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            for (uint i = t; i < size; i += gl_WorkGroupSize.x) {
                uint partner = i ^ j;
                if (partner > i) {
                    uint a = items[i], b = items[partner];
                    bool ascending = (i & k) == 0;
                    if ((a > b) == ascending) {
                        items[i] = b;
                        items[partner] = a;
                    }
                }
            }
            barrier();
        }
    }
    for (uint i = t; i < n; i += gl_WorkGroupSize.x) keys.at[first + i] = items[i];
}
