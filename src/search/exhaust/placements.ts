/**
 * Every plan that differs from a base by at most so many faults and swaps of tied events, each set
 * of them once. These departures stand in the order in which they happen. Nothing that comes
 * before one depends on it, so a plan with one more is found from the run of the plan
 * without its last one: the next is placed at, or after, where the last one was. Of several
 * faults at one place the order of their keys is taken.
 *
 * Plans are numbered: first the base, then all with one fault, then all with two, so that the first
 * counterexample has the fewest. All that one run leads to have numbers in a row, a `PlanBlock`,
 * which says all of them: nothing need be run again to find a plan by its number, on any machine.
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

/** In the order in which they happen. */
export type Departures = readonly (Fault | Swap)[];

/** One more at one place, with each amount that it is tried with; null where it has none. */
export interface Placement {
  readonly next: Fault | Swap;
  readonly amounts: readonly number[] | null;
}

/** The plans with these departures and one more, in their order; both numbers are included. */
export interface PlanBlock {
  readonly from: number;
  readonly to: number;
  readonly departures: Departures;
  readonly placed: readonly Placement[];
}

/** The departures of each plan of a block. */
export function plansIn({
  departures,
  placed,
}: Pick<PlanBlock, 'departures' | 'placed'>): readonly Departures[] {
  return placed.flatMap(({ next, amounts }) => {
    if (amounts === null || next.kind === 'swap') return [[...departures, next]];
    return amounts.map((us) => [...departures, amountingTo(next, us)]);
  });
}

/** The plan that departs so from a base. */
export function departing(base: Plan, departures: Departures): Plan {
  const faults: Fault[] = [];
  const swaps: Swap[] = [];
  for (const one of departures) {
    if (one.kind === 'swap') swaps.push(one);
    else faults.push(one);
  }
  return Object.assign({}, base, { faults, order: orderOf(swaps) });
}

/** Finds what may follow the departures of a plan. */
export class Placements {
  private readonly base: Plan;
  private readonly watching: Watching;
  private readonly slots: Slots;

  constructor(base: Plan, templates: readonly FaultTemplate[], watching: Watching) {
    this.base = base;
    this.watching = watching;
    this.slots = new Slots(templates);
  }

  /** Which fault may be injected next; none where the last of these does not fire. */
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

  /** Which swaps by so many may come next. */
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

  /** In ascending order; none where the fault has no amount. */
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

/** Whether a swap changed anything: a timer that was called off may come before or after. */
function differs({ trace: { events } }: Watched, { trace: { events: others } }: Watched): boolean {
  if (events.length !== others.length) return true;
  return events.some((event, at) => JSON.stringify(event) !== JSON.stringify(others[at]));
}

/** In which turn of the run the last departure happened; `Infinity` where it did not. */
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

/** The slots that may follow the last departure of the run. */
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

/** An instant at which it matters what has happened before, and to whom. */
interface Threshold {
  readonly process: string;
  readonly atUs: number;
  /** Only the process itself, and what a server sends to it, can meet it. */
  readonly isOwn: boolean;
  /** A lease ends. */
  readonly isEnd: boolean;
}

/**
 * How long, how late and how far: the amounts of one fault that are worth a run of their own. What
 * a fault decides is in which order things happen, and that changes where its end meets something
 * else: a timer, an end of a lease, an arrival. These are the thresholds, read off the run with the
 * largest amount, since until the fault ends nothing depends on how long it lasts. Of each one
 * microsecond before it, itself, and one after it are tried, beside the least and the largest
 * amount that the scenario allows.
 *
 * A fault ends at the process that it affects, or that its message goes to. What is at another
 * process is met by the next message that leaves then, one latency later: at a server by that of a
 * client, at a client by that of a server. What a partition holds back leaves at its end as well.
 *
 * `largest` is the run with the slot's fault as its last, at its largest.
 */
function lengthsOf(slot: Slot, maxUs: number, largest: Watched): readonly number[] {
  const fault = slot.fault(maxUs);
  if (fault.kind === 'failover') {
    // A replica is behind by what its server did in that time.
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
    return { process: name.slice(0, name.indexOf('/')), atUs, isOwn: true, isEnd: false };
  });
  const thresholds = [...trace.events.flatMap(thresholdsOf), ...ofTimers];
  const clients = new Set(largest.plan.clients.map(({ name }) => name));
  const isAtServer = ![...ends.processes].some((name) => clients.has(name));
  const lengths = thresholds.flatMap(({ process, atUs, isOwn }) => {
    const [here, there] = [atUs - ends.fromUs, atUs - ends.fromUs - latencyUs];
    if (fault.kind === 'partition') return [here, there];
    if (ends.processes.has(process)) return [here];
    return isOwn && !isAtServer ? [] : [there];
  });
  return lengths;
}

/** When the fault would end if it took no time, and whom it lets go on then. */
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

/** A step lets later events meet a time that the clock has shown, or was to show later. */
function stepsOf({ atUs }: Slot, process: string, { trace }: Watched): readonly number[] {
  const own = trace.events.flatMap(thresholdsOf).filter((one) => one.process === process);
  const later = own.filter((one) => !one.isEnd && one.atUs >= atUs);
  const after = [atUs, ...later.map((one) => one.atUs)];
  const shown = own.filter((one) => one.isEnd || one.atUs < atUs);
  return shown.flatMap((one) => after.map((us) => one.atUs - us));
}

function thresholdsOf(event: TraceEvent): readonly Threshold[] {
  switch (event.kind) {
    case 'receive': {
      const isRequest = event.message.endsWith('/request');
      return [{ process: event.to, atUs: event.atUs, isOwn: !isRequest, isEnd: false }];
    }
    case 'grant':
    case 'renew':
    case 'key-change':
      return event.untilUs === null
        ? []
        : [{ process: event.process, atUs: event.untilUs, isOwn: false, isEnd: true }];
    case 'enter':
      return [{ process: event.process, atUs: event.believedUntilUs, isOwn: true, isEnd: true }];
    default:
      return [];
  }
}
