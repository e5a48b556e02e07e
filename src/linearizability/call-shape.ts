/**
 * Checks the types of a model's calls at run time, for callers without a compiler. A model's table
 * must list every field of the model's calls, each with its type in words.
 */

const mostShown = 80;

/** The types of a field. Each key is a phrase that follows "must be" in messages. */
interface Held {
  readonly 'a string': string;
  readonly 'a string or null': string | null;
  /** Neither NaN nor infinite, like all numbers here. */
  readonly 'a number': number;
  readonly 'a number or null': number | null;
  readonly 'a number or unknown': number | 'unknown';
  /** A register's `Value`, or a word that stands for one. */
  readonly 'a number, a string or null': number | string | null;
}

const isText = (value: unknown): boolean => typeof value === 'string';

const accepts: { readonly [Words in keyof Held]: (value: unknown) => boolean } = {
  'a string': isText,
  'a string or null': (value) => value === null || isText(value),
  'a number': Number.isFinite,
  'a number or null': (value) => value === null || Number.isFinite(value),
  'a number or unknown': (value) => value === 'unknown' || Number.isFinite(value),
  'a number, a string or null': (value) =>
    value === null || isText(value) || Number.isFinite(value),
};

/** The expected contents of a field. A list contains the accepted words. */
type CallField = keyof Held | readonly string[];
type OptionalField = { readonly optional: CallField };

/** The words that describe a field of type `Value`. */
type WordsFor<Value> =
  | {
      [Words in keyof Held]: [Value, Held[Words]] extends [Held[Words], Value] ? Words : never;
    }[keyof Held]
  | ([Value] extends [string] ? readonly Value[] : never);

type FieldFor<Value> = undefined extends Value
  ? { readonly optional: WordsFor<Exclude<Value, undefined>> }
  : WordsFor<Value>;

/** Every field of every call, by the name of the call. */
type TableOf<Call extends { readonly name: string }> = {
  readonly [Each in Call as Each['name']]: {
    readonly [Field in Exclude<keyof Each, 'name'>]: FieldFor<Each[Field]>;
  };
};

/** Creates a `Model.mistakeIn`, which returns the first mistake in a call, or null. */
export function mistakesIn<Call extends { readonly name: string }>(
  table: TableOf<Call>,
): (call: Call) => string | null;
export function mistakesIn(table: {
  readonly [name: string]: { readonly [field: string]: CallField | OptionalField };
}): (call: { readonly name: string }) => string | null {
  const known = new Map(
    Object.entries(table).map(([name, fields]) => [name, Object.entries(fields)]),
  );
  return (call) => {
    const fields = known.get(call.name);
    if (fields === undefined) {
      return `unknown call ${shownValue(call.name)}; known: ${[...known.keys()].join(', ')}`;
    }
    const values: { readonly [field: string]: unknown } = call;
    for (const [name, field] of fields) {
      const value = values[name];
      const isOptional = typeof field === 'object' && 'optional' in field;
      const expected = isOptional ? field.optional : field;
      if (isOptional && value === undefined) continue;
      const isWord = typeof expected === 'string';
      const isHeld = isWord ? accepts[expected](value) : expected.some((word) => word === value);
      if (isHeld) continue;
      const words = isWord ? expected : expected.join(', ').replace(/, ([^,]*)$/, ' or $1');
      return `"${name}" of its ${call.name} must be ${words}, not ${shownValue(value)}`;
    }
    return null;
  };
}

/** Formats any value for a message. */
export function shownValue(value: unknown): string {
  const isJson = typeof value === 'string' || (typeof value === 'object' && value !== null);
  return isJson ? JSON.stringify(value).slice(0, mostShown) : String(value);
}
