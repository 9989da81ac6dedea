/* Plans the feeder's items. Planner threads. */
#include "server/request/feeder_internal.h"
#include "server/request/planner.h"

/* Returns an item to the feeder, planned or failed (err). */
static void give_back(struct dg_item *item, const struct dg_error *err)
{
    item->failed = *err;
    dg_feeder_give(item->request->app->feeder, item);
}

/* Posts the item's work as it is: the feeder may be cancelling it at this moment. */
static void post(struct dg_item *item)
{
    dg_planner_post(item->request->app->planner, DG_STEP_PLAN, dg_item_bytes(item), &item->work);
}

/* The item's models are open, or cannot be opened: its first hop is planned once more. */
static void models_are_open(void *item)
{
    post(item);
}

static void plan_first(void *arg)
{
    struct dg_item *item = arg;
    struct dg_error err = {0};
    if (dg_request_check(item->request, &err) == DG_OK &&
        !dg_item_get_models(item, models_are_open, &err))
        return;
    if (err.code == DG_OK && dg_item_plan(item, &err) == DG_OK)
        dg_item_take(item, &err);
    give_back(item, &err);
}

static void plan_next(void *arg)
{
    struct dg_error err = {0};
    if (dg_item_plan_next(arg, &err) == DG_OK)
        dg_item_take(arg, &err);
    give_back(arg, &err);
}

void dg_feeder_plan(struct dg_item *item)
{
    item->work = (struct dg_work){.run = plan_first, .arg = item};
    post(item);
}

void dg_feeder_plan_next(struct dg_item *item)
{
    item->work = (struct dg_work){.run = plan_next, .arg = item};
    post(item);
}

bool dg_feeder_plan_cancel(struct dg_item *item)
{
    return dg_planner_cancel(
               item->request->app->planner, DG_STEP_PLAN, dg_item_bytes(item), &item->work) ||
           dg_item_cancel_opening(item);
}
