/**
 * Keeps a delivery that comes again from running its job again. `marked`, as published: looked up
 * before the job and marked after it, so a job that outlives its lease may still run twice. `step`
 * and `step-fence` claim their key before the job; a worker that crashes in it leaves it undone.
 */
import { under } from '../../core/kernel/name.ts';
import { type Program, request } from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import type { JobStep } from '../protocol.ts';
import { part, type Section } from '../section-calls.ts';
import { describeKeyReply, type KeyReply, type KeyRequest } from './job-key-server.ts';

export type Idempotency = 'none' | 'marked' | 'step' | 'step-fence';

export class JobGuard {
  private readonly keys: ServerHost<KeyRequest, KeyReply>;
  private readonly idempotency: Exclude<Idempotency, 'none'>;

  constructor(keys: ServerHost<KeyRequest, KeyReply>, idempotency: Exclude<Idempotency, 'none'>) {
    this.keys = keys;
    this.idempotency = idempotency;
  }

  /** Whether the job may run. Where no answer comes nobody knows, so it may not. */
  *claim(at: Section, job: JobStep, fence: number): Program<boolean> {
    const kind = this.idempotency === 'marked' ? 'look' : 'claim';
    const isNew = yield* this.ask(at, { kind, job, fence });
    if (isNew === null) at.self.log('idempotency', `no answer whether step ${job.tick} has run`);
    return isNew === true;
  }

  /** The job has run. */
  *finish(at: Section, job: JobStep, fence: number): Program<void> {
    if (this.idempotency !== 'marked') return;
    const isNew = yield* this.ask(at, { kind: 'mark', job, fence });
    if (isNew === null) at.self.log('idempotency', `no answer to the mark of step ${job.tick}`);
  }

  private *ask(
    at: Section,
    what: { kind: KeyRequest['kind']; job: JobStep; fence: number },
  ): Program<boolean | null> {
    const { kind, job } = what;
    const { lock } = at.section;
    const fence = this.idempotency === 'step-fence' ? what.fence : null;
    const call = yield* request(at.self, {
      operation: under(at.name, part(kind, job.id)),
      call: { verb: 'claim', lock, token: what.fence },
      target: this.keys,
      request: { kind, lock, tick: job.tick, fence },
      timeoutUs: at.plan.lockTimeoutUs,
      tries: at.plan.tries,
      describe: describeKeyReply,
    });
    return call.reply?.isNew ?? null;
  }
}
