/**
 * Adds scripts to the text of a `package.json`, and leaves every other character as it is where
 * that can be done.
 */
import { isDeepStrictEqual } from 'node:util';

export type ScriptsEdit =
  | { readonly kind: 'edited'; readonly text: string; readonly added: readonly string[] }
  /** All scripts are there already, under these names. */
  | { readonly kind: 'same'; readonly kept: readonly string[] }
  | { readonly kind: 'unreadable' };

type Scripts = Readonly<Record<string, string>>;
type Manifest = Readonly<Record<string, unknown>>;

/** Adds those scripts that the text has none of the name of; with `isForced` all of them. */
export function addScripts(text: string, scripts: Scripts, isForced: boolean): ScriptsEdit {
  const manifest = parseObject(text.replace(/^\uFEFF/, ''));
  if (manifest === null) return { kind: 'unreadable' };
  const given = manifest['scripts'] ?? {};
  if (!isObject(given)) return { kind: 'unreadable' };
  const names = Object.keys(scripts).filter((name) =>
    isForced ? given[name] !== scripts[name] : !Object.hasOwn(given, name),
  );
  if (names.length === 0) return { kind: 'same', kept: Object.keys(scripts) };
  const added = Object.fromEntries(names.map((name) => [name, scripts[name]]));
  const wanted = { ...manifest, scripts: { ...given, ...added } };
  return { kind: 'edited', text: editText(text, added, wanted), added: names };
}

/** The first way of writing it that comes to what is wanted; the last one always does. */
function editText(text: string, added: Manifest, wanted: Manifest): string {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = Object.entries(added).map(
    ([name, script]) => `${indent}${indent}${JSON.stringify(name)}: ${JSON.stringify(script)}`,
  );
  const block = lines.join(`,${end}`);
  const candidates = [
    text.replace(/"scripts"\s*:\s*\{/, (open) => `${open}${end}${block},`),
    text.replace(
      /\s*\}\s*$/,
      () => `,${end}${indent}"scripts": {${end}${block}${end}${indent}}${end}}${end}`,
    ),
  ];
  const fitting = candidates.find((candidate) => {
    return isDeepStrictEqual(parseObject(candidate.replace(/^\uFEFF/, '')), wanted);
  });
  return fitting ?? `${JSON.stringify(wanted, null, indent)}\n`.replaceAll('\n', end);
}

function parseObject(text: string): Manifest | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
