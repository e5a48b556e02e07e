/**
 * What the code of a test threw, so that a run that failed can say where that was: a run itself
 * knows the message only.
 */
import type { LockDefinition } from '../../systems/define-lock.ts';

export class Mistakes {
  private last: unknown = null;

  /** The same lock, whose clients' errors are kept. */
  watch(definition: LockDefinition): LockDefinition {
    const { buildAsync } = definition;
    if (typeof buildAsync !== 'function') return definition;
    return {
      ...definition,
      buildAsync: (world, options) => {
        const programOf = this.kept(() => buildAsync(world, options));
        return (client) => {
          const program = this.kept(() => programOf(client));
          return async (section) => {
            try {
              await program(section);
            } catch (error) {
              this.last = error;
              throw error;
            }
          };
        };
      },
    };
  }

  private kept<R>(code: () => R): R {
    try {
      return code();
    } catch (error) {
      this.last = error;
      throw error;
    }
  }

  /** What was thrown last, if a run failed with its message. */
  find(message: string): Error | undefined {
    const { last } = this;
    return last instanceof Error && message.endsWith(last.message) ? last : undefined;
  }
}
