/** Puts single events into words: grants, faults, accesses and how an access came to be late. */

import type { Grant, Read, Write } from '../core/history/server-events.ts';
import { hasTokens } from '../core/history/tokens-in-use.ts';
import type { FaultStrikes } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { letterOf, type Story } from './story.ts';

/** `A be alice's grant 1 of `db` (from 0ms, ttl 10ms) and B be bob's grant 2 (from 12ms)`. */
export function grantsOf(story: Story): string {
  return listOf(
    story.grants.map((grant, place) => {
      const letter = letterOf(story, grant.ordinal);
      return `${letter} be ${grantPhrase(grant, story.grants[place - 1])}`;
    }),
  );
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

/** `one, two and three`. */
export function listOf(phrases: readonly string[]): string {
  if (phrases.length < 2) return phrases.join('');
  return `${phrases.slice(0, -1).join(', ')} and ${phrases.at(-1)}`;
}

/** `bob wrote 2 to `x` with token 2 at 15ms`; handled, not sent, at that time. */
export function accessPhrase(story: Story, access: Write | Read): string {
  const { client, atUs } = access;
  return `${client} ${deedPhrase(story, access)} at ${proseDuration(atUs)}`;
}

/** ` with token 2`; where nothing of the run has a token, none is missed. */
function tokenPhrase({ trace }: Story, { token }: Write | Read): string {
  if (token !== 0) return ` with token ${token}`;
  return hasTokens(trace) ? ' without a token' : '';
}

function deedPhrase(story: Story, access: Write | Read): string {
  const { key, token, value } = access;
  const withToken = tokenPhrase(story, access);
  if (access.kind === 'read') return `read ${value ?? 'nothing'} from \`${key}\`${withToken}`;
  return value === null ? `announced token ${token}` : `wrote ${value} to \`${key}\`${withToken}`;
}

/**
 * How an access came so late: `alice, paused from 3ms to 20ms, still held the write and sent it …`.
 */
export function latePhrase(story: Story, access: Write | Read): string {
  const { client, atUs, message } = access;
  const noun = nounOf(access);
  const withToken = tokenPhrase(story, access);
  const sentAtUs = departureOf(story, access);
  const sentAt = proseDuration(sentAtUs);
  const arrived = atUs === sentAtUs ? '' : `, to arrive ${at(access)}`;
  const pause = story.faults.find(
    (fault) =>
      fault.fault === 'pause' && fault.processes.includes(client) && fault.atUs <= sentAtUs,
  );
  if (pause !== undefined) {
    const held = `still held the ${noun} and sent it${withToken} at ${sentAt}`;
    return `${client}, ${pausedPhrase(pause)}, ${held}${arrived}`;
  }
  if (atUs === sentAtUs) return `${client}'s ${noun} came${withToken} ${at(access)}`;
  const transit = story.faults.find(({ target }) => target === message);
  const delayed = transit === undefined ? '' : ` and ${transitPhrase(transit)}`;
  return `${client}'s ${noun}, sent${withToken} at ${sentAt}${delayed}, arrived ${at(access)}`;
}

function nounOf(access: Write | Read): string {
  if (access.kind === 'read') return `read of \`${access.key}\``;
  return access.value === null
    ? 'announcement of its token'
    : `write of ${access.value} to \`${access.key}\``;
}

/** When the request of an access left its client. */
function departureOf(story: Story, access: Write | Read): number {
  let departedUs = access.atUs;
  for (const event of story.trace.events) {
    if (event.kind === 'invoke' && event.operation === access.operation) departedUs = event.atUs;
    if (event.kind === 'send' && event.message === access.message) return event.atUs;
  }
  return departedUs;
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

/**
 * All faults of the story but those that `except` names: `alice was paused from 3ms to 20ms and …`.
 */
function faultsOf(story: Story, except: readonly string[]): string {
  return listOf(story.faults.filter(({ fault }) => !except.includes(fault)).map(faultPhrase));
}

function faultPhrase(fault: FaultStrikes): string {
  const { atUs, target, amount } = fault;
  const who = listOf(fault.processes.map((process) => `\`${process}\``));
  const at = `at ${proseDuration(atUs)}`;
  switch (fault.fault) {
    case 'pause':
      return `${who} was ${pausedPhrase(fault)}`;
    case 'crash':
      return `${who} crashed ${at}`;
    case 'partition':
      return `${who} were cut off ${spanPhrase(fault)}`;
    case 'clock':
      return target === 'rate'
        ? `the clocks of ${who} ran ${amount} ppm too fast from ${proseDuration(atUs)}`
        : `the clock of ${who} was moved by ${proseDuration(amount)} ${at}`;
    case 'evict':
      return `${who} forgot \`${target}\` ${at}`;
    case 'failover':
      return `${who} failed over ${at} to a replica that lagged by ${proseDuration(amount)}`;
    case 'reset':
      return `the connections between ${who} were replaced ${at}`;
    case 'delay':
      return `\`${target}\` was delayed by ${proseDuration(amount)}`;
    case 'drop':
      return `\`${target}\` was lost`;
    case 'duplicate':
      return `\`${target}\` was executed again ${proseDuration(amount)} later`;
    case 'late-timer':
      return `\`${target}\` fired ${proseDuration(amount)} late`;
  }
}

/** `: `alice` was paused from 3 ms to 20 ms`, the cause; '' without a fault other than `except`. */
export function whileFaults(story: Story, except: readonly string[] = []): string {
  const faults = faultsOf(story, except);
  return faults === '' ? '' : `: ${faults}`;
}

/** `at 15ms`. */
export function at({ atUs }: { readonly atUs: number }): string {
  return `at ${proseDuration(atUs)}`;
}
