// A thread for `npm run mutation` that records a mutant which keeps the process busy too long, and
// ends the process.
import { appendFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { shared, file } = workerData;
setInterval(() => {
  const due = Atomics.load(shared, 0);
  if (due === 0n || BigInt(Date.now()) < due) return;
  const mutant = Atomics.load(shared, 1);
  if (mutant >= 0n)
    appendFileSync(file, `${JSON.stringify({ mutant: Number(mutant), status: 'Timeout' })}\n`);
  process.kill(process.pid, 'SIGKILL');
}, 200);
