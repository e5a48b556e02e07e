/**
 * Computes the layout of a sequence: a lane per process from left to right, and a row per moment
 * from top to bottom. Time is warped: every moment gets a readable row, and long waits are
 * compressed.
 */
import type { ProcessInfo, Trace } from '../../core/history/trace.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import { proseDuration } from '../../core/plan/duration.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { clip, displayWidth, visible } from '../../text/visible.ts';
import { isReply, type Span, spansOf, type TraceSpans } from '../spans.ts';
import { overlapText, violationText } from '../state-phrases.ts';
import {
  laneOrder,
  lastOfStory,
  listSteps,
  type Step,
  type StepOptions,
  UNNUMBERED,
} from '../steps.ts';
import { clientRole, type Role } from './shapes.ts';

const AFTER_THE_STORY = 8;
const LABEL_COLUMNS = 44;
/** Labels of stores include compared values. There is space, since stores are on the right. */
const STORE_COLUMNS = 66;
const COLUMN_PX = 6.6;
const HEAD_COLUMN_PX = 9.5;

/** Maximum length of a name in the head of a lane. */
export const HEAD_COLUMNS = 20;
const AXIS_PX = 78;
const TOP_PX = 78;
const ROW_PX = 22;
const LONG_WAIT = 5;

export interface Lane {
  readonly process: ProcessInfo;
  readonly x: number;
  /** Labels are to the left of lock services, and to the right of all other processes. */
  readonly labelSide: 'left' | 'right';
  /** The color of a client, or `soft` for servers. */
  readonly role: Role;
}

/** A step with its position. A row without a label only carries the ends of arrows and bars. */
export interface Item {
  readonly step: Step;
  readonly y: number;
  readonly label: string;
  readonly tone: 'plain' | 'faint' | 'danger';
}

export interface Layout {
  readonly trace: Trace;
  readonly spans: TraceSpans;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly items: readonly Item[];
  /** The y coordinate of each event that is drawn, by index. */
  readonly yOf: ReadonlyMap<number, number>;
  /** Waits that are much longer than the median, drawn as a break in the axis. */
  readonly waits: readonly { readonly y: number; readonly forUs: number }[];
  readonly width: number;
  readonly height: number;
  readonly bottom: number;
  /** The number of numbered events that are drawn. */
  readonly drawn: number;
}

export interface LayoutOptions extends StepOptions {
  /** The faults of the plan that produced the trace. */
  readonly faults: readonly Fault[];
  readonly claim: string;
  /** Maximum number of steps. The last steps are kept, because they lead to the violation. */
  readonly mostDrawn: number;
  /** An event that must be drawn, even if it is in another part of the trace. */
  readonly around?: number;
  /** Processes without a lane. */
  readonly hidden?: ReadonlySet<string>;
  /** The result of `listSteps` for this trace, if already computed. */
  readonly steps?: readonly Step[];
}

/** Lays out the part of the trace that contains the story. */
export function layOut(trace: Trace, options: LayoutOptions): Layout {
  const { hidden = new Set() } = options;
  const spans = spansOf(trace, options.faults);
  const steps = drawnSteps(trace, spans, options).filter(({ process }) => !hidden.has(process));
  const labelled = steps.map((step) => ({ step, ...labelOf(step, trace) }));
  const { items, waits, bottom } = rowsOf(labelled);
  const used = new Set(items.map(({ step }) => step.process));
  const processes = laneOrder(trace.processes).filter(({ name }) => used.has(name));
  const { lanes, width } = lanesOf(processes, items);
  const events = items.flatMap(({ step, y }) => (step.event === null ? [] : [[step.event, y]]));
  const yOf = new Map(events.map(([event = 0, y = 0]) => [event, y]));
  const drawn = items.filter(({ step }) => step.number !== null).length;
  const size = { width, height: bottom + 34, bottom, drawn };
  return { trace, spans, lanes, items, yOf, waits, ...size };
}

/** Returns the y coordinate of a time, interpolated if no row has this time. */
export function yAt(layout: Layout, atUs: number): number {
  let before: Item | undefined;
  for (const item of layout.items) {
    if (item.step.atUs === atUs) return item.y;
    if (item.step.atUs > atUs) {
      if (before === undefined) return TOP_PX - 10;
      const share = (atUs - before.step.atUs) / (item.step.atUs - before.step.atUs);
      return before.y + share * (item.y - before.y);
    }
    before = item;
  }
  return layout.bottom + 14;
}

/** Returns the steps to draw, including overlaps and the violation, which are not events. */
function drawnSteps(trace: Trace, spans: TraceSpans, options: LayoutOptions): readonly Step[] {
  const steps = options.steps ?? listSteps(trace, options);
  const story = lastOfStory(trace, options.evidence);
  const healed = trace.events.findIndex((event) => event.kind === 'healed');
  // The story of a run without evidence has no natural end, so it ends before the `healed` event.
  const isTruncatedAtHealing = healed > story || (healed > 0 && options.evidence.length === 0);
  const lastEvent = Math.min(
    trace.events.length - 1,
    story + AFTER_THE_STORY,
    isTruncatedAtHealing ? healed - 1 : Number.POSITIVE_INFINITY,
  );
  const shown = windowOf(steps, lastEvent, options);
  const violation = shown.findIndex((step) => step.event === story && step.part !== '');
  if (violation >= 0) {
    const { process = '', atUs = 0, part = '' } = shown[violation] ?? {};
    const text = violationText(part, options.claim);
    const fields = { ...UNNUMBERED, text, label: text, part: 'violation' };
    shown.splice(violation + 1, 0, { ...fields, atUs, process });
  }
  for (const overlap of spans.overlaps) {
    const { process, fromUs } = overlap;
    const text = overlapText(overlap);
    const at = shown.findIndex(({ atUs }) => atUs > fromUs);
    if (at <= 0) continue;
    const fields = { ...UNNUMBERED, text, label: text, part: 'overlap' };
    shown.splice(at, 0, { ...fields, atUs: fromUs, process });
  }
  return shown;
}

/** Returns the steps up to `lastEvent`, or the steps around an event that must be included. */
function windowOf(
  steps: readonly Step[],
  lastEvent: number,
  { mostDrawn, around }: LayoutOptions,
): Step[] {
  const end = steps.findIndex((step) => step.event === lastEvent) + 1;
  const start = Math.max(0, end - mostDrawn);
  const wanted = around === undefined ? -1 : steps.findIndex(({ event }) => event === around);
  if (wanted === -1 || (wanted >= start && wanted < end)) return steps.slice(start, end);
  const from = Math.max(0, Math.min(wanted - Math.floor(mostDrawn / 2), steps.length - mostDrawn));
  return steps.slice(from, from + mostDrawn);
}

type Labelled = Pick<Item, 'step' | 'label' | 'tone'>;

function labelOf(step: Step, trace: Trace): Pick<Item, 'label' | 'tone'> {
  const event = step.event === null ? undefined : trace.events[step.event];
  const ofOther = step.part === 'violation' ? 2 * LABEL_COLUMNS : LABEL_COLUMNS;
  const isAccess = event?.kind === 'write' || event?.kind === 'read';
  const label = clip(visible(step.text), isAccess ? STORE_COLUMNS : ofOther);
  if (event === undefined) return { label, tone: step.part === '' ? 'faint' : 'danger' };
  if (event.kind === 'send') {
    if (isReply(event.message)) return { label: '', tone: 'plain' };
    // The arrow shows the receiver.
    const asked = clip(visible(step.label), LABEL_COLUMNS);
    return { label: asked, tone: step.part === '' ? 'plain' : 'danger' };
  }
  const isShown = step.weight < 3 || event.kind === 'deny' || event.kind === 'mark';
  const shown = isShown || event.kind === 'healed' ? label : '';
  return { label: shown, tone: 'plain' };
}

function rowsOf(labelled: readonly Labelled[]): Pick<Layout, 'items' | 'waits' | 'bottom'> {
  const unit = medianWaitUs(labelled);
  const items: Item[] = [];
  const waits: { y: number; forUs: number }[] = [];
  let y = TOP_PX;
  let isTaken = false;
  let last: Labelled | undefined;
  for (const next of labelled) {
    const waitUs = last === undefined ? 0 : next.step.atUs - last.step.atUs;
    const isNew = waitUs > 0 || next.step.process !== last?.step.process;
    // The height grows with the logarithm of the wait, from one row to three.
    const ofWait = Math.round(ROW_PX + 4 + Math.min(40, 10 * Math.log2(1 + waitUs / unit)));
    const height = waitUs === 0 ? ROW_PX : ofWait;
    if (waitUs >= unit * LONG_WAIT) waits.push({ y: y + height / 2, forUs: waitUs });
    if (isNew && last !== undefined) y += height;
    if (!isNew && isTaken && next.label !== '') y += ROW_PX;
    isTaken = next.label !== '' || (isTaken && !isNew);
    items.push({ ...next, y });
    last = next;
  }
  return { items, waits, bottom: y + 10 };
}

function medianWaitUs(labelled: readonly Labelled[]): number {
  const waits = labelled
    .map(({ step }, at) => step.atUs - (labelled[at - 1]?.step.atUs ?? step.atUs))
    .filter((waitUs) => waitUs > 0)
    .sort((left, right) => left - right);
  return waits[Math.floor(waits.length / 2)] ?? 1;
}

function lanesOf(
  processes: readonly ProcessInfo[],
  items: readonly Item[],
): Pick<Layout, 'lanes' | 'width'> {
  const lanes = new Map<string, Lane>();
  let right = AXIS_PX;
  let headEnd = 0;
  let clients = 0;
  for (const process of processes) {
    const labelSide = process.role === 'lock' ? 'left' : 'right';
    // Reserve space for the longest label of the lane.
    const columns = items.map(({ step, label }) =>
      step.process === process.name ? displayWidth(label) : 0,
    );
    const flag = process.role === 'store' ? 34 : 0;
    const space = Math.max(70, Math.max(...columns) * COLUMN_PX + 26 + flag);
    const isClient = process.role === 'client' || process.role === 'probe';
    const role = isClient ? clientRole(clients) : 'soft';
    if (isClient) clients += 1;
    const afterHead = headEnd === 0 ? 0 : headEnd + 14 + headWidth(process) / 2;
    const x = Math.max(afterHead, right + (labelSide === 'left' ? space : 44));
    headEnd = x + headWidth(process) / 2;
    lanes.set(process.name, { process, x, labelSide, role });
    right = x + (labelSide === 'left' ? 56 : space);
  }
  return { lanes, width: Math.max(right, headEnd) + 16 };
}

function headWidth({ name }: ProcessInfo): number {
  return Math.min(HEAD_COLUMNS, displayWidth(visible(name))) * HEAD_COLUMN_PX;
}

/** Returns the labels of the axis: one per instant, beside the first row of the instant. */
export function axisOf(layout: Layout): readonly { readonly y: number; readonly text: string }[] {
  let last: number | undefined;
  return layout.items.flatMap(({ step, y }) => {
    if (step.atUs === last) return [];
    last = step.atUs;
    return [{ y, text: proseDuration(step.atUs) }];
  });
}

/**
 * Assigns each span, in order, to the first free slot of its lane, so that concurrent spans are
 * side by side. Slot 0 is the middle of the lane.
 */
export function inSlots<S extends Span>(
  spans: readonly S[],
): readonly (S & { readonly slot: number })[] {
  const lanes = new Map<string, (number | null)[]>();
  return spans.map((span) => {
    const busyUntil = entryOf(lanes, span.process, () => []);
    const free = busyUntil.findIndex((untilUs) => untilUs !== null && untilUs <= span.fromUs);
    const slot = free === -1 ? busyUntil.length : free;
    busyUntil[slot] = span.untilUs;
    return { ...span, slot };
  });
}
