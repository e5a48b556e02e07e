/**
 * Draws small histories of every kind of object, many of which no order explains: clients overlap,
 * each call takes effect between its events, and some answers are made up.
 */
import alea from 'seedrandom/lib/alea.js';
import type { Meant } from './every-order.ts';
import { type Outcome, objectOf, type Value, type Values } from './objects.ts';

/** Draws numbers, and items of lists. */
export class Draw {
  private readonly stream: () => number;

  constructor(seed: number) {
    this.stream = alea(`history text ${seed}`);
  }

  below(limit: number): number {
    return Math.floor(this.stream() * limit);
  }

  /** Returns true in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  of<T>(items: readonly T[]): T {
    for (const item of items.slice(this.below(items.length))) return item;
    throw new Error('nothing to draw from');
  }

  shuffled<T>(items: readonly T[]): readonly T[] {
    return items
      .map((item) => ({ item, rank: this.stream() }))
      .sort((one, other) => one.rank - other.rank)
      .map(({ item }) => item);
  }
}

export interface DrawnEvent {
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** An index of `operations`. */
  readonly operation: number;
}

export interface DrawnHistory {
  readonly model: string;
  readonly initial: Value | undefined;
  /** Positions are indices of `events`. */
  readonly operations: readonly Meant[];
  readonly events: readonly DrawnEvent[];
}

/** The parts of a model's histories. */
interface Repertoire {
  readonly verbs: readonly string[];
  readonly initials: readonly (Value | undefined)[];
  readonly values: readonly (readonly Value[])[];
  readonly args: (verb: string, values: readonly Value[], draw: Draw) => Values;
}

/** A number that is not an exact double; `literal` writes it without the `#`. */
const BIG = '#9007199254740993';

const VALUES: readonly (readonly Value[])[] = [
  [1, 2, 3],
  [0, -1, null],
  ['a', '', null],
  [BIG, '#-9007199254740995', 1.5],
  [true, false, 1],
  [':open', 'open', -0.25],
];

const NUMBERS: readonly Value[] = [0, 1, 2, 3, -1];

const registerArgs: Repertoire['args'] = (verb, values, draw) => {
  if (verb === 'read') return {};
  if (verb === 'write') return { value: draw.of(values) };
  return { expected: draw.of(values), value: draw.of(values) };
};

const register: Repertoire = {
  verbs: ['read', 'read', 'write'],
  initials: [undefined, null, 1, 'a', 0],
  values: VALUES,
  args: registerArgs,
};

const lock: Repertoire = {
  verbs: ['acquire', 'release'],
  initials: [undefined],
  values: [[]],
  args: () => ({}),
};

const fenced: Repertoire = {
  ...register,
  verbs: ['read', 'read', 'write', 'write', 'open'],
  args: (verb, values, draw) => {
    const token = draw.below(5);
    if (verb === 'open') return { token };
    return { ...registerArgs(verb, values, draw), token, key: draw.of(['x', 'x', 'y']) };
  },
};

const REPERTOIRES: ReadonlyMap<string, Repertoire> = new Map<string, Repertoire>([
  ['register', register],
  ['cas-register', { ...register, verbs: ['read', 'read', 'write', 'cas'] }],
  [
    'versioned-register',
    {
      ...register,
      args: (verb, values, draw) => {
        const expected = draw.chance(60) ? { expected: draw.below(4) } : {};
        return verb === 'read' ? {} : { value: draw.of(values), ...expected };
      },
    },
  ],
  [
    'kv',
    {
      verbs: ['get', 'get', 'put', 'append', 'delete', 'delete', 'cas'],
      initials: [undefined, null, '', 'a', '7'],
      values: [
        ['a', 'b', ''],
        ['7', 'a', 'ab'],
      ],
      args: (verb, values, draw) => {
        if (verb === 'get' || verb === 'delete') return {};
        const value = draw.of(values);
        return verb === 'cas' ? { expected: draw.of([null, ...values]), value } : { value };
      },
    },
  ],
  [
    'counter',
    {
      verbs: ['read', 'increment', 'increment', 'decrement'],
      initials: [undefined, 0, 3, -2],
      values: [NUMBERS],
      args: (verb, _, draw): Values =>
        verb === 'read' || draw.chance(30) ? {} : { value: draw.of([1, 2, -1]) },
    },
  ],
  ['mutex', lock],
  ['anonymous-mutex', lock],
  ['reentrant-mutex', lock],
  ['fenced-mutex', lock],
  ['reentrant-fenced-mutex', lock],
  [
    'semaphore',
    {
      ...lock,
      initials: [undefined, 1, 2, 3],
      args: (_, __, draw): Values => (draw.chance(40) ? {} : { permits: 1 + draw.below(2) }),
    },
  ],
  ['lease', { ...lock, verbs: ['acquire', 'acquire', 'renew', 'release', 'expire'] }],
  ['fenced-register', fenced],
  ['fenced-register-strict', fenced],
  ['fenced-register-with-reads', fenced],
]);

export const MODELS: readonly string[] = [...REPERTOIRES.keys()];

const PROCESSES = ['0', '1', '2'];
const WRONG_PERCENT = 30;

interface Open {
  readonly operation: number;
  /** The outcome of the call, or null before it takes effect. */
  outcome: Outcome | null;
}

/** Draws a history. `objects` names the independent objects; records name owners if `hasOwners`. */
export function drawHistory(
  draw: Draw,
  model: string,
  { objects, hasOwners }: { readonly objects: readonly string[]; readonly hasOwners: boolean },
): DrawnHistory {
  const repertoire = REPERTOIRES.get(model);
  if (repertoire === undefined) throw new Error(`no repertoire of ${model}`);
  const initial = draw.of(repertoire.initials);
  const kind = objectOf(model, initial);
  const values = draw.of(repertoire.values);
  const states = new Map<string, Value>();
  const operations: Meant[] = [];
  const events: DrawnEvent[] = [];
  const open = new Map<string, Open>();
  const count = 2 + draw.below(5);

  const stateOf = (object: string): Value => {
    const state = states.get(object);
    return state === undefined ? kind.begin(initial) : state;
  };
  const takeEffect = (call: Open): void => {
    const meant = operations[call.operation];
    if (call.outcome !== null || meant === undefined) return;
    const state = stateOf(meant.object);
    const possible = kind.outcomes(state, meant);
    // Of the possible tokens of a grant, prefer one of the first above 0.
    const likely = possible.filter(({ heard }) => Number(heard['token'] ?? 1) > 0).slice(0, 3);
    call.outcome = draw.of(likely.length > 0 ? likely : possible);
    states.set(meant.object, call.outcome?.next ?? state);
  };
  const complete = (process: string, call: Open): void => {
    const meant = operations[call.operation];
    if (meant === undefined) return;
    open.delete(process);
    const fate = draw.below(100);
    const type = fate < 6 ? 'fail' : fate < 18 ? 'info' : 'ok';
    if (type === 'ok') takeEffect(call);
    events.push({ type, operation: call.operation });
    const end = type === 'info' ? Number.POSITIVE_INFINITY : events.length - 1;
    const truth = call.outcome?.heard ?? {};
    const isWrong = draw.chance(WRONG_PERCENT);
    const heard = isWrong ? fitted(madeUp(meant, values, draw), model) : truth;
    operations[call.operation] = {
      ...meant,
      outcome: type,
      end,
      heard: type === 'ok' ? heard : {},
    };
  };
  const call = (process: string): void => {
    const verb = draw.of(repertoire.verbs);
    const args = repertoire.args(verb, values, draw);
    const owner = hasOwners && draw.chance(15) ? draw.of(PROCESSES) : process;
    const base = { process, owner, object: draw.of(objects), verb, args, heard: {} };
    const invoke = events.length;
    operations.push({ ...base, outcome: 'info', invoke, end: Number.POSITIVE_INFINITY });
    events.push({ type: 'invoke', operation: operations.length - 1 });
    const opened = { operation: operations.length - 1, outcome: null };
    open.set(process, opened);
    if (draw.chance(40)) takeEffect(opened);
  };

  for (let left = 2 * count + 2; left > 0; left--) {
    const process = draw.of(PROCESSES);
    const opened = open.get(process);
    if (opened !== undefined) complete(process, opened);
    else if (operations.length < count) call(process);
  }
  return { model, initial, operations, events };
}

/** Returns any answer to such a call, true or not. */
function madeUp({ verb, args }: Meant, values: readonly Value[], draw: Draw): Values {
  const isFenced = args['token'] !== undefined;
  const token = draw.below(6) - 1;
  switch (verb) {
    case 'read':
    case 'get': {
      if (isFenced && draw.chance(30)) return { answer: 'refused' };
      // A counter always holds a number.
      const none = values === NUMBERS ? [] : [null];
      return { value: draw.of([...none, ...values]), version: draw.below(4) };
    }
    case 'cas':
      return { answer: draw.of(['matched', 'missed']) };
    case 'open':
    case 'write': {
      const mayRefuse = isFenced || args['expected'] !== undefined;
      if (mayRefuse && draw.chance(50)) return { answer: 'refused' };
      return { answer: 'accepted', version: draw.below(4) };
    }
    case 'acquire':
      return draw.chance(50) ? { answer: 'denied' } : { answer: 'granted', token };
    case 'release':
      return { answer: draw.of(['denied', 'released']) };
    case 'renew':
      return { answer: draw.of(['denied', 'renewed']) };
    default:
      return {};
  }
}

/** Returns the fields of `made` that an answer of this model has. */
function fitted(made: Values, model: string): Values {
  const isKept = (field: string): boolean => {
    if (field === 'version') return model === 'versioned-register';
    if (field === 'token') return model.endsWith('fenced-mutex');
    return made['answer'] !== 'accepted' || !/^(?:cas-)?register$/.test(model);
  };
  return Object.fromEntries(Object.entries(made).filter(([field]) => isKept(field)));
}
