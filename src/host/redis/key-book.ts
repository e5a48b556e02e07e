/**
 * Remembers who took which key, as locks take keys, and tells the observer what others do to it; it
 * has no effect on what the node does. A key is taken where it was not there, by a SET with NX, a
 * SETNX, or a script that is known to acquire; where the node was told that the key is a lock, by a
 * SET in any script. What is written in another way (a cache, a counter, a queue, a semaphore in a
 * sorted set) has no holder, and nothing is told of it.
 *
 * Whoever holds a key holds it as long as the node keeps it: what ran out, was evicted or lost is
 * nobody's. A holding belongs to the entry itself, so that a replica that takes over has those of
 * the entries that it was sent.
 */
import type { KeyChange } from '../../core/history/events.ts';
import { sectionOf } from '../../core/kernel/name.ts';
import type { Boot, Turn } from '../../core/world/server.ts';
import type { KeyEntry } from './keyspace.ts';
import { type RedisCommand, textOf } from './reply.ts';

/** Who carries out a command, as far as the observer is to know. */
export type Actor = Pick<Turn, 'atUs' | 'client' | 'message' | 'observe' | 'server' | 'trueTimeOf'>;

/** A key as it is kept, whatever it holds. */
type Entry = KeyEntry<unknown>;

/** The keys of a database. */
export interface Keys {
  readonly database: number;
  readonly get: (key: string) => Entry | null;
}

interface Holding {
  readonly client: string;
  /** The message by which it was taken. */
  readonly message: string;
}

/** A script that runs. */
interface Script {
  readonly text: string;
  readonly keys: readonly string[];
}

/** A key before and after one write. */
export interface KeyWrite {
  readonly database: number;
  readonly key: string;
  readonly before: Entry | null;
  readonly after: Entry | null;
}

type KeyPlace = Pick<KeyWrite, 'database' | 'key'>;

function placeName({ database, key }: KeyPlace): string {
  return `${database} ${key}`;
}

/** The fields of a hash; null of any other value. */
function fieldsOf(value: unknown): ReadonlyMap<unknown, unknown> | null {
  if (typeof value !== 'object' || value === null || !('fields' in value)) return null;
  return value.fields instanceof Map ? value.fields : null;
}

/** Whether all that a hash held is still in it. */
function addsTo(before: Entry | null, after: Entry): boolean {
  const [old, fields] = [fieldsOf(before?.value), fieldsOf(after.value)];
  if (old === null || fields === null) return false;
  return [...old].every(([field, value]) => fields.get(field) === value);
}

/** Whether a key has another value, as after a release that leaves the key where it is. */
function isRewritten(before: Entry | null, after: Entry): boolean {
  return fieldsOf(after.value) === null
    ? before?.value !== after.value
    : [...(fieldsOf(before?.value) ?? [])].some(
        ([field, value]) => fieldsOf(after.value)?.get(field) !== value,
      );
}

function takingOf({ client }: Actor, { database, key }: KeyPlace): string {
  return `${client} ${database} ${key}`;
}

const TAKES = /^(?:h?setnx|p?setex)$/i;
const REMOVES = /\b(del|unlink|hdel)\b/i;
/** Commands by which a script takes a key that is absent. */
const CREATES = /^(?:set|setex|psetex|hset|hmset|hsetnx|hincrby)$/i;
/** Commands that change when a key ends, and nothing else. */
const ENDS = /^(?:p?expire(?:at)?|persist|getex)$/i;
const PROLONGS = /\bp?expire\b/i;
/** The same commands in the text of a script. */
const MAY_CREATE = /\b(?:set(?:nx|ex)?|psetex|hset(?:nx)?|hmset|hincrby)\b/i;

export class KeyBook {
  /** Those that are locks, by what its node was told; null: it was not. */
  private readonly named: readonly ((key: string) => boolean)[] | null;
  private readonly holdings: WeakMap<Entry, Holding> = new WeakMap();
  /** By which message each client took each key of a database last. */
  private readonly takings: Map<string, string> = new Map();
  /** The keys that are held, by their places, as they were last written. */
  private readonly held: Map<string, { readonly place: KeyPlace; readonly entry: Entry }> =
    new Map();
  /** For each client and key, the last holding because of which it did not get the key. */
  private readonly rivals: Map<string, Holding> = new Map();
  private server: string | null = null;
  private actor: Actor | null = null;
  private command: RedisCommand = [];
  private script: Script | null = null;
  /** The keys of which something was told in the present command. */
  private readonly told: Set<string> = new Set();

  constructor(named: readonly ((key: string) => boolean)[] | null) {
    this.named = named;
  }

  /** A command of a client begins; null where nobody observes. */
  begin(actor: Actor | null): void {
    this.actor = actor;
    if (actor !== null) this.server = actor.server;
  }

  /**
   * Carries out words of a client's, a transaction's or a script's. What they might have done to a
   * key, and did not, is told too.
   */
  carryOut<T>(command: RedisCommand, kept: Keys, run: () => T): T {
    this.command = command;
    if (this.script === null) this.told.clear();
    const result = run();
    if (this.script !== null) return result;
    const [name = '', ...keys] = command;
    if (/^(del|unlink)$/i.test(name)) this.spare(keys, 'removed', kept);
    else if (/^p?expire(at)?$/i.test(name)) this.spare(keys.slice(0, 1), 'prolonged', kept);
    else if (this.isTaking()) this.deny(keys.slice(0, 1), kept);
    return result;
  }

  /** Runs a script. */
  during<T>(script: Script, kept: Keys, run: () => T): T {
    this.script = script;
    const result = run();
    this.script = null;
    if (REMOVES.test(script.text)) this.spare(script.keys, 'removed', kept);
    else if (MAY_CREATE.test(script.text)) this.deny(script.keys, kept);
    else if (PROLONGS.test(script.text)) this.spare(script.keys, 'prolonged', kept);
    return result;
  }

  /** The node wrote a key. */
  note(write: KeyWrite): void {
    const { actor } = this;
    if (actor === null) return;
    const { before, after } = write;
    const holding = before === null ? undefined : this.holdings.get(before);
    if (before === null && after !== null && this.isTaking()) {
      this.take(actor, write, after);
      this.tell(actor, { place: write, entry: after, change: 'taken', isDone: true });
      return;
    }
    if (holding === undefined) return;
    const isOwn = holding.client === actor.client;
    const isEndless = before?.end === null && after?.end === null;
    if (after === null) {
      this.held.delete(placeName(write));
      this.tell(actor, { place: write, entry: before, change: 'removed', isDone: true });
    } else if (isOwn ? isEndless && isRewritten(before, after) : this.isUnclear(before, after)) {
      this.held.delete(placeName(write));
      this.tell(actor, { place: write, entry: after, holding, change: 'untracked', isDone: true });
    } else if (this.isKept(holding, before, after)) {
      this.hold(write, after, holding);
      this.tell(actor, { place: write, entry: after, change: 'prolonged', isDone: true });
    } else {
      this.tell(actor, {
        place: write,
        entry: after,
        holding,
        change: 'overwritten',
        isDone: true,
      });
      this.take(actor, write, after);
    }
  }

  /** Whether another added to a hash, or by a script may have seen the end in the value itself. */
  private isUnclear(before: Entry | null, after: Entry): boolean {
    return addsTo(before, after) || (before?.end === null && this.script !== null);
  }

  /**
   * A holder that writes its own value again keeps the key, as one does that changes its hash, and
   * the section that took the key, whatever it writes.
   */
  private isKept({ client, message }: Holding, before: Entry | null, after: Entry): boolean {
    const { actor } = this;
    if (ENDS.test(this.command[0] ?? '')) return true;
    if (client !== actor?.client) return false;
    if (sectionOf(message) === sectionOf(actor.message)) return true;
    return before?.value === after.value || fieldsOf(after.value) !== null;
  }

  /** Whether it was told to be a lock; null where no keys were. */
  private isNamed(key: string): boolean | null {
    return this.named?.some((isOne) => isOne(key)) ?? null;
  }

  private take(actor: Actor, place: KeyPlace, entry: Entry): void {
    this.hold(place, entry, { client: actor.client, message: actor.message });
    this.takings.set(takingOf(actor, place), actor.message);
  }

  private isTaking(): boolean {
    const [name = '', , , ...options] = this.command;
    if (this.script !== null && CREATES.test(name)) return true;
    const isSet = /^set$/i.test(name);
    const takes = /^(?:nx|px|ex|pxat|exat)$/i;
    return TAKES.test(name) || (isSet && options.some((word) => takes.test(word)));
  }

  private hold(place: KeyPlace, entry: Entry, holding: Holding): void {
    this.holdings.set(entry, holding);
    this.held.set(placeName(place), { place, entry });
  }

  /** After a restart or an eviction: keys that were held and that the node has no more are lost. */
  reconcile(boot: Boot, find: (place: KeyPlace) => Entry | null): void {
    const { server } = this;
    for (const [name, { place, entry }] of this.held) {
      if (find(place) === entry) continue;
      this.held.delete(name);
      const { end } = entry;
      if (server === null || (end !== null && boot.wallUs > end * 1000)) continue;
      const actor: Actor = {
        atUs: boot.atUs,
        server,
        client: '',
        message: '',
        observe: (event) => boot.observe(event),
        trueTimeOf: (clock, us) => boot.trueTimeOf(clock, us),
      };
      this.tell(actor, { place, entry, change: 'lost', isDone: true });
    }
  }

  /** Keys that a client wanted to give back or keep, and that stayed as they were. */
  private spare(
    keys: readonly string[],
    change: 'removed' | 'prolonged',
    { database, get }: Keys,
  ): void {
    const { actor } = this;
    if (actor === null) return;
    for (const key of keys) {
      const place = { database, key };
      const isKnown = this.takings.has(takingOf(actor, place));
      if (!isKnown || this.told.has(key)) continue;
      this.tell(actor, { place, entry: get(key), change, isDone: false });
    }
  }

  /** Reports keys that a client may have wanted and that were taken, once for each holding. */
  private deny(keys: readonly string[], { database, get }: Keys): void {
    const { actor } = this;
    if (actor === null) return;
    for (const key of keys) {
      const place = { database, key };
      const entry = get(key);
      const holding = entry === null ? undefined : this.holdings.get(entry);
      const wanted = takingOf(actor, place);
      if (holding === undefined || this.told.has(key)) continue;
      if (holding.message === actor.message || this.rivals.get(wanted) === holding) continue;
      this.rivals.set(wanted, holding);
      this.tell(actor, { place, entry, change: 'taken', isDone: false });
    }
  }

  private tell(
    actor: Actor,
    told: {
      readonly place: KeyPlace;
      readonly entry: Entry | null;
      readonly holding?: Holding;
      readonly change: KeyChange['change'];
      readonly isDone: boolean;
    },
  ): void {
    const { place, entry, change, isDone } = told;
    const { key } = place;
    if (this.isNamed(key) === false) return;
    const { client, message, atUs } = actor;
    const holding = told.holding ?? (entry === null ? undefined : this.holdings.get(entry));
    const end = entry?.end ?? null;
    this.told.add(key);
    actor.observe({
      kind: 'key-change',
      atUs,
      process: actor.server,
      key: textOf(key),
      client,
      message,
      change,
      isNamed: this.named !== null,
      isDone,
      holder: holding?.client ?? '',
      taking: holding?.message ?? '',
      meant: this.takings.get(takingOf(actor, place)) ?? '',
      untilUs: end === null ? null : actor.trueTimeOf('wall', (end + 1) * 1000),
    });
  }
}
