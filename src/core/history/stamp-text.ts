/** Says a timestamp of a row as all times are said: counted from the start of the run. */
import type { VersionScale } from './server-events.ts';

/** `12 ms`, `−30000 ms`, whatever the time of day was. */
export function stampText({ epochMs = 0 }: VersionScale, stamp: number): string {
  const ms = stamp - epochMs;
  return `${ms < 0 ? '−' : ''}${Math.abs(ms)} ms`;
}
