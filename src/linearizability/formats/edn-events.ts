/**
 * Reads the EDN that Jepsen, Knossos and Maelstrom write: a map an event, one after the other or
 * all in one vector or list. Porcupine's key-value histories are such maps too, each with a `:key`.
 */

import { type CutMap, MapCutter, placeInMap } from './cutters.ts';
import { readEdn, textOf } from './edn.ts';
import { eventOf, Pairing } from './events.ts';
import { isFields } from './json-fields.ts';
import {
  type Fields,
  type HistoryReader,
  type Malformed,
  malformed,
  type TakeOperation,
} from './record.ts';

/** `{:process 3, :type :invoke, :f :write, :value 4}`. */
export function readEdnEvents(take: TakeOperation): HistoryReader {
  return readMaps(take, () => null);
}

/** `{:process 3, :type :invoke, :f :put, :key "x", :value "4"}`. */
export function readPorcupineEvents(take: TakeOperation): HistoryReader {
  return readMaps(take, (fields) => {
    return fields['key'] === undefined
      ? 'expected a :key, as every record of this format has'
      : null;
  });
}

function readMaps(
  take: TakeOperation,
  whatLacks: (fields: Fields) => string | null,
): HistoryReader {
  const pairing = new Pairing(take);
  const cutter = new MapCutter('edn', (map) => {
    const read = fieldsOf(map);
    if (read.kind === 'malformed') return read.problem;
    const lacks = whatLacks(read.fields);
    if (lacks !== null) return malformed(map, lacks);
    const event = eventOf(read.fields, map);
    return event.kind === 'event' ? pairing.push(event.event) : event.problem;
  });
  return {
    push: (piece) => cutter.push(piece),
    end: () => cutter.end() ?? pairing.end(),
    marks: pairing.marks,
  };
}

type FieldsRead =
  | { readonly kind: 'fields'; readonly fields: Fields }
  | { readonly kind: 'malformed'; readonly problem: Malformed };

function fieldsOf(map: CutMap): FieldsRead {
  const read = readEdn(map.text);
  if (read.kind === 'malformed') {
    const problem = malformed(placeInMap(map, read.offset), read.what);
    return { kind: 'malformed', problem };
  }
  const [form = null] = read.forms;
  return isFields(form)
    ? { kind: 'fields', fields: form }
    : { kind: 'malformed', problem: malformed(map, `expected a map, found ${textOf(form)}`) };
}
