/**
 * A worker of the fleet as a process of its own, with times that only tests can set; what it did it
 * says in JSON lines.
 */
import { startWorker } from '../../dist/fleet/worker.js';

const { port, version, timing, modules = null } = JSON.parse(process.argv[2] ?? '{}');
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const options = {
  address: { host: '127.0.0.1', port },
  ...{ threads: 1, modules, version },
  note: (note) => say({ note }),
  onBegun: (begun) => say({ begun }),
  onChunk: ({ chunk }) => say({ chunk }),
};
const worker = await startWorker(options, timing);
say({ note: 'ready' });
process.on('SIGTERM', async () => {
  await worker.close();
  process.exit(0);
});
