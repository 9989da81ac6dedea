/* 16-bit floats in plain C, rounding to nearest even. Any thread. The kernels have their own fast
 * unpacking; these functions write files and define the conversion. */
#ifndef DG_WEIGHTS_HALF_H
#define DG_WEIGHTS_HALF_H

#include <stdint.h>

/* IEEE binary16. Too large becomes infinity, NaN stays NaN (quiet, its upper payload kept). */
uint16_t dg_f16_from_f32(float x);
float dg_f16_to_f32(uint16_t h);

/* bfloat16: the upper half of binary32. */
uint16_t dg_bf16_from_f32(float x);
float dg_bf16_to_f32(uint16_t h);

#endif
