#include "bench/sim/cost.h"

#include <float.h>
#include <string.h>

double dg_sim_curve_at(const struct dg_sim_curve *c, double x)
{
    if (c->n == 0)
        return 0;
    if (c->n == 1 || x <= c->x[0])
        return c->y[0];
    size_t i = 1;
    while (i + 1 < c->n && x > c->x[i])
        i++;
    double slope = (c->y[i] - c->y[i - 1]) / (c->x[i] - c->x[i - 1]);
    return c->y[i - 1] + slope * (x - c->x[i - 1]);
}

/* How many times as long a step takes as alone; constant after the last point. */
static double times_of(const struct dg_sim_cost *c, uint32_t workers, double rows)
{
    const struct dg_sim_company *in = NULL;
    for (size_t i = 0; i < c->n_busy && c->busy[i].workers <= workers; i++)
        in = &c->busy[i];
    if (!in)
        return 1;
    double last = in->times.x[in->times.n - 1];
    return dg_sim_curve_at(&in->times, rows < last ? rows : last);
}

uint64_t dg_sim_cost_step_ns(const struct dg_sim_cost *c, const struct dg_sim_step *s)
{
    double ns = 1e3 * c->outside_us, rows = (double)s->rows, tokens = (double)s->encode_tokens;
    if (s->rows > 0)
        ns += times_of(c, s->busy, rows) *
              (1e3 * dg_sim_curve_at(&c->step_us, rows) + c->cell_ns * (double)s->cells);
    if (s->encode_tokens > 0)
        ns += times_of(c, s->busy, tokens) *
              (1e3 * dg_sim_curve_at(&c->encode_us, tokens) + c->pair_ns * (double)s->encode_pairs);
    return ns > 1 ? (uint64_t)ns : 1; /* time must advance */
}

void dg_sim_cost_scale(struct dg_sim_cost *c, double times)
{
    for (size_t i = 0; i < c->step_us.n; i++)
        c->step_us.y[i] *= times;
    for (size_t i = 0; i < c->encode_us.n; i++)
        c->encode_us.y[i] *= times;
    c->cell_ns *= times;
    c->pair_ns *= times;
}

void dg_sim_cost_scale_busy(struct dg_sim_cost *c, double times)
{
    if (c->n_busy == 0)
        dg_sim_cost_scale(c, times);
    for (size_t k = 0; k < c->n_busy; k++)
        for (size_t i = 0; i < c->busy[k].times.n; i++)
            c->busy[k].times.y[i] *= times;
}

void dg_sim_cost_tilt(struct dg_sim_cost *c, double times)
{
    struct dg_sim_curve *s = &c->step_us;
    for (size_t i = 1; i < s->n; i++)
        s->y[i] *= 1 + (times - 1) * (s->x[i] - s->x[0]) / (s->x[s->n - 1] - s->x[0]);
}

static int read_curve(const struct dg_json *o, const char *key, const char *at, const char *value,
    struct dg_sim_curve *out, struct dg_error *err)
{
    const struct dg_json *x = dg_json_get(o, at), *y = dg_json_get(o, value);
    out->n = dg_json_length(x);
    if (dg_json_typeof(x) != DG_JSON_ARRAY || out->n == 0 || out->n > DG_SIM_POINTS ||
        dg_json_length(y) != out->n)
        return dg_error_field(err, DG_EFORMAT, key,
            "\"%s\" needs lists \"%s\" and \"%s\" of one length, 1..%d", key, at, value,
            DG_SIM_POINTS);
    for (size_t i = 0; i < out->n; i++) {
        out->x[i] = dg_json_number(dg_json_at(x, i));
        out->y[i] = dg_json_number(dg_json_at(y, i));
        if (!(out->y[i] >= 0) || (i > 0 && !(out->x[i] > out->x[i - 1])))
            return dg_error_field(err, DG_EFORMAT, key,
                "\"%s\": %s is to ascend, %s not to be negative", key, at, value);
    }
    return DG_OK;
}

static int read_busy(const struct dg_json *list, struct dg_sim_cost *out, struct dg_error *err)
{
    if (list && (dg_json_typeof(list) != DG_JSON_ARRAY || dg_json_length(list) > DG_SIM_COMPANIES))
        return dg_error_field(
            err, DG_EFORMAT, "busy", "\"busy\" is a list of at most %d", DG_SIM_COMPANIES);
    for (size_t i = 0; list && i < dg_json_length(list); i++) {
        const struct dg_json *o = dg_json_at(list, i);
        struct dg_sim_company *c = &out->busy[i];
        int64_t workers = dg_json_int(dg_json_get(o, "workers"));
        if (workers < 1 || workers > UINT32_MAX || (i > 0 && workers <= c[-1].workers))
            return dg_error_field(
                err, DG_EFORMAT, "busy", "\"busy\": \"workers\" is to be positive and ascend");
        c->workers = (uint32_t)workers;
        int rc = read_curve(o, "busy", "rows", "times", &c->times, err);
        if (rc != DG_OK)
            return rc;
        out->n_busy = i + 1;
    }
    return DG_OK;
}

int dg_sim_cost_read(const struct dg_json *o, struct dg_sim_cost *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    int rc = read_curve(dg_json_get(o, "step"), "step", "rows", "us", &out->step_us, err);
    if (rc == DG_OK)
        rc = read_curve(dg_json_get(o, "encode"), "encode", "tokens", "us", &out->encode_us, err);
    if (rc == DG_OK)
        rc = read_busy(dg_json_get(o, "busy"), out, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "cell_ns", 0, DBL_MAX, &out->cell_ns, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "pair_ns", 0, DBL_MAX, &out->pair_ns, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "outside_us", 0, DBL_MAX, &out->outside_us, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "request_us", 0, DBL_MAX, &out->request_us, err);
    return rc;
}

static int write_curve(
    const struct dg_sim_curve *c, struct dg_json *o, const char *at, const char *value)
{
    struct dg_json *x = dg_json_new_array(), *y = dg_json_new_array();
    int rc = 0;
    for (size_t i = 0; i < c->n; i++) {
        rc |= dg_json_append_take(x, dg_json_new_real(c->x[i]));
        rc |= dg_json_append_take(y, dg_json_new_real(c->y[i]));
    }
    rc |= dg_json_set_take(o, at, x);
    return rc | dg_json_set_take(o, value, y);
}

static int write_busy(const struct dg_sim_cost *c, struct dg_json *root)
{
    struct dg_json *list = dg_json_new_array();
    int rc = 0;
    for (size_t i = 0; i < c->n_busy; i++) {
        struct dg_json *o = dg_json_new_object();
        rc |= dg_json_set_int(o, "workers", c->busy[i].workers);
        rc |= write_curve(&c->busy[i].times, o, "rows", "times");
        rc |= dg_json_append_take(list, o);
    }
    return rc | dg_json_set_take(root, "busy", list);
}

int dg_sim_cost_write(const struct dg_sim_cost *c, struct dg_json *o)
{
    struct dg_json *step = dg_json_new_object(), *encode = dg_json_new_object();
    int rc = write_curve(&c->step_us, step, "rows", "us") |
             write_curve(&c->encode_us, encode, "tokens", "us");
    rc |= dg_json_set_take(o, "step", step) | dg_json_set_take(o, "encode", encode);
    rc |= dg_json_set_real(o, "cell_ns", c->cell_ns) | dg_json_set_real(o, "pair_ns", c->pair_ns);
    if (c->n_busy > 0)
        rc |= write_busy(c, o);
    rc |= dg_json_set_real(o, "outside_us", c->outside_us);
    return rc | dg_json_set_real(o, "request_us", c->request_us);
}
