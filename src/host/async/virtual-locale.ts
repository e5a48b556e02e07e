/**
 * Fixes the time zone and language of simulated processes to UTC and en-US, so that a lock whose
 * key contains a date behaves the same on every machine. A zone or language that the program names
 * explicitly takes effect.
 */
import { ambient } from './ambient.ts';
import { type AnyFunction, isFunction, type Patches } from './patches.ts';

const LOCALE = 'en-US';
const ZONE = 'UTC';

export function patchLocale(patches: Patches): void {
  patchZone(patches);
  patchDateTexts(patches);
  patchTexts(patches);
  patchIntl(patches);
}

/** Replaces `target[key]` for simulated processes; `real` calls the original. */
function replace(
  patches: Patches,
  [target, key]: readonly [target: object, key: string],
  virtual: (self: unknown, args: readonly unknown[], real: AnyFunction) => unknown,
): void {
  const real: unknown = Reflect.get(target, key);
  if (!isFunction(real)) return;
  patches.set(target, key, function replaced(this: unknown, ...args: unknown[]) {
    return ambient.current === null
      ? Reflect.apply(real, this, args)
      : virtual(this, args, (...others) => Reflect.apply(real, this, others));
  });
}

const PARTS = ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'];

function patchZone(patches: Patches): void {
  const dates = Date.prototype;
  for (const part of PARTS) {
    for (const verb of ['get', 'set']) {
      const inZone: unknown = Reflect.get(dates, `${verb}UTC${part}`);
      if (!isFunction(inZone)) continue;
      replace(patches, [dates, `${verb}${part}`], (self, args) =>
        Reflect.apply(inZone, self, args),
      );
    }
  }
  const { getUTCFullYear } = dates;
  replace(patches, [dates, 'getYear'], (self) => Reflect.apply(getUTCFullYear, self, []) - 1900);
  const { setUTCFullYear } = dates;
  replace(patches, [dates, 'setYear'], (self, [year]) => {
    const short = Math.trunc(Number(year));
    const full = short >= 0 && short <= 99 ? 1900 + short : year;
    return Reflect.apply(setUTCFullYear, self, [full]);
  });
  replace(patches, [dates, 'getTimezoneOffset'], (self) =>
    Number.isNaN(Number(self)) ? Number.NaN : 0,
  );
}

/** Patches texts such as `Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)`. */
function patchDateTexts(patches: Patches): void {
  const dates = Date.prototype;
  const { toUTCString } = dates;
  const parts = (self: unknown): { day: string; time: string } | null => {
    const text = Reflect.apply(toUTCString, self, []);
    const [, weekday = '', date = '', month = '', year = '', time = ''] =
      /^(\w+), (\d+) (\w+) (\S+) (\S+) GMT$/.exec(text) ?? [];
    return weekday === '' ? null : { day: `${weekday} ${month} ${date} ${year}`, time };
  };
  const zone = 'GMT+0000 (Coordinated Universal Time)';
  replace(patches, [dates, 'toDateString'], (self) => parts(self)?.day ?? 'Invalid Date');
  const clock = (self: unknown): string => `${parts(self)?.time ?? ''} ${zone}`;
  replace(patches, [dates, 'toTimeString'], (self) =>
    parts(self) === null ? 'Invalid Date' : clock(self),
  );
  replace(patches, [dates, 'toString'], (self) => {
    const found = parts(self);
    return found === null ? 'Invalid Date' : `${found.day} ${clock(self)}`;
  });
  for (const key of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
    replace(patches, [dates, key], (_, [locales, options], real) =>
      real(locales ?? LOCALE, inZone(options)),
    );
  }
}

function inZone(options: unknown): object {
  const settings = typeof options === 'object' && options !== null ? options : {};
  const zone: unknown = Reflect.get(settings, 'timeZone');
  return zone === undefined ? Object.assign(Object.create(settings), { timeZone: ZONE }) : settings;
}

function patchTexts(patches: Patches): void {
  const text = String.prototype;
  replace(patches, [text, 'localeCompare'], (_, [that, locales, options], real) =>
    real(that, locales ?? LOCALE, options),
  );
  for (const key of ['toLocaleLowerCase', 'toLocaleUpperCase']) {
    replace(patches, [text, key], (_, [locales], real) => real(locales ?? LOCALE));
  }
  for (const target of [Number.prototype, BigInt.prototype]) {
    replace(patches, [target, 'toLocaleString'], (_, [locales, options], real) =>
      real(locales ?? LOCALE, options),
    );
  }
}

const MAKERS = [
  'Collator',
  'DateTimeFormat',
  'DisplayNames',
  'DurationFormat',
  'ListFormat',
  'NumberFormat',
  'PluralRules',
  'RelativeTimeFormat',
  'Segmenter',
] as const;

function patchIntl(patches: Patches): void {
  for (const name of MAKERS) {
    const real: unknown = Reflect.get(Intl, name);
    if (!isFunction(real)) continue;
    const localize = (args: readonly unknown[]): readonly unknown[] => {
      if (ambient.current === null) return args;
      const [locales = LOCALE, options] = args;
      return [locales, name === 'DateTimeFormat' ? inZone(options) : options];
    };
    const maker = new Proxy(real, {
      apply: (target, self, args) => Reflect.apply(target, self, localize(args)),
      construct: (target, args, newTarget) => Reflect.construct(target, localize(args), newTarget),
    });
    patches.set(Intl, name, maker);
    patches.set(Reflect.get(real, 'prototype'), 'constructor', maker);
  }
  patchFormat(patches);
}

/** Formats the current time of the process if no date is given. */
function patchFormat(patches: Patches): void {
  const formats = Intl.DateTimeFormat.prototype;
  const { get } = Reflect.getOwnPropertyDescriptor(formats, 'format') ?? {};
  const now = (date: unknown): unknown => date ?? ambient.current?.dateMs();
  patches.define(formats, 'format', {
    get(this: unknown): unknown {
      const format: unknown = get === undefined ? undefined : Reflect.apply(get, this, []);
      return isFunction(format) ? (date?: unknown) => format(now(date)) : format;
    },
  });
  replace(patches, [formats, 'formatToParts'], (_, [date], real) => real(now(date)));
}

/** Matches a trailing time zone. Without a zone, V8 uses the zone of the machine. */
const HAS_ZONE = /(?:Z|UTC?|GMT|[ECMP][SD]T|[+-]\d{1,2}:?\d{2})(?:\s*\([^)]*\))?\s*$/i;
/** Date-only forms, which JavaScript defines as UTC. */
const IS_DAY = /^\s*[+-]?\d{4,6}(?:-\d{2}(?:-\d{2})?)?\s*$/;

/** Returns the result of `Date.parse` for a simulated process. */
export function parseInZone(text: string, parse: (text: string) => number): number {
  if (HAS_ZONE.test(text) || IS_DAY.test(text)) return parse(text);
  const isIso = /\dT\d/.test(text);
  const inUtc = parse(isIso ? `${text}Z` : `${text} ${ZONE}`);
  return Number.isNaN(inUtc) ? parse(text) : inUtc;
}
