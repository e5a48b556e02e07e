/**
 * The names that the operations of a section have in a run, as far as the plan decides them:
 * `alice/2/write` is the write of step 1 in alice's section 2, `alice/2/write-3` that of step 3. A
 * transfer has two of each: `alice/2/read-from`, `alice/2/write-to`.
 */
import type { ClientPlan, SectionPlan, Work } from '../plan/plan.ts';
import type { Verb } from './scenario.ts';

/** The points of a section that a verb stands for; none where the section has no such operation. */
export function operationNames(
  client: ClientPlan,
  section: SectionPlan,
  { verb, store }: { readonly verb: Verb; readonly store: string },
): readonly string[] {
  const prefix = `${client.name}/${section.id}/`;
  switch (verb) {
    case 'acquire':
      return [`${prefix}acquire`];
    case 'release':
      return client.releases ? [`${prefix}release`] : [];
    case 'open':
      return store === 'fenced-open' ? [`${prefix}open`] : [];
    case 'checked': {
      const hasWrite = section.work.some((work) => stepNames(work, 'write').length > 0);
      return client.checksLease && hasWrite ? [`${prefix}checked`] : [];
    }
    default:
      return section.work.flatMap((work) =>
        stepNames(work, verb).map((step) => prefix + (work.id === 1 ? step : `${step}-${work.id}`)),
      );
  }
}

const NAMES: Readonly<Record<'read' | 'write', Partial<Record<Work['kind'], readonly string[]>>>> =
  {
    read: { read: ['read'], increment: ['read'], transfer: ['read-from', 'read-to'] },
    write: { write: ['write'], increment: ['write'], transfer: ['write-from', 'write-to'] },
  };

/** What a step calls its operations of this verb. */
function stepNames({ kind }: Work, verb: 'read' | 'write' | 'renew'): readonly string[] {
  if (verb === 'renew') return kind === 'renew' ? ['renew'] : [];
  return NAMES[verb][kind] ?? [];
}
