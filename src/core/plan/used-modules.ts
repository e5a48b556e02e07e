/**
 * The modules that a scenario or plan lists under `use`: files below its folder. They are loaded
 * before the rest of the text is checked, because they define words that the text may use.
 */
import type { Problem, UnplacedProblem } from '../../text/problem.ts';
import { parseFile, type SourceFile } from './document.ts';

/** A module path and its place in the text. */
export interface NamedModule {
  readonly path: string;
  readonly place: Omit<UnplacedProblem, 'what'>;
}

type UseRead =
  | {
      readonly kind: 'modules';
      readonly modules: readonly NamedModule[];
      /** Returns the findings with lines and columns. */
      readonly locate: (findings: readonly UnplacedProblem[]) => readonly Problem[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/**
 * Reads `use` in text order. Entries that are not text are ignored here: the reader of the full
 * file reports them.
 */
export function readUse(source: SourceFile): UseRead {
  if (!source.text.includes('use')) return { kind: 'modules', modules: [], locate: () => [] };
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return parsed;
  const modules = namedUnder(parsed.value);
  const findings = modules.flatMap(({ path, place }, at): UnplacedProblem[] => {
    const isTwice = modules.findIndex((other) => other.path === path) < at;
    const what = isTwice ? `"${path}" is listed twice` : whyNoModulePath(path);
    return what === null ? [] : [{ ...place, what }];
  });
  if (findings.length > 0) return { kind: 'problems', problems: parsed.locate(findings) };
  return { kind: 'modules', modules, locate: parsed.locate };
}

/** Reads a path, a list of paths, or a map from each path to its digest. */
function namedUnder(value: unknown): readonly NamedModule[] {
  if (typeof value !== 'object' || value === null || !('use' in value)) return [];
  const { use } = value;
  if (typeof use === 'string') return [{ path: use, place: { path: ['use'], isKey: false } }];
  if (Array.isArray(use)) {
    return use.flatMap((path: unknown, at): NamedModule[] =>
      typeof path === 'string' ? [{ path, place: { path: ['use', at], isKey: false } }] : [],
    );
  }
  if (typeof use !== 'object' || use === null) return [];
  return Object.keys(use).map((path) => ({ path, place: { path: ['use', path], isKey: true } }));
}

/** Returns a clause that explains why `path` is not a file below the folder, or null if it is. */
export function whyNoModulePath(path: string): string | null {
  const why = whyElsewhere(path);
  if (why === null) return null;
  return `${JSON.stringify(path)} ${why}; expected a file below this folder, such as ./my-lock.mjs`;
}

function whyElsewhere(path: string): string | null {
  if (/^[\\/]|^[a-z]:/i.test(path)) return 'is an absolute path';
  if (/^[a-z][a-z0-9+.-]+:/i.test(path)) return 'is a URL';
  if (path.includes('\\')) return 'has a backslash';
  if (/\p{Cc}/u.test(path)) return 'has a control character';
  if (path.split('/').includes('..')) return 'leads out of the folder';
  if (!path.startsWith('./')) return 'is the name of a package';
  return path === './' || path.endsWith('/') ? 'is a folder' : null;
}
