/** The table of events under way: what the filter leaves of it, and the row of the present step. */
import { render } from '../../text/markup.ts';
import { groupDigits } from '../../text/prose.ts';
import type { PageData } from '../page-data.ts';
import { renderEvents } from '../page-events.ts';
import { isOfKind } from '../page-tools.ts';
import type { Step } from '../steps.ts';
import { all, one } from './elements.ts';

/** More rows are shown in parts, around the present step. */
const MOST_ROWS = 400;

interface Filter {
  readonly text: string;
  readonly process: string;
  readonly kind: string;
}

export class EventTable {
  private readonly article: HTMLElement;
  private readonly data: PageData;
  private readonly steps: readonly Step[];
  private filter: Filter = { text: '', process: '', kind: '' };
  private found: readonly Step[];
  /** The part of `found` that is written; empty while the page's own rows stand. */
  private shown: readonly Step[];
  private at = 0;

  constructor(article: HTMLElement, data: PageData, steps: readonly Step[]) {
    this.article = article;
    this.data = data;
    this.steps = steps;
    this.found = steps;
    this.shown = steps.slice(-data.mostRows);
    for (const field of all(article, '[data-filter]', HTMLElement)) {
      field.addEventListener('input', () => this.refilter());
    }
    this.dropAnchors();
  }

  /** Where steps are shown in the pictures, an address must not lead to the row far below them. */
  private dropAnchors(): void {
    for (const row of this.rows()) row.removeAttribute('id');
  }

  /** Marks the row of a step, and writes the part of the table that it stands in. */
  mark(at: number): void {
    this.at = at;
    const step = this.steps[at];
    const isFound = step !== undefined && this.found.includes(step);
    if (this.shown.length > MOST_ROWS || (isFound && !this.shown.includes(step))) this.write();
    for (const row of all(this.article, 'tr.now', HTMLElement)) {
      row.classList.remove('now');
      row.removeAttribute('aria-current');
    }
    const row = this.rows()[step === undefined ? -1 : this.shown.indexOf(step)];
    row?.classList.add('now');
    row?.setAttribute('aria-current', 'step');
  }

  private rows(): readonly HTMLElement[] {
    return all(this.article, '[data-events] tbody tr', HTMLElement);
  }

  private refilter(): void {
    const value = (name: string): string => {
      const field = this.article.querySelector(`[data-filter=${name}]`);
      const isField = field instanceof HTMLInputElement || field instanceof HTMLSelectElement;
      return isField ? field.value : '';
    };
    const text = value('text').trim().toLowerCase();
    this.filter = { text, process: value('process'), kind: value('kind') };
    this.found = this.steps.filter((step) => this.isFound(step));
    this.write();
    const total = groupDigits(this.steps.length);
    const count = `${groupDigits(this.found.length)} of ${total} rows`;
    one(this.article, '[data-found]', HTMLElement).textContent = count;
    this.mark(this.at);
  }

  private isFound(step: Step): boolean {
    const { text, process, kind } = this.filter;
    const event = step.event === null ? undefined : this.data.trace.events[step.event];
    if (process !== '' && step.process !== process) return false;
    if (!isOfKind(event, kind)) return false;
    const words = `${step.event ?? ''} ${step.process} ${step.text} ${step.part}`;
    return text === '' || words.toLowerCase().includes(text);
  }

  private write(): void {
    const { prefix, trace } = this.data;
    const after = this.found.findIndex((step) => this.steps.indexOf(step) >= this.at);
    const place = after === -1 ? this.found.length : after;
    const last = Math.max(0, this.found.length - MOST_ROWS);
    const from = Math.max(0, Math.min(place - MOST_ROWS / 2, last));
    this.shown = this.found.slice(from, from + MOST_ROWS);
    const table = renderEvents(this.shown, { prefix, total: trace.events.length });
    one(this.article, '[data-events]', HTMLElement).innerHTML = render(table);
    this.dropAnchors();
  }
}
