/** The table's last row for the lock service, with every store. */
import { calm, isLockService } from './calm.ts';
import { testCalm } from './calm-law.ts';

testCalm(calm.filter(isLockService));
