/**
 * The tables of all commands of a node, and how a command is executed. A new command is one row of
 * its family in `commands/`: its name, arity and function. Expiry times are whole milliseconds by
 * the node's wall clock, as in Redis, so a step of that clock shifts every expiry.
 */
import { endRows } from './commands/ends.ts';
import { hashRows } from './commands/hashes.ts';
import { keyRows } from './commands/keys.ts';
import { listRows } from './commands/lists.ts';
import { sessionRows } from './commands/sessions.ts';
import { setRows } from './commands/sets.ts';
import { sortedSetRows } from './commands/sorted-sets.ts';
import { stringRows } from './commands/strings.ts';
import type { RedisCommand, RedisError, RedisReply } from './reply.ts';
import { errorOf, repeated } from './reply.ts';
import { scriptRows } from './scripts.ts';
import { type Flag, keysOf, type Row, type Setting } from './setting.ts';

export const rows: readonly Row[] = [
  ...stringRows,
  ...endRows,
  ...keyRows,
  ...hashRows,
  ...listRows,
  ...setRows,
  ...sortedSetRows,
  ...scriptRows,
  ...sessionRows,
];

const byName: ReadonlyMap<string, Row> = new Map(rows.map((row) => [row[0], row]));

const families: ReadonlySet<string> = new Set(
  rows.flatMap(([name]) => (name.includes('|') ? [name.slice(0, name.indexOf('|'))] : [])),
);

/** Commands that drivers send when they connect, and whose result they ignore. */
const HABITS: ReadonlySet<string> = new Set(
  'client|setinfo client|maint_notifications command readonly'.split(' '),
);

/** Maximum number of argument characters that an error message repeats. */
const MOST_REPEATED = 128;

function shown(word: string): string {
  return repeated(word).slice(0, MOST_REPEATED);
}

/** A known command with a valid number of arguments. */
interface Found {
  readonly row: Row;
  readonly given: readonly string[];
}

/** Counts an unknown command as not simulated. */
function find(command: RedisCommand, at: Setting): Found | RedisError {
  const [word = '', ...args] = command;
  const name = word.toLowerCase();
  if (families.has(name)) return findSub(name, args, at);
  const row = byName.get(name);
  if (row === undefined) {
    if (!HABITS.has(name)) at.noteUnsimulated(shown(word).toUpperCase());
    return unknownCommand(word, args);
  }
  return takes(row, command) ? { row, given: args } : wrongCount(name);
}

function findSub(
  family: string,
  [word, ...args]: readonly string[],
  at: Setting,
): Found | RedisError {
  if (word === undefined) return wrongCount(family);
  const name = `${family}|${word.toLowerCase()}`;
  const row = byName.get(name);
  if (row === undefined) {
    if (!HABITS.has(name)) at.noteUnsimulated(`${family} ${shown(word)}`.toUpperCase());
    return errorOf(`ERR unknown subcommand '${shown(word)}'. Try ${family.toUpperCase()} HELP.`);
  }
  return takes(row, [family, word, ...args]) ? { row, given: args } : wrongCount(name);
}

function takes([, arity]: Row, words: RedisCommand): boolean {
  return arity < 0 ? words.length >= -arity : words.length === arity;
}

function has([, , , ...flags]: Row, flag: Flag): boolean {
  return flags.includes(flag);
}

/** Executes a command from a client. */
export function callCommand(command: RedisCommand, at: Setting): RedisReply {
  const { session } = at;
  const found = find(command, at);
  if ('error' in found) return refused(command, found, at);
  const { row } = found;
  if (session.isSubscriber && session.version === 2 && !has(row, 'subscriber')) {
    const [name] = row;
    const allowed = '(P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET';
    const why = `ERR Can't execute '${name}': only ${allowed} are allowed in this context`;
    return refused(command, errorOf(why), at);
  }
  if (session.queue === null || has(row, 'at once')) return carryOut(command, found, at);
  session.queue.push(command);
  return { status: 'QUEUED' };
}

/** An invalid command fails the transaction around it. An invalid EXEC ends the transaction. */
function refused([name = '']: RedisCommand, { error }: RedisError, at: Setting): RedisError {
  const { session } = at;
  session.isBroken = session.queue !== null;
  if (name.toLowerCase() !== 'exec') return errorOf(error);
  session.endTransaction();
  return errorOf(`EXECABORT Transaction discarded because of: ${error.replace(/^ERR /, '')}`);
}

/** Matches the names of exactly the commands that change keys or publish. */
export const WRITES: RegExp =
  /set|add|rem|incr|decr|append|del|getex|push|pop|store|move|persist|rename|copy|unlink|trim|insert|flush|publish|expire(?!time)/;

/** Executes a command from a script. */
export function callFromScript(command: RedisCommand, at: Setting): RedisReply {
  const found = find(command, at);
  if ('error' in found) return inScript(found);
  if (has(found.row, 'no script')) {
    return errorOf('ERR This Redis command is not allowed from script');
  }
  if (at.isReadOnly === true && WRITES.test(found.row[0])) {
    return errorOf('ERR Write commands are not allowed from read-only scripts.');
  }
  return carryOut(command, found, at);
}

function carryOut(command: RedisCommand, { row, given }: Found, at: Setting): RedisReply {
  return at.memory.recorder.carryOut(command, keysOf(at), () => row[2](given, at));
}

/** Scripts get less detailed errors. */
function inScript({ error }: RedisError): RedisError {
  return errorOf(
    error.startsWith('ERR wrong number')
      ? 'ERR Wrong number of args calling Redis command from script'
      : 'ERR Unknown Redis command called from script',
  );
}

function wrongCount(name: string): RedisError {
  return errorOf(`ERR wrong number of arguments for '${name}' command`);
}

function unknownCommand(name: string, args: readonly string[]): RedisError {
  let words = '';
  for (const argument of args) {
    if (words.length >= MOST_REPEATED) break;
    words += `'${repeated(argument).slice(0, MOST_REPEATED - words.length)}' `;
  }
  return errorOf(`ERR unknown command '${shown(name)}', with args beginning with: ${words}`);
}
