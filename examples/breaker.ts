// Twenty accounts on one ledger that is down. Their first attempts all fail; then one goes now and then to see, and the others wait
// without using up their attempts. Once one gets through, all of them are let go, a few at first.
//
//   npx signalbox runs trigger breaker --wait
//   npx signalbox breakers
import { appendFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dag } from '@signalbox/sdk';

/** Down for as many calls as this: the first of each account, and two probes. */
const CALLS_UNTIL_IT_IS_BACK = 22;

/** Counts the calls of a run, from whatever process they come. */
const ledgerOf = (run: string) => join(tmpdir(), `signalbox-ledger-${run}`);

function ask(run: string, account: number): number {
  appendFileSync(ledgerOf(run), '.');
  if (statSync(ledgerOf(run)).size > CALLS_UNTIL_IT_IS_BACK) return account * 100;
  throw new Error(`account ${account}: connect ECONNREFUSED 10.0.0.7:5432`);
}

// The breaker of an error needs no word here. This one holds new tasks of the dag as well, whatever they fail with.
const breaker = { share: 0.9, window: '1m', minimum: 100, pause: '2s' } as const;

export default dag('breaker', { breaker, description: 'Many tasks on one dead thing.' }, ({ task }) => {
  const accounts = Array.from({ length: 20 }, (_, account) =>
    task(`account-${account}`, { retries: { maxAttempts: 6, baseMs: 200, maxMs: 1_000 } }, ({ run }) =>
      ask(run, account),
    ),
  );
  task('sum', { needs: accounts }, ({ run, upstream }) => {
    rmSync(ledgerOf(run), { force: true });
    return upstream.length;
  });
});
