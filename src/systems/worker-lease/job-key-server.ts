/** Where idempotency keys are kept, as a server of the world; it forgets none. */
import type { Answer } from '../../core/history/trace.ts';
import type { Server } from '../../core/world/server.ts';
import { JobKeys } from './job-keys.ts';

/** `look` only asks; `mark` and `claim` take the key, and `claim` may be refused. */
export type KeyRequest = {
  readonly kind: 'look' | 'mark' | 'claim';
  readonly lock: string;
  readonly tick: number;
  readonly fence: number | null;
};

export type KeyReply = { readonly isNew: boolean };

/** What the trace says of a reply. */
export function describeKeyReply({ isNew }: KeyReply): Answer {
  return isNew ? { kind: 'accepted' } : { kind: 'denied', holder: 'an earlier delivery' };
}

export class JobKeyServer implements Server<KeyRequest, KeyReply> {
  private readonly keys: JobKeys = new JobKeys();

  handle(request: KeyRequest): KeyReply {
    if (request.kind === 'look') return { isNew: !this.keys.has(request) };
    return { isNew: this.keys.claim(request) };
  }

  restart(): void {}

  snapshot(): () => void {
    return this.keys.snapshot();
  }

  evict(): boolean {
    return false;
  }
}
