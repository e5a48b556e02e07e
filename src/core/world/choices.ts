/**
 * Makes every decision of a run. The first of these applies: an intervention, a value that the plan
 * fixes by name, a draw, the plan's constant. `pin` turns the logged draws into a plan without
 * chance.
 */
import { unreachable } from '../kernel/assert.ts';
import { Chance, draws } from '../kernel/chance.ts';
import type { Name } from '../kernel/name.ts';
import type { RangeUs } from '../plan/duration.ts';
import type { Fault, FaultOf, Which } from '../plan/fault.ts';
import type { ChancePlan, Odds, Plan } from '../plan/plan.ts';
import { Interventions } from './interventions.ts';

/** The draws of a run, as decisions and faults of a plan. */
export interface DrawLog {
  readonly decisions: Map<string, number>;
  readonly faults: Fault[];
}

/** A fault of a message or timer. `index` is its position in the plan, or null if drawn. */
export interface Injection<F> {
  readonly fault: F;
  readonly index: number | null;
}

export type MessageFault = FaultOf<'delay'> | FaultOf<'drop'> | FaultOf<'duplicate'>;

/** The sender, receiver and send time of a message. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly nowUs: number;
  readonly isRequest: boolean;
}

const NONE: readonly never[] = [];

/** Number of streams of random numbers per process. */
const STREAMS = 1_000_000;

export class Choices {
  private readonly plan: Plan;
  private readonly chance: Chance | null;
  private readonly log: DrawLog | null;
  private readonly decisions: ReadonlyMap<string, number>;
  private readonly ranks: ReadonlyMap<string, number>;
  private readonly drops: Injection<FaultOf<'drop'>>[] = [];
  private readonly delays: Injection<FaultOf<'delay'> | FaultOf<'duplicate'>>[] = [];
  private readonly timerFaults: Injection<FaultOf<'late-timer'>>[] = [];
  /** Timer faults whose timer was set but has not fired yet. */
  private readonly waitingTimers: Set<Injection<FaultOf<'late-timer'>>> = new Set();
  private readonly usedDecisions = new Set<string>();
  private readonly seenRanks = new Set<string>();
  /** True if chance may inject a fault into a message. */
  private readonly drawsFaults: boolean;
  /** These override the plan and its chance. */
  readonly interventions: Interventions;

  constructor(
    plan: Plan,
    log: DrawLog | null,
    interventions: Interventions = new Interventions([], plan.limits.endUs),
  ) {
    const { chance, order } = plan;
    this.plan = plan;
    this.log = log;
    this.interventions = interventions;
    this.chance = chance === null ? null : new Chance(chance.seed);
    this.drawsFaults =
      chance !== null &&
      (chance.delay !== null || chance.drop !== null || chance.duplicate !== null);
    this.decisions = new Map(Object.entries(plan.decisions));
    this.ranks = new Map(order.map((name, at) => [name, at - order.length]));
    plan.faults.forEach((fault, index) => {
      if (fault.kind === 'drop') this.drops.push({ fault, index });
      else if (fault.kind === 'delay' || fault.kind === 'duplicate')
        this.delays.push({ fault, index });
      else if (fault.kind === 'late-timer') this.timerFaults.push({ fault, index });
      else if (!('when' in fault)) unreachable(fault);
    });
  }

  /** Returns the tie-breaker of an event: negative if the plan orders it, else drawn or 0. */
  tie(name: Name): number {
    if (this.ranks.size > 0) {
      const rank = this.ranks.get(name.text);
      if (rank !== undefined) {
        this.seenRanks.add(name.text);
        return rank;
      }
    }
    return this.chance === null ? 0 : this.chance.bits(name, draws.tie);
  }

  /** Returns the one-way latency of a message, without faults. */
  latencyUs(message: Name): number {
    if (this.interventions.isOnTime(message)) return this.plan.network.latencyUs;
    const fixed = this.fixed(message);
    if (fixed !== undefined) return fixed;
    const range = this.plan.chance?.latency ?? null;
    if (this.chance === null || range === null) return this.plan.network.latencyUs;
    const step = this.plan.chance?.latencyStepUs ?? 1;
    const drawn = this.chance.within(message, draws.latency, range, step);
    this.log?.decisions.set(message.text, drawn);
    return drawn;
  }

  /** Returns the actual length of a wait of `baseUs`. */
  waitUs(timer: Name, baseUs: number): number {
    return this.interventions.isOnTime(timer) ? baseUs : (this.fixed(timer) ?? baseUs);
  }

  /** Returns the actual length of a wait of `baseUs` that jitter may extend. */
  jitteredUs(timer: Name, baseUs: number): number {
    if (this.interventions.isOnTime(timer)) return baseUs;
    const fixed = this.fixed(timer);
    if (fixed !== undefined) return fixed;
    const jitter = this.plan.chance?.jitter ?? null;
    if (this.chance === null || jitter === null) return baseUs;
    const most = Math.floor((baseUs * jitter.numerator) / jitter.denominator);
    const drawn = this.chance.within(timer, draws.jitter, { minUs: baseUs, maxUs: baseUs + most });
    this.log?.decisions.set(timer.text, drawn);
    return drawn;
  }

  /** Returns the number of the stream from which a process draws its own random numbers. */
  streamOf(stream: Name): number {
    const fixed = this.fixed(stream);
    if (fixed !== undefined) return fixed;
    if (this.chance === null) return 0;
    const drawn = this.chance.bits(stream, draws.stream) % STREAMS;
    this.log?.decisions.set(stream.text, drawn);
    return drawn;
  }

  private fixed(name: Name): number | undefined {
    if (this.decisions.size === 0) return undefined;
    const value = this.decisions.get(name.text);
    if (value !== undefined) this.usedDecisions.add(name.text);
    return value;
  }

  /** Fast check: returns false if no fault can affect a message sent now. */
  mayInject(nowUs: number): boolean {
    if (nowUs >= this.plan.limits.healAtUs) return false;
    return this.drawsFaults || this.drops.length > 0 || this.delays.length > 0;
  }

  /** Returns the faults for a message sent now. A planned fault is returned only once. */
  messageFaultsOf(message: Name, link: Link): readonly Injection<MessageFault>[] {
    const { chance } = this.plan;
    const drops = takeMatches(this.drops, ({ fault }) => isHit(fault.which, message, link));
    if (drops.length > 0) return drops;
    if (chance !== null && this.happens(message, draws.drop, chance.drop)) {
      return [this.drawnFault({ kind: 'drop', which: named(message) })];
    }
    const isDatagram = this.plan.network.link === 'datagram';
    const placed = takeMatches(
      this.delays,
      ({ fault: { kind, which } }) =>
        (isDatagram || kind === 'delay') && isHit(which, message, link),
    );
    if (chance === null) return placed;
    const drawn = this.drawDelays(message, chance, isDatagram && link.isRequest);
    return placed.length === 0 ? drawn : [...placed, ...drawn];
  }

  private drawDelays(
    message: Name,
    { delay, duplicate }: Pick<ChancePlan, 'delay' | 'duplicate'>,
    mayDouble: boolean,
  ): readonly Injection<MessageFault>[] {
    const isLate = this.happens(message, draws.delay, delay);
    const isDouble = mayDouble && this.happens(message, draws.duplicate, duplicate);
    if (!isLate && !isDouble) return NONE;
    const found: Injection<MessageFault>[] = [];
    const which = named(message);
    if (isLate) {
      const byUs = this.drawn(message, draws.delayLength, delay);
      found.push(this.drawnFault({ kind: 'delay', which, byUs }));
    }
    if (isDouble) {
      const byUs = this.drawn(message, draws.duplicateLength, duplicate);
      found.push(this.drawnFault({ kind: 'duplicate', which, byUs }));
    }
    return found;
  }

  private drawnFault<F extends Fault>(fault: F): Injection<F> {
    this.log?.faults.push(fault);
    return { fault, index: null };
  }

  /** Returns the faults for a timer set now. Pass them to `injectInto` when the timer is due. */
  timerFaultsOf(
    timer: Name,
    process: string,
    nowUs: number,
  ): readonly Injection<FaultOf<'late-timer'>>[] {
    const late = this.plan.chance?.lateTimer ?? null;
    if (late === null && this.timerFaults.length === 0) return NONE;
    const named = takeMatches(this.timerFaults, ({ fault: { which } }) =>
      which.kind === 'timer'
        ? which.timer === timer.text
        : which.process === process && which.atUs <= nowUs,
    );
    for (const waiting of named) this.waitingTimers.add(waiting);
    if (!this.happens(timer, draws.late, late)) return named;
    const which = { kind: 'timer', timer: timer.text } as const;
    const byUs = this.drawn(timer, draws.lateLength, late);
    return [...named, { fault: { kind: 'late-timer', which, byUs }, index: null }];
  }

  /** Returns the faults that delay a timer due now: `waiting`, or none after the healing. */
  injectInto(
    waiting: readonly Injection<FaultOf<'late-timer'>>[],
    nowUs: number,
  ): readonly Injection<FaultOf<'late-timer'>>[] {
    if (nowUs >= this.plan.limits.healAtUs) return NONE;
    for (const injection of waiting) {
      if (injection.index === null) this.log?.faults.push(injection.fault);
      else this.waitingTimers.delete(injection);
    }
    return waiting;
  }

  /** Takes back the planned faults of a canceled timer, so that they affect a later timer. */
  giveBack(waiting: readonly Injection<FaultOf<'late-timer'>>[]): void {
    if (waiting.length === 0) return;
    const unused = waiting.filter((injection) => this.waitingTimers.delete(injection));
    if (unused.length === 0) return;
    this.timerFaults.push(...unused);
    this.timerFaults.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  }

  private happens(name: Name, draw: 2 | 4 | 5 | 7, odds: Odds | null): odds is Odds {
    return odds !== null && this.chance?.happens(name, draw, odds) === true;
  }

  private drawn(name: Name, draw: 3 | 6 | 8, range: RangeUs | null): number {
    if (this.chance === null || range === null) return 0;
    return this.chance.within(name, draw, range);
  }

  /** Returns the names and fault targets of the plan that matched nothing in the run. */
  unmatched(): string[] {
    const messages = [...this.drops, ...this.delays].map(({ fault: { which } }) =>
      which.kind === 'message' ? which.message : `${which.from} → ${which.to}`,
    );
    const timers = [...this.timerFaults, ...this.waitingTimers].map(({ fault: { which } }) =>
      which.kind === 'timer' ? which.timer : which.process,
    );
    const decisions = [...this.decisions.keys()].filter((name) => !this.usedDecisions.has(name));
    const order = this.plan.order.filter((name) => !this.seenRanks.has(name));
    return [...messages, ...timers, ...decisions, ...order];
  }
}

function named(message: Name): Which {
  return { kind: 'message', message: message.text };
}

function isHit(target: Which, message: Name, link: Link): boolean {
  if (target.kind === 'message') return target.message === message.text;
  return target.from === link.from && target.to === link.to && target.atUs <= link.nowUs;
}

/** Removes the matching items from `items` and returns them. */
function takeMatches<T>(items: T[], matches: (item: T) => boolean): readonly T[] {
  if (items.length === 0) return NONE;
  const taken: T[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at];
    if (item !== undefined && matches(item)) {
      taken.push(item);
      items.splice(at, 1);
    } else at += 1;
  }
  return taken;
}
