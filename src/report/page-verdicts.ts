/** The verdict of every claim on one trace, as a table: what was never tested is folded away. */
import type { Verdict } from '../check/verdict.ts';
import { element, type Markup } from '../text/markup.ts';
import { countOf, groupDigits } from '../text/prose.ts';

const WORDS = { valid: '✓ holds', invalid: '✗ broken', unknown: '? unknown' };
const TONES = { valid: 'good', invalid: 'bad', unknown: 'open' };

/** Broken claims first, then open ones, then those that hold; the untested ones by name only. */
export function renderVerdicts(verdicts: readonly Verdict[]): Markup {
  const isIdle = (verdict: Verdict): boolean => verdict.kind === 'valid' && verdict.exercised === 0;
  const told = verdicts.filter((verdict) => !isIdle(verdict));
  const idle = verdicts.filter(isIdle).map(({ claim }) => claim);
  const order = ['invalid', 'unknown', 'valid'];
  const sorted = [...told].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const untested =
    idle.length === 0
      ? []
      : element(
          'p',
          { class: 'faint' },
          `${countOf(idle.length, 'claim')} not tested here: ${idle.join(', ')}.`,
        );
  return element(
    'details',
    { open: true },
    element('summary', {}, 'Verdict of every claim on this trace'),
    element(
      'table',
      {},
      element('caption', {}, 'Exercised: how often the hazard arose that the claim is about.'),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, 'Claim'),
          element('th', { scope: 'col' }, 'Verdict'),
          element('th', { scope: 'col', class: 'number' }, 'Exercised'),
          element('th', { scope: 'col' }, 'Reason'),
        ),
      ),
      element('tbody', {}, sorted.map(renderRow)),
    ),
    untested,
  );
}

function renderRow(verdict: Verdict): Markup {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, verdict.claim),
    element('td', { class: TONES[verdict.kind] }, WORDS[verdict.kind]),
    element('td', { class: 'number' }, groupDigits(verdict.exercised)),
    element('td', {}, verdict.kind === 'unknown' ? verdict.reason : ''),
  );
}
