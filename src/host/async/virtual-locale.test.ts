/** A simulated process sees the zone and language that Node shows in UTC and en-US. */
import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { afterEach, expect, test } from 'vitest';
import { happen } from './script.fixture.ts';

const { TZ } = process.env;
afterEach(() => {
  if (TZ === undefined) Reflect.deleteProperty(process.env, 'TZ');
  else process.env['TZ'] = TZ;
});

/** Expressions about 23:30 in UTC, which in India is the next day and the next month. */
const EXPRESSIONS = [
  'String(date)',
  'date.toDateString()',
  'date.toTimeString()',
  'date.getTimezoneOffset()',
  'date.toLocaleString()',
  'date.toLocaleDateString()',
  'date.toLocaleTimeString()',
  `date.toLocaleDateString('de', { weekday: 'long' })`,
  `date.toLocaleString('en-GB', { timeZone: 'Asia/Tokyo' })`,
  ...['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes'].map((part) => `date.get${part}()`),
  'date.getYear()',
  'new Date(2024, 0, 31, 23).getTime()',
  'new Date(99, 1).getTime()',
  ...['setHours(3)', 'setDate(1)', 'setMonth(0, 1)', 'setFullYear(2000)'].map(
    (call) => `new Date(date).${call}`,
  ),
  ...['2024-01-31', '2024-01-31T23:30', '2024-01-31T23:30+02:00', 'Jan 31 2024 23:30', 'x'].map(
    (text) => `[Date.parse('${text}'), new Date('${text}').getTime()]`,
  ),
  'new Date(date).getTime()',
  'new Date({ valueOf: () => 5 }).getTime()',
  'String(new Date(NaN))',
  'new Date(NaN).toDateString()',
  'new Date(NaN).getHours()',
  '(1234567.891).toLocaleString()',
  '1234567n.toLocaleString()',
  `'ä'.localeCompare('z')`,
  `['b', 'a', 'B', 'ä'].sort((a, b) => a.localeCompare(b))`,
  `'I'.toLocaleLowerCase()`,
  `'i'.toLocaleUpperCase('tr')`,
  'new Intl.DateTimeFormat().format(date)',
  `Intl.DateTimeFormat('de', { dateStyle: 'full', timeStyle: 'long' }).format(date)`,
  'new Intl.DateTimeFormat().formatToParts(date)',
  'Intl.DateTimeFormat().resolvedOptions()',
  ...['NumberFormat().format(12345.6)', 'Collator().compare("a", "B")'].map((of) => `Intl.${of}`),
  'new Intl.ListFormat().format(["a", "b", "c"])',
  'new Intl.PluralRules().select(1)',
  'date.constructor === Date && new Intl.Collator() instanceof Intl.Collator',
];

const PROGRAM = `const date = new Date(Date.UTC(2024, 0, 31, 23, 30));
return JSON.stringify([${EXPRESSIONS.join(',\n')}]);`;

function inNode(): unknown {
  const env = { ...process.env, TZ: 'UTC', LC_ALL: 'en_US.UTF-8' };
  const script = `console.log((() => { ${PROGRAM} })())`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env }));
}

test.each(['Asia/Kolkata', 'America/New_York', 'UTC'])(
  'a process in %s sees the dates that Node shows in UTC',
  async (zone) => {
    process.env['TZ'] = zone;
    const outside = new Date(2024, 0, 31).getTime();
    let text = '';
    const alice = async (): Promise<void> => {
      text = String(new Function(PROGRAM)());
    };
    expect((await happen({ alice })).ending).toEqual({ kind: 'complete' });
    const expected = inNode();
    expect(Array.isArray(expected) && expected.length).toBe(EXPRESSIONS.length);
    expect(JSON.parse(text)).toEqual(expected);
    expect(new Date(2024, 0, 31).getTime()).toBe(outside);
    expect(new Date(2024, 0, 31).getHours()).toBe(0);
  },
);

test('a format without a date uses the date of its process', async () => {
  let texts: unknown = null;
  const alice = async (): Promise<void> => {
    const format = new Intl.DateTimeFormat('en-US', { dateStyle: 'short' });
    texts = [
      format.format(),
      format.formatToParts().map(({ value }) => value),
      [1].map(format.format),
    ];
  };
  await happen({ alice });
  expect(texts).toEqual(['1/1/24', ['1', '/', '1', '/', '24'], ['1/1/70']]);
});
