/* openapi.yaml, built in (openapi.c is made from it by CMake). Static storage. */
#ifndef DG_SERVER_OPENAPI_H
#define DG_SERVER_OPENAPI_H

#include <stddef.h>

extern const unsigned char dg_openapi[]; /* [dg_openapi_size] */
extern const size_t dg_openapi_size;

#endif
