/* Text of YAML without quotation marks. Any thread. */
#ifndef DG_TEXT_FORMAT_YAML_PLAIN_H
#define DG_TEXT_FORMAT_YAML_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* True if s[n] is a string: no number, date, truth value, null or symbol of Ruby. */
bool dg_yaml_plain_is_string(const char *s, size_t n);

/* True if the string s[n] may be written so. flow: within [ ] or { }. */
bool dg_yaml_plain_fits(const char *s, size_t n, bool flow);

#endif
