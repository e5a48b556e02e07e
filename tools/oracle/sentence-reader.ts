/**
 * Reads a sentence that explains a failure, as a skeptical reader with the history would: do the
 * operations exist, is the premise true of all others, and do these operations contradict each
 * other if only the premise is known of the others? Tries every order.
 */

import type { Json } from '../../src/core/kernel/json.ts';
import { hasSameContent } from '../../src/linearizability/interner.ts';
import type { CallData, History, Model, Operation } from '../../src/linearizability/model.ts';
import { leaveOut, makeOptional } from '../../src/linearizability/relax.ts';
import { fits } from './core-reading.ts';
import { isLinearizable } from './naive.ts';

/** The content of the sentence; operations are indices of the history. */
export interface SentenceRead {
  readonly at: number;
  readonly required: readonly number[];
  readonly optional: readonly number[];
  readonly from: number | null;
  readonly to: number;
  readonly areOthersFree: boolean;
  /** `sets`, `makes`, `changes` or `leads`. */
  readonly verb: string;
  /** The states after the verb, in words. */
  readonly states: readonly string[];
}

const named = /(perhaps )?`([^`]+)` by ([^ ,]+)/g;
const premise =
  /(?:nothing else called|(no combination of the other calls)(?: made)?) (?:or open in positions (\d+)–|up to position )(\d+) (\w+) ?(.*)\.$/;

/** Parses the sentence; throws if that fails. Each operation must have its own client. */
export function readSentence(sentence: string, history: History): SentenceRead {
  const match = premise.exec(sentence);
  if (match === null) throw new Error(`no premise: ${sentence}`);
  const [, once, from, to, verb = '', rest = ''] = match;
  const operations = [...sentence.matchAll(named)].map(([, perhaps, , client]) => {
    const index = history.findIndex((operation) => operation.client === client);
    if (index < 0) throw new Error(`no client is called ${client}: ${sentence}`);
    return { index, isOptional: perhaps !== undefined };
  });
  const pick = (isOptional: boolean): readonly number[] =>
    operations.filter((operation) => operation.isOptional === isOptional).map(({ index }) => index);
  const values = rest.replace(/^it /, '').replace(/ from another value$/, '');
  return {
    at: operations[0]?.index ?? -1,
    required: pick(false),
    optional: pick(true),
    from: from === undefined ? null : Number(from),
    to: Number(to),
    areOthersFree: once === undefined,
    verb,
    states: verb === 'sets' || verb === 'makes' ? values.split(/, | or /) : [],
  };
}

/** Returns the reason why the sentence is wrong, or null. */
export function refuteSentence<State extends Json, Call extends CallData>(
  read: SentenceRead,
  history: History<Call>,
  model: Model<State, Call>,
): string | null {
  const { at, required, optional, areOthersFree, from, to, verb } = read;
  if (history[at]?.return !== to) return 'the span does not end with the bad return';
  if (verb === 'leads') {
    const core = { required, optional, areOthersFree, from, isMinimal: true };
    return fits(history, model, { at, core }) ? 'the operations fit into an order' : null;
  }
  const others = othersIn(read, history, model);
  const false_ = others.find((operation) => breaksPremise(read, operation.call, model));
  if (false_ !== undefined) return `${JSON.stringify(false_)} breaks the premise`;
  return fitsUnder(read, history, model) ? 'the operations fit into an order' : null;
}

function othersIn<Call extends CallData>(
  { required, optional, from, to }: SentenceRead,
  history: History<Call>,
  model: Model<Json, Call>,
): History<Call> {
  return history.filter(({ outcome, invoke, return: end, call }, index) => {
    if (outcome === 'fail' || model.isPure?.(call) || required.includes(index)) return false;
    const isOver = outcome === 'ok' && from !== null && (end ?? from) < from;
    return !optional.includes(index) && !isOver && invoke <= to;
  });
}

function textOf<State extends Json>(
  state: State,
  { describeValue }: { readonly describeValue?: ((value: State) => string) | undefined },
): string {
  return describeValue?.(state) ?? JSON.stringify(state);
}

/** Returns true if a call, in a state that it may find, does what the premise excludes. */
function breaksPremise<State extends Json, Call extends CallData>(
  { verb, states }: SentenceRead,
  call: Call,
  model: Model<State, Call>,
): boolean {
  if (verb === 'changes') return true;
  const made = model.provides?.(call);
  if (made === undefined || !states.includes(textOf(made, model))) return false;
  if (verb === 'sets') return true;
  const found = model.awaits?.(call);
  // A write reaches the state whatever it finds.
  return found === undefined || !states.includes(textOf(found, model));
}

/** Returns true if the operations fit, while others do at any time what the premise allows. */
function fitsUnder<State extends Json, Call extends CallData>(
  { required, optional, from, verb, states }: SentenceRead,
  history: History<Call>,
  model: Model<State, Call>,
): boolean {
  const kept = history.map((operation, index): Operation<Call> => {
    if (required.includes(index)) return operation;
    return optional.includes(index) ? makeOptional(operation) : leaveOut(operation);
  });
  const held = history.flatMap(({ call }) => {
    const known = [model.provides?.(call), model.awaits?.(call)];
    return known.filter((state) => state !== undefined);
  });
  const all: State[] = [model.init];
  for (const other of held) if (!all.some((state) => hasSameContent(state, other))) all.push(other);
  const isReading = (state: State): boolean => states.includes(textOf(state, model));
  const reached = (state: State): readonly State[] => {
    if (verb === 'changes') return [state];
    return verb === 'makes' && isReading(state)
      ? all
      : [state, ...all.filter((other) => !isReading(other))];
  };
  const step = (state: State, call: Call): readonly State[] =>
    reached(state).flatMap((current) => model.step(current, call));
  const first = from === null ? [model.init] : all;
  return first.some((init) => isLinearizable(kept, { name: model.name, init, step }));
}
