/* Strings of PHP in files: what is a text, and how its translation is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/extract_trial.h"

static const struct example cases[] = {
    {"messages.php",
        "<?php\n"
        "\n"
        "// 'a' => 'dog',\n"
        "return [\n"
        "    'dogs' => 'Two dogs',\n"
        "    \"it's\" => 'It\\'s a \\\\ dog', # 'x',\n"
        "    'count' => \"{1} one :dog|[2,*] many\\n\\\"dogs\\\"\\t\\$five \\u{E4} \\w\",\n"
        "    'list' => ['Monday', array('a' => 'two' /* , */), ],\n"
        "    'joined' => 'one ' . 'dog', $a['dog'] => $a['dog'] ,\n"
        "    'url' => url('dog'), 'var' => \"one $dog\", 'more' => \"one {$dog}\", 'hex' => \"\\x41 dog\", 'e' => env('X', 'dog'), 'f' => F::a(['dog']),\n"
        "];\n"
        "$lang['x'] = 'dog';\n"
        "$dog = 'dog';\n"
        "$lang['y']['z'] = 'dog ' . 'x';\n"
        "$t = <<<EOT\n"
        "  'a' => 'dog',\n"
        "  EOT;\n"
        "$t['a'] = <<<'EOT'\n"
        "dog's\n"
        "EOT;\n"
        "if ($t == 'dog') { f('dog', \"dog\"); }\n"
        "?>\n"
        "'a' => 'dog',\n"
        "<?php $l[\"k\"] = \"dog\";",
        "<?php\n"
        "\n"
        "// 'a' => 'dog',\n"
        "return [\n"
        "    'dogs' => 'TWO DOGS',\n"
        "    \"it's\" => 'IT\\'S A \\\\ DOG', # 'x',\n"
        "    'count' => \"{1} ONE :dog|[2,*] MANY\\n\\\"DOGS\\\"\\t\\$five ä \\\\W\",\n"
        "    'list' => ['MONDAY', array('a' => 'TWO' /* , */), ],\n"
        "    'joined' => 'one ' . 'dog', $a['dog'] => $a['dog'] ,\n"
        "    'url' => url('dog'), 'var' => \"one $dog\", 'more' => \"one {$dog}\", 'hex' => \"\\x41 dog\", 'e' => env('X', 'dog'), 'f' => F::a(['DOG']),\n"
        "];\n"
        "$lang['x'] = 'DOG';\n"
        "$dog = 'dog';\n"
        "$lang['y']['z'] = 'dog ' . 'x';\n"
        "$t = <<<EOT\n"
        "  'a' => 'dog',\n"
        "  EOT;\n"
        "$t['a'] = <<<'EOT'\n"
        "dog's\n"
        "EOT;\n"
        "if ($t == 'dog') { f('dog', \"dog\"); }\n"
        "?>\n"
        "'a' => 'dog',\n"
        "<?php $l[\"k\"] = \"DOG\";",
        false},
    {"names.php", "<?php return ['a' => \"one $été dog\", 'b' => \"dog\"];",
        "<?php return ['a' => \"one $été dog\", 'b' => \"DOG\"];", false},
    {"icu.php", "<?php return ['n' => '{n, plural, one {# dog} other {# dog\\'s}}'];",
        "<?php return ['n' => '{n, plural, one {# DOG} other {# DOG\\'S}}'];", false},
    {"a.php", "<p>a dog</p><?php ['dog']", "<p>a dog</p><?php ['DOG']", false},
};

static void examples(void **state)
{
    (void)state;
    check_examples(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
