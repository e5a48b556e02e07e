/**
 * Where a claim that should break held: what the faults really met, in words, and what would meet
 * more. A pause that never came between a read and its write cannot make that write stale.
 */
import { proseDuration } from '../../core/plan/duration.ts';
import type { FaultKind } from '../../core/plan/fault.ts';
import type { ClientScenario, Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import type { Stage, Strikes } from './strikes.ts';
import type { Tally } from './tally.ts';

const WORDS: Readonly<Record<Exclude<Stage, 'server' | 'not-holding'>, string>> = {
  'before-access': 'before the first access',
  reading: 'during a read',
  'read-to-write': 'between a read and its write',
  writing: 'during a write',
  'after-write': 'after the write',
};

/** Where the scenario's faults met its clients, a line a kind; none where no seed ran. */
export function strikeHints(
  scenario: Scenario,
  system: SystemScenario,
  tally: Tally,
): readonly string[] {
  if (tally.seeds === tally.failed) return [];
  const kinds = [...new Set(scenario.faults.map(({ kind }) => kind))];
  return kinds.map((kind) => hintOf(kind, tally.faults[kind]?.strikes ?? {}, { scenario, system }));
}

interface Setting {
  readonly scenario: Scenario;
  readonly system: SystemScenario;
}

function hintOf(kind: FaultKind, strikes: Strikes, setting: Setting): string {
  const total = Object.values(strikes).reduce((sum, count) => sum + count, 0);
  if (total === 0) return `${kind} never struck`;
  const held = Object.entries(WORDS).flatMap(([stage, words]) => {
    const count = Object.entries(strikes).find(([name]) => name === stage)?.[1] ?? 0;
    return count === 0 ? [] : [{ count, words }];
  });
  const grants = held.reduce((sum, { count }) => sum + count, 0);
  const parts = held.map(({ count, words }) => `${groupDigits(count)} ${words}`).join(', ');
  const met =
    grants === 0
      ? `${kind} struck ${countOf(total, 'time')}, never a client that held a lock`
      : `${kind} struck ${countOf(grants, 'grant')}: ${parts}`;
  return `${met}${adviceOn(kind, strikes, setting)}`;
}

/** What would meet the step at which a write becomes stale, or outlast the lease there. */
function adviceOn(kind: FaultKind, strikes: Strikes, { scenario, system }: Setting): string {
  const place = PLACES[kind];
  if (place === undefined) return '';
  const reads = scenario.clients.some(readsFirst);
  const wanted: keyof typeof WORDS =
    kind === 'delay' ? 'writing' : reads ? 'read-to-write' : 'before-access';
  if ((strikes[wanted] ?? 0) === 0) return `; never ${WORDS[wanted]}: try \`${place}\``;
  const longestUs = scenario.bounds.durations[kind]?.maxUs ?? 0;
  const ttls = scenario.clients.map(({ settings }) => system.clients.ttl ?? settings.ttlUs);
  const ttlUs = Math.min(...ttls);
  if (longestUs > ttlUs) return '';
  return `; it lasts at most ${proseDuration(longestUs)}, and a lease ${proseDuration(ttlUs)}`;
}

const PLACES: Readonly<Partial<Record<FaultKind, string>>> = {
  pause: 'before: write',
  delay: 'message: write',
};

/** Whether its sections read before they write. */
function readsFirst({ workload: { kind, steps } }: ClientScenario): boolean {
  if (kind === 'steps') return steps.some((step) => READING.includes(step.kind));
  return kind === 'read-modify-write' || kind === 'transfer';
}

const READING: readonly string[] = ['read', 'increment', 'transfer', 'memoize'];
