/**
 * Law: a seed means the plan that it meant, and a plan gives the trace that it gave, as
 * `docs/stability.md` promises for a patch: for every scenario that ships, and for locks that
 * people bring. `FENCEPOST_PIN=1 npx vitest run properties/a-seed-gives` writes the digests anew
 * where a minor release changes them, which the changelog then says; what is not written yet, as
 * of a new scenario, is left out.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtIn, type Catalogue } from '../src/catalogue.ts';
import { renderPlan } from '../src/core/plan/plan-text.ts';
import { examineEither } from '../src/host/async/run-async.ts';
import { loadScenario } from '../src/load.ts';
import { digestOf } from '../src/run.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { keyUsersScenario, withKeyUsers } from './key-users.ts';
import { ownKinds, ownLocks, ownScenario } from './own-locks.ts';
import { some } from './runs.ts';

interface Digests {
  readonly plans: string;
  readonly traces: string;
}

interface Case {
  readonly name: string;
  readonly scenario: Scenario;
  readonly catalogue: Catalogue;
}

const SEEDS = 3;
const isPinning = process.env['FENCEPOST_PIN'] === '1';
const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const file = `${fixtures}compatibility/traces.json`;
const known: Readonly<Record<string, Digests>> = JSON.parse(readFileSync(file, 'utf8'));
const found: Record<string, Digests> = {};

const cases: readonly Case[] = [
  ...shippedScenarios(),
  ...ownKinds.map((kind) => {
    return { name: kind.title, scenario: ownScenario(kind, false), catalogue: ownLocks };
  }),
  { name: 'keys of others', scenario: keyUsersScenario(), catalogue: withKeyUsers },
];

/** Those that need no code but fencepost's. */
function shippedScenarios(): readonly Case[] {
  return readdirSync(fixtures).flatMap((name) => {
    const text = name.endsWith('.yaml') ? readFileSync(fixtures + name, 'utf8') : 'use: nothing';
    if (/^use:/m.test(text)) return [];
    const read = loadScenario(text, name);
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    return [{ name, scenario: read.scenario, catalogue: builtIn }];
  });
}

beforeAll(() => prepare(cases.flatMap(({ scenario }) => scenario.systems)));

test.each(isPinning ? cases : some(cases))(
  '$name: a seed gives the plan and the trace that it gave',
  async ({ name, scenario, catalogue }) => {
    const plans = scenario.systems.flatMap(({ name: system }) =>
      Array.from({ length: SEEDS }, (_, seed) => expand(scenario, system, seed)),
    );
    const traces: string[] = [];
    for (const plan of plans) {
      traces.push(digestOf((await examineEither(plan, [], catalogue)).trace));
    }
    found[name] = { plans: digest(plans.map((plan) => renderPlan(plan))), traces: digest(traces) };
    if (name in known && !isPinning) {
      expect(found[name]).toEqual(known[name]);
    }
  },
);

test('whatever is written is still there to be tried', () => {
  const names = new Set(cases.map(({ name }) => name));
  expect(Object.keys(known).filter((name) => !names.has(name))).toEqual([]);
});

afterAll(() => {
  if (isPinning) writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
});

function digest(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 12);
}
