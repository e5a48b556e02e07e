/** Each process sees only its own changes of a builtin module, however it imports the module. */
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import util from 'node:util';
import { expect, test } from 'vitest';
import { behindView, builtinFor, viewOf } from './builtin-views.ts';
import { happen, logOf, type Script } from './script.fixture.ts';

const textIn = (object: object, key: string): string => String(Reflect.get(object, key));

test.each<[string, object]>([
  ['a module', builtinFor('fs')],
  ['an object in a module', Reflect.get(builtinFor('http'), 'STATUS_CODES')],
  ['an agent', Reflect.get(builtinFor('http'), 'globalAgent')],
  [
    'the options of an agent',
    Reflect.get(Reflect.get(builtinFor('https'), 'globalAgent'), 'options'),
  ],
])('each incarnation of a process has its own properties of %s', async (_, view) => {
  const script: Script = async (context) => {
    const before = Reflect.ownKeys(view).length;
    Reflect.set(view, 'tok', Number(Reflect.get(view, 'tok') ?? 0) + 1);
    await new Promise((go) => setTimeout(go, 2));
    Reflect.set(view, 'tok', Number(Reflect.get(view, 'tok') ?? 0) + 1);
    const { value } = Reflect.getOwnPropertyDescriptor(view, 'tok') ?? {};
    const added = Reflect.ownKeys(view).length - before;
    context.log('', [textIn(view, 'tok'), value, added, 'tok' in view].join());
    Reflect.deleteProperty(view, 'tok');
    context.log('', String('tok' in view));
  };
  for (let run = 0; run < 2; run += 1) {
    const lines = logOf(await happen({ alice: script, bob: script }));
    expect(lines).toEqual(['2 2,2,1,true', '2 false', '2 2,2,1,true', '2 false']);
  }
  expect('tok' in view || 'tok' in (behindView(view) ?? {})).toBe(false);
});

test('each process finds a module cache without entries of other processes', async () => {
  const found: PropertyKey[][] = [];
  const script: Script = async () => {
    const cache: object = Reflect.get(builtinFor('module'), '_cache');
    found.push(Reflect.ownKeys(cache));
    Reflect.set(cache, 'kept', {});
    found.push(Reflect.ownKeys(Reflect.get(builtinFor('module'), '_cache')));
  };
  await happen({ alice: script, bob: script });
  expect(found).toEqual([[], ['kept'], [], ['kept']]);
});

test('a process replaces a function for itself only, and the others stay virtual', async () => {
  const view = builtinFor('os');
  const replacing: Script = async (context) => {
    Reflect.set(view, 'hostname', () => 'mine');
    await new Promise((go) => setTimeout(go, 2));
    context.log('', Reflect.get(view, 'hostname')());
  };
  const calm: Script = async (context) => {
    await new Promise((go) => setTimeout(go, 1));
    context.log('', [Reflect.get(view, 'hostname')(), Reflect.get(view, 'cpus')().length].join());
  };
  expect(logOf(await happen({ alice: replacing, bob: calm }))).toEqual(['1 bob,1', '2 mine']);
  expect(Reflect.get(view, 'hostname')).toBe(os.hostname);
});

test('a view has the classes and the properties of its module', () => {
  const view = builtinFor('fs');
  expect(Reflect.ownKeys(view)).toEqual(Reflect.ownKeys(fs));
  expect(Reflect.get(view, 'Stats')).toBe(fs.Stats);
  expect(Reflect.get(builtinFor('http'), 'globalAgent')).toBeInstanceOf(http.Agent);
  expect(Reflect.get(view, 'promises')).toBe(builtinFor('fs/promises'));
  expect([builtinFor('events'), builtinFor('process')].map(behindView)).toEqual([
    undefined,
    undefined,
  ]);
  expect({ ...view }).toEqual({ ...builtinFor('fs') });
  expect(viewOf(util)).toBe(builtinFor('util'));
});

test('a non-configurable property, or a getter, also belongs to one process', async () => {
  const view = builtinFor('net');
  const script: Script = async (context) => {
    Object.defineProperty(view, 'fixed', { value: context.name, configurable: false });
    Object.defineProperty(view, 'read', { get: () => context.name });
    await new Promise((go) => setTimeout(go, 2));
    context.log('', [textIn(view, 'fixed'), textIn(view, 'read')].join());
  };
  const lines = logOf(await happen({ alice: script, bob: script }));
  expect(lines).toEqual(['2 alice,alice', '2 bob,bob']);
  expect('fixed' in view).toBe(false);
});
