/** The whole commands that people are told to type about a sweep on a queue; none has a secret. */
import { shellWords } from '../report/finding.ts';

/** Where people may name the queue, so that no password stands in a list of processes. */
export const QUEUE_VARIABLE = 'FENCEPOST_QUEUE';

export interface SweepWords {
  /** The queue's URL, as it was given. */
  readonly queue: string;
  /** The id of the sweep; null where it is not known. */
  readonly id: string | null;
  /** What else is to be typed. */
  readonly options?: readonly string[];
}

/** `npx fencepost sweep resume s0123… --queue redis://…`; the queue only where it is needed. */
export function sweepCommandText(
  verb: 'status' | 'tail' | 'stop' | 'resume',
  { queue, id, options = [] }: SweepWords,
): string {
  const words = ['npx', 'fencepost', 'sweep', verb, ...(id === null ? [] : [id]), ...options];
  if (process.env[QUEUE_VARIABLE] === queue) return shellWords(words).join(' ');
  // An ellipsis: whoever typed the password knows it.
  if (mayHaveSecret(queue)) return `${QUEUE_VARIABLE}=… ${shellWords(words).join(' ')}`;
  return shellWords([...words, '--queue', queue]).join(' ');
}

/** Read here, as `run` too knows these words, and loads nothing of the fleet. */
function mayHaveSecret(queue: string): boolean {
  if (!URL.canParse(queue)) return true;
  const { username, password, search, hash } = new URL(queue);
  return [username, password, search, hash].some((part) => part !== '');
}
