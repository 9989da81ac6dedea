/* The page's files as bytes (C sources made by CMake from web/). Constant; any thread. */
#ifndef DG_SERVER_API_WEB_FILES_H
#define DG_SERVER_API_WEB_FILES_H

#include <stddef.h>

/* X(NAME, FILE, TYPE): NAME is web_ and FILE with a _ for every character that is not a letter. The
 * first is the page at /, the second the one at /status; server/CMakeLists.txt lists the same
 * files. */
#define DG_WEB_FILES(X)                                                                            \
    X(web_index_html, "index.html", "text/html; charset=utf-8")                                    \
    X(web_status_html, "status.html", "text/html; charset=utf-8")                                  \
    X(web_style_css, "style.css", "text/css; charset=utf-8")                                       \
    X(web_icon_svg, "icon.svg", "image/svg+xml")                                                   \
    X(web_app_js, "app.js", "text/javascript; charset=utf-8")                                      \
    X(web_api_js, "api.js", "text/javascript; charset=utf-8")                                      \
    X(web_attention_js, "attention.js", "text/javascript; charset=utf-8")                          \
    X(web_check_js, "check.js", "text/javascript; charset=utf-8")                                  \
    X(web_de_js, "de.js", "text/javascript; charset=utf-8")                                        \
    X(web_docs_css, "docs.css", "text/css; charset=utf-8")                                         \
    X(web_docs_js, "docs.js", "text/javascript; charset=utf-8")                                    \
    X(web_documents_js, "documents.js", "text/javascript; charset=utf-8")                          \
    X(web_elements_js, "elements.js", "text/javascript; charset=utf-8")                            \
    X(web_field_js, "field.js", "text/javascript; charset=utf-8")                                  \
    X(web_file_js, "file.js", "text/javascript; charset=utf-8")                                    \
    X(web_flags_js, "flags.js", "text/javascript; charset=utf-8")                                  \
    X(web_fr_js, "fr.js", "text/javascript; charset=utf-8")                                        \
    X(web_glossaries_js, "glossaries.js", "text/javascript; charset=utf-8")                        \
    X(web_history_js, "history.js", "text/javascript; charset=utf-8")                              \
    X(web_kept_js, "kept.js", "text/javascript; charset=utf-8")                                    \
    X(web_key_js, "key.js", "text/javascript; charset=utf-8")                                      \
    X(web_markdown_js, "markdown.js", "text/javascript; charset=utf-8")                            \
    X(web_models_js, "models.js", "text/javascript; charset=utf-8")                                \
    X(web_output_js, "output.js", "text/javascript; charset=utf-8")                                \
    X(web_sentence_js, "sentence.js", "text/javascript; charset=utf-8")                            \
    X(web_status_js, "status.js", "text/javascript; charset=utf-8")                                \
    X(web_tbx_js, "tbx.js", "text/javascript; charset=utf-8")                                      \
    X(web_text_js, "text.js", "text/javascript; charset=utf-8")                                    \
    X(web_words_js, "words.js", "text/javascript; charset=utf-8")

#define DG_WEB_DECLARE(name, file, type)                                                           \
    extern const unsigned char dg_##name[];                                                        \
    extern const size_t dg_##name##_size;
DG_WEB_FILES(DG_WEB_DECLARE)
#undef DG_WEB_DECLARE

#endif
