/**
 * The page of `fencepost compare`: what became of the folklore, a plot (a panel for each measure,
 * in it a group for each condition, and there a dot with its interval for each system), and every
 * figure as a table. One file without scripts.
 */
import type {
  ComparedCell,
  ComparedCondition,
  Saying,
  SayingRuling,
} from '../../search/compare/comparison.ts';
import { type Child, element, type Markup } from '../../text/markup.ts';
import { capitalized, countOf } from '../../text/prose.ts';
import {
  type Comparison,
  conditionsOf,
  conditionTitle,
  estimateText,
  figureText,
  findingText,
  intervalText,
  MEASURES,
  type Measure,
  methodNotes,
  RULING_SIGNS,
} from '../comparison.ts';
import {
  clientRole,
  horizontal,
  ink,
  type Point,
  type Role,
  vertical,
} from '../pictures/shapes.ts';
import { renderDocument } from './document.ts';
import { card, column, faint, list, nameMarkup, table, tableRow } from './parts.ts';

const STYLE = `
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:22px 26px;margin-top:18px}
.panels figure+figure{margin-top:0}svg.panel{width:100%;height:auto}
.panels figcaption{margin:0 0 2px}
td small{display:block;color:var(--soft);font-size:12px}
.sayings{list-style:none;margin:18px 0 0;padding:0}.sayings>li{margin:18px 0 0}
.sayings .notes{margin-top:6px;list-style:none;padding-left:2px}.sayings .saying{font-size:18px;font-weight:600}
.wide{overflow-x:auto}.wide tbody th{white-space:nowrap}.wide thead th.number{white-space:normal}.wide th,.wide td{padding-right:9px}
`;

/** The page as one HTML document. */
export function renderComparisonPage(comparison: Comparison): string {
  return renderDocument({
    title: `${comparison.systems.map(({ name }) => name).join(', ')} compared`,
    ...{ style: STYLE, skip: 'Skip to the comparison' },
    header: element('h1', {}, 'fencepost compare'),
    main: [
      renderFolklore(comparison),
      renderPlot(comparison),
      renderTables(comparison),
      renderMethod(comparison),
    ],
    footer: 'The same seeds give the same figures, to the digit.',
  });
}

const TONES: Readonly<Record<SayingRuling, string>> = {
  holds: 'good',
  fails: 'bad',
  mixed: 'open',
  undecided: 'open',
  'not measured': 'faint',
};

function renderFolklore({ folklore, seeds }: Comparison): Markup {
  const about =
    `As far as ${countOf(seeds, 'seed')} can tell. A difference counts only where its interval of ` +
    '97.5 % leaves out 0: two of them judge a saying.';
  const sayings = list('sayings', folklore.map(renderSaying));
  return card('folklore', 'Does the folklore hold?', faint(about), sayings);
}

function renderSaying({ saying, ruling, findings }: Saying): Child {
  const badge = { class: `badge ${TONES[ruling]}` };
  const notes = findings.map((finding) => {
    const sign = element('span', { class: TONES[finding.ruling] }, RULING_SIGNS[finding.ruling]);
    return [sign, ` ${findingText(finding)}`];
  });
  return [
    element('span', { class: 'saying' }, `“${capitalized(saying)}”`),
    ' ',
    element('span', badge, `${RULING_SIGNS[ruling]} ${ruling}`),
    list('notes', notes),
  ];
}

function renderPlot({ systems, cells }: Comparison): Markup {
  const names = systems.map(({ name }) => name);
  const panels = MEASURES.flatMap((measure): Markup[] => {
    const picture = drawPanel(measure, { cells, systems: names });
    if (picture === null) return [];
    const caption = element('figcaption', {}, element('b', {}, measure.name), `, ${measure.unit}`);
    return [element('figure', {}, caption, picture)];
  });
  const isNothing = ({ of }: Measure): boolean =>
    cells.every(({ figures }) => (of(figures).value ?? 0) === 0);
  const nothing = MEASURES.filter(isNothing).map(({ name }) => name);
  return card(
    'plot',
    'Side by side',
    drawKey(systems),
    element('div', { class: 'panels' }, panels),
    nothing.length === 0 ? [] : faint(`Nothing to draw: no ${nothing.join(', no ')} anywhere.`),
  );
}

function renderTables({ cells }: Comparison): Markup {
  const tables = conditionsOf(cells).map((condition) => renderTable(condition, cells));
  return card('figures', 'All figures', tables);
}

function renderTable(condition: ComparedCondition, cells: readonly ComparedCell[]): Markup {
  const title = element('b', {}, capitalized(conditionTitle(condition)));
  const heads = MEASURES.map(({ name, unit }) => column([name, element('br', {}), unit], 'number'));
  const figures = table({
    caption: [title, `: ${condition.about}`],
    head: [column('System'), ...heads],
    rows: cells.filter((cell) => cell.condition === condition).map(renderRow),
  });
  return element('div', { class: 'system wide' }, figures);
}

function renderRow({ system, figures }: ComparedCell): Markup {
  const cells = MEASURES.map((measure) => {
    const estimate = measure.of(figures);
    const interval = intervalText(estimate);
    const bounds = interval === '' ? [] : element('small', {}, interval);
    return element('td', { class: 'number' }, figureText(estimate.value), bounds);
  });
  return tableRow(nameMarkup(system), cells);
}

function renderMethod(comparison: Comparison): Markup {
  return card('method', 'How it was measured', list('notes', methodNotes(comparison)));
}

const WIDTH = 600;
const HEIGHT = 250;
const LEFT = 52;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 46;
const FONT = "system-ui, 'Segoe UI', Roboto, sans-serif";

interface Panel {
  readonly measure: Measure;
  readonly cells: readonly ComparedCell[];
  readonly systems: readonly string[];
  readonly conditions: readonly ComparedCondition[];
  /** Where the axis ends. */
  readonly top: number;
}

/** One measure under all conditions, or null where it is nothing everywhere. */
function drawPanel(
  measure: Measure,
  { cells, systems }: Pick<Panel, 'cells' | 'systems'>,
): Markup | null {
  const figures = cells.map((cell) => measure.of(cell.figures));
  if (figures.every(({ value }) => value === null || value === 0)) return null;
  const highest = Math.max(...figures.map(({ value, upper }) => Math.max(value ?? 0, upper ?? 0)));
  const ticks = ticksUpTo(highest);
  const top = ticks.at(-1) ?? 1;
  const panel = { measure, cells, systems, conditions: conditionsOf(cells), top };
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
  return [
    horizontal(y, [LEFT, WIDTH - RIGHT], ink({ stroke: value === 0 ? 'line' : 'guide' })),
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
    return [vertical(x, [TOP, HEIGHT - 6], ink({ stroke: 'line' }))];
  });
  return [borders, names, spans];
}

function drawDot(panel: Panel, cell: ComparedCell): Child {
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
    vertical(x, [low ?? 0, high ?? 0], { 'stroke-width': 2, ...ink({ stroke: role }) }),
    drawMark(at, { x, y: y ?? 0 }, role),
    element('rect', {
      ...{ x: x - 9, y: Math.min(y ?? 0, high ?? 0) - 6, width: 18 },
      ...{ height: Math.abs((low ?? 0) - (high ?? 0)) + 12, 'fill-opacity': 0, fill: '#000' },
    }),
  );
}

/** The corners of the marks that are polygons: a diamond and a triangle. */
const CORNERS = [
  { dx: [0, 6.2, 0, -6.2], dy: [-6.2, 0, 6.2, 0] },
  { dx: [0, 5.8, -5.8], dy: [-6, 4.6, 4.6] },
] as const;

/** Systems differ in shape too, for those who do not tell the colours apart. */
function drawMark(system: number, { x, y }: Point, role: Role): Markup {
  const paint = ink({ fill: role, stroke: 'paper' });
  const shape = system % 4;
  if (shape === 0) return element('circle', { cx: x, cy: y, r: 5, ...paint });
  if (shape === 1) {
    return element('rect', { x: x - 4.5, y: y - 4.5, width: 9, height: 9, ...paint });
  }
  const { dx, dy } = CORNERS[shape === 2 ? 0 : 1];
  const points = dx.map((right, at) => `${round(x + right)},${round(y + (dy[at] ?? 0))}`);
  return element('polygon', { points: points.join(' '), ...paint });
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

function drawKey(systems: Comparison['systems']): Markup {
  const size = { width: 16, height: 16, 'aria-hidden': 'true' };
  const items = systems.map(({ name, about }, at) => {
    const mark = element('svg', size, drawMark(at, { x: 8, y: 8 }, clientRole(at)));
    return [mark, element('span', {}, element('b', {}, nameMarkup(name)), ` ${about}`)];
  });
  return list('key', items);
}
