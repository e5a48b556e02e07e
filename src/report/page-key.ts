/** The key to the pictures: what solid, hatched and red mean, with a sample of each. */
import { type Child, element, type Markup } from './markup.ts';
import { ink } from './palette.ts';
import { arrow, bar, flag, hatch, label } from './picture-shapes.ts';

/** What is only explained where it occurs. */
export interface KeyOptions {
  readonly hasDuplicate: boolean;
  readonly hasSkew: boolean;
  readonly hasOrder: boolean;
}

/** The key as a list; `id` begins the ids of its hatches. */
export function renderKey(id: string, options: KeyOptions): Markup {
  const box = { x: 1, y: 2, width: 32, height: 12 };
  const hatched = { ...ink({ stroke: 'client0' }), fill: `url(#${id}-own)`, 'stroke-width': 1.4 };
  const red = { ...ink({ stroke: 'danger' }), fill: `url(#${id}-red)`, 'stroke-width': 1.4 };
  const token = { token: 1, role: 'client0' } as const;
  const cross = { role: 'danger', anchor: 'middle', size: 14, isBold: true } as const;
  const middle = { x: 17, y: 8 };
  return element(
    'ul',
    { class: 'key' },
    sample(
      [bar(box, ink({ fill: 'client0' }), '')],
      'what the lock service says: who holds the lock',
    ),
    sample(
      [hatch(`${id}-own`, 'client0', false), bar(box, hatched, '')],
      'what a client believes: it acts as the holder',
    ),
    sample(
      [hatch(`${id}-red`, 'danger', true), bar(box, red, '')],
      'the contradiction: it acts as the holder, but another one is',
    ),
    sample([bar(box, { ...ink({ fill: 'idle', stroke: 'soft' }) }, '')], 'paused: runs nothing'),
    sample(
      [flag({ x: 6, y: 9 }, { ...token, isAccepted: true })],
      '✓ write accepted, with its token',
    ),
    sample([flag({ x: 6, y: 9 }, { ...token, isAccepted: false })], '⊘ write refused'),
    sample([arrow({ x: 1, y: 8 }, { x: 33, y: 8 }, { role: 'client0' })], 'request'),
    sample(
      [arrow({ x: 1, y: 8 }, { x: 33, y: 8 }, { role: 'client0', isDashed: true, isThin: true })],
      'answer',
    ),
    sample([label('✕', middle, cross)], 'message lost'),
    sample(
      [bar({ x: 15, y: 1, width: 3, height: 16 }, ink({ fill: 'ink' }), '')],
      'its own clock ends the lease here',
    ),
    rareSamples(options),
  );
}

function rareSamples({ hasDuplicate, hasSkew, hasOrder }: KeyOptions): Child {
  const middle = { x: 17, y: 9 };
  const bold = { anchor: 'middle', size: 12, isBold: true, hasHalo: false } as const;
  const strip = { x: 1, y: 3, width: 32, height: 12 };
  const copies = [6, 11].map((y) =>
    arrow({ x: 1, y }, { x: 33, y }, { role: 'client0', isThin: true, hasHead: y === 6 }),
  );
  const dot = { cx: 17, cy: 9, r: 8, ...ink({ fill: 'paper', stroke: 'ink' }) };
  return [
    hasDuplicate ? sample(copies, 'message that runs twice') : [],
    hasSkew
      ? sample(
          [
            bar(strip, ink({ fill: 'paper', stroke: 'caution' }), ''),
            label('◷', middle, { ...bold, role: 'caution' }),
          ],
          'its clock is off',
        )
      : [],
    hasOrder
      ? sample(
          [element('circle', dot), label('1', middle, { ...bold, role: 'ink' })],
          'takes effect here, in the order that was found',
        )
      : [],
  ];
}

function sample(shapes: readonly Markup[], text: string): Markup {
  const size = { width: 34, height: 18, viewBox: '0 0 34 18' };
  return element('li', {}, element('svg', { ...size, 'aria-hidden': 'true' }, shapes), text);
}
