/** All commands that a node carries out by itself, without its scripts, and the calling of them. */
import type { Command, Commands, Setting } from './command.ts';
import { expiryCommands } from './expiry.ts';
import { hashCommands } from './hashes.ts';
import { errorOf, type RedisCommand, type RedisReply } from './reply.ts';
import { stringCommands } from './strings.ts';

const serverCommands: Commands = [
  ['ping', { least: 0, most: 1, run: ([text]) => text ?? { status: 'PONG' } }],
  [
    'time',
    {
      least: 0,
      most: 0,
      run: (_, { nowUs }) => [String(Math.floor(nowUs / 1e6)), String(nowUs % 1e6)],
    },
  ],
];

const commands: ReadonlyMap<string, Command> = new Map([
  ...stringCommands,
  ...expiryCommands,
  ...hashCommands,
  ...serverCommands,
]);

/** Commands of a server that a script may not call. */
const NOT_IN_SCRIPTS: ReadonlySet<string> = new Set(['eval', 'evalsha', 'script']);

/** How many characters of arguments an error repeats. */
const MOST_REPEATED = 128;

/** Carries out a command that a client sent. */
export function callCommand([name = '', ...given]: RedisCommand, setting: Setting): RedisReply {
  const command = commands.get(name.toLowerCase());
  if (command === undefined) return unknownCommand(name, given);
  if (!takes(command, given)) return wrongCount(name.toLowerCase());
  return command.run(given, setting);
}

/** Carries out a command that a script gave. */
export function callFromScript([name = '', ...given]: RedisCommand, setting: Setting): RedisReply {
  const lower = name.toLowerCase();
  if (NOT_IN_SCRIPTS.has(lower)) {
    return errorOf('ERR This Redis command is not allowed from script');
  }
  const command = commands.get(lower);
  if (command === undefined) return errorOf('ERR Unknown Redis command called from script');
  if (!takes(command, given)) {
    return errorOf('ERR Wrong number of args calling Redis command from script');
  }
  return command.run(given, setting);
}

function takes({ least, most }: Command, given: readonly string[]): boolean {
  return given.length >= least && given.length <= most;
}

export function wrongCount(name: string): RedisReply {
  return errorOf(`ERR wrong number of arguments for '${name}' command`);
}

function unknownCommand(name: string, given: readonly string[]): RedisReply {
  let repeated = '';
  for (const argument of given) {
    if (repeated.length >= MOST_REPEATED) break;
    repeated += `'${argument.slice(0, MOST_REPEATED - repeated.length)}' `;
  }
  const shown = name.slice(0, MOST_REPEATED);
  return errorOf(`ERR unknown command '${shown}', with args beginning with: ${repeated}`);
}
