/* workspace.h: the memory that compiled functions take while they run. */
#ifndef WORKSPACE_H_
#define WORKSPACE_H_

/* Hands the firmware's buffer to the library; comes before the first call of a compiled function. 0, or -1 with the error raised. */
int workspace_start(void);

/* Prints, for the table, the most bytes of the buffer that were in use at once. */
void workspace_print(void);

#endif /* WORKSPACE_H_ */
