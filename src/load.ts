/** Reads scenarios in the words that fencepost's own systems and claims provide. */
import { claims } from './check/claims.ts';
import { readScenario, type ScenarioRead } from './scenario/read-scenario.ts';
import type { Vocabulary } from './scenario/vocabulary.ts';
import { locks, options } from './systems/assemble.ts';
import { stores } from './systems/store/fence.ts';

/** What fencepost itself provides. */
export const vocabulary: Vocabulary = {
  locks: [...locks.keys()],
  stores: [...stores.keys()],
  claims: [...claims.keys()],
  options: options.map(({ name, values }) => ({
    name,
    values: values === 'integer' ? null : values,
  })),
};

/** The scenario that `text` means, or every problem in it; `file` is only named in the problems. */
export function loadScenario(text: string, file: string): ScenarioRead {
  return readScenario({ file, text, vocabulary });
}
