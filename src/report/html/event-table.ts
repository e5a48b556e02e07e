/**
 * Renders the table of events, the accessible equivalent of the pictures. Links such as `#e=12`
 * point to its rows. The filter above the table stays hidden until the page's script activates it.
 */
import type { TraceEvent } from '../../core/history/events.ts';
import type { ProcessInfo } from '../../core/history/trace.ts';
import { element, type Markup } from '../../text/markup.ts';
import { groupDigits, millisecondsOf } from '../../text/prose.ts';
import { clip, visible } from '../../text/visible.ts';
import { laneOrder, type Step } from '../steps.ts';
import { column, nameMarkup, table } from './parts.ts';

/**
 * Renders a row per step with the anchor `<prefix>e=<number>`. Details have rows without numbers.
 * `total` is the number of events in the complete run.
 */
export function renderEvents(rows: readonly Step[], prefix: string, total: number): Markup {
  const shown = groupDigits(rows.filter(({ number }) => number !== null).length);
  const numbers = ['Event', 'ms'].map((name) => column(name, 'number'));
  const words = ['Process', 'What happens', 'Part in the evidence'].map((name) => column(name));
  return table({
    caption: `Showing ${shown} of ${groupDigits(total)} events with their details, in the order in which they happened. Times are true time.`,
    head: [...numbers, ...words],
    rows: rows.map((step) => renderRow(step, prefix)),
  });
}

function renderRow(step: Step, prefix: string): Markup {
  const { event, number, atUs, process, text, part } = step;
  const id = number === null ? null : `${prefix}e=${number}`;
  const shown = id === null ? '–' : element('a', { href: `#${id}` }, String(number));
  return element(
    'tr',
    { id, class: part === '' ? null : 'part', 'data-row': event ?? '' },
    element('th', { scope: 'row', class: 'number' }, shown),
    element('td', { class: 'number' }, millisecondsOf(atUs)),
    element('td', {}, nameMarkup(process === '' ? 'world' : process)),
    element('td', {}, nameMarkup(text)),
    element('td', {}, part === '' ? '' : `← ${part}`),
  );
}

/** Groups of event kinds, by their names in the filter. */
const KINDS: ReadonlyMap<string, readonly TraceEvent['kind'][]> = new Map([
  ['faults', ['fault', 'resume', 'restart', 'heal', 'healed', 'lose']],
  ['grants', ['grant', 'deny', 'renew', 'release', 'grant-end', 'deadlock', 'key-change']],
  ['reads and writes', ['write', 'read', 'recovered', 'job']],
  ['client views', ['enter', 'leave', 'lease-test']],
  ['calls', ['invoke', 'return', 'mark', 'log']],
  ['messages', ['send', 'receive', 'lose']],
]);

/** Returns true if `kind` is '' or contains the event. An undefined event is the end of a lease. */
export function isOfKind(event: TraceEvent | undefined, kind: string): boolean {
  if (kind === '') return true;
  if (event === undefined) return kind === 'grants';
  return KINDS.get(kind)?.includes(event.kind) === true;
}

export function renderFilter(processes: readonly ProcessInfo[]): Markup {
  const names = laneOrder(processes).map(({ name }) => [name, clip(visible(name), 40)] as const);
  const kinds = [...KINDS.keys()].map((kind) => [kind, kind] as const);
  return element(
    'div',
    { class: 'filter', hidden: true, 'data-tool': '', role: 'search', 'aria-label': 'Events' },
    labelled('Find', element('input', { type: 'search', 'data-filter': 'text' })),
    labelled('Process', select('process', names)),
    labelled('Kind', select('kind', kinds)),
    element('p', { role: 'status', 'data-found': '' }),
  );
}

function labelled(name: string, control: Markup): Markup {
  return element('label', {}, `${name} `, control);
}

function select(name: string, choices: readonly (readonly [string, string])[]): Markup {
  const list = [['', 'all'] as const, ...choices].map(([value, text]) =>
    element('option', { value }, text),
  );
  return element('select', { 'data-filter': name }, list);
}
