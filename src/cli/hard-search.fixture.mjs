/**
 * Searches a history that needs more memory than its limit, by
 * `node hard-search.fixture.mjs <which> <MB>`, and prints by how many megabytes the process grew.
 */
import { checkHistory } from '../../tools/built/modules/linearizability/check-history.js';

const MEGABYTE = 1_048_576;

/** Calls that all overlap, and then one whose return no order satisfies. */
function overlapping(count, callOf, last) {
  const calls = Array.from({ length: count }, (_, place) => ({
    client: `c${place}`,
    call: callOf(place),
    invoke: place,
    return: count + place,
    outcome: 'ok',
  }));
  return [
    ...calls,
    { client: 'r', call: last, invoke: 2 * count, return: 3 * count, outcome: 'ok' },
  ];
}

const last = { name: 'look' };

/** One search per table that grows most; each one stops long before it is complete. */
const subjects = {
  texts: {
    history: overlapping(14, (place) => ({ name: 'append', value: `<${place}>` }), last),
    model: { name: 'text', init: '', step: (text, call) => append(text, call) },
  },
  objects: {
    history: overlapping(14, (place) => ({ name: 'append', value: place }), last),
    model: { name: 'list', init: { items: [] }, step: (list, call) => insert(list, call) },
  },
  choices: {
    history: overlapping(14, (value) => ({ name: 'add', value: value + 1 }), last),
    model: { name: 'sum', init: 0, step: (sum, call) => addSomehow(sum, call) },
  },
  configurations: {
    history: overlapping(26, (value) => ({ name: 'add', value: value + 1 }), last),
    model: { name: 'rest', init: 0, step: (rest, call) => addModulo(rest, call) },
  },
};

function append(text, { name, value }) {
  return name === 'append' ? [text + value] : [];
}

function insert({ items }, { name, value }) {
  return name === 'append' ? [{ items: [...items, value] }] : [];
}

function addSomehow(sum, { name, value }) {
  return name === 'add' ? [31, 37, 1].map((factor) => (factor * sum + value) % 1_000_003) : [];
}

function addModulo(rest, { name, value }) {
  return name === 'add' ? [(7 * rest + value * value) % 97] : [];
}

const [, , which, megabytes] = process.argv;
const { history, model } = subjects[which];
const beforeBytes = process.memoryUsage.rss();
let mostBytes = beforeBytes;
const verdict = checkHistory(history, model, {
  maxBytes: Number(megabytes) * MEGABYTE,
  maxConfigurations: Number.POSITIVE_INFINITY,
  shouldStop() {
    mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
    return false;
  },
});
mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
const grownMb = Math.round((mostBytes - beforeBytes) / MEGABYTE);
process.stdout.write(JSON.stringify({ cause: verdict.cause ?? verdict.kind, grownMb }));
