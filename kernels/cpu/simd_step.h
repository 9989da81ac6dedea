/* A cached step's attention at the vector width of the file that includes this (after
 * simd_attention.h): one query row over all heads. Keys and values of all heads are side by side in
 * a row, so a walk over the rows that does every head in turn reads each cache line once, in order,
 * and works out each row's address once. Every chain is that of scores, exp_sum and weigh: a row
 * has the same bits as in a longer segment. */

enum { STEP_VECTORS = 8 }; /* sums held at once while values are weighed */

/* s[h,j0+j] = q_h k_{h,j0+j}: eight keys at a time, past the end the last one again. */
static inline __attribute__((always_inline)) void step_scores(
    const bool half, const struct dg_attn_step *t)
{
    const size_t element = half ? sizeof(uint16_t) : sizeof(float), dim = t->k.dim;
    for (size_t j = 0; j < t->n; j += 8) {
        const void *key[8];
        for (size_t u = 0; u < 8; u++)
            key[u] = kv_row(&t->k, j + u < t->n ? j + u : t->n - 1);
        for (size_t h = 0; h < t->H; h++) {
            score8(half, t->q + h * dim, key, dim, t->s + h * t->lds + j);
            for (size_t u = 0; u < 8; u++)
                key[u] = (const char *)key[u] + dim * element;
        }
    }
}

/* Scores of head h become probabilities. */
static inline void step_softmax(const struct dg_attn_step *t, size_t h)
{
    float sum[16] = {0}, *s = t->s + h * t->lds;
    exp_sum(s, t->n, max_of(s, t->n), t->scale, sum);
    for (size_t width = 8; width; width /= 2)
        for (size_t l = 0; l < width; l++)
            sum[l] += sum[l + width];
    scale_by(s, t->n, 1.0f / sum[0]);
}

/* Columns d .. of nh heads of nv vectors each; nh and nv are constants where this is called. */
static inline __attribute__((always_inline)) void step_weigh_heads(const bool half, const int nh,
    const int nv, const struct dg_attn_step *t, size_t h, const void *const row[RUN], size_t j0,
    size_t n)
{
    const size_t d = h * t->v.dim;
    const float *p[STEP_VECTORS];
    vec sum[STEP_VECTORS];
#pragma GCC unroll 8
    for (int i = 0; i < nh; i++)
        p[i] = t->s + (h + (size_t)i) * t->lds + j0;
#pragma GCC unroll 8
    for (int u = 0; u < nh * nv; u++)
        sum[u] = v_load(t->out + d + (size_t)(u * VL));
    for (size_t j = 0; j < n; j++)
#pragma GCC unroll 8
        for (int i = 0; i < nh; i++) {
            vec a = v_all(p[i][j]);
#pragma GCC unroll 8
            for (int u = 0; u < nv; u++)
                sum[i * nv + u] = v_fma(
                    a, kv_load(half, row[j], d + (size_t)((i * nv + u) * VL)), sum[i * nv + u]);
        }
#pragma GCC unroll 8
    for (int u = 0; u < nh * nv; u++)
        v_store(t->out + d + (size_t)(u * VL), sum[u]);
}

/* All heads over n rows. */
static inline __attribute__((always_inline)) void step_weigh_run(
    const bool half, const struct dg_attn_step *t, const void *const row[RUN], size_t j0, size_t n)
{
    const size_t nv = t->v.dim / VL;
    size_t h = 0;
    if (nv == 4)
        for (; h + 2 <= t->H; h += 2)
            step_weigh_heads(half, 2, 4, t, h, row, j0, n);
    if (nv == 2)
        for (; h + 4 <= t->H; h += 4)
            step_weigh_heads(half, 4, 2, t, h, row, j0, n);
    for (; h < t->H; h++) {
        if (nv == 8) {
            step_weigh_heads(half, 1, 8, t, h, row, j0, n);
            continue;
        }
        struct dg_attn_tile one = {
            .n_q = 1, .s = t->s + h * t->lds + j0, .lds = t->lds, .out = t->out + h * t->v.dim};
        const void *head[RUN];
        for (size_t j = 0; j < n; j++)
            head[j] =
                (const char *)row[j] + h * t->v.dim * (half ? sizeof(uint16_t) : sizeof(float));
        weigh_rows(half, 1, 64 / VL, &one, head, n, t->v.dim);
    }
}

static inline __attribute__((always_inline)) void step_weigh(
    const bool half, const struct dg_attn_step *t)
{
    const void *row[RUN];
    memset(t->out, 0, t->H * t->v.dim * sizeof *t->out);
    for (size_t j0 = 0; j0 < t->n; j0 += RUN) {
        size_t n = t->n - j0 < RUN ? t->n - j0 : RUN;
        for (size_t j = 0; j < n; j++)
            row[j] = kv_row(&t->v, j0 + j);
        step_weigh_run(half, t, row, j0, n);
    }
}

static void step(const struct dg_attn_step *t)
{
    if (t->k.halves)
        step_scores(true, t);
    else
        step_scores(false, t);
    for (size_t h = 0; h < t->H; h++)
        step_softmax(t, h);
    if (t->v.halves)
        step_weigh(true, t);
    else
        step_weigh(false, t);
}
