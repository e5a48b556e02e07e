/** The document on optimistic locking, line by line. */
import type { SourceDocument } from './row.ts';

export const document: SourceDocument = {
  title: 'Fencing tokens and optimistic locking',
  about: 'A page on zombie clients, fencing tokens, version columns and when to use which.',
  rows: [],
};
