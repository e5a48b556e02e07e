/**
 * Tells a failure of the system under test, which ends a run, from a defect of fencepost, which
 * ends all.
 */
import { errorText } from '../../text/error-text.ts';
import { Defect } from '../kernel/assert.ts';

export class SystemFailure extends Error {
  readonly process: string;

  constructor(process: string, message: string) {
    super(message);
    this.process = process;
  }
}

/** Runs code of the system under test as `process`; what it throws becomes a `SystemFailure`. */
export function underTest<T>(process: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Defect || error instanceof SystemFailure) throw error;
    throw new SystemFailure(process, errorText(error));
  }
}
