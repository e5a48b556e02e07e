/** The scenarios that ship and need no code but fencepost's, and the plans that are kept of all. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plan } from '../../src/core/plan/plan.ts';
import { readPlan } from '../../src/core/plan/plan-text.ts';
import { loadScenario } from '../../src/load.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';

/** Names and texts of the files of a folder in `fixtures`. */
function filesIn(folder: string): readonly (readonly [name: string, text: string])[] {
  const path = fileURLToPath(new URL(`../../fixtures/${folder}`, import.meta.url));
  return readdirSync(path)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => [name.replace('.yaml', ''), readFileSync(`${path}${name}`, 'utf8')] as const);
}

export const scenarios: readonly (readonly [name: string, text: string])[] = filesIn('').filter(
  ([, text]) => !/^use:/m.test(text),
);

export const plans: readonly (readonly [name: string, text: string])[] = filesIn('plans/');

export function scenarioOf(name: string, text: string): Scenario {
  const read = loadScenario(text, name);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

export function planOf(name: string, text: string): Plan {
  const read = readPlan({ text, file: name });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.plan;
}

/** The first words of their names, and the plans of each. */
export const families: readonly (readonly [family: string, plans: typeof plans])[] = [
  ...new Set(plans.map(([name]) => familyOf(name))),
].map((family) => [family, plans.filter(([name]) => familyOf(name) === family)] as const);

function familyOf(name: string): string {
  return name.split('-')[0] ?? name;
}
