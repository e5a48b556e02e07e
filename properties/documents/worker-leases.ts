/** The document on the leases of at-least-once workers, line by line. */
import type { SourceDocument } from './row.ts';

export const document: SourceDocument = {
  title: 'Leases of at-least-once workers',
  about: 'A smoke test and two versions of `dispatch` of Workiva’s aws-lambda-fsm-workflows.',
  rows: [],
};
