/**
 * What the words of a claim are made from: the events of a contradiction by the roles that they
 * play, and phrases for single events: grants, faults, accesses and how an access came to be late.
 * Every string is a clause without its final stop.
 */
import type { Grant, Read, Write } from '../core/history/server-events.ts';
import {
  type FaultStrikes,
  hasTokens,
  type Trace,
  type TraceEvent,
} from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { FAULT_WORDS } from '../core/plan/fault-words.ts';
import { listOf } from '../text/prose.ts';
import { isQuorumGrant } from './leases.ts';
import type { Explanation, Invalid } from './verdict.ts';

/** Puts a breach of one rule into words. */
export type Words = (shown: Contradiction) => Sentences;

/** An explanation without what is given, the grants, which is told of every contradiction alike. */
export type Sentences = Omit<Explanation, 'given'>;

/**
 * The words for a breach; without any, or where they do not fit its evidence, the evidence itself.
 * Never throws: a mistake in the words must not cost the finding. That each rule has words that fit
 * is a law (`properties/every-rule-has-words.test.ts`). `system` is what the scenario calls the
 * system, '' where nobody knows.
 */
export function explainBy(
  rules: Readonly<Record<string, Words>>,
  trace: Trace,
  verdict: Told,
  system = '',
): Explanation {
  const shown = new Contradiction(trace, verdict, system);
  const words = Object.hasOwn(rules, verdict.rule) ? rules[verdict.rule] : undefined;
  try {
    const { headline, next, however, cure } = words?.(shown) ?? inPlainWords(shown);
    return { headline, given: shown.grantsOf(), next, however, cure };
  } catch {
    return inPlainWords(shown);
  }
}

type Told = Pick<Invalid, 'claim' | 'rule' | 'evidence'>;

/** A breach with the events of its evidence looked up, and phrases for them. */
export class Contradiction {
  readonly trace: Trace;
  readonly claim: string;
  readonly rule: string;
  /** The events of the evidence, in the order of the trace. */
  readonly parts: readonly { readonly role: string; readonly event: TraceEvent }[];
  /** The grants among them; the first is called A, the second B, …. */
  readonly grants: readonly Grant[];
  readonly faults: readonly FaultStrikes[];
  private readonly system: string;

  constructor(trace: Trace, { claim, rule, evidence }: Told, system = '') {
    this.trace = trace;
    this.system = system;
    this.claim = claim;
    this.rule = rule;
    this.parts = evidence.flatMap(({ role, event: index }) => {
      const event = trace.events[index];
      return event === undefined ? [] : [{ role, event }];
    });
    const events = this.parts.map(({ event }) => event);
    this.grants = events.filter((event) => isOneOf(event, ['grant']));
    this.faults = events.filter((event) => isOneOf(event, ['fault']));
  }

  /** All events that play `role` and are of one of `kinds`. */
  findAll<K extends EventKind>(role: string, ...kinds: readonly K[]): readonly EventOf<K>[] {
    return this.parts
      .flatMap((part) => (part.role === role ? [part.event] : []))
      .filter((event) => isOneOf(event, kinds));
  }

  /** The first of them. */
  find<K extends EventKind>(role: string, ...kinds: readonly K[]): EventOf<K> | undefined {
    return this.findAll(role, ...kinds)[0];
  }

  /** The same, where no such contradiction comes without it. */
  need<K extends EventKind>(role: string, ...kinds: readonly K[]): EventOf<K> {
    const event = this.find(role, ...kinds);
    assert(event !== undefined, `a breach of ${this.rule} shows its ${role}`);
    return event;
  }

  /**
   * Who answers for what a server did, for a headline: the system, since `store` says nothing to
   * somebody who compares two of them; the server itself where no system is known.
   */
  systemOr(server: string): string {
    return `\`${this.system === '' ? server : this.system}\``;
  }

  /** What the explanation calls a grant. */
  letterOf(ordinal: number): string {
    const place = this.grants.findIndex((grant) => grant.ordinal === ordinal);
    return place < 0 || place > 25 ? `grant ${ordinal}` : String.fromCharCode(65 + place);
  }

  /** `A be alice's grant 1 of `db` (from 0ms, ttl 10ms) and B be bob's grant 2 (from 12ms)`. */
  grantsOf(): string {
    return listOf(
      this.grants.map((grant, place) => {
        const letter = this.letterOf(grant.ordinal);
        return `${letter} be ${grantPhrase(grant, this.grants[place - 1])}`;
      }),
    );
  }

  /** `bob wrote 2 to `x` with token 2 at 15ms`; handled, not sent, at that time. */
  accessPhrase(access: Write | Read): string {
    const { client, atUs } = access;
    return `${client} ${this.deedPhrase(access)} at ${proseDuration(atUs)}`;
  }

  /** How an access came late: `alice, paused from 3ms to 20ms, still held the write and …`. */
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
      const held = `still held the ${noun} and sent it${withToken} at ${sentAt}`;
      return `${client}, ${pausedPhrase(pause)}, ${held}${arrived}`;
    }
    if (atUs === sentAtUs) return `${client}'s ${noun} came${withToken} ${at(access)}`;
    const transit = this.faults.find(({ target }) => target === message);
    const delayed = transit === undefined ? '' : ` and ${transitPhrase(transit)}`;
    return `${client}'s ${noun}, sent${withToken} at ${sentAt}${delayed}, arrived ${at(access)}`;
  }

  /** `: `alice` was paused from 3 ms to 20 ms`, the cause; '' for no fault other than `except`. */
  whileFaults(except: readonly string[] = []): string {
    const faults = this.faults.filter(({ fault }) => !except.includes(fault));
    return faults.length === 0 ? '' : `: ${listOf(faults.map(faultPhrase))}`;
  }

  /** ` with token 2`; where nothing of the run has a token, none is missed. */
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

  /** When the request of an access left its client. */
  private departureOf(access: Write | Read): number {
    let departedUs = access.atUs;
    for (const event of this.trace.events) {
      if (event.kind === 'invoke' && event.operation === access.operation) departedUs = event.atUs;
      if (event.kind === 'send' && event.message === access.message) return event.atUs;
    }
    return departedUs;
  }
}

function inPlainWords(shown: Contradiction): Explanation {
  const { claim, rule, parts } = shown;
  const seen = listOf(parts.map(({ role, event }) => `the ${role} ${at(event)}`));
  return {
    headline: rule === claim ? `\`${claim}\` broke` : `\`${claim}\` broke by its rule \`${rule}\``,
    given: shown.grantsOf(),
    next: seen === '' ? '' : `the run shows ${seen}`,
    however: '',
    cure: '',
  };
}

type EventKind = TraceEvent['kind'];

export type EventOf<K extends EventKind> = Extract<TraceEvent, { readonly kind: K }>;

function isOneOf<K extends EventKind>(event: TraceEvent, kinds: readonly K[]): event is EventOf<K> {
  return kinds.some((kind) => kind === event.kind);
}

/** What the grant before it had in common with a grant is not said again. */
function grantPhrase(grant: Grant, previous: Grant | undefined): string {
  const { client, ordinal, lock, token, atUs, ttlUs, untilUs } = grant;
  const ofLock = lock === previous?.lock ? '' : ` of \`${lock}\``;
  const facts = [`from ${proseDuration(atUs)}`];
  if (token !== 0 && token !== ordinal) facts.unshift(`token ${token}`);
  if (untilUs === null) facts.push('no end');
  else if (ttlUs !== previous?.ttlUs) facts.push(`ttl ${proseDuration(ttlUs)}`);
  return `${client}'s grant ${ordinal}${ofLock} (${facts.join(', ')})`;
}

function nounOf(access: Write | Read): string {
  if (access.kind === 'read') return `read of \`${access.key}\``;
  return access.value === null
    ? 'announcement of its token'
    : `write of ${access.value} to \`${access.key}\``;
}

function pausedPhrase(pause: FaultStrikes): string {
  return `paused ${spanPhrase(pause)}`;
}

function spanPhrase({ atUs, untilUs }: FaultStrikes): string {
  const from = `from ${proseDuration(atUs)}`;
  return untilUs === null ? from : `${from} to ${proseDuration(untilUs)}`;
}

function transitPhrase({ fault, amount }: FaultStrikes): string {
  if (fault === 'duplicate') return `executed again ${proseDuration(amount)} later`;
  return fault === 'delay' ? `delayed by ${proseDuration(amount)}` : fault;
}

function faultPhrase(fault: FaultStrikes): string {
  const { atUs, target, amount } = fault;
  const processes = fault.processes.map((process) => `\`${process}\``);
  const who = listOf(processes);
  const at = `at ${proseDuration(atUs)}`;
  const clock =
    target === 'rate'
      ? `the clocks of ${who} ran ${amount} ppm too fast from ${proseDuration(atUs)}`
      : `the clock of ${who} was moved by ${proseDuration(amount)} ${at}`;
  return FAULT_WORDS[fault.fault].prose({
    ...{ who, processes, at, clock, span: spanPhrase(fault) },
    target: `\`${target}\``,
    amount: proseDuration(amount),
  });
}

/** `at 15ms`. */
export function at({ atUs }: { readonly atUs: number }): string {
  return `at ${proseDuration(atUs)}`;
}

/** Who gave a grant: a server by its name, or the servers that its client asked together. */
export function giverOf(grant: Grant): string {
  return isQuorumGrant(grant) ? 'a quorum' : `\`${grant.process}\``;
}
