/**
 * A worker of the fleet as a process, with timing that only tests can set, or one that cannot do
 * its work. It reports its actions in JSON lines.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readQueueUrl } from '../../../../tools/built/modules/adapters/fleet/queue-url.js';
import { startFleetWorker } from '../../../../tools/built/modules/adapters/fleet/worker.js';
import { runShard } from '../../../../tools/built/modules/cli/run-scenarios.js';

const { url, version, mode } = JSON.parse(process.argv[2] ?? '{}');
/**
 * Longer than the lock, which has to be renewed, and long enough for a test to act during a shard.
 */
const SHARD_MS = 1_200;
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const options = {
  address: readQueueUrl(url).address,
  threads: 1,
  modules: null,
  version,
  runShard: async (scenarios, run) => {
    say({ begun: run.shard.index });
    if (mode === 'dies') process.exit(1);
    if (mode === 'fails') throw new Error('no \u001b[2Jroom\n::error::left');
    if (mode === 'garbles') return 'garbage';
    const [text] = await Promise.all([runShard(scenarios, run), sleep(SHARD_MS)]);
    return text;
  },
  onNote: (note) => say({ note }),
  onShard: (line) => say({ done: Number(/shard (\d+) of/.exec(line)?.[1]) }),
};
// Short, so that a killed worker is detected within a second or two.
await startFleetWorker(options, { lockDuration: 1_000, stalledInterval: 300 });
say({ note: 'ready' });
