/**
 * The plot of a comparison: a panel for each measure, in it a group for each condition, and there a
 * dot with its interval for each system.
 */
import type { Cell, Condition } from '../search/compare/comparison.ts';
import { type Child, element, type Markup } from '../text/markup.ts';
import { conditionsOf, conditionTitle, estimateText, type Measure } from './compare-rows.ts';
import { clientRole, ink, type Role } from './palette.ts';

const WIDTH = 600;
const HEIGHT = 250;
const LEFT = 52;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 46;
const FONT = "system-ui, 'Segoe UI', Roboto, sans-serif";

interface Panel {
  readonly measure: Measure;
  readonly cells: readonly Cell[];
  readonly systems: readonly string[];
  readonly conditions: readonly Condition[];
  /** Where the axis ends. */
  readonly top: number;
}

/** One measure under all conditions, or null where it is nothing everywhere. */
export function drawPanel(
  measure: Measure,
  { cells, systems }: Pick<Panel, 'cells' | 'systems'>,
): Markup | null {
  const figures = cells.map((cell) => measure.of(cell.figures));
  if (figures.every(({ value }) => value === null || value === 0)) return null;
  const highest = Math.max(...figures.map(({ value, upper }) => Math.max(value ?? 0, upper ?? 0)));
  const ticks = ticksUpTo(highest);
  const panel = {
    measure,
    cells,
    systems,
    conditions: conditionsOf(cells),
    top: ticks.at(-1) ?? 1,
  };
  const title = `${measure.name}, ${measure.unit}`;
  return element(
    'svg',
    {
      ...{ xmlns: 'http://www.w3.org/2000/svg', class: 'panel', role: 'img' },
      ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'font-family': FONT, 'aria-label': title },
    },
    element('rect', { width: WIDTH, height: HEIGHT, ...ink({ fill: 'paper' }) }),
    ticks.map((value) => drawTick(panel, value)),
    drawGroups(panel),
    cells.map((cell) => drawDot(panel, cell)),
  );
}

/** Zero and at most five round numbers above it, the last one at `highest` or beyond. */
export function ticksUpTo(highest: number): readonly number[] {
  let step = 10 ** Math.floor(Math.log10(highest / 5));
  for (const factor of [2, 2.5, 2, 2]) {
    if (step * 5 >= highest) break;
    step *= factor;
  }
  const count = Math.ceil(highest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}

function yOf({ top }: Panel, value: number): number {
  return HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
}

function drawTick(panel: Panel, value: number): Child {
  const y = yOf(panel, value);
  const line = { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y };
  return [
    element('line', { ...line, ...ink({ stroke: value === 0 ? 'line' : 'guide' }) }),
    text(tickText(value), { x: LEFT - 7, y: y + 4, anchor: 'end' }),
  ];
}

/** Without digits that say nothing: `0.5`, `200`. */
function tickText(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function groupWidth({ conditions }: Panel): number {
  return (WIDTH - LEFT - RIGHT) / conditions.length;
}

/** Below the axis: the level, and once below each run of them, with or without faults. */
function drawGroups(panel: Panel): Child {
  const wide = groupWidth(panel);
  const { conditions } = panel;
  const names = conditions.map(({ contention }, at) =>
    text(contention, { x: LEFT + (at + 0.5) * wide, y: HEIGHT - BOTTOM + 17, anchor: 'middle' }),
  );
  const spans = [false, true].flatMap((hasFaults): Child[] => {
    const places = conditions.flatMap((one, at) => (one.hasFaults === hasFaults ? [at] : []));
    const isOneRun = places.every((at, index) => at === (places[0] ?? 0) + index);
    if (!isOneRun || places.length === 0) return [];
    const middle = ((places[0] ?? 0) + (places.at(-1) ?? 0) + 1) / 2;
    const words = hasFaults ? 'with faults' : 'without faults';
    const place = { x: LEFT + middle * wide, y: HEIGHT - 10, anchor: 'middle' };
    return [text(words, place, 'ink')];
  });
  const borders = conditions.flatMap((condition, at): Child[] => {
    if (at === 0 || conditions[at - 1]?.hasFaults === condition.hasFaults) return [];
    const x = LEFT + at * wide;
    return [element('line', { x1: x, x2: x, y1: TOP, y2: HEIGHT - 6, ...ink({ stroke: 'line' }) })];
  });
  return [borders, names, spans];
}

function drawDot(panel: Panel, cell: Cell): Child {
  const { measure, systems, conditions } = panel;
  const estimate = measure.of(cell.figures);
  if (estimate.value === null) return [];
  const at = systems.indexOf(cell.system);
  const wide = groupWidth(panel);
  const x =
    LEFT +
    conditions.indexOf(cell.condition) * wide +
    wide * (0.5 + ((at + 0.5) / systems.length - 0.5) * 0.72);
  const role = clientRole(at);
  const [y, low, high] = [estimate.value, estimate.lower, estimate.upper].map((value) =>
    yOf(panel, value ?? estimate.value ?? 0),
  );
  const where = `${cell.system}, ${conditionTitle(cell.condition)}`;
  return element(
    'g',
    {},
    element('title', {}, `${where}: ${estimateText(estimate)} ${measure.unit}`),
    element('line', {
      ...{ x1: x, x2: x, y1: low ?? 0, y2: high ?? 0, 'stroke-width': 2 },
      ...ink({ stroke: role }),
    }),
    drawMark(at, { x, y: y ?? 0 }, role),
    element('rect', {
      ...{ x: x - 9, y: Math.min(y ?? 0, high ?? 0) - 6, width: 18 },
      ...{ height: Math.abs((low ?? 0) - (high ?? 0)) + 12, 'fill-opacity': 0, fill: '#000' },
    }),
  );
}

/** Systems differ in shape too, for those who do not tell the colours apart. */
export function drawMark(system: number, { x, y }: { x: number; y: number }, role: Role): Markup {
  const paint = ink({ fill: role, stroke: 'paper' });
  const points = (pairs: readonly (readonly [number, number])[]): string =>
    pairs.map(([dx, dy]) => `${round(x + dx)},${round(y + dy)}`).join(' ');
  switch (system % 4) {
    case 0:
      return element('circle', { cx: x, cy: y, r: 5, ...paint });
    case 1:
      return element('rect', { x: x - 4.5, y: y - 4.5, width: 9, height: 9, ...paint });
    case 2: {
      const diamond = [
        [0, -6.2] as const,
        [6.2, 0] as const,
        [0, 6.2] as const,
        [-6.2, 0] as const,
      ];
      return element('polygon', { points: points(diamond), ...paint });
    }
    default: {
      const triangle = [[0, -6] as const, [5.8, 4.6] as const, [-5.8, 4.6] as const];
      return element('polygon', { points: points(triangle), ...paint });
    }
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function text(
  words: string,
  { x, y, anchor }: { readonly x: number; readonly y: number; readonly anchor: string },
  role: Role = 'soft',
): Markup {
  const place = { x, y, 'text-anchor': anchor, 'font-size': 12 };
  return element('text', { ...place, ...ink({ fill: role }) }, words);
}

/** What the marks mean. */
export function drawKey(
  systems: readonly { readonly name: string; readonly about: string }[],
): Markup {
  return element(
    'ul',
    { class: 'key' },
    systems.map(({ name, about }, at) =>
      element(
        'li',
        {},
        element(
          'svg',
          { width: 16, height: 16, 'aria-hidden': 'true' },
          drawMark(at, { x: 8, y: 8 }, clientRole(at)),
        ),
        element('span', {}, element('b', {}, element('bdi', {}, name)), ` ${about}`),
      ),
    ),
  );
}
