/** The table of events: the accessible equivalent of the picture, and what `#e=12` links to. */
import { element, type Markup } from '../text/markup.ts';
import { groupDigits, millisecondsOf } from '../text/prose.ts';
import type { Step } from './steps.ts';

export interface EventsOptions {
  readonly prefix: string;
  /** Events of the whole trace. */
  readonly total: number;
}

/**
 * One row an event, anchored `e=<index>` (`<prefix>e=<index>` for a prefix, so that several tables
 * fit one page). Leases that run out have a row without a number.
 */
export function renderEvents(rows: readonly Step[], options: EventsOptions): Markup {
  const shown = rows.filter(({ event }) => event !== null).length;
  const note = `Showing ${groupDigits(shown)} of ${groupDigits(options.total)} events`;
  return element(
    'table',
    {},
    element('caption', {}, `${note}, in the order in which they happened. Times are true time.`),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col', class: 'number' }, 'Event'),
        element('th', { scope: 'col', class: 'number' }, 'ms'),
        element('th', { scope: 'col' }, 'Process'),
        element('th', { scope: 'col' }, 'What happens'),
        element('th', { scope: 'col' }, 'Part in the evidence'),
      ),
    ),
    element(
      'tbody',
      {},
      rows.map((step) => renderRow(step, options.prefix)),
    ),
  );
}

function renderRow(step: Step, prefix: string): Markup {
  const { event, atUs, process, text, part } = step;
  const id = event === null ? null : `${prefix}e=${event}`;
  const number =
    event === null ? '–' : element('a', { href: `#${prefix}e=${event}` }, String(event));
  return element(
    'tr',
    { id, class: part === '' ? null : 'part', 'data-row': event ?? '' },
    element('th', { scope: 'row', class: 'number' }, number),
    element('td', { class: 'number' }, millisecondsOf(atUs)),
    element('td', {}, element('bdi', {}, process === '' ? 'world' : process)),
    element('td', {}, element('bdi', {}, text)),
    element('td', {}, part === '' ? '' : `← ${part}`),
  );
}
