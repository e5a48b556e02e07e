/**
 * Translates between a driver's socket and a node: Redis' protocol, RESP 2 and 3, as byte strings.
 * Commands arrive as lists of bulk strings or as inline text.
 */
import type { RedisCommand, RedisPush, RedisReply } from './reply.ts';

/** The protocol version of a connection: 3 after `HELLO 3`. */
export type RespVersion = 2 | 3;

const END = '\r\n';

/** Encodes a reply for a driver. */
export function encodeReply(reply: RedisReply, version: RespVersion): string {
  if (typeof reply === 'string') return bulk(reply);
  if (typeof reply === 'number') return `:${reply}${END}`;
  if ('nil' in reply) return version === 3 ? `_${END}` : `${reply.isList ? '*' : '$'}-1${END}`;
  if ('status' in reply) return `+${reply.status}${END}`;
  if ('error' in reply) return `-${reply.error}${END}`;
  if ('integer' in reply) return `:${reply.integer}${END}`;
  if ('double' in reply) return version === 3 ? `,${reply.double}${END}` : bulk(reply.double);
  if ('verbatim' in reply) {
    const bytes = reply.verbatim;
    const format = (reply.format ?? 'txt').padEnd(3).slice(0, 3);
    return version === 3 ? `=${bytes.length + 4}${END}${format}:${bytes}${END}` : bulk(bytes);
  }
  if ('bigNumber' in reply)
    return version === 3 ? `(${reply.bigNumber}${END}` : bulk(reply.bigNumber);
  if ('boolean' in reply) {
    return version === 3
      ? `#${reply.boolean ? 't' : 'f'}${END}`
      : `:${reply.boolean ? 1 : 0}${END}`;
  }
  if ('pushes' in reply) return reply.pushes.map((push) => encodePush(push, version)).join('');
  if ('mapping' in reply) {
    if (version === 2) return list('*', reply.mapping, version);
    return `%${reply.mapping.length / 2}${END}${joined(reply.mapping, version)}`;
  }
  if ('set' in reply) return list(version === 3 ? '~' : '*', reply.set, version);
  if ('pairs' in reply)
    return list('*', version === 3 ? inPairs(reply.pairs) : reply.pairs, version);
  return list('*', reply, version);
}

/** Encodes a pushed message, such as a message of a channel. */
export function encodePush(push: RedisPush, version: RespVersion): string {
  return list(version === 3 ? '>' : '*', push, version);
}

function bulk(bytes: string): string {
  return `$${bytes.length}${END}${bytes}${END}`;
}

function list(sign: string, items: readonly RedisReply[], version: RespVersion): string {
  return `${sign}${items.length}${END}${joined(items, version)}`;
}

function joined(items: readonly RedisReply[], version: RespVersion): string {
  return items.map((item) => encodeReply(item, version)).join('');
}

/** Splits alternating names and values into lists of two. */
export function inPairs(flat: readonly RedisReply[]): readonly RedisReply[] {
  const pairs: RedisReply[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push(flat.slice(at, at + 2));
  return pairs;
}

/** Splits the bytes of a driver into commands. */
export class CommandDecoder {
  private received = '';

  /** Returns the commands that are now complete. Throws if the bytes are not commands. */
  push(bytes: string): readonly RedisCommand[] {
    this.received += bytes;
    const commands: RedisCommand[] = [];
    let from = 0;
    for (;;) {
      const read = readCommand(this.received, from);
      if (read === null) break;
      from = read.end;
      if (read.command.length > 0) commands.push(read.command);
    }
    this.received = this.received.slice(from);
    return commands;
  }
}

interface Read {
  readonly command: RedisCommand;
  readonly end: number;
}

/**
 * Returns true if a client whose first bytes are `bytes` speaks this protocol, or null if more
 * bytes are needed. Many protocols have lines of words, so an inline command must begin with a
 * command name for which `knows` returns true.
 */
export function isRedis(bytes: string, knows: (name: string) => boolean): boolean | null {
  try {
    const [command] = new CommandDecoder().push(bytes);
    const isTyped = !bytes.trimStart().startsWith('*');
    return command === undefined ? null : !isTyped || knows(command[0]?.toLowerCase() ?? '');
  } catch {
    return false;
  }
}

/** Reads the command that begins at `from`. Returns null while the command is incomplete. */
function readCommand(bytes: string, from: number): Read | null {
  if (bytes[from] !== '*') return readInline(bytes, from);
  const head = readLine(bytes, from);
  if (head === null) return null;
  const command: string[] = [];
  let { end } = head;
  if (!/^\*-?\d+$/.test(head.line)) throw new Error(`not a Redis command: ${head.line}`);
  for (let left = Number(head.line.slice(1)); left > 0; left -= 1) {
    const length = readLine(bytes, end);
    if (length === null) return null;
    if (!/^\$\d+$/.test(length.line)) throw new Error(`not a Redis command: ${length.line}`);
    const stop = length.end + Number(length.line.slice(1));
    if (bytes.length < stop + END.length) return null;
    command.push(bytes.slice(length.end, stop));
    end = stop + END.length;
  }
  return { command, end };
}

/** Reads an inline command, `SET a "b c"`, which ends at `\n` or `\r\n`. */
function readInline(bytes: string, from: number): Read | null {
  const stop = bytes.indexOf('\n', from);
  const typed = bytes.slice(from, stop === -1 ? undefined : stop);
  if (NEVER_TYPED.test(typed))
    throw new Error('not a Redis command: it contains control characters');
  if (stop === -1) return null;
  const line = typed.replace(/\r$/, '');
  const words = line.match(INLINE_WORD) ?? [];
  if (line.replace(INLINE_WORD, '').trim() !== '') {
    throw new Error(`not a Redis command: unbalanced quotes in ${line}`);
  }
  return { command: words.map(unquoted), end: stop + 1 };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: characters that no command contains
const NEVER_TYPED = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/** A word of an inline command: in quotes of either kind, or up to the next space. */
const INLINE_WORD = /(?<!\S)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']+)(?!\S)/g;

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };

function unquoted(word: string): string {
  const inner = word.slice(1, -1);
  if (word.startsWith("'")) return inner.replaceAll("\\'", "'");
  if (!word.startsWith('"')) return word;
  return inner.replace(/\\(?:x([0-9a-f]{2})|(.))/gi, (_, hex?: string, letter = '') =>
    hex === undefined ? (ESCAPED[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function readLine(bytes: string, from: number): { line: string; end: number } | null {
  const stop = bytes.indexOf(END, from);
  return stop === -1 ? null : { line: bytes.slice(from, stop), end: stop + END.length };
}
