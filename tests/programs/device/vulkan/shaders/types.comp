#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) buffer X { int8_t x[]; };
layout(set = 0, binding = 1, std430) buffer Y { int64_t y[]; };
layout(set = 0, binding = 2, std430) buffer Z { float16_t z[]; };
layout(push_constant) uniform Scalars { int64_t n; };
void main() {
  uint i = gl_WorkGroupID.x * 8 + gl_LocalInvocationID.x;
  y[i] = int64_t(x[i]) + n;
  z[i] = float16_t(x[i]) * float16_t(0.5);
}
