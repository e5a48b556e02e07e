/**
 * Settles every decision of a run: what the plan fixes by name comes first, then what its chance draws,
 * then the plan's constant. It can keep a log of what was drawn, from which `pin` makes a plan that
 * leaves nothing to chance.
 */
import { Chance, draws } from '../kernel/chance.ts';
import type { Name } from '../kernel/name.ts';
import type { Delay, Drop, Duplicate, Fault, LateTimer } from '../plan/fault.ts';
import type { Odds, Plan, RangeUs } from '../plan/plan.ts';

/** What was drawn in a run, in the terms of a plan. */
export interface DrawLog {
  readonly decisions: Map<string, number>;
  readonly faults: Fault[];
}

/** A fault that strikes a message or a timer, and its place in the plan (null when drawn). */
export interface Struck<F> {
  readonly fault: F;
  readonly index: number | null;
}

export type MessageFault = Delay | Drop | Duplicate;

export class Decider {
  private readonly plan: Plan;
  private readonly chance: Chance | null;
  private readonly log: DrawLog | null;
  private readonly decisions: ReadonlyMap<string, number>;
  private readonly ranks: ReadonlyMap<string, number>;
  private readonly messageFaults: Struck<MessageFault>[] = [];
  private readonly timerFaults: Struck<LateTimer>[] = [];
  private readonly usedDecisions = new Set<string>();
  private readonly seenRanks = new Set<string>();

  constructor(plan: Plan, log: DrawLog | null) {
    this.plan = plan;
    this.log = log;
    this.chance = plan.chance === null ? null : new Chance(plan.chance.seed);
    this.decisions = new Map(Object.entries(plan.decisions));
    this.ranks = new Map(plan.order.map((name, at) => [name, at - plan.order.length]));
    plan.faults.forEach((fault, index) => {
      if (fault.kind === 'delay' || fault.kind === 'drop' || fault.kind === 'duplicate') {
        this.messageFaults.push({ fault, index });
      } else if (fault.kind === 'late-timer') this.timerFaults.push({ fault, index });
    });
  }

  /** Where an event stands among those of its instant: below 0 as ordered, else drawn, else 0. */
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

  /** One way, without faults. */
  latencyUs(message: Name): number {
    const fixed = this.fixed(message);
    if (fixed !== undefined) return fixed;
    const range = this.plan.chance?.latency ?? null;
    if (this.chance === null || range === null) return this.plan.network.latencyUs;
    const step = this.plan.chance?.latencyStepUs ?? 1;
    const drawn = this.chance.within(message, draws.latency, range, step);
    this.log?.decisions.set(message.text, drawn);
    return drawn;
  }

  /** How long a wait of `baseUs` really is, lengthened by jitter. */
  waitUs(timer: Name, baseUs: number): number {
    const fixed = this.fixed(timer);
    if (fixed !== undefined) return fixed;
    const jitter = this.plan.chance?.jitter ?? null;
    if (this.chance === null || jitter === null) return baseUs;
    const most = Math.floor((baseUs * jitter.numerator) / jitter.denominator);
    const drawn = this.chance.within(timer, draws.jitter, { minUs: baseUs, maxUs: baseUs + most });
    this.log?.decisions.set(timer.text, drawn);
    return drawn;
  }

  private fixed(name: Name): number | undefined {
    if (this.decisions.size === 0) return undefined;
    const value = this.decisions.get(name.text);
    if (value !== undefined) this.usedDecisions.add(name.text);
    return value;
  }

  /** The faults that strike a message sent now; each fault of the plan strikes once. */
  messageFaultsOf(message: Name, link: Link): readonly Struck<MessageFault>[] {
    const named = takeMatches(this.messageFaults, ({ fault: { which } }) =>
      which.kind === 'message'
        ? which.message === message.text
        : which.from === link.from && which.to === link.to && which.atUs <= link.nowUs,
    );
    const { chance } = this.plan;
    if (chance === null || link.nowUs >= this.plan.limits.healAtUs) return named;
    return this.drawMessageFaults(message, link, named);
  }

  private drawMessageFaults(
    message: Name,
    link: Link,
    named: readonly Struck<MessageFault>[],
  ): readonly Struck<MessageFault>[] {
    const { delay, drop, duplicate } = this.plan.chance ?? NO_MESSAGE_FAULTS;
    if (delay === null && drop === null && duplicate === null) return named;
    const which = { kind: 'message', message: message.text } as const;
    const found = [...named];
    const add = (fault: MessageFault): void => {
      this.log?.faults.push(fault);
      found.push({ fault, index: null });
    };
    if (this.happens(message, draws.drop, drop)) add({ kind: 'drop', which });
    if (this.happens(message, draws.delay, delay)) {
      add({ kind: 'delay', which, byUs: this.drawn(message, draws.delayLength, delay) });
    }
    const isDatagram = this.plan.network.link === 'datagram' && link.isRequest;
    if (isDatagram && this.happens(message, draws.duplicate, duplicate)) {
      add({ kind: 'duplicate', which, byUs: this.drawn(message, draws.duplicateLength, duplicate) });
    }
    return found;
  }

  /** The faults that make a timer late that is set now. */
  timerFaultsOf(timer: Name, process: string, nowUs: number): readonly Struck<LateTimer>[] {
    const named = takeMatches(this.timerFaults, ({ fault: { which } }) =>
      which.kind === 'timer'
        ? which.timer === timer.text
        : which.process === process && which.atUs <= nowUs,
    );
    const late = this.plan.chance?.lateTimer ?? null;
    if (nowUs >= this.plan.limits.healAtUs || !this.happens(timer, draws.late, late)) return named;
    const byUs = this.drawn(timer, draws.lateLength, late);
    const which = { kind: 'timer', timer: timer.text } as const;
    const fault: LateTimer = { kind: 'late-timer', which, byUs };
    this.log?.faults.push(fault);
    return [...named, { fault, index: null }];
  }

  private happens(name: Name, draw: 2 | 4 | 5 | 7, odds: Odds | null): odds is Odds {
    return odds !== null && this.chance !== null && this.chance.happens(name, draw, odds);
  }

  private drawn(name: Name, draw: 3 | 6 | 8, range: RangeUs | null): number {
    if (this.chance === null || range === null) return 0;
    return this.chance.within(name, draw, range);
  }

  /** Names in the plan that nothing in the run had. */
  unmatched(): string[] {
    const faults = [...this.messageFaults, ...this.timerFaults].map(({ fault: { which } }) =>
      which.kind === 'message'
        ? which.message
        : which.kind === 'timer'
          ? which.timer
          : which.kind === 'link'
            ? `${which.from} → ${which.to}`
            : which.process,
    );
    const decisions = [...this.decisions.keys()].filter((name) => !this.usedDecisions.has(name));
    const order = this.plan.order.filter((name) => !this.seenRanks.has(name));
    return [...faults, ...decisions, ...order];
  }
}

const NO_MESSAGE_FAULTS = { delay: null, drop: null, duplicate: null };

/** A message on its way: who sends it to whom, when, and whether it is a request. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly nowUs: number;
  readonly isRequest: boolean;
}

const NONE: readonly never[] = [];

/** Takes the items that match out of `items` and returns them. */
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
