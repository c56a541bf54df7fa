/* Stands for Zephyr's header: the application calls what is registered. */
#define CONFIG_APPLICATION_INIT_PRIORITY 90
#define SYS_INIT(function, level, priority) int (*const init_##function)(void) = function
