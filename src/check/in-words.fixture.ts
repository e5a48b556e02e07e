/** Formats explanations for comparison in tests. */
import type { Explanation } from './verdict.ts';

/** Returns the complete explanation as one paragraph. */
export function inWords({ headline, given, next, however, cure }: Explanation): string {
  const sentences = [
    headline,
    given === '' ? '' : `Let ${given}`,
    next === '' ? '' : `Then ${next}`,
    however === '' ? '' : `However, ${however}`,
    cure,
  ];
  return sentences
    .filter((sentence) => sentence !== '')
    .map((sentence) => `${sentence}.`)
    .join(' ');
}
