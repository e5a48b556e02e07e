/**
 * Distinguishes a process's concurrent sections by the asynchronous context of the calling code.
 * Work of a driver that serves several sections, such as connecting, belongs to no section.
 */
import type { Name } from '../../core/kernel/name.ts';
import type { Caller } from '../../core/world/port.ts';
import { storageOfHost } from './async-context.ts';

interface SectionCaller extends Caller {
  readonly name: Name;
}

const storage = storageOfHost<SectionCaller>();

/** Runs code of a section. Asynchronous work that the code starts belongs to the section. */
export function inSection<T>(section: SectionCaller, code: () => T): T {
  return storage.run(section, code);
}

/** Runs code that belongs to no section. */
export function inNoSection<T>(code: () => T): T {
  return storage.exit(code);
}

/** Returns the section to which the running code belongs, or undefined. */
export function sectionNow(): SectionCaller | undefined {
  return storage.getStore();
}
