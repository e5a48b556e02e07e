/** What stores contain after a part of a trace: the value of each key, and the highest token. */
import type { VersionScale } from '../core/history/server-events.ts';
import type { TraceEvent } from '../core/history/trace.ts';
import { tokenText } from '../text/prose.ts';
import { versionText } from './access-text.ts';

export interface Contents {
  /** By the key's name: its value, and who wrote it. */
  readonly values: ReadonlyMap<string, string>;
  readonly highest: number;
  readonly hasTokens: boolean;
}

/** By the store's name. */
export function contentsAfter(events: readonly TraceEvent[]): ReadonlyMap<string, Contents> {
  const stores = new Map<string, Contents>();
  for (const event of events) {
    if (event.kind !== 'write' && event.kind !== 'recovered') continue;
    const before = stores.get(event.process) ?? EMPTY;
    stores.set(event.process, event.kind === 'write' ? written(before, event) : recovered(event));
  }
  return stores;
}

const COUNTED: VersionScale = { by: 'version' };

const EMPTY: Contents = { values: new Map(), highest: 0, hasTokens: false };

function written(before: Contents, event: Extract<TraceEvent, { kind: 'write' }>): Contents {
  const hasTokens = before.hasTokens || event.token > 0;
  if (!event.isAccepted) return { ...before, hasTokens };
  const values = new Map(before.values);
  const { key, value, client, token } = event;
  const row = event.version?.given ?? null;
  const version = row === null ? '' : `, ${versionText(event.version ?? COUNTED, row)}`;
  if (value !== null) values.set(key, `${value}, from ${client}${tokenText(token)}${version}`);
  return { values, highest: Math.max(before.highest, event.highest, token), hasTokens };
}

function recovered(event: Extract<TraceEvent, { kind: 'recovered' }>): Contents {
  const { values, highest, begins } = event;
  const version = (key: string): string =>
    begins?.key === key ? `, ${versionText(COUNTED, begins.version)}` : '';
  const kept = Object.entries(values).map(
    ([key, value]) => [key, `${value}${version(key)}`] as const,
  );
  return { values: new Map(kept), highest, hasTokens: highest > 0 };
}
