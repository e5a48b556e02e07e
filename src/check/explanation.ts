/**
 * Building blocks for the words of a claim: the events of a contradiction by role, and phrases for
 * single events: grants, faults, accesses and how an access came late. Every string is a clause
 * without a period.
 */
import type {
  EventKind,
  EventOf,
  FaultInjected,
  Grant,
  Read,
  TraceEvent,
  Write,
} from '../core/history/events.ts';
import { hasTokens, type Trace } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { listOf } from '../text/prose.ts';
import type { Theft } from './breach-cause.ts';
import { faultPhrase, messagePhrase, pausedBefore, spanPhrase } from './fault-phrase.ts';
import { isClientGrant, isQuorumGrant } from './holders.ts';
import { endedUnasked, keysUnder } from './leases.ts';
import { type StaleClient, staleClientUnder } from './stale-client.ts';
import { indexTrace, type TraceIndex } from './trace-index.ts';
import type { Explanation, Invalid } from './verdict.ts';

/** Words a breach of one rule. */
export type Words = (shown: Contradiction) => Sentences;

/**
 * An explanation without the parts that every contradiction shares: the grants, and the faults that
 * no sentence names. `cure` is for user-defined claims only: the cure of a built-in claim is stated
 * only if a run has proven it.
 */
export type Sentences = Omit<Explanation, 'given' | 'cure'> & Partial<Pick<Explanation, 'cure'>>;

/**
 * Returns the words for a breach, or its bare evidence if there are no words or they do not fit the
 * evidence. Never throws: an error in the words must not hide the finding. A law checks that every
 * rule has fitting words (`properties/every-rule-has-words.test.ts`).
 */
export function explainBy(
  rules: Readonly<Record<string, Words>>,
  trace: Trace,
  verdict: Explained,
  known?: Known,
): Explanation {
  const shown = new Contradiction(trace, verdict, known);
  const words = Object.hasOwn(rules, verdict.rule) ? rules[verdict.rule] : undefined;
  try {
    const { headline, next, however, cure = '' } = words?.(shown) ?? inPlainWords(shown);
    const given = shown.grantsOf();
    return { headline, given, next, however: `${however}${shown.withCauses()}`, cure };
  } catch {
    return { ...inPlainWords(shown), given: shown.grantsOf(), cure: '' };
  }
}

/** Facts about a run that are not in its trace. */
export interface Known {
  /** The system's name in the scenario, if known. */
  readonly system?: string;
  /**
   * The events of the faults that runs have shown to be necessary; only these are reported. By
   * default, the faults in the evidence.
   */
  readonly causes?: readonly number[];
  /** The ttl of each client in the plan. */
  readonly ttlUs?: ReadonlyMap<string, number>;
  /** The call that freed a lock which its client did not hold, or null if there is none. */
  readonly theft?: Theft | null;
}

type Explained = Pick<Invalid, 'claim' | 'rule' | 'evidence'>;

/** A breach with its evidence resolved to events, and phrases for them. */
export class Contradiction {
  readonly trace: Trace;
  readonly claim: string;
  readonly rule: string;
  /** The events of the evidence, in trace order. */
  readonly parts: readonly { readonly role: string; readonly event: TraceEvent }[];
  /** The grants among them; the first is called A, the second B, …. */
  readonly grants: readonly Grant[];
  /** The causes: the faults in the evidence, or those that runs have shown to be necessary. */
  readonly faults: readonly FaultInjected[];
  private readonly system: string;
  private readonly theft: Theft | null;
  private readonly ttlUs: ReadonlyMap<string, number>;
  private readonly described = new Set<FaultInjected>();

  /** @internal */
  constructor(
    trace: Trace,
    { claim, rule, evidence }: Explained,
    { system, causes, ttlUs, theft }: Known = {},
  ) {
    this.trace = trace;
    this.system = system ?? '';
    this.ttlUs = ttlUs ?? new Map();
    this.theft = theft ?? null;
    this.claim = claim;
    this.rule = rule;
    this.parts = evidence.flatMap(({ role, event: index }) => {
      const event = trace.events[index];
      return event === undefined ? [] : [{ role, event }];
    });
    const events = this.parts.map(({ event }) => event);
    this.grants = events.filter((event) => isOneOf(event, ['grant']));
    const faults = causes?.map((index) => trace.events[index]) ?? events;
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

  /** Returns the first event with this role and one of these kinds. */
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
   * Returns the subject of a headline for an action of a server: the system, since the name `store`
   * does not distinguish two systems, or the server itself if the system is unknown.
   */
  systemOr(server: string): string {
    return `\`${this.system === '' ? server : this.system}\``;
  }

  /** Returns the letter of a grant, or its number if it has no letter. */
  letterOf(ordinal: number): string {
    const place = this.grants.findIndex((grant) => grant.ordinal === ordinal);
    return place < 0 || place > 25 ? `grant ${ordinal}` : String.fromCharCode(65 + place);
  }

  /** `A be alice's grant 1 of `db` (from 0ms, ttl 10ms) and B be bob's grant 2 (from 12ms)`. */
  grantsOf(): string {
    const lastUs = Math.max(...this.parts.map(({ event }) => event.atUs));
    const keys = keysUnder(this.indexed, this.grants, lastUs);
    return listOf(
      this.grants.map((grant, place) => {
        const letter = this.letterOf(grant.ordinal);
        const keyUntilUs = keys[place]?.untilUs ?? null;
        const staleClient = this.stalePhrase(grant, keyUntilUs);
        const known = { keyUntilUs, staleClient, takenUs: this.takenBefore(grant) };
        return `${letter} be ${grantPhrase(grant, this.grants[place - 1], known)}`;
      }),
    );
  }

  /**
   * Returns the time at which the key of a grant was taken if another grant was given between that
   * and its entry, or null.
   */
  private takenBefore({ lock, ordinal, atUs }: Grant): number | null {
    const { keys = null } = this.indexed.locks.get(lock)?.byNumber.get(ordinal) ?? {};
    const takenUs = keys?.acquired.event.atUs;
    if (takenUs === undefined) return null;
    const isBetween = (other: Grant): boolean =>
      other.lock === lock && other.atUs > takenUs && other.atUs < atUs;
    return this.grants.some(isBetween) ? takenUs : null;
  }

  /**
   * Returns the stale client that entered under a grant after its lease had ended, or null if the
   * entry was in time.
   */
  staleClientOf(ordinal: number): StaleClient | null {
    const grant = this.grants.find((one) => one.ordinal === ordinal);
    return grant === undefined ? null : staleClientUnder(this.indexed, grant, this.ttlUs);
  }

  /** `, entered at 25 ms, although it had ended at 10 ms`. Omits an entry after the breach. */
  private stalePhrase({ ordinal, atUs }: Grant, keyUntilUs: number | null): string {
    const staleClient = this.staleClientOf(ordinal);
    if (staleClient === null) return '';
    const { enteredUs, overUs } = staleClient;
    if (overUs === keyUntilUs) return ', entered when that key was gone';
    const ended = `ended at ${proseDuration(overUs)}`;
    if (enteredUs === atUs) return `, although it had ${ended}`;
    const isLater = this.parts.every(({ event }) => event.atUs < enteredUs);
    if (isLater) return overUs <= atUs ? `, which had ${ended}` : `, which ${ended}`;
    return `, entered at ${proseDuration(enteredUs)}, although it had ${ended}`;
  }

  /** `bob wrote 2 to `x` with token 2 at 15ms`. The time is that of handling, not of sending. */
  accessPhrase(access: Write | Read): string {
    const { client, atUs } = access;
    return `${client} ${this.deedPhrase(access)} at ${proseDuration(atUs)}`;
  }

  /** Describes a late access: `alice, paused from 3ms to 20ms, still held the write and …`. */
  latePhrase(access: Write | Read): string {
    const { client, atUs, message } = access;
    const noun = nounOf(access);
    const withToken = this.tokenPhrase(access);
    const sentAtUs = this.departureOf(access);
    const sentAt = proseDuration(sentAtUs);
    const arrived = atUs === sentAtUs ? '' : `, to arrive ${at(access)}`;
    const pause = this.faults.find(
      (fault) =>
        fault.fault === 'pause' && fault.processes.includes(client) && fault.atUs <= sentAtUs,
    );
    if (pause !== undefined) {
      this.described.add(pause);
      const deed = pausedBefore(this.trace, pause);
      if (deed !== null && deed.operation !== access.operation) {
        const sent = `before its ${deed.phrase}, sent the ${noun}${withToken} at ${sentAt}`;
        return `${client}, ${pausedPhrase(pause)}, ${sent}${arrived}`;
      }
      const held = `still held the ${noun} and sent it${withToken} at ${sentAt}`;
      return `${client}, ${pausedPhrase(pause)}, ${held}${arrived}`;
    }
    if (atUs === sentAtUs) return `${client}'s ${noun} came${withToken} ${at(access)}`;
    const transit = this.faults.find(({ target }) => target === message);
    if (transit !== undefined) this.described.add(transit);
    const delayed = transit === undefined ? '' : ` and ${transitPhrase(transit)}`;
    return `${client}'s ${noun}, sent${withToken} at ${sentAt}${delayed}, arrived ${at(access)}`;
  }

  /** Lists the faults that no phrase has mentioned: `: alice was paused from 3 ms to 20 ms`. */
  whileFaults(): string {
    const faults = this.faults.filter((fault) => !this.described.has(fault));
    for (const fault of faults) this.described.add(fault);
    const phrases = [...new Set(faults.map((fault) => faultPhrase(this.trace, fault)))];
    return phrases.length === 0 ? '' : `: ${listOf(phrases)}`;
  }

  /** Like `whileFaults`, followed by the call or server decision that lost the lock, if any. */
  withCauses(): string {
    const isFaultless = this.faults.length === 0;
    const faults = this.whileFaults();
    const ended = this.endedPhrase();
    if (ended !== '') return `${faults}${faults === '' ? ':' : ', and'} ${ended}`;
    if (this.theft === null) return isFaultless ? this.atOncePhrase() : faults;
    const { client, message, holder } = this.theft;
    const call = messagePhrase(this.trace, message);
    const whose = holder === client ? 'its own' : `${holder}'s`;
    return `${faults}${faults === '' ? ':' : ', and'} ${call} removed ${whose} key`;
  }

  /** Describes a grant that its server revoked by itself, `\`lock\` ended A at 3 ms`, or ''. */
  private endedPhrase(): string {
    for (const [place, next] of this.grants.slice(1).entries()) {
      const grant = this.grants[place];
      const end = grant === undefined ? null : endedUnasked(this.trace, grant, next);
      if (end !== null) return `\`${end.process}\` ended ${this.letterOf(end.released)} ${at(end)}`;
    }
    return '';
  }

  /**
   * `: the lock let carol in while bob was inside, and no fault was needed`, for a run without
   * faults in which clients report their own grants; otherwise ''. Without it, a reader would look
   * for a fault.
   */
  private atOncePhrase(): string {
    const [one, other] = this.grants;
    if (one === undefined || other === undefined) return '';
    if (!isQuorumGrant(one) || !isQuorumGrant(other) || this.hasFaults) return '';
    const left = this.trace.events.find(
      (event) => event.kind === 'leave' && event.ordinal === one.ordinal,
    );
    if (left !== undefined && left.atUs < other.atUs) return '';
    const [before, after] = holdersOf(this.trace, one, other);
    if (before === after) return '';
    return `: the lock let ${after} in while ${before} was inside, and no fault was needed`;
  }

  /** True if any fault was injected, needed or not. */
  private get hasFaults(): boolean {
    return this.trace.events.some(({ kind }) => kind === 'fault');
  }

  /** Example: ` with token 2`. Does not mention a missing token if the run has no tokens. */
  private tokenPhrase({ token }: Write | Read): string {
    if (token !== 0) return ` with token ${token}`;
    return hasTokens(this.trace) ? ' without a token' : '';
  }

  private deedPhrase(access: Write | Read): string {
    const { key, token, value } = access;
    const withToken = this.tokenPhrase(access);
    if (access.kind === 'read') return `read ${value ?? 'nothing'} from \`${key}\`${withToken}`;
    return value === null ? `announced token ${token}` : `wrote ${value} to \`${key}\`${withToken}`;
  }

  /** Returns the time at which the request of an access left its client. */
  private departureOf(access: Write | Read): number {
    let departedUs = access.atUs;
    for (const event of this.trace.events) {
      if (event.kind === 'invoke' && event.operation === access.operation) departedUs = event.atUs;
      if (event.kind === 'send' && event.message === access.message) return event.atUs;
    }
    return departedUs;
  }
}

function inPlainWords(shown: Contradiction): Sentences {
  const { claim, rule, parts } = shown;
  const seen = listOf(parts.map(({ role, event }) => `the ${role} ${at(event)}`));
  return {
    headline: rule === claim ? `\`${claim}\` broke` : `\`${claim}\` broke by its rule \`${rule}\``,
    next: seen === '' ? '' : `the run shows ${seen}`,
    however: '',
  };
}

function isOneOf<K extends EventKind>(event: TraceEvent, kinds: readonly K[]): event is EventOf<K> {
  return kinds.some((kind) => kind === event.kind);
}

/** Describes a grant. Omits facts shared with the previous grant, and an end already stated. */
function grantPhrase(
  grant: Grant,
  previous: Grant | undefined,
  known: {
    readonly keyUntilUs: number | null;
    readonly staleClient: string;
    readonly takenUs: number | null;
  },
): string {
  const { keyUntilUs, staleClient, takenUs } = known;
  const { client, ordinal, lock, token, atUs, ttlUs, untilUs } = grant;
  const ofLock = lock === previous?.lock ? '' : ` of \`${lock}\``;
  const facts =
    takenUs === null
      ? [`from ${proseDuration(atUs)}`]
      : [`its key taken at ${proseDuration(takenUs)}`, `entered at ${proseDuration(atUs)}`];
  if (token !== 0 && token !== ordinal) facts.unshift(`token ${token}`);
  if (keyUntilUs !== null) facts.push(`its key until ${proseDuration(keyUntilUs)}`);
  else if (untilUs !== null) {
    if (ttlUs !== previous?.ttlUs && ttlUs > 0) facts.push(`ttl ${proseDuration(ttlUs)}`);
  } else if (staleClient === '') facts.push(isQuorumGrant(grant) ? 'no end known' : 'no end');
  return `${client}'s grant ${ordinal}${ofLock} (${facts.join(', ')})${staleClient}`;
}

function nounOf(access: Write | Read): string {
  if (access.kind === 'read') return `read of \`${access.key}\``;
  return access.value === null
    ? 'announcement of its token'
    : `write of ${access.value} to \`${access.key}\``;
}

function pausedPhrase(pause: FaultInjected): string {
  return `paused ${spanPhrase(pause)}`;
}

function transitPhrase({ fault, amount }: FaultInjected): string {
  if (fault === 'duplicate') return `executed again ${proseDuration(amount)} later`;
  return fault === 'delay' ? `delayed by ${proseDuration(amount)}` : fault;
}

export function at({ atUs }: { readonly atUs: number }): string {
  return `at ${proseDuration(atUs)}`;
}

/** Returns the reason that a grant's server logged, as the end of a sentence, or ''. */
export function reasonPhrase(shown: Contradiction, grant: Grant): string {
  const log = shown.find('why', 'log');
  return log === undefined ? '' : `; ${giverOf(grant)} logged “${log.text}”`;
}

/** Names the process that gave a grant: one server by name, or several servers without names. */
export function giverOf(grant: Grant): string {
  if (isClientGrant(grant)) return 'its server';
  return isQuorumGrant(grant) ? 'a quorum' : `\`${grant.process}\``;
}

/** Names the holders of two grants: their clients or, if these are the same, the sections. */
export function holdersOf({ events }: Trace, one: Grant, other: Grant): readonly [string, string] {
  if (one.client !== other.client) return [one.client, other.client];
  const [before, after] = [one, other].map(({ ordinal }) => {
    const entry = events.find((event) => event.kind === 'enter' && event.ordinal === ordinal);
    return entry?.kind === 'enter' ? `\`${entry.section}\`` : null;
  });
  if (before == null || after == null) return [one.client, other.client];
  return [before, before === after ? `another guard of ${after}` : after];
}
