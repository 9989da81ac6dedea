#!/bin/sh
# Makes joint.model, bytes.model and expected_*.tsv in this folder with SentencePiece's own programs
# (Debian package sentencepiece, 0.1.97): sh make.sh. The same input gives the same bytes.
#   joint.model  400 pieces, control and user-defined symbols, unknown characters, the rules of rules.tsv
#   bytes.model  620 pieces, byte fallback, text unchanged except for white space
#   expected_*.tsv  text, pieces, ids and the text decoded from those ids, of each line of sentences.txt
set -eu
cd "$(dirname "$0")"
common="--input=corpus.txt --model_type=bpe --character_coverage=1 --eos_id=0 --unk_id=1 --bos_id=-1
    --pad_id=-1 --num_threads=1 --minloglevel=2"
# shellcheck disable=SC2086
spm_train $common --model_prefix=joint --vocab_size=400 --control_symbols='<2de>,<2fr>' \
    --user_defined_symbols='<sep>' --normalization_rule_tsv=rules.tsv
# shellcheck disable=SC2086
spm_train $common --model_prefix=bytes --vocab_size=620 --byte_fallback=true \
    --normalization_rule_name=identity
rm joint.vocab bytes.vocab
for name in joint bytes; do
    spm_encode --model=$name.model --output_format=piece sentences.txt > pieces.tmp
    spm_encode --model=$name.model --output_format=id sentences.txt > ids.tmp
    spm_decode --model=$name.model --input_format=id ids.tmp > decoded.tmp
    paste sentences.txt pieces.tmp ids.tmp decoded.tmp > expected_$name.tsv
    rm pieces.tmp ids.tmp decoded.tmp
done
