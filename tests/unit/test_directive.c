/* Lines with which site generators extend Markdown: they stay, and their words are translated, into
 * capitals here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "markup_trial.h"

/* The units' texts, with "|" after each. */
static void expect_units(const char *text, const char *want)
{
    struct dg_document d;
    struct dg_buffer all;
    dg_buffer_init(&all);
    assert_int_equal(dg_document_open(text, strlen(text), DG_FORMAT_MARKDOWN, &d, NULL), 0);
    for (size_t i = 0; i < d.n_units; i++) {
        dg_buffer_add(&all, d.text.data + d.units[i].at, d.units[i].end - d.units[i].at);
        dg_buffer_adds(&all, "|");
    }
    assert_string_equal(all.data ? all.data : "", want);
    dg_buffer_deinit(&all);
    dg_document_close(&d);
}

static void mkdocs(void **state)
{
    (void)state;
    trial_expect_markdown(
        "!!! note \"Two dogs\"\n\n    They *play*.\n\n    ```py\n    a = 1\n\n      b\n    ```\n\n"
        "    And sleep.\n\nAfter.\n",
        "!!! note \"TWO DOGS\"\n\n    THEY *PLAY*.\n\n    ```py\n    a = 1\n\n      b\n    ```\n\n"
        "    AND SLEEP.\n\nAFTER.\n");
    expect_units("!!! warning\n    A dog\n    plays.\n", "A dog plays.|");
    trial_expect_markdown("??? tip \"Click\"\n    Text.\n\n???+ tip inline end\n    Text.\n",
        "??? tip \"CLICK\"\n    TEXT.\n\n???+ tip inline end\n    TEXT.\n");
    trial_expect_markdown("=== \"C\"\n\n    Text.\n\n        code\n\n=== \"Not C\"\n\n    Text.\n",
        "=== \"C\"\n\n    TEXT.\n\n        code\n\n=== \"NOT C\"\n\n    TEXT.\n");
    trial_expect_markdown(
        "!!! example\n\n    === \"Left\"\n\n        A dog.\n\n        A cat.\n\n    Outside.\n\n"
        "        code\n",
        "!!! example\n\n    === \"LEFT\"\n\n        A DOG.\n\n        A CAT.\n\n    OUTSIDE.\n\n"
        "        code\n");
    trial_expect_markdown("--8<-- \"a dog.md\"\n\n[TOC]\n\nA dog\n{: .big }\n",
        "--8<-- \"a dog.md\"\n\n[TOC]\n\nA DOG\n{: .big }\n");
    /* Not directives. */
    trial_expect_markdown("!!! Great news\n\nText.\n", "!!! GREAT NEWS\n\nTEXT.\n");
    trial_expect_markdown("Text.\n\n    code\n", "TEXT.\n\n    code\n");
}

static void containers(void **state)
{
    (void)state;
    trial_expect_markdown(
        ":::note[My *big* dog]\n\nText.\n\n:::\n", ":::note[MY *BIG* DOG]\n\nTEXT.\n\n:::\n");
    expect_units(":::tip My dog\nText goes\non.\n:::\nAfter.\n", "My dog|Text goes on.|After.|");
    trial_expect_markdown(
        "::: details A dog {open}\nText\n::::\n", "::: details A DOG {open}\nTEXT\n::::\n");
    trial_expect_markdown("::: {.note title=\"A dog\" collapse=\"true\"}\nText.\n:::\n",
        "::: {.note title=\"A DOG\" collapse=\"true\"}\nTEXT.\n:::\n");
    trial_expect_markdown(
        "::: warning ::::::\nText.\n::::::\n", "::: warning ::::::\nTEXT.\n::::::\n");
    trial_expect_markdown("- A dog\n:::\n\nText\n", "- A DOG\n:::\n\nTEXT\n");
    trial_expect_markdown(":::image source=\"a dog\" alt-text=\"dog\":::\n",
        ":::image source=\"a dog\" alt-text=\"dog\":::\n");
    trial_expect_markdown(
        "(a-dog)=\n# A dog\n\n:::{admonition} A dog\n:class: tip\n:name: a\nText: a\n:::\n",
        "(a-dog)=\n# A DOG\n\n:::{admonition} A DOG\n:class: tip\n:name: a\nTEXT: A\n:::\n");
    trial_expect_markdown(":::{image} a dog\n:::\n", ":::{image} a dog\n:::\n");
}

/* A cell of a table is none, whatever it begins with. */
static void cells(void **state)
{
    (void)state;
    expect_units("export default a | b |\n|---|---|\n| --8<-- | \\begin{a} |\n",
        "export default a|b|\\begin{a}|");
    trial_expect_markdown("import a from 'b' | *c*\n---|---\n::: d | e\n",
        "IMPORT A FROM 'B' | *C*\n---|---\n::: D | E\n");
}

/* What stays over blank lines. */
static void kept(void **state)
{
    (void)state;
    trial_expect_markdown(
        "A dog\n\n{% highlight ruby %}\ndef a\n\n  puts *a*\n\nend\n{% endhighlight %}"
        "\nA cat\n\nA house\n",
        "A DOG\n\n{% highlight ruby %}\ndef a\n\n  puts *a*\n\nend\n{% endhighlight %}"
        "\nA CAT\n\nA HOUSE\n");
    trial_expect_markdown("{{< highlight go >}}\nfunc a\n\n- b\n{{< /highlight >}}\n\nA dog\n",
        "{{< highlight go >}}\nfunc a\n\n- b\n{{< /highlight >}}\n\nA DOG\n");
    trial_expect_markdown("A dog\n\n%%\na note\n\nmore\n%%\n\nA cat %%a note%% here\n",
        "A DOG\n\n%%\na note\n\nmore\n%%\n\nA CAT %%a note%% HERE\n");
    trial_expect_markdown("```\n{% highlight a %}\n```\n\nA dog\n\n{% endhighlight %}\n",
        "```\n{% highlight a %}\n```\n\nA DOG\n\n{% endhighlight %}\n");
    trial_expect_markdown(
        "{% highlight a %}\nno end\n\nA dog\n", "{% highlight a %}\nno end\n\nA DOG\n");
    trial_expect_markdown("A dog\n\n% a note\n% more\n\n+++\n\n+++ {\"a\": \"b\"}\n\nA 10\n% cat\n",
        "A DOG\n\n% a note\n% more\n\n+++\n\n+++ {\"a\": \"b\"}\n\nA 10\n% CAT\n");
    trial_expect_markdown("%%bash\n\nA dog\n\n%%time\n", "%%BASH\n\nA DOG\n\n%%TIME\n");
    trial_expect_markdown("% A title\n\nA dog\n", "% A TITLE\n\nA DOG\n");
}

static void others(void **state)
{
    (void)state;
    trial_expect_markdown("import A from '@a/dog';\nimport 'dog';\n\nA dog\n",
        "import A from '@a/dog';\nimport 'dog';\n\nA DOG\n");
    trial_expect_markdown("export const A = () => (\n  <b>\n    a dog\n  </b>\n);\n\nA dog\n",
        "export const A = () => (\n  <b>\n    a dog\n  </b>\n);\n\nA DOG\n");
    trial_expect_markdown(
        "{/* a dog */}\n\nimport taxes are high.\n", "{/* a dog */}\n\nIMPORT TAXES ARE HIGH.\n");
    trial_expect_markdown("{{< tabs >}}\n{{% tab \"a b\" %}}\nA dog\n{{% /tab %}}\n",
        "{{< tabs >}}\n{{% tab \"a b\" %}}\nA DOG\n{{% /tab %}}\n");
    expect_units("{% include a.html %}\nA dog\n{% if a %} {% endif %}\n", "A dog|");
    trial_expect_markdown("\\begin{align}\na = b \\text{ a_dog_is }\n\\end{align}\n\nA dog\n",
        "\\begin{align}\na = b \\text{ a_dog_is }\n\\end{align}\n\nA DOG\n");
    trial_expect_markdown(
        "+-----+\n| dog |\n+-----+\n\nA dog\n", "+-----+\n| dog |\n+-----+\n\nA DOG\n");
    expect_units("Dog\n:   An *animal*\n    that barks.\n\n    It\n    plays.\n\nCat\n: Another\n",
        "Dog|An animal that barks.|It plays.|Cat|Another|");
    trial_expect_markdown("*A :\n: b* c\n", "*A :\n: B* C\n");
    trial_expect_markdown("\\:::note a\n", "\\:::NOTE A\n");
}

/* Code of a footnote stays. */
static void footnotes(void **state)
{
    (void)state;
    trial_expect_markdown(
        "[^1]: A dog.\n\n    ```sh\n    if a; then\n      git fetch\n\n      b\n    fi\n    ```\n\n"
        "    A cat.\n\n        code\n",
        "[^1]: A DOG.\n\n    ```sh\n    if a; then\n      git fetch\n\n      b\n    fi\n    ```\n\n"
        "    A CAT.\n\n        code\n");
    trial_expect_markdown("[^1]: A dog.\n\n    ```a``` dog\n", "[^1]: A DOG.\n\n    ```a``` DOG\n");
    trial_expect_markdown("[^1]: A dog.\n\n    ```\n    never closed\n",
        "[^1]: A DOG.\n\n    ```\n    never closed\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mkdocs),
        cmocka_unit_test(containers),
        cmocka_unit_test(cells),
        cmocka_unit_test(kept),
        cmocka_unit_test(others),
        cmocka_unit_test(footnotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
