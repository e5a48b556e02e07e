/**
 * The world of one run: processes, clocks, the network, faults and the observer, built from a plan.
 * A system adds servers and clients; `run` executes the plan and returns the trace.
 *
 * Reading order. Processes: `process.ts`, `client.ts`, `program.ts`, `client-view.ts` and
 * `server.ts`. Communication: `port.ts`, `calls.ts` and `network.ts`. Faults: `injector.ts`,
 * `agenda.ts` and `points.ts`. Decisions: `choices.ts`, `pinning.ts` (records them) and
 * `interventions.ts` (changes them). Observation: `recorder.ts`, and `failure.ts` for errors that a
 * system throws.
 */
import type { Ending, ProcessInfo, SectionRun, Trace } from '../history/trace.ts';
import { assert } from '../kernel/assert.ts';
import type { Json } from '../kernel/json.ts';
import type { Due } from '../kernel/queue.ts';
import { Scheduler } from '../kernel/scheduler.ts';
import { type Plan, planWithout } from '../plan/plan.ts';
import { Agenda } from './agenda.ts';
import type { ServerHost } from './calls.ts';
import { Choices, type DrawLog } from './choices.ts';
import { type Client, ClientHost, type ClientParts, type ProgramFactory } from './client.ts';
import { SystemFailure } from './failure.ts';
import { Injector } from './injector.ts';
import { type Intervention, Interventions } from './interventions.ts';
import { Jobs } from './jobs.ts';
import { Network } from './network.ts';
import { Points } from './points.ts';
import { Process, type ProcessHost } from './process.ts';
import { Recorder } from './recorder.ts';
import { HostedServer, type Replaceable, type Server } from './server.ts';

/** Called before each event, with the previous event and the number of events traced so far. */
export type RunWatcher = (due: Due, previous: Due | null, traced: number) => void;

export interface ClientSetting {
  readonly pool: number;
  readonly factory: ProgramFactory;
}

/** The parts of a client host that runs asynchronous code instead of a generator. */
export interface HostedParts extends ClientParts {
  readonly jobs: Jobs;
}

/** The world of one run, to which a lock adds its servers. */
export class World {
  private readonly plan: Plan;
  private readonly epochUs: number;
  private readonly scheduler: Scheduler = new Scheduler();
  private readonly jobs: Jobs = new Jobs(this.scheduler);
  private readonly recorder: Recorder = new Recorder();
  private readonly choices: Choices;
  private readonly network: Network;
  private readonly injector: Injector;
  private readonly points: Points;
  private readonly processes: Map<string, Process> = new Map();
  private readonly clients: Map<string, Client> = new Map();
  private readonly servers: Map<string, Replaceable> = new Map();
  private probe: Client | null = null;
  private isHealed = false;
  /** Returns true if the world has healed and the main program of every client has ended. */
  private readonly isOver = (): boolean => {
    if (!this.isHealed) return false;
    for (const { isBusy } of this.clients.values()) if (isBusy) return false;
    return true;
  };

  /** `epochUs` is the time that wall clocks show at the start of the run. @internal */
  constructor(
    given: Plan,
    log: DrawLog | null,
    {
      epochUs = given.epochUs ?? 0,
      interventions: changes = [],
    }: { readonly epochUs?: number; readonly interventions?: readonly Intervention[] } = {},
  ) {
    const { scheduler, recorder, processes, clients, servers } = this;
    const interventions = new Interventions(changes, given.limits.endUs);
    const plan = planWithout(given, interventions.removed);
    this.plan = plan;
    this.epochUs = epochUs;
    this.choices = new Choices(plan, log, interventions);
    const agenda = new Agenda(scheduler, this.choices);
    this.network = new Network(
      { agenda, scheduler, recorder, choices: this.choices },
      { isDatagram: plan.network.link === 'datagram', latencyUs: plan.network.latencyUs },
    );
    this.injector = new Injector(plan.faults, {
      agenda,
      recorder,
      processes,
      clients,
      servers,
      network: this.network,
      healAtUs: plan.limits.healAtUs,
    });
    this.points = new Points(plan.faults, (index) => this.injector.fire(index));
  }

  /**
   * Adds a server as a separate process, and returns the host that its clients call. Process names
   * are unique in a world.
   */
  addServer<Q extends Json, R extends Json>(
    info: { readonly name: string; readonly role: 'lock' | 'store' },
    server: Server<Q, R>,
  ): ServerHost<Q, R> {
    const { scheduler, recorder, network, choices } = this;
    const parts = { scheduler, recorder, network, choices };
    const host = new HostedServer(this.addProcess(info), server, parts);
    const failsOver = this.plan.faults.some(
      (fault) => fault.kind === 'failover' && fault.process === info.name,
    );
    if (failsOver) host.keepSnapshots();
    this.servers.set(info.name, host);
    return host;
  }

  /** Returns the host of the server with that name, or undefined if there is none. @internal */
  serverNamed(name: string): Replaceable | undefined {
    return this.servers.get(name);
  }

  /** All servers by name, in the order in which they were added. @internal */
  get allServers(): readonly (readonly [name: string, server: Replaceable])[] {
    return [...this.servers];
  }

  /** @internal */
  addClient(info: ProcessInfo, setting: ClientSetting): void {
    this.addHosted(info, (process, parts) => new ClientHost(process, setting, parts));
  }

  /** Adds a client with the host that `make` returns. @internal */
  addHosted(
    info: ProcessInfo,
    make: (process: Process, parts: HostedParts) => Client & ProcessHost,
  ): void {
    const { scheduler, recorder, network, choices, points, jobs, isOver } = this;
    const parts = { scheduler, recorder, network, choices, points, jobs, isOver };
    const host = make(this.addProcess(info), parts);
    if (info.role === 'probe') this.probe = host;
    this.clients.set(info.name, host);
  }

  private addProcess(info: ProcessInfo): Process {
    const process = new Process(info, this.epochUs);
    this.processes.set(info.name, process);
    return process;
  }

  /** Executes the run. No client may have jobs. @internal */
  run(watcher: RunWatcher | null): Trace {
    const step = this.runInTurns(watcher).next();
    assert(step.done === true, 'a client has jobs, and nothing runs them');
    return step.value;
  }

  /**
   * Executes a run whose clients may have jobs. At each yield, the caller must run all pending jobs
   * before it resumes the generator.
   * @internal
   */
  *runInTurns(watcher: RunWatcher | null): Generator<void, Trace, void> {
    const ending = yield* this.happen(watcher);
    const unmatched = [...this.injector.unmatched(), ...this.choices.unmatched()];
    const processes: ProcessInfo[] = [];
    for (const { info } of this.processes.values()) processes.push(info);
    const { sections } = this;
    return { processes, events: this.recorder.events, ending, unmatched, sections };
  }

  /** The sections that began, grouped by client. @internal */
  get sections(): readonly SectionRun[] {
    const runs: SectionRun[] = [];
    for (const client of this.clients.values()) runs.push(...client.sections);
    return runs;
  }

  /**
   * True if every program has ended. Then only timers remain that were never cleared, such as a
   * driver's interval.
   */
  private get isAllDone(): boolean {
    if (!this.isHealed) return false;
    for (const client of this.clients.values()) if (client.isBusy) return false;
    return true;
  }

  private *happen(watcher: RunWatcher | null): Generator<void, Ending, void> {
    const { events } = this.recorder;
    const report =
      watcher === null
        ? null
        : (due: Due, previous: Due | null): void => watcher(due, previous, events.length);
    try {
      this.injector.begin(() => {
        this.isHealed = true;
        this.probe?.start();
      });
      for (const client of this.clients.values()) {
        if (client === this.probe) continue;
        client.start();
        yield* this.jobs.run();
      }
      for (;;) {
        const stop = this.scheduler.run(this.plan.limits, report);
        if (stop === 'complete') return { kind: 'complete' };
        if (stop !== 'halted') {
          return this.isAllDone ? { kind: 'complete' } : { kind: 'cut', limit: stop };
        }
        yield* this.jobs.run();
      }
    } catch (error) {
      if (!(error instanceof SystemFailure)) throw error;
      this.clients.get(error.process)?.noteFailure(error);
      return error.ending;
    }
  }
}
