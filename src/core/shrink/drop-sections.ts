/**
 * Drops sections and steps of work. What follows a section would start earlier without it, so where
 * a section cannot just go, the next one waits in its place, or the latencies are calmed with it.
 */
import type { Plan } from '../plan/plan.ts';
import { calmed, changeSection, roundLatency, type SectionKey } from './change.ts';
import { dropInChunks } from './chunks.ts';
import { clamp } from './round.ts';
import type { Pass, Search, Steps } from './search.ts';
import { type WorkKey, withoutSections, withoutWork } from './without.ts';

export const dropSections: Pass = {
  name: 'drop sections',
  *run(search: Search): Steps<void> {
    yield* dropInChunks(search, { list: sectionKeys, without: withoutSections });
    for (const key of sectionKeys(search.current)) {
      const rest = withoutSections(search.current, [key]);
      for (const candidate of [...withLaterNext(search.current, rest, key)]) {
        if (yield* search.attempt(candidate)) break;
      }
    }
  },
};

export const dropWork: Pass = {
  name: 'drop steps of work',
  *run(search: Search): Steps<void> {
    yield* dropInChunks(search, { list: workKeys, without: withoutWork });
  },
};

export function sectionKeys(plan: Plan): readonly SectionKey[] {
  return plan.clients.flatMap((client) =>
    client.sections.map((section) => ({ client: client.name, section: section.id })),
  );
}

export function workKeys(plan: Plan): readonly WorkKey[] {
  return plan.clients.flatMap((client) =>
    client.sections.flatMap((section) =>
      section.work.map((work) => ({ client: client.name, section: section.id, work: work.id })),
    ),
  );
}

/** `rest`, which `plan` is without the section `key`, with the section after it put later. */
function withLaterNext(plan: Plan, rest: Plan, key: SectionKey): readonly Plan[] {
  const client = plan.clients.find(({ name }) => name === key.client);
  const at = client?.sections.findIndex(({ id }) => id === key.section) ?? -1;
  const gone = client?.sections[at];
  const next = client?.sections[at + 1];
  if (client === undefined || gone === undefined) return [];
  const calm = calmed(rest, roundLatency(rest));
  if (next === undefined) return [calm];
  const { think } = plan.bounds;
  const later = [gone.thinkUs + next.thinkUs, gone.thinkUs + next.thinkUs + client.ttlUs];
  const thinks = new Set([...later, think.maxUs].map((us) => clamp(us, think)));
  const nextKey = { client: key.client, section: next.id };
  const delayed = [...thinks].map((thinkUs) =>
    changeSection(rest, nextKey, (section) => ({ ...section, thinkUs })),
  );
  return [...delayed, calm];
}
