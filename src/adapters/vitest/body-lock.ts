/**
 * The lock whose client is the body of a test, as a lock that scenarios and plans can name.
 */
import { CLIENT_DEFAULTS, LIMIT_DEFAULTS, type Plan } from '../../core/plan/plan.ts';
import { World } from '../../core/world/world.ts';
import type { LockDefinition } from '../../systems/define-lock.ts';
import type { AsyncSection, BuildAsync } from '../../systems/protocol.ts';
import type { Body, BodyParts } from './options.ts';
import { SimTestError } from './sim-test-error.ts';

/** What scenarios and plans call the lock that a test brings. */
export const OWN_LOCK = 'own-lock';

/**
 * What the body of a test becomes. `servers` is called here, to learn what the servers are called,
 * and anew for each run.
 */
export function lockOfBody<S extends object, T extends object, A extends readonly unknown[]>(
  { servers, start, operations }: Pick<BodyParts<S, T>, 'servers' | 'start' | 'operations'>,
  body: Body<S, T, A>,
  args: A,
): LockDefinition {
  const buildAsync: BuildAsync = (world) => {
    const added: unknown = servers === undefined ? {} : servers(world);
    if (!isObject<S>(added)) throw noObject('servers', added);
    return (client) => {
      const made: unknown = start === undefined ? {} : start(client, added);
      if (!isObject<T>(made)) throw noObject('start', made);
      const handles = Object.assign({}, added, made, { client });
      return (section: AsyncSection) => body(section, handles, ...args);
    };
  };
  const names = servers === undefined ? [] : namesOfServers(servers);
  const definition = { about: 'the body of a test', servers: names, buildAsync };
  return operations === undefined ? definition : { ...definition, operations };
}

/** Whether it is what its maker's type says, as far as one can see. */
function isObject<T extends object>(value: unknown): value is T {
  return typeof value === 'object' && value !== null;
}

function noObject(where: string, value: unknown): SimTestError {
  const what = value === undefined ? 'nothing' : typeof value;
  return new SimTestError([`${where}: expected an object for the body, not ${what}`]);
}

/** The servers that it adds to a world in which nothing else happens. */
function namesOfServers(servers: (world: World) => unknown): readonly string[] {
  const world = new World(EMPTY, null);
  servers(world);
  const { processes } = world.run(null);
  return processes.flatMap(({ name, role }) => (role === 'lock' ? [name] : []));
}

const EMPTY: Plan = {
  fencepost: 1,
  scenario: 'empty',
  system: { name: 'empty', lock: OWN_LOCK, store: 'unfenced', options: {} },
  clients: [],
  network: { link: 'connection', latencyUs: 0 },
  faults: [],
  chance: null,
  decisions: {},
  order: [],
  limits: { ...LIMIT_DEFAULTS, probe: false, healAtUs: 0, endUs: 1, maxEvents: 1 },
  bounds: {
    latency: { minUs: 0, maxUs: 0 },
    think: { minUs: 0, maxUs: CLIENT_DEFAULTS.ttlUs },
    durations: {},
    skewUs: null,
    driftPpm: null,
  },
};
