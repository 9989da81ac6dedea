#include "bench/step/options.h"

#include <stdlib.h>
#include <string.h>

bool bench_take_number(
    const struct bench_number *numbers, size_t n, const char *name, const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (end == text || *end || value == 0 || value > 1000000)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, numbers[i].name)) {
            *numbers[i].value = (uint32_t)value;
            return true;
        }
    return false;
}

bool bench_take_word(const struct bench_word *words, size_t n, const char *name, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, words[i].name)) {
            *words[i].value = text;
            return true;
        }
    return false;
}
