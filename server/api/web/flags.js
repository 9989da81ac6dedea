// Each flag of a sentence, explained in one sentence.

const EXPLAINED = {
  length_limited: 'The translation reached its length limit and may be cut off.',
  split: 'The sentence was too long for the model and was translated in parts.',
  unk_copied: 'A character that the model does not know was copied from the text.',
  character_lost: 'A character of the text is missing in the translation.',
  glossary_missed: 'A term of the glossary could not be used.',
  markup_in_text: 'The text looks like HTML; choose HTML as its format.',
  repetition: 'The first translation repeated itself; this is a second one that was kept from doing so.',
  low_confidence: 'The model finds its own translation improbable: check it.',
  number_mismatch: 'A number of the text is not in the translation, or the other way round.',
  source_language_doubtful: 'The text looks like another language than the one chosen.',
  word_copied: 'A word of the text was copied, although it is no name.',
  from_memory: 'The translation is a translation memory\'s, and not the model\'s.',
  same_language: 'Text and translation have the same language: nothing was translated.',
};

export const explain = (flag) => EXPLAINED[flag] || flag.replaceAll('_', ' ');
