/**
 * Reads the EDN that Jepsen, Knossos and Maelstrom write: a map an event, one after the other or
 * all in one vector or list. Porcupine's key-value histories are such maps too, each with a `:key`.
 */
import { MapCutter, placeInMap } from './cutters.ts';
import { ednText, readEdn } from './edn.ts';
import { readEvents } from './events.ts';
import { isFields } from './json-fields.ts';
import {
  type Fields,
  type Format,
  type HistoryReader,
  malformed,
  type TakeOperation,
} from './record.ts';

/** `{:process 3, :type :invoke, :f :write, :value 4}`. */
export const edn: Format = {
  name: 'edn',
  about: 'the events of Jepsen, Knossos, Maelstrom: a map each, or one vector of them',
  begins: (head) =>
    /^[(#]/.test(head.text) ||
    head.record.startsWith('#') ||
    (isEdnMap(head.record) && !porcupine.begins(head)),
  open: (take) => readMaps(take, () => null),
  hidesReads: true,
  readsPairs: true,
};

/** `{:process 3, :type :invoke, :f :put, :key "x", :value "4"}`. */
export const porcupine: Format = {
  name: 'porcupine',
  about: '{:process 3, :type :invoke, :f :put, :key "x", :value "4"}',
  // A `:key` of its own; records of others have it inside their value.
  begins: ({ record, isList }) =>
    !isList && isEdnMap(record) && /^\{[^{}\n]*:key[\s,]/.test(record),
  open: (take) =>
    readMaps(take, (fields) => {
      return fields['key'] === undefined
        ? 'expected a :key, as every record of this format has'
        : null;
    }),
  hidesReads: false,
  readsPairs: true,
};

function isEdnMap(record: string): boolean {
  return /^\{[\s,]*:/.test(record);
}

function readMaps(
  take: TakeOperation,
  whatLacks: (fields: Fields) => string | null,
): HistoryReader {
  return readEvents(take, (takeFields) => {
    return new MapCutter('edn', (map) => {
      const read = readEdn(map.text);
      if (read.kind === 'malformed') return malformed(placeInMap(map, read.offset), read.what);
      const [form = null] = read.forms;
      if (!isFields(form)) return malformed(map, `expected a map, found ${ednText(form)}`);
      const lacks = whatLacks(form);
      return lacks === null ? takeFields(form, map) : malformed(map, lacks);
    });
  });
}
