/**
 * What the faults of a sweep really did, as a table with bars: on how many seeds each kind struck,
 * and on how many of those while some client held a grant. One that never did tested nothing.
 */

import type { FaultTally } from '../search/sweep/tally.ts';
import { type Child, element, type Markup } from '../text/markup.ts';
import { groupDigits } from '../text/prose.ts';
import { ink } from './palette.ts';
import { bar } from './picture-shapes.ts';
import type { SystemSummary } from './summary.ts';

/** The table; nothing where no system was struck by any fault. */
export function renderFaultTable(systems: readonly SystemSummary[]): Child {
  const kinds = [...new Set(systems.flatMap(({ faults }) => Object.keys(faults)))];
  if (kinds.length === 0) return [];
  const head = systems.map(({ name }) => element('th', { scope: 'col' }, element('bdi', {}, name)));
  const body = kinds.map((kind) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, kind),
      systems.map(({ faults, seeds }) => renderCell(faults[kind], seeds)),
    ),
  );
  return element(
    'div',
    { class: 'table', tabindex: 0, role: 'group', 'aria-label': 'Faults' },
    element(
      'table',
      { class: 'matrix' },
      element(
        'caption',
        {},
        'What the faults really did, in seeds. Dark: struck while some client held a grant; light: struck at all.',
      ),
      element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Fault'), head)),
      element('tbody', {}, body),
    ),
  );
}

const BAR = { width: 140, height: 10 };

function renderCell(fault: FaultTally | undefined, seeds: number): Markup {
  if (fault === undefined) return element('td', { class: 'faint' }, '–');
  const { fired, overlapped } = fault;
  const long = (count: number): number => (count / Math.max(1, seeds)) * BAR.width;
  const box = (width: number): Parameters<typeof bar>[0] => ({ ...BAR, x: 0, y: 0, width });
  const shapes = [
    bar({ ...box(BAR.width), x: 0.5 }, ink({ stroke: 'line' }), ''),
    fired > 0 ? bar(box(long(fired)), ink({ fill: 'idle' }), '') : [],
    overlapped > 0 ? bar(box(long(overlapped)), ink({ fill: 'soft' }), '') : [],
  ];
  const size = { ...BAR, width: BAR.width + 1, viewBox: `0 0 ${BAR.width + 1} ${BAR.height}` };
  const text =
    fired === 0
      ? 'never fired'
      : `fired on ${groupDigits(fired)}, under a held grant on ${groupDigits(overlapped)} of ${groupDigits(seeds)}`;
  return element(
    'td',
    {},
    element('svg', { ...size, 'aria-hidden': 'true' }, shapes),
    element('span', { class: 'rate' }, text),
  );
}
