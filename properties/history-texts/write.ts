/**
 * Writes histories in every text format, with the variations between recorders: the place of the
 * object's name, how a refusal is written, and what a completion omits.
 */
import type { Draw, DrawnHistory } from './draw.ts';
import type { Meant } from './every-order.ts';
import { isList, type Value, type Values } from './objects.ts';

type Syntax = 'json' | 'edn';

/** A text form: the formats that it may be read as, and what it can express. */
export interface Form {
  readonly name: string;
  readonly formats: readonly string[];
  readonly syntax: Syntax;
  /** True if records have named fields, and not only a value. */
  readonly hasFields: boolean;
  /** True if `[key value]` may name the object. */
  readonly hasPairs: boolean;
  /** True if events have a time. */
  readonly hasTimes: boolean;
}

const event = { hasFields: true, hasTimes: true };
const line = { hasFields: false, hasPairs: true, hasTimes: false, syntax: 'edn' } as const;

export const FORMS: readonly Form[] = [
  { ...event, name: 'jsonl', formats: ['jsonl'], syntax: 'json', hasPairs: false },
  { ...event, name: 'json', formats: ['json'], syntax: 'json', hasPairs: true },
  { ...event, name: 'edn', formats: ['edn'], syntax: 'edn', hasPairs: true },
  // With a `:key` in the first record, it is read as `porcupine`.
  { ...event, name: 'edn-lines', formats: ['edn', 'porcupine'], syntax: 'edn', hasPairs: true },
  { ...line, name: 'log', formats: ['jepsen-log'] },
  { ...line, name: 'txt', formats: ['jepsen-txt'] },
  {
    ...event,
    name: 'operations',
    formats: ['operations'],
    syntax: 'json',
    hasPairs: true,
    hasTimes: false,
  },
];

/** The place of the object's name. */
export type Naming = 'both' | 'call' | 'pair' | 'value' | 'none';

const LOCKS = ['mutex', 'anonymous-mutex', 'reentrant-mutex', 'fenced-mutex', 'lease'];
const isLock = (model: string): boolean => LOCKS.some((name) => model.endsWith(name));
const isFenced = (model: string): boolean => model.startsWith('fenced-register');

/** Returns true if the form can express the records of the model. */
export function canHold({ hasFields }: Form, model: string): boolean {
  return hasFields || !(isFenced(model) || model === 'versioned-register');
}

export function namingsOf(form: Form, model: string): readonly Naming[] {
  const byField: readonly Naming[] = form.hasFields ? ['both', 'call'] : [];
  const byPair: readonly Naming[] = form.hasPairs && !isFenced(model) ? ['pair'] : [];
  const byValue: readonly Naming[] = isLock(model) ? ['value'] : [];
  return ['none', ...byField, ...byPair, ...byValue];
}

/** Returns the literal. A number that is not an exact double is a text that begins with `#`. */
export function literal(value: Value, syntax: Syntax): string {
  if (typeof value === 'string' && value.startsWith('#')) return value.slice(1);
  if (isList(value)) {
    const items = value.map((item) => literal(item, syntax));
    return `[${items.join(syntax === 'json' ? ',' : ' ')}]`;
  }
  if (syntax === 'json') return JSON.stringify(value);
  if (value === null) return 'nil';
  if (typeof value === 'string' && /^:[a-z]+$/.test(value)) return value;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** The fields of one event, before any format's syntax. */
export interface Recorded {
  readonly process: string;
  readonly type: string;
  readonly f: string;
  readonly fields: Values;
  /** The index of the event. */
  readonly at: number;
}

/** Returns each event with its fields. */
export function record(
  { model, operations, events }: DrawnHistory,
  form: Form,
  { naming, draw }: { readonly naming: Naming; readonly draw: Draw },
): readonly Recorded[] {
  const calls = new Map<number, Values>();
  return events.flatMap(({ type, operation: index }, at): Recorded[] => {
    const meant = operations[index];
    if (meant === undefined) return [];
    const { process } = meant;
    const setting: Setting = { model, form, naming, draw };
    const f = draw.of(WORDS.get(`${model} ${meant.verb}`) ?? WORDS.get(meant.verb) ?? [meant.verb]);
    const asked = calls.get(index) ?? askedFields(meant, setting);
    if (type === 'invoke') {
      calls.set(index, { ...asked, f });
      return [{ process, type, f, fields: asked, at }];
    }
    const { f: called = '', ...again } = asked;
    const isNamed = !form.hasFields || draw.chance(60);
    const fields =
      type === 'ok' ? answeredFields(meant, again, setting) : endFields(again, setting);
    return [{ process, type, f: isNamed ? String(called) : '', fields, at }];
  });
}

/** Synonyms of a verb, of which the help lists examples. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['counter increment', ['increment', 'add', 'inc']],
  ['kv get', ['get', 'read']],
  ['kv put', ['put', 'write', 'set']],
  ['acquire', ['acquire', 'lock']],
  ['release', ['release', 'unlock']],
]);

interface Setting {
  readonly model: string;
  readonly form: Form;
  readonly naming: Naming;
  readonly draw: Draw;
}

function askedFields(meant: Meant, setting: Setting): Values {
  const { form, draw } = setting;
  const { expected, value, permits, token, key, ...others } = meant.args;
  const isCas = meant.verb === 'cas';
  const asked: Record<string, Value> = { ...others };
  const isPair = !form.hasFields || setting.naming === 'pair' || draw.chance(70);
  if (isCas && isPair) asked['value'] = [expected ?? null, value ?? null];
  else if (isCas) Object.assign(asked, { from: expected ?? null, to: value ?? null });
  else if (value !== undefined) asked['value'] = value;
  else if (draw.chance(40) || !form.hasFields) asked['value'] = null;
  if (permits !== undefined) asked[form.hasFields ? 'permits' : 'value'] = permits;
  if (!isCas && expected !== undefined) asked['expected'] = expected;
  if (token !== undefined) asked['token'] = token;
  if (key !== undefined) asked['key'] = key;
  if (form.hasFields && meant.owner !== meant.process) asked['owner'] = meant.owner;
  return named(asked, meant.object, setting);
}

/** Adds the name of the object to `fields`. */
function named(fields: Values, object: string, { model, naming, draw }: Setting): Values {
  switch (naming) {
    case 'none':
      return fields;
    case 'pair':
      return { ...fields, value: [object, fields['value'] ?? null] };
    case 'value':
      return { ...fields, value: object };
    default: {
      const kind = model === 'semaphore' || model === 'lease' ? model : 'lock';
      const names = isLock(model) || model === 'semaphore' ? ['key', kind] : ['key'];
      return { ...fields, [isFenced(model) ? 'resource' : draw.of(names)]: object };
    }
  }
}

const isName = (field: string): boolean => /^(?:key|lock|lease|semaphore|resource)$/.test(field);

/** Returns the object's name from `asked` if completions repeat it. */
function nameAgain(asked: Values, { naming, model }: Setting): Values {
  if (naming !== 'both') return {};
  const again = Object.entries(asked).filter(([field]) => isName(field));
  return Object.fromEntries(isFenced(model) ? again : again.slice(0, 1));
}

/** Returns the fields of a completion without an answer. */
function endFields(asked: Values, setting: Setting): Values {
  const { form, draw } = setting;
  const value: Values = form.hasFields && draw.chance(50) ? {} : { value: asked['value'] ?? null };
  return { ...nameAgain(asked, setting), ...value };
}

function answeredFields(meant: Meant, asked: Values, setting: Setting): Values {
  const { form, naming, draw } = setting;
  const { answer, value, token, version } = meant.heard;
  const object = naming === 'pair' ? String(part(asked['value'], 0)) : '';
  const paired = (one: Value): Value => (naming === 'pair' ? [object, one] : one);
  const again = nameAgain(asked, setting);
  const isNo = answer === 'denied' || answer === 'refused' || answer === 'missed';
  if (isNo) {
    const seen = version === undefined || draw.chance(40) ? {} : { version };
    return { ...again, ...seen, ...noFields(meant, answer, { ...setting, paired }) };
  }
  const fields: Record<string, Value> = { ...again };
  if (version !== undefined) fields['version'] = version;
  if (value !== undefined) fields['value'] = paired(value);
  else if (token !== undefined) {
    const name = form.hasFields ? draw.of(['token', 'fence', 'value']) : 'value';
    fields[name] = name === 'value' ? paired(token) : token;
  } else if (!form.hasFields || draw.chance(40)) fields['value'] = asked['value'] ?? null;
  if (form.hasFields && answer !== undefined && draw.chance(30)) fields['answer'] = answer;
  return fields;
}

function part(value: Value | undefined, at: number): Value {
  return isList(value) ? (value[at] ?? null) : null;
}

/** Chooses one of the ways to write a refusal. */
function noFields(
  { verb }: Meant,
  answer: string,
  { form, draw, paired }: Setting & { readonly paired: (value: Value) => Value },
): Values {
  // For a fenced store and for versions, the value is the one that was read.
  const mayBeValue = verb !== 'read' && verb !== 'write' && verb !== 'open';
  const words = answer === 'missed' ? ['missed', 'mismatch'] : [answer, 'refused'];
  const ways: Values[] = [];
  if (mayBeValue) ways.push({ value: paired(false) }, { value: paired(`:${draw.of(words)}`) });
  if (form.hasFields) ways.push({ answer: draw.of(words) });
  // In the `operations` format it means that the operation did not happen.
  if (form.hasFields && form.name !== 'operations') ways.push({ ok: false });
  return draw.of(ways);
}

export interface Line {
  readonly text: string;
  /** The index of the event, or -1 for a line that belongs to no client. */
  readonly at: number;
}

/** Returns a line per event, without times if `timeOf` is undefined. */
export function eventLines(
  records: readonly Recorded[],
  form: Form,
  timeOf: ((at: number) => string) | undefined,
): readonly Line[] {
  return records.map((one) => {
    const { process, type, f, at } = one;
    const time = timeOf?.(at);
    if (!form.hasFields) return { text: logLine(one, form), at };
    const plain = { process: Number(process), type: word(type, form), ...nameOf(f, form) };
    const written = Object.entries({ ...plain, ...one.fields }).map(
      ([name, value]) => [name, literal(value, form.syntax)] as const,
    );
    const all = time === undefined ? written : [...written, ['time', time] as const];
    const isJson = form.syntax === 'json';
    const pairs = all.map(([name, value]) => (isJson ? `"${name}":${value}` : `:${name} ${value}`));
    return { text: `{${pairs.join(isJson ? ',' : ', ')}}`, at };
  });
}

function word(name: string, { syntax }: Form): Value {
  return syntax === 'edn' ? `:${name}` : name;
}

function nameOf(f: string, form: Form): Values {
  return f === '' ? {} : { f: word(f, form) };
}

function logLine({ process, type, f, fields }: Recorded, { name }: Form): string {
  const isFailed = type === 'fail' || type === 'info';
  const error = isFailed ? '\t[:failed "it\'s {closed"\n\tat a.b.C(D.java:1)' : '';
  const text = `${process}\t:${type}\t:${f}\t${literal(fields['value'] ?? null, 'edn')}${error}`;
  return name === 'log' ? `INFO  jepsen.util - ${text}` : text;
}

/** Returns the text: the lines in their order, with a recorder's other output between them. */
export function textOf(lines: readonly Line[], form: Form, draw: Draw): string {
  const between = NOISE.get(form.name) ?? [];
  const all = lines.flatMap(({ text }, at) =>
    at > 0 && between.length > 0 && draw.chance(15) ? [draw.of(between), text] : [text],
  );
  if (form.name === 'json') return `[${all.join(',\n ')}]\n`;
  if (form.name !== 'edn') return all.map((text) => `${text}\n`).join('');
  const tagged = draw.chance(30)
    ? all.map((text) => text.replace(/^\{/, '#jepsen.history.Op{'))
    : all;
  return draw.chance(50) ? `[${tagged.join('\n ')}]\n` : `(${tagged.join('\n')})`;
}

const NEMESIS = '{:process :nemesis, :type :info, :f :kill, :value {"n1" #{:db}}}';

/** By form: text between events that belongs to no client. */
const NOISE: ReadonlyMap<string, readonly string[]> = new Map([
  ['jsonl', ['{"process":"nemesis","type":"info","f":"kill","node":"n1"}', '']],
  ['json', ['{"process":"nemesis","type":"info","f":"kill","value":{"n1":[1]}}']],
  ['edn', [NEMESIS, '; a comment']],
  ['edn-lines', [NEMESIS, '#_{:process 0}', '']],
  ['log', ['java.net.ConnectException: refused', 'INFO  jepsen.core - {:value 1}']],
  ['txt', [':nemesis\t:info\t:start\t{"n1" #{}}', '']],
]);

/** Returns a line per operation, at the times of its events. */
export function operationLines(
  { operations, events }: DrawnHistory,
  records: readonly Recorded[],
  timeOf: (at: number) => string,
): readonly Line[] {
  return operations.flatMap((_, index) => {
    const ends = records.filter(({ at }) => events[at]?.operation === index);
    const [call, completion] = ends;
    if (call === undefined) return [];
    const json = (value: Value): string => literal(value, 'json');
    const input = Object.entries({ op: call.f, ...call.fields });
    const written = input.map(([name, value]) => `"${name}":${json(value)}`);
    const fields = [`"ClientId":${call.process}`, `"Input":{${written.join(',')}}`];
    fields.push(`"Call":${timeOf(call.at)}`);
    if (completion === undefined || completion.type === 'info') {
      if (index % 2 === 0) fields.push('"Output":{"unknown":true}');
      if (index % 3 === 0) fields.push('"Return":9223372036854775807');
    } else {
      const isFailed = completion.type === 'fail';
      const output = Object.entries<Value>(isFailed ? { ok: false } : completion.fields);
      const outputs = output.map(([name, value]) => `"${name}":${json(value)}`);
      const [only] = output.length === 1 && index % 2 === 0 ? output : [];
      const isPlain = only?.[0] === 'value' && !String(only[1]).startsWith('#');
      fields.push(`"Output":${isPlain ? json(only?.[1] ?? null) : `{${outputs.join(',')}}`}`);
      fields.push(`"Return":${timeOf(completion.at)}`);
    }
    return [{ text: `{${fields.join(',')}}`, at: call.at }];
  });
}
