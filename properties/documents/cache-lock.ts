/** The document on the lock on a cache, line by line. */
import type { SourceDocument } from './row.ts';

export const document: SourceDocument = {
  title: 'A lock on a cache',
  about: 'djblets’ review request 14628, `djblets.protect.locks.CacheLock`, with its discussion.',
  rows: [],
};
