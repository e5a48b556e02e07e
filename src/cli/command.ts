/** How a command is added to the command line. */
import type { Command } from 'commander';
import type { Exit } from './exit.ts';

/** Told how the command ended. */
export type Done = (code: Exit) => void;

/** `--help` ends with one real example. */
export function describedCommand(
  program: Command,
  usage: string,
  about: string,
  example: string,
): Command {
  return program.command(usage).description(about).addHelpText('after', `\nExample:\n  ${example}`);
}
