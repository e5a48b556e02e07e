/**
 * Tells apart the sections that a process runs at once, by the asynchronous context of the code
 * that calls. A driver that connects, sends the requests of several sections together, or goes on
 * because an answer came does so for no section: which one it would be named for is chance.
 */
import type { Name } from '../../core/kernel/name.ts';
import type { Caller } from '../../core/world/port.ts';
import { storageOfHost } from './async-context.ts';

interface SectionCaller extends Caller {
  readonly name: Name;
}

const storage = storageOfHost<SectionCaller>();

/** Runs code of a section, and all that comes of it. */
export function inSection<T>(section: SectionCaller, code: () => T): T {
  return storage.run(section, code);
}

/** Runs code that belongs to no section. */
export function inNoSection<T>(code: () => T): T {
  return storage.exit(code);
}

/** The section whose code runs; undefined if that is not known. */
export function sectionNow(): SectionCaller | undefined {
  return storage.getStore();
}
