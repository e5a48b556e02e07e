/**
 * The controls of a finding: stepping, which time, which lanes, and the filter of the events. They
 * are written in advance and stay hidden until the page's script takes them into use.
 */
import type { ProcessInfo, TraceEvent } from '../core/history/trace.ts';
import { type Child, element, type Markup } from '../text/markup.ts';
import { clip, visible } from '../text/visible.ts';
import { laneOrder } from './sequence-text.ts';

const BUTTONS = [
  ['first', '⇤ first', 'First step (Home)'],
  ['back', '← back', 'One step back (left arrow)'],
  ['next', 'next →', 'One step on (right arrow)'],
  ['last', 'last ⇥', 'Last step (End)'],
  ['violation', '✗ violation (v)', 'To the violation (v)'],
] as const;

/** The bar that stays in sight: where one is, and the buttons that lead on. */
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

const TIMES = [
  ['both', 'both'],
  ['true', 'true time'],
  ['warped', 'warped time'],
] as const;

/** Which pictures are shown, and whose lanes are in them. */
export function renderSwitches(id: string, processes: readonly ProcessInfo[]): Markup {
  const times = TIMES.map(([value, text]) =>
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

function choice(attributes: Parameters<typeof element>[1], text: string): Markup {
  return element('label', {}, element('input', attributes), ' ', element('bdi', {}, text));
}

/** Events that a reader looks for together, by what the filter calls them. */
const KINDS: ReadonlyMap<string, readonly TraceEvent['kind'][]> = new Map([
  ['faults', ['fault', 'resume', 'restart', 'heal', 'healed', 'lose']],
  ['grants', ['grant', 'deny', 'renew', 'release', 'deadlock']],
  ['reads and writes', ['write', 'read', 'recovered', 'job']],
  ['beliefs', ['enter', 'leave', 'lease-test']],
  ['calls', ['invoke', 'return', 'mark', 'log']],
  ['messages', ['send', 'receive', 'lose']],
]);

/** Whether an event is of a kind of the filter; '' is all. A lease that runs out is a grant. */
export function isOfKind(event: TraceEvent | undefined, kind: string): boolean {
  if (kind === '') return true;
  if (event === undefined) return kind === 'grants';
  return KINDS.get(kind)?.includes(event.kind) === true;
}

/** The filter over the table of events. */
export function renderFilter(processes: readonly ProcessInfo[]): Markup {
  const names = laneOrder(processes).map(({ name }) => [name, clip(visible(name), 40)] as const);
  const kinds = [...KINDS.keys()].map((kind) => [kind, kind] as const);
  return element(
    'div',
    { class: 'filter', hidden: true, 'data-tool': '', role: 'search', 'aria-label': 'Events' },
    field('Find', element('input', { type: 'search', 'data-filter': 'text' })),
    field('Process', select('process', [['', 'all'], ...names])),
    field('Kind', select('kind', [['', 'all'], ...kinds])),
    element('p', { role: 'status', 'data-found': '' }),
  );
}

function field(name: string, control: Markup): Markup {
  return element('label', {}, `${name} `, control);
}

function select(name: string, options: readonly (readonly [string, string])[]): Markup {
  const list: Child = options.map(([value, text]) => element('option', { value }, text));
  return element('select', { 'data-filter': name }, list);
}
