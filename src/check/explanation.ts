/**
 * Prepares a breach for its explanation: finds its events by role, gives letters to its grants, and
 * selects its faults and the subject of its headline.
 */
import type {
  EventKind,
  EventOf,
  FaultInjected,
  Grant,
  TraceEvent,
} from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import type { ProvenCause } from './causation.ts';
import { type StaleClient, staleClientUnder } from './stale-client.ts';
import { indexTrace, type TraceIndex } from './trace-index.ts';
import type { Explanation, Invalid } from './verdict.ts';

/** Describes a breach of one rule in sentences. */
export type Words = (shown: Contradiction) => Sentences;

/**
 * The sentences about one breach. `explain` adds the grants and the faults that no sentence names.
 */
export type Sentences = Pick<Explanation, 'headline' | 'next' | 'however'>;

/** Facts about a run that are not in its trace. */
export interface Known {
  /** The system's name in the scenario, if known. */
  readonly system?: string;
  /** Causes that other runs have shown. If undefined, the faults in the evidence are reported. */
  readonly causes?: readonly ProvenCause[];
  /** The ttl of each client in the plan. */
  readonly ttlUs?: ReadonlyMap<string, number>;
}

type Broken = Pick<Invalid, 'claim' | 'rule' | 'evidence'>;

/** A breach with its evidence resolved to events. */
export class Contradiction {
  readonly trace: Trace;
  readonly claim: string;
  readonly rule: string;
  /** The events of the evidence, in trace order. */
  readonly parts: readonly { readonly role: string; readonly event: TraceEvent }[];
  /** The grants in the evidence; the first is called A, the second B, …. */
  readonly grants: readonly Grant[];
  /** The faults among `causes` or, if no causes are known, in the evidence. */
  readonly faults: readonly FaultInjected[];
  private readonly system: string;
  /** The causes that other runs have shown. */
  readonly causes: readonly ProvenCause[];
  private readonly ttlUs: ReadonlyMap<string, number>;
  /** The faults that a phrase has mentioned. */
  readonly mentioned: Set<FaultInjected> = new Set();

  /** @internal */
  constructor(
    trace: Trace,
    { claim, rule, evidence }: Broken,
    { system, causes, ttlUs }: Known = {},
  ) {
    this.trace = trace;
    this.system = system ?? '';
    this.ttlUs = ttlUs ?? new Map();
    this.causes = causes ?? [];
    this.claim = claim;
    this.rule = rule;
    this.parts = evidence.flatMap(({ role, event: index }) => {
      const event = trace.events[index];
      return event === undefined ? [] : [{ role, event }];
    });
    const events = this.parts.map(({ event }) => event);
    this.grants = events.filter((event) => isOneOf(event, ['grant']));
    const faults = causes?.map(({ event }) => trace.events[event]) ?? events;
    this.faults = faults.filter((event) => event !== undefined && isOneOf(event, ['fault']));
  }

  /** The indexed trace, created on first use. */
  get indexed(): TraceIndex {
    return indexTrace(this.trace);
  }

  /** Returns all events with this role and one of these kinds. */
  findAll<K extends EventKind>(role: string, ...kinds: readonly K[]): readonly EventOf<K>[] {
    return this.parts
      .flatMap((part) => (part.role === role ? [part.event] : []))
      .filter((event) => isOneOf(event, kinds));
  }

  find<K extends EventKind>(role: string, ...kinds: readonly K[]): EventOf<K> | undefined {
    return this.findAll(role, ...kinds)[0];
  }

  /** Like `find`, for an event that every contradiction of this rule has. */
  need<K extends EventKind>(role: string, ...kinds: readonly K[]): EventOf<K> {
    const event = this.find(role, ...kinds);
    assert(event !== undefined, `a breach of ${this.rule} shows its ${role}`);
    return event;
  }

  /**
   * Returns the subject of a headline: the system or, if unknown, the server. The name `store` does
   * not distinguish two systems.
   */
  systemOr(server: string): string {
    return `\`${this.system === '' ? server : this.system}\``;
  }

  /** Returns the letter of a grant, or its number if it has no letter. */
  letterOf(ordinal: number): string {
    const place = this.grants.findIndex((grant) => grant.ordinal === ordinal);
    return place < 0 || place > 25 ? `grant ${ordinal}` : String.fromCharCode(65 + place);
  }

  /** Returns the reason that a server gave for ending a grant, or ''. */
  whyEnded(ordinal: number): string {
    const { events } = this.trace;
    const end = events.find((event) => event.kind === 'grant-end' && event.ordinal === ordinal);
    return end?.kind === 'grant-end' ? end.why : '';
  }

  /** Returns true if a run has shown that the breach does not occur without this event. */
  isProven(event: TraceEvent | undefined): boolean {
    return this.causes.some((cause) => this.trace.events[cause.event] === event);
  }

  /** Returns the client that entered under a grant after the lease had ended, or null. */
  staleClientOf(ordinal: number): StaleClient | null {
    const grant = this.grants.find((candidate) => candidate.ordinal === ordinal);
    return grant === undefined ? null : staleClientUnder(this.indexed, grant, this.ttlUs);
  }
}

function isOneOf<K extends EventKind>(event: TraceEvent, kinds: readonly K[]): event is EventOf<K> {
  return kinds.some((kind) => kind === event.kind);
}
