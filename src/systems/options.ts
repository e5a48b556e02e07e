/** Declares and reads the options of locks and stores that scenarios may set. */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';

/** One option of a lock or a store. */
export interface OptionInfo {
  readonly name: string;
  /** The accepted values. `integer` accepts any integer from 0, or any in `range`. */
  readonly values: readonly string[] | 'integer';
  /** The smallest and the largest accepted number. */
  readonly range?: readonly [number, number];
  readonly fallback: string | number;
  readonly about: string;
}

/**
 * Declares options, each with its values and a description. An option accepts an integer or one of
 * several words; the first word is the default. Pass `infos` to the definition of a lock; `read`
 * returns the chosen values.
 *
 * @example
 * const choices = optionsFor({ release: ['compare', 'any'] }, { release: 'how it is released' });
 * choices.read(options).release; // 'compare' or 'any'
 */
export function optionsFor<
  const C extends Readonly<
    Record<
      string,
      | readonly [string, ...string[]]
      | { readonly range?: readonly [number, number]; readonly fallback: number }
    >
  >,
>(
  choices: C,
  about: Readonly<Record<keyof C & string, string>>,
): {
  readonly infos: readonly OptionInfo[];
  read(options: Options): {
    readonly [Option in keyof C]: C[Option] extends readonly (infer Word)[] ? Word : number;
  };
} {
  type Chosen = {
    readonly [Option in keyof C]: C[Option] extends readonly (infer Word)[] ? Word : number;
  };
  const infos = Object.entries<string>(about).map(([name, text]): OptionInfo => {
    const choice = choices[name];
    assert(choice !== undefined, `${name} is one of the choices`);
    return 'fallback' in choice
      ? Object.assign({ name, values: 'integer' } as const, choice, { about: text })
      : { name, values: choice, fallback: choice[0], about: text };
  });
  const isComplete = (values: object): values is Chosen => {
    for (const name in choices) if (!(name in values)) return false;
    return true;
  };
  // Many runs share one options object, so read it once.
  const known: WeakMap<Options, Chosen> = new WeakMap();
  return {
    infos,
    read(options) {
      const before = known.get(options);
      if (before !== undefined) return before;
      const values = Object.fromEntries(
        Object.entries(choices).map(([name, choice]) => [
          name,
          'fallback' in choice ? options.whole(name) : options.oneOf(name, choice),
        ]),
      );
      assert(isComplete(values), 'each was read by its name');
      known.set(options, values);
      return values;
    },
  };
}

/**
 * The options of a system, with defaults filled in. The methods throw if the name is not an option
 * of their kind.
 */
export class Options {
  private readonly values: ReadonlyMap<string, string | number>;

  private constructor(values: ReadonlyMap<string, string | number>) {
    this.values = values;
  }

  /** Returns `settings` merged over the defaults of `infos`, or an error message. */
  static read(
    infos: readonly OptionInfo[],
    settings: Readonly<Record<string, Json>>,
  ): Options | string {
    const values = new Map(infos.map(({ name, fallback }) => [name, fallback]));
    for (const [name, value] of Object.entries(settings)) {
      const info = infos.find((candidate) => candidate.name === name);
      if (info === undefined) return `no option ${name}`;
      if (typeof value === 'string' || typeof value === 'number') values.set(name, value);
      if (!mayBe(info, value)) return `no option ${name}: ${JSON.stringify(value)}`;
    }
    return new Options(values);
  }

  /** Returns the value of an option whose values are words. */
  word(name: string): string {
    const value = this.values.get(name);
    assert(typeof value === 'string', `${name} is no option with words for values`);
    return value;
  }

  /** Returns the value of an option whose values are exactly `words`. */
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word {
    const value = words.find((word) => word === this.values.get(name));
    assert(value !== undefined, `${name} is no option with these words for values`);
    return value;
  }

  /** Returns the value of a number option. */
  whole(name: string): number {
    const value = this.values.get(name);
    assert(typeof value === 'number', `${name} is no option with a number`);
    return value;
  }
}

/** Returns whether an option accepts this value. */
export function mayBe({ values, range }: OptionInfo, value: Json): boolean {
  if (values !== 'integer') return typeof value === 'string' && values.includes(value);
  const [least, most] = range ?? [0, Number.MAX_SAFE_INTEGER];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return false;
  return value >= least && value <= most;
}
