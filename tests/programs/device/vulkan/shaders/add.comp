#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) buffer X { float x[]; };
layout(set = 0, binding = 1, std430) buffer Y { float y[]; };
#ifdef UNIFORM
layout(set = 0, binding = 2, std140) uniform Scalars { int n; };
#else
layout(push_constant) uniform Scalars { int n; };
#endif
void main() {
  uint i = gl_WorkGroupID.x * 8 + gl_LocalInvocationID.x;
  y[i] = x[i] + float(n);
}
