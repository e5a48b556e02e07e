/**
 * Tries the shape that nearly all lock bugs have, as soon as few sections are left: one section
 * first, with a fault, and one of another client that comes when it is over, or soon after.
 */
import type { Plan } from '../plan/plan.ts';
import { calmed, roundLatency, type SectionKey } from './change.ts';
import { sectionKeys } from './drop-sections.ts';
import { followedAfter, withAllAmounts } from './retime.ts';
import type { Pass, Search, Steps } from './search.ts';
import { withoutClients, withoutSections } from './without.ts';

/** With more sections than this, simpler passes have to come first. */
const MAX_SECTIONS = 8;

export const keepTwoSections: Pass = {
  name: 'keep two sections',
  *run(search: Search): Steps<void> {
    const keys = sectionKeys(search.current);
    const { faults, decisions } = search.current;
    const isBare = keys.length <= 2 && faults.length <= 1 && Object.keys(decisions).length === 0;
    if (isBare || keys.length > MAX_SECTIONS) return;
    for (const first of keys) {
      for (const second of keys) {
        if (first.client === second.client) continue;
        for (const candidate of duels(search.current, first, second)) {
          if (yield* search.attempt(candidate)) return;
        }
      }
    }
  },
};

/** Only these two sections, at several distances, with all faults or one, of several lengths. */
function duels(plan: Plan, first: SectionKey, second: SectionKey): readonly Plan[] {
  const pair = onlySections(plan, [first, second]);
  const latencyUs = roundLatency(pair);
  const ttlUs = pair.clients.find(({ name }) => name === first.client)?.ttlUs ?? 0;
  const waitsUs = [ttlUs + Math.floor(ttlUs / 10), Math.floor(ttlUs / 2), 2 * ttlUs];
  return waitsUs.flatMap((waitUs) => {
    const timed = followedAfter(calmed(pair, latencyUs), first.client, waitUs);
    // So long that what was held up arrives after the second section's first access, and no longer.
    const just = Math.max(0, waitUs - latencyUs);
    return alone(timed).flatMap((one) => [
      withAllAmounts(one, Number.POSITIVE_INFINITY),
      withAllAmounts(one, just),
    ]);
  });
}

/** The plan, and the same with each of its faults alone. */
function alone(plan: Plan): readonly Plan[] {
  if (plan.faults.length < 2) return [plan];
  return [plan, ...plan.faults.map((fault) => ({ ...plan, faults: [fault] }))];
}

function onlySections(plan: Plan, kept: readonly SectionKey[]): Plan {
  const names = kept.map(({ client }) => client);
  const others = plan.clients.map(({ name }) => name).filter((name) => !names.includes(name));
  const rest = withoutClients(plan, others);
  const gone = sectionKeys(rest).filter(
    (key) => !kept.some(({ client, section }) => client === key.client && section === key.section),
  );
  return withoutSections(rest, gone);
}
