// Shared code of the GLSL versions: the parameters follow 40 bytes of launch data in the push constants
// (docs/interface.md), pointers are buffer references, block sizes are those of the bench.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

#define BUFFER(NAME, TYPE, BYTES) \
    layout(buffer_reference, std430, buffer_reference_align = BYTES) restrict buffer NAME { TYPE at[]; }; \
    layout(buffer_reference, std430, buffer_reference_align = BYTES) restrict readonly buffer Const##NAME { TYPE at[]; };

#define PARAMETERS layout(push_constant, std430) uniform Parameters
