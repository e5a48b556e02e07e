/** Names that mean something to a format that reports are written in, and names of any kind. */
import fc from 'fast-check';

export const hostileNames: readonly string[] = [
  ...['end', 'loop', 'Note over p1: x', 'participant p9 as y', 'as', 'p1', 'alt', 'title x'],
  ...['a;b', 'a#b', '#35;', 'a:b', '"quoted"', "it's", '`', '<script>alert(1)</script>', '<br/>'],
  ...['&lt;', 'two\nlines', '%% comment', "%%{init: {'theme': 'dark'}}%%", 'style: x#1;', '$$x$$'],
  ...['ﬂ°°35¶ß', 'wrap:x', '@{ "type": "database" }', '-->>', 'a->>b: c', '---', 'ß', '🦊'],
  ...['\u202e', ']]>', '\u0000', '\ufffe', '\ud800', '::error::x', '%0A', 'a,b', '| x |', '**x**'],
  ...['</details>', '```', '[x](https://example.com)', '![x](y)', '\\', '\r', '\t', ' ', '&#0;'],
];

export const anyName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...hostileNames),
  fc.string({ unit: 'binary', minLength: 1 }),
);

/** Every hostile name as an example of a property of one name. */
export const hostileExamples: [string][] = hostileNames.map((name) => [name]);
