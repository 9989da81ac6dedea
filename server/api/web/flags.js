// Each flag of a sentence, explained in one sentence. The server gives all but `read_back`, which is the page's own (check.js).

import {word} from './words.js';

const EXPLAINED = {
  length_limited: 'The translation reached its length limit and may be incomplete.',
  split: 'The sentence was too long for the model and was translated in parts.',
  unk_copied: 'A character that the model does not know was copied from the text.',
  character_lost: 'A character of the text is missing in the translation.',
  glossary_missed: 'A term of the glossary could not be used.',
  markup_in_text: 'The text looks like HTML; choose HTML as its format.',
  repetition: 'The first translation repeated itself; this one was translated again without repetitions.',
  low_confidence: 'The model gives its own translation a low probability: check it.',
  read_back: 'Translated back, this would hardly give the text: check it.',
  number_mismatch: 'A number of the text is missing in the translation or is there less often, or the other way round.',
  source_language_doubtful: 'The text looks like another language than the one chosen.',
  word_copied: 'A word of the text was copied, although it is not a name.',
  from_memory: 'The translation comes from a translation memory, not from the model.',
  same_language: 'Source and target language are the same: nothing was translated.',
};

export const explain = (flag) => (EXPLAINED[flag] ? word(EXPLAINED[flag]) : flag.replaceAll('_', ' '));
