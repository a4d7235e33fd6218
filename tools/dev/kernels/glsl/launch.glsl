// What the twins have in common: the parameters lie in the push constants after 40 bytes of the launch's own
// (docs/interface.md), pointers are buffer references, numbers of threads are as in the launches of the bench.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

#define BUFFER(NAME, TYPE, BYTES) \
    layout(buffer_reference, std430, buffer_reference_align = BYTES) restrict buffer NAME { TYPE at[]; }; \
    layout(buffer_reference, std430, buffer_reference_align = BYTES) restrict readonly buffer Const##NAME { TYPE at[]; };

#define PARAMETERS layout(push_constant, std430) uniform Parameters
