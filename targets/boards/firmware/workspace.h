/* workspace.h: workspace memory of compiled functions. */
#ifndef WORKSPACE_H_
#define WORKSPACE_H_

/* Passes the firmware's buffer to the library; must precede the first call of a compiled function.
 * Returns 0, or -1 with an error raised. */
int workspace_start(void);

/* Prints the maximum use of the buffer for the table. */
void workspace_print(void);

#endif /* WORKSPACE_H_ */
