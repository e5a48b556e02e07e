/** Checks that the pages explain each command option and each exit code. */
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { EXIT_WORDS, exits, worstOf } from '../../src/search/campaign/exit-codes.ts';
import { pageOf, pages } from './pages.ts';

/** Options without a page: `--help` lists them, and CI scripts use them. */
const UNTOLD: ReadonlySet<string> = new Set(['--output', '--quiet', '--canary']);

const program = await buildProgram('explain', '', () => {});

function optionsBelow(command: Command, path: string): readonly string[] {
  const flags = command.options.map(({ flags }) => `${path}: ${flags}`);
  return [
    ...flags,
    ...command.commands.flatMap((one) => optionsBelow(one, `${path} ${one.name()}`)),
  ];
}

test('each option of a command is on a page', () => {
  const text = [...pages.values()].join('\n');
  const isDocumented = (name: string): boolean =>
    UNTOLD.has(name) || new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(text);
  const options = program.commands.flatMap((command) => optionsBelow(command, command.name()));
  expect(options.length).toBeGreaterThan(60);
  const untold = options.filter(
    (option) => !(option.match(/(?<= )--?\w[\w-]*/g) ?? []).some(isDocumented),
  );
  expect(untold).toEqual([]);
});

test('the exit codes of the page are the actual ones, in order of precedence', () => {
  const page = pageOf('docs/commands.md');
  const rows = [...page.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, means]) => [
    code,
    means,
  ]);
  expect(rows).toEqual(Object.entries(EXIT_WORDS));
  const [, order = ''] = /the first of ([\d, ]+) wins/.exec(page) ?? [];
  const codes = order.split(', ').map(Number);
  const values = Object.values(exits);
  expect(codes).toHaveLength(values.length - 1);
  for (const [at, code] of codes.entries()) {
    expect(worstOf(values.filter((value) => !codes.slice(0, at).includes(value)))).toBe(code);
  }
});
