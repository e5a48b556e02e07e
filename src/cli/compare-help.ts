/** What `fencepost compare --help` says of what is compared. */
export const COMPARE_HELP: string = `
Without a scenario it compares pessimistic, optimistic, fenced-lease and plain-lease;
with one, the systems of that file, also under its own clients and faults.

Levels of contention: low (3 clients, 12 rows), medium (6, 4), high (8, 1), each
without and with faults. Intervals are 95 % over the seeds.`;
