/**
 * Why a test failed, in lines as they are to be read. Its stack is one line: where the test stands.
 */
export class SimTestError extends Error {
  constructor(lines: readonly string[], cause?: unknown) {
    super(lines.join('\n'), cause === undefined ? {} : { cause });
  }

  /** `site` is a line of a stack. */
  standAt(site: string): void {
    this.stack = `${this.name}: ${this.message}\n${site}`;
  }
}
