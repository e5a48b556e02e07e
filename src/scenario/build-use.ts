/** Checks that the modules of a scenario were loaded, and takes their digests. */
import type { Finding } from '../text/problem.ts';
import type { Scenario } from './scenario.ts';
import type { ScenarioFile } from './scenario-file.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface BuiltUse {
  readonly fields: Pick<Scenario, 'use'>;
  readonly findings: readonly Finding[];
}

/** Those that the file names, in its order. */
export function buildUse({ use }: ScenarioFile, { modules = {} }: Vocabulary): BuiltUse {
  if (use === undefined) return { fields: {}, findings: [] };
  const paths = typeof use === 'string' ? [use] : use;
  const known = paths.flatMap((path) => {
    const digest = Object.hasOwn(modules, path) ? modules[path] : undefined;
    return digest === undefined ? [] : [[path, digest] as const];
  });
  const findings = paths.flatMap((path, at): Finding[] => {
    if (Object.hasOwn(modules, path)) return [];
    const place = typeof use === 'string' ? ['use'] : ['use', at];
    return [{ path: place, isKey: false, what: `${path} was not loaded` }];
  });
  return { fields: { use: Object.fromEntries(known) }, findings };
}
