/**
 * The modules that the text of a scenario or a plan names under `use`. They are loaded before the
 * rest of the text is judged, since they bring words that it may use.
 */

import type { Problem, UnplacedProblem } from '../../text/problem.ts';
import { parseFile, type SourceFile } from './document.ts';
import { whyNoModulePath } from './module-path.ts';

/** A module where it is named. */
export interface NamedModule {
  readonly path: string;
  readonly place: Omit<UnplacedProblem, 'what'>;
}

export type UseRead =
  | {
      readonly kind: 'modules';
      readonly modules: readonly NamedModule[];
      /** Gives findings their lines and columns. */
      readonly locate: (findings: readonly UnplacedProblem[]) => readonly Problem[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** In the order of the text; what is no text under `use` is left to the reader of the whole. */
export function readUse(source: SourceFile): UseRead {
  if (!source.text.includes('use')) return { kind: 'modules', modules: [], locate: () => [] };
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return parsed;
  const modules = namedUnder(parsed.value);
  const findings = modules.flatMap(({ path, place }, at): UnplacedProblem[] => {
    const isTwice = modules.findIndex((other) => other.path === path) < at;
    const what = isTwice ? `"${path}" stands here twice` : whyNoModulePath(path);
    return what === null ? [] : [{ ...place, what }];
  });
  if (findings.length > 0) return { kind: 'problems', problems: parsed.locate(findings) };
  return { kind: 'modules', modules, locate: parsed.locate };
}

/** A path, a list of them, or a map from each to its digest. */
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
