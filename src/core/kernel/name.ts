/**
 * The identity of a thing that chance may hit: an operation, a message, a timer. Its hash is a
 * function of its text alone (FNV-1a, 32 bits, over UTF-16 code units, low byte first; Fowler, Noll
 * and Vo) and can be continued from the name of the thing that it belongs to.
 */
export interface Name {
  readonly text: string;
  readonly hash: number;
}

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

function extendHash(hash: number, text: string): number {
  let value = hash;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    value = Math.imul(value ^ (unit & 0xff), PRIME);
    if (unit > 0xff) value = Math.imul(value ^ (unit >> 8), PRIME);
  }
  return value;
}

/** The name `text`, e.g. `alice`. */
export function nameOf(text: string): Name {
  return { text, hash: extendHash(OFFSET_BASIS, text) };
}

/**
 * Returns the name of a part: `under(alice/1, 'write')` is `alice/1/write`, with the hash of that
 * text.
 */
export function under(name: Name, part: string): Name {
  const suffix = `/${part}`;
  return { text: name.text + suffix, hash: extendHash(name.hash, suffix) };
}

/** The section that an operation, message or point belongs to: `alice/1` of `alice/1/acquire`. */
export function sectionOf(operation: string): string {
  const client = operation.indexOf('/');
  const section = operation.indexOf('/', client + 1);
  return section < 0 ? operation : operation.slice(0, section);
}

/** The operation that a message belongs to: `alice/1/write` of `alice/1/write/2/request`. */
export function operationOf(message: string): string {
  return message.slice(0, message.lastIndexOf('/', message.lastIndexOf('/') - 1));
}
