// Examines as usual, except one seed that throws, one that never ends and one that fills the heap.
import { examinerOf as usual } from '../../../tools/built/modules/search/sweep/examiner.js';

export function examinerOf(scenario) {
  const examine = usual(scenario);
  return (system, seed) => {
    if (seed === 3) throw new Error('seed 3 throws');
    if (seed === 7) for (;;);
    if (seed === 11) {
      const hoard = [];
      for (;;) hoard.push(new Array(100_000).fill(seed));
    }
    return examine(system, seed);
  };
}
