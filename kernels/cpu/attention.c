/* Scaled dot-product attention (paper, eq. 1) of query rows over a view of keys and values.
 * A unit of work is one head of one segment (several heads for cached steps). Its queries are taken
 * in groups of DG_ATTN_QUERIES, and each group walks the keys and values once. Scores of up to
 * DG_ATTN_KEYS keys are held; beyond that they are computed three times (maximum, sum, weighting)
 * with the same summation chains, so that a row's bits never depend on the path and nothing is
 * allocated. Summation order: q·k over Dk by the kernel's lanes; exponentials into 16 lanes by key;
 * values in the order of the keys. */
#include "kernels/cpu/internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { GATHER_QUERIES = 16 }; /* from so many queries on, copying keys and values together pays */

struct job {
    const struct dg_cpu *cpu;
    const struct dg_attention *op;
    struct dg_rows q, out;
    /* every segment is a cached step's; a unit may then be several heads */
    bool steps;
    /* units per segment */
    size_t parts;
    /* units of work in all, and per piece */
    size_t units, share;
    /* floats of scratch space per piece */
    size_t room;
};

/* A group of queries being processed. */
struct group {
    const struct job *j;
    const struct dg_attn_seg *seg;
    /* head; first query of the group within the segment */
    size_t h, i0;
    /* keys that each query may see */
    size_t seen[DG_ATTN_QUERIES];
    float max[DG_ATTN_QUERIES], inv[DG_ATTN_QUERIES];
    float sum[DG_ATTN_QUERIES][16];
    struct dg_kv k, v;
    struct dg_attn_tile t;
};

/* Returns how many keys of the run j0 .. j0+n-1 query i sees. */
static size_t count_seen(const struct group *g, size_t i, size_t j0, size_t n)
{
    if (g->seen[i] <= j0)
        return 0;
    return g->seen[i] - j0 < n ? g->seen[i] - j0 : n;
}

static void score_run(struct group *g, size_t j0, size_t n)
{
    g->j->cpu->isa->scores(&g->t, &g->k, j0, n);
}

static void find_max(struct group *g, size_t j0, size_t n)
{
    for (size_t i = 0; i < g->t.n_q; i++) {
        float m = g->j->cpu->isa->max(g->t.s + i * g->t.lds, count_seen(g, i, j0, n));
        if (!(g->max[i] >= m)) /* so that NaN propagates */
            g->max[i] = m;
    }
}

/* Turns scores into exponentials; also adds them to sum, unless it is NULL. */
static void exponentiate(struct group *g, size_t j0, size_t n, float (*sum)[16])
{
    float unused[16], scale = 1.0f / sqrtf((float)g->j->op->Dk);
    for (size_t i = 0; i < g->t.n_q; i++)
        g->j->cpu->isa->exp_sum(g->t.s + i * g->t.lds, count_seen(g, i, j0, n), g->max[i], scale,
            sum ? sum[i] : unused);
}

static void invert_sums(struct group *g)
{
    for (size_t i = 0; i < g->t.n_q; i++) {
        float *s = g->sum[i];
        for (size_t width = 8; width; width /= 2)
            for (size_t l = 0; l < width; l++)
                s[l] += s[l + width];
        g->inv[i] = 1.0f / s[0];
    }
}

/* Turns exponentials into probabilities, stores these if op->probs asks for them, and applies
 * dropout. */
static void normalise(struct group *g, size_t j0, size_t n)
{
    const struct dg_attention *op = g->j->op;
    const struct dg_cpu_isa *isa = g->j->cpu->isa;
    for (size_t i = 0; i < g->t.n_q; i++) {
        float *s = g->t.s + i * g->t.lds;
        size_t seen = count_seen(g, i, j0, n);
        isa->scale(s, seen, g->inv[i]);
        if (op->probs.buf) {
            float *p = op->probs.buf->data + op->probs.offset + g->seg->probs +
                       (g->h * g->seg->n_q + g->i0 + i) * g->seg->n_k + j0;
            memcpy(p, s, seen * sizeof *p);
            memset(p + seen, 0, (n - seen) * sizeof *p);
        }
        if (op->drop)
            isa->dropout(s, seen,
                dg_mask_of(op->drop, g->seg->q0 + g->i0 + i, (uint32_t)(g->h * 2048 + j0)));
    }
}

/* Keys that every query of the group sees are walked together; the triangle of a causal group is
 * walked query by query. */
static void weigh_run(struct group *g, size_t j0, size_t n)
{
    const struct dg_cpu_isa *isa = g->j->cpu->isa;
    size_t common = n;
    for (size_t i = 0; i < g->t.n_q; i++) {
        size_t seen = count_seen(g, i, j0, n);
        common = seen < common ? seen : common;
    }
    isa->weigh(&g->t, &g->v, j0, common);
    for (size_t i = 0; i < g->t.n_q; i++) {
        size_t seen = count_seen(g, i, j0, n);
        if (seen == common)
            continue;
        struct dg_attn_tile one = g->t;
        one.n_q = 1;
        one.s += i * g->t.lds + common;
        one.out += i * g->t.ldo;
        isa->weigh(&one, &g->v, j0 + common, seen - common);
    }
}

static void attend(struct group *g, size_t n_k)
{
    bool once = n_k <= DG_ATTN_KEYS;
    for (size_t j0 = 0; j0 < n_k; j0 += DG_ATTN_KEYS) {
        size_t n = n_k - j0 < DG_ATTN_KEYS ? n_k - j0 : DG_ATTN_KEYS;
        score_run(g, j0, n);
        find_max(g, j0, n);
    }
    for (size_t j0 = 0; j0 < n_k; j0 += DG_ATTN_KEYS) {
        size_t n = n_k - j0 < DG_ATTN_KEYS ? n_k - j0 : DG_ATTN_KEYS;
        if (!once)
            score_run(g, j0, n);
        exponentiate(g, j0, n, g->sum);
    }
    invert_sums(g);
    for (size_t j0 = 0; j0 < n_k; j0 += DG_ATTN_KEYS) {
        size_t n = n_k - j0 < DG_ATTN_KEYS ? n_k - j0 : DG_ATTN_KEYS;
        if (!once) {
            score_run(g, j0, n);
            exponentiate(g, j0, n, NULL);
        }
        normalise(g, j0, n);
        weigh_run(g, j0, n);
    }
}

static struct dg_kv view_head(struct dg_rows r, const struct dg_attn_seg *seg, size_t h, size_t dim)
{
    size_t at = r.offset + h * dim;
    struct dg_kv kv = {.ld = r.ld, .k0 = seg->k0, .dim = dim, .slots = seg->slots};
    if (r.buf->halves)
        kv.halves = r.buf->halves + at;
    else
        kv.data = r.buf->data + at;
    return kv;
}

/* Copies one head's rows next to each other. As parts of wider rows, often a power of two apart,
 * few of them would fit the first-level cache at once. */
static struct dg_kv gather(
    const struct dg_cpu_isa *isa, const struct dg_kv *kv, size_t n, float *to)
{
    for (size_t j = 0; j < n; j++) {
        size_t at = (kv->slots ? (size_t)kv->slots[j] : kv->k0 + j) * kv->ld;
        if (kv->halves)
            isa->widen(to + j * kv->dim, kv->halves + at, kv->dim);
        else
            memcpy(to + j * kv->dim, kv->data + at, kv->dim * sizeof *to);
    }
    return (struct dg_kv){.data = to, .ld = kv->dim, .dim = kv->dim};
}

/* Returns the distance in floats between rows of a segment's scores when all keys' scores are held
 * at once. */
static size_t lds_of(const struct dg_attn_seg *seg)
{
    return (seg->n_k + 15) / 16 * 16;
}

/* All queries of one head of one segment. */
static void run_unit(const struct job *j, const struct dg_attn_seg *seg, size_t h, float *scratch)
{
    const struct dg_attention *op = j->op;
    struct group g = {.j = j, .seg = seg, .h = h};
    g.k = view_head(op->k, seg, h, op->Dk);
    g.v = view_head(op->v, seg, h, op->Dv);
    size_t lds = seg->n_k < DG_ATTN_KEYS ? lds_of(seg) : DG_ATTN_KEYS;
    float *spare = scratch + DG_ATTN_QUERIES * lds;
    if (seg->n_q >= GATHER_QUERIES &&
        DG_ATTN_QUERIES * lds + seg->n_k * (op->Dk + op->Dv) <= j->room) {
        g.k = gather(j->cpu->isa, &g.k, seg->n_k, spare);
        g.v = gather(j->cpu->isa, &g.v, seg->n_k, spare + seg->n_k * op->Dk);
    }
    for (g.i0 = 0; g.i0 < seg->n_q; g.i0 += DG_ATTN_QUERIES) {
        size_t n_q = seg->n_q - g.i0 < DG_ATTN_QUERIES ? seg->n_q - g.i0 : DG_ATTN_QUERIES,
               most = 0;
        g.t = (struct dg_attn_tile){n_q, dg_rows_at(j->q, seg->q0 + g.i0) + h * op->Dk, j->q.ld,
            scratch, lds, dg_rows_at(j->out, seg->q0 + g.i0) + h * op->Dv, j->out.ld};
        for (size_t i = 0; i < n_q; i++) {
            g.seen[i] = seg->causal ? seg->n_k - seg->n_q + g.i0 + i + 1 : seg->n_k;
            most = g.seen[i] > most ? g.seen[i] : most;
            g.max[i] = -INFINITY;
            memset(g.t.out + i * g.t.ldo, 0, op->Dv * sizeof *g.t.out);
        }
        memset(g.sum, 0, sizeof g.sum);
        /* Probabilities are written for all n_k keys. */
        attend(&g, op->probs.buf ? seg->n_k : most);
    }
}

/* Returns whether a segment has few queries, which see every key and whose scores fit the scratch
 * space. */
static bool is_step(const struct job *j, const struct dg_attn_seg *seg)
{
    return seg->n_q <= DG_ATTN_QUERIES && (!seg->causal || seg->n_q == 1) &&
           seg->n_q * lds_of(seg) * j->op->H <= DG_ATTN_QUERIES * DG_ATTN_KEYS;
}

/* All queries of a segment, heads h0 .. h1 - 1 at once. next: the segment after it, to prefetch, or
 * NULL. */
static void run_step(const struct job *j, const struct dg_attn_seg *seg,
    const struct dg_attn_seg *next, size_t part, float *scratch)
{
    const size_t h0 = j->op->H * part / j->parts, h1 = j->op->H * (part + 1) / j->parts;
    const struct dg_attention *op = j->op;
    const size_t lds = lds_of(seg), n_q = seg->n_q, n_k = seg->n_k;
    struct dg_attn_step t = {.n_q = n_q,
        .H = h1 - h0,
        .n = n_k,
        .q = dg_rows_at(j->q, seg->q0) + h0 * op->Dk,
        .ldq = j->q.ld,
        .k = view_head(op->k, seg, h0, op->Dk),
        .v = view_head(op->v, seg, h0, op->Dv),
        .s = scratch,
        .lds = lds,
        .scale = 1.0f / sqrtf((float)op->Dk),
        .out = dg_rows_at(j->out, seg->q0) + h0 * op->Dv,
        .ldo = j->out.ld};
    if (next) {
        t.next = view_head(op->k, next, h0, op->Dk);
        t.n_next = next->n_k;
    }
    j->cpu->isa->step(&t);
    if (!op->probs.buf)
        return;
    float *probs = op->probs.buf->data + op->probs.offset + seg->probs + h0 * n_q * n_k;
    for (size_t r = 0; r < t.H * n_q; r++)
        memcpy(probs + r * n_k, scratch + r * lds, n_k * sizeof *probs);
}

static void run_piece(void *arg, size_t piece)
{
    const struct job *j = arg;
    float *scratch = j->cpu->scratch + piece * j->room;
    size_t end = (piece + 1) * j->share < j->units ? (piece + 1) * j->share : j->units;
    for (size_t u = piece * j->share; u < end; u++) {
        const struct dg_attn_seg *seg = &j->op->segs[u / j->parts];
        if (!seg->n_q || !seg->n_k)
            continue;
        size_t part = u % j->parts;
        if (j->steps)
            run_step(j, seg, u + j->parts < end ? seg + 1 : NULL, part, scratch);
        else
            run_unit(j, seg, part, scratch);
    }
}

/* Stores a cached step's own keys and values in their slots. */
static void keep_newest(struct dg_backend *be, const struct dg_attention *op)
{
    for (size_t i = 0; i < op->n_segs; i++) {
        const struct dg_attn_seg *s = &op->segs[i];
        assert(s->n_q == 1 && s->slots);
        const int32_t *slot = &s->slots[s->n_k - 1];
        const struct dg_rows k = dg_rows_from(op->new_k, s->q0), v = dg_rows_from(op->new_v, s->q0);
        dg_cpu_kv_write(be, k, op->k, slot, 1, (size_t)op->H * op->Dk);
        dg_cpu_kv_write(be, v, op->v, slot, 1, (size_t)op->H * op->Dv);
    }
}

void dg_cpu_attention(
    struct dg_backend *be, const struct dg_attention *op, struct dg_rows q, struct dg_rows out)
{
    const struct dg_cpu *cpu = dg_cpu_of(be);
    struct job j = {.cpu = cpu, .op = op, .q = q, .out = out, .parts = op->H};
    if (!op->n_segs || !op->H)
        return;
    if (op->new_k.buf)
        keep_newest(be, op);
    double cost = 0;
    j.steps = cpu->isa->step && !op->drop;
    for (size_t i = 0; i < op->n_segs; i++) {
        j.steps = j.steps && is_step(&j, &op->segs[i]);
        assert(!op->segs[i].causal || op->segs[i].n_q <= op->segs[i].n_k);
        cost += (double)op->segs[i].n_q * (double)op->segs[i].n_k * op->H * (op->Dk + op->Dv);
    }
    /* One walk over all heads reads memory best. Fewer segments than threads are split by heads, if
     * there is enough to share at all. */
    if (j.steps) {
        const bool share =
            op->n_segs < cpu->active && dg_cpu_pieces(cpu, op->n_segs * op->H, cost) > 1;
        j.parts = !share ? 1 : cpu->active < op->H ? cpu->active : op->H;
    }
    j.units = op->n_segs * j.parts;
    size_t pieces = dg_cpu_pieces(cpu, j.units, cost);
    j.share = (j.units + pieces - 1) / pieces;
    j.room = cpu->threads * DG_TASKS_PER_THREAD / pieces * DG_ATTN_QUERIES * DG_ATTN_KEYS;
    dg_pool_run(pieces > 1 ? cpu->pool : NULL, (j.units + j.share - 1) / j.share, run_piece, &j);
}
