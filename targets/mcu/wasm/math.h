/* math.h: math functions of generated code, for compilers without a C library; the program that
 * loads the module provides them. */
#ifndef MATH_H_
#define MATH_H_

float expf(float x);

#endif /* MATH_H_ */
