/**
 * Explains in one sentence why a history is not linearizable. The sentence names all operations of
 * the core, and states a premise about all other operations. For example:
 *
 *     `read=2` by 3 needs the value 2, but `write(1)` by 0 came before it, and nothing else called
 *     or open in positions 8–13 sets 2.
 *
 * Under the premise, the named operations have no order, whatever else the other operations did. A
 * premise about values is verified before it is stated. Without such a premise, the sentence states
 * only that the other operations do not bring about the needed state.
 */
import type { Json } from '../core/kernel/json.ts';
import { listOf } from '../text/prose.ts';
import type { Core } from './core.ts';
import { decide } from './decide.ts';
import type { Reasons } from './explain.ts';
import type { CallData, History, Model, Operation } from './model.ts';
import { distinctCalls, leaveOut, makeOptional } from './relax.ts';

const inPositions = (from: number | null, to: number): string =>
  from === null ? `up to position ${to}` : `in positions ${from}–${to}`;

/** Maximum number of operations to name. If there are more, only their number is stated. */
const mostNamed = 12;
const maxConfigurations = 2_000;

/** The premise if no property of the other operations is known to suffice. */
const VAGUE = 'leads to that';

/**
 * Returns the sentence. Names up to 12 operations of the core, or else gives their number.
 * `spanInWords` formats a span of positions, such as "in lines 8–13". A null `from` means the
 * beginning.
 */
export function explainInWords<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  { at, core }: Pick<Reasons<State>, 'at' | 'core'>,
  spanInWords: (from: number | null, to: number) => string = inPositions,
): string {
  const bad = history[at];
  if (bad === undefined) return 'There is no such operation.';
  const subject = `${nameOf(bad, model)} needs ${model.needs?.(bad.call) ?? 'another state'}`;
  const isAlone = core.required.length + core.optional.length < 2;
  if (isAlone && !core.isMinimal) return `${subject}, which no order allows.`;
  // If the operation is impossible alone, nothing since the beginning brought about what it needs.
  const from = isAlone ? null : core.from;
  const others = othersOf(history, model, { at, core: { ...core, from } });
  const premise = new Premise(history, model, { at, core: { ...core, from } }, others).inWords();
  const span = `${from === null ? '' : 'or open '}${spanInWords(from, bad.return ?? 0)}`;
  // The other premises hold however often the other operations happen.
  const isOnce = !core.areOthersFree && premise === VAGUE;
  const calls = `no combination of the other calls ${from === null ? '' : 'made '}`;
  const rest = `${isOnce ? calls : 'nothing else called '}${span} ${premise}`;
  const start = model.describeState?.(model.init) ?? `the state is ${JSON.stringify(model.init)}`;
  const first = from === null ? `at first ${start}` : '';
  const [only, ...more] = [...core.required, ...core.optional].filter((index) => index !== at);
  if (only === undefined) return `${subject}, but ${first}, and ${rest}.`;
  const before = history[only];
  const isBefore = core.required.includes(only) && (before?.return ?? bad.invoke) < bad.invoke;
  if (before !== undefined && more.length === 0 && isBefore) {
    const came = `${nameOf(before, model)} came before it`;
    return `${subject}, but ${first === '' ? came : `${first}, ${came}`}, and ${rest}.`;
  }
  const as = first === '' ? rest : `${first} and ${rest}`;
  return `${subject}, but no order of it and ${named(history, model, { at, core })} allows this, because ${as}.`;
}

/** Example: "`write(2)` by 1, `read=2` by 3 and perhaps `write(4)` by 2". */
function named(
  history: History,
  model: Model,
  { at, core }: { readonly at: number; readonly core: Core },
): string {
  const { required, optional } = core;
  const count = required.length - 1 + optional.length;
  if (count > mostNamed) return `the ${count} other operations of the core`;
  const name = (index: number): string[] => {
    const operation = history[index];
    return operation === undefined || index === at ? [] : [nameOf(operation, model)];
  };
  const possible = optional.flatMap(name).map((label) => `perhaps ${label}`);
  return listOf([...required.flatMap(name), ...possible]);
}

function nameOf({ call, client }: Operation, model: Model): string {
  return `\`${model.describe?.(call) ?? JSON.stringify(call)}\` by ${client}`;
}

interface Place {
  readonly at: number;
  readonly core: Core;
}

/**
 * Returns the operations outside the core that may have changed the object. May include failed
 * operations, which `distinctCalls` drops.
 */
function othersOf(history: History, model: Model, { at, core }: Place): History {
  const bad = history[at];
  if (bad === undefined) return [];
  const key = model.partition?.(bad.call);
  const from = core.from ?? Number.NEGATIVE_INFINITY;
  const end = bad.return ?? Number.POSITIVE_INFINITY;
  const inCore = new Set([...core.required, ...core.optional]);
  return history.filter(({ call, outcome, invoke, return: last }, index) => {
    if (invoke > end || inCore.has(index)) return false;
    if (outcome === 'ok' && (last ?? from) < from) return false;
    return !(model.isPure?.(call) ?? false) && model.partition?.(call) === key;
  });
}

/** Finds the weakest property of the other operations that still implies the contradiction. */
class Premise {
  private readonly alone: History;
  private readonly model: Model;
  private readonly core: Core;
  private readonly bad: CallData | undefined;
  private readonly others: readonly CallData[];
  /** The states that calls of the core distinguish. */
  private readonly awaited: readonly Json[];
  /** The awaited states and, if there is any, one other state of the object. */
  private readonly states: readonly Json[];

  constructor(history: History, model: Model, { at, core }: Place, others: History) {
    const required = new Set(core.required);
    const optional = new Set(core.optional);
    this.alone = history.map((operation, index) => {
      if (required.has(index)) return operation;
      return optional.has(index) ? makeOptional(operation) : leaveOut(operation);
    });
    this.model = model;
    this.core = core;
    this.bad = history[at]?.call;
    this.others = distinctCalls(others);
    const calls = distinctCalls(this.alone);
    this.awaited = distinctStates(calls.map((call) => model.awaits?.(call)));
    const held = distinctCalls(history).map((call) => model.provides?.(call));
    const all = distinctStates([model.init, ...held]);
    this.states = [
      ...this.awaited,
      ...all.filter((state) => !has(this.awaited, state)).slice(0, 1),
    ];
  }

  inWords(): string {
    const { model, others, bad } = this;
    const { describeValue: describe } = model;
    if (model.awaits === undefined || model.approaches !== undefined) return VAGUE;
    const provided = others.map((call) => model.provides?.(call));
    if (describe === undefined || provided.includes(undefined)) return VAGUE;
    const missing = this.awaited.filter((state) => !has(provided, state));
    const needed = distinctStates(bad === undefined ? [] : [model.awaits(bad)]);
    const inWords = (states: readonly Json[]): string => listOf(states.map(describe), 'or');
    for (const states of [missing.filter((state) => has(needed, state)), missing]) {
      if (this.isContradictory(states, 'any')) return `sets ${inWords(states)}`;
    }
    for (const states of [needed, distinctStates([...needed, ...missing])].map(this.closed)) {
      if (states === null || !this.isContradictory(states, 'elsewhere')) continue;
      return `makes it ${inWords(states)} from another value`;
    }
    const isAlone = others.length === 0 && this.isContradictory(this.states, 'any');
    return isAlone ? 'changes it' : VAGUE;
  }

  /**
   * Adds to `states` each state from which another operation's call leads into the set. Returns
   * null if such a call also leads there from a state that it does not await.
   */
  private readonly closed = (states: readonly Json[]): readonly Json[] | null => {
    const { model } = this;
    const all = [...states];
    for (const state of all) {
      for (const call of this.others.filter((other) => isSame(model.provides?.(other), state))) {
        const found = model.awaits?.(call);
        const isElsewhere = (start: Json): boolean =>
          !isSame(start, state) && !isSame(start, found) && has(model.step(start, call), state);
        if (found === undefined || this.states.some(isElsewhere)) return null;
        if (!has(all, found)) all.push(found);
      }
    }
    return all;
  };

  /**
   * Returns true if the core has no order when the other operations never lead to a state in
   * `closed`. With `elsewhere`, they may still lead there from states in `closed`.
   */
  private isContradictory(closed: readonly Json[], from: 'any' | 'elsewhere'): boolean {
    if (closed.length === 0) return false;
    const { model, states, core } = this;
    const open = states.filter((state) => !has(closed, state));
    const step = (state: Json, call: CallData): readonly Json[] => {
      const moved = from === 'elsewhere' && has(closed, state) ? states : open;
      return distinctStates([state, ...moved].flatMap((origin) => model.step(origin, call)));
    };
    const first = core.from === null ? [model.init] : states;
    return first.every((init) => {
      const decision = decide(this.alone, { name: model.name, init, step }, { maxConfigurations });
      return decision.kind === 'invalid';
    });
  }
}

function has(states: readonly (Json | undefined)[], state: Json): boolean {
  return states.some((candidate) => isSame(candidate, state));
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function distinctStates(states: readonly (Json | undefined)[]): readonly Json[] {
  const known = new Map<string, Json>();
  for (const state of states) if (state !== undefined) known.set(JSON.stringify(state), state);
  return [...known.values()];
}
