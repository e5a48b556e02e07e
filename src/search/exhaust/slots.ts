/**
 * Finds the slots in which the next fault of a plan can be placed, by watching a run of the plan. A
 * slot is a point that a client passed, a message, or a timer, if the scenario allows a fault
 * there. Slots are listed in the order in which the run reaches them.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { TraceEvent } from '../../core/history/events.ts';
import type { Trace } from '../../core/history/trace.ts';
import { assert } from '../../core/kernel/assert.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import type { RangeUs } from '../../core/plan/duration.ts';
import {
  amountField,
  type Fault,
  type FieldType,
  type FieldTypes,
  faultWith,
  placeNamed,
  type When,
  type Which,
  type WhichTimer,
} from '../../core/plan/fault.ts';
import { isTimer, sectionPointsOf } from '../../core/plan/operation-names.ts';
import { outside } from '../../core/plan/places.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunWatcher } from '../../core/world/world.ts';
import {
  type FaultTemplate,
  type Place,
  type Target,
  type TemplateField,
  targetIn,
} from '../../scenario/scenario.ts';

/** A place in a run, with a fault that can be injected there. The amount of the fault is open. */
export interface Slot {
  /** Distinguishes and orders the slots at one place. */
  readonly key: string;
  /** The place of injection: `before alice/1/write`, `message alice/1/write/1/request`, `at 0`. */
  readonly place: string;
  /** The length of the trace when the fault fires. */
  readonly position: number;
  /** The index of the turn in which the fault fires, from 0. Fractional if its time is fixed. */
  readonly turn: number;
  readonly atUs: number;
  /** The allowed amounts, as a union of ranges. Empty if the fault has no amount. */
  readonly ranges: readonly RangeUs[];
  readonly fault: (amountUs: number) => Fault;
}

/** A run, and the places in it at which a fault can be injected. */
export interface Watched {
  readonly plan: Plan;
  readonly trace: Trace;
  /** The first occurrence of each place. */
  readonly passed: ReadonlyMap<string, Passed>;
  /** The first firing of each timer of a client, by name. */
  readonly timers: ReadonlyMap<string, Passed>;
  /** The first event of each instant. */
  readonly instants: readonly Passed[];
  /** The trace index at which each fault fired, by index of the fault in the plan. */
  readonly injections: ReadonlyMap<number, number>;
  /** All events of the event loop, in order. */
  readonly turns: readonly Turn[];
}

/** An event of the event loop, and the length of the trace before it. */
export interface Turn {
  readonly text: string;
  readonly atUs: number;
  readonly tie: number;
  readonly traced: number;
}

interface Passed {
  readonly position: number;
  readonly turn: number;
  readonly atUs: number;
  /** True if the place coincides with the previous place, which represents both. */
  readonly isTwin?: true;
}

/** The function that watches runs, and the catalogue for the names in their plans. */
export interface Watching {
  readonly catalogue: Catalogue;
  /** `watchAsync`, except in the page, which has no asynchronous code. */
  readonly watch: (plan: Plan, catalogue: Catalogue, watcher: RunWatcher) => Trace | Promise<Trace>;
}

/** Runs a plan and watches it. The stores must be prepared. */
export async function watchRun(plan: Plan, { catalogue, watch }: Watching): Promise<Watched> {
  const clients = new Set(plan.clients.map(({ name }) => name));
  const timers = new Map<string, Passed>();
  const instants: Passed[] = [];
  const turns: Turn[] = [];
  let nowUs = -1;
  const trace = await watch(plan, catalogue, ({ name: { text }, timeUs, tie }, _, traced) => {
    const turn = turns.length;
    if (timeUs !== nowUs) instants.push({ position: traced, turn: turn - 0.5, atUs: timeUs });
    nowUs = timeUs;
    if (isTimer(text, clients) && !timers.has(text)) {
      timers.set(text, { position: traced, turn, atUs: timeUs });
    }
    turns.push({ text, atUs: timeUs, tie, traced });
  });
  const injections = injectionsIn(trace);
  const passed = passedIn({ trace, plan, turns }, injections);
  return { plan, trace, passed, timers, instants, injections, turns };
}

/** Returns the index of the turn that recorded an event of the trace. */
export function turnOf(turns: readonly Turn[], event: number): number {
  let [least, most] = [0, turns.length - 1];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if ((turns[middle]?.traced ?? 0) <= event) least = middle;
    else most = middle - 1;
  }
  return least;
}

function injectionsIn({ events }: Trace): ReadonlyMap<number, number> {
  const injections = new Map<number, number>();
  events.forEach((event, position) => {
    if (event.kind !== 'fault' || event.index === null || injections.has(event.index)) return;
    injections.set(event.index, position);
  });
  return injections;
}

/**
 * Returns the first time that each place is passed. A point at which a fault fired counts as passed
 * at that moment, because the fault delays the record of the operation.
 */
function passedIn(
  { trace: { events }, plan: { faults }, turns }: Pick<Watched, 'trace' | 'plan' | 'turns'>,
  injections: ReadonlyMap<number, number>,
): ReadonlyMap<string, Passed> {
  const passed = new Map<string, Passed>();
  const pass = (place: string, event: number, at: Omit<Passed, 'turn'>): void => {
    if (passed.has(place)) return;
    const { position, atUs, isTwin } = at;
    const turn = turnOf(turns, event);
    passed.set(place, isTwin ? { position, atUs, isTwin, turn } : { position, atUs, turn });
  };
  for (const [index, position] of injections) {
    const fault = faults[index];
    const atUs = events[position]?.atUs ?? 0;
    if (fault !== undefined) pass(injectedAt(fault), position, { position, atUs });
  }
  events.forEach((event, at) => {
    const { atUs } = event;
    switch (event.kind) {
      case 'invoke':
        pass(`before ${event.operation}`, at, { position: at, atUs });
        break;
      case 'return':
        pass(`after ${event.operation}`, at, { position: at + 1, atUs });
        break;
      case 'mark':
        pass(`before ${event.point}`, at, { position: at + 1, atUs });
        pass(`after ${event.point}`, at, { position: at + 1.5, atUs, isTwin: true });
        break;
      case 'send':
        pass(`message ${event.message}`, at, { position: at + 1, atUs });
    }
  });
  return passed;
}

/** Returns the place of a fault, as in `Slot.place`. */
export function injectedAt(fault: Fault): string {
  const at = 'which' in fault ? fault.which : fault.when;
  return 'atUs' in at ? `at ${at.atUs}` : `${at.kind} ${placeNamed(fault)}`;
}

/** A fault without its place and its amount. */
interface Form {
  readonly template: FaultTemplate;
  readonly values: ReadonlyMap<string, FieldTypes[FieldType]>;
  readonly processes: readonly string[];
}

/** Finds the slots of runs of one scenario. */
export class Slots {
  private readonly forms: readonly Form[];
  private readonly verbs = new Map<string, ReadonlySet<string>>();

  constructor(templates: readonly FaultTemplate[]) {
    this.forms = templates.flatMap(formsOf);
  }

  /** Returns the slots in the order in which a run reaches them. */
  in(watched: Watched): readonly Slot[] {
    const slots = new Map<string, Slot>();
    for (const form of this.forms) {
      for (const slot of this.of(form, watched)) {
        // A fault that never ends has a separate slot.
        const name = `${slot.place} ${slot.key} ${slot.ranges.length}`;
        const known = slots.get(name);
        const ranges = known === undefined ? slot.ranges : [...known.ranges, ...slot.ranges];
        slots.set(name, { ...slot, ranges });
      }
    }
    return [...slots.values()].sort(byPosition);
  }

  private of(form: Form, watched: Watched): readonly Slot[] {
    const { template } = form;
    const target = targetIn(template)?.value;
    if (target === undefined) return this.atPoints(form, watched);
    const isTimer = template.kind === 'late-timer';
    const named = isTimer
      ? [...watched.timers].filter(([name, at]) => isTimerMeant(target, name, at))
      : this.messages(form, target, watched);
    return named.flatMap(([name, passed]) => {
      if (passed.atUs >= watched.plan.limits.healAtUs) return [];
      const place = isTimer
        ? ({ kind: 'timer', timer: name } as const)
        : ({ kind: 'message', message: name } as const);
      return [slotAt(form, place, passed)];
    });
  }

  private messages(
    { template }: Form,
    target: Target,
    { plan, trace, turns }: Watched,
  ): readonly (readonly [string, Passed])[] {
    const isDatagram = plan.network.link === 'datagram';
    if (template.kind === 'duplicate' && !isDatagram) return [];
    const found = new Map<string, Passed>();
    const links = new Set<string>();
    trace.events.forEach((event, at) => {
      if (event.kind !== 'send' || found.has(event.message)) return;
      const isRequest = event.message.endsWith('/request');
      if (template.kind === 'duplicate' && !isRequest) return;
      if (!this.isMeant(target, event, { plan, links })) return;
      const turn = turnOf(turns, at);
      found.set(event.message, { position: at + 1, turn, atUs: event.atUs });
    });
    return [...found];
  }

  private isMeant(
    target: Target,
    { message, from, to, atUs }: Extract<TraceEvent, { readonly kind: 'send' }>,
    { plan, links }: { readonly plan: Plan; readonly links: Set<string> },
  ): boolean {
    switch (target.kind) {
      case 'any':
        return true;
      case 'named':
        return message === target.name;
      case 'verb': {
        const suffix = `/1/${target.leg}`;
        const operation = message.endsWith(suffix) ? message.slice(0, -suffix.length) : '';
        const [client = ''] = operation.split('/');
        return target.clients.includes(client) && this.pointsOf(target.verb, plan).has(operation);
      }
      case 'link': {
        // Includes the first message on the link after the last time that may be drawn.
        if (!target.from.includes(from) || !target.to.includes(to)) return false;
        if (atUs < target.at.minUs || links.has(`${from} ${to}`)) return false;
        if (atUs >= target.at.maxUs) links.add(`${from} ${to}`);
        return true;
      }
      default:
        return false;
    }
  }

  /** Returns the operations of a plan with this verb. Asynchronous code may define verbs. */
  private pointsOf(verb: string, { clients, system: { store } }: Plan): ReadonlySet<string> {
    return entryOf(this.verbs, verb, () => {
      const points = clients.flatMap((client) =>
        client.sections.flatMap((section) =>
          sectionPointsOf({ client, section, store, operations: [verb] }),
        ),
      );
      return new Set(points.flatMap((entry) => (entry.verb === verb ? [entry.point] : [])));
    });
  }

  private atPoints(form: Form, watched: Watched): readonly Slot[] {
    const { plan, passed, instants } = watched;
    const { kind, fields } = form.template;
    const field = fields.find(({ type }) => type === 'when');
    assert(field?.type === 'when', `a ${kind} is placed by its time or its target`);
    const place = field.value;
    const slots: Slot[] = [];
    if (place.kind === 'at' && place.at.minUs === place.at.maxUs) {
      const fixedUs = place.at.minUs;
      const first = instants.find(({ atUs }) => atUs >= fixedUs);
      const { position, turn } = first ?? { position: watched.trace.events.length, turn: Infinity };
      const when: When = { kind: 'at', atUs: fixedUs };
      return [slotAt(form, when, { position, turn, atUs: fixedUs })];
    }
    const clients = new Set(plan.clients.map(({ name }) => name));
    const clientNames = form.processes.filter((name) => clients.has(name));
    const subjects = clientNames.length > 0 ? new Set(clientNames) : clients;
    for (const [text, at] of passed) {
      const when = whenOf(text);
      if (when === null || at.atUs >= plan.limits.healAtUs) continue;
      if (!subjects.has(when.point.slice(0, when.point.indexOf('/')))) continue;
      if (this.allows(place, when, at, plan)) slots.push(slotAt(form, when, at));
    }
    return slots;
  }

  private allows(place: Place, when: PointWhen, at: Passed, plan: Plan): boolean {
    switch (place.kind) {
      case 'anywhere':
        return at.isTwin !== true;
      case 'at':
        return at.isTwin !== true && outside(at.atUs, place.at) === 0;
      case 'point':
        return place.point === when.point && place.side === when.kind;
      case 'verb':
        return place.side === when.kind && this.pointsOf(place.verb, plan).has(when.point);
    }
  }
}

type PointWhen = Exclude<When, { readonly kind: 'at' }>;

function whenOf(place: string): PointWhen | null {
  const [, kind, point] = /^(before|after) (.*)$/.exec(place) ?? [];
  if (point === undefined) return null;
  return { kind: kind === 'before' ? 'before' : 'after', point };
}

function isTimerMeant(target: Target, name: string, { atUs }: Passed): boolean {
  if (target.kind === 'timer') return target.name === name;
  if (target.kind !== 'process') return target.kind === 'any';
  const isIts = target.processes.includes(name.slice(0, name.indexOf('/')));
  return isIts && atUs >= target.at.minUs;
}

/** Returns every combination of the field values of a template. */
function formsOf(template: FaultTemplate): readonly Form[] {
  let forms: readonly ReadonlyMap<string, FieldTypes[FieldType]>[] = [new Map()];
  for (const field of template.fields) {
    const choices = choicesOf(field);
    if (choices === null) continue;
    forms = forms.flatMap((form) =>
      choices.map((choice) => new Map([...form, [field.name, choice]])),
    );
  }
  return forms.map((values) => {
    const named = template.fields.flatMap(({ name, type }) => {
      return type === 'process' || type === 'group' ? [values.get(name)] : [];
    });
    return { template, values, processes: named.flat().map(String) };
  });
}

/** Returns the values of a field. Null if the field is the place or the amount of the fault. */
function choicesOf(field: TemplateField): readonly FieldTypes[FieldType][] | null {
  switch (field.type) {
    case 'process':
    case 'group':
      return field.value;
    case 'rate':
      return [...new Set([field.value.minUs, field.value.maxUs])];
    case 'key':
    case 'direction':
    case 'clocks':
      return [field.value];
    default:
      return null;
  }
}

function slotAt(
  { template, values }: Form,
  place: When | Which | WhichTimer,
  { position, turn, atUs }: Passed,
): Slot {
  const { kind } = template;
  const amount = amountField(kind);
  const fault = (amountUs: number): Fault =>
    faultWith(kind, ({ name, type }) => {
      if (type === 'when' || type === 'message' || type === 'timer') return place;
      if (name !== amount?.name) return values.get(name) ?? null;
      return range === null ? null : amountUs;
    });
  const range = rangeOf(template);
  const ranges = range === null ? [] : [range];
  const any = fault(0);
  return { key: keyOf(any), place: injectedAt(any), position, turn, atUs, ranges, fault };
}

/** Returns the fault with another amount, which may be negative. */
export function amountingTo(fault: Fault, us: number): Fault {
  const { kind } = fault;
  const amount = amountField(kind)?.name;
  const values = new Map(Object.entries(fault));
  return faultWith(kind, ({ name }) => (name === amount ? us : (values.get(name) ?? null)));
}

/** Returns a key that distinguishes two faults at one place. The key ignores amounts. */
export function keyOf(fault: Fault): string {
  const amount = amountField(fault.kind)?.name;
  const values = Object.entries(fault).filter(([name]) => {
    return name !== amount && name !== 'when' && name !== 'which';
  });
  return JSON.stringify(values);
}

/** Returns the allowed amounts. Null if the fault has none or never ends. */
function rangeOf({ fields }: FaultTemplate): RangeUs | null {
  for (const { type, value } of fields) {
    if (type === 'duration' || type === 'durationOrNever' || type === 'step') return value;
  }
  return null;
}

function byPosition(a: Slot, b: Slot): number {
  if (a.position !== b.position) return a.position - b.position;
  if (a.place !== b.place) return a.place < b.place ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}
