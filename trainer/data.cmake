# Preparing data, batching, scores, log and plot: the trainer's half that knows no gradients.
set(DG_TRAINER_DATA_SOURCES
    bleu.c bleu_tokenize.c chrf.c clean.c corpus.c dataset.c dataset_order.c dataset_part.c dedup.c draw.c
    dictionary.c hash.c intern.c langcheck.cc log.c ngram.c pairs.c plot.c prepare.c prepare_clean.c prepare_encode.c prepare_inputs.c
    lexicon.c link_file.c links.c prepare_links.c prepare_lock.c prepare_dictionary.c prepared.c progress.c recipe.c recipe_data.c recipe_fields.c
    recipe_presets.c recipe_use.c shard.c subword.c
    variants.c vocabulary.c)

pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
set(DG_TRAINER_DATA_LIBS PkgConfig::XXHASH PkgConfig::ZLIB)

# CLD2 has no pkg-config file. Without it a recipe that asks for the language check is refused.
find_path(DG_CLD2_INCLUDE cld2/public/compact_lang_det.h)
find_library(DG_CLD2_LIBRARY cld2)
if(DG_CLD2_INCLUDE AND DG_CLD2_LIBRARY)
  set_source_files_properties(langcheck.cc PROPERTIES COMPILE_DEFINITIONS DG_HAVE_CLD2
      INCLUDE_DIRECTORIES ${DG_CLD2_INCLUDE})
  list(APPEND DG_TRAINER_DATA_LIBS ${DG_CLD2_LIBRARY})
else()
  message(STATUS "CLD2 not found (Debian: libcld2-dev): dragoman-train is built without the language check")
endif()
