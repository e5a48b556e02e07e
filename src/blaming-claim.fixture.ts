/** A claim `own` that names a fault and a write as the causes of its breach. */
import { builtIn, type Catalogue, extend } from './catalogue.ts';
import type { Trace } from './core/history/trace.ts';
import { defineSystem } from './define-system.ts';

/** Returns the fault on which a breach is blamed and the client whose write shows it, or null. */
type Blame = (faulty: ReadonlySet<string>) => readonly [process: string, client: string] | null;

function catalogueWith(blame: Blame): Catalogue {
  const judge = ({ events }: Trace) => {
    const faults = new Map<string, number>();
    for (const [index, event] of events.entries()) {
      if (event.kind === 'fault') for (const process of event.processes) faults.set(process, index);
    }
    const [process, client] = blame(new Set(faults.keys())) ?? [];
    const fault = faults.get(process ?? '');
    const writes = new Map<string, number>();
    for (const [index, event] of events.entries()) {
      if (event.kind === 'write') writes.set(event.client, index);
    }
    const write = writes.get(client ?? '');
    if (fault === undefined || write === undefined || writes.size < 2) return { exercised: 1 };
    const evidence = [
      { role: 'fault', event: fault },
      { role: 'write', event: write },
    ];
    return { exercised: 1, breach: { headline: 'it broke', evidence } };
  };
  return extend(builtIn, defineSystem({ claims: { own: { about: 'mine', judge } } }));
}

/** A fault of the store breaks the claim, but a fault of the lock is blamed if there is one. */
export const needless: Catalogue = catalogueWith((faulty) => {
  return faulty.has('store') ? [faulty.has('lock') ? 'lock' : 'store', 'alice'] : null;
});

/** As above, but without a fault of the lock, the claim breaks in bob's section. */
export const elsewhere: Catalogue = catalogueWith((faulty) => {
  if (!faulty.has('store')) return null;
  return faulty.has('lock') ? ['lock', 'alice'] : ['store', 'bob'];
});
