#include "model/engine/candidates.h"

#include "model/model_internal.h"

/* What a product with n outputs costs in units of one row and one output: reading an output's
 * weights takes as long as multiplying READ rows with them, and cutting a sentence's own rows out
 * of the matrix, for each of its steps, as long as CUT rows. Base model, int8, one Zen 5 core:
 * 0.032 ns a byte read, 0.0012 ns a product, 1 ns a byte cut in a sentence of 27 steps. */
enum { READ = 26, CUT = 26 };

static double cost(double n, double rows)
{
    return n * (READ + rows);
}

bool dg_candidates_pay_own_rows(const struct dg_engine *e, uint32_t n, uint32_t rows)
{
    const double sentences = e->n_sentences + 1.0, all = (double)e->rows_reserved + rows;
    /* Twice as cheap at least: sentences come one by one, and those that came first have their rows
     * cut out for nothing once the whole product is the cheaper one for all. */
    return 2 * sentences * cost(n, CUT + (double)rows) < cost(e->model->config.target_vocab, all);
}

/* Do products with own rows pay in this step? Sentences without such rows need the whole one. */
static bool own_rows_pay(const struct dg_engine *e)
{
    const double V = e->model->config.target_vocab;
    double own = 0, whole = 0, all = 0;
    for (const struct dg_live *s = e->live; s; s = s->next) {
        if (s->paused)
            continue;
        if (s->output && s->output->w)
            own += cost(s->output->n, s->beam.n_live);
        else
            whole += s->beam.n_live;
        all += s->beam.n_live;
    }
    return own + (whole > 0 ? cost(V, whole) : 0) < cost(V, all);
}

static struct dg_rows row(struct dg_rows r, uint32_t m)
{
    return (struct dg_rows){r.buf, r.offset + m * r.ld, r.ld};
}

/* The search's part of n logits of rows from first on. */
static struct dg_topk topk(const struct dg_engine *e, uint32_t first, size_t n)
{
    const size_t at = (size_t)first * e->k_max;
    return (struct dg_topk){.V = n,
        .k_max = e->k_max,
        .k = e->want + first,
        .force = e->force + first,
        .logprob = e->top_logprob + at,
        .ids = e->top_ids + at};
}

/* Logits of rows first .. end-1 for the whole vocabulary. */
static void multiply_all(struct dg_engine *e, struct dg_rows y, uint32_t first, uint32_t end)
{
    const struct dg_model *m = e->model;
    const struct dg_pass p = {.be = e->be, .config = &m->config, .M = end - first};
    if (first < end)
        dg_output_forward(&p, &m->params, row(y, first), row(e->logits, first));
}

/* Candidates of rows first .. end-1, whose sentences have no list. */
static void take_of_all(struct dg_engine *e, uint32_t first, uint32_t end)
{
    const struct dg_topk top = topk(e, first, e->model->config.target_vocab);
    if (first < end)
        e->be->ops->topk(e->be, &top, row(e->logits, first), end - first);
}

/* Candidates of a sentence's rows; own: the logits are those of the list alone. */
static void take_of_list(struct dg_engine *e, const struct dg_live *s, uint32_t first, bool own)
{
    const struct dg_output_rows *o = s->output;
    const uint32_t M = s->beam.n_live;
    struct dg_topk top = topk(e, first, o->n);
    top.only = own ? NULL : o->ids;
    for (uint32_t r = 0; r < M; r++) /* a prefix is in the shortlist */
        if (e->force[first + r] >= 0)
            e->force[first + r] = dg_output_rows_find(o, e->force[first + r]);
    e->be->ops->topk(e->be, &top, row(e->logits, first), M);
    for (uint32_t r = 0; r < M; r++)
        for (uint32_t i = 0; i < e->want[first + r]; i++)
            if (top.ids[r * e->k_max + i] >= 0) /* no number among the logits: no candidate */
                top.ids[r * e->k_max + i] = o->ids[top.ids[r * e->k_max + i]];
}

static void multiply_own(
    struct dg_engine *e, const struct dg_live *s, struct dg_rows y, uint32_t first)
{
    const struct dg_linear op = {.w = s->output->w, .bias = s->output->bias};
    e->be->ops->linear(e->be, &op, row(y, first), row(e->logits, first), s->beam.n_live);
}

/* Products: sentences that use the whole matrix share one, as far as their rows are adjacent. */
static void multiply(struct dg_engine *e, struct dg_rows y, bool own)
{
    uint32_t first = 0, M = 0;
    for (const struct dg_live *s = e->live; s; s = s->next) {
        if (s->paused) /* no row of this step is its */
            continue;
        if (own && s->output && s->output->w) {
            multiply_all(e, y, first, M);
            multiply_own(e, s, y, M);
            first = M + s->beam.n_live;
        }
        M += s->beam.n_live;
    }
    multiply_all(e, y, first, M);
}

void dg_candidates_find(struct dg_engine *e, struct dg_rows y)
{
    const bool own = own_rows_pay(e);
    uint32_t first = 0, M = 0;
    multiply(e, y, own);
    for (const struct dg_live *s = e->live; s; s = s->next) {
        if (s->paused)
            continue;
        if (s->output) {
            take_of_all(e, first, M);
            take_of_list(e, s, M, own && s->output->w);
            first = M + s->beam.n_live;
        }
        M += s->beam.n_live;
    }
    take_of_all(e, first, M);
}
