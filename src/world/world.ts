/**
 * The world of one run: processes, clocks, network, faults and the observer, put together from a
 * plan. A system fills it with servers and clients; `run` lets it happen and returns the trace.
 */

import type { Ending, ProcessInfo, Trace } from '../history/trace.ts';
import type { Json } from '../kernel/json.ts';
import { Scheduler, type Watcher } from '../kernel/scheduler.ts';
import type { Plan } from '../plan/plan.ts';
import { Agenda } from './agenda.ts';
import { ClientHost, type ProgramFactory } from './client.ts';
import { Decider, type DrawLog } from './decider.ts';
import { SystemFailure } from './failure.ts';
import { Injector } from './injector.ts';
import { Network } from './network.ts';
import { Points } from './points.ts';
import { Process } from './process.ts';
import { Recorder } from './recorder.ts';
import { type Replaceable, type Server, ServerHost } from './server.ts';

export interface ClientSetting {
  readonly pool: number;
  readonly factory: ProgramFactory;
}

export class World {
  private readonly plan: Plan;
  private readonly scheduler: Scheduler = new Scheduler();
  private readonly recorder: Recorder = new Recorder();
  private readonly decider: Decider;
  private readonly network: Network;
  private readonly injector: Injector;
  private readonly points: Points;
  private readonly processes: Map<string, Process> = new Map();
  private readonly clients: Map<string, ClientHost> = new Map();
  private readonly servers: Map<string, Replaceable> = new Map();
  private probe: ClientHost | null = null;

  constructor(plan: Plan, log: DrawLog | null) {
    const { scheduler, recorder, processes, clients, servers } = this;
    this.plan = plan;
    this.decider = new Decider(plan, log);
    this.network = new Network(
      { scheduler, recorder, decider: this.decider },
      { isDatagram: plan.network.link === 'datagram', latencyUs: plan.network.latencyUs },
    );
    this.injector = new Injector(plan.faults, {
      agenda: new Agenda(scheduler, this.decider),
      ...{ recorder, processes, clients, servers },
      network: this.network,
      healAtUs: plan.limits.healAtUs,
    });
    this.points = new Points(plan.faults, (index) => this.injector.strike(index));
  }

  addServer<Q extends Json, R extends Json>(
    info: ProcessInfo,
    server: Server<Q, R>,
  ): ServerHost<Q, R> {
    const { scheduler, recorder, network, decider } = this;
    const parts = { scheduler, recorder, network, decider };
    const host = new ServerHost(this.addProcess(info), server, parts);
    const failsOver = this.plan.faults.some(
      (fault) => fault.kind === 'failover' && fault.process === info.name,
    );
    if (failsOver) host.keepSnapshots();
    this.servers.set(info.name, host);
    return host;
  }

  addClient(info: ProcessInfo, setting: ClientSetting): void {
    const { scheduler, recorder, network, decider, points } = this;
    const parts = { scheduler, recorder, network, decider, points };
    const host = new ClientHost(this.addProcess(info), setting, parts);
    if (info.role === 'probe') this.probe = host;
    this.clients.set(info.name, host);
  }

  private addProcess(info: ProcessInfo): Process {
    const process = new Process(info);
    this.processes.set(info.name, process);
    return process;
  }

  run(watcher: Watcher | null): Trace {
    const ending = this.happen(watcher);
    const unmatched = [...this.injector.unmatched(), ...this.decider.unmatched()];
    const processes = [...this.processes.values()].map((process) => process.info);
    return { processes, events: this.recorder.events, ending, unmatched };
  }

  private happen(watcher: Watcher | null): Ending {
    try {
      this.injector.begin(() => this.probe?.start());
      for (const client of this.clients.values()) if (client !== this.probe) client.start();
      const end = this.scheduler.run(this.plan.limits, watcher);
      return end === 'complete' ? { kind: 'complete' } : { kind: 'cut', limit: end };
    } catch (error) {
      if (!(error instanceof SystemFailure)) throw error;
      return { kind: 'failed', process: error.process, error: error.message };
    }
  }
}
