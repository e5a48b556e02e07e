/** Writes plain data as EDN, for people and to compare it. */
import type { Json } from '../../core/kernel/json.ts';

/** The text of plain data, the same for equal data: fields stand in the order of their names. */
export function textOf(value: Json): string {
  if (value === null) return 'nil';
  if (typeof value === 'string') return value.startsWith(':') ? value : JSON.stringify(value);
  if (typeof value !== 'object') return String(value);
  if (isArray(value)) return `[${value.map(textOf).join(' ')}]`;
  const fields = Object.keys(value).sort(byText);
  return `{${fields.map((name) => `${name} ${textOf(value[name] ?? null)}`).join(', ')}}`;
}

/** As `Array.isArray`, which does not know read-only arrays. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function byText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Sorts in place. */
export function sortByText(values: Json[]): readonly Json[] {
  return values.sort((left, right) => byText(textOf(left), textOf(right)));
}
