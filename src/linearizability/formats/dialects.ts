/** The dialects by the name of their model, and which one a log is likely to speak. */
import type { Dialect } from './dialect.ts';
import { lockDialects } from './lock-dialects.ts';
import type { RecordedOperation } from './record.ts';
import { valueDialects } from './value-dialects.ts';

const ALL: readonly Dialect[] = [...valueDialects, ...lockDialects];

/** Under each name that `models` knows. */
export const dialects: ReadonlyMap<string, Dialect> = new Map([
  ...ALL.map((dialect) => [dialect.model, dialect] as const),
  ...ALL.filter(({ model }) => model === 'fenced-register-strict').map(
    (dialect) => ['strict-fenced-register', dialect] as const,
  ),
]);

/** Weaker models first: the first that knows every word of a log is the one to take. */
const CANDIDATES = ['register', 'cas-register', 'kv', 'counter', 'mutex', 'lease'];

/** The model that the operations at the beginning of a log suggest; null when none does. */
export function tellModel(operations: readonly RecordedOperation[]): string | null {
  const said = new Set(operations.map(({ f }) => f));
  const name = CANDIDATES.find((candidate) => {
    const known = dialects.get(candidate)?.words;
    return [...said].every((word) => known?.has(word) ?? false);
  });
  if (said.size === 0 || name === undefined) return null;
  const hasTokens = operations.some(({ asked, answered }) => {
    return asked['token'] !== undefined || answered['token'] !== undefined;
  });
  if (name === 'register') return registerOf(operations, hasTokens);
  return name === 'mutex' && hasTokens ? 'fenced-mutex' : name;
}

/** `get` and `put` are what key-value maps say; a register is read and written. */
function registerOf(operations: readonly RecordedOperation[], hasTokens: boolean): string {
  if (hasTokens) return 'fenced-register';
  if (operations.some(({ answered }) => answered['version'] !== undefined)) {
    return 'versioned-register';
  }
  return operations.some(({ f }) => f === 'get' || f === 'put') ? 'kv' : 'register';
}
