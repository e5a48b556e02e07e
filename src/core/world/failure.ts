/** Separates failures of the system under test, which end a run, from bugs in fencepost. */
import { errorText } from '../../text/error-text.ts';
import type { Ending } from '../history/trace.ts';
import { Defect } from '../kernel/assert.ts';

type Failed = Extract<Ending, { readonly kind: 'failed' }>;

export class SystemFailure extends Error {
  readonly process: string;
  /** Address of an unsimulated server that the process needs, or null. */
  readonly unserved: string | null;

  constructor(process: string, message: string, unserved: string | null = null) {
    super(message);
    this.process = process;
    this.unserved = unserved;
  }

  get ending(): Failed {
    const { process, message: error, unserved } = this;
    return { kind: 'failed', process, error, ...(unserved === null ? {} : { unserved }) };
  }
}

/** Returns `process: error`, or the error alone if it begins with the name of the process. */
export function failureText({ process, error }: Pick<Failed, 'process' | 'error'>): string {
  return error.startsWith(`${process} `) ? error : `${process}: ${error}`;
}

/** Runs code of the system under test as `process`, and converts its errors to `SystemFailure`. */
export function underTest<T>(process: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Defect || error instanceof SystemFailure) throw error;
    throw new SystemFailure(process, errorText(error));
  }
}
