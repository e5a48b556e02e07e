/** Says what the fields of a model's calls must hold, for callers whom no type checker stops. */

const mostShown = 80;

/** What one field must hold. */
export interface CallField {
  /** As it stands after "must be": "a text". */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

/** Of each call that a model knows, by name, what its fields but `name` must hold. */
export type Shapes<Call extends { readonly name: string }> = {
  readonly [Name in Call['name']]: {
    readonly [Each in Exclude<keyof Extract<Call, { readonly name: Name }>, 'name'>]: CallField;
  };
};

export const anyText: CallField = {
  expected: 'a text',
  accepts: (value) => typeof value === 'string',
};

/** Neither NaN nor infinite. */
export const amount: CallField = { expected: 'a number', accepts: Number.isFinite };

/** A `Value`, or a word in place of one. */
export const scalar: CallField = {
  expected: 'a number, a text or null',
  accepts: (value) => value === null || typeof value === 'string' || Number.isFinite(value),
};

export function oneOf(...words: readonly string[]): CallField {
  return {
    expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`,
    accepts: (value) => words.some((word) => word === value),
  };
}

/** `field`, or null. */
export function orNull({ expected, accepts }: CallField): CallField {
  return {
    expected: `${expected} or null`,
    accepts: (value) => value === null || accepts(value),
  };
}

/** `field`, or nothing at all. */
export function optional({ expected, accepts }: CallField): CallField {
  return { expected, accepts: (value) => value === undefined || accepts(value) };
}

/** For `Model.mistakeIn`: the first mistake in a call, null when it has none. */
export function mistakesIn(shapes: {
  readonly [name: string]: { readonly [field: string]: CallField };
}): (call: { readonly name: string }) => string | null {
  const known = new Map(
    Object.entries(shapes).map(([name, fields]) => [name, Object.entries(fields)]),
  );
  return (call) => {
    const fields = known.get(call.name);
    if (fields === undefined) {
      return `unknown call ${shownValue(call.name)}; known: ${[...known.keys()].join(', ')}`;
    }
    const values: { readonly [field: string]: unknown } = call;
    for (const [field, { accepts, expected }] of fields) {
      const value = values[field];
      if (!accepts(value)) {
        return `"${field}" of its ${call.name} must be ${expected}, not ${shownValue(value)}`;
      }
    }
    return null;
  };
}

/** Any value as it reads in a message. */
export function shownValue(value: unknown): string {
  const isJson = typeof value === 'string' || (typeof value === 'object' && value !== null);
  return isJson ? JSON.stringify(value).slice(0, mostShown) : String(value);
}
