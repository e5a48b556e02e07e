/**
 * Counts requests for things that are not simulated, so that a package that swallows the refusal
 * cannot hide the request. Each count has the place of its first request.
 *
 * A driver that is not connected yet sends a command later, when the stack no longer shows the
 * caller. Such a run is repeated with a hook on promises: a driver method such as `xadd` creates a
 * promise while the caller is still on the stack.
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

/** The original function, saved before it was replaced. */
const { readFileSync } = fs;

interface Asked extends Pick<Unsimulated, 'kind' | 'what'> {
  /** The driver method that sends the command. */
  readonly method?: string;
}

export class UnsimulatedLog {
  private readonly found: Map<string, Draft<Unsimulated>> = new Map();
  /** Call sites of drivers, by method. */
  private readonly callers: Map<string, CallSite> = new Map();
  /** Driver methods that were called from an unknown place. */
  readonly unplaced: Set<string> = new Set();

  /** Counts a request and records the place of the first request. */
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

  /** The counts in the order of their first requests, or no property if there are none. */
  get counts(): { readonly unsimulated?: readonly Unsimulated[] } {
    return this.found.size === 0 ? {} : { unsimulated: [...this.found.values()] };
  }

  /** Records where these driver methods are called, until the returned function is called. */
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

/** A command is attributed to the driver's caller, not to the driver. */
function askerIn(
  { stack = '' }: CallSite,
  kind: Unsimulated['kind'],
): Pick<Unsimulated, 'place' | 'package'> {
  const all = framesIn(stack).filter((frame) => !isOfNode(frame));
  const begin = all.findIndex((frame) => !isOfFencepost(frame));
  const end = all.findIndex((frame, at) => at > begin && isOfFencepost(frame));
  const frames = begin === -1 ? [] : all.slice(begin, end === -1 ? undefined : end);
  const userFrame = frames.find((frame) => !isOfPackage(frame));
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
    return { place: userFrame === undefined ? null : placeIn(userFrame), package: null };
  }
  return { place: placeIn(userFrame ?? asker), package: packageOf(asker) };
}

/**
 * Returns true if the frame's package depends on package `other`, such as a helper with callbacks.
 */
function dependsOn(frame: Frame, other: string): boolean {
  try {
    const about = JSON.parse(readFileSync(`${packageFolderOf(frame)}/package.json`, 'utf8'));
    return Object.hasOwn(Object(about.dependencies), other);
  } catch {
    return false;
  }
}
