/** Which files `fencepost init` writes. Their texts are real files of the package. */
import { readFileSync } from 'node:fs';

/** Parts that a person may want or not; `locks` is what everybody gets. */
export type StarterPart = 'locks' | 'vitest' | 'github';

export interface StarterFile {
  readonly part: StarterPart;
  /** Its path below the folder that is begun in. */
  readonly target: string;
  /** What it is, in a few words. */
  readonly about: string;
  /** Its path below `fixtures/starter`; the packing of a package skips names with a dot. */
  readonly template: string;
}

/** In the order in which a person would read them. */
export const starterFiles: readonly StarterFile[] = [
  {
    part: 'locks',
    target: 'locks/zombie.yaml',
    template: 'locks/zombie.yaml',
    about: 'a paused holder, before a store with and one without fencing tokens',
  },
  {
    part: 'locks',
    target: 'locks/my-lock.mjs',
    template: 'locks/my-lock.mjs',
    about: 'a lock of your own, whose client is asynchronous code',
  },
  {
    part: 'locks',
    target: 'locks/my-lock.yaml',
    template: 'locks/my-lock.yaml',
    about: 'what is expected of it, and which faults may strike',
  },
  {
    part: 'vitest',
    target: 'locks/locks.test.ts',
    template: 'locks/locks.test.ts',
    about: 'the same as tests of vitest',
  },
  {
    part: 'github',
    target: '.github/workflows/fencepost.yml',
    template: 'github/fencepost.yml',
    about: 'all of it on every push, on four machines',
  },
];

/** The scenarios among them, as they are typed behind `fencepost run`. */
export const STARTER_SCENARIOS = 'locks/zombie.yaml locks/my-lock.yaml';

/** The scripts that a `package.json` gets. */
export const starterScripts: Readonly<Record<string, string>> = {
  locks: `fencepost run ${STARTER_SCENARIOS}`,
};

/** The text of a template; `fixtures` lies beside `src` and `dist`. */
export function readStarter({ template }: Pick<StarterFile, 'template'>): string {
  return readFileSync(new URL(`../../../fixtures/starter/${template}`, import.meta.url), 'utf8');
}
