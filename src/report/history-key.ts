/** The key to the picture of a history: what solid, faint, dashed, red and dotted mean. */
import { element, type Markup } from '../text/markup.ts';
import { ink } from './palette.ts';
import { bar, label } from './picture-shapes.ts';

/** `hasCore`: whether there is a contradiction to point out. */
export function renderHistoryKey(hasCore: boolean): Markup {
  const box = { x: 1, y: 2, width: 32, height: 14 };
  const bad = { ...ink({ fill: 'tint', stroke: 'danger' }), 'stroke-width': 2 };
  const faint = { ...ink({ fill: 'guide', stroke: 'line' }), 'stroke-width': 1 };
  const cross = { role: 'danger', size: 13, isBold: true, anchor: 'middle' } as const;
  const dot = { cx: 17, cy: 9, r: 3.6, 'stroke-width': 1.6 };
  const contradiction = [
    sample(
      [bar(box, ink({ fill: 'client0' }), '')],
      'part of the contradiction, from call to return',
    ),
    sample(
      [bar(box, bad, ''), label('✗', { x: 24, y: 9 }, { ...cross, hasHalo: false })],
      'its return fits into no order',
    ),
  ];
  return element(
    'ul',
    { class: 'key' },
    hasCore ? contradiction : [],
    sample(
      [bar(box, faint, '')],
      hasCore ? 'any other operation' : 'an operation, from call to return',
    ),
    sample(
      [bar(box, { ...faint, 'stroke-dasharray': '4 3' }, '')],
      '? nobody knows whether it happened',
    ),
    sample(
      [element('circle', { ...dot, ...ink({ fill: 'paper', stroke: 'ink' }) })],
      'where it takes effect, in the order found',
    ),
  );
}

function sample(shapes: readonly Markup[], text: string): Markup {
  const size = { width: 40, height: 18, viewBox: '0 0 40 18' };
  return element('li', {}, element('svg', { ...size, 'aria-hidden': 'true' }, shapes), text);
}
