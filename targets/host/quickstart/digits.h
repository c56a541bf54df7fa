/* digits.h: the digit pictures and the compiled networks that classify them. */
#ifndef FERRITE_DIGITS_H_
#define FERRITE_DIGITS_H_

/*
 * Loads both compiled networks, draws every picture with what the first network sees in it, and prints the accuracy
 * and the time per inference of each. Ends the program with a message when a call fails.
 */
void digits_run(const char* cnn_path, const char* mlp_path);

/* Shows the argument checks that the compiler has generated into the network: a picture of another shape. */
void digits_show_error(const char* cnn_path);

#endif /* FERRITE_DIGITS_H_ */
