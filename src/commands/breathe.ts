/** Lets the event loop run, so that Ctrl-C is heard between two pieces of long work. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
