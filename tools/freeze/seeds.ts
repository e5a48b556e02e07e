/**
 * Renders the results of the first seeds of a scenario as lines: digests of plans and of complete
 * traces in blocks of 25 seeds, the counts of a sweep, and the shrunk form of one failure per
 * claim.
 */
import { createHash } from 'node:crypto';
import type { Catalogue } from '../../src/catalogue.ts';
import { renderPlan } from '../../src/core/plan/plan-text.ts';
import { runAsync, shrinkFailureAsync } from '../../src/host/async/run-async.ts';
import { expand } from '../../src/scenario/expand.ts';
import type { Scenario, SystemScenario } from '../../src/scenario/scenario.ts';
import type { SweepCounts } from '../../src/search/sweep/counts.ts';
import { sweep } from '../../src/search/sweep/sweep.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { sortedText, traceDigest } from './sorted-text.ts';

/** Seeds that share a digest. */
export const BLOCK = 25;
/** A tally has at most this many of the seeds that broke a claim. */
const BROKEN_SEEDS = 50;

export interface Loaded {
  readonly scenario: Scenario;
  readonly catalogue: Catalogue;
}

/** Lines by section title, which is a system or a command. */
export type Sections = ReadonlyMap<string, readonly string[]>;

/** All seeds with all counts, or only the digests of the first block. */
export type Depth = 'full' | 'first';

/** Returns the lines of each system. */
export async function seedSections(loaded: Loaded, seeds: number, depth: Depth): Promise<Sections> {
  const { scenario, catalogue } = loaded;
  await prepare(scenario.systems, catalogue);
  const sections = new Map<string, string[]>();
  for (const { name } of scenario.systems) {
    const lines: string[] = [];
    sections.set(name, lines);
    for (let from = 0; from < (depth === 'first' ? BLOCK : seeds); from += BLOCK) {
      lines.push(await blockLine(loaded, name, from));
    }
  }
  if (depth === 'first') return sections;
  // Like `run`, a sweep reuses modules if possible.
  const reusing = catalogue.modules.length === 0 ? [] : scenario.systems.map(({ name }) => name);
  const onDifference = (name: string): void => void sections.get(name)?.push('reuse: differs=yes');
  const range = { from: 0, to: seeds - 1, pool: null, catalogue, reusing, onDifference };
  const { countsBySystem } = await sweep(scenario, range);
  for (const system of scenario.systems) {
    const counts = countsBySystem.get(system.name);
    if (counts === undefined) throw new Error(`${system.name} was not swept`);
    const shrunk = await shrinkLines(loaded, system, counts);
    sections.get(system.name)?.push(...countLines(counts), ...shrunk);
  }
  return sections;
}

/**
 * Returns `25 <plans> <traces>`, with the first seed of the block. Plans are digested without the
 * digests of modules, which change with every comment.
 */
async function blockLine(
  { scenario, catalogue }: Loaded,
  system: string,
  from: number,
): Promise<string> {
  const [plans, traces]: [string[], string[]] = [[], []];
  for (let seed = from; seed < from + BLOCK; seed += 1) {
    const plan = expand(scenario, system, seed);
    plans.push(sortedText({ ...plan, use: undefined }));
    traces.push(traceDigest(await runAsync(plan, catalogue)));
  }
  return `${from} ${digest(plans.join('\n'))} ${digest(traces.join('\n'))}`;
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Returns a tally's numbers, whatever their names. */
function countLines({ claims, faults, ...counts }: SweepCounts): readonly string[] {
  const claimLines = Object.entries(claims).map(([name, claim]) => {
    const seeds = digest(claim.brokenSeeds.slice(0, BROKEN_SEEDS).join());
    const listed = claim.broken === 0 ? {} : { seeds, causes: claim.causes?.length };
    return line(`claim ${name}`, { ...claim, ...listed });
  });
  const faultLines = Object.entries(faults).map(([kind, fault]) => {
    return line(`fault ${kind}`, { ...fault, strikes: digest(sortedText(fault.strikes)) });
  });
  const others = Object.entries(counts).map(([name, value]) => line(name, Object(value)));
  return [line('sweep', counts), ...others, ...faultLines.sort(), ...claimLines.sort()].filter(
    (text) => text !== '',
  );
}

/** Formats `claim x: broken=3 exercised=9` without zeros; returns '' if nothing else is left. */
function line(key: string, fields: object): string {
  const isSaid = (value: unknown): boolean => /^(string|number|boolean)$/.test(typeof value);
  const entries = Object.entries(fields).filter(([, value]) => isSaid(value) && value !== 0);
  return entries.length === 0 ? '' : `${key}: ${entries.map((field) => field.join('=')).join(' ')}`;
}

/** Shrinks one failure per listed claim that broke, or of the first broken claim without any. */
async function shrinkLines(
  { scenario, catalogue }: Loaded,
  { name, expect }: SystemScenario,
  { claims }: SweepCounts,
): Promise<readonly string[]> {
  const broken = Object.keys(claims).filter((claim) => (claims[claim]?.broken ?? 0) > 0);
  const listed = broken.filter((claim) => [...expect.breaks, ...expect.holds].includes(claim));
  const lines: string[] = [];
  for (const claim of listed.length > 0 ? listed.sort() : broken.sort().slice(0, 1)) {
    const seed = claims[claim]?.brokenSeeds[0] ?? 0;
    const shrunk = await shrinkFailureAsync(expand(scenario, name, seed), claim, { catalogue });
    const { plan, runs, accepted, isMinimal, boundary } = shrunk;
    const { length: events } = (await runAsync(plan, catalogue)).events;
    const found = {
      seed: `${seed}`,
      plan: digest(renderPlan({ ...plan, use: {} })),
      runs,
      accepted,
      isMinimal,
    };
    const size = { clients: plan.clients.length, faults: plan.faults.length, events };
    const { breaksAtUs } = boundary ?? {};
    lines.push(line(`shrink ${claim}`, { ...found, ...size, breaksAtUs }));
  }
  return lines;
}
