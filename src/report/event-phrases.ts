/**
 * The words for every kind of event in a trace. A row contains the clause about an event, as
 * subject and predicate. All views derive from this clause: the line in the column of the process
 * (`grants token 1 to alice for 10 ms, until 12 ms`), the label in a picture, and the sentence of
 * the story. `state-phrases.ts` contains the words for lasting states, such as leases and pauses,
 * and for the reasons that servers give.
 */
import { isClientGrant } from '../check/holders.ts';
import {
  type EventKind,
  type EventOf,
  type FaultEnds,
  type TraceEvent,
  WHY,
  type Write,
} from '../core/history/events.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { affectsMessage } from '../core/plan/fault.ts';
import { faultClause } from '../core/plan/fault-words.ts';
import { listOf } from '../text/prose.ts';
import type { Environment } from './environment.ts';
import { isLiveAt, isReply, type LeaseSpan, operationName } from './spans.ts';
import {
  answerText,
  callName,
  changeText,
  keyChangeText,
  leaseText,
  NEVER_US,
  quoted,
  refusalReason,
  refusalVerb,
  requestText,
  seenText,
  untilText,
} from './state-phrases.ts';

/** The clause about an event, in the present tense. */
export interface Clause {
  readonly subject: string;
  readonly predicate: string;
}

/** The facts about the run, and the notation of names. */
interface Context extends Environment {
  readonly name: (name: string) => string;
}

/** The story up to an event. */
export interface StorySoFar {
  readonly leases: readonly LeaseSpan[];
  /** The last accepted write by store and key. */
  readonly written: ReadonlyMap<string, Write>;
}

interface EventPhrase<E> {
  /** The sign before a line, such as `✓`. Default: none. */
  readonly sign?: (event: E) => string;
  /** Default: the process of the event. */
  readonly subject?: (event: E, context: Context) => string;
  readonly predicate: (event: E, context: Context) => string;
  /** Text beside an arrow, without the processes at its ends. Default: the line. */
  readonly label?: (event: E, context: Context) => string;
  /** Details that a line adds if the sentences above it mention them. */
  readonly asides?: (event: E, context: Environment) => readonly string[];
  /**
   * Returns the end of the sentence after the clause, or null if a story has no sentence for this
   * event. Default: null.
   */
  readonly sentence?: (event: E, story: StorySoFar, context: Context) => string | null;
}

/** The ends of faults share one type. */
type Of<Kind extends EventKind> = Kind extends FaultEnds['kind'] ? FaultEnds : EventOf<Kind>;

/** A missing kind does not type-check. */
const EVENT_PHRASES: { readonly [Kind in EventKind]: EventPhrase<Of<Kind>> } = {
  send: {
    predicate: (event, context) =>
      context.nodes.get(event)?.text ?? `sends ${sendingText(event, context)} → ${event.to}`,
    label: (event, context) => context.nodes.get(event)?.text ?? sendingText(event, context),
  },
  receive: {
    predicate: ({ message, isCopy }, context) => {
      const [asker = ''] = message.split('/');
      const whose = isReply(message) || asker === message ? '' : `${asker}'s `;
      const copy = isCopy ? 'a copy of ' : '';
      return `gets ${copy}${whose}${messageText(message, context)}${answererOf(message, context)}`;
    },
  },
  lose: {
    sign: () => '✕',
    predicate: ({ message, cause }, context) =>
      `loses ${messageText(message, context)}${answererOf(message, context)} (${cause})`,
  },
  invoke: {
    predicate: ({ operation }, context) =>
      `calls ${requestText(operation, context)}${placeOf(operation, context)}`,
  },
  return: { predicate: returnText },
  fault: {
    sign: ({ fault }) => (fault === 'crash' ? '✖' : fault === 'clock' ? '◷' : ''),
    subject: (event, context) => faultText(event, context).subject,
    predicate: (event, context) => faultText(event, context).predicate,
    sentence: ({ fault, atUs, processes }, { leases }, { name }) => {
      if (affectsMessage(fault)) return '';
      const held = leases.find(
        (lease) => processes.includes(lease.client) && isLiveAt(lease, atUs),
      );
      return held === undefined ? '' : `, while it holds ${name(held.lock)}`;
    },
  },
  resume: { sign: () => '▶', predicate: () => 'resumes', sentence: () => '' },
  restart: { sign: () => '↻', predicate: () => 'restarts', sentence: () => '' },
  heal: {
    subject: ({ processes }, { name }) => `the links between ${listOf(processes.map(name))}`,
    predicate: () => 'heal',
  },
  healed: { subject: () => 'the world', predicate: () => 'heals' },
  mark: {
    predicate: ({ point }) => {
      const mark = point.split('/').at(-1) ?? point;
      if (mark === 'computing') return 'begins to compute the value';
      return mark === 'computed' ? 'has computed the value' : `passes ${mark}`;
    },
    sentence: ({ point }) => (/\/comput(?:ing|ed)$/.test(point) ? '' : null),
  },
  enter: {
    predicate: ({ lock, believedUntilUs }) =>
      `believes it holds ${lock}${untilText(believedUntilUs)}`,
  },
  leave: { predicate: ({ lock }) => `leaves ${lock}` },
  'lease-test': {
    predicate: (event, { repeated }) => {
      if (!event.isLive) return 'own clock: lease is over';
      if (event.believedUntilUs > NEVER_US) return 'own clock: lease never ends';
      return `own clock: lease is live${repeated.has(event) ? '' : untilText(event.believedUntilUs)}`;
    },
  },
  job: {
    predicate: ({ phase, tick, lock }) => {
      const verb = { begin: 'starts', end: 'ends', skip: 'skips' }[phase];
      return `${verb} job ${tick} of ${lock}`;
    },
  },
  log: {
    subject: ({ process, topic }, { name }) => (topic === WHY ? '' : name(process)),
    // The topic names the part of a client that logs; a service has only one part.
    predicate: ({ process, topic, text }, { services }) =>
      topic === WHY || services.has(process) || isStep(topic, text)
        ? text
        : `logs ${topic}: ${text}`,
    sentence: ({ topic, text }) => (topic === WHY || isStep(topic, text) ? '' : null),
  },
  deadlock: {
    predicate: ({ waits }, { name }) =>
      `finds a deadlock: ${listOf(waits.map(({ client, lock }) => `${name(client)} waits for ${name(lock)}`))}`,
    sentence: () => '',
  },
  deliver: {
    predicate: ({ client, lock, steps, retries, deliveries, isCopy, untilUs }, context) => {
      const of = context.hasSeveralLocks ? ` of ${lock}` : '';
      const step = `${isCopy ? 'a copy of ' : ''}step ${steps}, retry ${retries}${of}`;
      const again = deliveries === 1 ? '' : `, delivery ${deliveries}`;
      return `delivers ${step} to ${client}${again}, hidden until ${proseDuration(untilUs)}`;
    },
  },
  grant: {
    predicate: (event, context) => {
      const { atUs, ttlUs, untilUs, client } = event;
      const until = untilUs === null ? '' : leaseText({ atUs, ttlUs, untilUs });
      const what = grantName(event, context);
      if (!isClientGrant(event)) return `grants ${what} to ${context.name(client)}${until}`;
      return `enters ${what.replace(/^token/, 'with token')}${until}`;
    },
    asides: requestedSpan,
    sentence: (event, { leases }, { name }) => {
      const { lock, ordinal, atUs, untilUs } = event;
      if (untilUs !== null && untilUs <= atUs) return ', although the lease had already ended';
      const before = leases.find(
        (lease) => lease.lock === lock && lease.ordinal < ordinal && isLiveAt(lease, atUs),
      );
      if (before === undefined) return '';
      const holder = name(before.client);
      if (before.untilUs === null) return `, although ${holder} has not released it`;
      return `, although ${holder}'s lease lasts until ${proseDuration(before.untilUs)}`;
    },
  },
  deny: {
    predicate: ({ waits, client, holder, lock }) =>
      waits === true
        ? `lets ${client} wait: ${holder} holds ${lock}`
        : `denies ${client}: ${holder} holds ${lock}`,
  },
  renew: {
    sign: ({ extended }) => (extended === 0 ? '⊘' : ''),
    subject: (event, { name }) =>
      name(event.extended === 0 || isUnasked(event) ? event.process : event.client),
    predicate: (event, context) => {
      const { client, lock, extended, under } = event;
      if (extended === 0)
        return `denies ${client}'s renew${after(': ', context.denials.get(event))}`;
      const token = context.tokens.get(extended) ?? event.token;
      const what = grantName({ lock, token }, context);
      const until = event.untilUs === null ? '' : untilText(event.untilUs);
      if (isUnasked(event)) return `extends ${client}'s ${what}${until} without a request`;
      const renamed = event.token === token ? '' : ` as token ${event.token}`;
      return `extends ${what}${renamed}${until}${meantText(extended, under)}`;
    },
    asides: (event) => (event.extended === 0 ? [] : requestedSpan(event)),
  },
  release: {
    sign: ({ released }) => (released === 0 ? '⊘' : ''),
    subject: (event, { name }) =>
      name(event.released === 0 || isUnasked(event) ? event.process : event.client),
    predicate: (event, context) => {
      const { client, lock, released, under } = event;
      if (released === 0)
        return `denies ${client}'s release${after(': ', context.denials.get(event))}`;
      const what = grantName({ lock, token: context.tokens.get(released) ?? 0 }, context);
      if (isUnasked(event)) return `ends ${context.name(client)}'s ${what} without a request`;
      return `releases ${what}${meantText(released, under)}`;
    },
    asides: sentAt,
    sentence: ({ released }) => (released === 0 ? null : ''),
  },
  'grant-end': {
    predicate: ({ client, lock, why }, { name }) =>
      `ends ${name(client)}'s grant of ${name(lock)}: ${why}`,
    sentence: () => '',
  },
  write: {
    sign: ({ isAccepted }) => (isAccepted ? '✓' : '⊘'),
    predicate: writeText,
    asides: (event, context) => [
      ...sentAt(event, context),
      `highest token before: ${event.highest}`,
    ],
    sentence: writeConsequence,
  },
  read: {
    sign: ({ isAccepted }) => (isAccepted ? '✓' : '⊘'),
    predicate: (event, context) => {
      const [key, client] = [keyName(event, context), context.name(event.client)];
      if (event.isAccepted) {
        return `serves ${key} = ${event.value ?? 'nothing'} to ${client}${after(', ', seenText(event))}`;
      }
      const token = context.hasTokens ? `, token ${event.token}` : '';
      return `refuses ${client}'s read of ${key}${token}${after(', ', refusalReason(event))}`;
    },
    asides: sentAt,
    sentence: ({ isAccepted }) => (isAccepted ? '' : null),
  },
  recovered: {
    predicate: ({ begins, highest, values }, { hasTokens }) => {
      if (begins !== undefined) {
        return `has ${begins.key} = ${values[begins.key] ?? 0}, version ${begins.version}`;
      }
      return hasTokens ? `recovers, highest token ${highest}` : 'recovers';
    },
    sentence: ({ begins }) => (begins === undefined ? '' : null),
  },
  'key-change': {
    subject: ({ process, client, change, isDone }, { name }) =>
      name(change === 'lost' || !isDone ? process : client),
    predicate: (event, { name, recreations }) => keyChangeText(event, name, recreations.get(event)),
  },
};

function phraseOf<Kind extends EventKind>(kind: Kind): EventPhrase<Of<Kind>> {
  return EVENT_PHRASES[kind];
}

function clauseOf(event: TraceEvent, context: Context): Clause {
  const { subject, predicate } = phraseOf(event.kind);
  return {
    subject: subject?.(event, context) ?? context.name(processOf(event)),
    predicate: predicate(event, context),
  };
}

/** Returns the process of an event, or '' if the event concerns all processes. */
export function processOf(event: TraceEvent): string {
  if (event.kind === 'send') return event.from;
  if (event.kind === 'receive' || event.kind === 'lose') return event.to;
  if (event.kind === 'healed') return '';
  if ('processes' in event) return event.processes[0] ?? '';
  return event.process;
}

/** Returns the line of an event without the time, and without the process as subject. */
export function eventText(event: TraceEvent, around: Environment): string {
  const context = { ...around, name: (name: string) => name };
  const { subject, predicate } = clauseOf(event, context);
  const sign = phraseOf(event.kind).sign?.(event) ?? '';
  const process = processOf(event);
  // The column shows the process: `alice is paused` becomes `paused`, and `bob's clock` becomes
  // `clock`.
  const words =
    subject === process
      ? [sign, predicate.replace(/^is /, '')]
      : [sign, subject.replace(`${process}'s `, ''), predicate];
  return words.filter((part) => part !== '').join(' ');
}

/** Returns the label of an event in a picture. */
export function eventLabel(event: TraceEvent, around: Environment): string {
  const context = { ...around, name: (name: string) => name };
  return phraseOf(event.kind).label?.(event, context) ?? eventText(event, around);
}

/** Returns details that the line of an event omits, for stories that need them. */
export function asidesOf(event: TraceEvent, around: Environment): readonly string[] {
  return phraseOf(event.kind).asides?.(event, around) ?? [];
}

/** Returns the sentence of an event, with names in backticks, or null if a story omits it. */
export function eventSentence(
  event: TraceEvent,
  around: Environment,
  story: StorySoFar,
): Clause | null {
  const context = { ...around, hasSeveralLocks: true, name: quoted };
  const end = phraseOf(event.kind).sentence?.(event, story, context) ?? null;
  if (end === null) return null;
  const { subject, predicate } = clauseOf(event, context);
  return { subject, predicate: `${predicate}${end}` };
}

/** Returns the clause about the expiry of a lease, which is not an event. */
export function leaseEndClause(lease: LeaseSpan, name: (name: string) => string): Clause {
  const { client, lock, token } = lease;
  const which = token === 0 ? '' : ` (token ${token})`;
  return { subject: `${name(client)}'s lease of ${name(lock)}${which}`, predicate: 'expires' };
}

/**
 * Returns the text of an arrow. `sentAtUs` is null if the message is sent close to the end of the
 * arrow.
 */
export function flightText(
  label: string,
  flight: {
    readonly isCopy: boolean;
    readonly sentAtUs: number | null;
    readonly end: TraceEvent | null;
  },
): string {
  const { isCopy, sentAtUs, end } = flight;
  const since = sentAtUs === null ? '' : `, sent at ${proseDuration(sentAtUs)}`;
  const fate = end === null ? ', in transit' : end.kind === 'lose' ? `, lost (${end.cause})` : '';
  return `${isCopy ? 'a copy of ' : ''}${label}${since}${fate}`;
}

function sendingText(event: EventOf<'send'>, context: Context): string {
  const token = context.outdated.get(event);
  const outdated = token === undefined ? '' : ` (cached, ${token} is current)`;
  return `${messageText(event.message, context)}${outdated}`;
}

/** Describes a message: `write x = 1, token 1`, or `answer to write x`. */
export function messageText(message: string, context: Environment): string {
  if (!isReply(message)) return requestText(message, context);
  return `answer to ${callName(operationName(message), context)}`;
}

function answererOf(message: string, context: Environment): string {
  return isReply(message) ? placeOf(message, context) : '';
}

/** Returns ` at lock-2`, the server of an operation, or '' if there is only one server. */
function placeOf(message: string, { servers }: Environment): string {
  const server = servers.get(message) ?? servers.get(operationName(message));
  return server === undefined ? '' : ` at ${server}`;
}

function returnText(event: EventOf<'return'>, context: Context): string {
  const { operation, answer } = event;
  const call = context.calls.get(operation);
  const what = `${callName(operation, context)}${placeOf(operation, context)}`;
  if (event.outcome === 'info') return `? ${what}: no answer, it may have happened`;
  if (event.outcome === 'fail') return `${what}: never executed`;
  if (answer === null) {
    const isOfLock = call !== undefined && /^(?:acquire|renew|release)$/.test(call.verb);
    return `${what}: ${isOfLock ? 'answered, nothing done' : 'done'}`;
  }
  if (answer.kind === 'value' && call !== undefined && 'lock' in call) {
    return `${what}: found ${answer.value === 0 ? 'nothing' : answer.value}`;
  }
  return `${what}: ${answerText(answer, context.versionsBy)}`;
}

function faultText(event: EventOf<'fault'>, context: Context): Clause {
  const { fault, untilUs } = event;
  const { subject, predicate } = faultClause(event, 'now', {
    process: context.name,
    target: (target) => {
      if (!affectsMessage(fault)) return target;
      if (target === '') return 'a message';
      const [asker = ''] = target.split('/');
      const words = `${messageText(target, context)}${placeOf(target, context)}`;
      if (isReply(target)) {
        const call = callName(operationName(target), context);
        return `${context.name(processOf(event))}'s answer to ${context.name(asker)}'s ${call}`;
      }
      return asker === target ? words : `${context.name(asker)}'s ${words}`;
    },
  });
  const hasEnd = (fault === 'pause' || fault === 'partition') && untilUs !== null;
  return { subject, predicate: `${predicate}${hasEnd ? `,${untilText(untilUs)}` : ''}` };
}

/** Names a grant by token, and by lock if there are several locks or no token. */
function grantName(
  { lock, token }: { readonly lock: string; readonly token: number },
  { hasSeveralLocks, name }: Context,
): string {
  if (token === 0) return name(lock);
  return hasSeveralLocks ? `${name(lock)} token ${token}` : `token ${token}`;
}

function requestedSpan({
  sentAtUs,
  ttlUs,
  untilUs,
}: EventOf<'grant' | 'renew'>): readonly string[] {
  const [from, to] = [sentAtUs, sentAtUs + ttlUs].map(proseDuration);
  return [untilUs === null ? `requested at ${from}` : `requested from ${from} to ${to}`];
}

function sentAt(
  { message }: { readonly message: string },
  { sentAtUs }: Environment,
): readonly string[] {
  const sent = sentAtUs.get(message);
  return sent === undefined ? [] : [`sent at ${proseDuration(sent)}`];
}

/** Returns a note on the grant that a request meant, or '' if the server changed that grant. */
function meantText(changed: number, meant: number): string {
  return changed === meant ? '' : ` (requested for grant ${meant})`;
}

/** Returns true if a server acted without a request. Events that clients record need no request. */
function isUnasked({ message, process, client }: EventOf<'renew' | 'release'>): boolean {
  return message === '' && process !== client;
}

/** Returns true for `goes on without the lock on db` from a memoize step. */
function isStep(topic: string, text: string): boolean {
  return topic === 'memoize' && text.startsWith('goes on');
}

function keyName(event: EventOf<'write' | 'read'>, { hasSeveralResources, name }: Context): string {
  return name(hasSeveralResources ? `${event.resource}.${event.key}` : event.key);
}

function writeText(event: EventOf<'write'>, context: Context): string {
  const client = context.name(event.client);
  const verb = event.isAccepted ? 'accepts' : refusalVerb(event);
  const token = `token ${event.token}`;
  const reason = event.isAccepted ? changeText(event) : refusalReason(event);
  if (event.value === null)
    return `${verb} ${client}'s announcement of ${token}${after(', ', reason)}`;
  const what = `${keyName(event, context)} = ${event.value}${context.hasTokens ? `, ${token}` : ''}`;
  return `${verb} ${client}'s ${what}${after(', ', reason)}`;
}

/**
 * Describes the value that an accepted write replaces, and the end of the client's lease if it is
 * over. Returns '' for a refused write, and null for an announcement of a token.
 */
function writeConsequence(
  event: Write,
  { leases, written }: StorySoFar,
  context: Context,
): string | null {
  if (event.value === null) return null;
  if (!event.isAccepted) return '';
  const { name } = context;
  const before = written.get(placeWritten(event));
  const isOver = before !== undefined && before.client !== event.client;
  const over = isOver ? `, over ${name(before.client)}'s ${before.value}` : '';
  const lease = leases.find(({ ordinal }) => event.under > 0 && ordinal === event.under);
  if (lease === undefined || isLiveAt(lease, event.atUs)) return over;
  const ended = lease.untilUs === null ? '' : ` at ${proseDuration(lease.untilUs)}`;
  const how = lease.ending === 'expired' ? 'expired' : `was ${lease.ending}`;
  return `${over}, although ${name(event.client)}'s lease ${how}${ended}`;
}

/** Identifies the key of a store. */
export function placeWritten({ process, resource, key }: Write): string {
  return `${process}/${resource}/${key}`;
}

function after(sign: string, text = ''): string {
  return text === '' ? '' : `${sign}${text}`;
}
