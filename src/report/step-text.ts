/** Describes an event of a trace in a few words, from the perspective of its process. */
import { isClientGrant } from '../check/holders.ts';
import type { Answer } from '../core/history/call.ts';
import type { EventOf, Refusal, TraceEvent } from '../core/history/events.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { affectsMessage } from '../core/plan/fault.ts';
import { FAULT_WORDS } from '../core/plan/fault-words.ts';
import { tokenText } from '../text/prose.ts';
import {
  changeText,
  isReply,
  lockCallName,
  operationName,
  refusalReason,
  refusalVerb,
  requestText,
  seenText,
  versionText,
} from './access-text.ts';
import type { Environment } from './environment.ts';
import { clockText } from './spans.ts';

/** Returns the text of an event, without its time and its process. */
export function eventText(event: TraceEvent, around: Environment): string {
  switch (event.kind) {
    case 'send':
    case 'receive':
    case 'lose':
      return messageText(event, around);
    case 'invoke':
      return `calls ${requestText(event.operation, around)}${placeOf(event.operation, around)}`;
    case 'return':
      return returnText(event, around);
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
    case 'mark': {
      const mark = event.point.split('/').at(-1) ?? event.point;
      if (mark === 'computing') return 'begins to compute';
      return mark === 'computed' ? 'has computed' : `passes ${mark}`;
    }
    case 'enter':
      return `believes it holds ${event.lock}${untilText(event.believedUntilUs)}`;
    case 'leave':
      return `leaves ${event.lock}`;
    case 'lease-test': {
      if (!event.isLive) return 'own clock: lease is over';
      if (event.believedUntilUs > NEVER_US) return 'own clock: knows of no end';
      if (around.repeated.has(event)) return 'own clock: lease lives';
      return `own clock: lease lives${untilText(event.believedUntilUs)}`;
    }
    case 'job':
      return `${PHASES[event.phase]} job ${event.tick} of ${event.lock}`;
    case 'log':
      // The topic of a client's log names the part that logs; a service has only one.
      return around.services.has(event.process) ? event.text : `logs ${event.topic}: ${event.text}`;
    case 'deadlock': {
      const waits = event.waits.map(({ client, lock }) => `${client} waits for ${lock}`);
      return `finds a deadlock: ${waits.join(', ')}`;
    }
    case 'deliver':
      return deliverText(event, around);
    case 'grant':
      return grantText(event, around);
    case 'deny':
      return event.waits === true
        ? `lets ${event.client} wait: ${event.holder} holds ${event.lock}`
        : `denies ${event.client}: ${event.holder} holds ${event.lock}`;
    case 'renew':
    case 'release':
      return changeOfGrantText(event, around);
    case 'write':
      return writeText(event, around);
    case 'read':
      return readText(event, around);
    case 'recovered':
      return recoveredText(event, around);
    case 'key-change':
      return keyText(event);
    case 'grant-end':
      return `ends ${event.client}'s grant of ${event.lock}: ${event.why}`;
  }
}

/** Returns details that the text of an event omits, for stories that need them. */
export function asidesOf(event: TraceEvent, { sentAtUs }: Environment): readonly string[] {
  const asides: string[] = [];
  const sent = 'message' in event ? sentAtUs.get(event.message) : undefined;
  const isHandled = event.kind === 'write' || event.kind === 'read' || event.kind === 'release';
  if (isHandled && sent !== undefined) asides.push(`sent at ${proseDuration(sent)}`);
  if (event.kind === 'write') asides.push(`highest token before: ${event.highest}`);
  if (event.kind === 'grant' || (event.kind === 'renew' && event.extended !== 0)) {
    const [from, to] = [event.sentAtUs, event.sentAtUs + event.ttlUs].map(proseDuration);
    asides.push(event.untilUs === null ? `asked at ${from}` : `by request ${from} to ${to}`);
  }
  return asides;
}

function keyText({ key, client, change, isDone, holder, untilUs }: EventOf<'key-change'>): string {
  const what = `\`${key}\``;
  const whose = holder === '' || holder === client ? '' : `, which ${holder} had taken`;
  const until = untilUs === null ? '' : ` until ${proseDuration(untilUs)}`;
  if (change === 'untracked') return `${client} writes to ${what}${whose}`;
  if (change === 'lost') return `loses ${what}${whose}`;
  if (!isDone && change === 'taken') return `denies ${client} ${what}${whose}`;
  if (!isDone) return `leaves ${what} as it is: it is not ${client}'s`;
  if (change === 'taken') return `${client} takes ${what}${until}`;
  if (change === 'prolonged') return `${client} prolongs ${what}${until}${whose}`;
  return `${client} ${change === 'removed' ? 'removes' : 'overwrites'} ${what}${whose}`;
}

function deliverText(event: EventOf<'deliver'>, around: Environment): string {
  const { client, steps, retries, deliveries, isCopy, untilUs } = event;
  const copy = isCopy ? 'a copy of ' : '';
  const of = around.hasSeveralLocks ? ` of ${event.lock}` : '';
  const again = deliveries === 1 ? '' : `, delivery ${deliveries}`;
  const hidden = `hidden until ${proseDuration(untilUs)}`;
  return `delivers ${copy}step ${steps}, retry ${retries}${of} to ${client}${again}, ${hidden}`;
}

const PHASES = { begin: 'starts', end: 'ends', skip: 'skips' } as const;

/** Later than any run: the end of a lock that ends only by its release. */
const NEVER_US = 1e15;

/** Returns ` until 20 ms`, or '' for a view without an end. */
export function untilText(us: number): string {
  return us > NEVER_US ? '' : ` until ${proseDuration(us)}`;
}

function recoveredText(
  { begins, highest, values }: EventOf<'recovered'>,
  around: Environment,
): string {
  if (begins !== undefined) {
    return `has ${begins.key} = ${values[begins.key] ?? 0}, version ${begins.version}`;
  }
  return around.hasTokens ? `is back, highest token ${highest}` : 'is back';
}

function messageText(event: EventOf<'send' | 'receive' | 'lose'>, around: Environment): string {
  const deed = around.nodes.get(event);
  if (deed !== undefined) return deed.text;
  const asked = messageName(event.message, around);
  if (event.kind === 'send') {
    const token = around.outdated.get(event);
    const outdated = token === undefined ? '' : ` (cached, ${token} is current)`;
    return `sends ${asked}${outdated} → ${event.to}`;
  }
  const answerer = isReply(event.message) ? placeOf(event.message, around) : '';
  if (event.kind === 'lose') return `✕ loses ${asked}${answerer} (${event.cause})`;
  const [asker = ''] = event.message.split('/');
  const whose = isReply(event.message) || asker === event.message ? '' : `${asker}'s `;
  return `gets ${event.isCopy ? 'a copy of ' : ''}${whose}${asked}${answerer}`;
}

function messageName(message: string, around: Environment): string {
  if (!isReply(message)) return requestText(message, around);
  return `answer to ${deedName(operationName(message), around)}`;
}

/** Returns ` at lock-2`, the server of an operation, or '' if there is only one. */
function placeOf(message: string, { servers }: Environment): string {
  const server = servers.get(message) ?? servers.get(operationName(message));
  return server === undefined ? '' : ` at ${server}`;
}

/** Returns an operation without its arguments: `acquire`, `read x`, or its own name. */
function deedName(operation: string, { calls }: Environment): string {
  const call = calls.get(operation);
  if (call === undefined) return operation.split('/').at(-1) ?? operation;
  return 'lock' in call ? lockCallName(operation, call.verb) : `${call.verb} ${call.key}`;
}

function returnText(event: EventOf<'return'>, around: Environment): string {
  const { operation } = event;
  const verb = `${deedName(operation, around)}${placeOf(operation, around)}`;
  if (event.outcome === 'info') return `? ${verb}: no answer, it may have happened`;
  if (event.outcome === 'fail') return `${verb}: never executed`;
  const call = around.calls.get(operation);
  if (event.answer === null) {
    const isOfLock = call !== undefined && /^(?:acquire|renew|release)$/.test(call.verb);
    return `${verb}: ${isOfLock ? 'answered, nothing done' : 'done'}`;
  }
  if (event.answer.kind === 'value' && call !== undefined && 'lock' in call) {
    return `${verb}: looked up, ${event.answer.value === 0 ? 'nothing' : event.answer.value} there`;
  }
  return `${verb}: ${answerText(event.answer, around)}`;
}

function answerText(answer: Answer, { versionsBy }: Environment): string {
  const by = versionsBy ?? ({ by: 'version' } as const);
  if (answer.kind === 'granted') return `granted${tokenText(answer.token)}`;
  if (answer.kind === 'denied') {
    return answer.holder === '' ? 'denied' : `denied, ${answer.holder} holds it`;
  }
  if (answer.kind === 'refused') {
    if (answer.check !== undefined) return `refused by CHECK (${answer.check})`;
    if (answer.version !== undefined) return `refused, ${versionText(by, answer.version)} is there`;
    return `refused, highest token ${answer.highest}`;
  }
  if (answer.kind === 'accepted' && answer.isRepeated === true) return 'accepted before';
  const version = 'version' in answer ? (answer.version ?? null) : undefined;
  const row = version === undefined ? '' : `, ${versionText(by, version)}`;
  return answer.kind === 'value' ? `value ${answer.value}${row}` : `${answer.kind}${row}`;
}

function grantText(event: EventOf<'grant'>, around: Environment): string {
  const { atUs, lock, token, client, ttlUs, untilUs } = event;
  const until = untilUs === null ? '' : leaseText({ atUs, ttlUs, untilUs });
  const name = token === 0 || around.hasSeveralLocks ? ` ${lock}` : '';
  if (isClientGrant(event))
    return `enters${name}${token === 0 ? '' : ` with token ${token}`}${until}`;
  return `grants${name}${token === 0 ? '' : ` token ${token}`} to ${client}${until}`;
}

/** A server may use another lease than requested: in whole seconds, or from a heartbeat. */
function leaseText({ atUs, ttlUs, untilUs }: Lease): string {
  const [ttl, until] = [proseDuration(ttlUs), proseDuration(untilUs)];
  const isAsAsked = Math.abs(untilUs - atUs - ttlUs) <= ttlUs / 5;
  return isAsAsked ? ` for ${ttl}, until ${until}` : ` until ${until} (ttl ${ttl})`;
}

interface Lease {
  readonly atUs: number;
  readonly ttlUs: number;
  readonly untilUs: number;
}

/** Describes a renew or a release of the grant that the request meant, or of the current one. */
function changeOfGrantText(event: EventOf<'renew' | 'release'>, around: Environment): string {
  const { kind, client, under } = event;
  const grant = kind === 'renew' ? event.extended : event.released;
  if (grant === 0)
    return `⊘ denies ${client}'s ${kind}${after(': ', around.denials.get(event) ?? '')}`;
  const token = around.tokens.get(grant) ?? (kind === 'renew' ? event.token : 0);
  const what = token === 0 ? event.lock : `token ${token}`;
  const whose = grant === under ? '' : ` (meant grant ${under})`;
  if (kind === 'release') {
    return isUnasked(event)
      ? `ends ${client}'s ${what} of its own accord`
      : `${client} releases ${what}${whose}`;
  }
  const until = event.untilUs === null ? '' : ` until ${proseDuration(event.untilUs)}`;
  const renamed = event.token === token ? '' : ` as token ${event.token}`;
  if (isUnasked(event)) return `prolongs ${client}'s ${what}${until} of its own accord`;
  return `${client} extends ${what}${renamed}${until}${whose}`;
}

/** Returns true if no client requested it: a server that alone grants acted by itself. */
function isUnasked({ message, process, client }: EventOf<'renew' | 'release'>): boolean {
  return message === '' && process !== client;
}

function keyName(event: EventOf<'write' | 'read'>, around: Environment): string {
  return around.hasSeveralResources ? `${event.resource}.${event.key}` : event.key;
}

function writeText(event: EventOf<'write'>, around: Environment): string {
  const token = `token ${event.token}`;
  if (event.value === null) {
    if (event.isAccepted) return `✓ opens, ${token}`;
    return `⊘ refuses ${token}${after(', ', refusalReason(event))}`;
  }
  const what = `${keyName(event, around)} = ${event.value}${around.hasTokens ? `, ${token}` : ''}`;
  if (event.isAccepted) return `✓ accepts ${what}${after(', ', changeText(event))}`;
  const isOfToken = event.refusal === undefined || TOKEN_REASONS.includes(event.refusal.kind);
  return `⊘ ${refusalVerb(event)} ${what}${after(isOfToken ? ', ' : ': ', refusalReason(event))}`;
}

/** Reasons that continue the text after the token. Others follow a colon. */
const TOKEN_REASONS: readonly Refusal['kind'][] = ['lower', 'equal', 'higher', 'other'];

function after(sign: string, text: string): string {
  return text === '' ? '' : `${sign}${text}`;
}

function readText(event: EventOf<'read'>, around: Environment): string {
  const key = keyName(event, around);
  if (!event.isAccepted) {
    const token = around.hasTokens ? `, token ${event.token}` : '';
    return `⊘ refuses to read ${key}${token}${after(', ', refusalReason(event))}`;
  }
  const seen = after(', ', seenText(event));
  return `✓ serves ${key} = ${event.value ?? 'nothing'} to ${event.client}${seen}`;
}

function faultText(event: EventOf<'fault'>, around: Environment): string {
  const { fault, target, processes } = event;
  const message =
    target === '' ? 'a message' : `${messageName(target, around)}${placeOf(target, around)}`;
  const ends = fault === 'pause' || fault === 'partition';
  const until = ends && event.untilUs !== null ? `,${untilText(event.untilUs)}` : '';
  const short = FAULT_WORDS[fault].short({
    who: processes[0] ?? '',
    processes,
    clock: clockFaultText(event, around),
    target: affectsMessage(fault) ? message : target,
    amount: proseDuration(event.amount),
  });
  return `${short}${until}`;
}

function clockFaultText(event: EventOf<'fault'>, around: Environment): string {
  const fault = event.index === null ? undefined : around.faults[event.index];
  if (fault?.kind !== 'clock') return `◷ clock changes by ${event.amount}`;
  const change = clockText({ offsetUs: fault.stepUs, ratePpm: fault.ratePpm });
  return `◷ clock ${change === '' ? 'is exact' : `${fault.stepUs === 0 ? '' : 'steps '}${change}`}`;
}
