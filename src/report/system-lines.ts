/** Finds the lines of a scenario's file that name its systems, for reports that point at them. */
import { parseFile, type SourceFile } from '../core/plan/document.ts';

/** Lines from 1 by the names of systems; empty where the text is no scenario. */
export function systemLines(
  source: SourceFile,
  systems: readonly string[],
): ReadonlyMap<string, number> {
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return new Map();
  const { locate } = parsed;
  return new Map(
    systems.flatMap((name) =>
      locate([{ path: ['systems', name], isKey: true, what: name }]).map(
        ({ line }): [string, number] => [name, line],
      ),
    ),
  );
}
