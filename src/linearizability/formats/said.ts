/** Decides which object an operation is about, and what is asked and answered of it. */
import type { Json } from '../../core/kernel/json.ts';
import { type Answers, saysNo } from './answers.ts';
import type { Dialect } from './dialect.ts';
import { isArray, textOf } from './edn-text.ts';
import type { RecordedOperation } from './record.ts';

/** What is asked and answered about one of several independent objects. */
export interface Said {
  /** The object's name, '' when there is one only. */
  readonly key: string;
  /** The values of call and completion, without the key; undefined: none is given. */
  readonly asked: Json | undefined;
  readonly answered: Json | undefined;
  /** Whether an `ok` answered no. */
  readonly isNo: boolean;
  /** Whether the key is the first of a value of two, which it may not have been meant as. */
  readonly isFromPair: boolean;
  /** Whether a value was given that says nothing of such a call. */
  readonly isValueIgnored: boolean;
}

const ONLY_YES: Answers = { yes: [], no: [] };

/** Text says what is wrong. `name` is that of the model's call. */
export function readSaid(
  name: string,
  operation: RecordedOperation,
  { dialect, readsPairs }: { readonly dialect: Dialect; readonly readsPairs: boolean },
): Said | string {
  const isNo = saysNo(operation, dialect.answers.get(name) ?? ONLY_YES);
  if (typeof isNo === 'string') return isNo;
  const plain = {
    asked: operation.asked['value'],
    answered: operation.answered['value'],
    ...{ isNo, isFromPair: false, isValueIgnored: false },
  };
  const key = namedKey(operation, dialect.keys);
  if (key !== null) return { key, ...plain };
  const pair = plain.asked;
  if (readsPairs && isArray(pair) && pair.length === 2 && mayBeKeyed(name, pair)) {
    const told = plain.answered;
    const answered = isArray(told) && told.length === 2 ? told[1] : told;
    const [first = null, asked] = pair;
    return { ...plain, key: keyText(first), asked, answered, isFromPair: true };
  }
  if (dialect.isNamedByValue !== true || pair === undefined || pair === null) {
    return { key: '', ...plain };
  }
  return typeof pair === 'string'
    ? { ...plain, key: pair }
    : { ...plain, key: '', isValueIgnored: true };
}

function namedKey({ asked, answered }: RecordedOperation, names: readonly string[]): string | null {
  for (const name of names) {
    const named = asked[name] ?? answered[name] ?? null;
    if (named !== null) return keyText(named);
  }
  return null;
}

/** A cas of one object is a pair itself: `[expected new]`. */
function mayBeKeyed(name: string, [, second]: readonly Json[]): boolean {
  return name !== 'cas' || (isArray(second) && second.length === 2);
}

/** The name of an object, whatever names it. */
export function keyText(key: Json): string {
  return typeof key === 'string' ? key : textOf(key);
}
