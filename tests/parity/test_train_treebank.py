"""`dragoman-train treebank` on files as treebanks have them: what it makes of them, and that it spares them."""
from train_runs import TRAIN, run

TREE = "( (S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .)))"


def test_a_treebank_is_not_replaced_by_its_own_files(tmp_path):
    """PREFIX.gold would have other trees: without functions and traces."""
    (tmp_path / "a.gold").write_text(TREE + "\n")
    said = run([TRAIN, "treebank", str(tmp_path / "a.gold"), "--out", str(tmp_path / "a")], expect=2)
    assert "a.gold is an input: it would be overwritten; name another output" in said
    assert (tmp_path / "a.gold").read_text() == TREE + "\n" and len(list(tmp_path.iterdir())) == 1


def treebank(folder, text, *more):
    """Return what is said, and the lines of the three files."""
    (folder / "t.mrg").write_text(text)
    said = run([TRAIN, "treebank", str(folder / "t.mrg"), "--out", str(folder / "t"), *more])
    return said, *((folder / f"t.{kind}").read_text().splitlines() for kind in ("words", "parse", "gold"))


LONG = """( (S
    (NP-SBJ
      (NP (NNP Pierre) (NNP Vinken) )
      (, ,)
      (ADJP
        (NP (CD 61) (NNS years) )
        (JJ old) ))
    (VP (MD will)
\t(VP (VB join)
        (NP (DT the) (NN board) )))
    (. .) ))
"""


def test_trees_over_several_lines(tmp_path):
    """The Penn Treebank's own files: inner lines that are trees by themselves, such as an NP, were taken, and the tree was not."""
    one = treebank(tmp_path, " ".join(LONG.split()) + "\n" + TREE + "\n")
    assert one[0] == "" and one[1] == ["Pierre Vinken , 61 years old will join the board .", "The cat sleeps ."]
    assert treebank(tmp_path, LONG + "\n" + TREE + "\n") == one
    assert treebank(tmp_path, ("\n" + LONG + TREE + "\n").replace("\n", "\r\n")) == one
    assert treebank(tmp_path, LONG + TREE + "\n\n" + LONG, "--lines", "2") == one
    assert treebank(tmp_path, " " + TREE + "\n  " + TREE + "\n")[1] == ["The cat sleeps ."] * 2


def test_a_broken_tree_takes_no_other_with_it(tmp_path):
    said, words, *_ = treebank(tmp_path, TREE + "\n" + LONG.replace("(. .) ))", "(. .)") + TREE + "\n" + TREE[:-2] + "\n" + TREE + "\n")
    assert words == ["The cat sleeps ."] * 3
    assert "2 trees of" in said and "cannot be read, left out: line 2: byte " in said and "it ends within a bracket" in said


def test_evalb_reads_trees_over_several_lines(tmp_path):
    """Gold trees over several lines, as in treebanks, and a parser's trees, one a line: only a gold tree's first line was read."""
    flat = " ".join(LONG.split()) + "\n" + TREE + "\n"
    (tmp_path / "flat").write_text(flat)
    (tmp_path / "long").write_text("\n" + LONG + "\n" + TREE + "\n  \n")
    for gold, parsed in (("long", "flat"), ("flat", "long"), ("flat", "flat")):
        said = run([TRAIN, "evalb", str(tmp_path / gold), str(tmp_path / parsed)])
        assert said.startswith("2 sentences, 100.00 % exact: recall 100.00"), said


def test_evalb_says_where_trees_differ(tmp_path):
    """A parser's empty line is no tree: the next one is compared with its gold tree, and has other words."""
    gold, parsed = tmp_path / "gold", tmp_path / "parsed"
    gold.write_text(LONG + TREE + "\n")
    parsed.write_text("\n" + TREE + "\n")
    said = run([TRAIN, "evalb", str(gold), str(parsed)], expect=2)
    assert f"tree 1 ({gold} line 1, {parsed} line 2): the gold tree has 11 words, the parsed one 4" in said
    gold.write_text(TREE + "\n" + LONG)
    said = run([TRAIN, "evalb", str(gold), str(parsed)], expect=1)
    assert f"{parsed} ends after 1 trees, but {gold} goes on" in said
    parsed.write_text(TREE + "\n(S (NP\n")
    assert f"{parsed} line 2: byte 6 of the tree: it ends within a bracket" in run([TRAIN, "evalb", str(gold), str(parsed)], expect=1)
