/**
 * Enumerates every plan that differs from a base by at most a given number of faults and swaps of
 * tied events. Each set of these departures is enumerated once, in the order in which they happen.
 * A departure affects only later events. Therefore, a run of a plan shows the possible places of
 * the next departure: at or after the last departure. Several faults at one place are ordered by
 * their keys.
 *
 * Plan numbers start with the base, then all plans with one fault, then all plans with two, so that
 * the first counterexample has the fewest faults. The plans that extend one plan have consecutive
 * numbers and form a `PlanBlock`. With the blocks, any machine can find a plan by its number
 * without a run.
 */
import type { TraceEvent } from '../../core/history/events.ts';
import { type Fault, processesNamed } from '../../core/plan/fault.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { FaultTemplate } from '../../scenario/scenario.ts';
import {
  amountingTo,
  injectedAt,
  keyOf,
  type Slot,
  Slots,
  turnOf,
  type Watched,
  type Watching,
  watchRun,
} from './slots.ts';
import { orderOf, type Swap, swapsIn } from './swaps.ts';

/** Faults and swaps in the order in which they happen. */
export type Departures = readonly (Fault | Swap)[];

/** One more departure. `amounts` lists the amounts to try, or is null if there is no choice. */
export interface Placement {
  readonly next: Fault | Swap;
  readonly amounts: readonly number[] | null;
}

/** The plans with these departures plus one more, in order. Both numbers are inclusive. */
export interface PlanBlock {
  readonly from: number;
  readonly to: number;
  readonly departures: Departures;
  readonly placed: readonly Placement[];
}

/** Returns the departures of each plan in a block. */
export function plansIn({
  departures,
  placed,
}: Pick<PlanBlock, 'departures' | 'placed'>): readonly Departures[] {
  return placed.flatMap(({ next, amounts }) => {
    if (amounts === null || next.kind === 'swap') return [[...departures, next]];
    return amounts.map((us) => [...departures, amountingTo(next, us)]);
  });
}

/** Applies departures to a base plan. */
export function departing(base: Plan, departures: Departures): Plan {
  const faults: Fault[] = [];
  const swaps: Swap[] = [];
  for (const departure of departures) {
    if (departure.kind === 'swap') swaps.push(departure);
    else faults.push(departure);
  }
  return Object.assign({}, base, { faults, order: orderOf(swaps) });
}

/** Finds the departures that can follow the departures of a plan. */
export class Placements {
  private readonly base: Plan;
  private readonly watching: Watching;
  private readonly slots: Slots;

  constructor(base: Plan, templates: readonly FaultTemplate[], watching: Watching) {
    this.base = base;
    this.watching = watching;
    this.slots = new Slots(templates);
  }

  /** Returns the faults that can come next, or none if the last departure has no effect. */
  async after(departures: Departures): Promise<readonly Placement[]> {
    const watched = await this.watch(departures);
    const placed: Placement[] = [];
    for (const slot of followersOf(this.slots.in(watched), watched, departures)) {
      const amounts = await this.amountsOf(slot, departures);
      const [least = 0, ...more] = amounts;
      placed.push({ next: slot.fault(least), amounts: more.length === 0 ? null : amounts });
    }
    return placed;
  }

  /** Returns the swaps by `by` positions that can come next. */
  async swapsAfter(departures: Departures, by: number): Promise<readonly Placement[]> {
    const watched = await this.watch(departures);
    const from = lastTurn(watched, departures);
    const placed: Placement[] = [];
    for (const { swap, turn } of swapsIn(watched, by)) {
      if (turn <= from) continue;
      const swapped = await this.watch([...departures, swap]);
      const isCarriedOut = swapped.turns[turn]?.text === swap.name;
      if (isCarriedOut && differs(swapped, watched)) placed.push({ next: swap, amounts: null });
    }
    return placed;
  }

  /** Returns the amounts to try, in ascending order. Empty if the fault has no amount. */
  private async amountsOf(slot: Slot, departures: Departures): Promise<readonly number[]> {
    const { ranges, fault } = slot;
    const found = new Set(ranges.flatMap(({ minUs, maxUs }) => [minUs, maxUs]));
    if (ranges.some(({ minUs, maxUs }) => minUs < maxUs)) {
      const maxUs = Math.max(...found);
      const largest = await this.watch([...departures, fault(maxUs)]);
      for (const us of lengthsOf(slot, maxUs, largest)) {
        for (const near of [us - 1, us, us + 1]) {
          if (ranges.some((range) => range.minUs <= near && near <= range.maxUs)) found.add(near);
        }
      }
    }
    return [...found].sort((a, b) => a - b);
  }

  private async watch(departures: Departures): Promise<Watched> {
    return await watchRun(departing(this.base, departures), this.watching);
  }
}

/** Returns true if a swap changed the trace. Swapping a canceled timer does not. */
function differs({ trace: { events } }: Watched, { trace: { events: others } }: Watched): boolean {
  if (events.length !== others.length) return true;
  return events.some((event, at) => JSON.stringify(event) !== JSON.stringify(others[at]));
}

/** Returns the turn of the last departure: −1 if there is none, `Infinity` if it did not happen. */
function lastTurn(
  { plan: { faults }, injections, turns }: Watched,
  departures: Departures,
): number {
  const last = departures.at(-1);
  if (last === undefined) return -1;
  if (last.kind === 'swap') return turns.findIndex(({ text }) => text === last.name);
  const injection = injections.get(faults.length - 1);
  return injection === undefined ? Infinity : turnOf(turns, injection);
}

function followersOf(
  slots: readonly Slot[],
  watched: Watched,
  departures: Departures,
): readonly Slot[] {
  const last = departures.at(-1);
  if (last === undefined) return slots;
  if (last.kind === 'swap') {
    const from = lastTurn(watched, departures);
    return slots.filter(({ turn }) => turn >= from);
  }
  const lastInjection = watched.injections.get(watched.plan.faults.length - 1);
  if (lastInjection === undefined) return [];
  const [lastPlace, lastKey] = [injectedAt(last), keyOf(last)];
  return slots.filter(({ place, position, key }) => {
    return place === lastPlace ? key > lastKey : position > lastInjection;
  });
}

/** An instant at which the order of events matters at a process. */
interface Threshold {
  readonly process: string;
  readonly atUs: number;
  /** True if only the process itself and messages to it from a server can meet the threshold. */
  readonly isLocal: boolean;
  readonly isEnd: boolean;
}

/**
 * Returns the amounts of a fault (duration, delay or step) that are worth a separate run. A fault
 * affects only the order of events. That order changes when the end of the fault meets a threshold:
 * a timer, the end of a lease, or an arrival. Nothing depends on the amount before the fault ends,
 * so the thresholds are those of the run with the largest amount. The caller also tries amounts
 * that are one microsecond smaller or larger, and the limits of the scenario.
 *
 * A fault ends at the process that it affects, or at the receiver of its message. One latency
 * later, the next message of this process meets a threshold at another process: a client's message
 * at a server, or a server's message at a client. A partition also releases the messages that it
 * held back.
 *
 * `largest` is the run whose last fault is the slot's fault, at its maximum amount.
 */
function lengthsOf(slot: Slot, maxUs: number, largest: Watched): readonly number[] {
  const fault = slot.fault(maxUs);
  if (fault.kind === 'failover') {
    // The lag determines which of the latest events at the server its replica has missed.
    return largest.trace.events.flatMap((event) => {
      const isIts = 'process' in event && event.process === fault.process;
      return isIts && event.atUs <= slot.atUs ? [slot.atUs - event.atUs] : [];
    });
  }
  if (fault.kind === 'clock') return stepsOf(slot, fault.process, largest);
  const { latencyUs } = largest.plan.network;
  const ends = endOf(fault, slot, largest);
  if (ends === null) return [];
  const { trace, timers } = largest;
  const ofTimers = [...timers].map(([name, { atUs }]) => {
    return { process: name.slice(0, name.indexOf('/')), atUs, isLocal: true, isEnd: false };
  });
  const thresholds = [...trace.events.flatMap(thresholdsOf), ...ofTimers];
  const clients = new Set(largest.plan.clients.map(({ name }) => name));
  const isAtServer = ![...ends.processes].some((name) => clients.has(name));
  const lengths = thresholds.flatMap(({ process, atUs, isLocal }) => {
    const [here, there] = [atUs - ends.fromUs, atUs - ends.fromUs - latencyUs];
    if (fault.kind === 'partition') return [here, there];
    if (ends.processes.has(process)) return [here];
    return isLocal && !isAtServer ? [] : [there];
  });
  return lengths;
}

/**
 * Returns the end of the fault for amount 0, and the processes that continue then. Returns null if
 * the fault's message was never sent.
 */
function endOf(
  fault: Fault,
  { atUs }: Slot,
  { plan, trace }: Watched,
): { readonly processes: ReadonlySet<string>; readonly fromUs: number } | null {
  if (!('which' in fault) || fault.kind === 'late-timer') {
    const named = 'which' in fault ? timerProcess(fault) : processesNamed(fault).flat();
    return { processes: new Set(named), fromUs: atUs };
  }
  const { which } = fault;
  const sent = trace.events.find(
    (event) => event.kind === 'send' && which.kind === 'message' && event.message === which.message,
  );
  if (sent?.kind !== 'send') return null;
  return { processes: new Set([sent.to]), fromUs: atUs + plan.network.latencyUs };
}

function timerProcess({ which }: Extract<Fault, { readonly kind: 'late-timer' }>): string[] {
  return which.kind === 'timer' ? [which.timer.slice(0, which.timer.indexOf('/'))] : [];
}

/** Returns the clock steps that move a later event to the time of an earlier event or lease end. */
function stepsOf({ atUs }: Slot, process: string, { trace }: Watched): readonly number[] {
  const thresholds = trace.events
    .flatMap(thresholdsOf)
    .filter((threshold) => threshold.process === process);
  const later = thresholds.filter((threshold) => !threshold.isEnd && threshold.atUs >= atUs);
  const after = [atUs, ...later.map((threshold) => threshold.atUs)];
  const shown = thresholds.filter((threshold) => threshold.isEnd || threshold.atUs < atUs);
  return shown.flatMap((threshold) => after.map((us) => threshold.atUs - us));
}

function thresholdsOf(event: TraceEvent): readonly Threshold[] {
  switch (event.kind) {
    case 'receive': {
      const isRequest = event.message.endsWith('/request');
      return [{ process: event.to, atUs: event.atUs, isLocal: !isRequest, isEnd: false }];
    }
    case 'grant':
    case 'renew':
    case 'key-change':
      return event.untilUs === null
        ? []
        : [{ process: event.process, atUs: event.untilUs, isLocal: false, isEnd: true }];
    case 'enter':
      return [{ process: event.process, atUs: event.believedUntilUs, isLocal: true, isEnd: true }];
    default:
      return [];
  }
}
