/* openapi.yaml, built in, and what page/ makes of it: a page of HTML, and JSON (openapi.c,
 * docs_page.c and openapi_json.c are made by CMake). Constant; any thread. */
#ifndef DG_SERVER_API_OPENAPI_H
#define DG_SERVER_API_OPENAPI_H

#include <stddef.h>

extern const unsigned char dg_openapi[]; /* [dg_openapi_size] */
extern const size_t dg_openapi_size;
extern const unsigned char dg_openapi_json[]; /* [dg_openapi_json_size] */
extern const size_t dg_openapi_json_size;
extern const unsigned char dg_docs_page[]; /* [dg_docs_page_size] */
extern const size_t dg_docs_page_size;

#endif
