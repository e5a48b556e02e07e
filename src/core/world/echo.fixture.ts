/**
 * A small world for tests: clients that run the test's programs, and one server, `echo`, that adds
 * the numbers sent to it. Its total is durable; its request count is volatile. Latencies are 1 ms.
 */
import type { TraceEvent } from '../history/events.ts';
import type { Trace } from '../history/trace.ts';
import { nameOf, under } from '../kernel/name.ts';
import type { Fault } from '../plan/fault.ts';
import type { ChancePlan, Plan } from '../plan/plan.ts';
import type { CallSetting, PendingCall, ServerHost } from './calls.ts';
import type { Intervention } from './interventions.ts';
import { answerOf, type Program, request, type Self, send, sleep } from './program.ts';
import type { Boot, Server, Turn } from './server.ts';
import { World } from './world.ts';

export const MS = 1000;

type Ask = { add: number };
type Total = { total: number; count: number };
type Host = ServerHost<Ask, Total>;
type EchoCall = PendingCall<Ask, Total>;

class Echo implements Server<Ask, Total> {
  private total = 0;
  private count = 0;

  handle(ask: Ask, turn: Turn): Total {
    if (ask.add < 0) throw new Error(`it cannot add ${ask.add}`);
    this.total += ask.add;
    this.count += 1;
    turn.observe(stateOf(turn.atUs, this.total, this.count, turn));
    ask.add = 1_000_000; // has no effect: it is a copy
    return { total: this.total, count: this.count };
  }

  restart(boot: Boot): void {
    this.count = 0;
    const values = { x: this.total };
    const { atUs } = boot;
    boot.observe({ kind: 'recovered', atUs, process: 'echo', resource: 'r', highest: 0, values });
  }

  snapshot(): () => void {
    const { total } = this;
    return () => {
      this.total = total;
    };
  }

  evict(key: string): boolean {
    const hadKey = key === 'x' && this.total !== 0;
    if (hadKey) this.total = 0;
    return hadKey;
  }
}

function stateOf(atUs: number, total: number, count: number, turn: Turn): TraceEvent {
  return {
    kind: 'write',
    atUs,
    process: 'echo',
    resource: 'r',
    key: 'x',
    value: total,
    token: 0,
    under: turn.under,
    client: turn.client,
    operation: turn.operation,
    issue: turn.issue,
    isAccepted: true,
    highest: count,
    adds: null,
    message: turn.message,
  };
}

/** One call in a test; its operation is `<client>/<name>`. */
interface EchoSetting {
  readonly name: string;
  readonly add?: number;
  readonly timeoutMs?: number;
  readonly tries?: number;
}

/** The actions of a test's program. */
export interface Actor {
  readonly self: Self;
  /** Number of sections that began before the restart. */
  readonly from: number;
  /** Sends a call and waits for its end. */
  ask(setting: EchoSetting): Program<EchoCall>;
  /** Sends a call and continues. */
  notify(setting: EchoSetting): Program<EchoCall>;
  settle(call: EchoCall): Program<EchoCall>;
  /** Waits by the client's clock; the timer is `<client>/<name>`. */
  wait(name: string, ms: number): Program<void>;
}

export type Script = (actor: Actor) => Program<void>;

/** The parts of a plan that a test of the world can set. */
export interface Setup {
  readonly faults?: readonly Fault[];
  readonly chance?: Partial<ChancePlan>;
  readonly link?: 'connection' | 'datagram';
  readonly pool?: number;
  readonly decisions?: Readonly<Record<string, number>>;
  readonly order?: readonly string[];
  readonly healAtMs?: number;
  readonly limits?: Partial<Plan['limits']>;
  readonly interventions?: readonly Intervention[];
}

const NO_CHANCE: ChancePlan = {
  seed: 1,
  latency: null,
  latencyStepUs: 1,
  delay: null,
  drop: null,
  duplicate: null,
  lateTimer: null,
  jitter: null,
};

function planOf(setup: Setup): Plan {
  return {
    fencepost: 1,
    scenario: '',
    system: { name: 'echo', lock: '', store: '', options: {} },
    clients: [],
    network: { link: setup.link ?? 'connection', latencyUs: MS },
    faults: setup.faults ?? [],
    chance: setup.chance === undefined ? null : { ...NO_CHANCE, ...setup.chance },
    decisions: setup.decisions ?? {},
    order: setup.order ?? [],
    limits: {
      healAtUs: (setup.healAtMs ?? 1000) * MS,
      probe: false,
      slackUs: 0,
      endUs: 100_000 * MS,
      maxEvents: 10_000,
      ...setup.limits,
    },
    bounds: {
      latency: { minUs: 0, maxUs: 0 },
      think: { minUs: 0, maxUs: 0 },
      durations: {},
      skewUs: null,
      driftPpm: null,
    },
  };
}

/** Runs scripts, keyed by client name, against one `echo`. The client `probe` is the probe. */
export function happen(scripts: Readonly<Record<string, Script>>, setup: Setup = {}): Trace {
  const world = new World(planOf(setup), null, { interventions: setup.interventions ?? [] });
  const echo = world.addServer({ name: 'echo', role: 'store' }, new Echo());
  for (const [name, script] of Object.entries(scripts)) {
    world.addClient(
      { name, role: name === 'probe' ? 'probe' : 'client' },
      { pool: setup.pool ?? 1, factory: (self, from) => script(actorOf(self, from, echo)) },
    );
  }
  return world.run(null);
}

function actorOf(self: Self, from: number, echo: Host): Actor {
  const settingOf = (setting: EchoSetting): CallSetting<Ask, Total> => ({
    operation: under(nameOf(self.name), setting.name),
    call: {
      verb: 'write',
      store: 'echo',
      resource: 'r',
      key: 'x',
      value: setting.add ?? 1,
      token: 0,
      adds: null,
    },
    target: echo,
    request: { add: setting.add ?? 1 },
    timeoutUs: setting.timeoutMs === undefined ? null : setting.timeoutMs * MS,
    tries: setting.tries ?? 1,
    describe: (reply) => ({ kind: 'value', value: reply.total }),
  });
  return {
    self,
    from,
    ask: (setting) => request(self, settingOf(setting)),
    notify: (setting) => send(self, settingOf(setting)),
    settle: (call) => answerOf(call),
    wait: (name, ms) => sleep(under(nameOf(self.name), name), ms * MS),
  };
}

/**
 * Renders events as lines such as `12 get alice/a/1/request`, with times in ms. `words` selects
 * lines by their second word; by default, all are returned.
 */
export function linesOf(trace: Trace, ...words: readonly string[]): readonly string[] {
  return trace.events.flatMap((event) => {
    const [word, rest] = textOf(event);
    if (words.length > 0 && !words.includes(word)) return [];
    return [`${event.atUs / MS} ${word} ${rest}`.trim()];
  });
}

function textOf(event: TraceEvent): readonly [string, string] {
  switch (event.kind) {
    case 'send':
      return ['send', event.message];
    case 'receive':
      return ['get', event.isCopy ? `${event.message} again` : event.message];
    case 'lose':
      return ['lose', `${event.message} ${event.cause}`];
    case 'invoke':
      return ['call', event.operation];
    case 'return': {
      const value = event.answer?.kind === 'value' ? ` ${event.answer.value}` : '';
      return ['end', `${event.operation} ${event.outcome}${value}`];
    }
    case 'write':
      return ['do', `${event.operation} total ${event.value} count ${event.highest}`];
    case 'recovered':
      return ['recovered', `total ${event.values['x']}`];
    case 'mark':
      return ['mark', event.point];
    case 'fault':
      return ['inject', `${event.fault} ${event.target || event.processes.join(' ')}`];
    case 'resume':
    case 'heal':
    case 'restart':
      return [event.kind, event.processes.join(' ')];
    default:
      return [event.kind, ''];
  }
}
