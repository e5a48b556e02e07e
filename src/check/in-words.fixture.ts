/** An explanation as tests compare it. */
import type { Explanation } from './verdict.ts';

/** The whole explanation as a paragraph. */
export function inWords({ headline, given, next, however, cure }: Explanation): string {
  const sentences = [
    headline,
    given === '' ? '' : `Let ${given}`,
    next === '' ? '' : `Then ${next}`,
    however === '' ? '' : `However ${however}`,
    cure,
  ];
  return sentences
    .filter((sentence) => sentence !== '')
    .map((sentence) => `${sentence}.`)
    .join(' ');
}
