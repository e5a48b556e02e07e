/**
 * Loads modules in a realm that belongs to no process: a definition, whose servers are for all
 * runs, and modules of which somebody wants to know what they do as they are loaded. Some of it no
 * realm can keep apart, and is refused: what a module sets on `globalThis` or changes of the
 * language's own objects, all processes would share.
 */
import { createHook } from 'node:async_hooks';
import {
  ambient,
  type Inhabitant,
  inRealTurn,
  type Loading,
  yieldToEventLoop,
} from '../async/ambient.ts';
import { requireFewJobs } from '../async/endless.ts';
import { CONNECTS, isRealWork, LOOKS_UP } from '../async/escapes.ts';
import { type SharedChange, sharedState } from '../async/global-objects.ts';
import { loadVirtually, virtualizeGlobals } from '../async/globals.ts';
import { EPOCH_MS } from '../async/life.ts';
import { giveBackDefaults, takeDefaults } from '../async/own-process.ts';
import { Printed, printShared } from '../async/printing.ts';
import { Randomness } from '../async/randomness.ts';
import { routedFailures } from '../async/run-filled.ts';
import { type TimerSetting, VirtualTimer } from '../async/timers.ts';
import { within } from '../async/whereabouts.ts';
import type { ModuleGraph } from './module-graph.ts';
import { Realm } from './realm.ts';

/**
 * What the first module of a graph exports, in a realm of nobody, once the jobs that it began have
 * run: a client of a database that it makes connects to nothing. Rejects where a module changes
 * what all processes share.
 */
export async function loadApart(graph: ModuleGraph): Promise<object> {
  sharedState.renewAll();
  const printed = new Printed();
  const { loaded, change } = await inNobody(async (turn) => {
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

/** What definitions printed while they were loaded, until it is taken, by their module's URL. */
const outputs = new Map<string, readonly string[]>();

/** Returns what definitions printed as they were loaded, a line each; the next time only news. */
export function takeLoadOutput(): readonly string[] {
  const lines = [...outputs.values()].flat();
  for (const url of outputs.keys()) outputs.set(url, []);
  return lines;
}

/**
 * Rejects where one of these modules changes, as it is loaded, what all processes share; what else
 * is wrong with it is told by who loads it.
 */
export async function requireApart(graph: ModuleGraph, urls: readonly string[]): Promise<void> {
  await loadVirtually(async () => {
    const change = await loadAll({ graph, urls }, () => {});
    await requireUnchanged(change, { graph, urls });
  });
}

/** The modules that draw something as these are loaded, by name; none where they cannot be. */
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

/** Rejects where something was changed, with the module that does it. */
async function requireUnchanged(change: SharedChange | null, apart: Apart): Promise<void> {
  if (change === null) return;
  let name: string | null = null;
  await loadAll(apart, (loaded) => {
    if (name === null && sharedState.takeBack() !== null) name = loaded.name;
  });
  const who = name ?? apart.graph.root.name;
  throw new Error(
    `${who} changes ${change.name} as it is loaded, which all simulated processes would share`,
  );
}

/**
 * Loads modules as far as they come without waiting, whatever becomes of them; what they have
 * changed by then.
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
    return await inNobody((turn) => turn(load));
  } catch {
    sharedState.takeBackAll();
    return null; // what is wrong is told by who loads them for their exports
  }
}

/** Runs code of no process in a turn of the event loop, with the jobs that it begins. */
type Turn = <T>(code: () => T) => Promise<T>;

/**
 * The result of `load`. Rejects with the first error that code of no process let pass, or that
 * refused one of its calls. What goes on after real work, such as a read, is still code of no
 * process.
 */
async function inNobody<T>(
  load: (turn: Turn) => Promise<T>,
  printed: Printed = new Printed(),
): Promise<T> {
  const nobody = new Nobody(printed);
  const listening = routedFailures.use();
  const begun = new Set<number>();
  const work = new Set<number>();
  const before: (Inhabitant | null)[] = [];
  const hook = createHook({
    init(id, kind, _, resource) {
      if (ambient.current !== nobody) return;
      begun.add(id);
      if (isRealWork(kind, resource)) work.add(id);
    },
    before(id) {
      if (!begun.has(id)) return;
      before.push(ambient.current);
      ambient.current = nobody;
      takeDefaults(nobody);
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
    const loaded = await load((code) => turnOf(nobody, code));
    for (let turns = 0; work.size > 0 && turns < MOST_TURNS; turns += 1) await yieldToEventLoop();
    if (nobody.failure !== null) throw nobody.failure.error;
    return loaded;
  } catch (error) {
    throw nobody.failure === null ? error : nobody.failure.error;
  } finally {
    hook.disable();
    listening();
  }
}

/** Turns of the event loop that a module may need to finish what it has begun. */
const MOST_TURNS = 10_000;

/**
 * What the code returns, once its jobs have run. The two turns are one right after the other: a
 * timer or a message of the thread itself, which must not meet the timers and listeners of nobody,
 * comes before them or after.
 */
function turnOf<T>(nobody: Nobody, code: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    let made: T;
    inRealTurn(() => {
      ambient.current = nobody;
      takeDefaults(nobody);
      try {
        made = code();
      } catch (error) {
        nobody.fail(error);
      }
    });
    inRealTurn(() => {
      ambient.current = null;
      giveBackDefaults();
      if (nobody.failure === null) resolve(made);
      else reject(nobody.failure.error);
    });
  });
}

/**
 * What code makes that belongs to no process, as `buildAsync` makes servers: at once, and in the
 * same world as it is loaded in.
 */
export function madeByNobody<T>(make: () => T): T {
  const nobody = new Nobody();
  const { current } = ambient;
  const restore = virtualizeGlobals();
  ambient.current = nobody;
  takeDefaults(nobody);
  try {
    const made = within(null, false, make);
    if (nobody.failure !== null) throw nobody.failure.error;
    return made;
  } finally {
    ambient.current = current;
    giveBackDefaults();
    restore();
  }
}

/** Whoever loads a definition: its time stands still, and its timers never come. */
class Nobody implements Inhabitant {
  readonly name: string = 'the module';
  readonly pid: number = 1;
  readonly network: null = null;
  /** Definitions may be put together of files. */
  readonly mayRead: boolean = true;
  private readonly drawn: Map<string, Randomness> = new Map();
  private jobs = 0;
  failure: { readonly error: unknown } | null = null;
  /** Null where it prints as part of a run, or for no reader. */
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
    const known = this.drawn.get(place) ?? new Randomness(place, { number: 0, life: 0 });
    this.drawn.set(place, known);
    return known;
  }

  countJob(): void {
    this.jobs += 1;
    requireFewJobs(this.jobs);
  }

  /** These never connect, and never find a name. */
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
