#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Texts, uvec4, 16)
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) ConstTexts text; Words counts; uint low; uint high; uint groups; };

void main() {
    uint group = gl_GlobalInvocationID.x;
    if (group + 1 >= groups) return;
    uvec4 here = text.at[group];
    uvec2 next = text.at[group + 1].xy;
    uint words[6] = {here.x, here.y, here.z, here.w, next.x, next.y};
    uint whole = 0, nearly = 0;
    [[unroll]] for (uint i = 0; i < 16; i++) {
        uint word = i / 4, shift = i % 4 * 8;
        uint a = uint(packUint2x32(uvec2(words[word], words[word + 1])) >> shift) ^ low;
        uint b = uint(packUint2x32(uvec2(words[word + 1], words[min(word + 2, 5)])) >> shift) ^ high;
        uint wrong = 0;
        [[unroll]] for (int at = 0; at < 32; at += 8) {
            wrong += uint(bitfieldExtract(a, at, 8) != 0) + uint(bitfieldExtract(b, at, 8) != 0);
        }
        whole += uint(wrong == 0);
        nearly += uint(wrong == 1);
    }
    if (whole != 0) atomicAdd(counts.at[0], whole);
    if (nearly != 0) atomicAdd(counts.at[1], nearly);
}
