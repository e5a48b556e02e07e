/**
 * What people are told where a chunk came to two results: the very seed, if it does so on this
 * machine too, and the command that shows it; else the chunk's seeds, and what they come to here.
 */
import { type Located, locateDifference, type TwoResults } from '../adapters/fleet/two-results.ts';
import { shellWords } from '../report/finding.ts';
import { repeatSeed } from '../search/sweep/determinism.ts';
import type { Pool } from '../search/sweep/pool.ts';
import type { SeedRange } from '../search/sweep/shard.ts';
import type { Difference } from '../search/sweep/shard-file.ts';
import { sweep } from '../search/sweep/sweep.ts';
import type { LoadedScenario } from './files.ts';
import type { Terminal } from './terminal.ts';

export interface AlarmContext {
  readonly pool: Pool;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
}

/** How long the chunk is examined again at most. */
const LOCATE_MS = 60_000;

/** Examines the chunk here again, for a minute at most, and prints what differs. */
export async function explainAlarm(
  alarm: TwoResults,
  loaded: LoadedScenario,
  { pool, terminal, isInterrupted }: AlarmContext,
): Promise<Difference> {
  const { scenario, catalogue, file } = loaded;
  const names = new Set(alarm.systems.map(({ system }) => system));
  const own = { ...scenario, systems: scenario.systems.filter(({ name }) => names.has(name)) };
  const untilMs = performance.now() + LOCATE_MS;
  const shouldStop = (): boolean => isInterrupted() || performance.now() > untilMs;
  terminal.note(`  examines seeds ${alarm.from}..${alarm.to} again, to find the one that differs`);
  const located = await locateDifference(alarm, async (range) => {
    const { tallies, isWhole } = await sweep(own, { ...range, pool, catalogue, shouldStop });
    return isWhole ? tallies : null;
  });
  const { seeds, difference } = await described(located, alarm, loaded);
  terminal.print(`nondeterministic: ${file}: ${difference.what}`);
  terminal.print(`  ${commandOf(file, seeds)}`);
  return difference;
}

interface Described {
  /** Which seeds show it. */
  readonly seeds: SeedRange;
  readonly difference: Difference;
}

async function described(
  located: Located,
  alarm: TwoResults,
  { scenario, catalogue }: LoadedScenario,
): Promise<Described> {
  if (located.kind === 'seed') {
    const { system, seed } = located;
    const event = await repeatSeed(scenario, system, seed, catalogue).catch(() => null);
    const what = `seed ${seed} of ${system} came to two results${event === null ? '' : `; ${event}`}`;
    return { seeds: { from: seed, to: seed }, difference: { system, seed, what } };
  }
  const isNarrow = located.kind === 'seeds';
  const { from, to } = isNarrow ? located : alarm;
  const system = isNarrow ? located.system : alarm.systems.map((one) => one.system).join(', ');
  const what = `seeds ${from}..${to} of ${system} came to two results; ${hereText(located)}`;
  return { seeds: { from, to }, difference: { system, seed: from, what } };
}

/** What came of examining them here, a clause. */
function hereText(located: Exclude<Located, { kind: 'seed' }>): string {
  if (located.kind === 'seeds') return 'here too, though no single one of them did';
  if (located.kind === 'unknown') return 'there was no time to find which';
  const results = {
    counted: 'they come to the one that is counted',
    other: 'they come to the one that is not counted',
    neither: 'they come to neither',
  } as const;
  return `here each came twice to the same, and ${results[located.here]}: machines differ`;
}

function commandOf(file: string, { from, to }: SeedRange): string {
  const words = ['npx', 'fencepost', 'run', file, '--seeds', `${from}..${to}`];
  return shellWords([...words, '--check-determinism']).join(' ');
}
