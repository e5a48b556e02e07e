/** Garbles the text of a history so that some of it can still be read, and the rest is refused. */
import type { Draw } from './draw.ts';

const LITERALS: readonly string[] = `null nil "" -1 0 -0 1e308 -1.5 1e999 9007199254740993
  [] [1,2] [[1,2],3] [[1,2],[3,4]] {} {"a":1} {:a,1} #{1} #inst,"x" :ok "ok" :denied true false
  ##NaN 1/2 "unknown" "refused" "#"`.split(/\s+/);
/** Matches possible values that are not field names. */
const TOKEN = /"[^"]*"(?!:)|(?<=[\s:,[])(?:-?\d[\d.]*|nil|null|true|false)(?=[\s,}\])])/g;
const MARKS: readonly string[] = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  ';',
  '\t',
  '\n',
  '\\',
  '#',
  '_',
];

type Change = (text: string, draw: Draw) => string;

const splice: Change = (text, draw) => {
  const at = draw.below(text.length + 1);
  return text.slice(0, at) + draw.of(MARKS) + text.slice(at + draw.below(3));
};

/** Replaces a value by another literal, or by another value of the text. */
const replaceValue: Change = (text, draw) => {
  const tokens = [...text.matchAll(TOKEN)];
  if (tokens.length === 0) return text;
  const { 0: token, index } = draw.of(tokens);
  const other = draw.chance(60) ? draw.of(LITERALS) : draw.of(tokens)[0];
  return text.slice(0, index) + other + text.slice(index + token.length);
};

const changeLines: Change = (text, draw) => {
  const lines = text.split('\n');
  const [from, to] = [draw.below(lines.length), draw.below(lines.length)];
  const moved = lines.splice(from, 1);
  if (draw.chance(60)) lines.splice(to, 0, ...moved, ...(draw.chance(50) ? moved : []));
  return lines.join('\n');
};

const truncate: Change = (text, draw) => text.slice(0, draw.below(text.length + 1));

const CHANGES: readonly Change[] = [splice, changeLines, truncate];

export function garbled(text: string, draw: Draw): string {
  const changed = draw.chance(85) ? replaceValue(text, draw) : draw.of(CHANGES)(text, draw);
  return draw.chance(30) ? garbled(changed, draw) : changed;
}
