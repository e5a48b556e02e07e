/** What is left of a sweep that is not whole, and what to type to go on with it. */
import { dirname } from 'node:path';
import type { FleetResult } from '../adapters/fleet/coordinate.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import type { LoadedScenario } from './files.ts';
import type { FleetOptions } from './fleet-scenario.ts';
import { sweepCommandText } from './sweep-words.ts';

/** Where reports go if nobody says otherwise. */
export const DEFAULT_OUTPUT = 'reports';

/** What a coordinator came to; no id and no file where it was interrupted before it began. */
export interface Swept {
  readonly result: FleetResult;
  readonly id: string | null;
  /** Where its checkpoints are kept. */
  readonly file: string | null;
  /** Whether its record is known to have been on the queue. */
  readonly isAnnounced: boolean;
}

/** `zombie: 1,312 of 10,000 seeds; go on with: npx fencepost sweep resume s0123…`. */
export function restText(
  loaded: LoadedScenario,
  { result, id, isAnnounced }: Swept,
  options: FleetOptions,
): string | null {
  if (result.end === 'whole') return null;
  const { scenario } = loaded;
  const known = Math.min(
    ...scenario.systems.map(({ name }) => result.tallies.get(name)?.seeds ?? 0),
  );
  const seeds = `${groupDigits(known)} of ${countOf(options.to - options.from + 1, 'seed')}`;
  const head = `${scenario.name}: ${seeds}`;
  if (id === null || !isAnnounced) return `${head}; the same command goes on`;
  if (result.end === 'lost') return `${head}; the same command tries the others again`;
  return `${head}; go on with: ${resumeCommandText(loaded, id, options)}`;
}

function resumeCommandText(
  { scenario, file }: LoadedScenario,
  id: string,
  { queue, output, modules, corpus }: FleetOptions,
): string {
  const folder = typeof modules === 'string' ? modules : dirname(file);
  return sweepCommandText('resume', {
    ...{ queue, id },
    options: [
      ...(scenario.use === undefined ? [] : ['--modules', folder]),
      ...(output === DEFAULT_OUTPUT ? [] : ['--output', output]),
      ...(corpus === null ? [] : ['--corpus', corpus]),
    ],
  });
}
