/**
 * A section of a plan as asynchronous code sees it, and the guard under which it works: by itself,
 * or by the steps that the plan gives it.
 */
import type { Json } from '../../core/kernel/json.ts';
import type { SectionPlan } from '../../core/plan/plan.ts';
import type { CallOptions, Outcome, Port } from '../../core/world/port.ts';
import { type Program, request } from '../../core/world/program.ts';
import {
  AccessRefused,
  type AsyncClientSetting,
  type AsyncSection,
  type Guard,
  type GuardSetting,
  NoAnswer,
} from '../../systems/async-lock.ts';
import type { LockDriver } from '../../systems/protocol.ts';
import { awaitAnswers } from '../../systems/scope.ts';
import { doAll } from '../../systems/section.ts';
import { type Section, storeCall } from '../../systems/section-calls.ts';
import type { StoreReply, StoreRequest } from '../../systems/store/request.ts';
import type { AsyncHost } from './async-host.ts';
import type { SectionCalls } from './context.ts';
import type { Life } from './life.ts';
import { perform } from './perform.ts';
import { PlainSelf } from './plain-self.ts';
import type { Tenure } from './tenure.ts';

/** Where it runs. */
interface Place {
  readonly host: AsyncHost;
  readonly life: Life;
  readonly calls: SectionCalls;
  readonly client: Pick<AsyncClientSetting, 'plan' | 'stores' | 'manners'>;
}

export class PlannedSection implements AsyncSection {
  private readonly at: Place;
  private readonly section: SectionPlan;
  private tenure: Tenure | null = null;

  constructor(section: SectionPlan, at: Place) {
    this.section = section;
    this.at = at;
  }

  get id(): number {
    return this.section.id;
  }

  get lock(): string {
    return this.section.lock;
  }

  get ttlMs(): number {
    return this.at.client.plan.ttlUs / 1000;
  }

  /** Whether its program said that it had the lock. */
  get hasEntered(): boolean {
    return this.tenure !== null;
  }

  call<Q extends Json, R extends Json>(
    port: Port<Q, R>,
    ask: { readonly label: string; readonly request: Q },
    options?: CallOptions,
  ): Promise<Outcome<R>> {
    return this.at.calls.call(port, ask, options);
  }

  mark(point: string): Promise<void> {
    return this.at.calls.mark(point);
  }

  guard({ token = 0, ...term }: GuardSetting = {}): Guard {
    requireNumber('token', token);
    requireNumber('untilMs', term.untilMs ?? 0);
    this.tenure = this.at.calls.enter({ lock: this.lock, token, ...term });
    return new PlannedGuard(this.section, { ...this.at, tenure: this.tenure });
  }

  /** Its program has ended. */
  end(): void {
    this.tenure?.leave();
  }
}

/** Refuses what a type would: a text from a reply, or what is no number any more. */
function requireNumber(field: string, value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value)) return;
  const given = typeof value === 'number' ? value : typeof value;
  throw new TypeError(`guard: ${field} is to be a number, not ${given}`);
}

/** What a guard is made of. */
interface Guarded extends Place {
  readonly tenure: Tenure;
}

class PlannedGuard implements Guard {
  private readonly tenure: Tenure;
  private readonly place: Place;
  private readonly at: Section;

  constructor(section: SectionPlan, { tenure, ...place }: Guarded) {
    const { host, calls, client } = place;
    const { stores, manners, plan } = client;
    const driver = driverWith(tenure);
    this.tenure = tenure;
    this.place = place;
    const self = new PlainSelf({ host, calls, ordinal: tenure.ordinal });
    this.at = {
      ...{ self, plan, section, name: calls.name, driver },
      servers: { driverOf: () => driver, stores, manners },
      ...{ unanswered: [], opened: new Set(), end: tenure.end },
      versions: manners.hasVersions ? new Map() : null,
    };
  }

  work(): Promise<void> {
    const { at } = this;
    return this.run(function* () {
      yield* doAll(at);
      yield* awaitAnswers(at);
    });
  }

  async read(key: string): Promise<number> {
    const reply = await this.ask({ kind: 'read', key, value: null, adds: null });
    if (reply.kind !== 'value') throw new AccessRefused(`the read of ${key} was refused`);
    return reply.value;
  }

  async write(key: string, value: number): Promise<boolean> {
    requireNumber('the value', value);
    const reply = await this.ask({ kind: 'write', key, value, adds: null });
    return reply.kind === 'accepted';
  }

  private async ask(ask: Parameters<typeof storeCall>[2]): Promise<StoreReply> {
    const { at } = this;
    const [store = 'store'] = at.servers.stores.keys();
    const place = { id: 1, label: ask.kind, store, key: ask.key };
    const reply = await this.run(function* (): Program<StoreReply | null> {
      const setting = storeCall(at, place, ask);
      return (yield* request<StoreRequest, StoreReply>(at.self, setting)).reply;
    });
    if (reply === null) throw new NoAnswer(`no answer to the ${ask.kind} of ${ask.key}`);
    return reply;
  }

  private run<T>(program: () => Program<T>): Promise<T> {
    const { host, life } = this.place;
    return perform(host, life, program());
  }

  leave(): void {
    this.tenure.leave();
  }
}

/** What the steps of a workload want of the lock: its token. */
function driverWith({ token }: Tenure): LockDriver {
  const isNone = function* (): Program<false> {
    return false;
  };
  return { acquire: isNone, *release() {}, token: () => token };
}
