/**
 * Renders both pictures of a finding with the key and controls, and the state of every process
 * right after the violation. The page includes the data as JSON, so that the script can redraw the
 * pictures. The controls stay hidden until the script activates them.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { ProcessInfo } from '../../core/history/trace.ts';
import type { Finding } from '../../search/campaign/result.ts';
import { isFenced, modelOf } from '../../systems/assemble.ts';
import { type Attributes, type Child, element, type Markup, trusted } from '../../text/markup.ts';
import { groupDigits } from '../../text/prose.ts';
import { evidenceShown } from '../finding.ts';
import { linearizationOf } from '../pictures/linearization.ts';
import { arrow, bar, flag, hatch, ink, label, type Role } from '../pictures/shapes.ts';
import { MARK_MEANINGS, type MarkKind } from '../state-phrases.ts';
import { countEvents, laneOrder, type Step } from '../steps.ts';
import { drawPictures, type PageData, stepOfViolation } from './page-data.ts';
import { faint, figure, key, nameMarkup } from './parts.ts';
import { renderState, stateAfter } from './process-state.ts';

export interface PageDataOptions {
  /** The number of the finding, from 1. Its anchor is `finding-<number>`. */
  readonly number: number;
  /** Maximum number of events to draw and list. */
  readonly mostEvents: number;
  readonly catalogue: Catalogue;
}

export function dataOf(finding: Finding, options: PageDataOptions): PageData {
  const { claim, plan, trace, explanation } = finding;
  const { number, mostEvents, catalogue } = options;
  return {
    claim,
    plan,
    trace,
    evidence: evidenceShown(finding),
    prefix: number === 1 ? '' : `f${number}-`,
    mostRows: mostEvents,
    isFenced: isFenced(plan, catalogue),
    linearization: linearizationOf(trace, { claim, model: modelOf(plan, catalogue) }),
    title: `${explanation.headline}. The table of events below contains the same information.`,
  };
}

/** Maximum number of events to step through. A page shows only the last part of a longer trace. */
const MOST_WALKED = 12_000;

/** Returns true if the page includes the whole trace, so that a reader can step through it. */
export function isWalked({ trace }: Finding): boolean {
  return trace.events.length <= MOST_WALKED;
}

const NOT_PLAIN = /[<>&'\u007f-\uffff]/g;

/**
 * Renders the data as inert JSON. Escapes all characters that are special in HTML, so that no name
 * can end the element.
 */
export function renderData(id: string, data: PageData): Markup {
  const inert = JSON.stringify(data).replace(NOT_PLAIN, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return element('script', { type: 'application/json', id }, trusted(inert));
}

/** Renders the overview of a finding, with hidden controls if the page has a script. */
export function renderPictures(
  data: PageData,
  id: string,
  isLive: boolean,
  steps: readonly Step[],
): Markup {
  const { mostRows: mostDrawn } = data;
  const { timeline } = drawPictures(data, { id, mostDrawn, steps });
  return element(
    'section',
    { 'aria-label': 'Pictures', 'data-pictures': '' },
    figure({
      caption: [element('b', {}, 'At a glance. '), 'Time runs to the right and is true to scale.'],
      name: 'At a glance',
      picture: timeline.svg,
      attributes: { 'data-time': 'true' },
      below: [isLive ? renderStepper() : [], renderKey(`${id}-k`, timeline.marks)],
    }),
  );
}

/** Text in place of a picture that only the page's script draws. */
export const DRAWN_BY_SCRIPT = 'This picture requires JavaScript.';

/**
 * Renders a collapsed section with the state of each process and the step-by-step picture. With a
 * script, only the first finding includes the picture, since the script draws all pictures.
 */
export function renderSteps(
  data: PageData,
  id: string,
  isLive: boolean,
  steps: readonly Step[],
): Markup {
  const { trace, mostRows: mostDrawn } = data;
  const isDrawn = !isLive || data.prefix === '';
  const { sequence } = drawPictures(data, { id, mostDrawn, steps });
  const total = groupDigits(countEvents(steps));
  const warped =
    'Time runs downward, and long waits are compressed. ' +
    `Showing ${groupDigits(sequence.drawn)} of ${total} events.`;
  return element(
    'details',
    { 'data-steps': '' },
    element('summary', {}, 'Step by step, and what each process believes'),
    isLive ? renderSwitches(id, trace.processes) : [],
    renderStateSection(data, steps, id),
    figure({
      caption: [element('b', {}, 'Step by step. '), warped],
      name: 'Step by step',
      attributes: { 'data-time': 'warped' },
      picture: isDrawn ? sequence.svg : faint(DRAWN_BY_SCRIPT),
    }),
  );
}

function renderStateSection(data: PageData, steps: readonly Step[], id: string): Markup {
  const at = stepOfViolation(data, steps);
  const options = { faults: data.plan.faults, steps, isFenced: data.isFenced };
  const states = [at, at - 1].map((step) => stateAfter(data.trace, step, options));
  const text = nameMarkup(steps[at]?.text ?? '');
  return element(
    'section',
    { class: 'states', 'aria-labelledby': `${id}-state` },
    element('h3', { id: `${id}-state` }, 'What each process is and believes'),
    element('p', { class: 'faint', 'data-after': '' }, 'Right after: ', text),
    element('div', { 'data-state': '' }, renderState(states[0] ?? [], states[1] ?? null)),
  );
}

const BUTTONS = [
  ['first', '⇤ first', 'First step (Home)'],
  ['back', '← back', 'One step back (left arrow)'],
  ['next', 'next →', 'One step on (right arrow)'],
  ['last', 'last ⇥', 'Last step (End)'],
  ['violation', '✗ violation (v)', 'To the violation (v)'],
] as const;

/** Renders the bar with the current position and the navigation buttons. */
export function renderStepper(): Markup {
  const buttons = BUTTONS.map(([name, text, title]) =>
    element('button', { type: 'button', 'data-go': name, title }, text),
  );
  return element(
    'div',
    { class: 'stepper', hidden: true, 'data-tool': '', role: 'group', 'aria-label': 'Steps' },
    element('div', { class: 'buttons' }, buttons),
    element('p', { role: 'status', 'data-where': '' }),
  );
}

const TIMES = { both: 'both', true: 'true time', warped: 'warped time' };

/** Renders the switches for the visible pictures and lanes. */
export function renderSwitches(id: string, processes: readonly ProcessInfo[]): Markup {
  const times = Object.entries(TIMES).map(([value, text]) =>
    choice({ type: 'radio', name: `${id}-time`, value, checked: value === 'both' }, text),
  );
  const lanes = laneOrder(processes).map(({ name }) =>
    choice({ type: 'checkbox', 'data-lane': '', value: name, checked: true }, name),
  );
  return element(
    'div',
    { class: 'switches', hidden: true, 'data-tool': '' },
    element('fieldset', {}, element('legend', {}, 'Pictures'), times),
    element('fieldset', {}, element('legend', {}, 'Lanes'), lanes),
  );
}

function choice(attributes: Attributes, text: string): Markup {
  return element('label', {}, element('input', attributes), ' ', nameMarkup(text));
}

/** Renders the key with a sample of each mark. `id` is the prefix of its hatch ids. */
export function renderKey(id: string, shownIn: ReadonlySet<MarkKind>): Markup {
  const samples = samplesOf(id);
  const rows = samples.flatMap(([mark, shapes]) =>
    shownIn.has(mark) ? [[shapes, MARK_MEANINGS[mark]] as const] : [],
  );
  return key({ width: 34, height: 18 }, rows);
}

const BOX = { x: 1, y: 2, width: 32, height: 12 };
const CLIENT_END = { x: 15, y: 1, width: 3, height: 16 };
const LOST = { x: 2, y: 8, width: 30, height: 3 };
const ENDS = [
  { x: 1, y: 8 },
  { x: 33, y: 8 },
] as const;
const MIDDLE = { x: 17, y: 9 };
const CLIENT = { role: 'client0' } as const;
const BOLD = { anchor: 'middle', isBold: true } as const;
const DASHED = { 'stroke-dasharray': '3 3' };

function samplesOf(id: string): readonly (readonly [MarkKind, Child])[] {
  const hatched = (hatchId: string, role: Role, isDense: boolean): Child => {
    const paint = { ...ink({ stroke: role }), fill: `url(#${hatchId})`, 'stroke-width': 1.4 };
    return [hatch(hatchId, role, isDense), bar(BOX, paint, '')];
  };
  const boxed = (fill: Role, stroke?: Role, more = {}, box = BOX): Markup =>
    bar(box, { ...ink(stroke ? { fill, stroke } : { fill }), ...more }, '');
  const flagged = (isAccepted: boolean): Markup =>
    flag({ x: 6, y: 9 }, { text: '1', ...CLIENT, isAccepted });
  const twice = [6, 11].map((y) =>
    arrow({ x: 1, y }, { x: 33, y }, { ...CLIENT, isThin: true, hasHead: y === 6 }),
  );
  const sign = (text: string, role: Role): Markup =>
    label(text, MIDDLE, { ...BOLD, role, hasHalo: false });
  const skewed = [boxed('paper', 'caution', {}, { ...BOX, y: 3 }), sign('◷', 'caution')];
  const dot = element('circle', { cx: 17, cy: 9, r: 8, ...ink({ fill: 'paper', stroke: 'ink' }) });
  const cross = label('✕', { x: 17, y: 8 }, { ...BOLD, role: 'danger', size: 14 });
  return [
    ['lease', boxed('client0')],
    ['client view', hatched(`${id}-own`, 'client0', false)],
    ['overlap', hatched(`${id}-red`, 'danger', true)],
    ['loss', boxed('danger', undefined, {}, LOST)],
    ['pause', boxed('idle', 'soft')],
    ['crash', boxed('paper', 'danger', DASHED)],
    ['partition', boxed('paper', 'caution', DASHED)],
    ['accepted', flagged(true)],
    ['violating', flagged(true)],
    ['refused', flagged(false)],
    ['request', arrow(...ENDS, CLIENT)],
    ['answer', arrow(...ENDS, { ...CLIENT, isDashed: true, isThin: true })],
    ['lost', cross],
    ['own end', boxed('ink', undefined, {}, CLIENT_END)],
    ['duplicate', twice],
    ['skew', skewed],
    ['order', [dot, sign('1', 'ink')]],
  ];
}
