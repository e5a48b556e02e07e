/**
 * Decides what an `ok` answered: what was asked for, or a no where the model knows one. A word that
 * nobody knows is a mistake, since a no that is taken for a yes makes a wrong verdict.
 */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import { textOf } from './edn-text.ts';
import type { RecordedOperation } from './record.ts';

/** The words that one call may answer. */
export interface Answers {
  readonly yes: readonly string[];
  readonly no: readonly string[];
  /** Whether the completion's value says it too, where it is true, false or such a word. */
  readonly mayBeValue?: boolean;
}

/** Whatever was called. */
const ALWAYS_YES = ['ok', 'done', 'success'];

/** Whether an `ok` says no; text says what nobody understands. Of other completions: false. */
export function saysNo(operation: RecordedOperation, answers: Answers): boolean | string {
  const { answered, asked, outcome } = operation;
  if (outcome !== 'ok') return false;
  const said: (boolean | string)[] = [];
  const answer = answered['answer'] ?? null;
  if (answer !== null) said.push(read(answer, 'answer', answers));
  const isOk = answered['ok'] ?? null;
  if (isOk !== null) said.push(read(isOk, 'ok', answers));
  const value = answered['value'] ?? null;
  const isTold = answers.mayBeValue === true && textOf(asked['value'] ?? null) !== textOf(value);
  if (isTold && isAnswer(value, answers)) said.push(read(value, 'value', answers));
  return said.find((one) => typeof one === 'string') ?? said.includes(true);
}

function isAnswer(value: Json, { yes, no }: Answers): boolean {
  if (typeof value === 'boolean') return true;
  return typeof value === 'string' && [...yes, ...no, ...ALWAYS_YES].includes(wordOf(value));
}

function read(value: Json, field: string, answers: Answers): boolean | string {
  const known = [...answers.yes, ...answers.no];
  if (value === true) return false;
  if (value === false && answers.no.length > 0) return true;
  const word = typeof value === 'string' ? wordOf(value) : textOf(value);
  if (typeof value === 'string' && answers.no.includes(word)) return true;
  if (typeof value === 'string' && [...answers.yes, ...ALWAYS_YES].includes(word)) return false;
  return `unknown ${field} "${word}"${suggest(word, known)}`;
}

function wordOf(text: string): string {
  return text.replace(/^:/, '');
}
