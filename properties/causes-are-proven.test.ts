/**
 * Laws of causes: in the run without a named cause the claim holds; an intervention that names
 * nothing in a run changes nothing; nothing before the event of an intervention changes; and an
 * intervention gives the same trace with fresh and with reused modules.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Catalogue } from '../src/catalogue.ts';
import { type Causation, reportedCauses } from '../src/check/causation.ts';
import type { Trace } from '../src/core/history/trace.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import type { Intervention, InterventionKind } from '../src/core/world/interventions.ts';
import type { SeedResult } from '../src/harness.ts';
import { examineEither, pinAsync } from '../src/host/async/run-async.ts';
import { loadPlanFile } from '../src/host/modules/load-files.ts';
import { RealmBlock } from '../src/host/realm/realm-blocks.ts';
import { run } from '../src/run.ts';
import { type PossibleCause, possibleCauses } from '../src/search/evidence/candidates.ts';
import { explainPlan } from '../src/search/evidence/explain-plan.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { runnablePlans } from './plans.ts';
import { runs, some } from './runs.ts';

const folder = fileURLToPath(new URL('../fixtures/', import.meta.url));
const filesIn = (place: string): readonly string[] =>
  readdirSync(`${folder}${place}`).flatMap((name) =>
    name.endsWith('.yaml') ? [`${place}/${name}`] : [],
  );
const files = [...filesIn('plans'), ...filesIn('modules/plans')];

/** A kept plan that breaks its claim, without chance, and the run of it. */
interface Broken {
  readonly plan: Plan;
  readonly claim: string;
  readonly catalogue: Catalogue;
  readonly result: SeedResult;
  readonly candidates: readonly PossibleCause[];
}

async function brokenIn(file: string): Promise<Broken | null> {
  const read = await loadPlanFile(`${folder}${file}`);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { plan: kept, catalogue } = read;
  if (kept.expect?.outcome !== 'reproduced') return null;
  const { claim } = kept.expect;
  await prepare([kept.system], catalogue);
  const plan = await pinAsync(kept, catalogue);
  const result = await examineEither(plan, [claim], catalogue);
  const [verdict] = result.verdicts;
  if (verdict?.kind !== 'invalid') throw new Error(`${file} does not break ${claim}`);
  const candidates = possibleCauses(plan, result.trace, verdict.evidence);
  return { plan, claim, catalogue, result, candidates };
}

async function runWithout(
  { plan, claim, catalogue }: Broken,
  interventions: readonly Intervention[],
): Promise<SeedResult> {
  return await examineEither(plan, [claim], catalogue, { interventions });
}

/** Returns the candidate that was named as a cause. */
function namedAs({ candidates }: Broken, { kind, event, text }: Causation['causes'][number]) {
  // One event may show that a lease expired, and that the server forgot it.
  const isRecord = kind === 'expiry' && text.startsWith('the record');
  const found = candidates.find(
    ({ intervention, ...one }) =>
      one.kind === kind &&
      (one.event ?? event) === event &&
      ('of' in intervention && intervention.of === 'record') === isRecord,
  );
  if (found === undefined) throw new Error(`no candidate is the ${kind} at ${event}`);
  return found.intervention;
}

/** Returns the number of causes, each of which was removed again. */
async function requireProven(broken: Broken): Promise<number> {
  const { plan, claim, catalogue } = broken;
  const explained = await explainPlan(plan, claim, { catalogue });
  if (explained === null) throw new Error(`${claim} does not break`);
  const { causes, isPair, evidence, neighbours, tested } = explained.causation;
  const removed = causes.map((cause) => namedAs(broken, cause));
  for (const group of isPair ? [removed] : removed.map((one) => [one])) {
    const without = await runWithout(broken, group);
    expect(without.verdicts[0]?.kind, JSON.stringify(group)).toBe('valid');
  }
  const shown = evidence.map(({ event }) => event);
  const reported = reportedCauses(broken.result.trace, causes).map(({ event }) => event);
  expect(shown).toEqual(expect.arrayContaining(reported));
  const tries = neighbours.filter(({ kind }) => kind === 'intervention').length;
  expect(tries).toBeLessThanOrEqual(60);
  expect(tested.tested).toBeLessThanOrEqual(tested.of);
  return causes.length;
}

describe('in the run without a named cause, the claim holds', () => {
  test.each(some(files))('%s', async (file) => {
    const broken = await brokenIn(file);
    if (broken !== null) await requireProven(broken);
  });
});

test.each([
  'plans/zombie-writer-unfenced-grant-order.yaml',
  'modules/plans/spin-lock-naive-owner-only-release.yaml',
  'plans/redis-release-delete-owner-only-release.yaml',
])('%s has causes', async (file) => {
  const broken = await brokenIn(file);
  expect(broken === null ? 0 : await requireProven(broken)).toBeGreaterThan(0);
});

test.each([
  'plans/kubernetes-release-observed-mutual-exclusion.yaml',
  'plans/standby-lease-standby-mutual-exclusion.yaml',
  'plans/idle-lease-memcached-tokens-increase.yaml',
])('in %s, the expiry of the first lease can be postponed', async (file) => {
  const broken = await brokenIn(file);
  if (broken === null) throw new Error(`${file} does not break its claim`);
  const { events } = broken.result.trace;
  const grant = events.find(({ kind }) => kind === 'grant');
  if (grant?.kind !== 'grant') throw new Error(`${file} has no grant`);
  const without = await runWithout(broken, [
    { kind: 'expiry postponed', message: grant.message, of: 'lease' },
  ]);
  expect(JSON.stringify(without.trace.events)).not.toBe(JSON.stringify(events));
});

const MESSAGE = 'zoe/1/write/1/request';

/** One intervention of each kind, about a client that no plan has. */
const NOTHING: { readonly [Kind in InterventionKind]: Intervention & { readonly kind: Kind } } = {
  'without fault': {
    kind: 'without fault',
    fault: { kind: 'drop', which: { kind: 'message', message: MESSAGE } },
  },
  'message on time': { kind: 'message on time', message: MESSAGE },
  'timer on time': { kind: 'timer on time', timer: 'zoe/1/think' },
  'expiry postponed': { kind: 'expiry postponed', message: MESSAGE, of: 'lease' },
  'call not sent': { kind: 'call not sent', operation: 'zoe/1/write', replies: {} },
  'calls swapped': { kind: 'calls swapped', first: MESSAGE, second: 'yves/1/write/1/request' },
  'reply replaced': { kind: 'reply replaced', message: 'zoe/1/write/1/reply', reply: 1 },
};

test('an intervention that names nothing in a run changes nothing', () => {
  fc.assert(
    fc.property(runnablePlans({ stores: ['fenced', 'unfenced'] }), (plan) => {
      const trace = JSON.stringify(run(plan));
      expect(JSON.stringify(run(plan, undefined, Object.values(NOTHING)))).toBe(trace);
    }),
    { seed: 1, numRuns: runs(200) },
  );
});

/** Returns the number of the first event that an intervention can change. */
function firstChange(trace: Trace, { intervention, event }: PossibleCause): number {
  const named = [
    'message' in intervention ? intervention.message : '',
    'operation' in intervention ? `${intervention.operation}/` : '',
    'first' in intervention ? intervention.first : '',
  ].filter((name) => name !== '');
  if (named.length === 0) return event ?? 0;
  return trace.events.findIndex(
    (one) => 'message' in one && named.some((name) => one.message.startsWith(name)),
  );
}

test('nothing that happened before the event of an intervention changes', async () => {
  let changed = 0;
  for (const file of some(filesIn('plans'))) {
    const broken = await brokenIn(file);
    if (broken === null) continue;
    const { trace } = broken.result;
    for (const candidate of broken.candidates) {
      if (candidate.kind === 'fault' || candidate.kind === 'timer') continue;
      const without = await runWithout(broken, [candidate.intervention]);
      const first = firstChange(trace, candidate);
      const before = trace.events.slice(0, first);
      expect(without.trace.events.slice(0, first), file).toEqual(before);
      if (JSON.stringify(without.trace.events) !== JSON.stringify(trace.events)) changed += 1;
    }
  }
  expect(changed).toBeGreaterThan(20);
});

test('an intervention gives the same trace with fresh and with reused modules', async () => {
  const broken = await brokenIn('modules/plans/npm-redlock-late-reply-trusts-one-holder.yaml');
  if (broken === null) throw new Error('it breaks its claim');
  const { plan, catalogue, result } = broken;
  const candidates = broken.candidates.slice(0, 4);
  const realms = new RealmBlock();
  const eventsOf = async (candidate: PossibleCause, isReusing: boolean): Promise<string> => {
    const interventions = [candidate.intervention];
    const manner = isReusing ? { interventions, realms } : { interventions };
    return JSON.stringify((await examineEither(plan, [], catalogue, manner)).trace.events);
  };
  const traces = new Set<string>([JSON.stringify(result.trace.events)]);
  for (const candidate of candidates) {
    const fresh = await eventsOf(candidate, false);
    expect(await eventsOf(candidate, false)).toBe(fresh);
    expect(await eventsOf(candidate, true)).toBe(fresh);
    expect(await eventsOf(candidate, true)).toBe(fresh);
    traces.add(fresh);
  }
  expect(traces.size).toBeGreaterThan(2);
});
