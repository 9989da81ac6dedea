/* Placeholders in the strings of programs, and character references. Only for text/. Any thread. */
#ifndef DG_TEXT_PLACEHOLDER_H
#define DG_TEXT_PLACEHOLDER_H

#include <stddef.h>

/* Returns the end of the placeholder that begins at byte `at` of s, reading no further than `end`;
 * `at` if none begins there.
 *
 *   C, Python, Java, Objective-C   %s  %1$d  %-5.2f  %*s  %'d  %lld  %m  %@  %#@name@  %%
 *                                  %(name)s  %{name}  %<name>s
 *   boost, Symfony                 %1%  %|3$s|  %name%
 *   Python, C#, Rust, ICU          {0}  {name}  {}  {0:N2}  {name!r}
 *                                  {n, plural, one {#} other {#}}
 *   Mustache, Jinja, ERB           {{x}}  {{ x | y }}  {{#if a}}  {{{x}}}  {% if a %}  <%= x %>
 *   i18next, Vue                   $t(key)  @:key  @.lower:key
 *   browser extensions             $NAME$
 *   shells, Ruby, Laravel          ${name}  $name  #{name}  :name  :smile:  __NAME__
 *   newsletters                    *|FNAME|*  *|IF:AGE|*  %%First_Name%%
 *   icons of sites                 :material-account-circle:
 *   programs that translate        [[1]]  <<1>>  @@PH0@@  ##1##  $$1$$  ^^1^^  ⟦1⟧  【PH0】
 *   HTML                           &nbsp;  &#39;
 *   terminals                      the bell, U+0007, and sequences such as ESC [1m
 */
size_t dg_placeholder_end(const char *s, size_t at, size_t end);

#endif
