/**
 * Describes a fault as a clause that names what it affected:
 * `the reply to alice's acquire came 20 ms late`, `bob's clock was set 10 ms ahead at 0 ms`. Names
 * of clients are plain; all other names are in backticks.
 */
import type { FaultInjected, Grant } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { affectsMessage } from '../core/plan/fault.ts';
import { FAULT_WORDS } from '../core/plan/fault-words.ts';
import { listOf } from '../text/prose.ts';

export function faultPhrase(trace: Trace, fault: FaultInjected): string {
  const { atUs, target, amount } = fault;
  const processes = fault.processes.map((process) => processPhrase(trace, process));
  const who = listOf(processes);
  const at = `at ${proseDuration(atUs)}`;
  const said = FAULT_WORDS[fault.fault].prose({
    who,
    processes,
    at,
    clock: clockPhrase(trace, fault),
    span: spanPhrase(fault),
    target: affectsMessage(fault.fault) ? messagePhrase(trace, target) : `\`${target}\``,
    amount: proseDuration(amount),
  });
  const deed = fault.fault === 'pause' ? pausedBefore(trace, fault) : null;
  const before = deed === null ? '' : `, before its ${deed.phrase}`;
  return `${said}${before}${lossPhrase(trace, fault)}${leftPhrase(trace, fault)}`;
}

/** Example: `from 3 ms to 20 ms`. */
export function spanPhrase({ atUs, untilUs }: Pick<FaultInjected, 'atUs' | 'untilUs'>): string {
  const from = `from ${proseDuration(atUs)}`;
  return untilUs === null ? from : `${from} to ${proseDuration(untilUs)}`;
}

/** Returns `alice` for a client, `` `lock` `` for any other process. */
function processPhrase({ processes }: Trace, name: string): string {
  const role = processes.find((process) => process.name === name)?.role;
  return role === 'client' || role === 'probe' ? name : `\`${name}\``;
}

/** `bob's clock was set 10 ms back at 3 ms`, `bob's clock ran 200 ppm too slow from 0 ms`. */
function clockPhrase(trace: Trace, { processes, target, amount, atUs }: FaultInjected): string {
  const whose = processes.map((process) => `${processPhrase(trace, process)}'s`);
  const clocks = `${listOf(whose)} clock`;
  if (target === 'rate') {
    const side = amount < 0 ? 'slow' : 'fast';
    return `${clocks} ran ${Math.abs(amount)} ppm too ${side} from ${proseDuration(atUs)}`;
  }
  const side = amount < 0 ? 'back' : 'ahead';
  return `${clocks} was set ${proseDuration(Math.abs(amount))} ${side} at ${proseDuration(atUs)}`;
}

/**
 * Returns `the reply to alice's acquire` for `alice/1/acquire/1/reply`. Names of another form are
 * kept as they are.
 */
export function messagePhrase(trace: Trace, message: string): string {
  const [, operation = '', leg] = /^(.*)\/\d+[^/]*\/(request|reply)$/.exec(message) ?? [];
  if (leg === undefined || labelOf(operation) === '') return `\`${message}\``;
  const [, asked] = /^(.*)\/\d+\/check$/.exec(operation) ?? [];
  const call =
    asked === undefined ? callPhrase(trace, operation) : `the check of ${callPhrase(trace, asked)}`;
  const replica = replicaOf(trace, message);
  if (leg === 'reply') return `the reply${replica === null ? '' : ` of ${replica}`} to ${call}`;
  return replica === null ? call : `${call} to ${replica}`;
}

/** Returns the replica at the other end of a message, or null if its store has no replicas. */
function replicaOf({ events }: Trace, message: string): string | null {
  const sent = events.find((event) => event.kind === 'send' && event.message === message);
  if (sent?.kind !== 'send') return null;
  const server = message.endsWith('/reply') ? sent.from : sent.to;
  const isReplica = events.some(
    (event) =>
      (event.kind === 'write' || event.kind === 'read') &&
      event.store !== undefined &&
      server.startsWith(`${event.store}-`),
  );
  return isReplica ? `\`${server}\`` : null;
}

/** Returns `alice's acquire`, with the name of the call if alice made several of this kind. */
export function callPhrase(trace: Trace, operation: string): string {
  const [process = ''] = operation.split('/');
  const label = labelOf(operation);
  const alike = trace.events.filter(
    (event) =>
      event.kind === 'invoke' && event.process === process && labelOf(event.operation) === label,
  );
  const which = alike.length > 1 ? ` (\`${operation}\`)` : '';
  return `${processPhrase(trace, process)}'s ${verbPhrase(trace, operation)}${which}`;
}

/** Returns a lock's or store's verb as it is, or the program's own label in backticks. */
function verbPhrase({ events }: Trace, operation: string): string {
  const label = labelOf(operation);
  const invoke = events.find((event) => event.kind === 'invoke' && event.operation === operation);
  if (invoke?.kind !== 'invoke') return label;
  return invoke.call.verb === label ? label : `\`${label}\``;
}

/** Returns `write` for `alice/1/write-2`. */
function labelOf(operation: string): string {
  const [, , label = ''] = operation.split('/');
  return label.replace(/-\d+$/, '');
}

/** Returns the next call of a paused client, or null for a server or if there is none. */
export function pausedBefore(
  trace: Trace,
  pause: FaultInjected,
): { readonly operation: string; readonly phrase: string } | null {
  const [process = ''] = pause.processes;
  if (processPhrase(trace, process) !== process) return null;
  const since = trace.events.slice(trace.events.indexOf(pause));
  const next = since.find((event) => event.kind === 'invoke' && event.process === process);
  if (next?.kind !== 'invoke') return null;
  return { operation: next.operation, phrase: verbPhrase(trace, next.operation) };
}

/** Describes a key that a crashed client left behind: `, and its key `db` has no end`. */
function leftPhrase({ events }: Trace, { fault, processes, atUs }: FaultInjected): string {
  if (fault !== 'crash') return '';
  for (const event of events.toReversed()) {
    if (event.kind !== 'key-change' || event.atUs > atUs || !event.isDone) continue;
    if (!processes.includes(event.client)) continue;
    const isLeft = event.change !== 'removed' && event.untilUs === null;
    return isLeft ? `, and its key \`${event.key}\` has no end` : '';
  }
  return '';
}

const FORGETS: ReadonlySet<string> = new Set(['crash', 'failover', 'evict']);

/** Describes what a lock service lost by a fault: `, and its tokens began again at 1`. */
function lossPhrase(trace: Trace, injected: FaultInjected): string {
  const { events, processes } = trace;
  const isLock = processes.some(({ name, role }) => {
    return role === 'lock' && injected.processes.includes(name);
  });
  if (!isLock || !FORGETS.has(injected.fault)) return '';
  let highest = 0;
  let isAfter = false;
  for (const event of events) {
    if (event === injected) isAfter = true;
    if (event.kind !== 'grant') continue;
    const isByClient = event.process === event.client;
    if (!isByClient && !injected.processes.includes(event.process)) continue;
    if (!isAfter) highest = Math.max(highest, event.token);
    else
      return event.token > 0 && event.token <= highest
        ? `, and its tokens began again at ${event.token}`
        : forgottenPhrase(trace, injected, event);
  }
  return '';
}

/** Returns `, and forgot alice's grant` if another client got the lock before that grant's end. */
function forgottenPhrase({ events }: Trace, injected: FaultInjected, next: Grant): string {
  let lost: Grant | null = null;
  for (const event of events) {
    if (event === next) break;
    if (event.kind === 'release' && event.released === lost?.ordinal) lost = null;
    const isOfServer = event.kind === 'grant' && event.process === next.process;
    if (isOfServer && event.lock === next.lock && event.atUs <= injected.atUs) lost = event;
  }
  if (lost === null || lost.client === next.client) return '';
  const isToLast = lost.untilUs === null || lost.untilUs > next.atUs;
  return isToLast ? `, and forgot ${lost.client}'s grant` : '';
}
