/**
 * What the program of a process is given beside its globals, without a plan for it: its sections,
 * the calls that it makes in them, and what it tells the observer.
 */
import type { Json } from '../../core/kernel/json.ts';
import { type Name, nameOf, under } from '../../core/kernel/name.ts';
import type { PendingCall } from '../../core/world/calls.ts';
import type { Caller, CallOptions, Outcome, Port } from '../../core/world/port.ts';
import type { AsyncHost } from './async-host.ts';
import type { Life } from './life.ts';
import { Tenure, type TenureSetting } from './tenure.ts';

export class Context implements Caller {
  readonly host: AsyncHost;
  readonly life: Life;
  /** The section at hand, by which calls are named that are made outside of one. */
  private current: SectionCalls;

  constructor(host: AsyncHost, life: Life) {
    this.host = host;
    this.life = life;
    this.current = new SectionCalls(host, life, under(life.root, 'start'));
  }

  /** The name of its process. */
  get name(): string {
    return this.host.name;
  }

  /** How many sections began before: a restarted program goes on behind them. */
  get begun(): number {
    return this.host.begun;
  }

  /** Section `id` begins: what is done in it is called `alice/<id>/…`. */
  section(id: number): SectionCalls {
    if (!this.life.isOver) {
      this.host.begun += 1;
      this.host.belief.begin();
    }
    this.current = new SectionCalls(this.host, this.life, under(nameOf(this.name), String(id)));
    return this.current;
  }

  call<Q extends Json, R extends Json>(
    port: Port<Q, R>,
    ask: { readonly label: string; readonly request: Q },
    options?: CallOptions,
  ): Promise<Outcome<R>> {
    return this.current.call(port, ask, options);
  }

  /** Writes a line into the trace. */
  log(topic: string, text: string): void {
    if (this.life.isOver) return;
    this.life.requireInside();
    this.host.log(topic, text);
  }
}

/** The calls of one section of a program, and the lock that it counts on. */
export class SectionCalls implements Caller {
  readonly name: Name;
  private readonly host: AsyncHost;
  private readonly life: Life;
  /** How often each label was asked for, and the names of all operations: no two are the same. */
  private readonly counts: Map<string, number> = new Map();
  private readonly taken: Set<string> = new Set();
  /** The grants that its calls were answered with last, by lock. */
  private readonly grants: Map<string, number> = new Map();
  private issued = 0;
  private tenure: Tenure | null = null;

  constructor(host: AsyncHost, life: Life, name: Name) {
    this.host = host;
    this.life = life;
    this.name = name;
  }

  call<Q extends Json, R extends Json>(
    port: Port<Q, R>,
    { label, request }: { readonly label: string; readonly request: Q },
    options: CallOptions = {},
  ): Promise<Outcome<R>> {
    const { timeoutMs, tries = 1 } = options;
    const call = port.describeRequest(request);
    const setting = {
      operation: this.nameFor(under(this.name, label)),
      call,
      target: port.host,
      request,
      timeoutUs: timeoutMs === undefined ? null : Math.round(timeoutMs * 1000),
      tries,
      describe: (reply: R) => port.describeReply(reply, request),
    };
    const place = { setting, under: this.tenure?.ordinal ?? 0, issue: this.takeIssue() };
    return new Promise((resolve) => {
      this.host.ask(this.life, place, (settled) => {
        if (settled.granted > 0 && 'lock' in call) this.grants.set(call.lock, settled.granted);
        resolve(outcomeOf(settled));
      });
    });
  }

  /** The place of a call among those of this section, from 1. */
  takeIssue(): number {
    this.issued += 1;
    return this.issued;
  }

  /** The place that the next call will have. */
  get nextIssue(): number {
    return this.issued + 1;
  }

  /** Passes the point `alice/1/<point>`, at which a plan may place a fault. */
  mark(point: string): Promise<void> {
    return this.host.pass(this.life, under(this.name, point));
  }

  /** The name of an operation, or where it is taken the first of `write-2`, … that is not. */
  nameFor(name: Name): Name {
    let free = name;
    const before = this.counts.get(name.text) ?? 1;
    for (let count = before; this.taken.has(free.text); count += 1) {
      this.counts.set(name.text, count + 1);
      const label = name.text.slice(this.name.text.length + 1);
      free = under(this.name, `${label}-${count + 1}`);
    }
    this.taken.add(free.text);
    return free;
  }

  /**
   * The program counts on its lock from now on, or, in the midst of doing so, longer. A process has
   * one tenure at a time.
   */
  enter(setting: TenureSetting): Tenure {
    const given = this.grants.get(setting.lock) ?? null;
    const entered = { ...setting, section: this.name, given, before: this.tenure };
    this.tenure = new Tenure(this.host, this.life, entered);
    return this.tenure;
  }
}

function outcomeOf<Q extends Json, R extends Json>(call: PendingCall<Q, R>): Outcome<R> {
  if (call.state === 'answered' && call.reply !== null) {
    return { kind: 'answered', reply: call.reply };
  }
  return { kind: call.state === 'never' ? 'never' : 'unknown' };
}
