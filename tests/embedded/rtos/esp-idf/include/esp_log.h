/* Stands for ESP-IDF's header. */
#include <stdio.h>
#define ESP_LOGI(tag, ...) (printf("%s: ", tag), printf(__VA_ARGS__))
