/* "--name VALUE" on the command line of the step benchmarks. One thread, main's. */
#ifndef DG_BENCH_STEP_OPTIONS_H
#define DG_BENCH_STEP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_number {
    const char *name;
    uint32_t *value;
};

struct bench_word {
    const char *name, **value;
};

/* If `name` is one of numbers[n], store the number in `text`, 1 to 1,000,000. False: it is not, or
 * the number is out of range. */
bool bench_take_number(
    const struct bench_number *numbers, size_t n, const char *name, const char *text);
/* If `name` is one of words[n], store `text`, borrowed. False: it is not. */
bool bench_take_word(const struct bench_word *words, size_t n, const char *name, const char *text);

#endif
