/**
 * Steps through one finding. Shows the current step in words, in both pictures, in the states and
 * in the table of events, and handles the controls of these views. `findElement` and `all` look up
 * elements of the rendered page.
 */
import { assert } from '../../core/kernel/assert.ts';
import { render } from '../../text/markup.ts';
import { groupDigits, millisecondsOf } from '../../text/prose.ts';
import { isOfKind, renderEvents } from '../html/event-table.ts';
import { drawPictures, type PageData, stepOfViolation } from '../html/page-data.ts';
import { renderState, stateAfter } from '../html/process-state.ts';
import { xAt } from '../pictures/timeline.ts';
import { countEvents, listSteps, type Step, withPart } from '../steps.ts';

/** Returns the first element of a kind below `root`, which must exist. */
export function findElement<T extends Element>(
  root: ParentNode,
  selector: string,
  kind: abstract new () => T,
): T {
  const found = root.querySelector(selector);
  assert(found instanceof kind, `the page has a ${selector}`);
  return found;
}

/** Returns all elements of a kind below `root`. */
export function all<T extends Element>(
  root: ParentNode,
  selector: string,
  kind: abstract new () => T,
): readonly T[] {
  return [...root.querySelectorAll(selector)].filter((found): found is T => found instanceof kind);
}

/** The coordinates of steps in both pictures. A step that is not drawn is absent. */
interface Places {
  readonly fromUs: number;
  readonly untilUs: number;
  readonly yOf: ReadonlyMap<number, number>;
  /** The coordinate of each process in the warped picture. */
  readonly xOf: ReadonlyMap<string, number>;
}

/** Maximum number of steps to draw. Longer traces are drawn in part, around the current step. */
const MOST_DRAWN = 400;

/** Width of the highlight for the event of a sentence. */
const LIGHT_PX = 46;

export class FindingView {
  readonly article: HTMLElement;
  private readonly data: PageData;
  private readonly steps: readonly Step[];
  private readonly table: EventTable;
  private readonly hidden: Set<string> = new Set();
  private places: Places = { fromUs: 0, untilUs: 1, yOf: new Map(), xOf: new Map() };
  private at: number;

  constructor(article: HTMLElement, data: PageData) {
    this.article = article;
    this.data = data;
    this.steps = listSteps(data.trace, { evidence: data.evidence });
    this.table = new EventTable(article, data, this.steps);
    this.at = stepOfViolation(data, this.steps);
    for (const tool of all(article, '[data-tool]', HTMLElement)) tool.hidden = false;
    for (const button of all(article, '[data-go]', HTMLButtonElement)) {
      button.addEventListener('click', () => this.go(button.dataset['go'] ?? ''));
    }
    for (const button of all(article, '[data-story]', HTMLButtonElement)) {
      button.addEventListener('click', () =>
        this.move(button.dataset['story'] === 'back' ? -1 : 1),
      );
    }
    for (const box of all(article, '[data-lane]', HTMLInputElement)) {
      box.addEventListener('change', () => this.setLane(box.value, box.checked));
    }
    for (const radio of all(article, '.switches [type=radio]', HTMLInputElement)) {
      radio.addEventListener('change', () => this.setTime(radio.value));
    }
    // Collapsed content has no size, so it cannot be scrolled before it is opened.
    const folded = findElement(article, '[data-steps]', HTMLDetailsElement);
    folded.addEventListener('toggle', () => this.scrollFrames());
    this.draw();
    this.show();
  }

  /** Goes to the event in an address, `#e=12`. Returns false if this finding has no such event. */
  follow(hash: string): boolean {
    const { prefix } = this.data;
    const named = hash.slice(1);
    if (!named.startsWith(`${prefix}e=`)) return false;
    const number = Number(named.slice(prefix.length + 2));
    const at = this.steps.findIndex((step) => step.number === number);
    if (at === -1) return false;
    this.at = at;
    this.show();
    this.reveal();
    return true;
  }

  /** Scrolls to the picture and the step bar below it, which together describe the step. */
  reveal(): void {
    // Remove the focus from the link in the table, which would capture the keys.
    const focused = document.activeElement;
    if (focused instanceof HTMLElement && focused.closest('.table') !== null) focused.blur();
    const pictures = findElement(this.article, '[data-pictures]', HTMLElement);
    const folded = pictures.closest('details');
    if (folded !== null) folded.open = true;
    pictures.scrollIntoView({ block: 'start', behavior: 'instant' });
  }

  /** Handles a key. Returns false if it has no meaning here. */
  press(key: string): boolean {
    const goal = KEYS.get(key);
    if (goal === undefined) return false;
    this.go(goal);
    return true;
  }

  private go(goal: string): void {
    const last = this.steps.length - 1;
    const goals: Readonly<Record<string, number>> = {
      first: 0,
      back: this.at - 1,
      next: this.at + 1,
      last,
      violation: stepOfViolation(this.data, this.steps),
    };
    this.at = Math.max(0, Math.min(last, goals[goal] ?? this.at));
    this.show();
    const number = this.steps[this.at]?.number ?? null;
    if (number !== null) history.replaceState(null, '', `#${this.data.prefix}e=${number}`);
  }

  /** Moves to the next or previous sentence, and highlights its event in the picture. */
  private move(by: 1 | -1): void {
    const sentences = all(this.article, '.plainly [data-step]', HTMLElement);
    const current = sentences.findIndex((candidate) => candidate.classList.contains('now'));
    const next = Math.max(0, Math.min(sentences.length - 1, current === -1 ? 0 : current + by));
    const sentence = sentences[next];
    if (sentence === undefined) return;
    this.at = Number(sentence.dataset['step']);
    this.show();
    sentence.classList.add('now');
    sentence.setAttribute('aria-current', 'step');
    findElement(this.article, '[data-where]', HTMLElement).textContent = sentence.textContent;
    const light = findElement(this.canvas('true'), '[data-cursor]', SVGRectElement);
    light.setAttribute('x', String(light.x.baseVal.value - LIGHT_PX / 2));
    light.setAttribute('width', String(LIGHT_PX));
  }

  private setLane(process: string, isShown: boolean): void {
    if (isShown) this.hidden.delete(process);
    else this.hidden.add(process);
    this.draw();
    this.show();
  }

  private setTime(time: string): void {
    for (const figure of all(this.article, 'figure[data-time]', HTMLElement)) {
      figure.hidden = time !== 'both' && figure.dataset['time'] !== time;
    }
    this.scrollFrames();
  }

  private draw(): void {
    const around = this.eventAt(this.at);
    const drawing = {
      id: this.article.id,
      mostDrawn: MOST_DRAWN,
      hidden: this.hidden,
      steps: this.steps,
      ...(around === null ? {} : { around }),
    };
    const { timeline, sequence } = drawPictures(this.data, drawing);
    this.canvas('true').innerHTML = render(timeline.svg);
    this.canvas('warped').innerHTML = render(sequence.svg);
    const { yOf, xOf } = sequence;
    this.places = { fromUs: timeline.fromUs, untilUs: timeline.untilUs, yOf, xOf };
  }

  private canvas(time: string): HTMLElement {
    return findElement(this.article, `figure[data-time=${time}] .scroll`, HTMLElement);
  }

  private show(): void {
    const step = this.steps[this.at];
    if (step === undefined) return;
    const isElsewhere = step.event !== null && !this.places.yOf.has(step.event);
    if (isElsewhere && this.steps.length > MOST_DRAWN) this.draw();
    const prefix = step.process === '' ? '' : `${step.process}: `;
    const words = `${prefix}${withPart(step.text, step)}`;
    const where = findElement(this.article, '[data-where]', HTMLElement);
    where.innerHTML = render([
      `${this.countOf(step)} · ${millisecondsOf(step.atUs)} ms · ${words}`,
    ]);
    findElement(this.article, '[data-after]', HTMLElement).innerHTML = render([
      `Right after: ${words}`,
    ]);
    for (const sentence of all(this.article, '.plainly .now', HTMLElement)) {
      sentence.classList.remove('now');
      sentence.removeAttribute('aria-current');
    }
    this.showState();
    this.moveCursors(step);
    this.scrollFrames();
    this.table.mark(this.at);
    for (const button of all(this.article, '[data-go]', HTMLButtonElement)) {
      const isBack = button.dataset['go'] === 'first' || button.dataset['go'] === 'back';
      const isOn = button.dataset['go'] === 'last' || button.dataset['go'] === 'next';
      const isOut = (isBack && this.at === 0) || (isOn && this.at === this.steps.length - 1);
      button.setAttribute('aria-disabled', String(isOut));
    }
  }

  /** Returns `Event 5 of 12`, with the numbers used in the table and the address. */
  private countOf({ number }: Step): string {
    const ofAll = `of ${groupDigits(countEvents(this.steps))}`;
    if (number !== null) return `Event ${groupDigits(number)} ${ofAll}`;
    const before = countEvents(this.steps.slice(0, this.at));
    return before === 0 ? 'Before the first event' : `After event ${groupDigits(before)} ${ofAll}`;
  }

  private showState(): void {
    const { trace, plan, isFenced } = this.data;
    const options = { faults: plan.faults, steps: this.steps, isFenced };
    const [now = [], before = []] = [this.at, this.at - 1].map((at) =>
      stateAfter(trace, at, options).filter(({ process }) => !this.hidden.has(process)),
    );
    findElement(this.article, '[data-state]', HTMLElement).innerHTML = render(
      renderState(now, before),
    );
  }

  private moveCursors(step: Step): void {
    const event = this.eventAt(this.at);
    const y = event === null ? undefined : this.places.yOf.get(event);
    const isInside = step.atUs >= this.places.fromUs && step.atUs <= this.places.untilUs;
    const timeline = findElement(this.canvas('true'), '[data-cursor]', SVGRectElement);
    timeline.setAttribute('x', String(xAt(this.places, step.atUs) - 1.5));
    timeline.setAttribute('width', '3');
    timeline.setAttribute('visibility', isInside ? 'visible' : 'hidden');
    const warped = findElement(this.canvas('warped'), '[data-cursor]', SVGRectElement);
    warped.setAttribute('y', String((y ?? 0) - 11));
    warped.setAttribute('visibility', y === undefined ? 'hidden' : 'visible');
  }

  /** Scrolls each picture in its frame until the current step is visible. */
  private scrollFrames(): void {
    const step = this.steps[this.at];
    if (step === undefined) return;
    const lane = this.places.xOf.get(step.process);
    bringIntoFrame(this.canvas('true'), xAt(this.places, step.atUs));
    if (lane !== undefined) bringIntoFrame(this.canvas('warped'), lane);
  }

  /** Returns the event of a step, or the previous event for a step without an event. */
  private eventAt(at: number): number | null {
    return this.steps.slice(0, at + 1).findLast(({ event }) => event !== null)?.event ?? null;
  }
}

/** Minimum distance of a step from an edge, so that there is space for its label. */
const EDGE_PX = 60;

/** Scrolls an x coordinate to the middle of its frame, unless it is clearly visible. */
function bringIntoFrame(frame: HTMLElement, x: number): void {
  const svg = findElement(frame, 'svg', SVGSVGElement);
  const { left, width } = svg.getBoundingClientRect();
  const inside = left - frame.getBoundingClientRect().left + frame.scrollLeft;
  const at = inside + (x * width) / Math.max(1, svg.viewBox.baseVal.width);
  const isInSight =
    at >= frame.scrollLeft + EDGE_PX && at <= frame.scrollLeft + frame.clientWidth - EDGE_PX;
  if (!isInSight) frame.scrollLeft = at - frame.clientWidth / 2;
}

const KEYS: ReadonlyMap<string, string> = new Map([
  ['ArrowLeft', 'back'],
  ['ArrowRight', 'next'],
  ['Home', 'first'],
  ['End', 'last'],
  ['v', 'violation'],
]);

/** Maximum number of rows. Longer tables are shown in part, around the current step. */
const MOST_ROWS = 400;

interface Filter {
  readonly text: string;
  readonly process: string;
  readonly kind: string;
}

class EventTable {
  private readonly article: HTMLElement;
  private readonly data: PageData;
  private readonly steps: readonly Step[];
  private filter: Filter = { text: '', process: '', kind: '' };
  private found: readonly Step[];
  /** The rendered part of `found`. */
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

  /** Removes anchors, so that following an address does not scroll away from the pictures. */
  private dropAnchors(): void {
    for (const row of this.rows()) row.removeAttribute('id');
  }

  /** Marks the row of a step, and renders the part of the table that contains the row. */
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
    findElement(this.article, '[data-found]', HTMLElement).textContent = count;
    this.mark(this.at);
  }

  private isFound(step: Step): boolean {
    const { text, process, kind } = this.filter;
    const event = step.event === null ? undefined : this.data.trace.events[step.event];
    if (process !== '' && step.process !== process) return false;
    if (!isOfKind(event, kind)) return false;
    const words = `${step.number ?? ''} ${step.process} ${step.text} ${step.part}`;
    return text === '' || words.toLowerCase().includes(text);
  }

  private write(): void {
    const { prefix } = this.data;
    const after = this.found.findIndex((step) => this.steps.indexOf(step) >= this.at);
    const place = after === -1 ? this.found.length : after;
    const last = Math.max(0, this.found.length - MOST_ROWS);
    const from = Math.max(0, Math.min(place - MOST_ROWS / 2, last));
    this.shown = this.found.slice(from, from + MOST_ROWS);
    const table = renderEvents(this.shown, prefix, countEvents(this.steps));
    findElement(this.article, '[data-events]', HTMLElement).innerHTML = render(table);
    this.dropAnchors();
  }
}
