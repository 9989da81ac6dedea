#include "trainer/recipe/internal.h"

#include <string.h>

/* Conventions are the paper's; training is for one machine. */
static const char defaults[] =
    "{\"name\":\"model\",\"init\":\"\",\"init_vocabulary\":\"keep\",\"init_layers\":\"keep\","
    "\"variants\":{\"upper\":0,\"no_full_stop\":0,\"joined\":0,\"numbers\":0,\"words\":0,\"mask\":0,\"signs\":0},"
    "\"cleaning\":{\"min_chars\":1,\"max_chars\":3000,\"max_char_ratio\":3,\"max_pieces\":256,"
    "\"max_piece_ratio\":4,"
    "\"drop_identical\":true,\"require_letters\":true,\"deduplicate\":true,\"remove_overlap\":true,\"near_copies\":0,"
    "\"language_check\":true,\"max_dropped\":0.2,\"check_relation\":true},"
    "\"vocabulary\":{\"from\":\"\",\"size\":32000,\"joint\":true,\"character_coverage\":0.9999,"
    "\"byte_fallback\":true,\"normalization\":\"nmt_nfkc\",\"sample_lines\":2000000,"
    "\"characters\":\"frequent\",\"reserved\":0},"
    "\"model\":{\"encoder_layers\":6,\"decoder_layers\":6,\"d_model\":512,\"d_ff\":2048,\"heads\":"
    "8,\"d_k\":0,"
    "\"d_v\":0,\"activation\":\"relu\",\"positions\":\"paper\",\"first_position\":0,\"max_"
    "positions\":0,"
    "\"norm_epsilon\":1e-6,\"attention_bias\":false,\"output_bias\":false,\"tied_embeddings\":true,"
    "\"tied_output\":true,\"decoder_start\":\"zero\",\"source_eos\":true},"
    "\"training\":{\"updates\":100000,\"batch_tokens\":25000,\"batch_mode\":\"sum\",\"micro_"
    "tokens\":0,"
    "\"shuffle_window\":1000000,\"warmup\":4000,\"lr_scale\":1,\"cooldown\":0,\"beta1\":0.9,"
    "\"beta2\":0.98,"
    "\"epsilon\":1e-9,\"weight_decay\":0,\"label_smoothing\":0.1,\"dropout\":0.1,\"attention_"
    "dropout\":0,"
    "\"relu_dropout\":0,\"bpe_dropout\":0,\"clip\":0,\"ema\":0,\"checkpoint_updates\":1000,"
    "\"checkpoint_minutes\":0,\"keep_last\":5,\"keep_best\":1,\"average_last\":5,\"average_best\":"
    "0,"
    "\"patience\":0,\"stop_metric\":\"bleu\",\"log_updates\":50,\"seed\":1,\"threads\":0},"
    "\"guided_alignment\":{\"weight\":0,\"layer\":0,\"head\":1},"
    "\"validation\":{\"every\":0,\"lines\":0,\"samples\":3,\"beam\":4,\"alpha\":0.6,\"extra_"
    "length\":50,\"calibrate\":300},"
    "\"output\":{\"type\":\"f32\",\"capitals\":\"as_written\",\"licence\":\"\",\"description\":"
    "\"\"}}";

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
       20 (big) averaged. */
    {"paper-base-ende",
        "{\"vocabulary\":{\"size\":37000},"
        "\"training\":{\"updates\":100000,\"checkpoint_updates\":0,\"checkpoint_minutes\":10}}"},
    {"paper-big-ende", "{\"vocabulary\":{\"size\":37000},"
                       "\"model\":{\"d_model\":1024,\"d_ff\":4096,\"heads\":16},"
                       "\"training\":{\"updates\":300000,\"dropout\":0.3,\"checkpoint_updates\":0,"
                       "\"checkpoint_minutes\":10,"
                       "\"keep_last\":20,\"average_last\":20}}"},
    {"paper-big-enfr", "{\"vocabulary\":{\"size\":32000},"
                       "\"model\":{\"d_model\":1024,\"d_ff\":4096,\"heads\":16},"
                       "\"training\":{\"updates\":300000,\"dropout\":0.1,\"checkpoint_updates\":0,"
                       "\"checkpoint_minutes\":10,"
                       "\"keep_last\":20,\"average_last\":20}}"},
};

const char *dg_recipe_defaults(void)
{
    return defaults;
}

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
