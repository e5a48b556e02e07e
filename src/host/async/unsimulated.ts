/**
 * Counts what the processes of one run asked for and what is not simulated, so that a package which
 * swallows the refusal cannot hide it. Each has the place that asked first.
 *
 * A driver that has not connected yet sends a command later, and nothing on the stack shows by then
 * who asked. So such a run is made again with a hook on promises: a driver makes one as its method
 * `xadd` is called, with the caller on the stack.
 */
import fs from 'node:fs';
import { promiseHooks } from 'node:v8';
import type { Unsimulated } from '../../core/history/trace.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import type { Draft } from '../../core/kernel/json.ts';
import { ambient } from './ambient.ts';
import {
  type CallSite,
  deepSiteOf,
  type Frame,
  framesIn,
  isOfFencepost,
  isOfNode,
  isOfPackage,
  packageFolderOf,
  packageOf,
  placeIn,
} from './call-site.ts';

/** Before it was replaced. */
const { readFileSync } = fs;

interface Asked extends Pick<Unsimulated, 'kind' | 'what'> {
  /** The method of a driver that sends the command. */
  readonly method?: string;
}

export class UnsimulatedLog {
  private readonly found: Map<string, Draft<Unsimulated>> = new Map();
  /** Where drivers were called, by method. */
  private readonly callers: Map<string, CallSite> = new Map();
  /** The methods of drivers that were called at an unknown place. */
  readonly unplaced: Set<string> = new Set();

  /** The place is that of the first call. */
  note({ kind, what, method = '' }: Asked, site: CallSite): void {
    const key = `${kind} ${what}`;
    const known = this.found.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    let asker = askerIn(site, kind);
    const caller = this.callers.get(method);
    if (asker.place === null && caller !== undefined) asker = askerIn(caller, kind);
    if (asker.place === null && /^[a-z_]+$/.test(method)) this.unplaced.add(method);
    this.found.set(key, { kind, what, ...asker, count: 1 });
  }

  /** In the order of the first calls; absent if there were none. */
  get counts(): { readonly unsimulated?: readonly Unsimulated[] } {
    return this.found.size === 0 ? {} : { unsimulated: [...this.found.values()] };
  }

  /** Notes where drivers are called by these methods, until what it returns is called. */
  seek(methods: ReadonlySet<string>): () => void {
    const calls = [...methods].map((name) => {
      return { name, line: new RegExp(`^ *at [^(\\n]*\\b${name}\\b[^(\\n]* \\(`, 'im') };
    });
    const begin = (): void => {
      if (ambient.current === null || this.callers.size === methods.size) return;
      const site = deepSiteOf(begin);
      for (const { name, line } of calls) {
        if (line.test(site.stack ?? '')) entryOf(this.callers, name, () => site);
      }
    };
    const stop = promiseHooks.onInit(begin);
    return () => void Reflect.apply(stop, undefined, []);
  }
}

/** A driver asks for no command itself: its caller does. */
function askerIn(
  { stack = '' }: CallSite,
  kind: Unsimulated['kind'],
): Pick<Unsimulated, 'place' | 'package'> {
  const all = framesIn(stack).filter((frame) => !isOfNode(frame));
  const begin = all.findIndex((frame) => !isOfFencepost(frame));
  const end = all.findIndex((frame, at) => at > begin && isOfFencepost(frame));
  const frames = begin === -1 ? [] : all.slice(begin, end === -1 ? undefined : end);
  const own = frames.find((frame) => !isOfPackage(frame));
  const [driver] = frames;
  let asker: Frame | undefined;
  for (const frame of frames) {
    if (!isOfPackage(frame)) break;
    const inner = asker ?? frame;
    if (packageOf(inner) === packageOf(frame)) asker = inner;
    else if (dependsOn(inner, packageOf(frame))) break;
    else asker = frame;
  }
  const isDriver = kind === 'command' && asker === driver;
  if (asker === undefined || isDriver) {
    return { place: own === undefined ? null : placeIn(own), package: null };
  }
  return { place: placeIn(own ?? asker), package: packageOf(asker) };
}

/** Whether the package of a frame brings the other along, as a helper that calls it back. */
function dependsOn(frame: Frame, other: string): boolean {
  try {
    const about = JSON.parse(readFileSync(`${packageFolderOf(frame)}/package.json`, 'utf8'));
    return Object.hasOwn(Object(about.dependencies), other);
  } catch {
    return false;
  }
}
