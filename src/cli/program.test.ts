import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { displayWidth } from '../text/visible.ts';
import { buildProgram } from './program.ts';

const program = await buildProgram('explain', '1.2.3', () => {});

function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Returns the complete help text, with the lines that follow the options. */
function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  return help;
}

test('no help text has a line over 80 columns', () => {
  const commands = withSubcommands(program);
  expect(commands.length).toBeGreaterThan(20);
  for (const command of commands) {
    const lines = helpOf(command).split('\n');
    expect(lines.length, command.name()).toBeGreaterThan(4);
    expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([]);
  }
});

test('every option of run is in a group', () => {
  const run = program.commands.find((command) => command.name() === 'run');
  const ungrouped = run?.options.filter(({ helpGroupHeading = '' }) => helpGroupHeading === '');
  expect(ungrouped).toEqual([]);
  expect(run?.options.length).toBeGreaterThan(20);
  const help = run === undefined ? '' : helpOf(run);
  expect(help).toMatch(/^Output:\n(?: +.*\n)* +-h, --help/m);
  expect(help).not.toContain('\nOptions:');
});
