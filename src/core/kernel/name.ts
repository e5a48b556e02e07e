/**
 * Identity of anything that chance can affect: an operation, a message, a timer. The hash depends
 * on the text alone (FNV-1a, 32 bits, over UTF-16 code units, low byte first; Fowler, Noll and Vo)
 * and extends the hash of the parent's name.
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

/** Returns the name `text`, such as `alice`. */
export function nameOf(text: string): Name {
  return { text, hash: extendHash(OFFSET_BASIS, text) };
}

/** Returns the name of a part: `under(alice/1, 'write')` is `alice/1/write`. */
export function under(name: Name, part: string): Name {
  const suffix = `/${part}`;
  return { text: name.text + suffix, hash: extendHash(name.hash, suffix) };
}

/** Returns the section of an operation, message or point: `alice/1` for `alice/1/acquire`. */
export function sectionOf(operation: string): string {
  const client = operation.indexOf('/');
  const section = operation.indexOf('/', client + 1);
  return section < 0 ? operation : operation.slice(0, section);
}

/** Returns the operation of a message: `alice/1/write` for `alice/1/write/2/request`. */
export function operationOf(message: string): string {
  return message.slice(0, message.lastIndexOf('/', message.lastIndexOf('/') - 1));
}
