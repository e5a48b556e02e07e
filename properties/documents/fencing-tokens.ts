/** The document on fencing tokens, line by line. */
import type { SourceDocument } from './row.ts';

export const document: SourceDocument = {
  title: 'Fencing tokens',
  about:
    'A description of `fencing_tokens.py` (29 May 2026), after chapters 8 and 9 of Kleppmann’s *Designing Data-Intensive Applications*.',
  rows: [],
};
