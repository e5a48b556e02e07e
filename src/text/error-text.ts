/** What anything that was thrown says of itself, whatever it is: users' code may throw anything. */

/** The message of an error, else the value as text. */
export function errorText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'something that cannot be told as text';
  }
}
