/**
 * Says in a few words what one event of a trace is, as seen from the process that it happens to.
 */

import type { Grant, Read, Release, Renew, Write } from '../history/server-events.ts';
import type { Answer, Call, FaultStrikes, Trace, TraceEvent } from '../history/trace.ts';
import { unreachable } from '../kernel/assert.ts';
import { proseDuration } from '../plan/duration.ts';
import type { Fault } from '../plan/fault.ts';
import { askedBy, callsOf, isReply, operationOf } from './message.ts';

/** What an event's words depend on beyond the event itself. */
export interface Surroundings {
  readonly calls: ReadonlyMap<string, Call>;
  readonly tokens: ReadonlyMap<number, number>;
  /** Names are said only where there is more than one to confuse. */
  readonly hasSeveralLocks: boolean;
  readonly hasSeveralResources: boolean;
  readonly faults: readonly Fault[];
}

/**
 * `faults` are those of the plan that gave the trace; without them a clock's change stays vague.
 */
export function surroundingsOf(trace: Trace, faults: readonly Fault[]): Surroundings {
  const tokens = new Map<number, number>();
  const locks = new Set<string>();
  const resources = new Set<string>();
  for (const event of trace.events) {
    if (event.kind === 'grant') {
      tokens.set(event.ordinal, event.token);
      locks.add(event.lock);
    }
    if (event.kind === 'write' || event.kind === 'read') {
      resources.add(`${event.process}/${event.resource}`);
    }
  }
  return {
    calls: callsOf(trace),
    tokens,
    hasSeveralLocks: locks.size > 1,
    hasSeveralResources: resources.size > 1,
    faults,
  };
}

/** The text of one event, without its time and its process. */
export function textOf(event: TraceEvent, around: Surroundings): string {
  switch (event.kind) {
    case 'send':
    case 'receive':
    case 'lose':
      return messageText(event, around);
    case 'invoke':
      return `calls ${askedBy(event.operation, around.calls)}`;
    case 'return':
      return returnText(event);
    case 'fault':
      return faultText(event, around);
    case 'resume':
      return '▶ resumes';
    case 'restart':
      return '↻ restarts';
    case 'heal':
      return `links heal: ${event.processes.join(', ')}`;
    case 'healed':
      return 'the world heals';
    case 'mark':
      return `passes ${event.point.split('/').at(-1) ?? event.point}`;
    case 'enter':
      return `believes it holds ${event.lock}${untilText(event.believedUntilUs)}`;
    case 'leave':
      return `leaves ${event.lock}`;
    case 'lease-test':
      return event.isLive
        ? `own clock: lease lives${untilText(event.believedUntilUs)}`
        : 'own clock: lease is over';
    case 'job':
      return `${PHASES[event.phase]} job ${event.tick} of ${event.lock}`;
    case 'log':
      return `logs ${event.topic}: ${event.text}`;
    case 'deadlock': {
      const waits = event.waits.map(({ client, lock }) => `${client} waits for ${lock}`);
      return `finds a deadlock: ${waits.join(', ')}`;
    }
    default:
      return serverText(event, around);
  }
}

const PHASES = { begin: 'starts', end: 'ends', skip: 'skips' } as const;

/** Beyond any run, as the end of a lock that nothing but its release ends. */
const NEVER_US = 1e15;

function untilText(us: number): string {
  return us > NEVER_US ? '' : ` until ${proseDuration(us)}`;
}

type ServerEvent = Extract<
  TraceEvent,
  { kind: 'grant' | 'deny' | 'renew' | 'release' | 'write' | 'read' | 'recovered' }
>;

function serverText(event: ServerEvent, around: Surroundings): string {
  switch (event.kind) {
    case 'grant':
      return grantText(event, around);
    case 'deny':
      return event.waits === true
        ? `lets ${event.client} wait: ${event.holder} holds ${event.lock}`
        : `denies ${event.client}: ${event.holder} holds ${event.lock}`;
    case 'renew':
      return renewText(event, around);
    case 'release':
      return releaseText(event, around);
    case 'write':
      return writeText(event, around);
    case 'read':
      return readText(event, around);
    case 'recovered':
      return `is back, highest token ${event.highest}`;
    default:
      return unreachable(event);
  }
}

function messageText(
  event: Extract<TraceEvent, { kind: 'send' | 'receive' | 'lose' }>,
  around: Surroundings,
): string {
  const asked = messageName(event.message, around);
  if (event.kind === 'send') return `sends ${asked} → ${event.to}`;
  if (event.kind === 'lose') return `✕ loses ${asked} (${event.cause})`;
  return `gets ${event.isCopy ? 'a copy of ' : ''}${asked}`;
}

function messageName(message: string, around: Surroundings): string {
  if (!isReply(message)) return askedBy(message, around.calls);
  return `answer to ${operationOf(message).split('/').at(-1) ?? message}`;
}

function returnText(event: Extract<TraceEvent, { kind: 'return' }>): string {
  const verb = event.operation.split('/').at(-1) ?? event.operation;
  if (event.outcome === 'info') return `? ${verb}: no answer, it may have happened`;
  if (event.outcome === 'fail') return `${verb}: never executed`;
  return event.answer === null ? `${verb}: done` : `${verb}: ${answerText(event.answer)}`;
}

function answerText(answer: Answer): string {
  if (answer.kind === 'granted') return `granted, token ${answer.token}`;
  if (answer.kind === 'denied') {
    return answer.holder === '' ? 'denied' : `denied, ${answer.holder} holds it`;
  }
  if (answer.kind === 'refused') {
    if (answer.version !== undefined) return `refused, version ${answer.version} is there`;
    return `refused, highest token ${answer.highest}`;
  }
  if (answer.kind === 'value') return `value ${answer.value}`;
  return answer.kind;
}

function lockName(lock: string, around: Surroundings): string {
  return around.hasSeveralLocks ? ` ${lock}` : '';
}

function grantText(event: Grant, around: Surroundings): string {
  const until = event.untilUs === null ? '' : `, until ${proseDuration(event.untilUs)}`;
  return `grants${lockName(event.lock, around)} token ${event.token} to ${event.client}${until}`;
}

function renewText(event: Renew, around: Surroundings): string {
  if (event.extended === 0) return `⊘ denies ${event.client}'s renew`;
  const until = event.untilUs === null ? '' : ` until ${proseDuration(event.untilUs)}`;
  const token = around.tokens.get(event.extended) ?? event.token;
  const whose = event.extended === event.under ? '' : ` (meant grant ${event.under})`;
  return `${event.client} extends token ${token}${until}${whose}`;
}

function releaseText(event: Release, around: Surroundings): string {
  if (event.released === 0) return `⊘ denies ${event.client}'s release`;
  const token = around.tokens.get(event.released) ?? 0;
  const whose = event.released === event.under ? '' : ` (meant grant ${event.under})`;
  return `${event.client} releases token ${token}${whose}`;
}

function keyName(event: Write | Read, around: Surroundings): string {
  return around.hasSeveralResources ? `${event.resource}.${event.key}` : event.key;
}

function writeText(event: Write, around: Surroundings): string {
  const token = `token ${event.token}`;
  if (event.value === null) return event.isAccepted ? `✓ opens, ${token}` : `⊘ refuses ${token}`;
  const what = `${keyName(event, around)} = ${event.value}`;
  if (event.isAccepted) return `✓ accepts ${what}, ${token}`;
  const why = event.highest > event.token ? `, has seen ${event.highest}` : '';
  return `⊘ refuses ${what}, ${token}${why}`;
}

function readText(event: Read, around: Surroundings): string {
  const key = keyName(event, around);
  if (!event.isAccepted) return `⊘ refuses to read ${key}, token ${event.token}`;
  return `✓ serves ${key} = ${event.value ?? 'nothing'} to ${event.client}`;
}

function faultText(event: FaultStrikes, around: Surroundings): string {
  const amount = proseDuration(event.amount);
  const struck = event.target === '' ? 'a message' : messageName(event.target, around);
  switch (event.fault) {
    case 'pause':
      return `paused for ${amount}`;
    case 'crash':
      return '✖ crashes';
    case 'partition':
      return `cut off: ${event.processes.join(', ')}`;
    case 'clock':
      return clockText(event, around);
    case 'evict':
      return `forgets ${event.target}`;
    case 'failover':
      return `fails over to a replica ${amount} behind`;
    case 'reset':
      return `connection replaced: ${event.processes.join(', ')}`;
    case 'delay':
      return `${struck} is ${amount} late`;
    case 'drop':
      return `${struck} will be lost`;
    case 'duplicate':
      return `${struck} will run twice`;
    case 'late-timer':
      return `timer ${event.target} is ${amount} late`;
    default:
      return unreachable(event.fault);
  }
}

function clockText(event: FaultStrikes, around: Surroundings): string {
  const fault = event.index === null ? undefined : around.faults[event.index];
  if (fault?.kind !== 'clock') return `◷ clock changes by ${event.amount}`;
  const changes: string[] = [];
  const sign = (value: number): string => (value > 0 ? '+' : '');
  if (fault.stepUs !== 0) changes.push(`steps ${sign(fault.stepUs)}${proseDuration(fault.stepUs)}`);
  if (fault.ratePpm !== 0) changes.push(`runs ${sign(fault.ratePpm)}${fault.ratePpm} ppm`);
  return `◷ clock ${changes.length === 0 ? 'is exact' : changes.join(', ')}`;
}
