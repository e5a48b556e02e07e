/** A map from keys to texts: get, put, append, compare and set, delete. Each key is independent. */
import { mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';

/** The contents of a key. Null stands for a missing key, if that differs from the empty text. */
export type Text = string | null;

/** A call of `kv`. */
export type KeyValueCall =
  /** `value` is null if the key is missing. A get without an answer may have any value. */
  | { readonly name: 'get'; readonly key: string; readonly value: string | null }
  | { readonly name: 'put'; readonly key: string; readonly value: string }
  /** On a missing key, an append puts `value`. */
  | { readonly name: 'append'; readonly key: string; readonly value: string }
  | {
      readonly name: 'cas';
      readonly key: string;
      readonly expected: string | null;
      readonly value: string;
      /** `missed`: it found another text and put nothing. */
      readonly answer: 'matched' | 'missed' | 'unknown';
    }
  | { readonly name: 'delete'; readonly key: string };

const mistakeIn = mistakesIn<KeyValueCall>({
  get: { key: 'a string', value: 'a string or null' },
  put: { key: 'a string', value: 'a string' },
  append: { key: 'a string', value: 'a string' },
  cas: {
    key: 'a string',
    expected: 'a string or null',
    value: 'a string',
    answer: ['matched', 'missed', 'unknown'],
  },
  delete: { key: 'a string' },
});

/**
 * Creates a key-value map. `initial` is the contents of a key that was never put. A deleted key
 * reads as null if `initial` is null, and as the empty text if `initial` is empty. Any other
 * `initial` leaves this open, so null and the empty text count as equal.
 */
export function keyValue(initial: Text = ''): Model<Text, KeyValueCall> {
  const nothing: Text = initial === null ? null : '';
  const isOne = initial !== null && initial !== '';
  /** Returns the state that `text` in a call refers to. */
  const stateOf = (text: Text): Text => (isOne && text === null ? '' : text);
  const awaited = (call: KeyValueCall): Text | undefined => {
    const text = awaitedText(call);
    return text === undefined ? undefined : stateOf(text);
  };
  return {
    name: 'kv',
    init: initial,
    step(state, call): readonly Text[] {
      switch (call.name) {
        case 'get':
          return stateOf(call.value) === state ? [state] : illegal;
        case 'put':
          return [call.value];
        case 'append':
          return [(state ?? '') + call.value];
        case 'delete':
          return [nothing];
        case 'cas': {
          const matches = state === stateOf(call.expected);
          if (call.answer !== 'unknown' && matches !== (call.answer === 'matched')) return illegal;
          return [matches ? call.value : state];
        }
      }
    },
    isPure: (call) => call.name === 'get' || (call.name === 'cas' && call.answer === 'missed'),
    mistakeIn,
    partition: (call) => call.key,
    whenFailed: (call) => (call.name === 'cas' ? { ...call, answer: 'missed' } : null),
    awaits: awaited,
    provides(call): Text | undefined {
      if (call.name === 'put' || call.name === 'cas') return call.value;
      return call.name === 'delete' ? nothing : undefined;
    },
    approaches: (state, awaited) => awaited?.startsWith(state ?? '') ?? false,
    startingStates,
    describe: describeKeyValueCall,
    needs(call): string {
      if (call.name === 'get' && call.value === null && initial === '') {
        return 'no value, but a key that was never put reads as "" (or null, with --init null)';
      }
      if (call.name === 'get') return `the value ${quote(call.value)}`;
      if (call.name !== 'cas') return 'nothing';
      return `${call.answer === 'missed' ? 'any value but' : 'the value'} ${quote(call.expected)}`;
    },
    describeState: (state) => `it is ${quote(state)}`,
  };
}

function awaitedText(call: KeyValueCall): Text | undefined {
  if (call.name === 'get') return call.value;
  return call.name === 'cas' ? call.expected : undefined;
}

/**
 * Returns the texts that `calls` expect, and the prefixes from which appends lead to them. One
 * longer text represents all others.
 */
function startingStates(calls: readonly KeyValueCall[]): readonly Text[] {
  const awaited = calls.map(awaitedText).filter((text) => text !== undefined);
  const texts = new Set<Text>([null, '', ...awaited]);
  const appended = new Set<string>();
  for (const call of calls) if (call.name === 'append') appended.add(call.value);
  for (const text of texts) {
    for (const end of appended) if (text?.endsWith(end)) texts.add(text.slice(0, -end.length));
    if (texts.size > mostStarts) break;
  }
  const longest = Math.max(...awaited.map((text) => text?.length ?? 0), 0);
  return [...texts, ' '.repeat(longest + 1)];
}

/** Beyond this number, not all states are tried. */
const mostStarts = 1_000;

function describeKeyValueCall(call: KeyValueCall): string {
  switch (call.name) {
    case 'get':
      return `get(${call.key})=${quote(call.value)}`;
    case 'delete':
      return `delete(${call.key})`;
    case 'cas':
      return `cas(${call.key}, ${quote(call.expected)}→${quote(call.value)})=${call.answer}`;
    default:
      return `${call.name}(${call.key}, ${quote(call.value)})`;
  }
}

const longestQuote = 40;

/** Quotes a text. Shows only the end of a long text, where appended texts differ. */
function quote(text: Text): string {
  if (text === null) return 'nothing';
  return text.length <= longestQuote ? `"${text}"` : `"…${text.slice(1 - longestQuote)}"`;
}
