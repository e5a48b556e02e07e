/**
 * Decides what `fencepost init` does in a folder, as a list of steps that a caller carries out or
 * only tells of. A file that exists is left as it is.
 */
import { addScripts } from './package-scripts.ts';
import { readStarter, type StarterPart, starterFiles, starterScripts } from './starter.ts';

/** What there is in the folder. */
export interface FolderFacts {
  /** Whether there is anything at a path below the folder. */
  readonly has: (target: string) => boolean;
  /** The text of its `package.json`; null where there is none. */
  readonly manifest: string | null;
  /** From `locks` to the schema of scenarios, with `/`; null where the package is not installed. */
  readonly schema: string | null;
}

export interface BeginningOptions {
  readonly parts: ReadonlySet<StarterPart>;
  /** Whether files that exist are overwritten. */
  readonly isForced: boolean;
}

/** One file. `left` is not written; its `why` is a clause. */
export type Step =
  | {
      readonly kind: 'written' | 'overwritten' | 'extended';
      readonly target: string;
      readonly about: string;
      readonly text: string;
    }
  | { readonly kind: 'left'; readonly target: string; readonly why: string };

const MANIFEST = 'package.json';

/** The steps, in the order of the files. */
export function planBeginning(facts: FolderFacts, options: BeginningOptions): readonly Step[] {
  const files = starterFiles
    .filter(({ part }) => options.parts.has(part))
    .map((file): Step => {
      const { target, about } = file;
      const exists = facts.has(target);
      if (exists && !options.isForced) return { kind: 'left', target, why: EXISTS };
      const text = withSchema(readStarter(file), facts.schema);
      return { kind: exists ? 'overwritten' : 'written', target, about, text };
    });
  return facts.manifest === null
    ? files
    : [...files, manifestStep(facts.manifest, options.isForced)];
}

const EXISTS = 'exists already; --force overwrites it';

function manifestStep(text: string, isForced: boolean): Step {
  const edit = addScripts(text, starterScripts, isForced);
  const names = Object.keys(starterScripts).join(', ');
  switch (edit.kind) {
    case 'edited': {
      const about = `npm run ${edit.added.join(', npm run ')}`;
      return { kind: 'extended', target: MANIFEST, about, text: edit.text };
    }
    case 'same':
      return { kind: 'left', target: MANIFEST, why: `has a script ${names} already` };
    case 'unreadable':
      return { kind: 'left', target: MANIFEST, why: `cannot be read: it gets no script ${names}` };
  }
}

const SCHEMA_LINE = /^(# yaml-language-server: \$schema=).*$/m;

/** An editor looks for the schema from where the file is. */
function withSchema(text: string, schema: string | null): string {
  return schema === null ? text : text.replace(SCHEMA_LINE, (_, key: string) => key + schema);
}
