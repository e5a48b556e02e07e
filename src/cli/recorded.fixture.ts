/** Random histories of a register, and their text in each format. */
import fc from 'fast-check';

/** An event, independent of any format. */
export interface SampleEvent {
  readonly process: number;
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  readonly f: 'read' | 'write' | 'cas';
  readonly value: number | null | readonly [number, number];
}

const PROCESSES = 4;

const choice = fc.record({
  process: fc.nat(PROCESSES - 1),
  f: fc.constantFrom('read' as const, 'write' as const, 'cas' as const),
  type: fc.constantFrom('ok' as const, 'ok' as const, 'fail' as const, 'info' as const),
  value: fc.nat(4),
  other: fc.nat(4),
});

/** Each choice starts a call of a process, or completes its open call. */
export const sampleEvents: fc.Arbitrary<readonly SampleEvent[]> = fc
  .array(choice, { minLength: 1, maxLength: 40 })
  .map((choices) => {
    const open = new Map<number, SampleEvent>();
    return choices.map(({ process, f, type, value, other }): SampleEvent => {
      const call = open.get(process);
      if (call === undefined) {
        const asked = { read: null, write: value, cas: [value, other] as const }[f];
        const event = { process, type: 'invoke', f, value: asked } as const;
        open.set(process, event);
        return event;
      }
      open.delete(process);
      return { ...call, type, value: call.f === 'read' && type === 'ok' ? value : call.value };
    });
  });

function logEvent({ process, type, f, value }: SampleEvent): string {
  return `${process}\t:${type}\t:${f}\t${ednValue(value)}\n`;
}

type Write = (events: readonly SampleEvent[]) => string;

function ednValue(value: SampleEvent['value']): string {
  if (value === null) return 'nil';
  return typeof value === 'number' ? String(value) : `[${value.join(' ')}]`;
}

function ednMap({ process, type, f, value }: SampleEvent): string {
  return `{:process ${process}, :type :${type}, :f :${f}, :value ${ednValue(value)}}`;
}

function keyedMap({ process, type, f, value }: SampleEvent): string {
  return `{:process ${process} :type :${type} :f :${f} :key "k" :value ${ednValue(value)}}`;
}

const writeOperations: Write = (events) => {
  const calls = new Map<number, { readonly event: SampleEvent; readonly at: number }>();
  const lines: string[] = [];
  const write = (event: SampleEvent, at: number, rest: object): void => {
    const input = { op: event.f, value: event.value };
    lines.push(JSON.stringify({ ClientId: event.process, Input: input, Call: at, ...rest }));
  };
  events.forEach((event, index) => {
    const call = calls.get(event.process);
    if (call === undefined) {
      calls.set(event.process, { event, at: index + 1 });
      return;
    }
    calls.delete(event.process);
    const output = event.type === 'fail' ? { ok: false } : event.value;
    const ended = event.type === 'info' ? {} : { Output: output, Return: index + 1 };
    write(call.event, call.at, ended);
  });
  for (const { event, at } of calls.values()) write(event, at, {});
  return `[${lines.join(',\n')}]\n`;
};

/** Writers by the name of their format. */
export const writers: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['jsonl', (events) => events.map((event) => `${JSON.stringify(event)}\n`).join('')],
  ['json', (events) => JSON.stringify(events, null, 1)],
  ['edn', (events) => `[${events.map(ednMap).join('\n ')}]\n`],
  ['porcupine', (events) => events.map((event) => `${keyedMap(event)}\n`).join('')],
  [
    'jepsen-log',
    (events) => events.map((event) => `INFO  jepsen.util - ${logEvent(event)}`).join(''),
  ],
  ['jepsen-txt', (events) => events.map(logEvent).join('')],
  ['operations', writeOperations],
]);
