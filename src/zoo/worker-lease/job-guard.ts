/**
 * Keeps a repeated delivery from running its job again. `marked`, the published method, looks up
 * the job before it runs and marks the job afterwards. A job that outlasts its lease may still run
 * twice. `step` and `step-fence` claim a key before the job; if the worker crashes during the job,
 * the job is never finished. The key (machine, step) is for a resource of a single machine. The key
 * (machine, step, fence) is for a shared resource that understands fence tokens; a token below the
 * highest is refused. A server keeps the keys permanently.
 */
import {
  type Answer,
  type Program,
  part,
  questionOf,
  request,
  type Section,
  type Server,
  type ServerHost,
  under,
  type Work,
  type World,
} from '../../servers.ts';

type JobStep = Extract<Work, { readonly kind: 'job' }>;

export type Idempotency = 'none' | 'marked' | 'step' | 'step-fence';

export class JobGuard {
  private readonly keys: ServerHost<KeyRequest, KeyReply>;
  private readonly idempotency: Exclude<Idempotency, 'none'>;

  /** Adds a key server, called `name`, to the world. */
  constructor(world: World, name: string, idempotency: Exclude<Idempotency, 'none'>) {
    this.keys = world.addServer({ name, role: 'lock' }, new JobKeys());
    this.idempotency = idempotency;
  }

  /**
   * Returns whether the job may run. Without an answer, returns false: the job may have run
   * already.
   */
  *claim(at: Section, job: JobStep, fence: number): Program<boolean> {
    const kind = this.idempotency === 'marked' ? 'look' : 'claim';
    const isNew = yield* this.ask(at, { kind, job, fence });
    if (isNew === null) at.self.log('idempotency', `no answer whether step ${job.tick} has run`);
    return isNew === true;
  }

  *finish(at: Section, job: JobStep, fence: number): Program<void> {
    if (this.idempotency !== 'marked') return;
    const isNew = yield* this.ask(at, { kind: 'mark', job, fence });
    if (isNew === null) at.self.log('idempotency', `no answer to the mark of step ${job.tick}`);
  }

  private *ask(
    at: Section,
    question: { kind: KeyRequest['kind']; job: JobStep; fence: number },
  ): Program<boolean | null> {
    const { kind, job } = question;
    const { lock } = at.section;
    const fence = this.idempotency === 'step-fence' ? question.fence : null;
    const call = yield* request(
      at.self,
      questionOf(at, under(at.name, part(kind, job.id)), {
        verb: 'claim',
        token: question.fence,
        target: this.keys,
        request: { kind, lock, tick: job.tick, fence },
        describe: describeKeyReply,
      }),
    );
    return call.reply?.isNew ?? null;
  }
}

/** A step of a machine; `fence` is null if the key does not include it. */
type JobKey = { readonly lock: string; readonly tick: number; readonly fence: number | null };

/** `look` only reads; `mark` and `claim` take the key, and `claim` may be refused. */
type KeyRequest = JobKey & { readonly kind: 'look' | 'mark' | 'claim' };

type KeyReply = { readonly isNew: boolean };

function describeKeyReply({ isNew }: KeyReply): Answer {
  return isNew ? { kind: 'accepted' } : { kind: 'denied', holder: 'an earlier delivery' };
}

export class JobKeys implements Server<KeyRequest, KeyReply> {
  private done: Set<string> = new Set();
  private highest: Map<string, number> = new Map();

  handle(request: KeyRequest): KeyReply {
    return { isNew: request.kind === 'look' ? !this.has(request) : this.claim(request) };
  }

  has(key: JobKey): boolean {
    return this.done.has(textOf(key));
  }

  /** Takes the key. Returns false if the key was taken, or if the machine had a higher token. */
  claim(key: JobKey): boolean {
    const { lock, fence } = key;
    if (this.has(key)) return false;
    if (fence !== null) {
      if (fence < (this.highest.get(lock) ?? 0)) return false;
      this.highest.set(lock, fence);
    }
    this.done.add(textOf(key));
    return true;
  }

  snapshot(): () => void {
    const done = new Set(this.done);
    const highest = new Map(this.highest);
    return () => {
      this.done = new Set(done);
      this.highest = new Map(highest);
    };
  }
}

function textOf({ lock, tick, fence }: JobKey): string {
  return `${lock}/${tick}/${fence ?? ''}`;
}
