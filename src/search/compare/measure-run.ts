/**
 * One run as the numbers that systems are compared by: a pure function of its plan and trace. What
 * became of each section is told by its client's events; which updates went wrong, by the order in
 * which the stores handled things.
 */
import { sectionOf } from '../../check/contention.ts';
import { firstValue, intentOf, isEffective, recoveredValue } from '../../check/contents.ts';
import {
  indexTrace,
  type KeyLog,
  type PlaceLog,
  type TraceIndex,
} from '../../check/trace-index.ts';
import type { Call, Return, Trace } from '../../core/history/trace.ts';
import type { ClientPlan, Plan, SectionPlan, Work } from '../../core/plan/plan.ts';

export interface RunMeasures {
  /** Sections that clients were to do. */
  readonly planned: number;
  readonly begun: number;
  readonly acknowledged: number;
  /** When the last client was done; where one never is, not before the world healed. At least 1. */
  readonly doneUs: number;
  /** Of every section that got its lock, or without one its commit, in the plan's order. */
  readonly waitsUs: readonly number[];
  /** Of every acknowledged section with writes: from its first request to its last answer. */
  readonly commitsUs: readonly number[];
  readonly retries: number;
  /** Sections given up, and requests denied because they would have closed a circle. */
  readonly aborts: number;
  readonly deadlocks: number;
  /** Sections whose client waits for ever. */
  readonly stuck: number;
  /** Over all counters: updates that a store accepted and that are in its final value no more. */
  readonly lost: number;
  /** How often an update took effect again that had taken effect before. */
  readonly repeated: number;
}

/** What a run comes to. The plan has no probe, whose writes would count as a client's. */
export function measureRun(plan: Plan, trace: Trace): RunMeasures {
  const indexed = indexTrace(trace);
  const fates = sectionFates(plan, indexed);
  const count = (of: (fate: SectionFate) => boolean): number => fates.filter(of).length;
  const stuck = count(({ fate }) => fate === 'stuck');
  const givenUp = count(({ fate }) => fate === 'given-up');
  return {
    planned: fates.length,
    begun: count(({ fate }) => fate !== 'never'),
    acknowledged: count(({ fate }) => fate === 'acknowledged'),
    doneUs: Math.max(1, doneUs(trace, stuck > 0)),
    commitsUs: fates.flatMap(({ commitUs }) => (commitUs === null ? [] : [commitUs])),
    waitsUs: fates.flatMap(({ waitUs }) => (waitUs === null ? [] : [waitUs])),
    retries: fates.reduce((sum, { retries }) => sum + retries, 0),
    aborts: givenUp + deniedForCircles(trace),
    deadlocks: trace.events.filter(({ kind }) => kind === 'deadlock').length,
    stuck,
    ...wrongUpdates(indexed),
  };
}

function doneUs({ events }: Trace, isAnyStuck: boolean): number {
  let lastUs = 0;
  for (const event of events) {
    const isDone = event.kind === 'return' || event.kind === 'leave';
    if (isDone || (isAnyStuck && event.kind === 'healed')) lastUs = event.atUs;
  }
  return lastUs;
}

/** Denials that follow at once on a circle, to the client that would have closed it. */
function deniedForCircles({ events }: Trace): number {
  let denied = 0;
  for (const [at, event] of events.entries()) {
    const next = events[at + 1];
    if (event.kind !== 'deadlock' || next?.kind !== 'deny' || next.waits === true) continue;
    if (next.client === event.waits[0]?.client) denied += 1;
  }
  return denied;
}

/**
 * `acknowledged`: every write was answered with yes, or a memoize found its value; `unknown`: one
 * got no answer; `stuck`: it waits for ever; `crashed`: its client did, in it; `given-up`: it ended
 * without its writes; `never`: its client did not get to it.
 */
type Fate = 'acknowledged' | 'unknown' | 'stuck' | 'crashed' | 'given-up' | 'never';

interface SectionFate {
  readonly fate: Fate;
  /**
   * From its first request to its lock being held, or, where there is no lock, to the first write
   * that was accepted; null where neither came.
   */
  readonly waitUs: number | null;
  /** From its first request to the answer that its last write was accepted; null without one. */
  readonly commitUs: number | null;
  /** Attempts at its lock, and at its writes, beyond the first ones. */
  readonly retries: number;
}

interface Seen {
  firstUs: number | null;
  enteredUs: number | null;
  /** When the first, and when the last of its writes was acknowledged. */
  writtenUs: number | null;
  committedUs: number | null;
  /** At its lock: one, however many servers were asked. */
  attempts: number;
  repeats: number;
  /** Whether a read brought it a value that somebody stored. */
  isServed: boolean;
  isOpen: boolean;
  hasLeft: boolean;
  /** What its last call was, and whether that was granted, accepted or served. */
  last: { readonly verb: Call['verb']; readonly isYes: boolean } | null;
  isCrashed: boolean;
  /** By the first operation that is to do it: whether a write was accepted, or may have been. */
  readonly writes: Map<string, 'yes' | 'perhaps' | 'no'>;
}

/**
 * The fate of every section that the plan's clients have, in the plan's order, as its client saw
 * it. A section's operations are found by their names: `alice/2/…` are those of alice's second
 * section.
 */
function sectionFates(plan: Plan, indexed: TraceIndex): readonly SectionFate[] {
  const seen = new Map<string, Seen>();
  const places = plan.clients.flatMap(({ name, sections }) =>
    sections.map((section) => ({ name: `${name}/${section.id}`, section })),
  );
  for (const { name } of places) seen.set(name, nothingYet());
  noteOperations(indexed, seen, new Map(places.map(({ name, section }) => [name, section])));
  noteEvents(plan, indexed.trace, seen);
  return places.map(({ name, section }) => fateOf(seen.get(name) ?? nothingYet(), section));
}

function nothingYet(): Seen {
  return {
    ...{ firstUs: null, enteredUs: null, writtenUs: null, committedUs: null },
    ...{ attempts: 0, repeats: 0, isServed: false, isOpen: false, hasLeft: false, last: null },
    ...{ isCrashed: false, writes: new Map() },
  };
}

/** The first request of an attempt: what goes to further servers, or follows it, is named on. */
const ATTEMPT = /^\/acquire(-round)?(-\d+)?$/;

function hasValue(answer: Return | null): boolean {
  return answer?.answer?.kind === 'value' && answer.answer.value !== 0;
}

function noteOperations(
  indexed: TraceIndex,
  seen: ReadonlyMap<string, Seen>,
  sections: ReadonlyMap<string, SectionPlan>,
): void {
  for (const [operation, { invoke, return: answer }] of indexed.operations) {
    const name = sectionOf(operation);
    const section = seen.get(name);
    if (section === undefined) continue;
    const { call, atUs } = invoke.event;
    section.firstUs ??= atUs;
    section.isOpen = answer === null;
    section.last = { verb: call.verb, isYes: isYes(answer?.event ?? null) };
    if (call.verb === 'acquire' && call.lock === sections.get(name)?.lock) {
      if (ATTEMPT.test(operation.slice(name.length))) section.attempts += 1;
    }
    if (call.verb === 'read') section.isServed ||= hasValue(answer?.event ?? null);
    if (call.verb !== 'write') continue;
    if (call.repeats !== undefined) section.repeats += 1;
    const isTaken = answer?.event.outcome === 'ok' && answer.event.answer?.kind === 'accepted';
    if (isTaken) {
      section.writtenUs ??= answer.event.atUs;
      section.committedUs = answer.event.atUs;
    }
    const intent = call.repeats ?? operation;
    const before = section.writes.get(intent) ?? 'no';
    const fate = isTaken ? 'yes' : answer?.event.outcome === 'info' ? 'perhaps' : before;
    section.writes.set(intent, before === 'yes' ? before : fate);
  }
}

function isYes(answer: Return | null): boolean {
  const kind = answer?.answer?.kind;
  return answer?.outcome === 'ok' && kind !== 'denied' && kind !== 'refused';
}

function noteEvents(plan: Plan, { events }: Trace, seen: ReadonlyMap<string, Seen>): void {
  for (const event of events) {
    if (event.kind === 'enter' || event.kind === 'leave') {
      const section = seen.get(event.section);
      if (section === undefined) continue;
      if (event.kind === 'enter') section.enteredUs = event.atUs;
      else section.hasLeft = true;
    }
    if (event.kind !== 'fault' || event.fault !== 'crash') continue;
    for (const client of plan.clients) {
      if (event.processes.includes(client.name)) markCrashed(client, event.atUs, seen);
    }
  }
}

/** A crash ends the section that is under way; one that comes while a client thinks, none. */
function markCrashed(client: ClientPlan, atUs: number, seen: ReadonlyMap<string, Seen>): void {
  const section = client.sections.findLast(({ id }) => {
    const { firstUs = null } = seen.get(`${client.name}/${id}`) ?? {};
    return firstUs !== null && firstUs <= atUs;
  });
  const last = section && seen.get(`${client.name}/${section.id}`);
  if (section === undefined || last === undefined) return;
  if (isUnderWay(last, section, client)) last.isCrashed = true;
}

/** Whether a section that does nothing more, as far as the trace goes, had more to do. */
function isUnderWay(seen: Seen, { work }: SectionPlan, { attempts: most }: ClientPlan): boolean {
  const { isOpen, enteredUs, hasLeft, last, attempts, repeats } = seen;
  if (isOpen) return true;
  if (enteredUs !== null) return !hasLeft;
  // Without a lock of its own, or not yet with it: it tries again until its attempts are used up.
  if (last?.verb === 'acquire') return last.isYes || attempts < most;
  const accepted = [...seen.writes.values()].filter((fate) => fate === 'yes').length;
  if (accepted >= writesIn(work)) return false;
  return last?.isYes === true || repeats + 1 < most;
}

function fateOf(seen: Seen, section: SectionPlan): SectionFate {
  const { firstUs, enteredUs, writtenUs, committedUs, attempts, repeats } = seen;
  const fate = endOf(seen, section);
  const since = (us: number | null): number | null =>
    firstUs === null || us === null ? null : us - firstUs;
  return {
    fate,
    waitUs: since(enteredUs ?? writtenUs),
    commitUs: fate === 'acknowledged' ? since(committedUs) : null,
    retries: Math.max(0, attempts - 1) + repeats,
  };
}

function endOf(seen: Seen, { work }: SectionPlan): Fate {
  if (seen.firstUs === null) return 'never';
  const planned = writesIn(work);
  const fates = [...seen.writes.values()];
  const accepted = fates.filter((fate) => fate === 'yes').length;
  if (accepted >= planned && (planned > 0 || seen.enteredUs !== null)) return 'acknowledged';
  if (seen.isServed && work.some(({ kind }) => kind === 'memoize')) return 'acknowledged';
  if (seen.isCrashed) return 'crashed';
  if (seen.isOpen) return 'stuck';
  return fates.includes('perhaps') ? 'unknown' : 'given-up';
}

function writesIn(work: readonly Work[]): number {
  return work.reduce((sum, step) => sum + writesOf(step), 0);
}

function writesOf({ kind }: Work): number {
  if (kind === 'transfer') return 2;
  return kind === 'write' || kind === 'increment' || kind === 'memoize' ? 1 : 0;
}

/**
 * Over all counters, the keys that are only ever incremented, transfers included: which increments
 * are in the final value no more, and which more than once. A sum would let the one hide the other,
 * and an increment whose client never heard of it hide a loss.
 */
function wrongUpdates(indexed: TraceIndex): Pick<RunMeasures, 'lost' | 'repeated'> {
  let lost = 0;
  let repeated = 0;
  for (const place of indexed.places) {
    for (const key of place.keys.values()) {
      const states = statesOf(indexed, place, key);
      if (states === null) continue;
      const applied = new Set(states.flatMap(({ intents }) => intents));
      const intents = states.at(-1)?.intents ?? [];
      const left = new Set(intents);
      lost += applied.size - left.size;
      repeated += intents.length - left.size;
    }
  }
  return { lost, repeated };
}

/** A value that a counter had, and the increments that it is made of. */
interface State {
  readonly value: number;
  readonly intents: readonly string[];
}

/** The states of a counter, in order; null where something else was written to it. */
function statesOf(indexed: TraceIndex, place: PlaceLog, key: KeyLog): readonly State[] | null {
  const first: State = { value: firstValue(place, key.key), intents: [] };
  const states: State[] = [first];
  for (const entry of [...key.accesses, ...place.recoveries].sort((a, b) => a.index - b.index)) {
    if (entry.event.kind === 'recovered') {
      const value = recoveredValue(place, entry.event, key.key);
      states.push({ value, intents: stateAt(states, value)?.intents ?? [] });
    } else if ('latest' in entry && isEffective(entry)) {
      const { value, adds, operation } = entry.event;
      if (adds === null) return null;
      const from = stateAt(states, value - adds) ?? states.at(-1) ?? first;
      states.push({ value, intents: [...from.intents, intentOf(indexed, operation)] });
    }
  }
  return states;
}

/** The state that was read by who found this value: the last one that had it. */
function stateAt(states: readonly State[], value: number): State | undefined {
  return states.findLast((state) => state.value === value);
}
