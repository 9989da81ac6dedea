/* Log-softmax's bodies at the vector width of the file that includes this (after simd_attention.h):
 * maxima of runs, the sum of exponentials, the indices of large values. Any thread. */

/* most[r] = largest of x[r * length .. ), `length` values each, the last run shorter. */
static void run_max(const float *x, size_t n, size_t length, float *most)
{
    for (size_t i = 0; i < n; i += length)
        most[i / length] = max_of(x + i, n - i < length ? n - i : length);
}

/* e^(x - max) as 2^y, for x <= max. Adding and subtracting 1.5 * 2^23 splits y into an integer n,
 * which the sum then holds in its last bits, and a rest within 1/2. A polynomial of degree 5
 * (minimax, 7.5e-8 relative error) gives 2^rest; n is added to its exponent. Results below 2^-126
 * become 2^-126. NaN propagates. */
static inline vec v_exp_below(vec x, vec max)
{
    const vec magic = v_all(12582912.0f);
    vec y = v_max(v_all(-126.0f), v_mul(v_sub(x, max), v_all(1.44269504f)));
    vec shifted = v_add(y, magic);
    vec rest = v_sub(y, v_sub(shifted, magic));
    vec p = v_all(1.3276471e-3f);
    p = v_fma(p, rest, v_all(9.675541e-3f));
    p = v_fma(p, rest, v_all(5.550713e-2f));
    p = v_fma(p, rest, v_all(2.402212e-1f));
    p = v_fma(p, rest, v_all(6.9314694e-1f));
    p = v_fma(p, rest, v_all(1.0000001f));
    return v_add_exponent(p, shifted);
}

/* Lanes hold at most 1024 / VL terms each before they are added in double. */
static double sum_exp(const float *x, size_t n, float max, const float *next)
{
    const vec top = v_all(max);
    double sum = 0;
    size_t i = 0;
    while (i + VL <= n) {
        size_t end = n - i < 1024 ? n : i + 1024;
        vec part = v_zero();
        for (; i + VL <= end; i += VL) {
            v_prefetch((uintptr_t)(next + i));
            part = v_add(part, v_exp_below(v_load(x + i), top));
        }
        sum += v_sum_double(part);
    }
    if (i < n) {
        vec_mask m = v_first(n - i);
        sum += v_sum_double(v_select(m, v_exp_below(v_load_part(x + i, m), top), v_zero()));
    }
    return sum;
}

/* The i with x[i] >= low, ascending, into at[n]; returns how many. */
static size_t at_least(const float *x, size_t n, float low, uint32_t *at)
{
    const vec bound = v_all(low);
    size_t found = 0, i = 0;
    for (; i + VL <= n; i += VL)
        for (uint32_t bits = v_at_least(v_load(x + i), bound); bits; bits &= bits - 1)
            at[found++] = (uint32_t)i + (uint32_t)__builtin_ctz(bits);
    for (; i < n; i++)
        if (x[i] >= low)
            at[found++] = (uint32_t)i;
    return found;
}
