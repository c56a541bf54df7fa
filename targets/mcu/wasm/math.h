/* math.h: what generated code calls, for compilers that bring no C library; the program that loads the module has it. */
#ifndef MATH_H_
#define MATH_H_

float expf(float x);

#endif /* MATH_H_ */
