/** A lock protocol as people define one of their own, and the protocol that it becomes. */
import type { ClientPlan } from '../core/plan/plan.ts';
import type { World } from '../core/world/world.ts';
import type { AsyncSection, LockDriver, OptionInfo, Options, Protocol } from './protocol.ts';
import { Options as OptionValues } from './protocol.ts';

/**
 * A lock: what it adds to the world, and how a client uses it. All but `about` and one of
 * `section`, `build`, `buildAsked` and `buildAsync` has a default; what it does not say to promise
 * it promises, and it takes one lock a section, whose acquire is answered at once. With `section`
 * or `buildAsync` it has no `renew`, `lock` and `memoize` steps: its code does as it does.
 */
export interface LockDefinition
  extends Pick<
      Protocol,
      'about' | 'canRenew' | 'jitter' | 'problem' | 'buildAsync' | 'buildAsked' | 'operations'
    >,
    Partial<Pick<Protocol, 'source' | 'options' | 'takesSeveral' | 'waitsInLine' | 'unpromised'>> {
  /**
   * `none`: its sections run without acquiring a lock, as code does that goes by versions. Its
   * guards stand for no grants, and claims about grants do not apply.
   */
  readonly lock?: 'none';
  /**
   * The names of its servers, `lock` or `lock-…`, so that faults can name them; by default one,
   * `lock`. A function where they depend on options.
   */
  readonly servers?: readonly string[] | ((options: Options) => readonly string[]);
  /**
   * One critical section of a client, as its real asynchronous code goes through it, on servers
   * that exist already: those of `hosts`. What it throws ends the section. `options` are the
   * system's. A lock that adds servers of its own has `buildAsync` instead.
   */
  readonly section?: (section: AsyncSection, options: Options) => Promise<void>;
  /**
   * Adds its servers to the world of one run (`world.addServer({ name: 'lock', role: 'lock' },
   * server)`), and returns what makes the driver of a client: anew for each life of its program.
   */
  readonly build?: (world: World, options: Options) => (client: ClientPlan) => LockDriver;
}

const ONE_SERVER: readonly string[] = ['lock'];

/** Throws an error that names the field where one is missing or wrong. */
export function protocolOf(name: string, definition: LockDefinition): Protocol {
  const where = `locks.${name}`;
  const { about, source = '', options = [], servers = ONE_SERVER } = definition;
  if (typeof about !== 'string') refuse(`${where}.about`, 'is no text');
  const built = buildOf(where, definition);
  for (const option of options) checkOption(`${where}.options`, option);
  const names = typeof servers === 'function' ? servers : (): readonly string[] => servers;
  checkServers(`${where}.servers`, names, options);
  const { takesSeveral = false, waitsInLine = false, unpromised = [] } = definition;
  const { operations, lock } = definition;
  if (lock !== undefined && lock !== 'none') refuse(`${where}.lock`, 'is none or left out');
  const { canRenew = built.build !== undefined, jitter, problem } = definition;
  return {
    about,
    source,
    options,
    servers: names,
    takesSeveral,
    waitsInLine,
    canRenew,
    unpromised,
    ...(lock === undefined ? {} : { hasGrants: false }),
    ...(jitter === undefined ? {} : { jitter }),
    ...(problem === undefined ? {} : { problem }),
    ...(operations === undefined ? {} : { operations }),
    ...built,
  };
}

/** The one that is given of the four, as functions. */
function buildOf(
  where: string,
  { build, buildAsked, buildAsync, section }: LockDefinition,
): Pick<Protocol, 'build' | 'buildAsync' | 'buildAsked'> {
  const given = Object.entries({ section, build, buildAsked, buildAsync });
  const [one, other] = given.filter(([, made]) => made !== undefined);
  if (one === undefined) refuse(where, 'has no `section`, and no `build` or `buildAsync`');
  if (typeof one[1] !== 'function') refuse(`${where}.${one[0]}`, 'is no function');
  if (other !== undefined) {
    refuse(`${where}.${other[0]}`, `stands beside \`${one[0]}\`: give one of them`);
  }
  if (section !== undefined) {
    return { buildAsync: (_world, options) => () => (at) => section(at, options) };
  }
  if (buildAsync !== undefined) return { buildAsync };
  if (buildAsked !== undefined) {
    const whole: NonNullable<Protocol['buildAsked']> = (world, options) => {
      const { driverOf, check } = buildAsked(world, options) ?? {};
      requireGiven('`buildAsked` gives no function `driverOf`', driverOf);
      requireGiven('`buildAsked` gives no function `check`', check);
      return { driverOf, check };
    };
    return { build: (world, options) => whole(world, options).driverOf, buildAsked: whole };
  }
  if (build === undefined) return {};
  return {
    build(world, options) {
      const driverOf = build(world, options);
      requireGiven('`build` gives no function', driverOf);
      return driverOf;
    },
  };
}

/** Throws what is missing where what is to be a function is none. */
function requireGiven(what: string, given: unknown): void {
  if (typeof given !== 'function') throw new Error(what);
}

function checkOption(where: string, { name, values, fallback }: OptionInfo): void {
  if (typeof name !== 'string') refuse(where, 'has one without a name');
  const isKnown =
    values === 'integer'
      ? typeof fallback === 'number' && Number.isSafeInteger(fallback) && fallback >= 0
      : Array.isArray(values) && values.includes(String(fallback));
  if (!isKnown) refuse(`${where}.${name}.fallback`, 'is none of its values');
}

function checkServers(
  where: string,
  servers: (options: Options) => readonly string[],
  options: readonly OptionInfo[],
): void {
  const defaults = OptionValues.read(options, {});
  if (typeof defaults === 'string') refuse(where, defaults);
  const names: unknown = servers(defaults);
  if (!Array.isArray(names)) refuse(where, 'is no list of names');
  for (const name of names) {
    if (name !== 'lock' && !String(name).startsWith('lock-')) {
      refuse(where, `has ${JSON.stringify(name)}; a lock's servers are called lock or lock-…`);
    }
  }
}

function refuse(where: string, what: string): never {
  throw new Error(`${where} ${what}`);
}
