/**
 * Loads modules in a realm that belongs to no process. Used for a definition, whose servers serve
 * all runs, and to examine the effects of loading a module. Effects that no realm can isolate are
 * refused: all processes would share properties set on `globalThis` and changes to built-in
 * objects.
 */
import { createHook } from 'node:async_hooks';
import {
  ambient,
  type CurrentProcess,
  inRealTurn,
  type Loading,
  yieldToEventLoop,
} from '../async/ambient.ts';
import { requireFewJobs } from '../async/endless.ts';
import { CONNECTS, isRealWork, LOOKS_UP } from '../async/forbidden-apis.ts';
import { type SharedChange, sharedState } from '../async/global-objects.ts';
import { loadVirtually, virtualizeGlobals } from '../async/globals.ts';
import { EPOCH_MS } from '../async/incarnation.ts';
import { Printed, printShared } from '../async/printing.ts';
import { within } from '../async/progress-beacon.ts';
import { Randomness } from '../async/randomness.ts';
import { routedFailures } from '../async/run-filled.ts';
import { type TimerSetting, VirtualTimer } from '../async/timers.ts';
import { giveBackDefaults, takeDefaults } from '../async/virtual-process.ts';
import type { ModuleGraph } from './module-graph.ts';
import { Realm } from './realm.ts';

/**
 * Loads the first module of a graph outside any process. Returns its exports after the jobs that it
 * started have run. A database client that a module creates never connects. Rejects if a module
 * changes an object that all processes share.
 */
export async function loadApart(graph: ModuleGraph): Promise<object> {
  sharedState.renewAll();
  const printed = new Printed();
  const { loaded, change } = await outsideProcessAsync(async (turn) => {
    const [loading, atOnce] = await turn(() => {
      const begun = new Realm(graph).load();
      if (begun instanceof Promise) begun.catch(() => {});
      return [begun, sharedState.takeBackAll()] as const;
    });
    const namespace = await loading;
    const later = loading instanceof Promise ? sharedState.takeBackAll() : null;
    return { loaded: namespace, change: atOnce ?? later };
  }, printed);
  const { rootUrl, root } = graph;
  if (!outputs.has(rootUrl)) {
    outputs.set(
      rootUrl,
      printed.end().map((line) => `${root.name} | ${line}`),
    );
  }
  await requireUnchanged(change, { graph, urls: [graph.rootUrl] });
  return loaded;
}

const outputs = new Map<string, readonly string[]>();

/** Returns the lines that definitions printed while loading, and removes them. */
export function takeLoadOutput(): readonly string[] {
  const lines = [...outputs.values()].flat();
  for (const url of outputs.keys()) outputs.set(url, []);
  return lines;
}

/**
 * Rejects if loading one of these modules changes an object that all processes share. Other errors
 * are reported when the module is loaded for its exports.
 */
export async function requireApart(graph: ModuleGraph, urls: readonly string[]): Promise<void> {
  await loadVirtually(async () => {
    const change = await loadAll({ graph, urls }, () => {});
    await requireUnchanged(change, { graph, urls });
  });
}

/** Returns the modules that draw random values while loading, or an empty list if loading fails. */
export async function drawersIn(
  graph: ModuleGraph,
  urls: readonly string[],
): Promise<readonly string[]> {
  return await loadVirtually(async () => {
    const drawers: string[] = [];
    await loadAll({ graph, urls }, ({ name, hasDrawn }) => {
      if (hasDrawn) drawers.push(name);
    });
    return drawers;
  });
}

interface Apart {
  readonly graph: ModuleGraph;
  readonly urls: readonly string[];
}

/** Rejects with an error that names the module responsible for a change. */
async function requireUnchanged(change: SharedChange | null, apart: Apart): Promise<void> {
  if (change === null) return;
  let name: string | null = null;
  await loadAll(apart, (loaded) => {
    if (name === null && sharedState.takeBack() !== null) name = loaded.name;
  });
  const module = name ?? apart.graph.root.name;
  throw new Error(
    `${module} changes ${change.name} while it is loaded, and all simulated processes would share this`,
  );
}

/**
 * Loads as much of the modules as possible without waiting, and ignores errors. Returns the first
 * change that they have made.
 */
async function loadAll(
  { graph, urls }: Apart,
  onLoaded: (loading: Loading) => void,
): Promise<SharedChange | null> {
  sharedState.renewAll();
  try {
    const load = (): SharedChange | null => {
      const realm = new Realm(graph, { onLoaded });
      for (const url of urls) {
        const loaded = realm.load(url);
        if (loaded instanceof Promise) loaded.catch(() => {});
      }
      return sharedState.takeBackAll();
    };
    return await outsideProcessAsync((turn) => turn(load));
  } catch {
    sharedState.takeBackAll();
    return null; // errors are reported when the modules are loaded for their exports
  }
}

/** Runs code outside any process in a turn of the event loop, with the jobs that it starts. */
type Turn = <T>(code: () => T) => Promise<T>;

/**
 * Resolves to the result of `load`. Rejects with the first error that its code did not handle, or
 * with the error of a refused call. Code that continues after real work, such as a read, still runs
 * outside any process.
 */
async function outsideProcessAsync<T>(
  load: (turn: Turn) => Promise<T>,
  printed: Printed = new Printed(),
): Promise<T> {
  const outside = new OutsideProcess(printed);
  const listening = routedFailures.use();
  const begun = new Set<number>();
  const work = new Set<number>();
  const before: (CurrentProcess | null)[] = [];
  const hook = createHook({
    init(id, kind, _, resource) {
      if (ambient.current !== outside) return;
      begun.add(id);
      if (isRealWork(kind, resource)) work.add(id);
    },
    before(id) {
      if (!begun.has(id)) return;
      before.push(ambient.current);
      ambient.current = outside;
      takeDefaults(outside);
    },
    after(id) {
      work.delete(id);
      if (!begun.has(id)) return;
      ambient.current = before.pop() ?? null;
      if (ambient.current === null) giveBackDefaults();
    },
    destroy: (id) => void work.delete(id),
  }).enable();
  try {
    const loaded = await load((code) => turnOf(outside, code));
    for (let turns = 0; work.size > 0 && turns < MOST_TURNS; turns += 1) await yieldToEventLoop();
    if (outside.failure !== null) throw outside.failure.error;
    return loaded;
  } catch (error) {
    throw outside.failure === null ? error : outside.failure.error;
  } finally {
    hook.disable();
    listening();
  }
}

/** Turns of the event loop that a module may take to finish its jobs. */
const MOST_TURNS = 10_000;

/**
 * Resolves to the result of `code` after its jobs have run. Two turns are taken in direct
 * succession, so no timer or message of the thread runs as `outside`.
 */
function turnOf<T>(outside: OutsideProcess, code: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    let made: T;
    inRealTurn(() => {
      ambient.current = outside;
      takeDefaults(outside);
      try {
        made = code();
      } catch (error) {
        outside.fail(error);
      }
    });
    inRealTurn(() => {
      ambient.current = null;
      giveBackDefaults();
      if (outside.failure === null) resolve(made);
      else reject(outside.failure.error);
    });
  });
}

/**
 * Runs `make` in the environment in which definitions are loaded. Used for code that belongs to no
 * process, such as `buildAsync`.
 */
export function makeOutsideProcess<T>(make: () => T): T {
  const outside = new OutsideProcess();
  const { current } = ambient;
  const restore = virtualizeGlobals();
  ambient.current = outside;
  takeDefaults(outside);
  try {
    const made = within(null, false, make);
    if (outside.failure !== null) throw outside.failure.error;
    return made;
  } finally {
    ambient.current = current;
    giveBackDefaults();
    restore();
  }
}

/** The loader of definitions as a process. Its time stands still, and its timers never fire. */
class OutsideProcess implements CurrentProcess {
  readonly name: string = 'the module';
  readonly pid: number = 1;
  readonly network: null = null;
  /** Definitions may be read from several files. */
  readonly mayRead: boolean = true;
  private readonly drawn: Map<string, Randomness> = new Map();
  private jobs = 0;
  failure: { readonly error: unknown } | null = null;
  /** Null if its output belongs to a run, or has no reader. */
  readonly printed: Printed | null;

  constructor(printed: Printed | null = null) {
    this.printed = printed;
  }

  dateMs(): number {
    return EPOCH_MS;
  }

  monotonicUs(): number {
    return 0;
  }

  setTimer(setting: TimerSetting): VirtualTimer {
    return new VirtualTimer(setting, INERT);
  }

  timerOf(): undefined {
    return undefined;
  }

  get randomness(): Randomness {
    const { loading } = ambient;
    if (loading !== null) loading.hasDrawn = true;
    const place = `${this.name}/${ambient.loading?.name ?? ''}`;
    const known = this.drawn.get(place) ?? new Randomness(place, { number: 0, incarnation: 0 });
    this.drawn.set(place, known);
    return known;
  }

  countJob(): void {
    this.jobs += 1;
    requireFewJobs(this.jobs);
  }

  /** Allows connections, which never complete, and lookups, which are never answered. */
  mayCall(call: string): boolean {
    return CONNECTS.test(call) || LOOKS_UP.test(call);
  }

  print(text: string, stream: unknown): void {
    if (this.printed === null) printShared(text, stream);
    else this.printed.print(text, stream);
  }

  noteUnsimulated(): void {}

  fail(error: unknown): void {
    this.failure ??= { error };
  }
}

const INERT: ConstructorParameters<typeof VirtualTimer>[1] = {
  setRef: () => {},
  arm: () => {},
  drop: () => {},
  idOf: () => 0,
};
