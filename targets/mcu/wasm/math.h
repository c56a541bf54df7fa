/* math.h: math functions of generated code, for compilers without a C library; the program that
 * loads the module provides them. */
#ifndef MATH_H_
#define MATH_H_

float cosf(float x);
float exp2f(float x);
float expf(float x);
float log2f(float x);
float powf(float x, float y);
float sinf(float x);
float sqrtf(float x);

#endif /* MATH_H_ */
