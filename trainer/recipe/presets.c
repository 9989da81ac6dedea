/* Recipes that the program knows by name, as changes to the defaults, which are the paper's base
 * model. */
#include "trainer/recipe/internal.h"

#include <string.h>
#include <sys/stat.h>

static const struct {
    const char *name, *json;
} presets[] = {
    /* For one CPU and some hundred thousand pairs: hours, not weeks. */
    {"small", "{\"vocabulary\":{\"size\":8000},"
              "\"model\":{\"encoder_layers\":3,\"decoder_layers\":3,\"d_model\":256,\"d_ff\":1024,"
              "\"heads\":4},"
              "\"training\":{\"updates\":20000,\"batch_tokens\":4096,\"warmup\":2000,\"checkpoint_"
              "updates\":500}}"},
    {"base", "{}"},
    {"big",
        "{\"model\":{\"d_model\":1024,\"d_ff\":4096,\"heads\":16},"
        "\"training\":{\"updates\":300000,\"dropout\":0.3,\"keep_last\":20,\"average_last\":20}}"},
    /* The paper, sections 5.1 to 5.4 and 6.1: a checkpoint every ten minutes, the last 5 (base) or
       20 (big) averaged; beam 4 and alpha 0.6, and the whole vocabulary. */
    {"paper-base-ende",
        "{\"vocabulary\":{\"size\":37000},"
        "\"training\":{\"updates\":100000,\"checkpoint_updates\":0,\"checkpoint_minutes\":10,"
        "\"average_compare\":false},"
        "\"validation\":{\"calibrate\":0,\"shortlist\":0}}"},
    {"paper-big-ende", "{\"vocabulary\":{\"size\":37000},"
                       "\"model\":{\"d_model\":1024,\"d_ff\":4096,\"heads\":16},"
                       "\"training\":{\"updates\":300000,\"dropout\":0.3,\"checkpoint_updates\":0,"
                       "\"checkpoint_minutes\":10,"
                       "\"keep_last\":20,\"average_last\":20,\"average_compare\":false},"
                       "\"validation\":{\"calibrate\":0,\"shortlist\":0}}"},
    {"paper-big-enfr", "{\"vocabulary\":{\"size\":32000},"
                       "\"model\":{\"d_model\":1024,\"d_ff\":4096,\"heads\":16},"
                       "\"training\":{\"updates\":300000,\"dropout\":0.1,\"checkpoint_updates\":0,"
                       "\"checkpoint_minutes\":10,"
                       "\"keep_last\":20,\"average_last\":20,\"average_compare\":false},"
                       "\"validation\":{\"calibrate\":0,\"shortlist\":0}}"},
};

const char *dg_recipe_preset(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].json;
    return NULL;
}

const char *dg_recipe_preset_names(void)
{
    return "small, base, big, paper-base-ende, paper-big-ende, paper-big-enfr";
}

struct dg_json *dg_recipe_preset_json(const char *name)
{
    struct stat st;
    if (stat(name, &st) == 0 && !S_ISDIR(st.st_mode))
        return NULL;
    struct dg_json *v = dg_recipe_preset(name) ? dg_json_new_object() : NULL;
    dg_json_set_string(v, "preset", name);
    return v;
}
