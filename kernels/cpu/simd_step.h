/* A cached step's attention at the vector width of the file that includes this (after
 * simd_attention.h): a few query rows over all heads. Keys and values of all heads are side by side
 * in a row, so a walk over the rows that does every head in turn reads each cache line once, in
 * order, and computes each row's address once; the queries of a beam share the walk. Every
 * summation chain is the same as in scores, exp_sum and weigh, so a row has the same bits as in a
 * longer segment. Any thread. */

enum { STEP_VECTORS = 8 }; /* sums held at once while one query's values are weighed */

/* What is prefetched while a group of eight keys is scored: these keys' values and the next eight
 * keys (after the last group, the first keys of the next segment). A row's lines are requested head
 * by head, so that they are a whole group ahead and there are never too many outstanding requests;
 * the hardware does not prefetch so many rows on its own. */
struct step_fetch {
    uintptr_t at[16];
    size_t n;
};

static inline void fetch_plan(struct step_fetch *f, const struct dg_attn_step *t, size_t j)
{
    f->n = 0;
    for (size_t u = 0; u < 8 && j + u < t->n; u++)
        f->at[f->n++] = (uintptr_t)kv_row(&t->v, j + u);
    for (size_t u = 0; u < 8 && j + 8 + u < t->n; u++)
        f->at[f->n++] = (uintptr_t)kv_row(&t->k, j + 8 + u);
    if (j + 8 >= t->n)
        for (size_t u = 0; u < 8 && u < t->n_next; u++)
            f->at[f->n++] = (uintptr_t)kv_row(&t->next, u);
}

/* Prefetches the next `bytes` bytes of each of those rows. */
static inline __attribute__((always_inline)) void fetch_some(struct step_fetch *f, size_t bytes)
{
    for (size_t u = 0; u < f->n; u++, f->at[u - 1] += bytes)
        for (size_t i = 0; i < bytes; i += 64)
            v_prefetch(f->at[u] + i);
}

/* s[h,i,j] = q_ih k_{h,j}: eight keys at a time; past the end it repeats the last key. */
static inline __attribute__((always_inline)) void step_scores(
    const bool half, const struct dg_attn_step *t)
{
    const size_t element = half ? sizeof(uint16_t) : sizeof(float), dim = t->k.dim;
    for (size_t j = 0; j < t->n; j += 8) {
        const void *key[8];
        struct step_fetch fetch;
        for (size_t u = 0; u < 8; u++)
            key[u] = kv_row(&t->k, j + u < t->n ? j + u : t->n - 1);
        fetch_plan(&fetch, t, j);
        float *s = t->s + j;
        for (size_t h = 0; h < t->H; h++) {
            fetch_some(&fetch, dim * element);
            for (size_t i = 0; i < t->n_q; i++, s += t->lds)
                score8(half, t->q + i * t->ldq + h * dim, key, dim, s);
            for (size_t u = 0; u < 8; u++)
                key[u] = (const char *)key[u] + dim * element;
        }
    }
}

/* Turns a row of scores into probabilities. */
static inline void step_softmax(const struct dg_attn_step *t, float *s)
{
    float sum[16] = {0};
    exp_sum(s, t->n, max_of(s, t->n), t->scale, sum);
    for (size_t width = 8; width; width /= 2)
        for (size_t l = 0; l < width; l++)
            sum[l] += sum[l + width];
    scale_by(s, t->n, 1.0f / sum[0]);
}

/* A run of keys: values j0 .. j0 + n - 1 of the segment. */
struct step_run {
    size_t j0, n;
    /* n of them, each [H,dim] */
    const void *row[RUN];
};

/* Weighs the values of nh heads from h on, of nv vectors each, for query i; nh and nv are constants
 * where this is called. */
static inline __attribute__((always_inline)) void step_weigh_heads(const bool half, const int nh,
    const int nv, const struct dg_attn_step *t, size_t i, size_t h, const struct step_run *run)
{
    const size_t d = h * t->v.dim;
    const float *p[STEP_VECTORS];
    float *out = t->out + i * t->ldo + d;
    vec sum[STEP_VECTORS];
#pragma GCC unroll 8
    for (int a = 0; a < nh; a++)
        p[a] = t->s + ((h + (size_t)a) * t->n_q + i) * t->lds + run->j0;
#pragma GCC unroll 8
    for (int u = 0; u < nh * nv; u++)
        sum[u] = v_load(out + (size_t)(u * VL));
    for (size_t j = 0; j < run->n; j++)
#pragma GCC unroll 8
        for (int a = 0; a < nh; a++) {
            vec x = v_all(p[a][j]);
#pragma GCC unroll 8
            for (int u = 0; u < nv; u++)
                sum[a * nv + u] = v_fma(x,
                    kv_load(half, run->row[j], d + (size_t)((a * nv + u) * VL)), sum[a * nv + u]);
        }
#pragma GCC unroll 8
    for (int u = 0; u < nh * nv; u++)
        v_store(out + (size_t)(u * VL), sum[u]);
}

/* Query i and head h as a tile whose columns are counted from the row's first head. */
static inline struct dg_attn_tile step_tile(
    const struct dg_attn_step *t, size_t i, size_t h, size_t j0)
{
    return (struct dg_attn_tile){.n_q = 1,
        .s = t->s + (h * t->n_q + i) * t->lds + j0,
        .lds = t->lds,
        .out = t->out + i * t->ldo,
        .ldo = t->ldo};
}

/* For any head size: nq queries from i on; nq is a constant where this is called. */
static inline __attribute__((always_inline)) void step_weigh_any(const bool half, const int nq,
    const int nv, const struct dg_attn_step *t, size_t i, size_t h, const struct step_run *run)
{
    const size_t dim = t->v.dim, at = h * dim * (half ? sizeof(uint16_t) : sizeof(float));
    struct dg_attn_tile tile = step_tile(t, i, h, run->j0);
    const void *head[RUN];
    for (size_t j = 0; j < run->n; j++)
        head[j] = (const char *)run->row[j] + at;
    tile.out += h * dim;
    weigh_rows(half, nq, nv, &tile, head, run->n, dim);
}

/* Query i over a run, all heads. */
static inline __attribute__((always_inline)) void step_weigh_one(
    const bool half, const struct dg_attn_step *t, size_t i, const struct step_run *run)
{
    const size_t nv = t->v.dim % VL ? 0 : t->v.dim / VL;
    size_t h = 0;
    if (nv == 4)
        for (; h + 2 <= t->H; h += 2)
            step_weigh_heads(half, 2, 4, t, i, h, run);
    if (nv == 2)
        for (; h + 4 <= t->H; h += 4)
            step_weigh_heads(half, 4, 2, t, i, h, run);
    for (; h < t->H; h++) {
        if (nv == 8)
            step_weigh_heads(half, 1, 8, t, i, h, run);
        else
            step_weigh_any(half, 1, 64 / VL, t, i, h, run);
    }
}

/* Queries i .. i + 3 over a run, all heads: each load of a value serves four. */
static inline __attribute__((always_inline)) void step_weigh_four(
    const bool half, const struct dg_attn_step *t, size_t i, const struct step_run *run)
{
    const size_t dim = t->v.dim;
    for (size_t h = 0; h < t->H; h++) {
        const struct dg_attn_tile tile = step_tile(t, i, h, run->j0);
        if (dim % (2 * VL))
            step_weigh_any(half, 4, 2, t, i, h, run);
        else
            for (size_t d = h * dim; d < (h + 1) * dim; d += 2 * VL)
                weigh_tile(half, 4, 2, &tile, run->row, run->n, d);
    }
}

static inline __attribute__((always_inline)) void step_weigh(
    const bool half, const struct dg_attn_step *t)
{
    struct step_run run;
    for (size_t i = 0; i < t->n_q; i++)
        memset(t->out + i * t->ldo, 0, t->H * t->v.dim * sizeof *t->out);
    for (run.j0 = 0; run.j0 < t->n; run.j0 += RUN) {
        size_t i = 0;
        run.n = t->n - run.j0 < RUN ? t->n - run.j0 : RUN;
        for (size_t j = 0; j < run.n; j++)
            run.row[j] = kv_row(&t->v, run.j0 + j);
        for (; i + 4 <= t->n_q; i += 4)
            step_weigh_four(half, t, i, &run);
        for (; i < t->n_q; i++)
            step_weigh_one(half, t, i, &run);
    }
}

static void step(const struct dg_attn_step *t)
{
    if (t->k.halves)
        step_scores(true, t);
    else
        step_scores(false, t);
    for (size_t r = 0; r < t->H * t->n_q; r++)
        step_softmax(t, t->s + r * t->lds);
    if (t->v.halves)
        step_weigh(true, t);
    else
        step_weigh(false, t);
}
