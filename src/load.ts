/** Reads scenarios in the words that fencepost's own systems and claims provide. */
import { claims } from './check/claims.ts';
import { readScenario, type ScenarioRead } from './scenario/read-scenario.ts';
import type { LockWord, Vocabulary } from './scenario/vocabulary.ts';
import { Options, type Protocol } from './systems/protocol.ts';
import { protocols } from './systems/protocols.ts';
import { storeKinds } from './systems/store/store-kinds.ts';

/** What fencepost itself provides. */
export const vocabulary: Vocabulary = {
  locks: new Map([...protocols].map(([name, protocol]) => [name, wordOf(protocol)])),
  stores: [...storeKinds.keys()],
  claims: [...claims.keys()],
};

function wordOf(protocol: Protocol): LockWord {
  return {
    options: protocol.options.map(({ name, values }) => ({
      name,
      values: values === 'integer' ? null : values,
    })),
    servers: (given) => {
      const options = Options.read(protocol.options, given);
      return typeof options === 'string' ? [] : protocol.servers(options);
    },
  };
}

/** The scenario that `text` means, or every problem in it; `file` is only named in the problems. */
export function loadScenario(text: string, file: string): ScenarioRead {
  return readScenario({ file, text, vocabulary });
}
