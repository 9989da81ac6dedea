"""`dragoman-train treebank` on files as treebanks have them: what it makes of them, and that it spares them."""
from train_runs import TRAIN, run

TREE = "( (S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .)))"


def test_a_treebank_is_not_replaced_by_its_own_files(tmp_path):
    """PREFIX.gold would have other trees: without functions and traces."""
    (tmp_path / "a.gold").write_text(TREE + "\n")
    said = run([TRAIN, "treebank", str(tmp_path / "a.gold"), "--out", str(tmp_path / "a")], expect=2)
    assert "a.gold is an input: it would be overwritten; name another output" in said
    assert (tmp_path / "a.gold").read_text() == TREE + "\n" and len(list(tmp_path.iterdir())) == 1
