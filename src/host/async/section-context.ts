/**
 * Distinguishes a process's concurrent sections by the asynchronous context of the calling code.
 * When a driver connects, sends requests of several sections together, or continues because an
 * answer arrived, its work belongs to no section, because the choice of one would be arbitrary.
 */
import type { Name } from '../../core/kernel/name.ts';
import type { Caller } from '../../core/world/port.ts';
import { storageOfHost } from './async-context.ts';

interface SectionCaller extends Caller {
  readonly name: Name;
}

const storage = storageOfHost<SectionCaller>();

/** Runs code of a section; asynchronous work that it starts belongs to the section. */
export function inSection<T>(section: SectionCaller, code: () => T): T {
  return storage.run(section, code);
}

/** Runs code that belongs to no section. */
export function inNoSection<T>(code: () => T): T {
  return storage.exit(code);
}

/** Returns the section to which the running code belongs, or undefined if it belongs to none. */
export function sectionNow(): SectionCaller | undefined {
  return storage.getStore();
}
